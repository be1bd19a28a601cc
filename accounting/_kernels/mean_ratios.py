"""Means of independent likelihood ratios: sums over all pairs of two laws, spread onto a lattice or merged in cells.

Legend: a law above has masses at e^(k·h) for whole k; one below has masses and first moments of cells. Everything added
is positive, so errors are relative; `counts` says how many terms went into each sum. The proofs are in
`docs/soundness_allocation.md`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import READ, WRITE, Floats, kernel
from .elementary import exp

Indices: TypeAlias = NDArray[np.int64]
_INDICES = types.array(types.int64, 1, "C", readonly=True)
_COUNTS = types.array(types.int64, 1, "C")


@kernel(types.void, types.float64, types.float64, types.int64, types.float64, WRITE)
def averages(first_weight: float, second_weight: float, first: int, spacing: float, out: Floats) -> None:
    """out: first_weight + second_weight·e^(spacing·d) for d = first, first + 1, …, within 6 units."""
    for i in range(out.size):
        out[i] = first_weight + second_weight * exp(float(first + i) * spacing)


@kernel(
    types.void,
    _INDICES,
    READ,
    _INDICES,
    READ,
    types.boolean,
    types.int64,
    _INDICES,
    _INDICES,
    READ,
    types.float64,
    types.int64,
    WRITE,
    _COUNTS,
)
def spread_means(
    x_at: Indices,
    x: Floats,
    y_at: Indices,
    y: Floats,
    same: bool,
    first: int,
    cells: Indices,
    steps: Indices,
    shares: Floats,
    extra: float,
    base: int,
    out: Floats,
    counts: Indices,
) -> None:
    """Spread the mean of each pair of points onto the two lattice points around it.

    The mean of points at the indices i and i + d lies cells[d − first] beyond i and at most steps[d − first] further,
    where shares[d − first] of it goes; both shares are raised by `extra`. With `same` the laws are one and their
    weights equal: each pair is taken once, with twice its mass.
    """
    for i in range(x.size):
        start = i if same else 0
        here = x_at[i] - base
        shift = x_at[i] + first
        for j in range(start, y.size):
            mass = x[i] * y[j]
            if same and j > i:
                mass = 2.0 * mass
            d = y_at[j] - shift
            k = here + cells[d]
            share = shares[d]
            out[k] += mass * ((1.0 - share) + extra)
            out[k + steps[d]] += mass * (share + extra)
            counts[k] += 1
            counts[k + steps[d]] += 1


@kernel(
    types.void,
    _INDICES,
    READ,
    READ,
    _INDICES,
    READ,
    READ,
    types.float64,
    types.float64,
    types.boolean,
    types.int64,
    _INDICES,
    types.int64,
    WRITE,
    WRITE,
    _COUNTS,
)
def merge_means(
    x_at: Indices,
    x: Floats,
    x_moments: Floats,
    y_at: Indices,
    y: Floats,
    y_moments: Floats,
    x_weight: float,
    y_weight: float,
    same: bool,
    first: int,
    shifts: Indices,
    base: int,
    masses: Floats,
    moments: Floats,
    counts: Indices,
) -> None:
    """Put the mean of each pair of points in a cell; positions and shifts are in quarters of a cell.

    Which cell that is need not be right: any merging is a contraction.
    """
    for i in range(x.size):
        start = i if same else 0
        shift = x_at[i] + first
        for j in range(start, y.size):
            twice = 2.0 if same and j > i else 1.0
            k = ((x_at[i] + shifts[y_at[j] - shift]) >> 2) - base
            masses[k] += twice * (x[i] * y[j])
            moments[k] += twice * (x_weight * (x_moments[i] * y[j]) + y_weight * (x[i] * y_moments[j]))
            counts[k] += 1
