"""Private selection: mechanisms that choose, laws of how often a run is repeated, and the run that tells the best."""

from ..accounting.selection import FixedRepetitions as FixedRepetitions
from ..accounting.selection import NegativeBinomialRepetitions as NegativeBinomialRepetitions
from ..accounting.selection import PoissonRepetitions as PoissonRepetitions
from ..accounting.selection import Repetitions as Repetitions
from ..accounting.selection import Selected as Selected
from ..mechanisms.above_threshold import AboveThreshold as AboveThreshold
from ..mechanisms.report_noisy_max import Noise as Noise
from ..mechanisms.report_noisy_max import ReportNoisyMax as ReportNoisyMax
from ..runs.selected import SelectedRun as SelectedRun
