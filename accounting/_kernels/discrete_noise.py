"""Whole numbers from random words by a table of enclosed tails, with a guide to where the search begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import kernel

_WORDS = types.array(types.uint64, 1, "C", readonly=True)
_TABLE = types.array(types.int64, 1, "C", readonly=True)
_CELLS = types.array(types.int64, 1, "C")
_MAGNITUDE = 2**63 - 1


@kernel(types.int64, _WORDS, _TABLE, _TABLE, _TABLE, _CELLS, _CELLS)
def cells(
    words: NDArray[np.uint64],
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    guide: NDArray[np.int64],
    drawn: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """The number that each word means, and the places of words that are not decided; how many those are is returned.

    A word is a sign (its lowest bit) and 63 bits v of a uniform p in [v, v + 1]·2^-63. The magnitude is the number of
    tails above p: surely those with v + 1 ≤ lower, and surely not those with v ≥ upper.

    Args:
        words: uint64, uniform.
        lower, upper: int64, in decreasing order: the ends of enclosed tails, in units of 2^-63.
        guide: int64, of length a power of two: per first bits of v, a number of tails that are surely above.
        drawn: int64, as many as words: where the numbers are written; at undecided words they mean nothing.
        undecided: int64, at least as many as words: where their places are written, in order.
    """
    shift, most = 63, lower.size
    buckets = guide.size
    while buckets > 1:
        buckets >>= 1
        shift -= 1
    count = 0
    for i in range(words.size):
        word = np.int64(words[i])
        v = int((word >> 1) & _MAGNITUDE)
        magnitude = guide[v >> shift]
        while magnitude < most and v < lower[magnitude]:
            magnitude += 1
        sign = word & 1
        drawn[i] = (magnitude ^ -sign) + sign
        undecided[count] = i
        count += v < upper[magnitude] if magnitude < most else v == 0
    return int(count)
