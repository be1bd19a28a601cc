"""The distribution function of the standard normal distribution, its logarithms and its quantiles.

Guarantees of the distribution functions: the true value of every number inside the argument lies in the result,
whose ends are within a few units of the last place of the values at the ends of the argument, relatively, however
small they are.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from ..errors import OutsideDomain
from ..exact import exact
from . import _bell
from ._monotone import decreasing_image
from .enclosure import Enclosure
from .roots import decreasing_root, increasing_root
from .truth import Truth

_GUARD = 8
_VARIANCE_BITS = 0  # 2·(1 − Φ(x)) = P(|X| > x) for X of variance 1
_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)
_ROOT_GUARD = 3
_FLOAT_LEVEL = 680.0  # e**−680 is a normal binary64 number


def normal_cdf(x: Enclosure) -> Enclosure:
    """Φ(x) = P(X ≤ x). The lower end is 0 for x ≤ −2**32: see `log_normal_cdf`.

    >>> normal_cdf(Enclosure.of(-1))
    Enclosure[0.15865525393145705141476745436, 0.15865525393145705141476745438]
    """
    return normal_survival(-x)


def normal_survival(x: Enclosure) -> Enclosure:
    """1 − Φ(x) = P(X > x). The lower end is 0 for x ≥ 2**32: see `log_normal_survival`."""
    return decreasing_image(x, _survival)


def two_sided_normal_tail(x: Enclosure) -> Enclosure:
    """P(|X| > x) = 2·(1 − Φ(x)) for x ≥ 0. The lower end is 0 for x ≥ 2**32."""
    return decreasing_image(x, lambda at: _bell.tail(at, at.precision + _GUARD, _VARIANCE_BITS))


def log_normal_cdf(x: Enclosure) -> Enclosure:
    """ln Φ(x), for every x.

    >>> log_normal_cdf(Enclosure.of(-1000))
    Enclosure[-500007.82669481218430980616756, -500007.82669481218430980616754]
    """
    return log_normal_survival(-x)


def log_normal_survival(x: Enclosure) -> Enclosure:
    """Enclose the log of the upper normal tail, ln(1 − Φ(x)), for every x."""
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


def normal_quantile(probability: Enclosure) -> Enclosure:
    """The x with Φ(x) = probability, relatively accurate for tiny probabilities and at 1/2.

    Guarantees: Φ is proven to be at most the probability's lower end at the lower end of the result, and at least its
    upper end at the upper end. For probabilities near 1 see `normal_upper_quantile`.

    Raises:
        OutsideDomain: where the probability reaches outside (0, 1).

    >>> normal_quantile(Enclosure.of("0.975"))
    Enclosure[1.959963984540054235524594430, 1.959963984540054235524594431]
    """
    return -normal_upper_quantile(probability)


def normal_upper_quantile(tail: Enclosure) -> Enclosure:
    """The x with 1 − Φ(x) = tail, relatively accurate for tiny tails and at 1/2; otherwise as `normal_quantile`."""
    if tail.greater(0) is not Truth.TRUE or tail.less(1) is not Truth.TRUE:
        raise OutsideDomain(
            f"the normal quantile of {tail}, which reaches outside (0, 1); only probabilities strictly between 0 and "
            "1 have one."
        )
    return decreasing_image(tail, _upper_quantile)


def _upper_quantile(tail: Enclosure) -> Enclosure:
    """The upper quantile of a point. Differences from 1 and 1/2 are exact: they have no more bits than `tail`."""
    if tail.greater(_HALF) is Truth.TRUE:
        return -_upper_quantile(1 - tail)
    if tail.less(_HALF) is Truth.FALSE:
        return Enclosure.of(0, precision=tail.precision)
    return _far_quantile(tail) if tail.less(_QUARTER) is Truth.TRUE else _near_quantile(1 - 2 * tail)


def _near_quantile(mass: Enclosure) -> Enclosure:
    """The x with P(|X| ≤ x) = mass, for a mass in (0, 1/2]."""
    rise = mass.lower
    share = float(rise)
    x = share * math.sqrt(math.pi / 2)
    for _ in range(5):
        x -= (math.erf(x / math.sqrt(2)) - share) * math.sqrt(math.pi / 2) * math.exp(x * x / 2)
    # √(2/π)·x·e**(−x²/2) ≤ P(|X| ≤ x) ≤ √(2/π)·x puts x into [1.25·mass, 1.75·mass]
    return increasing_root(
        lambda at: _bell.central(at, at.precision, _VARIANCE_BITS) - mass,
        rise * Fraction(5, 4),
        rise * Fraction(7, 4),
        precision=mass.precision + _ROOT_GUARD,
        guess=x,
    )


def _far_quantile(tail: Enclosure) -> Enclosure:
    """The x with P(|X| > x) = 2·tail, for a tail below 1/4."""
    target = (2 * tail.at(tail.precision + _GUARD)).log()
    level = -target.lower_float
    # P(|X| > 1/2) > 1/2, and P(|X| > x) ≤ e**(−x²/2) puts x below √(2·level)
    top = math.sqrt(2 * level)
    return decreasing_root(
        lambda at: _bell.log_tail(at, at.precision, _VARIANCE_BITS) - target,
        _HALF,
        exact(top) + 1,
        precision=tail.precision + _ROOT_GUARD,
        guess=-NormalDist().inv_cdf(tail.lower_float) if level < _FLOAT_LEVEL else _far_guess(top),
    )


def _far_guess(top: float) -> float:
    """The x with ln P(|X| > x) = −top²/2 from the asymptotic series, in floats, for top > 30."""
    x = top
    for _ in range(8):
        ratio = math.log1p((-1 + (3 - (15 - 105 / x**2) / x**2) / x**2) / x**2)
        x = math.sqrt(top * top - 2 * math.log(x * math.sqrt(math.pi / 2)) + 2 * ratio)
    return x
