"""The cell of noise that a uniform number means, decided by proofs from as many of its bits as that takes.

This serves the few words that the kernel leaves undecided, and says what its answers mean: the cell of ±G(p)·r is
⌊G(p)·r + 1/2⌋ with the sign. It is z where T((z − 1/2)/r) ≥ p > T((z + 1/2)/r), as T decreases: two comparisons of
the number, known to some bits, with an enclosed tail. Where one is not decided, more bits are drawn, or the tail is
enclosed more closely, until it is. No bit is ever thrown away, so that the law is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import final

from ..enclosures import Enclosure
from ..errors import InvalidValue
from .laws import Law
from .source import Source

_WORD = 64
_MOST = 1 << 14
_HALF = Fraction(1, 2)
_MARGIN = 32  # bits of a tail beyond those of the number that it is compared with


@final
class LazyNumber:
    """A uniform number in (0, 1) of which the first bits are known, and more can be drawn.

    Attributes:
        known: the bits that are known, as a whole number; the number is in [known, known + 1]·2^-bits.
        bits: how many they are.
    """

    def __init__(self, known: int, bits: int, source: Source) -> None:
        self.known = known
        self.bits = bits
        self._source = source

    def extend(self) -> None:
        """Draw 64 bits more.

        Raises:
            InvalidValue: where 2^14 bits do not suffice, which uniform ones do but for a probability below 2^-10000.
        """
        if self.bits >= _MOST:
            raise InvalidValue(
                "source", f"{self.bits} bits that decide nothing", "independent uniform words", "Use another source"
            )
        self.known = self.known << _WORD | int(self._source.bits(1)[0])
        self.bits += _WORD

    def enclosed(self, precision: int) -> Enclosure:
        """What the number can be, by what is known of it."""
        return Enclosure.of_ratio(self.known, 1 << self.bits, precision=precision).hull(
            Enclosure.of_ratio(self.known + 1, 1 << self.bits, precision=precision)
        )

    def above_zero(self, precision: int) -> Enclosure:
        """What the number can be, after as many bits as it takes to keep away from 0."""
        while not self.known:
            self.extend()
        return self.enclosed(precision)

    def below(self, enclosed: Callable[[int], Enclosure]) -> bool:
        """Whether the number is below one that is enclosed at each precision, which it equals with probability 0."""
        precision = self.bits + _MARGIN
        while True:
            tail = enclosed(precision)
            if self.known + 1 <= tail.lower * (1 << self.bits):
                return True
            if self.known >= tail.upper * (1 << self.bits):
                return False
            if tail.width * (1 << self.bits) < Fraction(1, 1 << _MARGIN // 2):
                self.extend()
            precision += _WORD


def exact_cell(law: Law, ratio: Fraction, word: int, source: Source, lower: int | None = None) -> int:
    """The cell of the noise that a word and the words drawn after it mean, as a whole number of any size.

    Args:
        law: of noise of scale 1.
        ratio: the scale, in cells; above 0.
        word: 64 uniform bits: 63 of the magnitude's number, and the lowest for the sign.
        source: of more bits.
        lower: a cell, where the magnitude's is proven to be that one or the next.

    Guarantees:
        ±⌊m·ratio + 1/2⌋ for the magnitude m = G(p) of the number p, of which the word is the beginning.
    """

    def tail(cell: int, precision: int) -> Enclosure:
        return law.tail(Enclosure.of((cell - _HALF) / ratio, precision=precision))

    return exact_number(tail, lambda p: int(Fraction(law.guess(p)) * ratio + _HALF), word, source, lower)


def exact_number(
    tail: Callable[[int, int], Enclosure],
    guess: Callable[[float], int],
    word: int,
    source: Source,
    lower: int | None = None,
) -> int:
    """The whole number that a word and the words drawn after it mean, by the tails of its magnitude.

    Args:
        tail: encloses the probability of a magnitude of at least k ≥ 1, by k and a precision.
        guess: the magnitude of which the tail is about p.
        word, source: as for `exact_cell`.
        lower: a number, where the magnitude is proven to be that one or the next.

    Guarantees:
        The largest k of which the tail is above p, else 0, with the sign; p is the number that the word begins.
    """
    number = LazyNumber(word >> 1, _WORD - 1, source)

    def reaches(k: int) -> bool:
        return k <= 0 or number.below(lambda precision: tail(k, precision))

    if lower is not None:
        return signed(lower + reaches(lower + 1), word)
    return signed(_last(reaches, guess(float(Fraction(2 * number.known + 1, 2 << number.bits)))), word)


def _last(reaches: Callable[[int], bool], about: int) -> int:
    """The last number that a magnitude reaches.

    Args:
        reaches: whether the magnitude is at least a number; true of 0, and false from some cell on.
        about: where the search begins.
    """
    low, step = max(0, about), 1
    while not reaches(low):
        low, step = max(0, low - step), 2 * step
    high, step = low + 1, 1
    while reaches(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return low


def signed(magnitude: int, word: int) -> int:
    """A magnitude with the sign of a word, which is its lowest bit."""
    return -magnitude if word & 1 else magnitude
