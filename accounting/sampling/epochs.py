"""Epochs of batches, of which each record enters one or k: schemes that draw them, and what a record costs in one.

Legend: T is the number of batches of an epoch; the base is the pair of one release about a record in its batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import chain
from typing import final

import numpy as np
from attrs import frozen

from ..derivation import NUMBER_OF_RECORDS, Assumption
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..pairs import MOST_BATCHES, GaussianPair, Pair, allocated, blocks
from ..relations import ADD_REMOVE, REPLACE, ZERO_OUT, Change
from .batches import in_any_order, two_records
from .largest_of_batches import largest_of_batches
from .records import ChoosingCoins, Indices


class Epoch(ABC):
    """A scheme that puts every record in as many batches of an epoch as every other; base class.

    Guarantees:
        The batches depend on the number of records and on coins alone. Every record enters its batches with weight 1.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def number_of_batches(self) -> int:
        """T, the number of batches, at least 1."""

    @property
    def number_of_participations(self) -> int:
        """In how many of them each record is: one, unless a scheme says otherwise."""
        return 1

    @property
    @abstractmethod
    def relations(self) -> tuple[Change, ...]:
        """The changes of the data for which a pair is known."""

    @property
    @abstractmethod
    def way(self) -> str:
        """How batches are drawn, in words."""

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What is assumed of the number of records."""
        return ()

    @abstractmethod
    def pair(self, base: Pair, relation: Change) -> Pair | None:
        """The pair of an epoch; None where no theorem gives one.

        Guarantees:
            The pair dominates the change of any record, whatever the others are and however a release is chosen by
            earlier ones; under REPLACE in both orientations.
        """

    @abstractmethod
    def reached(self, base: Pair, relation: Change) -> tuple[Pair, ...]:
        """Pairs that two data sets reach, where sums are released whose records reach the base in any direction."""

    def reached_by_any(self, relation: Change) -> bool:
        """Whether those of `reached` are so wherever some record reaches the base among any others, in sums or not."""
        return relation == self.relations[0]

    def require_size(self, size: int) -> None:
        """Refuse a number of records for which the scheme is not declared.

        Raises:
            InvalidValue: for such a number.
        """
        whole("records", size, 0)

    @abstractmethod
    def members(self, size: int, coins: ChoosingCoins) -> list[Indices]:
        """The places of each batch of an epoch of so many records, drawn exactly."""


@final
@frozen
class Allocation(Epoch):
    """Each record enters k of T batches, a set of them that is drawn uniformly and apart from all others.

    Attributes:
        batches: T, from 1 to 2^20.
        participations: k, from 1 to T.
    """

    batches: int
    participations: int = 1

    def __attrs_post_init__(self) -> None:
        if whole("batches", self.batches, 1) > MOST_BATCHES:
            raise InvalidValue("batches", self.batches, f"a whole number from 1 to {MOST_BATCHES}")
        blocks(self.batches, self.participations)

    @property
    def number_of_batches(self) -> int:
        """Return T, the number of batches."""
        return self.batches

    @property
    def number_of_participations(self) -> int:
        """Return k, in how many of them each record is."""
        return self.participations

    @property
    def relations(self) -> tuple[Change, ...]:
        """Return those under which allocation amplifies: zeroing a record out leaves the others where they are."""
        return (ADD_REMOVE, ZERO_OUT)

    @property
    def way(self) -> str:
        """Return random allocation, in words."""
        entered = "one" if self.participations == 1 else str(self.participations)
        return f"random allocation, each record in {entered} of {self.batches} batches"

    def pair(self, base: Pair, relation: Change) -> Pair | None:
        """The mean of T independent likelihood ratios, or k such means (`docs/soundness_allocation.md`)."""
        return allocated(base, self.batches, self.participations) if relation in self.relations else None

    def reached(self, base: Pair, relation: Change) -> tuple[Pair, ...]:
        """Return the pair of an allocation of a base that is reached; in between what the sum of all releases tells."""
        if self.participations in (1, self.batches):
            return (allocated(base, self.batches, self.participations),)
        match base:
            case GaussianPair(shift):
                return (GaussianPair(shift * self.participations / Enclosure.of(self.batches).sqrt()),)
        return ()

    def members(self, size: int, coins: ChoosingCoins) -> list[Indices]:
        """Draw the batches of each record (Floyd); records of a batch stay in the order of the data."""
        chosen: list[set[int]] = [set() for _ in range(size)]
        for last in range(self.batches - self.participations, self.batches):
            for mine, batch in zip(chosen, coins.integers(last + 1, size), strict=True):
                mine.add(last if batch in mine else batch)
        entered = np.fromiter(chain.from_iterable(chosen), dtype=np.int64, count=size * self.participations)
        order = np.argsort(entered, kind="stable")
        ends = np.searchsorted(entered[order], np.arange(1, self.batches))
        return np.split(order // self.participations, ends)


@final
@frozen
class ShuffledBatches(Epoch):
    """All n records in an order that is drawn uniformly, cut into batches of B.

    Attributes:
        batch_size: B, of which n is a whole multiple.
        data_size: n.
    """

    batch_size: int
    data_size: int

    def __attrs_post_init__(self) -> None:
        size = whole("data_size", self.data_size, 1)
        if size % whole("batch_size", self.batch_size, 1):
            raise InvalidValue(
                "batch_size",
                self.batch_size,
                f"a size of which data_size = {size} is a whole multiple",
                "A last batch that is smaller, or left out, is not covered",
            )
        if self.number_of_batches > MOST_BATCHES:
            raise InvalidValue("batch_size", self.batch_size, f"at most {MOST_BATCHES} batches of {size} records")

    @property
    def number_of_batches(self) -> int:
        """Return how many batches of B there are in n records."""
        return self.data_size // self.batch_size

    @property
    def relations(self) -> tuple[Change, ...]:
        """Zeroed-out and replaced records: n does not change."""
        return ZERO_OUT, REPLACE

    @property
    def way(self) -> str:
        """Return shuffled batches, in words."""
        return f"shuffled data in {self.number_of_batches} batches of {self.batch_size} records"

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The public number of records."""
        return (Assumption(NUMBER_OF_RECORDS, str(self.data_size)),)

    def pair(self, base: Pair, relation: Change) -> Pair | None:
        """One release about the record, not amplified: its batch is taken to be seen."""
        if relation not in self.relations:
            return None
        return two_records(base) if relation == REPLACE else base

    def reached(self, base: Pair, relation: Change) -> tuple[Pair, ...]:
        """The pairs of a record among others that add nothing, and among opposite ones by the largest sum of a batch.

        Replaced by an opposite one among such, it is twice as far away: one of T batches is moved.
        """
        if self.number_of_batches == 1:
            found = self.pair(base, relation)
            return () if found is None else (found,)
        match base:
            case GaussianPair(shift) if relation == REPLACE:
                return (allocated(GaussianPair(shift * 2), self.number_of_batches),)
            case GaussianPair(shift):
                return allocated(base, self.number_of_batches), largest_of_batches(shift, self.number_of_batches)
        return ()

    def reached_by_any(self, relation: Change) -> bool:
        """Return False: some of them suppose opposite records, which sums alone are known to have."""
        return False

    def require_size(self, size: int) -> None:
        """Refuse another number of records than n."""
        if size != self.data_size:
            raise InvalidValue("records", f"{size} records", f"data_size = {self.data_size} records")

    def members(self, size: int, coins: ChoosingCoins) -> list[Indices]:
        """Draw an order, and cut it."""
        self.require_size(size)
        return np.split(in_any_order(size, coins), self.number_of_batches)
