"""What an attacker learns from a run, as rates; limits on them and in other notions for calibrations; their picture."""

from ..plots.runs import plot_risk as plot_risk
from ..runs.bound_limit import BoundLimit as BoundLimit
from ..runs.risk import AdvantageLimit as AdvantageLimit
from ..runs.risk import BayesRiskLimit as BayesRiskLimit
from ..runs.risk import Risk as Risk
from ..runs.risk import TruePositiveRateLimit as TruePositiveRateLimit
