"""What a sanitiser reports about a key of each frequency, end to end, after a sampler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from attrs import evolve, field, frozen

from ...enclosures import Enclosure
from ...enclosures.arguments import whole
from ...errors import InvalidValue, OutsideDomain
from ...units import Delta, Epsilon
from .budget import DyadicBudget
from .inclusion import Inclusion
from .profiles import dominating_pair
from .rows import Comparison, FrequencyRow, hockey_sticks, nothing_reported

if TYPE_CHECKING:
    from ...pairs import FinitePair

_R = TypeVar("_R", bound="Reporting")


class Origin(NamedTuple):
    """Where the row of a frequency comes from: that of `frequency`, with every token higher by `tokens`."""

    frequency: int
    tokens: int


class Divergences(NamedTuple):
    """The hockey-stick divergences of two neighbouring frequencies, both ways."""

    upward: Enclosure
    """Of the higher frequency from the lower."""
    downward: Enclosure
    """Of the lower frequency from the higher."""


class Walk(Protocol):
    """A way through the rows of a table, which never goes back."""

    def to(self, frequency: int) -> FrequencyRow:
        """The row of this frequency, none below the one before."""
        ...

    def origin(self, frequency: int) -> Origin:
        """Where the row of this frequency comes from, none below the one before."""
        ...


@frozen(kw_only=True, auto_attribs=False)
class Reporting(ABC):
    """The rows of a sanitiser as they are drawn, one per frequency.

    Attributes:
        epsilon: ε between neighbouring frequencies.
        delta: δ between them.
        inclusion: the sampler's q_i.
        largest: a public largest frequency M, or None. A key that occurs more often is treated as if it occurred M
            times: as w ↦ min(w, M) never takes neighbouring frequencies apart, the guarantee is the same.
        budget: ε and δ in whole units of probability.
    """

    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion
    largest: int | None = field(default=None)
    budget: DyadicBudget

    @property
    @abstractmethod
    def with_frequencies(self) -> bool:
        """Whether a token tells something of the frequency; else there is one token, 0."""

    @abstractmethod
    def comparisons(self) -> Iterator[Comparison]:
        """Pairs of laws that between them dominate all neighbouring rows, as `profiles` says."""

    @abstractmethod
    def _walk(self) -> Walk:
        """The way through the rows, from the first one."""

    @property
    def last(self) -> int | None:
        """The last frequency with a row of its own: M, else the last that has a rate; None where all have one."""
        return self.inclusion.last if self.largest is None else self.largest

    def capped(self: _R, largest: int) -> _R:
        """Return the same reporting with a public largest frequency M.

        Raises:
            InvalidValue, InvalidType: unless M is a whole number from 1 to the last frequency that has a rate.
        """
        return evolve(self, largest=largest)

    def at(self, frequencies: Iterable[int]) -> Iterator[FrequencyRow]:
        """The rows of these frequencies; for those above `largest`, row M.

        Args:
            frequencies: whole numbers ≥ 1, increasing.

        Guarantees:
            Every two neighbouring rows of the whole table, asked for or not, satisfy (ε, δ) exactly.

        Raises:
            OutsideDomain: beyond the last frequency that has a rate; and where a row is too many steps away.
            InvalidValue, InvalidType: for frequencies that are no whole numbers ≥ 1, or do not increase.
        """
        walk, found = self._walk(), None
        for frequency in self._own(frequencies):
            if found is None or frequency != found.frequency:
                found = walk.to(frequency)
            yield found

    def origins(self, frequencies: Iterable[int]) -> Iterator[Origin]:
        """Return for each frequency one whose row differs only in how far its tokens lie: few rows serve many keys.

        Args:
            frequencies: as for `at`, and errors likewise.
        """
        return map(self._walk().origin, self._own(frequencies))

    def row(self, frequency: int) -> FrequencyRow:
        """The row of one frequency; arguments and errors as for `at`."""
        return next(iter(self.at([whole("frequency", frequency, 1)])))

    def divergences(self, frequency: int, growth: Enclosure) -> Divergences:
        """The hockey-stick divergences between this frequency and the one before, exactly but for e^{ε'} itself.

        Args:
            frequency: at least 1.
            growth: enclosure of e^{ε'}, any number ≥ 0.

        Raises:
            InvalidValue, InvalidType, OutsideDomain: as for `at`.
        """
        asked = [frequency] if whole("frequency", frequency, 1) == 1 else [frequency - 1, frequency]
        *before, row = self.at(asked)
        lower = before[0] if before else nothing_reported(self.budget)
        most, least = (hockey_sticks(lower, row, end) for end in (growth.lower, growth.upper))
        return Divergences(
            *(Enclosure.between(*ends, precision=growth.precision) for ends in zip(least, most, strict=True))
        )

    def dominating_pair(self) -> FinitePair:
        """Return one release as a dominating pair, for every frequency and both directions: see `profiles`.

        P (`present`) is the law of the higher frequency.

        Raises:
            OutsideDomain: where the rows are too many and nothing is proven of those far out.
        """
        return dominating_pair(self.budget, self.comparisons())

    def _own(self, frequencies: Iterable[int]) -> Iterator[int]:
        """Return the frequency min(w, M) whose row each of these frequencies has."""
        before, last = 0, self.last
        for frequency in frequencies:
            if whole("frequencies", frequency, 1) <= before:
                raise InvalidValue("frequencies", frequency, f"more than {before}, the one before")
            before = frequency
            if last is not None and frequency > last and self.largest is None:
                raise OutsideDomain(
                    f"frequency {frequency}, beyond {last}, the last that has a rate; list more of them, or state a "
                    "public largest frequency."
                )
            yield frequency if self.largest is None else min(frequency, self.largest)

    def _check_largest(self) -> None:
        last = self.inclusion.last
        if self.largest is not None and whole("largest", self.largest, 1) > (self.largest if last is None else last):
            raise InvalidValue("largest", self.largest, f"at most {last}, the last frequency that has a rate")
