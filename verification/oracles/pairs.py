"""Divergences of pairs of laws by direct summation and integration in mpmath: numerical evidence, not proof.

They share nothing with the library's closed forms: densities are written out, and integrated or summed as they stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import comb
from typing import Any, TypeAlias

import numpy as np

from .working_precision import context, fraction

_context = context(110)

CLOSE = Fraction(1, 2**64)
"""The relative error of the sums and integrals here stays below this, by a wide margin."""

_PANELS, _NODES = 60, 10

Density: TypeAlias = Callable[[Any], Any]


def logarithm(value: Fraction) -> Fraction:
    """Return the natural logarithm ln value."""
    return fraction(_context.log(_context.number(value)))


def finite_renyi(first: Sequence[Fraction], second: Sequence[Fraction], order: Fraction) -> Fraction:
    """Return τ(α) of two tables without zeros."""
    alpha = _context.number(order)
    terms = (
        _context.exp(alpha * _context.log(_context.number(p)) + (1 - alpha) * _context.log(_context.number(q)))
        for p, q in zip(first, second, strict=True)
    )
    return fraction(_context.log(_context.fsum(terms)) / (alpha - 1))


# Densities on the line


@cache
def laplace_delta(shift: Fraction, epsilon: Fraction) -> Fraction:
    """δ(ε) of Laplace(shift, 1) from Laplace(0, 1)."""
    s, e = _context.number(shift), _context.number(epsilon)
    if e >= s:
        return Fraction(0)
    crossing = (s + e) / 2
    return _hockey_stick(_laplace(s), _laplace(0), e, [crossing, s, s + 1])


@cache
def laplace_renyi(shift: Fraction, order: Fraction) -> Fraction:
    """τ(α) of Laplace(shift, 1) from Laplace(0, 1)."""
    s = _context.number(shift)
    return _renyi(_laplace(s), _laplace(0), _context.number(order), [0, s / 2, s])


def gaussian_delta(shift: Fraction, epsilon: Fraction) -> Fraction:
    """δ(ε) of N(shift, 1) from N(0, 1)."""
    return sampled_gaussian_delta(shift, Fraction(1), epsilon, remove=True)


@cache
def sampled_gaussian_delta(shift: Fraction, rate: Fraction, epsilon: Fraction, *, remove: bool) -> Fraction:
    """δ(ε) of (1 − q)·N(0, 1) + q·N(shift, 1) from N(0, 1), or the other way round."""
    s, q, e = _context.number(shift), _context.number(rate), _context.number(epsilon)
    mixed = _mixture(_normal(s), _normal(0), q)
    if remove:  # the ratio 1 − q + q·e^{sx − s²/2} grows with x
        crossing = (_context.log((_context.exp(e) - 1 + q) / q) + s * s / 2) / s
        return _hockey_stick(mixed, _normal(0), e, [crossing, crossing + 2, crossing + 2 + s])
    kept = (_context.exp(-e) - 1 + q) / q
    if kept <= 0:
        return Fraction(0)
    crossing = (_context.log(kept) + s * s / 2) / s
    return _hockey_stick(_normal(0), mixed, e, [-_context.inf, crossing - 2 - s, crossing - 2, crossing])


@cache
def sampled_gaussian_renyi(shift: Fraction, rate: Fraction, order: Fraction, *, remove: bool) -> Fraction:
    """τ(α) of (1 − q)·N(0, 1) + q·N(shift, 1) from N(0, 1), or the other way round."""
    s, q, alpha = _context.number(shift), _context.number(rate), _context.number(order)
    mixed = _mixture(_normal(s), _normal(0), q)
    first, second = (mixed, _normal(0)) if remove else (_normal(0), mixed)
    return _renyi(first, second, alpha, [-4, 0, s, alpha * s, alpha * s + 4])


@cache
def group_delta(
    shift: Fraction, rate: Fraction, size: int, epsilon: Fraction, *, mirrored: bool, remove: bool
) -> Fraction:
    """δ(ε) of k records drawn with probability q each, which move N(0, 1) by s each: Σ_j C(k, j)q^j(1−q)^(k−j)N(js, 1).

    Args:
        mirrored: whether the other law is the mirror image of that one; otherwise it is N(0, 1).
        remove: whether that law comes first.
    """
    s, q, e = _context.number(shift), _context.number(rate), _context.number(epsilon)
    chances = [comb(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]

    def moved(sign: int) -> Density:
        return lambda x: sum(chance * _normal(sign * j * s)(x) for j, chance in enumerate(chances))

    first, second = moved(1), moved(-1) if mirrored else moved(0)
    low, high = -40 - size * s, 40 + size * s
    rises = remove or mirrored
    first, second = (first, second) if rises else (second, first)

    def excess(x: Any) -> Any:
        return first(x) - _context.exp(e) * second(x)

    if excess(high if rises else low) <= 0:
        return Fraction(0)
    for _ in range(300):  # the ratio of the densities is monotone
        middle = (low + high) / 2
        if (excess(middle) > 0) is rises:
            high = middle
        else:
            low = middle
    ends = [low + j * s / 2 for j in range(2 * size + 3)]
    if not rises:
        ends = [low - j * s / 2 for j in range(2 * size + 3)][::-1]
    return fraction(_context.quad(excess, [*ends, _context.inf] if rises else [-_context.inf, *ends]))


def opposite_laplace_delta(shift: Fraction, rate: Fraction, epsilon: Fraction) -> Fraction:
    """δ(ε) of Laplace noise about s, drawn with probability q, and 0 against the same about −s and 0."""
    s, q, e = _context.number(shift), _context.number(rate), _context.number(epsilon)
    first, second = (_mixture(_laplace(centre), _laplace(0), q) for centre in (s, -s))

    def excess(x: Any) -> Any:
        return first(x) - _context.exp(e) * second(x)

    if excess(2 * s) <= 0:  # from s on the ratio is the largest
        return Fraction(0)
    low, high = -s, s
    for _ in range(300):  # the ratio of the densities does not fall
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return fraction(_context.quad(excess, [high, (high + s) / 2, s, s + 1, _context.inf]))


def _laplace(centre: Any) -> Density:
    return lambda x: _context.exp(-abs(x - centre)) / 2


def _normal(centre: Any) -> Density:
    return lambda x: _context.exp(-((x - centre) ** 2) / 2) / _context.sqrt(2 * _context.pi)


def _mixture(drawn: Density, otherwise: Density, rate: Any) -> Density:
    return lambda x: rate * drawn(x) + (1 - rate) * otherwise(x)


def _hockey_stick(first: Density, second: Density, epsilon: Any, points: list[Any]) -> Fraction:
    """∫ first − e^ε·second over the set where that is positive: from the first point on, or up to the last."""
    factor = _context.exp(epsilon)
    ends = points if points[0] == -_context.inf else [*points, _context.inf]
    return fraction(_context.quad(lambda x: first(x) - factor * second(x), ends))


def _renyi(first: Density, second: Density, order: Any, points: list[Any]) -> Fraction:
    ends = [-_context.inf, *sorted(points), _context.inf]
    moment = _context.quad(lambda x: second(x) * (first(x) / second(x)) ** order, ends)
    return fraction(_context.log(moment) / (order - 1))


def laplace_mass(lower: Fraction | None, upper: Fraction, centre: Fraction) -> Fraction:
    """The probability of an interval under Laplace(centre, 1), up to `upper` where there is no lower end."""
    start = -_context.inf if lower is None else _context.number(lower)
    return fraction(_context.quad(_laplace(_context.number(centre)), [start, _context.number(upper)]))


# Laws on the integers


def discrete_gaussian_delta(variance: Fraction, steps: int, epsilon: Fraction) -> Fraction:
    """δ(ε) of two discrete Gaussian laws, by summing the positive parts."""
    p, q = _lattice(variance, steps), _lattice(variance, 0)
    factor = _context.exp(_context.number(epsilon))
    return fraction(_context.fsum(max(p[x] - factor * q[x], 0) for x in p if x in q))


def discrete_gaussian_renyi(variance: Fraction, steps: int, order: Fraction) -> Fraction:
    """Return τ(α) of two discrete Gaussian laws."""
    alpha, reach = _context.number(order), _reach(variance, steps * math.ceil(order))
    scale = 2 * _context.number(variance)
    total = _context.fsum(_context.exp(-_context.mpf(x * x) / scale) for x in range(-reach, reach + 1))
    moment = _context.fsum(
        _context.exp((-alpha * (x - steps) ** 2 - (1 - alpha) * x * x) / scale) for x in range(-reach, reach + 1)
    )
    return fraction(_context.log(moment / total) / (alpha - 1))


def _reach(variance: Fraction, steps: int) -> int:
    """So many steps from 0 that what lies beyond weighs less than e^{−200}."""
    return steps + math.isqrt(math.ceil(400 * variance)) + 2


def _lattice(variance: Fraction, centre: int) -> dict[int, Any]:
    reach, scale = _reach(variance, centre) + centre, 2 * _context.number(variance)
    scores = {x: _context.exp(-_context.mpf((x - centre) ** 2) / scale) for x in range(-reach, reach + 1)}
    total = _context.fsum(scores.values())
    return {x: score / total for x, score in scores.items()}


# Two releases, each on a fresh sample


def twice_sampled_laplace_delta(shift: float, rate: float, epsilon: float, *, remove: bool) -> float:
    """δ(ε) of two independent draws from the sampled Laplace pair, in binary64, to about four digits.

    The double integral of [f(x)·f(y) − e^ε·g(x)·g(y)]₊ on a grid of Gauss-Legendre nodes: across the kink a grid is
    no better than that. f/g is constant outside [0, shift], so both tails are outputs of their own, with exact masses.
    """
    outputs = _sampled_laplace(shift, rate)
    pairs = outputs if remove else [(g, f) for f, g in outputs]
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    joint = np.multiply.outer(first, first) - math.exp(epsilon) * np.multiply.outer(second, second)
    return float(np.maximum(joint, 0).sum())


def _sampled_laplace(shift: float, rate: float) -> list[tuple[float, float]]:
    """Masses of the sampled and the unsampled law: two tails, and nodes of a quadrature between them."""
    near, far = 0.5, 0.5 * math.exp(-shift)
    masses = [(far, near), (near, far)]  # with the record and without it, below 0 and above the shift
    positions, weights = np.polynomial.legendre.leggauss(_NODES)
    width = shift / _PANELS
    for panel in range(_PANELS):
        for position, weight in zip(positions, weights, strict=True):
            x, share = (panel + (position + 1) / 2) * width, weight * width / 2
            masses.append((0.5 * math.exp(x - shift) * share, 0.5 * math.exp(-x) * share))
    return [(rate * p + (1 - rate) * q, q) for p, q in masses]
