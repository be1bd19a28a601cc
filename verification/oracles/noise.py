"""Tails of noise and their inverses by mpmath's own functions: numerical evidence, not proof.

They share nothing with the library's tables and enclosures. Their errors are below 2^-500 of what they give.
"""

from __future__ import annotations

from fractions import Fraction

from .working_precision import context, fraction

_context = context(700)


def laplace_tail(x: Fraction) -> Fraction:
    """P(|X| > x) for X of density e^−|x|/2."""
    return fraction(_context.exp(-_context.number(x)))


def gaussian_tail(x: Fraction) -> Fraction:
    """P(|X| > x) for a standard normal X."""
    return fraction(_context.erfc(_context.number(x) / _context.sqrt(2)))


def laplace_magnitude(p: Fraction) -> Fraction:
    """The x with P(|X| > x) = p for X of density e^−|x|/2."""
    return fraction(-_context.log(_context.number(p)))


def gaussian_magnitude(p: Fraction) -> Fraction:
    """The x with P(|X| > x) = p for a standard normal X; p is at least 2^-100."""
    return fraction(_context.sqrt(2) * _context.erfinv(_context.number(1 - p)))
