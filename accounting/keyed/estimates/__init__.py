"""Estimates from sanitised samples: linear statistics Σ L(x)·g(w) and ordinal ones (PWS Sections 6 and 7).

Legend: π_ij the probability that a key of frequency i is reported with token j, π_i that it is reported at all, g a
non-decreasing function of frequency with g(0) = 0, L(x) the coefficient of key x, a_j what a reported token j adds to
the estimate; a key that is not reported adds 0.

Estimates are post-processing: nothing here enters a guarantee, and all numbers are binary64 estimates. They follow from
tables and public functions alone; what needs the true frequencies (errors of a sum, concordance of given keys) is
private to whoever holds the data.
"""

from .inverse import inverse_probability, inverse_probability_moments
from .likelihood import Cells, DelayLikelihood, Likelihood, Reach, RowLikelihood, likelihood
from .linear import TokenEstimates, estimated_sum, likeliest_estimates, maximum_likelihood, unbiased
from .moments import KeyGroup, MomentCurve, Moments, SumError, moment_curve, moments, sum_error, sum_error_of
from .order import concordance, concordances, expected_kendall, likely_kendall
from .statistics import Cap, Count, NamedStatistic, Power, Statistic, Total, sizes

__all__ = [
    "Cap",
    "Cells",
    "Count",
    "DelayLikelihood",
    "KeyGroup",
    "Likelihood",
    "MomentCurve",
    "Moments",
    "NamedStatistic",
    "Power",
    "Reach",
    "RowLikelihood",
    "Statistic",
    "SumError",
    "TokenEstimates",
    "Total",
    "concordance",
    "concordances",
    "estimated_sum",
    "expected_kendall",
    "inverse_probability",
    "inverse_probability_moments",
    "likeliest_estimates",
    "likelihood",
    "likely_kendall",
    "maximum_likelihood",
    "moment_curve",
    "moments",
    "sizes",
    "sum_error",
    "sum_error_of",
    "unbiased",
]
