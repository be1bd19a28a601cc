"""Vectors of real-valued noise of density ∝ exp(−‖ζ‖_p/scale) on a public grid, correctly rounded: an exact law.

For p = 1, and for one coordinate, they are independent Laplace noise. Else, with d coordinates:

- for finite p a radius of law Gamma(d) times t/‖t‖_p for independent t_j of density ∝ exp(−|t_j|^p) (Schechtman, Zinn
  1990), and for p = ∞ one of law Gamma(d + 1) times a uniform point of the cube;
- the radius is −Σ ln u_i of independent uniform u_i, the levels;
- |t| is drawn by rejection from a uniform number w: with m = 3/(8p) and c = 1/(1 + m), it is w/c where w ≤ c, and
  1 + E/p with E = −ln((w − c)/(1 − c)) beyond. That has density ∝ 1 up to 1, and ∝ (3/8)·e^(−p(t − 1)) from there.
  exp(−t^p) is below both, as t^p ≥ 1 + p(t − 1) and e^-1 < 3/8: accepted is t where a uniform level u has
  −ln u ≥ t^p, or −ln u − ln(3/8) ≥ t^p − E beyond 1.

All are known by their first bits. A compiled kernel settles nearly all of what they mean from 64 bits; what it does
not, goes on with more bits of the same numbers, and enclosures, until each coordinate's interval is within one cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .._kernels import lp_noise
from .._kernels.lp_noise import decide
from ..enclosures import Enclosure, Truth
from ..norms import Norm
from .exact import LazyNumber
from .laws import LAPLACE
from .noise import Integers, noise_cells, require_scale, words_of
from .source import Bits, Source

_LARGEST_ORDER = 1024
"""Of the kernel: orders above it are left to the exact routine."""
_ENVELOPE = Fraction(3, 8)
_WORD = 64
_MARGIN = 32
_HALF = Fraction(1, 2)
_BLOCK = 1 << 16  # coordinates at a time
_MOST = 2**63 - 1

Numbers: TypeAlias = dict[int, LazyNumber]
"""By their places, the numbers of which more bits are known than a word holds."""


def lp_cells(order: Norm, scale: Fraction, count: int, size: int, source: Source) -> Integers:
    """The cells of independent vectors of noise.

    Args:
        order: p.
        scale: of the noise, in units of the grid; from 1 to 2^45.
        count: how many vectors.
        size: coordinates of each.
        source: of random bits.

    Returns:
        int64 array (count, size) of whole numbers of units.

    Guarantees:
        Each row is z with exactly the probability that noise of this scale is within 1/2 of z in every coordinate,
        given uniform bits. Coordinates beyond ±(2^63 − 1), which come with probability below 2^-10000 where the size
        is below 2^16, are brought there.

    Raises:
        InvalidValue: for a scale outside its range, and a source that does not give the words that it was asked for.
    """
    require_scale(scale)
    if size <= 1 or order.order == 1:
        return noise_cells(LAPLACE, scale, count * size, source).reshape(count, size)
    proposal = None if order.order is None else Proposal(order.order)
    drawn = np.empty((count, size), dtype=np.int64)
    step = max(1, _BLOCK // size)
    for start in range(0, count, step):
        _fill(drawn[start : start + step], proposal, scale, source)
    return drawn


@final
@frozen
class Proposal:
    """How lengths of one finite order above 1 are proposed and accepted.

    Attributes:
        order: p.
    """

    order: Fraction

    @property
    def inside(self) -> Fraction:
        """The probability c that a length of at most 1 is proposed."""
        return 1 / (1 + _ENVELOPE / self.order)

    @property
    def for_kernel(self) -> tuple[float, int, float, float]:
        """The order, ⌊c·2^63⌋, 1/c and 2^-63/(1 − c), in binary64."""
        return _for_kernel(self)

    def precision(self, *numbers: LazyNumber) -> int:
        """Bits for enclosures of what numbers mean, so that these are not much wider than the numbers are."""
        return max(number.bits for number in numbers) + _MARGIN + self.order.numerator.bit_length()

    def length(self, number: LazyNumber, precision: int) -> tuple[Enclosure, Enclosure | None]:
        """|t|, and E where |t| is beyond 1; the number is extended until it is known which."""
        inside = self.inside
        while number.known < inside * (1 << number.bits) < number.known + 1:
            number.extend()
        if number.known + 1 <= inside * (1 << number.bits):
            return number.enclosed(precision) / inside, None
        while number.known <= inside * (1 << number.bits):
            number.extend()
        excess = -((number.enclosed(precision) - inside) / (1 - inside)).log()
        return 1 + excess / self.order, excess

    def accepts(self, number: LazyNumber, level: LazyNumber) -> bool:
        """Whether the length of a number is accepted at a level, from as many bits of both as that takes."""
        while True:
            precision = self.precision(number, level)
            length, excess = self.length(number, precision)
            room = -level.above_zero(precision).log()
            if excess is not None:
                room += excess - Enclosure.of(_ENVELOPE, precision=precision).log()
            kept = length.power(self.order).less(room)
            if kept is not Truth.UNDECIDED:
                return kept is Truth.TRUE
            number.extend()
            level.extend()


@lru_cache(maxsize=8)
def _for_kernel(proposal: Proposal) -> tuple[float, int, float, float]:
    inside = proposal.inside
    return (
        float(proposal.order),
        int(inside * (1 << _WORD - 1)),
        float(1 / inside),
        float(1 / (1 - inside) / (1 << _WORD - 1)),
    )


def exact_lp_cells(
    proposal: Proposal | None, scale: Fraction, words: Bits, levels: Bits, known: Numbers, source: Source
) -> list[int]:
    """The cells of one vector, as whole numbers of any size.

    Args:
        proposal: of lengths, or None for p = ∞.
        scale: in cells; above 0.
        words: one for each coordinate: 63 bits of an accepted length's number, and the lowest for the sign.
        levels: of the radius: as many, or one more for p = ∞.
        known: numbers that go on where their words end, by the place of the word.
        source: of more bits.
    """
    signs = (words & np.uint64(1)).tolist()
    numbers = [
        known.get(place) or LazyNumber(word >> 1, _WORD - 1, source) for place, word in enumerate(words.tolist())
    ]
    heights = [LazyNumber(level, _WORD, source) for level in levels.tolist()]
    while True:
        magnitudes = _magnitudes(proposal, numbers, heights)
        ends = [(scaled.lower + _HALF, scaled.upper + _HALF) for scaled in (each * scale for each in magnitudes)]
        cells = [math.floor(low) for low, _ in ends]
        if cells == [math.floor(high) for _, high in ends]:
            return [-cell if sign else cell for cell, sign in zip(cells, signs, strict=True)]
        for number in (*numbers, *heights):
            number.extend()


def _magnitudes(
    proposal: Proposal | None, numbers: Sequence[LazyNumber], heights: Sequence[LazyNumber]
) -> list[Enclosure]:
    """|ζ_j| for scale 1."""
    precision = max(number.bits for number in (*numbers, *heights)) + _MARGIN + len(heights).bit_length()
    if proposal is None:
        lengths, norm = [number.enclosed(precision) for number in numbers], Enclosure.of(1, precision=precision)
    else:
        precision += proposal.order.numerator.bit_length()
        lengths = [proposal.length(number, precision)[0] for number in numbers]
        norm = _norm(lengths, proposal.order)
    product = Enclosure.of(1, precision=precision)
    for height in heights:
        product *= height.above_zero(precision)
    factor = -product.log() / norm
    return [length * factor for length in lengths]


def _norm(lengths: Sequence[Enclosure], order: Fraction) -> Enclosure:
    """‖t‖_p = M·(Σ (t_j/M)^p)^(1/p) for the largest length M: no ratio exceeds 1, and one is 1."""
    largest = lengths[0]
    for length in lengths[1:]:
        largest = largest.maximum(length)
    total = sum((length / largest).minimum(1).power(order) for length in lengths)
    return largest * Enclosure.of(1, precision=largest.precision).maximum(total).power(1 / order)


def _fill(drawn: Integers, proposal: Proposal | None, scale: Fraction, source: Source) -> None:
    count, size = drawn.shape
    if proposal is None:
        words, known = words_of(source, count * size), Numbers()
        levels = words_of(source, count * (size + 1))
    else:
        words, known = _lengths(proposal, count * size, source)
        levels = words_of(source, count * size)
    heights = len(levels) // count
    for row in sorted({*kernel_cells(words, levels, proposal, scale, drawn), *(place // size for place in known)}):
        start = row * size
        further = {place - start: number for place, number in known.items() if place // size == row}
        cells = exact_lp_cells(
            proposal,
            scale,
            words[start : start + size],
            levels[row * heights : (row + 1) * heights],
            further,
            source,
        )
        drawn[row] = [max(-_MOST, min(_MOST, cell)) for cell in cells]


def kernel_cells(
    words: Bits, levels: Bits, proposal: Proposal | None, scale: Fraction, drawn: Integers
) -> Sequence[int]:
    """Write the cells of all vectors that the kernel decides, and give the numbers of the others."""
    count, size = drawn.shape
    undecided, cells = np.empty(count, dtype=np.int64), drawn.reshape(-1)
    if proposal is None:
        found = lp_noise.cube_cells(words, levels, size, float(scale), cells, undecided)
    elif proposal.order > _LARGEST_ORDER:
        return range(count)
    else:
        found = lp_noise.cells(words, levels, size, *proposal.for_kernel, float(scale), cells, undecided)
    return [int(row) for row in undecided[:found]]


def _lengths(proposal: Proposal, count: int, source: Source) -> tuple[Bits, Numbers]:
    """Accepted words, and the numbers of those of which more bits were needed."""
    accepted, known = np.empty(count, dtype=np.uint64), Numbers()
    open_ = np.arange(count)
    while open_.size:
        words, levels = words_of(source, open_.size), words_of(source, open_.size)
        states = kernel_states(proposal, words, levels)
        for place in np.flatnonzero(states == _UNDECIDED).tolist():
            number = LazyNumber(int(words[place]) >> 1, _WORD - 1, source)
            states[place] = proposal.accepts(number, LazyNumber(int(levels[place]), _WORD, source))
            if states[place]:
                known[int(open_[place])] = number
        accepted[open_] = words
        open_ = open_[states == _REJECTED]
    return accepted, known


_REJECTED, _UNDECIDED = 0, 2


def kernel_states(proposal: Proposal, words: Bits, levels: Bits) -> NDArray[np.int8]:
    """Per word 0 where its length is rejected, 1 where it is accepted, 2 where binary64 does not decide."""
    states = np.full(len(words), _UNDECIDED, dtype=np.int8)
    if proposal.order <= _LARGEST_ORDER:
        decide(words, levels, *proposal.for_kernel, -math.log(_ENVELOPE), states)
    return states
