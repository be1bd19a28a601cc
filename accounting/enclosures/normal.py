"""The distribution function of the standard normal distribution, its logarithms and its quantiles.

Guarantees of the distribution functions: the true value of every number inside the argument lies in the result,
whose ends are within a few units of the last place of the values at the ends of the argument, relatively, however
small they are.
"""

from __future__ import annotations

from fractions import Fraction

from . import _bell
from ._monotone import decreasing_image
from .enclosure import Enclosure

_GUARD = 8
_VARIANCE_BITS = 0  # 2·(1 − Φ(x)) = P(|X| > x) for X of variance 1
_HALF = Fraction(1, 2)


def normal_cdf(x: Enclosure) -> Enclosure:
    """Φ(x) = P(X ≤ x). The lower end is 0 for x ≤ −2**32: see `log_normal_cdf`.

    >>> normal_cdf(Enclosure.of(-1))
    Enclosure[0.15865525393145705141476745436, 0.15865525393145705141476745438]
    """
    return normal_survival(-x)


def normal_survival(x: Enclosure) -> Enclosure:
    """1 − Φ(x) = P(X > x). The lower end is 0 for x ≥ 2**32: see `log_normal_survival`."""
    return decreasing_image(x, _survival)


def log_normal_cdf(x: Enclosure) -> Enclosure:
    """ln Φ(x), for every x.

    >>> log_normal_cdf(Enclosure.of(-1000))
    Enclosure[-500007.82669481218430980616756, -500007.82669481218430980616754]
    """
    return log_normal_survival(-x)


def log_normal_survival(x: Enclosure) -> Enclosure:
    """ln(1 − Φ(x)), for every x."""
    return decreasing_image(x, _log_survival)


def _survival(x: Enclosure) -> Enclosure:
    bits = x.precision + _GUARD
    size = abs(x)
    if size == x:
        return _bell.tail(x, bits, _VARIANCE_BITS) * _HALF
    return (1 + _bell.central(size, bits, _VARIANCE_BITS)) * _HALF


def _log_survival(x: Enclosure) -> Enclosure:
    bits = x.precision + _GUARD
    size = abs(x)
    if size == x:
        return _bell.log_tail(x, bits, _VARIANCE_BITS) - Enclosure.of(2, precision=bits).log()
    return (-_HALF * _bell.tail(size, bits, _VARIANCE_BITS)).log1p()
