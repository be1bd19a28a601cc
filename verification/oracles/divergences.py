"""Divergences at high precision: mpmath's own functions on definitions written out here.

They share no code with the library. Results are numerical evidence, not proof: the rounding error is below `NEGLIGIBLE`
for arguments of ordinary size.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from .working_precision import context, fraction

_context = context(512)

NEGLIGIBLE = Fraction(1, 2**300)
"""Absolute room for the rounding of these numbers."""


def logarithm(value: Fraction) -> Fraction:
    """Return the natural logarithm log(value)."""
    return fraction(_context.log(_context.number(value)))


def exponential(value: Fraction) -> Fraction:
    """Return the exponential e^value."""
    return fraction(_context.exp(_context.number(value)))


def square_root(value: Fraction) -> Fraction:
    """Return the square root √value."""
    return fraction(_context.sqrt(_context.number(value)))


def renyi(first: Sequence[Fraction], second: Sequence[Fraction], order: Fraction) -> Fraction:
    """D_α(P‖Q) = log(Σ p^α·q^{1−α})/(α − 1) (DPIS Definition 2.3), all q being above 0."""
    alpha = _context.number(order)
    terms = [
        _context.exp(alpha * _context.log(_context.number(p)) + (1 - alpha) * _context.log(_context.number(q)))
        for p, q in zip(first, second, strict=True)
        if p
    ]
    return fraction(_context.log(_context.fsum(terms)) / (alpha - 1))


def normal_cdf(x: Fraction) -> Fraction:
    """Return the normal probability Φ(x), by the complementary error function."""
    return fraction(_cdf(_context.number(x)))


def gaussian_delta(mu: Fraction, epsilon: Fraction) -> Fraction:
    """The hockey-stick divergence of N(μ, 1) from N(0, 1) at e^ε: P beyond the point where P = e^ε·Q, less e^ε·Q."""
    shift, level = _context.number(mu), _context.number(epsilon)
    threshold = level / shift + shift / 2
    return fraction(_cdf(shift - threshold) - _context.exp(level) * _cdf(-threshold))


def gaussian_renyi(mu: Fraction, order: Fraction) -> Fraction:
    """D_α of N(μ, 1) from N(0, 1), by quadrature of the definition; to about 1e-20."""
    shift, alpha = _context.number(mu), _context.number(order)
    centre = alpha * shift  # where the integrand is largest
    weight = 1 / _context.sqrt(2 * _context.pi)

    def integrand(x: Any) -> Any:
        return weight * _context.exp(-alpha * (x - shift) ** 2 / 2 - (1 - alpha) * x**2 / 2)

    moment = _context.quad(integrand, [centre - 40, centre - 5, centre + 5, centre + 40])
    return fraction(_context.log(moment) / (alpha - 1))


def _cdf(x: Any) -> Any:
    return _context.erfc(-x / _context.sqrt(2)) / 2
