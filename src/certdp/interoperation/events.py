"""Events as dp_accounting knows them: what was released, as trees of mechanisms, samples and compositions.

Each event has exactly one dominating pair per neighbouring relation. As in dp_accounting, parameters are fixed
beforehand, and queries may depend on earlier results: every release is dominated by a pair that is fixed.

Legend: a mechanism's noise multiplier is its noise over the bound C on the norm of what one record contributes, so
that adding, removing or zeroing out a record moves the result by at most C, and replacing one by at most 2C.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, ClassVar, final

from attrs import field, frozen

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import REAL_VALUED_NOISE, Assumption, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import naming_rationals, python_int, rational
from ..accounting.pairs import (
    DiscreteLaplacePair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RenyiCurve,
    ZeroConcentratedCurve,
    changed,
    compose_pairs,
)
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Change
from .event_fields import CHILD, CHILDREN, COUNT, DOWNWARDS, UPWARDS
from .stated_run import StatedRun

MOST_RELEASES = 10**18

MOVED: dict[Change, int] = {ADD_REMOVE: 1, ZERO_OUT: 1, REPLACE: 2}
NOTHING = FinitePair((Fraction(1),), (Fraction(1),))
EVERYTHING = FinitePair((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))


@frozen
class Event(ABC):
    """One node of a tree of events: base class of the events.

    Attributes:
        name: that of dp_accounting's class.
    """

    name: ClassVar[str]

    @abstractmethod
    def pair(self, relation: Change) -> Pair:
        """The dominating pair.

        Raises:
            InvalidValue: under a relation that the event is not understood under.
        """

    def reached(self, relation: Change) -> Pair | None:
        """What some neighbouring data sets have, of some release that the event describes; None where it is not known.

        Raises:
            InvalidValue: as `pair`.
        """
        return self.pair(relation)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What has to be true of the releases."""
        return ()

    @property
    def releases(self) -> int:
        """How many results the tree describes."""
        return 1

    @property
    def inner(self) -> tuple[Event, ...]:
        """The events that it is made of."""
        return ()

    @property
    def is_of_counted_records(self) -> bool:
        """Whether it is understood of a public number of records alone, which a Poisson sample does not have."""
        return any(event.is_of_counted_records for event in self.inner)

    def run(self, relation: Change = ADD_REMOVE) -> StatedRun:
        """The whole tree as a run to ask ε and δ of.

        Args:
            relation: the change of the data to protect against.

        Raises:
            InvalidValue: under a relation that an event of the tree is not understood under, and for more than 10^18
                releases.
        """
        if relation not in MOVED:
            raise InvalidType("relation", relation, "ADD_REMOVE, ZERO_OUT or REPLACE")
        if self.releases > MOST_RELEASES:
            raise InvalidValue("event", f"{self.releases} releases", f"at most {MOST_RELEASES}")
        pair, reached = self.pair(relation), self.reached(relation)
        described = Theorem("declaration", self.name).conclude((), dict.fromkeys(self.assumptions))
        return StatedRun(
            pairs=WorstPairs((pair,), () if reached is None else (reached,)),
            relation=relation,
            derivation=described,
        )


def non_negative(_: Any, attribute: Any, value: Fraction) -> None:
    """Check, as a validator of attrs, that a number is at least 0."""
    if value < 0:
        raise InvalidValue(attribute.name, str(value), "a number ≥ 0")


def within_one(_: Any, attribute: Any, value: Fraction) -> None:
    """Check, as a validator of attrs, that a number is in [0, 1]."""
    if not 0 <= value <= 1:
        raise InvalidValue(attribute.name, str(value), "a number in [0, 1]")


def _counted(_: Any, attribute: Any, value: int) -> None:
    whole(attribute.name, value, 0)


def an_event(_: Any, attribute: Any, value: Event) -> None:
    """Check, as a validator of attrs, that a value is an event."""
    if not isinstance(value, Event):
        raise InvalidType(attribute.name, value, "an event, such as Gaussian(noise_multiplier=1)")


