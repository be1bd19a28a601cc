"""Budgets for runs whose parameters depend on earlier releases: filters, and odometers, each with its theorem."""

from .approximate import ApproximateFilter
from .filter import BudgetExceeded, Filter, FixedRun, Spent
from .odometers import LossReading, PureOdometer, RenyiOdometer
from .remaining import Remaining
from .sums import GaussianFilter, PureFilter, RenyiFilter, SumFilter, ZeroConcentratedFilter

__all__ = [
    "ApproximateFilter",
    "BudgetExceeded",
    "Filter",
    "FixedRun",
    "GaussianFilter",
    "LossReading",
    "PureFilter",
    "PureOdometer",
    "Remaining",
    "RenyiFilter",
    "RenyiOdometer",
    "Spent",
    "SumFilter",
    "ZeroConcentratedFilter",
]
