"""P(|X| ≤ x), P(|X| > x) and its logarithm for a centred normal X, at one number x ≥ 0.

X has variance 2**-h, with h = 0 (the normal distribution) or h = 1 (erf and erfc). Its density on x ≥ 0, twice
that of X, is d·e**−q with q = x²·2**(h−1) and d² = 2**(h+1)/π. Arguments are points of at most `precision` bits;
results are a few units of the last place wide. "Unit" means 2**-work, as in `_series`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from . import _ends as ends
from . import _series
from ._monotone import of_bracket
from ._series import Bracket, _floor_shift
from .constants import pi
from .enclosure import Enclosure

_HUGE = 40  # bits of a number whose size alone says that it is far out
_HUGEST_FLOAT = 1 << 1000


def central(x: Enclosure, precision: int, h: int) -> Enclosure:
    """P(|X| ≤ x), relatively accurate at 0."""
    return 1 - tail(x, precision, h) if _is_far(x, precision, h) else _central(x, precision, h)


def tail(x: Enclosure, precision: int, h: int) -> Enclosure:
    """P(|X| > x), relatively accurate for large x; the lower end is 0 where q ≥ 2**62."""
    if _is_far(x, precision, h):
        man, exponent = ends.integers(x._lower)
        low, high, unit = _tail_over_weight(man, exponent, precision, h)
        least, most, weight_unit = _weight(man, exponent, precision, h)
        return of_bracket((low * least, high * most, unit + weight_unit), precision)
    # 1 − c loses the bits by which the tail is below 1: at most 1.5·q + x + 3, as it is above e**−q/(3·(x + 1))
    whole = _whole(x) + 1
    lost = (3 * whole * whole << h >> 2) + whole + 3
    return 1 - _central(x, precision + lost, h)


def log_tail(x: Enclosure, precision: int, h: int) -> Enclosure:
    """ln P(|X| > x), relatively accurate at 0 and for large x."""
    if _is_far(x, precision, h):  # both terms are negative: nothing cancels
        return _far_over_weight(x, precision, h).log() - x.at(precision).square() * Fraction(1 << h, 2)
    if x._upper[2] + x._upper[3] < 0:  # x < 1/2
        return (-_central(x, precision, h)).log1p()
    return tail(x, precision, h).log()


def _is_far(x: Enclosure, precision: int, h: int) -> bool:
    """Whether the continued fraction is the cheaper way to this precision: q ≥ precision/8 + 2."""
    if x._upper[2] + x._upper[3] > _HUGE:
        return True
    return _whole(x) ** 2 << h >= precision // 4 + 4


def _whole(x: Enclosure) -> int:
    """Return floor(x) of the number x."""
    return _floor_shift(*ends.integers(x._lower))


def _central(x: Enclosure, precision: int, h: int) -> Enclosure:
    """Enclose the central mass P(|X| ≤ x) = d·x·e**−q·S(2·q), whose factors are multiplied exactly."""
    man, exponent = ends.integers(x._lower)
    found = man, man, exponent
    for low, high, unit in (
        _density(precision, h),
        _weight(man, exponent, precision, h),
        _series_sum(man, exponent, precision, h),
    ):
        found = found[0] * low, found[1] * high, found[2] + unit
    return of_bracket(found, precision)


def _far_over_weight(x: Enclosure, precision: int, h: int) -> Enclosure:
    return of_bracket(_tail_over_weight(*ends.integers(x._lower), precision, h), precision)


def _tail_over_weight(man: int, exponent: int, precision: int, h: int) -> Bracket:
    """Bracket of the weighted tail e**q·P(|X| > x) = d·2**−h/R(x)."""
    low, high, unit = _density(precision, h)
    least, most, ratio_unit = _ratio(man, exponent, precision, h)
    shift = precision + 16 + most.bit_length() - low.bit_length()
    return (low << shift) // most, -((-high << shift) // least), unit - h - shift - ratio_unit


def _weight(man: int, exponent: int, precision: int, h: int) -> Bracket:
    """Bracket of the weight e**−q, where q is exact."""
    return _series.exp(-man * man, 2 * exponent + h - 1, precision)


@lru_cache(maxsize=64)
def _density(precision: int, h: int) -> Bracket:
    """Bracket of the factor d of the density."""
    found = ((2 << h) / pi(precision + 16)).sqrt()
    (low, unit), (high, other) = (ends.integers(end) for end in (found._lower, found._upper))
    least = min(unit, other)
    return low << unit - least, high << other - least, least


def _series_sum(man: int, exponent: int, precision: int, h: int) -> Bracket:
    """Bracket of S(y) = Σ y**j/(1·3·5···(2j+1)) for y = 2·q.

    The integral of e**−q from 0 to x is x·e**(−q)·S(2·q) (DLMF 7.6.2).
    """
    work = precision + precision.bit_length() + 16
    y = _floor_shift(man * man, 2 * exponent + h + work)
    total = term = 1 << work
    odd = 1
    while term:
        odd += 2
        term = (term * y >> work) // odd
        total += term
    # The computed terms satisfy the true recursion but for a loss of at most 4/3 units each (and none from the
    # first 0 on). A loss at index i, carried on, sums to Σ_(j≥i) Π_(i<k≤j) y/(2k+1) ≤ S times itself. So S exceeds
    # the sum by at most odd·S units, the remainder included. The rounded y costs S'(y) ≤ S/2 units: the terms of S'
    # are j/(2j+1)·y**(j−1)/(1·3···(2j−1)). As odd < 2**(work−2), (odd + 1)·S ≤ 2·(odd + 1)·sum.
    return total, total + (total * (2 * odd + 2) >> work) + 1, -work


def _ratio(man: int, exponent: int, precision: int, h: int) -> Bracket:
    """Bracket of R_0 = v·e**−q/I_0 for x ≥ 1, where v = 2**−h and I_0 is the integral of e**−q from x to ∞.

    Let I_n be the integral of (t − x)**n/n!·e**−q(t) over t from x to ∞, and I_(−1) = e**−q(x). Integrating
    (t − x)**n/n!·t·e**−q(t) by parts gives (n+1)·I_(n+1) + x·I_n = v·I_(n−1), so that R_n = v·I_(n−1)/I_n satisfies
    R_n = x + (n+1)·v/R_(n+1) (DLMF 7.18.7, 7.9.1). As R_(n+1) > x, R_n lies between x and x + (n+1)·v/x. The steps
    from there to R_0 are taken with both ends, where x is known to a unit and every quotient loses at most one.
    """
    work = precision + 8
    size = man.bit_length() + exponent
    if 2 * size > work + 2:
        return man << work, (man << work) + man, exponent - work  # v/x ≤ x·2**(2 − 2·size) ≤ x·2**−work
    unit = work - size
    low_x = _floor_shift(man, exponent + unit)
    one = 1 << (2 * unit - h)  # v in units of the product of two numbers
    steps = _steps(_floor_shift(man, exponent) ** 2 << h, work)
    low, high = low_x, low_x + 2 + (steps + 1) * one // low_x
    for n in range(steps, 0, -1):
        low, high = low_x + n * one // high, low_x + 2 + n * one // low
    return low, high, -unit


def _steps(twice_q: int, work: int) -> int:
    """How many steps make the ends of R_0 agree to about `work` bits; soundness does not depend on it.

    A step from R_n with R_n·R_(n−1) = n·v·e**(2·asinh(a)), a² = 2·q/(4·n), shrinks their distance by that factor.
    """
    quarter = min(twice_q, _HUGEST_FLOAT) / 4
    steps, left = 0, work * math.log(2)
    while left > 0:
        steps += 1
        left -= 2 * math.asinh(math.sqrt(quarter / steps))
    return steps
