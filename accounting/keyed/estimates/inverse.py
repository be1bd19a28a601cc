"""Inverse probability: estimates from a sample that is not private (PWS Section 7, Equation 7)."""

from __future__ import annotations

from ...enclosures import Enclosure
from ...errors import InvalidValue
from ...exact import exact
from ..reporting import Inclusion
from .moments import Moments
from .statistics import Statistic

_PRECISION = 64


def inverse_probability(inclusion: Inclusion, statistic: Statistic, frequency: int) -> float:
    """g(i)/q_i: the unbiased, non-negative estimate from a sample that is not private (PWS Equation 7).

    Raises:
        InvalidValue: where q_i is not known to be above 0: no unbiased estimate exists.
    """
    return float(exact(statistic(frequency)) / _rate(inclusion, frequency).midpoint)


def inverse_probability_moments(inclusion: Inclusion, statistic: Statistic, frequency: int) -> Moments:
    """The moments of `inverse_probability`: bias 0, variance g(i)²·(1/q_i − 1).

    Raises:
        InvalidValue: as `inverse_probability`.
    """
    size, rate = exact(statistic(frequency)), _rate(inclusion, frequency).midpoint
    variance = float(size * size * (1 - rate) / rate)
    return Moments(expectation=float(size), bias=0.0, mean_squared_error=variance, variance=variance)


def _rate(inclusion: Inclusion, frequency: int) -> Enclosure:
    rate = inclusion.rate(frequency, precision=_PRECISION)
    if not rate.lower:
        raise InvalidValue("frequency", frequency, "a frequency that is sampled with positive probability")
    return rate
