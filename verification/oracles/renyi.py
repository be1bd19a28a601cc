"""Rényi divergences of Gaussian mixtures by direct numerical integration of the densities, at high precision.

Written from the definition, ∫ p^α·q^{1−α}, with mpmath's own functions and quadrature: no series, no closed form, no
code of the library. Results are numerical evidence, not proof.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

from mpmath.calculus.quadrature import GaussLegendre

from .working_precision import context, fraction

_BITS = 96
_TAIL = 12
"""Standard deviations beyond the outermost centre at which the integrals are cut: e^{−12²/2} < 10^{−31}."""

AGREEMENT = Fraction(1, 10**15)
"""Two computations of one divergence agree where they differ by less than this, relatively."""

NOISE = Fraction(1, 10**25)
"""And where they differ by less than this: the rounding and the cut tails of an integral near 1."""

_context = context(_BITS)
_rule: Any = GaussLegendre(_context)
_NODES = _rule.calc_nodes(4, _BITS)


def mixture_divergence(
    rate: Fraction, distance: Fraction, deviation: Fraction, order: Fraction, *, reversed_: bool = False
) -> Fraction:
    """D_α of (1 − r)·N(0, σ²) + r·N(c, σ²) from N(0, σ²), in one dimension.

    Args:
        rate: r in [0, 1].
        distance: c ≥ 0.
        deviation: σ above 0.
        order: α above 1.
        reversed_: asks for the divergence of N(0, σ²) from the mixture instead.
    """
    rest, share, centre, sigma, alpha = map(_context.number, (1 - rate, rate, distance, deviation, order))
    factor = 1 / (sigma * _context.sqrt(2 * _context.pi))

    def integrand(x: Any) -> Any:
        without = factor * _context.exp(-((x / sigma) ** 2) / 2)
        sampled = rest * without + share * factor * _context.exp(-(((x - centre) / sigma) ** 2) / 2)
        one, other = (without, sampled) if reversed_ else (sampled, without)
        return one * (one / other) ** (alpha - 1)

    # the bumps of p^α·q^{1−α} lie between 0 and α·c, those of q^α·p^{1−α} between (1 − α)·c and 0
    bumps = ((1 - alpha) * centre, centre) if reversed_ else (0, alpha * centre)
    low, high = bumps[0] - _TAIL * sigma, bumps[1] + _TAIL * sigma
    return fraction(_context.log(_integral(integrand, low, high, sigma)) / (alpha - 1))


def _integral(function: Any, low: Any, high: Any, sigma: Any) -> Any:
    """The integral over pieces of three standard deviations, each by 24 Gauss-Legendre nodes."""
    pieces = int(_context.ceil((high - low) / (3 * sigma)))
    half = (high - low) / (2 * pieces)
    centres = [low + half * (2 * piece + 1) for piece in range(pieces)]
    return half * _context.fsum(w * function(c + half * node) for c in centres for node, w in _NODES)


def binomial_sum(rate: Fraction, exponent: Fraction, order: int) -> Fraction:
    """log(Σ_m C(α, m)(1 − r)^{α−m} r^m e^{(m² − m)·exponent})/(α − 1), term by term (DPIS Equations 6 and 13)."""
    rest, share, unit = map(_context.number, (1 - rate, rate, exponent))
    total = _context.fsum(
        comb(order, m) * rest ** (order - m) * share**m * _context.exp((m * m - m) * unit) for m in range(order + 1)
    )
    return fraction(_context.log(total) / (order - 1))
