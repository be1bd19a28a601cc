"""Rational numbers in mpmath and back, at a precision that is an oracle's own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext


def context(bits: int) -> Any:
    """A context of mpmath with this precision; its global one is shared by everybody.

    Its method `number` gives a rational number, rounded once to the working precision.
    """
    made: Any = MPContext()
    made.prec = bits
    made.number = lambda value: made.mpf(value.numerator) / value.denominator
    return made


def fraction(value: Any) -> Fraction:
    """The number that a float of mpmath is."""
    sign, mantissa, exponent, _ = value._mpf_
    return Fraction(int(mantissa) * (-1) ** sign) * Fraction(2) ** int(exponent)
