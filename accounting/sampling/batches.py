"""Batches that are drawn as a whole: of a fixed size, or a Poisson sample that is cut down to a largest size.

Legend: n is the public number of records, B the batch size. Of two data sets that differ in one record, the others and
what is drawn of them are the same; where a record takes the place of another one in the batch, that one returns where
the record is missing. So the laws compared are of batches with one place taken by different records. The proofs are in
`docs/soundness_batches.md`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from functools import singledispatch
from typing import Any, final

import numpy as np
from attrs import field, frozen

from ..derivation import (
    LARGEST_NUMBER_OF_RECORDS,
    LEAST_NUMBER_OF_RECORDS,
    NUMBER_OF_RECORDS,
    Assumption,
    Derivation,
)
from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..enclosures.binomials import binomial_tail
from ..errors import InvalidType, InvalidValue
from ..expressions import Expression
from ..pairs import (
    Composed,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    PublicChance,
    Repeated,
    ShuffledPair,
    changed,
    symmetrised,
)
from ..relations import ADD_REMOVE, REPLACE, ZERO_OUT, AddRemove, Change, Direction, Record, Relation
from .drawing import Rate
from .losses import Loss, PureLoss
from .profiles import PureProfile
from .records import ChoosingCoins, Features, Indices, Realisation

_NEXT_TO_NEVER = Fraction(1, 2**400)
_ONE_AND_A_HALF = Fraction(3, 2)  # times the loss of one answer lies below the loss of two
_NEVER = Enclosure.of(_NEXT_TO_NEVER)
"""What happens less often than that is taken to happen so often."""


class Batches(ABC):
    """A scheme that draws a batch as a whole; base class.

    Guarantees:
        The batch depends on the number of records and on coins alone. Every record is as likely as any other to be in
        it, and enters with weight 1.
    """

    __slots__ = ()

    @property
    def base_relation(self) -> Change:
        """The change of the data that the pair of a release on everything is about."""
        return ADD_REMOVE

    @property
    @abstractmethod
    def relations(self) -> tuple[Change, ...]:
        """The changes of the data for which a pair is known."""

    @abstractmethod
    def included(self, size: int) -> Enclosure:
        """The probability with which each of so many records is in the batch."""

    @property
    @abstractmethod
    def size(self) -> int:
        """A number of records for which the scheme is declared."""

    @property
    @abstractmethod
    def assumptions(self) -> tuple[Assumption, ...]:
        """What is assumed of the number of records."""

    @abstractmethod
    def pair(self, base: Pair, relation: Relation) -> Pair | None:
        """The pair of a release on a batch; None where no theorem gives one.

        Args:
            base: the pair of the release about a record that is added or removed, and drawn for certain.
            relation: the change of the data: one of `relations`.

        Guarantees:
            The pair dominates the change of any record, whatever the others are; under REPLACE in both orientations.
        """

    @abstractmethod
    def reached(self, base: Pair, relation: Relation) -> Pair | None:
        """A pair that some two data sets reach, where sums are released whose records reach `base` in any direction.

        It is about one release, or about several on one sample where `base` is.
        """

    @abstractmethod
    def require_size(self, size: int) -> None:
        """Refuse a number of records for which the scheme is not declared.

        Raises:
            InvalidValue: for such a number.
        """

    def require_size_for(self, relation: Relation, size: int) -> None:
        """Refuse a number of records for which guarantees about a change of the data are not declared.

        Raises:
            InvalidValue: for such a number.
        """
        self.require_size(size)

    @abstractmethod
    def members(self, size: int, coins: ChoosingCoins) -> Indices:
        """The places of a batch of so many records, drawn exactly; rising, unless their order is drawn, too.

        Raises:
            InvalidValue: as `require_size`.
        """


def _choose(count: int, size: int, coins: ChoosingCoins) -> Indices:
    """`count` of `size` places, each set of so many equally likely, rising (Floyd's algorithm)."""
    chosen: set[int] = set()
    for last in range(size - count, size):
        place = coins.integers(last + 1, 1)[0]
        chosen.add(last if place in chosen else place)
    return np.array(sorted(chosen), dtype=np.int64)


def _wrong_size(size: int, admissible: str) -> InvalidValue:
    return InvalidValue(
        "records",
        f"{size} records",
        admissible,
        "Declare the public number of records as data_size: what a batch costs depends on it",
    )


def _share(_: object, __: object, value: Any) -> None:
    if not isinstance(value, Fraction):
        raise InvalidType("rate", value, "a Fraction in (0, 1]", "Write exact(value) to read a float or text.")
    if not 0 < value <= 1:
        raise InvalidValue("rate", value, "a share in (0, 1]")


@final
@frozen
class FixedBatches(Batches):
    """Exactly B of n records are drawn, without replacement; every set of B records is equally likely.

    Attributes:
        chance: B/n, in (0, 1].
        data_size: n, of which the share B/n is a whole number; None where that is to be seen when a batch is drawn.
    """

    chance: Fraction = field(validator=_share)
    data_size: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.data_size is not None:
            self._batch_of(whole("data_size", self.data_size, 1))

    def included(self, size: int) -> Enclosure:
        """Return B/n, the share of the records."""
        return Enclosure.of(self.chance)

    @property
    def size(self) -> int:
        """Return n, or the least number of which B/n is a share."""
        return self.chance.denominator if self.data_size is None else self.data_size

    @property
    def relations(self) -> tuple[Change, ...]:
        """Replaced and zeroed-out records: n does not change."""
        return REPLACE, ZERO_OUT

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The public number of records, where it is stated."""
        return () if self.data_size is None else (Assumption(NUMBER_OF_RECORDS, str(self.data_size)),)

    def pair(self, base: Pair, relation: Relation) -> Pair | None:
        """The REMOVE law of the pair of two records, sampled at B/n, in both directions."""
        two = two_records(base) if relation in self.relations else None
        return None if two is None else symmetrised(two.sampled(Enclosure.of(self.chance)))

    def reached(self, base: Pair, relation: Relation) -> Pair | None:
        """The pair (1 − q)·M_y + q·M_x and M_y of a record against equal others; y adds nothing, or −x."""
        two = two_records(base) if relation == REPLACE else base
        return None if two is None else two.sampled(Enclosure.of(self.chance))

    def require_size(self, size: int) -> None:
        """Refuse another number of records than n, and one of which B/n is no whole number."""
        if self.data_size is not None and size != self.data_size:
            raise _wrong_size(size, f"data_size = {self.data_size} records")
        self._batch_of(size)

    def members(self, size: int, coins: ChoosingCoins) -> Indices:
        """Draw B places."""
        self.require_size(size)
        return _choose(self._batch_of(size), size, coins)

    def _batch_of(self, size: int) -> int:
        batch = self.chance * size
        if batch.denominator != 1 or not batch:
            raise InvalidValue(
                "rate",
                self.chance,
                f"a share of {size} records that is a whole number of at least 1",
                "State batch_size and data_size",
            )
        return batch.numerator


@final
@frozen
class TruncatedPoisson(Batches):
    """A Poisson sample of which at most B records are kept, each set of B of them equally likely.

    Attributes:
        rate: q, the probability with which each record is drawn; in (0, 1], in binary64 exactly.
        batch_size: B, from 1 to n.
        data_size: n: the number of records, of which under add/remove one may be missing.
        at_most: whether n is only a bound of that number.
    """

    rate: Fraction = field(validator=_share)
    batch_size: int
    data_size: int
    at_most: bool = False

    def __attrs_post_init__(self) -> None:
        if Fraction(float(self.rate)) != self.rate:
            raise InvalidValue("rate", self.rate, "a number that binary64 has, as it is drawn")
        whole("batch_size", self.batch_size, 1)
        if self.batch_size > whole("data_size", self.data_size, 1):
            raise no_such_batch(self.batch_size, self.data_size)

    @property
    def relations(self) -> tuple[Change, ...]:
        """Return all: what is drawn of the other records has the same law in both data sets."""
        return ADD_REMOVE, REPLACE, ZERO_OUT

    def included(self, size: int) -> Enclosure:
        """q where fewer than B others are drawn, and the chance to be kept otherwise: at most q together."""
        drawn = Enclosure.of(self.rate)
        if self.batch_size >= size:
            return drawn
        fewer = binomial_tail(size - 1, size - self.batch_size, 1 - drawn)
        more = binomial_tail(size, self.batch_size + 1, drawn)
        return (drawn * fewer + more * Fraction(self.batch_size, size)).minimum(self.rate)

    @property
    def size(self) -> int:
        """Return n, the number of records."""
        return self.data_size

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The public number of records, or its bound."""
        name = LARGEST_NUMBER_OF_RECORDS if self.at_most else NUMBER_OF_RECORDS
        return (Assumption(name, str(self.data_size)),)

    @property
    def full(self) -> Enclosure:
        """The probability that B or more of n − 1 others are drawn: then a record that enters displaces one of them."""
        return binomial_tail(self.data_size - 1, self.batch_size, Enclosure.of(self.rate))

    @property
    def not_full(self) -> Enclosure:
        """The probability that fewer than B are, by itself: as 1 − `full` it would lose its digits."""
        others = self.data_size - 1
        return binomial_tail(others, others - self.batch_size + 1, 1 - Enclosure.of(self.rate))

    @property
    def entering(self) -> Enclosure:
        """With what probability a record then enters: B·P(B + 1 or more of n are drawn)/(n·`full`), at most q."""
        more = binomial_tail(self.data_size, self.batch_size + 1, Enclosure.of(self.rate))
        return (more * self._share / self.full).minimum(self.rate)

    @property
    def _share(self) -> Fraction:
        """Return B/n."""
        return Fraction(self.batch_size, self.data_size)

    def pair(self, base: Pair, relation: Relation) -> Pair | None:
        """Whether B or more of the others are drawn is public chance: below, Poisson; else one place changes hands."""
        rate = Enclosure.of(self.rate)
        below = changed(base, rate, replaced=relation == REPLACE)
        two = two_records(base)
        if below is None or two is None or relation not in self.relations:
            return None
        if self.batch_size >= self.data_size:
            return below

        def beyond(entering: Enclosure) -> Pair:
            seen = two.sampled(entering)
            return seen if relation == ADD_REMOVE else symmetrised(seen)

        full, rest = self.full, self.not_full
        worst = beyond(rate)  # at least as bad as either, so that it may stand for what is next to never
        if full.lower < _NEXT_TO_NEVER:
            return PublicChance(((1 - _NEVER, below), (_NEVER, worst)))
        taken = worst if self.at_most else beyond(self.entering)
        if rest.lower < _NEXT_TO_NEVER:
            return PublicChance(((_NEVER, worst), (1 - _NEVER, taken)))
        return PublicChance(((rest, below), (full, taken)))

    def reached(self, base: Pair, relation: Relation) -> Pair | None:
        """The pair of a record among others that add nothing, which is in the batch with the probability `included`."""
        return changed(base, self.included(self.data_size), replaced=relation == REPLACE)

    def require_size(self, size: int) -> None:
        """Refuse more than n records, and fewer than n − 1 unless n is a bound only."""
        if size > self.data_size:
            raise _wrong_size(size, f"at most data_size = {self.data_size} records")
        if size < self.data_size - 1 and not self.at_most:
            raise _wrong_size(size, f"data_size = {self.data_size} records, or fewer with at_most")

    def require_size_for(self, relation: Relation, size: int) -> None:
        """Refuse another number of records than n, but for one that is missing under add/remove."""
        self.require_size(size)
        if size < self.data_size and not self.at_most and relation != ADD_REMOVE:
            raise _wrong_size(size, f"data_size = {self.data_size} records, or fewer with at_most")

    def members(self, size: int, coins: ChoosingCoins) -> Indices:
        """Draw each place with probability q, and choose B of them where there are more."""
        self.require_size(size)
        drawn = np.flatnonzero(coins.bernoulli(np.full(size, float(self.rate))))
        if drawn.size <= self.batch_size:
            return drawn
        return drawn[_choose(self.batch_size, drawn.size, coins)]


@final
@frozen
class ShuffledAnswers(Batches):
    """Every record answers by itself, and all answers are put in an order that is drawn uniformly.

    Attributes:
        users: n, at most the number of records: more of them never cost more.
        local: ε₀, the pure loss of one answer.
        clones: γ, with at least which chance an answer is a clone.
    """

    users: int
    local: Enclosure
    clones: Enclosure

    @property
    def base_relation(self) -> Change:
        """Replace: a local randomiser answers for whichever value a record has."""
        return REPLACE

    @property
    def relations(self) -> tuple[Change, ...]:
        """Replaced records: the number of answers is seen."""
        return (REPLACE,)

    def included(self, size: int) -> Enclosure:
        """Return 1: every record answers."""
        return Enclosure.of(1)

    @property
    def size(self) -> int:
        """Return n, the least number of records."""
        return self.users

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The least number of records."""
        return (Assumption(LEAST_NUMBER_OF_RECORDS, str(self.users)),)

    def pair(self, base: Pair, relation: Relation) -> Pair | None:
        """The pair of the answer among its clones; several answers in one order are one of any randomiser."""
        if base.pure is None or relation not in self.relations:
            return None
        local = base.pure(Direction.REMOVE).hull(base.pure(Direction.ADD))
        several = local.upper >= self.local.lower * _ONE_AND_A_HALF
        return ShuffledPair(local, self.users, (-local).exp() if several else self.clones)

    def reached(self, base: Pair, relation: Relation) -> Pair | None:
        """Return none: which records others have decides what is reached."""
        return None

    def require_size(self, size: int) -> None:
        """Refuse fewer records than n."""
        if size < self.users:
            remedy = "Declare as users how many records there are at least: fewer hide an answer less well"
            raise InvalidValue("records", f"{size} records", f"at least users = {self.users} records", remedy)

    def members(self, size: int, coins: ChoosingCoins) -> Indices:
        """Every place, in an order that is drawn uniformly (Fisher, Yates)."""
        self.require_size(size)
        return in_any_order(size, coins)


def in_any_order(size: int, coins: ChoosingCoins) -> Indices:
    """So many places in an order that is drawn uniformly (Fisher, Yates)."""
    order = np.arange(size, dtype=np.int64)
    for last in range(size - 1, 0, -1):
        place = coins.integers(last + 1, 1)[0]
        order[last], order[place] = order[place], order[last]
    return order


def no_such_batch(batch_size: int, data_size: int) -> InvalidValue:
    """The error for a batch that is larger than the data."""
    return InvalidValue(
        "batch_size",
        batch_size,
        f"at most data_size = {data_size}",
        "No batch has more records than the data: choose a smaller one",
    )


@singledispatch
def two_records(base: Pair) -> Pair | None:
    """The symmetric pair of one record in place of another one, both drawn; None where no theorem gives one.

    Args:
        base: the pair of a record that is added or removed, and drawn for certain.
    """
    found = changed(base, Enclosure.of(1), replaced=True)
    return found if found is not None and found.symmetric else None


@two_records.register
def _(base: GaussianPair) -> Pair:
    return GaussianPair(base.shift * 2)


@two_records.register
def _(base: LaplacePair) -> Pair:
    return LaplacePair(base.shift * 2)


@two_records.register
def _(base: DiscreteLaplacePair) -> Pair:
    return DiscreteLaplacePair(base.unit, base.steps * 2)


@two_records.register
def _(base: DiscreteGaussianPair) -> Pair:
    return DiscreteGaussianPair(base.variance, base.steps * 2, precision=base.precision)


@two_records.register
def _(base: Repeated) -> Pair | None:
    two = two_records(base.base)
    return None if two is None else two.repeated(base.times)


@two_records.register
def _(base: Composed) -> Pair | None:
    known = [two for part in base.parts if (two := two_records(part)) is not None]
    return Composed(tuple(known)) if len(known) == len(base.parts) else None


def _batches(_: object, __: object, value: Any) -> None:
    if not isinstance(value, Batches):
        raise InvalidType("batches", value, "a scheme of batches, such as FixedBatches(batch_size=…, data_size=…)")


@final
@frozen
class BatchRate(Rate):
    """How records are drawn in batches: each with the same probability, but not independently.

    Attributes:
        batches: the scheme.
    """

    batches: Batches = field(validator=_batches)

    @property
    def features(self) -> tuple[Expression, ...]:
        """Return none: what is drawn does not depend on norms."""
        return ()

    @property
    def rounding(self) -> Fraction:
        """Return 0: batches are drawn exactly."""
        return Fraction(0)

    def realise(self, features: Features) -> Realisation:
        """The probabilities, the same for all, with the scheme by which records are drawn together.

        Raises:
            InvalidValue: for a number of records for which the scheme is not declared.
        """
        size = len(features)
        self.batches.require_size(size)
        included = float(self.batches.included(size).midpoint) if size else 0.0
        return Realisation(np.full(size, included), np.ones(size), batches=self.batches)

    @property
    def size(self) -> int:
        """A number of records from which batches are drawn."""
        return self.batches.size

    def profile(self, loss: PureLoss, premises: Iterable[Derivation] = ()) -> PureProfile[AddRemove, Record]:
        """Refuse it: Theorem 6 is about independent draws.

        Raises:
            InvalidValue: always.
        """
        raise InvalidValue(
            "sampler",
            self.batches,
            "a sampler that draws each record by itself",
            "Theorem 6 is about these: ask for an ε of all records, or for δ",
        )

    def changed(self, base: Pair, rate: Enclosure, relation: Relation, size: int) -> Pair | None:
        """The pair of a release on a batch; None for several records at once."""
        return self.batches.pair(base, relation) if size == 1 else None


def rate_of_batches(batches: Batches, loss: Loss) -> BatchRate:
    """How batches are drawn for a mechanism with this loss.

    Raises:
        InvalidValue: for a loss of which only a curve is known: no theorem says what one record in place of another
            costs then.
    """
    if loss.parameter is None:
        raise InvalidValue(
            "mechanism",
            type(loss).__name__,
            "a mechanism whose loss is a pair, such as a sum with Gaussian or Laplace noise",
            "Of a Rényi curve it is not known what one record in the place of another one in a batch costs",
        )
    return BatchRate(batches)
