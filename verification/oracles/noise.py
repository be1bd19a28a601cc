"""Tails of noise and their inverses by mpmath's own functions: numerical evidence, not proof.

They share nothing with the library's tables and enclosures. Their errors are below 2^-500 of what they give.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from .pairs import fraction

_context: Any = MPContext()  # an own context: mpmath's global one is shared by everybody
_context.prec = 700


def laplace_tail(x: Fraction) -> Fraction:
    """P(|X| > x) for X of density e^−|x|/2."""
    return fraction(_context.exp(-_number(x)))


def gaussian_tail(x: Fraction) -> Fraction:
    """P(|X| > x) for a standard normal X."""
    return fraction(_context.erfc(_number(x) / _context.sqrt(2)))


def laplace_magnitude(p: Fraction) -> Fraction:
    """The x with P(|X| > x) = p for X of density e^−|x|/2."""
    return fraction(-_context.log(_number(p)))


def gaussian_magnitude(p: Fraction) -> Fraction:
    """The x with P(|X| > x) = p for a standard normal X; p is at least 2^-100."""
    return fraction(_context.sqrt(2) * _context.erfinv(_number(1 - p)))


def _number(value: Fraction) -> Any:
    return _context.mpf(value.numerator) / value.denominator
