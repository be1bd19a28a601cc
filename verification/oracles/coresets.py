"""Oracles for coreset sampling: Equation 5 on a fine grid, and the sampler of Bachem, Lucic and Krause (2018).

They share no code with the library: plain floats and exact rationals on formulas written out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Point = tuple[Fraction, ...]

_POINTS = 4001
_REFINEMENTS = 12


def equation_5(rho: Floats, a: float, t: float, b: float, s: float) -> Floats:
    """ψ at ‖x‖₂ = ρ: log(1 + (exp((a + tρ)/(b + sρ²)) − 1)(b + sρ²)), by its logarithms where exp overflows."""
    q = np.minimum(1.0, b + s * rho**2)
    exponent = (a + t * rho) / q
    small = np.minimum(exponent, 30.0)
    beyond = exponent + np.log(q) + np.log1p((1 - q) / q * np.exp(-exponent))
    return np.where(exponent <= 30, np.log1p(np.expm1(small) * q), beyond)


def largest_of_equation_5(radius: float, a: float, t: float, b: float, s: float, *, points: int = _POINTS) -> float:
    """The largest value found on a grid over [0, radius] that is refined around its best point; a lower bound."""
    low, high, best = 0.0, radius, 0.0
    for _ in range(_REFINEMENTS):
        grid = np.linspace(low, high, points)
        values = equation_5(grid, a, t, b, s)
        at = int(np.argmax(values))
        best = max(best, float(values[at]))
        low, high = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, points - 1)])
    return best


def on_grid_of_equation_5(radius: float, a: float, t: float, b: float, s: float, points: int) -> float:
    """The largest value on an even grid, as the paper searches."""
    return float(equation_5(np.linspace(0.0, radius, points), a, t, b, s).max())


def squared_distance(x: Point, y: Point) -> Fraction:
    """Return the squared distance ‖x − y‖₂²."""
    return sum(((p - q) ** 2 for p, q in zip(x, y, strict=True)), Fraction(0))


def mean(points: Sequence[Point]) -> Point:
    """Return the mean of some points."""
    return tuple(sum(column, Fraction(0)) / len(points) for column in zip(*points, strict=True))


def cost(points: Sequence[Point], weights: Sequence[Fraction], centres: Sequence[Point]) -> Fraction:
    """The weighted k-means cost Σ w·min_c ‖x − c‖₂²."""
    nearest = (min(squared_distance(x, c) for c in centres) for x in points)
    return sum((w * d for w, d in zip(weights, nearest, strict=True)), Fraction(0))


def definition_14(
    points: Sequence[Point], sample: Sequence[Point], weights: Sequence[Fraction], centres: Sequence[Point]
) -> Fraction:
    """The least ε of Definition 14 at these centres."""
    ones = [Fraction(1)] * len(points)
    full = cost(points, ones, centres)
    return abs(full - cost(sample, weights, centres)) / ((full + cost(points, ones, [mean(points)])) / 2)


def lightweight_distribution(points: Sequence[Point], mixing: Fraction = Fraction(1, 2)) -> list[Fraction]:
    """Bachem, Lucic and Krause: mixing·1/n + (1 − mixing)·d(x, x̄)/Σ d(x, x̄); mixing is ½ there."""
    distances = [squared_distance(x, mean(points)) for x in points]
    return [mixing / len(points) + (1 - mixing) * d / sum(distances) for d in distances]


def subsets(rates: Sequence[Fraction]) -> list[tuple[Fraction, tuple[int, ...]]]:
    """Return every Poisson sample with its probability."""
    found = []
    for chosen in product((False, True), repeat=len(rates)):
        chance = prod((q if yes else 1 - q for q, yes in zip(rates, chosen, strict=True)), start=Fraction(1))
        found.append((chance, tuple(i for i, yes in enumerate(chosen) if yes)))
    return found


def optimal_shares(sizes: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    """The q ≤ 1 with Σ q = total and least Σ size²/q: every choice of the records at 1 is tried."""
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    best: tuple[Fraction, list[Fraction]] | None = None
    for full in range(len(sizes) + 1):
        rest, left = order[full:], total - full
        room = sum((sizes[i] for i in rest), Fraction(0))
        if left < 0 or (left and not room):
            continue
        shares = {i: Fraction(1) for i in order[:full]} | {i: left * sizes[i] / room if room else left for i in rest}
        if max(shares.values(), default=Fraction(0)) > 1 or any(sizes[i] and not q for i, q in shares.items()):
            continue
        value = sum((sizes[i] ** 2 / q for i, q in shares.items() if q), Fraction(0))
        if best is None or value < best[0]:
            best = value, [shares[i] for i in range(len(sizes))]
    assert best is not None
    return best[1]
