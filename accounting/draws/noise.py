"""Real-valued noise on a public grid, correctly rounded: the law of the cell is exact.

The grid's unit is public, and the cell of a number of units is the whole number nearest to it. Where x is a whole
number of units, x plus the cell of the noise is the cell of x + noise (half units have probability 0). So a release
x + cell is post-processing of the real-valued mechanism, and no assumption about arithmetic is left. How long a draw
takes depends on the noise alone, and not on x.

A compiled kernel decides nearly every word from 64 bits; `certdp.accounting.draws.exact` goes on with the same bits
where it does not: words are never drawn anew, which would make cells beside a boundary too rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._kernels.noise import cells
from ..enclosures import Enclosure
from ..errors import InvalidValue
from .exact import exact_cell, signed
from .laws import Law
from .source import Bits, Source
from .tables import OCTAVES, PLACE, POINT, Table, table

Integers: TypeAlias = NDArray[np.int64]

LARGEST_SCALE = 1 << 45
"""In units of the grid. At larger ones the kernel's 58 bits after the point would leave too many words undecided."""

_BLOCK = 1 << 15  # words at a time: with their cells they fit the second-level cache
_MOST = 2**63 - 1
_TABLED = PLACE + 1 - OCTAVES  # a word with a bit from here on has a row in the table
_HALF = Enclosure.of(Fraction(1, 2))


def noise_cells(law: Law, scale: Fraction, size: int, source: Source) -> Integers:
    """The cells of independent noise.

    Args:
        law: of noise of scale 1.
        scale: of the noise, in units of the grid; from 1 to 2^45.
        size: how many.
        source: of random bits.

    Returns:
        int64 array of `size` whole numbers of units.

    Guarantees:
        Each is z with exactly the probability that noise of this scale is within 1/2 of z, given uniform bits. Cells
        beyond ±(2^63 − 1), which come with probability below 2^-10000, are brought there.

    Raises:
        InvalidValue: for a scale outside its range, and a source that does not give the words that it was asked for.
    """
    require_scale(scale)
    return cells_with_offset(
        law, scale, _HALF, size, source, lambda word, lower: exact_cell(law, scale, word, source, lower)
    )


def cells_with_offset(
    law: Law, scale: Fraction, offset: Enclosure, size: int, source: Source, exact: Callable[[int, int | None], int]
) -> Integers:
    """±⌊m·scale + offset⌋ for independent magnitudes m of a law.

    Args:
        law: of magnitudes at scale 1.
        scale: from 1 to 2^45.
        offset: from 0 to 1/2.
        size: how many.
        source: of random bits.
        exact: what a word means that the kernel does not decide, given the lower of the two cells that it leaves open,
            or None where it leaves more.
    """
    rows, (factor, fraction), drawn = table(law), _fixed_point(scale), np.empty(size, dtype=np.int64)
    shifted = offset * (1 << fraction)
    least = math.floor(shifted.lower)
    slack = math.ceil(shifted.upper) - least
    two_open = 2 * (rows.largest_bound + slack) < 1 << fraction
    for start in range(0, size, _BLOCK):
        part = drawn[start : start + _BLOCK]
        words = words_of(source, len(part))
        for place in _decide(words, rows, factor, fraction, least, slack, part):
            word = int(words[place])
            lower = signed(int(part[place]), word) if two_open and word >> _TABLED else None
            part[place] = max(-_MOST, min(_MOST, exact(word, lower)))
    return drawn


def _fixed_point(scale: Fraction) -> tuple[int, int]:
    """⌊scale·2^s⌋ with 63 bits, and the bits after the point of its product with a magnitude, less 63 bits."""
    shift = PLACE - int(scale).bit_length()
    return int(scale * (1 << shift)), POINT + shift - PLACE


def require_scale(scale: Fraction) -> None:
    """Refuse a scale that is not from 1 to 2^45 units of the grid.

    Raises:
        InvalidValue: for such a scale.
    """
    if not 1 <= scale <= LARGEST_SCALE:
        raise InvalidValue(
            "scale",
            scale,
            f"a scale from 1 to {LARGEST_SCALE} units of the grid",
            "Choose a grid that is finer than the noise and not finer than its 2^-45th part",
        )


def words_of(source: Source, count: int) -> Bits:
    """So many words of a source.

    Raises:
        InvalidValue: where it gives others.
    """
    words = source.bits(count)
    if words.dtype != np.uint64 or words.shape != (count,):
        raise InvalidValue("source", f"{words.dtype}{list(words.shape)}", f"{count} words, as uint64")
    return np.ascontiguousarray(words)


def _decide(words: Bits, rows: Table, factor: int, fraction: int, offset: int, slack: int, drawn: Integers) -> Integers:
    places = np.empty(len(words), dtype=np.int64)
    return places[: cells(words, rows.whole, rows.broken, factor, fraction, offset, slack, drawn, places)]
