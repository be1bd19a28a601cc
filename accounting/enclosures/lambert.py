"""The two real branches of Lambert's W function, the inverse of w·e**w.

Guarantees of both: the w of every number inside the argument lies in the result, whose ends are within a few units of
the last place of the exact ones, near 0 and near the branch point (−1/e, −1) too.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..errors import OutsideDomain
from ..exact import exact
from ._monotone import decreasing_image, increasing_image, point
from .enclosure import Enclosure
from .roots import increasing_root
from .truth import Truth

_GUARD = 8
_ROOT_GUARD = 3
_NEWTON_STEPS = 8
_SERIES_TERMS = 24
_BRANCH_SIDE = Fraction(-1, 4)  # from −1/e to here the distance from the branch point is the unknown


def lambert_w0(x: Enclosure) -> Enclosure:
    """The w ≥ −1 with w·e**w = x, relatively accurate at 0.

    Raises:
        OutsideDomain: where the enclosure is not proven to lie above −1/e.

    >>> lambert_w0(Enclosure.of(1))
    Enclosure[0.56714329040978387299996866220, 0.56714329040978387299996866222]
    """
    _check_branch(x)
    return increasing_image(x, _upper_branch)


def lambert_wm1(x: Enclosure) -> Enclosure:
    """The w ≤ −1 with w·e**w = x < 0.

    Raises:
        OutsideDomain: where the enclosure is not proven to lie above −1/e, or reaches 0.

    >>> lambert_wm1(Enclosure.of("-0.1"))
    Enclosure[-3.5771520639572972184093919636, -3.5771520639572972184093919634]
    """
    _check_branch(x)
    if x.less(0) is not Truth.TRUE:
        raise OutsideDomain(f"the lower branch of Lambert's W at {x}, which reaches 0; keep arguments below 0.")
    return decreasing_image(x, _lower_branch)


def _upper_branch(x: Enclosure) -> Enclosure:
    if x.less(_BRANCH_SIDE) is Truth.TRUE:
        # s²/2 ≤ G(s) ≤ 0.8·s² for s = w + 1 in (0, 0.65]
        return _beside_branch(x, 1, Fraction(1), Fraction(3, 2)) - 1
    if x.greater(1) is Truth.TRUE:
        return _large(x)
    if x.contains(0):
        return x
    near, far = sorted((x.lower / 2, 2 * x.lower))  # e**(x/2) < 2 and e**(2·x) > 1/2 for −1/4 ≤ x ≤ 1
    return increasing_root(
        lambda w: w * w.exp() - x, near, far, precision=x.precision + _ROOT_GUARD, guess=_small_guess(float(x.lower))
    )


def _large(x: Enclosure) -> Enclosure:
    """W(x) for x > 1, the root of w + ln w − ln x, which lies between 1/2 and 1 + ln x."""
    target = x.at(x.precision + _GUARD).log()
    level = target.upper_float
    w = level + 0.5
    for _ in range(_NEWTON_STEPS):
        w *= (1 + level - math.log(w)) / (1 + w)
    return increasing_root(
        lambda w: w + w.log() - target,
        Fraction(1, 2),
        exact(level) + 1,
        precision=x.precision + _ROOT_GUARD,
        guess=w,
    )


def _lower_branch(x: Enclosure) -> Enclosure:
    if x.less(_BRANCH_SIDE) is Truth.TRUE:
        # 0.24·t² ≤ G(−t) ≤ t²/2 for t = −1 − w in (0, 1.16]
        return -1 - _beside_branch(x, -1, Fraction(5, 4), Fraction(9, 4))
    # v = −w is the root of v − ln v + ln(−x), which is below 0 at 2 and above 0 at 1 − 2·ln(−x)
    target = (-x.at(x.precision + _GUARD)).log()
    level = target.lower_float
    v = 2 - level
    for _ in range(_NEWTON_STEPS):
        v *= (math.log(v) - 1 - level) / (v - 1)
    return -increasing_root(
        lambda v: v - v.log() + target, 2, 1 - 2 * exact(level), precision=x.precision + _ROOT_GUARD, guess=v
    )


def _beside_branch(x: Enclosure, side: int, least: Fraction, most: Fraction) -> Enclosure:
    """The distance s of w from −1: the root of G(side·s) = d, where G(s) = 1 + (s − 1)·e**s and d = 1 + e·x.

    It lies between `least` and `most` times the root of d.
    """
    gap = _gap(x).at(x.precision + _GUARD)
    root = gap.sqrt()
    return increasing_root(
        lambda s: _curve(side * s) - gap,
        root.lower * least,
        root.upper * most,
        precision=x.precision + _ROOT_GUARD,
        guess=_branch_guess(side, gap.upper_float),
    )


def _curve(s: Enclosure) -> Enclosure:
    """G(s) = 1 + (s − 1)·e**s = s²/2 + s³/3 + …, at the precision of `s`; the subtraction loses 2·log2(1/|s|) bits."""
    lost = 2 * max(0, -(s._lower[2] + s._lower[3])) + _GUARD
    fine = s.at(s.precision + lost)
    return (1 + (fine - 1) * fine.exp()).at(s.precision)


def _gap(x: Enclosure) -> Enclosure:
    """1 + e·x, precise even where x is as close to −1/e as twice its bits allow."""
    bits = 3 * x.precision + _GUARD
    return 1 + Enclosure.of(1, precision=bits).exp() * x


def _check_branch(x: Enclosure) -> None:
    if _gap(point(x._lower, x.precision)).greater(0) is not Truth.TRUE:
        raise OutsideDomain(
            f"Lambert's W of {x}, which is not proven to lie above −1/e = −0.36787944117…; keep arguments above, or "
            "use that w = −1 at the branch point."
        )


def _small_guess(x: float) -> float:
    """W(x) for −1/4 ≤ x ≤ 1, in floats."""
    w = x / (1 + x)
    for _ in range(_NEWTON_STEPS):
        w -= (w - x * math.exp(-w)) / (1 + w)
    return w


def _branch_guess(side: int, gap: float) -> float:
    """The s > 0 with G(side·s) = gap, in floats."""
    s = math.sqrt(2 * gap)
    for _ in range(_NEWTON_STEPS):
        z = side * s
        term, curve = z, 0.0
        for k in range(2, _SERIES_TERMS):
            term *= z / k
            curve += (k - 1) * term
        s -= (curve - gap) / (s * math.exp(z))
    return s
