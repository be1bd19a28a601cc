"""Cells of noise from random words.

A word is a sign (its lowest bit) and 63 bits v of a uniform p in [v, v + 1)·2^-63; its other bits are unread. The
noise is ±G(p)·r in cells, G being the decreasing inverse of a tail. With k the zeros before the first 1 of v, the six
bits after that 1 choose one of 64 segments of the octave 2^-(k+1) ≤ p < 2^-k, and the rest is u, the place in it from
−2^63 to 2^63, at the middle of what the unread bits can still mean.

A table has a row for each segment: C_0 and E + 2 as integers and C_1 to C_7 in binary64, where E is a proven bound of
|G(p)·2^58 − m| for m = C_0 + (Σ_(n≥1) C_n·u^n, as binary64 computes it, cut to an integer) and every p that the word
can still mean (`certdp.accounting.draws.tables` proves it, whatever the direction of rounding). What follows is integer
arithmetic, and fits 64 bits. Let R = ⌊r·2^s⌋ < 2^63, h = 58 + s − 63 and y = ⌊m·R/2^63⌋. Then |G(p)·r·2^h − y| < E + 2:

    G(p)·r·2^h − m·R/2^63 = (G(p)·2^58 − m)·R/2^63 + G(p)·2^58·(r·2^s − R)/2^63,

where the first term is at most E in magnitude and the second in [0, 1), as G(p)·2^58 < 2^63; the floor adds less than
1. So where y + 2^(h−1) ∓ (E + 2) have one quotient by 2^h, it is ⌊G(p)·r + 1/2⌋ for every such p: the word is decided.
Where another number c is added for 1/2, c·2^h is from an integer to that and a slack, which is added to E + 2.
Smaller p meet the last row, which is no segment's: its bound exceeds every half cell, so that they are not decided.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import Floats, fma, high_product, kernel, leading_zeros

POINT = 58
"""Bits after the point of a magnitude."""
PLACE = 63
"""Bits of the place in a segment, beside its sign."""
SEGMENTS = 64
"""In an octave."""

_WORDS = types.array(types.uint64, 1, "C", readonly=True)
_WHOLE = types.array(types.int64, 2, "C", readonly=True)
_BROKEN = types.array(types.float64, 2, "C", readonly=True)
_CELLS = types.array(types.int64, 1, "C")
_MAGNITUDE = 2**63 - 1
_LOWEST = -(2**63)
_SEGMENT = 56  # bits after those that choose the segment, which are shifted to the top
_HALF_UNREAD = 128  # in units of u, before octaves make it more


@kernel(types.int64, _WORDS, _WHOLE, _BROKEN, types.int64, types.int64, types.int64, types.int64, _CELLS, _CELLS)
def cells(
    words: NDArray[np.uint64],
    whole: NDArray[np.int64],
    broken: Floats,
    factor: int,
    fraction: int,
    offset: int,
    slack: int,
    drawn: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """The cell of each word, and the places of words that are not decided; how many those are is returned.

    Args:
        words: uint64, uniform.
        whole: int64, a row for each segment and one more: C_0 and E + 2.
        broken: float64, as many rows: C_1 to C_7.
        factor: R, with 63 bits.
        fraction: h, from 1 to 58.
        offset: what is added before the whole part is taken, in units of 2^-h and rounded down: 2^(h−1) to round.
        slack: the units by which it may be larger, 0 or 1.
        drawn: int64, as many as words: where the cells are written; at undecided words, the least that they can be.
        undecided: int64, as many as words: where the places are written, in order.
    """
    last = len(whole) - 1
    count = 0
    for i in range(words.size):
        word = np.int64(words[i])
        sign = word & 1
        v = int((word >> 1) & _MAGNITUDE)
        octave = leading_zeros(v) - 1
        v <<= octave
        row = np.uint64(
            min(octave * SEGMENTS + ((v >> _SEGMENT) & (SEGMENTS - 1)), last)
        )  # unsigned: never from the end
        u = np.float64(((v << (64 - _SEGMENT)) ^ _LOWEST) | (_HALF_UNREAD << octave))
        rest = fma(broken[row, 6], u, broken[row, 5])
        rest = fma(rest, u, broken[row, 4])
        rest = fma(rest, u, broken[row, 3])
        rest = fma(rest, u, broken[row, 2])
        rest = fma(rest, u, broken[row, 1])
        rest = fma(rest, u, broken[row, 0])
        magnitude = whole[row, 0] + np.int64(rest * u)
        position = high_product(magnitude, factor) + offset
        error = whole[row, 1] + slack
        cell = (position - error) >> fraction
        drawn[i] = (cell ^ -sign) + sign
        undecided[count] = i
        count += cell != (position + error) >> fraction
    return count
