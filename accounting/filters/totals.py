"""Sums of what costs enclose, as exact fractions, and the account that a filter keeps of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Self, final

from attrs import frozen

from ..derivation import ANY_COUNT, RecordCount
from ..enclosures import Enclosure, Truth

PRECISION = 256
"""Bits of the enclosures that sums are shown as."""

EXACT_UP_TO = 1 << 4096
"""The largest denominator of a sum to which costs are added as they are."""
_GRID = 1 << 256


@final
@frozen
class Total:
    """A number that costs add up to, between two exact fractions; n numbers of 1/n, each known, add up to 1.

    Attributes:
        lower: at most the number.
        upper: at least the number.
    """

    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(0)

    @classmethod
    def of(cls, amount: Enclosure) -> Self:
        """What an enclosure holds: the number itself where it is known, else its ends."""
        number = amount.number
        return cls(amount.lower, amount.upper) if number is None else cls(number, number)

    def plus(self, amount: Total) -> Total:
        """The sum with `amount`; beside a denominator above 2^4096 `amount` is first rounded outward to 2^-256."""
        lower, upper = self.lower + amount.lower, self.upper + amount.upper
        if lower.denominator > EXACT_UP_TO:
            lower = self.lower + Fraction(amount.lower * _GRID // 1, _GRID)
        if upper.denominator > EXACT_UP_TO:
            upper = self.upper + Fraction(-(-amount.upper * _GRID // 1), _GRID)
        return Total(lower, upper)

    @property
    def squared(self) -> Total:
        """The square of a number ≥ 0."""
        return Total(max(self.lower, Fraction(0)) ** 2, self.upper**2)

    def less_equal(self, limit: Fraction) -> Truth:
        """Whether the number is at most `limit`."""
        if self.upper <= limit:
            return Truth.TRUE
        return Truth.FALSE if self.lower > limit else Truth.UNDECIDED

    def minus(self, amount: Total) -> Total:
        """The sum without an `amount` that was added to it, exactly."""
        return Total(self.lower - amount.lower, self.upper - amount.upper)

    @property
    def enclosure(self) -> Enclosure:
        """The number, enclosed; where its two ends agree it stays known."""
        if self.lower == self.upper:
            return Enclosure.of(self.upper, precision=PRECISION)
        return Enclosure.between(self.lower, self.upper, precision=PRECISION)


@final
@frozen
class Sums:
    """What a filter has admitted so far: all that it takes to decide about the next cost.

    Attributes:
        number: how many costs.
        totals: the sums that the filter compares with its budget.
        records: how many records there may be, by all costs; it is not stored with them, as what was paid says it.
    """

    number: int
    totals: tuple[Total, ...]
    records: RecordCount = ANY_COUNT


FULL = 1 << 62
"""The share of a budget that is all of it."""


@final
@frozen
class Compared:
    """A sum, and what it may be at most."""

    total: Total
    limit: Fraction

    @property
    def within(self) -> Truth:
        """Whether the sum is at most its limit."""
        return self.total.less_equal(self.limit)

    @property
    def left(self) -> Fraction:
        """What may still be added; 0 where nothing may."""
        return max(self.limit - self.total.upper, Fraction(0))

    @property
    def share(self) -> int:
        """The part of the limit that is used, in units of 2^-62, rounded up once; `FULL` + 1 for all above it."""
        if self.total.upper <= 0:
            return 0
        if self.total.upper > self.limit:
            return FULL + 1
        return -(-self.total.upper * FULL // self.limit)


@final
@frozen
class Comparisons:
    """What a filter decides by: one of some sums, and all of others, may be within their limits.

    Attributes:
        either: sums of which one within its limit is enough; at least one.
        also: sums of which each has to be within its limit.
    """

    either: tuple[Compared, ...]
    also: tuple[Compared, ...] = ()

    @property
    def within(self) -> Truth:
        """Whether the costs provably stay within the budget."""
        either = _all(*(one.within.negated for one in self.either)).negated
        return _all(either, *(one.within for one in self.also))

    @property
    def share(self) -> int:
        """The part of the budget that is used, in units of 2^-62, rounded up once: at most `FULL` where it suffices."""
        return max(min(one.share for one in self.either), *(one.share for one in self.also), 0)


def _all(*answers: Truth) -> Truth:
    if Truth.FALSE in answers:
        return Truth.FALSE
    return Truth.UNDECIDED if Truth.UNDECIDED in answers else Truth.TRUE
