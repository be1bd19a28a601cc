"""What is computed of each row of a matrix by itself: whole numbers for exact products, tanh, and the cross-entropy.

What is written for a row depends on that row alone, bit for bit: loops run over its entries in order, or take a maximum
of integers, which has no order; nothing is reordered or contracted, and no libm is called.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import READ, WRITE, Floats, bits, from_bits, kernel
from .elementary import exp, expm1_between, log

Integers: TypeAlias = NDArray[np.int64]

_ROWS = types.array(types.float64, 2, "C")
_READ_ROWS = types.array(types.float64, 2, "C", readonly=True)
_LABELS = types.array(types.int64, 1, "C", readonly=True)
_POINT = 52  # bits of a binary64 below its exponent
_BIAS = 1023
_MAGNITUDE = 2**63 - 1  # all bits but the sign
_LARGEST = (_BIAS + 900) << _POINT  # the bits of 2^900, above which come those of larger numbers, infinity and NaN
_SMALLEST = (_BIAS - 900) << _POINT
_ONE = _BIAS << _POINT
_FLAT = 20.0  # from here on tanh is 1 in binary64


@kernel(types.void, _READ_ROWS, types.int64, _ROWS, WRITE)
def whole_rows(rows: Floats, width: int, whole: Floats, scales: Floats) -> None:
    """Write each row as whole numbers below 2^width times a power of two, cut toward zero.

    Where `whole` has one column more than `rows`, a 1 stands there behind each row. The power is the least for which
    the whole numbers are below 2^width. A row with a NaN or a number of 2^900 or beyond is written as zeros with the
    scale NaN; one without a number from 2^-900 on as zeros with the scale 1.
    """
    count, columns = rows.shape
    extended = whole.shape[1] > columns
    for i in range(count):
        largest = _ONE if extended else 0
        for j in range(columns):
            largest = max(largest, bits(rows[i, j]) & _MAGNITUDE)
        if largest >= _LARGEST or largest < _SMALLEST:
            scales[i] = math.nan if largest >= _LARGEST else 1.0
            whole[i, :] = 0.0
            continue
        power = (largest >> _POINT) - _BIAS + 1  # the row is below 2^power
        factor = from_bits((width - power + _BIAS) << _POINT)
        for j in range(columns):
            whole[i, j] = np.trunc(rows[i, j] * factor)
        if extended:
            whole[i, columns] = np.trunc(factor)
        scales[i] = from_bits((power - width + _BIAS) << _POINT)


@kernel(types.void, READ, WRITE)
def tanh_each(values: Floats, out: Floats) -> None:
    """Write tanh(x) = −e/(2 + e) for e = expm1(−2x) and x ≥ 0, odd in x; NaN for NaN."""
    for i in range(values.size):
        x = values[i]
        size = abs(x)
        size = size if size < _FLAT else _FLAT
        e = expm1_between(-2.0 * size)
        value = -e / (2.0 + e)
        value = -value if x < 0.0 else value
        out[i] = value if x == x else x


@kernel(types.void, _ROWS, _LABELS, WRITE)
def cross_entropy(scores: Floats, labels: Integers, losses: Floats) -> None:
    """Write −log softmax(z)_y of each row to `losses`, and softmax(z) − e_y over the scores z.

    The entry of the true class is the negative sum of the others, which keeps its digits where it is near 0. A row with
    a NaN or an infinite score becomes NaN.
    """
    rows, classes = scores.shape
    for i in range(rows):
        top, finite = -math.inf, True
        for c in range(classes):
            finite = finite and abs(scores[i, c]) < math.inf
            top = max(top, scores[i, c])
        if not finite:
            scores[i, :] = math.nan
            losses[i] = math.nan
            continue
        true, total = labels[i], 0.0
        gap = scores[i, true] - top
        for c in range(classes):
            scores[i, c] = exp(scores[i, c] - top)
            total += scores[i, c]
        others = 0.0
        for c in range(classes):
            if c != true:
                scores[i, c] /= total
                others += scores[i, c]
        scores[i, true] = -others
        losses[i] = log(total) - gap
