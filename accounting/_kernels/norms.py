"""Norms of the rows of a matrix, rounded up.

Rows are scaled by a power of two and their terms added from left to right in double-double arithmetic, so a result
does not depend on strides, on the other rows or on how rows are shared among threads. With u = 2^-53 it lies in
[‖x‖, ‖x‖·(1 + 3u) + 2^-1074] for ℓ1, ℓ2 and ℓ∞, and in [‖x‖, ‖x‖·(1 + (18 + 232/p)u) + 2^-1074] for ℓp. It is ‖x‖
itself for ℓ∞, for rows with one entry other than 0, and for ℓ1 and ℓ2 where neither a square nor a sum rounds and ‖x‖
is a binary64. The proof is in `docs/soundness.md`, section "Bulk kernels".
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import READ_ROWS, WRITE, Floats, bits, fma, from_bits, inlined, kernel
from .elementary import exp, log_between

LONGEST_ROW = 2**20
"""The number of columns up to which the bounds are proven."""

Integers: TypeAlias = NDArray[np.int64]

_INFINITY = 0x7FF << 52
_ROWS = 64  # rows summed side by side, one in each lane of a vector
_COLUMNS = 64  # columns transposed at a time: a tile of both fits in the first-level cache
_EXTREME = 1000  # exponents of the scaling, so that it and its inverse are normal
_FLOOR = 2.0**-480  # its square and the rounding error of that are exact binary64
_SUM_ERROR = 2.0**-31  # ≥ 2·LONGEST_ROW·2^-53
_LEAST_QUOTIENT = 2.0**-1000  # of an entry and the largest: its power is at most itself


@inlined
def _power(exponent: int) -> float:
    """Compute 2^exponent exactly, for |exponent| ≤ 1022."""
    return from_bits((exponent + 1023) << 52)


@inlined
def _above(value: float) -> float:
    """The next binary64 above a non-negative one."""
    return value if value == math.inf else from_bits(bits(value) + 1)


@inlined
def _exponent(largest: int) -> int:
    """The power of two that a row is divided by, from the bits of its largest magnitude."""
    return min(max((largest >> 52) - 1023, -_EXTREME), _EXTREME)


@inlined
def _rounded_up(high: float, low: float, error: float, squared: bool) -> float:
    """A binary64 ≥ high + low + error, or ≥ its root where squared."""
    total = high + low
    rest = low - (total - high)  # exact, since |low| ≤ high
    root = total
    if squared:
        root = math.sqrt(total)
        rest += fma(-root, root, total)  # the fma is exact; the sum has the right sign
    if error > 0.0:
        rest += error + total * 2.0**-100  # the second term covers the rounding of `rest`
    return _above(root) if rest > 0.0 else root


@inlined
def _scaled_back(root: float, exponent: int) -> float:
    """Compute root·2^exponent, rounded up."""
    value = root * _power(exponent)
    return _above(value) if value * _power(-exponent) < root else value


@inlined
def _load(records: Floats, row: int, column: int, tile: Floats) -> int:
    """Copy magnitudes to tile[column, row] and return how many columns; the last row fills spare lanes."""
    columns: int = min(_COLUMNS, records.shape[1] - column)
    for lane in range(_ROWS):
        source = min(row + lane, records.shape[0] - 1)
        for k in range(columns):
            tile[k, lane] = abs(records[source, column + k])
    return columns


@inlined
def _find_largest(records: Floats, row: int, tile: Floats, largest: Integers) -> None:
    """Write the bits of each row's largest magnitude; those of a NaN are above those of infinity."""
    largest[:] = 0
    for column in range(0, records.shape[1], _COLUMNS):
        for k in range(_load(records, row, column, tile)):
            for lane in range(_ROWS):
                largest[lane] = max(largest[lane], bits(tile[k, lane]))


