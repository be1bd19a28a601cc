"""Tails of noise and their inverses by mpmath's own functions: numerical evidence, not proof.

They share nothing with the library's tables and enclosures. Their errors are below 2^-500 of what they give.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def lp_length(order: Fraction, w: Fraction) -> Fraction:
    """The length that a uniform number proposes: w/c up to c, then 1 − ln((1 − w)'s share from the far end)/p.

    c = 8p/(8p + 3); the length beyond 1 is that of the tail (3/8)·e^(−p(t − 1)) at the share (w − c)/(1 − c).
    """
    c = 8 * order / (8 * order + 3)
    if w <= c:
        return w / c
    return 1 - fraction(_context.log(_context.number((w - c) / (1 - c)))) / order


def lp_acceptance(order: Fraction, w: Fraction) -> Fraction:
    """The share of the proposed lengths near that of w that are kept: the ratio of e^(−t^p) to what proposes it."""
    length = lp_length(order, w)
    power = _context.power(_context.number(length), _context.number(order))
    proposed = _context.number(1)
    if length > 1:
        proposed = _context.number(Fraction(3, 8)) * _context.exp(-_context.number(order * (length - 1)))
    return fraction(_context.exp(-power) / proposed)


def lp_vector(order: Fraction | None, places: Sequence[Fraction], levels: Sequence[Fraction]) -> list[Fraction]:
    """|ζ| of density ∝ exp(−‖ζ‖_p): the radius −Σ ln u times t/‖t‖_p, or for p = ∞ times the places themselves."""
    radius = -sum(_context.log(_context.number(level)) for level in levels)
    if order is None:
        return [fraction(radius * _context.number(place)) for place in places]
    lengths = [_context.number(lp_length(order, place)) for place in places]
    power = _context.number(order)
    norm = _context.power(sum(_context.power(length, power) for length in lengths), 1 / power)
    return [fraction(radius * length / norm) for length in lengths]


def discrete_tail(gaussian: bool, scale: Fraction, k: int) -> Fraction:
    """P(|Z| ≥ k) for Z of mass ∝ e^(−|z|/scale), or ∝ e^(−z²/2·scale²), summed up to masses below 2^-600."""
    unit = _context.number(1 / (2 * scale**2) if gaussian else 1 / scale)
    last = int(21 * scale) + 2 if gaussian else int(420 * scale) + 2
    masses, ratio = [_context.number(1)], _context.exp(-unit)
    for z in range(1, max(last, k + 1)):
        masses.append(masses[-1] * ratio ** (2 * z - 1 if gaussian else 1))
    return fraction(2 * sum(masses[max(k, 1) :]) / (masses[0] + 2 * sum(masses[1:]))) if k else Fraction(1)


def rounded_normal_kept(scale: Fraction, y: int) -> Fraction:
    """e^(−1/8σ²)·e^(−y²/2σ²) over the integral of e^(−x²/2σ²) over y ± 1/2, by Gauss' rule in working precision."""
    width = _context.number(1 / (2 * scale**2))
    around = [y - 0.5, y, y + 0.5]
    mass = _context.quad(lambda x: _context.exp(-width * x * x), around, method="gauss-legendre", maxdegree=4)
    return fraction(_context.exp(-width * (_context.number(Fraction(1, 4)) + y * y)) / mass)


def exponential_shares(exponents: Sequence[Fraction]) -> list[Fraction]:
    """The cumulative probabilities ∝ e^−x of outputs, up to each but the last."""
    masses = [_context.exp(-_context.number(exponent)) for exponent in exponents]
    total = sum(masses)
    return [fraction(sum(masses[: place + 1]) / total) for place in range(len(masses) - 1)]
