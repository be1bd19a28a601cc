"""Releases of numbers: K' at the beginning of an epoch, K̃* after one (DPIS Equations 11 and 16), and Ñ before all.

What a record adds is cut toward zero to a public grid, sums are exact, and noise is correctly rounded to that grid:
post-processing of the real-valued releases.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..mechanisms.lattice import lattice_sum, noise_unit, rounded_sums
from ..plugins.contract import Coins, WeightedSample
from .sampling import FloatArray, Uniform


def noisy_norm_sum(norms: FloatArray, *, bound: Fraction, rate: Fraction, scale: Fraction, coins: Coins) -> float:
    """(1/p)·(Σ min(n, bound) + N(0, (p·scale)²)) over a Poisson sample of rate p, the noise added once.

    Args:
        norms: n of every record; NaN and infinite ones count as 0, as those records are dropped.
        bound: C, or C* for K̃*; above 0.
        rate: p in (0, 1]; drawn rounded down.
        scale: standard deviation of the noise in the result; above 0.
        coins: the operating system's, unless a run is to be repeated.

    Guarantees:
        One record moves the result by at most bound/p, with probability at most p: the sampled Gaussian of rate p and
        noise multiplier p·scale/bound, not scale/bound (erratum DPIS-Eq19).
    """
    drawn = norms[Uniform(error=Fraction(0)).draw(len(norms), rate=rate, coins=coins).indices]
    largest = float(bound)
    if largest > bound:
        largest = math.nextafter(largest, 0.0)
    clipped = np.minimum(np.where(np.isfinite(drawn), drawn, 0.0), largest)
    sample = WeightedSample(clipped[:, np.newaxis], np.ones(len(clipped)))
    totals = lattice_sum(sample, noise_unit(rate * scale))
    found = rounded_sums(totals, rate * scale, coins.gaussian_cells, 1)
    return float(Fraction(float(found[0, 0])) / rate)


def noisy_size(count: int, *, scale: Fraction, coins: Coins) -> Fraction:
    """N + N(0, scale²), correctly rounded: each record counts as 1, or as nothing where the grid's unit is above 1.

    Args:
        count: N.
        scale: standard deviation of the noise; above 0.
        coins: the operating system's, unless a run is to be repeated.
    """
    unit = noise_unit(scale)
    noise = int(coins.gaussian_cells(scale / unit, 1)[0])
    return (count * int(1 / unit) + noise) * unit
