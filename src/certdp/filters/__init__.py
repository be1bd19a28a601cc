"""Filters and odometers: budgets, and readings, of runs whose steps are chosen from earlier outputs."""

from ..accounting.filters import ApproximateFilter as ApproximateFilter
from ..accounting.filters import Filter as Filter
from ..accounting.filters import GaussianFilter as GaussianFilter
from ..accounting.filters import LossReading as LossReading
from ..accounting.filters import PureFilter as PureFilter
from ..accounting.filters import PureOdometer as PureOdometer
from ..accounting.filters import Remaining as Remaining
from ..accounting.filters import RenyiFilter as RenyiFilter
from ..accounting.filters import RenyiOdometer as RenyiOdometer
from ..accounting.filters import ZeroConcentratedFilter as ZeroConcentratedFilter
