"""Releases of sums of gradient norms: K' at the beginning of an epoch, K̃* after one (DPIS Equations 11 and 16)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ..plugins.contract import Coins
from .sampling import FloatArray, Uniform


def noisy_norm_sum(norms: FloatArray, *, bound: Fraction, rate: Fraction, scale: Fraction, coins: Coins) -> float:
    """(1/p)·Σ min(n, bound) over a Poisson sample of rate p, plus N(0, scale²), the noise added once.

    Args:
        norms: n of every record; NaN and infinite ones count as 0, as those records are dropped.
        bound: C, or C* for K̃*; above 0.
        rate: p in (0, 1]; drawn rounded down.
        scale: standard deviation of the noise; above 0.
        coins: the operating system's, unless a run is to be repeated.

    Guarantees:
        One record moves the sum by at most bound/p, with probability at most p: the sampled Gaussian of rate p and
        noise multiplier p·scale/bound, not scale/bound (erratum DPIS-Eq19).
    """
    drawn = norms[Uniform(error=Fraction(0)).draw(len(norms), rate=rate, coins=coins).indices]
    largest = float(bound)
    if largest > bound:
        largest = math.nextafter(largest, 0.0)
    clipped = np.minimum(np.where(np.isfinite(drawn), drawn, 0.0), largest)
    return float(Fraction(math.fsum(clipped)) / rate) + float(coins.gaussian(scale, 1)[0])
