"""Lengths and cells of noise of density ∝ exp(−‖ζ‖_p) from random words: what binary64 can prove of them.

A word is a sign (its lowest bit) and 63 bits v of a uniform w in [v, v + 1]·2^-63; a level is 64 bits b of a uniform
number in [b, b + 1]·2^-64. `certdp.accounting.draws.lp_noise` says which noise they mean. Each kernel computes it in
binary64 with a proven bound of the error, and says where that does not decide. In units of u = 2^-53, exp is within 3
and log within 6 (`certdp.accounting._kernels.elementary`), and every other operation within 1. Words within 2^40 units
of 0 or of the end of those inside, and levels below 2^40, are not decided by `decide`: the exact routine knows more of
them, and decides their vectors. So:

- a length t is (1 + δ) times the true one and within η of that, |δ| ≤ 12u: inside, 3 roundings and η = 2^-62 for what
  is not read, as 1/c ≤ 11/8; beyond, 6uE + 3u from log and its argument, over p, and η = 1.01/(units beyond)/p;
- the norm is M·‖t/M‖ for the largest length M, so that no power is below all others: t/M is r with 1u more, which as a
  norm is 1u. Its power is within 8.1u·|p·ln r| + 3u of itself, so their compensated sum, which is 1 or more, within 6u
  and 8.1u times the mean of |p·ln r| under the powers; the norm has a p-th of that, 8.1u·|ln(norm/M)| + 5u, and, as a
  norm, 12u + Ση/norm;
- a product of k levels is within k·(2u + 1.01/(least level)) of itself, and −ln of it within that and 9u of itself;
- what is rejected or accepted differs by more than 2^-36·(1 + both sides), when the errors of both, at most
  (12·p·u + 2^-40)·t^p + 3·2^-40 and 9u of each, stay below a quarter of that for p ≤ 1024.

Bounds add a tenth to these, for terms of second order and roundings of the bounds themselves.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import Floats, inlined, kernel
from .elementary import exp, log

_U = 2.0**-53
_UNREAD = 2.0**-62  # of a length at most 1
_MARGIN = 2.0**-36
_FEWEST = 1 << 40  # units of a word below which binary64 does not decide
_LN2 = math.log(2)
_ROOM = 900  # bits that a product of levels may lose before it is scaled
_LARGEST = 2.0**50  # cells from here on are left to the exact routine

_WORDS = types.array(types.uint64, 1, "C", readonly=True)
_STATES = types.array(types.int8, 1, "C")
_CELLS = types.array(types.int64, 1, "C")
_MAGNITUDE = 2**63 - 1

REJECTED, ACCEPTED, UNDECIDED = 0, 1, 2


@inlined
def _units(word: int) -> int:
    """The 63 bits of a word that are not its sign."""
    return int((np.int64(word) >> 1) & _MAGNITUDE)


@inlined
def _excess(v: int, inside: int, tail: float) -> float:
    """E, from the place of a word beyond the units that are inside."""
    return -log(np.float64(v - inside) * tail)


@kernel(types.void, _WORDS, _WORDS, types.float64, types.int64, types.float64, types.float64, types.float64, _STATES)
def decide(
    words: NDArray[np.uint64],
    levels: NDArray[np.uint64],
    order: float,
    inside: int,
    widening: float,
    tail: float,
    envelope: float,
    states: NDArray[np.int8],
) -> None:
    """Whether each proposed length is accepted, or that this is not decided.

    Args:
        words: uint64, uniform.
        levels: uint64, uniform, as many.
        order: p, above 1 and at most 1024, rounded.
        inside: ⌊c·2^63⌋, where c is the probability of a length up to 1.
        widening: 1/c, rounded.
        tail: 2^-63/(1 − c), rounded.
        envelope: −ln(3/8), rounded.
        states: int8, as many: where REJECTED, ACCEPTED or UNDECIDED is written.
    """
    for i in range(words.size):
        v, b = _units(words[i]), levels[i]
        states[i] = UNDECIDED
        if b < np.uint64(_FEWEST) or abs(v - inside) < _FEWEST or v < _FEWEST:
            continue
        drop = -log(np.float64(b) * 2.0**-64)
        if v < inside:
            excess, length = 0.0, float(np.float64(v) * 2.0**-63 * widening)
        else:
            excess = _excess(v, inside, tail)
            length = 1.0 + excess / order
            drop += envelope
        power = exp(order * log(length))
        left, right = drop + excess, power
        if abs(left - right) > _MARGIN * (1.0 + left + right):
            states[i] = ACCEPTED if left > right else REJECTED


@inlined
def _radius(levels: NDArray[np.uint64], start: int, end: int) -> tuple[float, float]:
    """−Σ log of the levels from `start` to `end`, and a bound of its absolute error; infinite where there is none."""
    product, lost, least = 1.0, 0.0, np.uint64(2**64 - 1)
    for i in range(start, end):
        least = min(least, levels[i])
        product *= np.float64(levels[i]) * 2.0**-64
        if product < 2.0**-_ROOM:
            product *= 2.0**_ROOM
            lost += _ROOM
    if least < np.uint64(_FEWEST):
        return 1.0, math.inf
    radius = lost * _LN2 - log(product)
    return radius, 9.0 * _U * radius + (end - start) * (2.1 * _U + 1.1 / np.float64(least))


@inlined
def _norm(lengths: Floats, moved: float, order: float) -> tuple[float, float]:
    """‖t‖_p, and a bound of its relative error, where each t is within 12u of itself and all within `moved` in sum."""
    total, lost, spread, largest = 0.0, 0.0, 0.0, 0.0
    for length in lengths:
        largest = max(largest, length)
    for length in lengths:
        logarithm = order * log(length / largest)
        power = exp(logarithm)
        spread += power * abs(logarithm)
        new = total + power
        lost += (total - new) + power if total >= power else (power - new) + total
        total = new
    total += lost
    logarithm = log(total) / order
    norm = largest * exp(logarithm)
    powers = (6.0 + 9.0 * spread / total) / order
    return norm, 1.1 * (_U * (18.0 + powers + 9.0 * abs(logarithm)) + moved / norm)


@inlined
def _settle(
    words: NDArray[np.uint64],
    lengths: Floats,
    start: int,
    factor: float,
    relative: float,
    far: float,
    drawn: NDArray[np.int64],
) -> bool:
    """Write the cells of lengths times a factor, and say whether all are decided."""
    settled = True
    for j in range(lengths.size):
        magnitude = lengths[j] * factor
        error = magnitude * relative + factor * far
        low, high = np.floor(magnitude + (0.5 - error)), np.floor(magnitude + (0.5 + error))
        settled &= low == high and high < _LARGEST
        sign = np.int64(words[start + j]) & 1
        drawn[start + j] = (np.int64(low) ^ -sign) + sign if high < _LARGEST else 0
    return settled


@kernel(
    types.int64,
    *(_WORDS, _WORDS, types.int64, types.float64, types.int64, types.float64, types.float64, types.float64),
    *(_CELLS, _CELLS),
)
def cells(
    words: NDArray[np.uint64],
    levels: NDArray[np.uint64],
    size: int,
    order: float,
    inside: int,
    widening: float,
    tail: float,
    scale: float,
    drawn: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """The cells of vectors of finite order, and which of them are not decided; how many those are is returned.

    Args:
        words: uint64, accepted, `size` to a vector.
        levels: uint64, uniform, `size` to a vector.
        size: coordinates of a vector.
        order: p, above 1 and at most 1024, rounded.
        inside: ⌊c·2^63⌋, where c is the probability of a length up to 1.
        widening: 1/c, rounded.
        tail: 2^-63/(1 − c), rounded.
        scale: in cells, rounded.
        drawn: int64, as many as words: where the cells are written; those of undecided vectors mean nothing.
        undecided: int64, as many as vectors: where their numbers are written, in order.
    """
    lengths = np.empty(size)
    count = 0
    for i in range(undecided.size):
        start = i * size
        moved, far = 0.0, _UNREAD
        for j in range(size):
            v = _units(words[start + j])
            if v < inside:
                lengths[j] = max(np.float64(v), 0.5) * 2.0**-63 * widening
                moved += _UNREAD
            else:
                beyond = max(v, inside + 1)  # nearer ones were not decided, and no answer is needed
                lengths[j] = 1.0 + _excess(beyond, inside, tail) / order
                away = 3.0 / (beyond - inside) / order
                far = max(far, away)
                moved += away
        radius, apart = _radius(levels, start, start + size)
        norm, relative = _norm(lengths, moved, order)
        factor = radius / norm * scale
        relative = 1.1 * (apart / radius + relative + 24.0 * _U)
        undecided[count] = i
        count += not _settle(words, lengths, start, factor, relative, 1.1 * far, drawn)
    return count


@kernel(types.int64, _WORDS, _WORDS, types.int64, types.float64, _CELLS, _CELLS)
def cube_cells(
    words: NDArray[np.uint64],
    levels: NDArray[np.uint64],
    size: int,
    scale: float,
    drawn: NDArray[np.int64],
    undecided: NDArray[np.int64],
) -> int:
    """The cells of vectors of infinite order, as `cells`; a vector has one level more than coordinates."""
    lengths = np.empty(size)
    count = 0
    for i in range(undecided.size):
        start = i * size
        for j in range(size):
            lengths[j] = np.float64(_units(words[start + j])) * 2.0**-63
        radius, apart = _radius(levels, start + i, start + i + size + 1)
        undecided[count] = i
        relative = 1.1 * (apart / radius + 8.0 * _U)
        count += not _settle(words, lengths, start, radius * scale, relative, 2 * _UNREAD, drawn)
    return count
