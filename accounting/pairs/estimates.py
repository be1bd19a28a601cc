"""Quick estimates of Rényi divergences in binary64: they tell a search where to look, and prove nothing."""

from __future__ import annotations

import math
from math import exp, expm1, floor, log, log1p

from ..relations import Direction
from .laws import RenyiEstimate

_HIGHEST_SUMMED = 600
_MODERATE = math.log(2.0**1000)


def mean_of_two(weight: float, first: float, second: float) -> float:
    """log(weight·e^first + (1 − weight)·e^second), for first ≥ second."""
    if first < 1:
        return log1p(weight * expm1(first) + (1 - weight) * expm1(second))
    return first + log(weight + (1 - weight) * exp(second - first))


def sampled_estimate(base: RenyiEstimate, rate: float, *, symmetric: bool) -> RenyiEstimate:
    """The estimate of a pair sampled at a rate, from its own: what `amplification.renyi_after_sampling` proves."""
    known: dict[int, float] = {}

    def moment(whole: int) -> float:
        if whole not in known:
            known[whole] = (whole - 1) * base(float(whole), Direction.REMOVE)
        return known[whole]

    def summed(whole: int) -> float:
        import numpy as np
        from scipy.special import gammaln

        if whole == 1:
            return 0.0
        counts = np.arange(2, whole + 1)
        logs = gammaln(whole + 1) - gammaln(counts + 1) - gammaln(whole - counts + 1)
        logs = logs + counts * log(rate) + (whole - counts) * log1p(-rate)
        moments = np.asarray([moment(int(k)) for k in counts])
        if moments[-1] < _MODERATE:
            return float(np.log1p(np.sum(np.exp(logs) * np.expm1(moments))))
        return float(np.logaddexp(0.0, np.logaddexp.reduce(logs + moments)))

    def two_outcomes(order: float) -> float:
        spread, present = moment(2), (1 - order) * log1p(-rate)
        if spread > _MODERATE / 2:
            return present
        steepest = rate**2 * expm1(spread) * order * (order - 1) / 2
        if steepest < 1e-9:
            return steepest
        return mean_of_two(-expm1(-spread), present, (1 - order) * log1p(rate * expm1(spread)))

    def estimate(order: float, direction: Direction) -> float:
        own = (order - 1) * base(order, direction)
        least = mean_of_two(rate, own, 0.0)
        if direction is Direction.ADD:
            least = min(least, two_outcomes(order))
        if order > _HIGHEST_SUMMED or (direction is Direction.ADD and not symmetric):
            return least / (order - 1)
        below = floor(order)
        share = order - below
        chord = (1 - share) * summed(below) + (share * summed(below + 1) if share else 0.0)
        return min(chord, least) / (order - 1)

    if rate <= 0:
        return lambda order, direction: 0.0
    return base if rate >= 1 else estimate
