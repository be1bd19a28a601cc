"""Exact numbers as balls of Arb and back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint


def arb_of(value: Any) -> flint.arb:
    """What Fraction reads, to the working precision."""
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def fraction_of(ball: flint.arb) -> Fraction:
    """The middle of a ball."""
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
