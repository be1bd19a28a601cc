"""Sums of weighted records on a grid, in whole numbers: each product is cut toward zero by itself, exactly.

With v = w·2^k for w ≥ 1, exact or infinite, let p be v·x rounded. Where |p| < 2^53 each whole
number up to |p| is a number of binary64, and rounding is monotone: p is on the side of a whole number on which v·x is,
or on it. So ⌊|v·x|⌋ = ⌊|p|⌋, except where p is whole and |v·x| below it, which the error v·x − p tells. That error is a
number of binary64 where |p| ≥ 1, and where |p| < 1 the answer is 0.

Rows lie side by side in stretches that are long enough for vectors of numbers. A block of rows in which some p is whole
and has an error is added up once more, entry by entry; one with an entry of 2^53 or beyond is left to the caller.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import READ, WRITE, Floats, bits, fma, inlined, kernel

Integers: TypeAlias = NDArray[np.int64]

ROWS = 1 << 9
"""In a block: so many numbers below 2^53 have a sum below 2^62."""
LOW_BITS = 26
"""Of a block's sum; they are added up apart, so that both parts stay within 64 bits for 2^35 records."""

_INTEGERS = types.array(types.int64, 1, "C")
_MAGNITUDE = 2**63 - 1
_TOO_LARGE = (1023 + 53) << 52  # the bits of 2^53; larger numbers, infinity and NaN have larger ones


@inlined
def _cut(v: float, x: float) -> int:
    """v·x, cut toward zero, where its magnitude is below 2^53."""
    p = v * x
    error = fma(v, x, -p)
    whole = int(p)
    if p == float(whole):
        whole -= int(p > 0.0 and error < 0.0)
        whole += int(p < 0.0 and error > 0.0)
    return whole


@kernel(types.int64, READ, READ, types.float64, WRITE, _INTEGERS, _INTEGERS, _INTEGERS, _INTEGERS)
def add_cut(
    weights: Floats,
    entries: Floats,
    factor: float,
    scaled: Floats,
    stretch: Integers,
    high: Integers,
    low: Integers,
    left: Integers,
) -> int:
    """Add up the cut rows of each block, but for those whose numbers are written to `left`; how many is returned.

    Args:
        weights: float64, finite and at least 1: one for each row.
        entries: float64, finite: row after row.
        factor: 2^k for |k| ≤ 500.
        scaled: float64: room for a stretch, which is a whole number of rows and no more than a block.
        stretch: int64, as long: room.
        high: int64, one for each column: what is above the lowest bits of a block's sums is added here.
        low: int64, likewise: the lowest bits are added here.
        left: int64, one for each block: room.
    """
    width, columns = np.uint64(scaled.size), np.uint64(high.size)
    side, one = width // columns, np.uint64(1)
    opened = 0
    for block in range((weights.size + ROWS - 1) // ROWS):
        first, last = np.uint64(block * ROWS), np.uint64(min(weights.size, (block + 1) * ROWS))
        largest, inexact = 0, False
        stretch[:] = 0
        row = first
        while row < last:
            rows = min(side, last - row)
            if columns == one:  # a loop of its own, for vectors
                for i in range(rows):
                    scaled[i] = weights[row + i] * factor
            else:
                place = np.uint64(0)
                for i in range(rows):
                    v = weights[row + i] * factor
                    for _ in range(columns):
                        scaled[place] = v
                        place += one
            start = row * columns
            for k in range(rows * columns):
                x = entries[start + k]
                p = scaled[k] * x
                largest = max(largest, bits(p) & _MAGNITUDE)
                whole = np.int64(p)
                inexact |= (np.float64(whole) == p) & (fma(scaled[k], x, -p) != 0.0)
                stretch[k] += whole
            row += rows
        if largest >= _TOO_LARGE:
            left[opened] = block
            opened += 1
            continue
        if inexact:
            stretch[:] = 0
            for i in range(first, last):
                v = weights[i] * factor
                for j in range(columns):
                    stretch[j] += _cut(v, entries[i * columns + j])
        for k in range(columns, width):
            stretch[k % columns] += stretch[k]
        for j in range(columns):
            high[j] += stretch[j] >> LOW_BITS
            low[j] += stretch[j] & ((1 << LOW_BITS) - 1)
    return opened
