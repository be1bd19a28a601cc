"""Steps of Lloyd's algorithm: the nearest centre of each row, and exact sums per cluster on a lattice.

What happens to a row depends on that row and the centres alone: its scores are chains of fused multiply-adds from the
first column to the last, whatever the strides, the block it lies in and the other rows. Sums are of whole numbers,
hence exact in any order.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import READ, READ_ROWS, WRITE, Floats, bits, fma, kernel

Integers: TypeAlias = NDArray[np.int64]

GROUP = 4
"""Clusters and columns are taken this many at a time; centres are padded to multiples of it."""

LOW_BITS = 32
"""A sum s is kept as high·2^LOW_BITS + low."""

_ROWS = 64  # rows side by side, one in each lane of a vector
_COLUMNS = 64  # columns transposed at a time: the tile fits in the first-level cache
_FLUSH = 2048  # rows whose whole numbers, each below 2^51 in magnitude, add up within 64 bits

_ROWWISE = types.array(types.float64, 2, "C", readonly=True)
_LABELS = types.array(types.int64, 1, "C", readonly=True)
_NEW_LABELS = types.array(types.int64, 1, "C")
_SUMS = types.array(types.int64, 2, "C")


@kernel(types.void, READ_ROWS, _ROWWISE, READ, _NEW_LABELS)
def nearest(records: Floats, negated: Floats, halves: Floats, labels: Integers) -> None:
    """Write to `labels` the first c for which ‖c‖²/2 − x·c, as computed, is smallest; 0 where none is below inf.

    `negated` are the centres times −1, padded with zeros to multiples of GROUP; `halves` are the ‖c‖²/2, inf for the
    centres that are padding.
    """
    rows, columns = records.shape
    clusters = len(halves)
    tile = np.empty((_COLUMNS, _ROWS))
    score = np.empty((clusters, _ROWS))
    best = np.empty(_ROWS)
    chosen = np.empty(_ROWS, dtype=np.int64)
    for row in range(0, rows, _ROWS):
        for c in range(clusters):
            score[c, :] = halves[c]
        for column in range(0, columns, _COLUMNS):
            width = min(_COLUMNS, columns - column)
            padded = (width + GROUP - 1) // GROUP * GROUP
            lanes = min(_ROWS, rows - row)
            for k in range(width):
                for lane in range(lanes):
                    tile[k, lane] = records[row + lane, column + k]
            tile[:width, lanes:] = 0.0
            tile[width:padded, :] = 0.0
            for c in range(0, clusters, GROUP):
                for k in range(0, padded, GROUP):
                    j = column + k
                    a0, a1, a2, a3 = negated[c, j], negated[c, j + 1], negated[c, j + 2], negated[c, j + 3]
                    b = c + 1
                    b0, b1, b2, b3 = negated[b, j], negated[b, j + 1], negated[b, j + 2], negated[b, j + 3]
                    d = c + 2
                    d0, d1, d2, d3 = negated[d, j], negated[d, j + 1], negated[d, j + 2], negated[d, j + 3]
                    e = c + 3
                    e0, e1, e2, e3 = negated[e, j], negated[e, j + 1], negated[e, j + 2], negated[e, j + 3]
                    for lane in range(_ROWS):
                        t0, t1, t2, t3 = tile[k, lane], tile[k + 1, lane], tile[k + 2, lane], tile[k + 3, lane]
                        score[c, lane] = fma(a3, t3, fma(a2, t2, fma(a1, t1, fma(a0, t0, score[c, lane]))))
                        score[b, lane] = fma(b3, t3, fma(b2, t2, fma(b1, t1, fma(b0, t0, score[b, lane]))))
                        score[d, lane] = fma(d3, t3, fma(d2, t2, fma(d1, t1, fma(d0, t0, score[d, lane]))))
                        score[e, lane] = fma(e3, t3, fma(e2, t2, fma(e1, t1, fma(e0, t0, score[e, lane]))))
        best[:] = math.inf
        chosen[:] = 0
        for c in range(clusters):
            for lane in range(_ROWS):
                closer = score[c, lane] < best[lane]
                best[lane] = score[c, lane] if closer else best[lane]
                chosen[lane] = c if closer else chosen[lane]
        for lane in range(min(_ROWS, rows - row)):
            labels[row + lane] = chosen[lane]


@kernel(types.void, _ROWWISE, READ, _LABELS, types.float64, _SUMS, _SUMS)
def lattice_totals(
    records: Floats, weights: Floats, labels: Integers, spacing: float, high: Integers, low: Integers
) -> None:
    """Add to row labels[i] of the sums the whole numbers ⌊w·|x|/spacing⌋ with the signs of x, for each row i.

    `spacing` is a power of two in [2^-500, 2^500] and every w·|x| is below 2^51·spacing. The number beside the
    origin 1.5·2^52·spacing, whose unit in the last place is `spacing`, is w·|x| rounded to a multiple of the spacing,
    once; the sign of the remainder, exact by a fused multiply-add, tells whether that went up.
    """
    rows, columns = records.shape
    clusters = len(high)
    origin = 1.5 * 2.0**52 * spacing
    start = bits(origin)
    mask = (1 << LOW_BITS) - 1
    sums = np.zeros((clusters, columns), dtype=np.int64)
    for row in range(0, rows, _FLUSH):
        sums[:] = 0
        for i in range(row, min(row + _FLUSH, rows)):
            c, w = labels[i], weights[i]
            for j in range(columns):
                x = abs(records[i, j])
                near = fma(w, x, origin) - origin
                below = near - spacing if fma(w, x, -near) < 0.0 else near
                signed = -below if records[i, j] < 0.0 else below
                sums[c, j] += bits(signed + origin) - start
        for c in range(clusters):
            for j in range(columns):
                high[c, j] += sums[c, j] >> LOW_BITS
                low[c, j] += sums[c, j] & mask


@kernel(types.void, READ_ROWS, _ROWWISE, _LABELS, WRITE)
def squared_distances(records: Floats, centres: Floats, labels: Integers, out: Floats) -> None:
    """Write ‖x − c‖² of each row and the centre of its label."""
    rows, columns = records.shape
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            gap = records[i, j] - centres[labels[i], j]
            total += gap * gap
        out[i] = total
