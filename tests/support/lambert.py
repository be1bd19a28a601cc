"""The largest weight of a record by Lambert's function, and the checker's numbers as fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath

from certdp.verification.checker.intervals import Mpf


def fraction(number: Mpf) -> Fraction:
    """The value of a raw floating-point number."""
    return (-1 if number[0] else 1) * number[1] * Fraction(2) ** number[2]


def largest_weight(loss: float, target: Fraction) -> Any:
    """By Lambert's function, in 100 digits."""
    a, t = mpmath.mpf(loss), mpmath.mpf(target.numerator) / target.denominator
    c = mpmath.expm1(t)
    w = -1 / c - mpmath.lambertw(-(a / c) * mpmath.exp(-a / c), -1).real / a
    assert abs(mpmath.expm1(a * w) - c * w) < c * w * mpmath.mpf(10) ** -40
    return w