@kernel(types.int64, READ_ROWS, types.int64, WRITE)
def norms(records: Floats, order: int, out: Floats) -> int:
    """Write the ℓ1 (order 1), ℓ2 (order 2) or ℓ∞ (order 0) norms of the rows, rounded up, to `out`.

    Returns -1, or the first row with a NaN or an infinity, in which case `out` is meaningless.
    """
    rows, columns = records.shape
    tile = np.empty((_COLUMNS, _ROWS))
    largest = np.empty(_ROWS, dtype=np.int64)
    scale = np.empty(_ROWS)
    sums = np.empty((3, _ROWS))
    squared = order == 2
    for row in range(0, rows, _ROWS):
        lanes = min(_ROWS, rows - row)
        _find_largest(records, row, tile, largest)
        for lane in range(lanes):
            if largest[lane] >= _INFINITY:
                return row + lane
        if (order == 0) | (columns == 1):
            for lane in range(lanes):
                out[row + lane] = from_bits(largest[lane])
            continue
        for lane in range(_ROWS):
            scale[lane] = _power(-_exponent(largest[lane]))
        sums[:] = 0.0
        for column in range(0, columns, _COLUMNS):
            width = _load(records, row, column, tile) if columns > _COLUMNS else columns  # or it is still there
            for k in range(width):
                for lane in range(_ROWS):
                    x = tile[k, lane] * scale[lane]
                    x = _FLOOR if (x < _FLOOR) & (tile[k, lane] > 0.0) else x
                    term = x * x if squared else x
                    low = fma(x, x, -term) if squared else 0.0
                    high = sums[0, lane]
                    total = high + term
                    moved = total - high
                    low += (high - (total - moved)) + (term - moved)  # TwoSum: exact but for this +=
                    sums[0, lane] = total
                    sums[1, lane] += low
                    sums[2, lane] += abs(low)
        for lane in range(lanes):
            root = _rounded_up(sums[0, lane], sums[1, lane], sums[2, lane] * _SUM_ERROR, squared)
            out[row + lane] = _scaled_back(root, _exponent(largest[lane]))
    return -1


@kernel(types.int64, READ_ROWS, types.float64, WRITE)
def power_norms(records: Floats, order: float, out: Floats) -> int:
    """Write the ℓp norms of the rows, rounded up, to `out`, for 1 ≤ p = `order` ≤ 2^64.

    Returns -1, or the first row with a NaN or an infinity, in which case `out` is meaningless.
    """
    rows, columns = records.shape
    tile = np.empty((_COLUMNS, _ROWS))
    largest = np.empty(_ROWS, dtype=np.int64)
    divisor = np.empty(_ROWS)
    sums = np.empty((3, _ROWS))
    margin = 1.0 + math.ceil(4.0 + 58.0 / order) * 2.0**-52
    for row in range(0, rows, _ROWS):
        lanes = min(_ROWS, rows - row)
        _find_largest(records, row, tile, largest)
        for lane in range(lanes):
            if largest[lane] >= _INFINITY:
                return row + lane
        for lane in range(_ROWS):
            divisor[lane] = from_bits(max(largest[lane], 1))  # a row of zeros is divided by something else than 0
        sums[:] = 0.0
        for column in range(0, columns, _COLUMNS):
            width = _load(records, row, column, tile) if columns > _COLUMNS else columns  # or it is still there
            for k in range(width):
                for lane in range(_ROWS):
                    present = tile[k, lane] > 0.0
                    a = max(tile[k, lane] / divisor[lane], _LEAST_QUOTIENT)
                    term = exp(order * log_between(a, 0.0, 0.0)) if present else 0.0
                    high = sums[0, lane]
                    total = high + term
                    moved = total - high
                    sums[0, lane] = total
                    sums[1, lane] += (high - (total - moved)) + (term - moved)  # TwoSum: exact but for this +=
                    sums[2, lane] += 1.0 if present else 0.0
        for lane in range(lanes):
            if sums[2, lane] <= 1.0:
                out[row + lane] = from_bits(largest[lane])
                continue
            exponent = _exponent(largest[lane])
            root = exp(log_between(sums[0, lane] + sums[1, lane], 0.0, 0.0) / order)
            scaled = from_bits(largest[lane]) * _power(-exponent)
            out[row + lane] = _scaled_back(scaled * root * margin, exponent)
    return -1