def _in_order(events: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(events)


def _events(_: Any, attribute: Any, value: tuple[Event, ...]) -> None:
    for event in value:
        an_event(_, attribute, event)


@final
@frozen
class NoOp(Event):
    """An event that releases nothing."""

    name = "NoOpDpEvent"

    def pair(self, relation: Change) -> Pair:
        """Return a pair of two equal laws."""
        return NOTHING

    @property
    def releases(self) -> int:
        """How many results the event describes: none."""
        return 0


@final
@frozen
class NonPrivate(Event):
    """Something is released that may tell for certain whether a record is there: δ = 1 at every ε."""

    name = "NonPrivateDpEvent"

    def pair(self, relation: Change) -> Pair:
        """Return a pair of two laws without a common output."""
        return EVERYTHING


@final
@frozen(field_transformer=naming_rationals)
class Gaussian(Event):
    """A sum of vectors with normal noise.

    Attributes:
        noise_multiplier: standard deviation over the bound on a record's ℓ2 norm; at least 0.
    """

    name = "GaussianDpEvent"

    noise_multiplier: Fraction = field(converter=rational, validator=non_negative, metadata={"content": DOWNWARDS})

    def pair(self, relation: Change) -> Pair:
        """N(moved, σ²) and N(0, σ²); without noise it is not private."""
        if not self.noise_multiplier:
            return EVERYTHING
        return GaussianPair(Enclosure.of(MOVED[relation]) / self.noise_multiplier)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the pair: clipping, and noise as declared."""
        return Assumption("normal noise over the ℓ2 bound of a record", str(self.noise_multiplier)), REAL_VALUED_NOISE


@final
@frozen(field_transformer=naming_rationals)
class Laplace(Event):
    """A sum of vectors with Laplace noise in each coordinate.

    Attributes:
        noise_multiplier: scale over the bound on a record's ℓ1 norm; at least 0.
    """

    name = "LaplaceDpEvent"

    noise_multiplier: Fraction = field(converter=rational, validator=non_negative, metadata={"content": DOWNWARDS})

    def pair(self, relation: Change) -> Pair:
        """Laplace laws about two points; without noise it is not private."""
        if not self.noise_multiplier:
            return EVERYTHING
        return LaplacePair(Enclosure.of(MOVED[relation]) / self.noise_multiplier)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the pair: clipping, and noise as declared."""
        return Assumption("Laplace noise over the ℓ1 bound of a record", str(self.noise_multiplier)), REAL_VALUED_NOISE


@final
@frozen(field_transformer=naming_rationals)
class DiscreteLaplace(Event):
    """A sum of integer vectors with discrete Laplace noise, P(x) ∝ e^{−a|x|}, in each coordinate.

    Attributes:
        noise_parameter: a, at least 0; at 0 dp_accounting reads infinite noise as none, and so it is read here.
        sensitivity: the bound on a record's ℓ1 norm; a whole number ≥ 0.
    """

    name = "DiscreteLaplaceDpEvent"

    noise_parameter: Fraction = field(converter=rational, validator=non_negative, metadata={"content": UPWARDS})
    sensitivity: int = field(converter=python_int, validator=_counted, metadata={"content": COUNT})

    def pair(self, relation: Change) -> Pair:
        """Return the pair of discrete Laplace laws about two integers."""
        if not self.noise_parameter:
            return EVERYTHING
        return DiscreteLaplacePair(Enclosure.of(self.noise_parameter), Enclosure.of(MOVED[relation] * self.sensitivity))

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the pair: clipping, and noise as declared."""
        return (Assumption("discrete Laplace noise", f"{self.noise_parameter} at ℓ1 bound {self.sensitivity}"),)


@final
@frozen(field_transformer=naming_rationals)
class RandomisedResponse(Event):
    """A record's category of k, or with probability p one chosen uniformly.

    Attributes:
        noise_parameter: p, in [0, 1].
        num_buckets: k, at least 1.
    """

    name = "RandomizedResponseDpEvent"

    noise_parameter: Fraction = field(converter=rational, validator=within_one, metadata={"content": DOWNWARDS})
    num_buckets: int = field(converter=python_int, validator=_counted, metadata={"content": COUNT})

    def __attrs_post_init__(self) -> None:
        whole("num_buckets", self.num_buckets, 1)

    def pair(self, relation: Change) -> Pair:
        """The laws of an answer about two categories: that one, the other one, any of the rest.

        Raises:
            InvalidValue: under add/remove: a record that is absent gives no answer.
        """
        if relation != REPLACE:
            raise InvalidValue("relation", relation.name, "REPLACE, for randomised response: each record answers")
        if self.num_buckets == 1:
            return NOTHING
        chance = self.noise_parameter / self.num_buckets
        rest = (self.num_buckets - 2) * chance
        kept = 1 - rest - chance
        return FinitePair((kept, chance, rest), (chance, kept, rest))


@final
@frozen(field_transformer=naming_rationals)
class ZeroConcentrated(Event):
    """Some mechanism with τ(α) ≤ ξ + ρα at every order α > 1.

    Attributes:
        rho: ρ; at least 0.
        xi: ξ; at least 0.
    """

    name = "ZCDpEvent"

    rho: Fraction = field(converter=rational, validator=non_negative, metadata={"content": UPWARDS})
    xi: Fraction = field(default=Fraction(0), converter=rational, validator=non_negative, metadata={"content": UPWARDS})

    def pair(self, relation: Change) -> Pair:
        """A curve; the statement is taken to be about the relation asked for."""
        if not self.xi:
            return ZeroConcentratedCurve(Enclosure.of(self.rho))
        return RenyiCurve(lambda order: Enclosure.of(self.xi + self.rho * order))

    def reached(self, relation: Change) -> Pair | None:
        """Return None: nothing is known to have the whole curve."""
        return None

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumption of the pair: the statement about Rényi divergences."""
        return (Assumption("Rényi divergences at most ξ + ρα, under the relation asked for", f"{self.xi}, {self.rho}"),)


@final
@frozen
class SelfComposed(Event):
    """An event that is the same event several times.

    Attributes:
        event: what is repeated.
        count: how often; at least 0.
    """

    name = "SelfComposedDpEvent"

    event: Event = field(validator=an_event, metadata={"content": CHILD})
    count: int = field(converter=python_int, validator=_counted, metadata={"content": COUNT})

    def pair(self, relation: Change) -> Pair:
        """Return the pair of independent repetitions of the event."""
        return _repeated(self.event.pair(relation), self.count)

    def reached(self, relation: Change) -> Pair | None:
        """Return the repetitions of what the event is known to reach."""
        once = self.event.reached(relation)
        return None if once is None else _repeated(once, self.count)

    @property
    def inner(self) -> tuple[Event, ...]:
        """The event that is repeated."""
        return (self.event,)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the event that is repeated."""
        return self.event.assumptions

    @property
    def releases(self) -> int:
        """How many results the repetitions describe together."""
        return self.event.releases * self.count


@final
@frozen
class Composed(Event):
    """An event that consists of several events.

    Attributes:
        events: in the order of their releases.
    """

    name = "ComposedDpEvent"

    events: tuple[Event, ...] = field(converter=_in_order, validator=_events, metadata={"content": CHILDREN})

    def pair(self, relation: Change) -> Pair:
        """Independent releases; one worst record is worst for all, for it contributes as much as it may to each."""
        return composed(event.pair(relation) for event in self.events)

    def reached(self, relation: Change) -> Pair | None:
        """Return what all events are known to reach together; those of which nothing is known count as nothing."""
        known = [pair for event in self.events if (pair := event.reached(relation)) is not None]
        return composed(known) if known or not self.events else None

    @property
    def inner(self) -> tuple[Event, ...]:
        """The events in order."""
        return self.events

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of all events, each stated once."""
        return _together(event.assumptions for event in self.events)

    @property
    def releases(self) -> int:
        """How many results the events describe together."""
        return sum(event.releases for event in self.events)


@final
@frozen(field_transformer=naming_rationals)
class PoissonSampled(Event):
    """An event on a sample that each record enters with a probability, independently; one sample per event.

    Attributes:
        sampling_probability: in [0, 1].
        event: what is done with the sample; all releases of a composition see the same sample.
    """

    name = "PoissonSampledDpEvent"

    sampling_probability: Fraction = field(converter=rational, validator=within_one, metadata={"content": UPWARDS})
    event: Event = field(validator=an_event, metadata={"content": CHILD})

    def __attrs_post_init__(self) -> None:
        if self.event.is_of_counted_records and 0 < self.sampling_probability < 1:
            admissible = "an event of however many records, for a Poisson sample: what it costs hangs on their number"
            raise InvalidValue("event", self.event.name, admissible)

    def pair(self, relation: Change) -> Pair:
        """The amplified pair; under replace, of sums with noise, the one that dominates both orientations.

        Raises:
            InvalidValue: but under add/remove, for other events on the sample than sums with noise: where a record that
                is there in both data sets is not drawn, what they say of it is not enough.
        """
        if not self.sampling_probability:
            return NOTHING
        if relation != ADD_REMOVE and self.sampling_probability < 1 and not adds_noise(self.event):
            admissible = "ADD_REMOVE, for a sample of which other results than sums with noise are released"
            raise InvalidValue("relation", relation.name, admissible)
        if relation == REPLACE and self.sampling_probability < 1:
            found = self._replaced()
            assert found is not None  # the pair of a record that is added is known to be that of a sum with noise
            return found
        return self.event.pair(relation).sampled(Enclosure.of(self.sampling_probability))

    def reached(self, relation: Change) -> Pair | None:
        """Return the amplified pair of what the event is known to reach; replaced, of Gaussian sums alone."""
        if relation == REPLACE and 0 < self.sampling_probability < 1:
            # opposite records reach the pair of normal noise; through a μ alone it is a bound
            return self._replaced() if isinstance(self.event.pair(ADD_REMOVE), GaussianPair) else None
        base = self.event.reached(relation)
        if base is None:
            return None
        return NOTHING if not self.sampling_probability else base.sampled(Enclosure.of(self.sampling_probability))

    def _replaced(self) -> Pair | None:
        """The pair of one record replaced by another, from that of one that is added; None where none follows."""
        if not adds_noise(self.event):
            return None
        return changed(self.event.pair(ADD_REMOVE), Enclosure.of(self.sampling_probability), replaced=True)

    @property
    def inner(self) -> tuple[Event, ...]:
        """The event on the sample."""
        return (self.event,)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Sampling as declared, and what the event assumes."""
        sampling = Assumption("each record enters independently with probability", str(self.sampling_probability))
        return sampling, *self.event.assumptions

    @property
    def releases(self) -> int:
        """How many results the event on the sample describes."""
        return self.event.releases


def adds_noise(event: Event) -> bool:
    """Whether an event is about sums with noise alone, in which a record that is absent adds nothing."""
    match event:
        case Gaussian() | Laplace():
            return True
        case Composed():
            return all(map(adds_noise, event.events))
        case SelfComposed():
            return adds_noise(event.event)
    return False


def composed(pairs: Iterable[Pair]) -> Pair:
    """The pair of independent releases; of none, two equal laws."""
    several = [pair for pair in pairs if pair != NOTHING]
    if EVERYTHING in several:
        return EVERYTHING
    return compose_pairs(several) if several else NOTHING


def _repeated(once: Pair, count: int) -> Pair:
    """The pair of so many independent releases."""
    if not count or once == NOTHING:
        return NOTHING
    return once if once == EVERYTHING else once.repeated(count)


def _together(assumptions: Iterable[tuple[Assumption, ...]]) -> tuple[Assumption, ...]:
    return tuple(dict.fromkeys(one for some in assumptions for one in some))


RELEASES_AND_COMPOSITIONS: tuple[type[Event], ...] = (
    NoOp,
    NonPrivate,
    Gaussian,
    Laplace,
    DiscreteLaplace,
    RandomisedResponse,
    ZeroConcentrated,
    SelfComposed,
    Composed,
    PoissonSampled,
)
"""Releases with noise, and how others are put together."""
