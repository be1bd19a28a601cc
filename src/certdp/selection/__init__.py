"""Private selection: laws of how often a run is repeated before its best output is told, and the run that does it."""

from ..accounting.selection import FixedRepetitions as FixedRepetitions
from ..accounting.selection import NegativeBinomialRepetitions as NegativeBinomialRepetitions
from ..accounting.selection import PoissonRepetitions as PoissonRepetitions
from ..accounting.selection import Repetitions as Repetitions
from ..accounting.selection import Selected as Selected
from ..runs.selected import SelectedRun as SelectedRun
