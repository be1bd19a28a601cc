"""Discrete Laplace and Gaussian noise in bulk, from laws that are exact.

A word is a sign (its lowest bit) and 63 bits of a uniform p; the magnitude is the number of k ≥ 1 with p < T_k, where
T_k is the probability of a magnitude of at least k. Up to a scale of 1 (Laplace) or 2^10 (Gaussian) a table encloses
every T_k, and a word that lies in no enclosure is decided. Beyond:

- Laplace: with q = e^(−1/s), T_k = 2q^k/(1 + q) = e^(−(k − c)/s) for c = s·ln(2/(1 + q)), from 0 to 1/2. So the
  magnitude is ⌊s·E + c⌋ for a standard exponential E = −ln p: the kernel of real-valued noise gives it, at another
  offset than that of rounding.
- Gaussian: y is a real-valued normal number rounded, which has probability ∝ I(y) = ∫ e^(−x²/2σ²) dx over y ± 1/2, and
  is kept with probability a(y) = e^(−1/8σ²)·e^(−y²/2σ²)/I(y). I(y)/e^(−y²/2σ²) = ∫ e^(−t²/2σ²)·cosh(ty/σ²) dt over ±1/2
  is between e^(−1/8σ²) and e^(y²/8σ⁴), so that a(y) ≤ 1, and a(y) ≥ 1 − (σ² + y²)/8σ⁴: nearly every level, uniform in
  (0, 1), is above 1 − a(y) by far, and the others are compared with enclosures of it.

What is not decided goes on with more bits of the same numbers. Only a y that is not kept is drawn anew, as in any
rejection.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from .._kernels.discrete_noise import cells
from ..enclosures import Enclosure, Truth, normal_survival, pi
from .exact import LazyNumber, exact_number, signed
from .laws import GAUSSIAN, LAPLACE
from .noise import LARGEST_SCALE, Integers, cells_with_offset, noise_cells, words_of
from .source import Bits, Source

TABLED = 1 << 10
"""The largest scale of a discrete Gaussian that is drawn from a table."""

_WORD, _PLACE = 64, 63
_MARGIN = 64  # bits of a sum of tails beyond those that are asked for
_GUIDE = 14  # bits of a word that choose where its search in the table begins
_BLOCK = 1 << 15
_WORTH = 4  # entries of a table that cost no more than a draw without one
_MOST = 2**63 - 1

Ends: TypeAlias = list[tuple[int, int]]
"""Enclosures of T_1, T_2, …, in units of 2^-bits; the tail of the last is at most one unit."""


class DiscreteLaw(ABC):
    """A symmetric law on whole numbers.

    Attributes:
        scale: above 0.
    """

    scale: Fraction

    @abstractmethod
    def tails(self, bits: int) -> Ends:
        """Enclosures of all T_k that exceed one unit of 2^-bits."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """About how many tails there are to 64 bits."""


@final
@frozen
class DiscreteLaplace(DiscreteLaw):
    """Mass ∝ e^(−|z|/s): T_k = 2q^k/(1 + q) with q = e^(−1/s)."""

    scale: Fraction

    def ratio(self, precision: int) -> Enclosure:
        """q; where it is below 2^-precision, that is all that is said of it."""
        if 1 / self.scale > precision:
            return Enclosure.between(0, Fraction(1, 1 << precision), precision=precision)
        return (-1 / Enclosure.of(self.scale, precision=precision)).exp()

    def tail(self, k: int, precision: int) -> Enclosure:
        """T_k for k ≥ 1."""
        ratio = self.ratio(precision + k.bit_length())
        return 2 * ratio.power(k) / (1 + ratio)

    def tails(self, bits: int) -> Ends:
        """Enclosures of all T_k that exceed one unit of 2^-bits."""
        found: Ends = []
        while not found or found[-1][1] > 1:
            tail = self.tail(len(found) + 1, bits + _MARGIN) * (1 << bits)
            found.append((math.floor(tail.lower), math.ceil(tail.upper)))
        return found

    @property
    def entries(self) -> int:
        """About how many tails there are to 64 bits."""
        return 1 + int(45 * self.scale)


@final
@frozen
class DiscreteGaussian(DiscreteLaw):
    """Mass ∝ q^(z²) with q = e^(−1/2σ²)."""

    scale: Fraction

    def tails(self, bits: int) -> Ends:
        """Enclosures of all T_k that exceed one unit of 2^-bits.

        Masses are whole numbers of units of 2^-(bits + 64), rounded both ways: q^((k+1)²) is q^(k²) times q^(2k+1),
        which itself falls by q² at a time. All beyond the last are at most its geometric series.
        """
        places = bits + _MARGIN
        one = 1 << places
        exponent = -1 / (2 * self.scale**2)
        if -exponent > places:
            low, high = 0, 1
        else:
            first = Enclosure.of(exponent, precision=places + _MARGIN).exp() * one
            low, high = math.floor(first.lower), math.ceil(first.upper)
        square = low * low >> places, _shifted_up(high * high, places)
        step, mass, masses = (low, high), (one, one), [(one, one)]
        while mass[1] >> _MARGIN // 2:
            mass = mass[0] * step[0] >> places, _shifted_up(mass[1] * step[1], places)
            step = step[0] * square[0] >> places, _shifted_up(step[1] * square[1], places)
            masses.append(mass)
        beyond = masses[-1][1] * one // (one - step[1]) + 1
        total, sums = (0, beyond), []
        for mass in reversed(masses[1:]):
            total = total[0] + mass[0], total[1] + mass[1]
            sums.append(total)
        every = one + 2 * total[0], one + 2 * total[1]
        ends = [((2 * low << bits) // every[1], -((-2 * high << bits) // every[0])) for low, high in reversed(sums)]
        return [end for k, end in enumerate(ends) if not k or ends[k - 1][1] > 1]

    @property
    def entries(self) -> int:
        """About how many tails there are to 64 bits."""
        return 1 + int(10 * self.scale)

    def kept(self, y: int, precision: int) -> Enclosure:
        """a(y), the probability with which a rounded normal number is kept."""
        work = precision + 4 * int(self.scale).bit_length() + 2 * y.bit_length() + _MARGIN
        scale = Enclosure.of(self.scale, precision=work)
        inner, outer = ((abs(y) + side) / scale for side in (Fraction(-1, 2), Fraction(1, 2)))
        above = normal_survival(inner) - normal_survival(outer) if y else 1 - 2 * normal_survival(outer)
        exponent = -(Fraction(1, 4) + y * y) / (2 * scale.square())
        return exponent.exp() / (above * scale * (2 * pi(work)).sqrt())


def _shifted_up(number: int, places: int) -> int:
    """number/2^places, rounded up."""
    return -(-number >> places)


@final
@frozen(eq=False)
class Table:
    """What the kernel reads of a law's tails, in units of 2^-63.

    Attributes:
        lower, upper: int64: the least and the largest that T_1, T_2, … can be; none is larger than the one before.
        guide: int64: per first bits of p, how many T_k are surely above p.
    """

    lower: NDArray[np.int64] = field()
    upper: NDArray[np.int64] = field()
    guide: NDArray[np.int64] = field()


@lru_cache(maxsize=16)
def _table(law: DiscreteLaw) -> Table:
    ends = np.array(law.tails(_PLACE), dtype=np.uint64)
    lower = np.minimum.accumulate(ends[:, 0]).astype(np.int64)
    upper = np.minimum(ends[:, 1], np.uint64(_MOST)).astype(np.int64)
    last = (np.arange(1, (1 << _GUIDE) + 1, dtype=np.uint64) << np.uint64(_PLACE - _GUIDE)).astype(np.int64)
    guide = np.searchsorted(-lower, -last, side="right")
    guide[-1] = 0  # its last place is beyond int64
    return Table(lower, np.maximum.accumulate(upper[::-1])[::-1].copy(), guide.astype(np.int64))


def discrete_laplace(scale: Fraction, size: int, source: Source) -> Integers | None:
    """Independent discrete Laplace numbers, exactly, or None where draws one by one are quicker or alone possible.

    Args:
        scale: above 0.
        size: how many.
        source: of random bits.
    """
    law = DiscreteLaplace(scale)
    if scale < 1:
        return _tabled(law, size, source) if law.entries <= _WORTH * size else None
    if scale > LARGEST_SCALE:
        return None

    def exactly(word: int, lower: int | None) -> int:
        return exact_number(law.tail, lambda p: int(Fraction(LAPLACE.guess(p)) * scale), word, source, lower)

    return cells_with_offset(LAPLACE, scale, _offset(law), size, source, exactly)


def discrete_gaussian(scale: Fraction, size: int, source: Source) -> Integers | None:
    """Independent discrete Gaussian numbers, exactly, or None where draws one by one are quicker or alone possible.

    Args:
        scale: σ; above 0.
        size: how many.
        source: of random bits.
    """
    law = DiscreteGaussian(scale)
    if scale <= TABLED:
        return _tabled(law, size, source) if law.entries <= _WORTH * size else None
    if scale > LARGEST_SCALE:
        return None
    drawn = np.empty(size, dtype=np.int64)
    for start in range(0, size, _BLOCK):
        part = drawn[start : start + _BLOCK]
        part[:] = noise_cells(GAUSSIAN, scale, len(part), source)
        open_ = np.flatnonzero(~_kept(law, part, source))
        while open_.size:
            part[open_] = noise_cells(GAUSSIAN, scale, open_.size, source)
            open_ = open_[~_kept(law, part[open_], source)]
    return drawn


@lru_cache(maxsize=16)
def _offset(law: DiscreteLaplace) -> Enclosure:
    """c = s·ln(2/(1 + q))."""
    precision = 2 * _WORD + 2 * int(law.scale).bit_length()
    return (2 / (1 + law.ratio(precision))).log() * law.scale


def _kept(law: DiscreteGaussian, drawn: Integers, source: Source) -> NDArray[np.bool_]:
    """Which rounded normal numbers are kept: where 1 − a(y) is surely below a level, and where it is at last."""
    levels = words_of(source, len(drawn))
    scale = float(law.scale)
    lost = (1 + (drawn.astype(np.float64) / scale) ** 2) / (8 * scale * scale)
    kept = np.asarray(levels.astype(np.float64) * 2.0**-_WORD > lost * (1 + 2.0**-40) + 2.0**-_WORD)
    for place in np.flatnonzero(~kept).tolist():
        kept[place] = _accepts(law, int(drawn[place]), LazyNumber(int(levels[place]), _WORD, source))
    return kept


def _accepts(law: DiscreteGaussian, y: int, level: LazyNumber) -> bool:
    """Whether the level is above 1 − a(y)."""
    while True:
        precision = level.bits + _MARGIN
        above = (1 - law.kept(y, precision)).less(level.enclosed(precision))
        if above is not Truth.UNDECIDED:
            return above is Truth.TRUE
        level.extend()


def _tabled(law: DiscreteLaw, size: int, source: Source) -> Integers:
    rows, drawn = _table(law), np.empty(size, dtype=np.int64)
    places = np.empty(min(size, _BLOCK), dtype=np.int64)
    for start in range(0, size, _BLOCK):
        part = drawn[start : start + _BLOCK]
        words: Bits = words_of(source, len(part))
        count = cells(words, rows.lower, rows.upper, rows.guide, part, places)
        for place in places[:count].tolist():
            part[place] = _exact_tabled(law, int(words[place]), source)
    return drawn


def _exact_tabled(law: DiscreteLaw, word: int, source: Source) -> int:
    number = LazyNumber(word >> 1, _PLACE, source)
    while True:
        ends = law.tails(number.bits)
        surely = sum(number.known + 1 <= low for low, _ in ends)
        if surely == sum(number.known < high for _, high in ends) and number.known:
            return signed(surely, word)
        number.extend()
