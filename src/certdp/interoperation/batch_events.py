"""Events of dp_accounting about batches that are no Poisson samples, and about one tree of sums."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from ..accounting.derivation import NUMBER_OF_RECORDS, Assumption
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidValue
from ..accounting.exact import naming_rationals, python_int, rational
from ..accounting.pairs import GaussianPair, Pair
from ..accounting.relations import ADD_REMOVE, ZERO_OUT, Change
from ..accounting.sampling.batches import Batches, FixedBatches, TruncatedPoisson
from .event_fields import CHILD, COUNT, COUNT_OR_COUNTS, DOWNWARDS, UPWARDS
from .events import EVERYTHING, NOTHING, Event, Gaussian, adds_noise, an_event, non_negative, within_one

_NO_NOISE = (NOTHING, EVERYTHING)


def _of_a_batch(batches: Batches, base: Pair, relation: Change) -> Pair:
    """The pair of a release of sums on a batch.

    Raises:
        InvalidValue: under a relation for which none is known.
    """
    if relation not in batches.relations:
        known = " or ".join(one.name for one in batches.relations)
        raise InvalidValue("relation", relation.name, f"{known}, for these batches", "n itself does not change in them")
    if base in _NO_NOISE:
        return base  # at most this much: the record need not be drawn
    found = batches.pair(base, relation)
    assert found is not None  # sums with noise, of which the pair of two records is known
    return found


def _reached_on_a_batch(batches: Batches, base: Pair, relation: Change) -> Pair | None:
    """What opposite records, or one among others that add nothing, reach; of Gaussian noise alone."""
    return batches.reached(base, relation) if isinstance(base, GaussianPair) else None


@final
@frozen
class SampledWithoutReplacement(Event):
    """An event on a batch of a fixed size, every such batch of the data equally likely; one batch per event.

    Attributes:
        source_dataset_size: n, at least 1.
        sample_size: B, from 0 to n.
        event: sums with noise; all releases of a composition see the same batch.
    """

    name = "SampledWithoutReplacementDpEvent"

    source_dataset_size: int = field(converter=python_int, metadata={"content": COUNT})
    sample_size: int = field(converter=python_int, metadata={"content": COUNT})
    event: Event = field(validator=an_event, metadata={"content": CHILD})

    def __attrs_post_init__(self) -> None:
        if whole("sample_size", self.sample_size, 0) > whole("source_dataset_size", self.source_dataset_size, 1):
            admissible = f"at most source_dataset_size = {self.source_dataset_size}"
            raise InvalidValue("sample_size", self.sample_size, admissible)
        if not adds_noise(self.event):
            remedy = "What others say of one record is not enough"
            raise InvalidValue("event", self.event.name, "Gaussian and Laplace noise, and compositions of it", remedy)

    @property
    def _batches(self) -> FixedBatches:
        chance = Fraction(self.sample_size, self.source_dataset_size)
        return FixedBatches(chance=chance, data_size=self.source_dataset_size)

    def pair(self, relation: Change) -> Pair:
        """The symmetric pair of one place of a batch (`docs/soundness_batches.md`).

        Raises:
            InvalidValue: under add/remove: the number of records does not change.
        """
        if not self.sample_size:
            return NOTHING
        return _of_a_batch(self._batches, self.event.pair(ADD_REMOVE), relation)

    def reached(self, relation: Change) -> Pair | None:
        """Return what is reached with Gaussian noise; None with other noise."""
        if not self.sample_size:
            return NOTHING
        return _reached_on_a_batch(self._batches, self.event.pair(ADD_REMOVE), relation)

    @property
    def is_of_counted_records(self) -> bool:
        """Return True: what a batch costs hangs on how many records there are."""
        return True

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """How batches are drawn, and what the event assumes."""
        stated = f"{self.sample_size} of {self.source_dataset_size}"
        batches = Assumption("batches without replacement, all equally likely", stated)
        records = Assumption(NUMBER_OF_RECORDS, str(self.source_dataset_size))
        return batches, records, *self.event.assumptions

    @property
    def releases(self) -> int:
        """How many results the event on the batch describes."""
        return self.event.releases


@final
@frozen(field_transformer=naming_rationals)
class TruncatedSubsampledGaussian(Event):
    """A sum with normal noise on a Poisson sample, of which at most B records are kept, every B equally likely.

    Attributes:
        dataset_size: n, at least 1; under add/remove one record may be missing.
        sampling_probability: q, in [0, 1], in binary64 exactly.
        truncated_batch_size: B, from 1 to n.
        noise_multiplier: standard deviation over the bound on a record's ℓ2 norm; at least 0.
    """

    name = "TruncatedSubsampledGaussianDpEvent"

    dataset_size: int = field(converter=python_int, metadata={"content": COUNT})
    sampling_probability: Fraction = field(converter=rational, validator=within_one, metadata={"content": UPWARDS})
    truncated_batch_size: int = field(converter=python_int, metadata={"content": COUNT})
    noise_multiplier: Fraction = field(converter=rational, validator=non_negative, metadata={"content": DOWNWARDS})

    def __attrs_post_init__(self) -> None:
        if whole("truncated_batch_size", self.truncated_batch_size, 1) > whole("dataset_size", self.dataset_size, 1):
            admissible = f"at most dataset_size = {self.dataset_size}"
            raise InvalidValue("truncated_batch_size", self.truncated_batch_size, admissible)
        if self.sampling_probability:
            try:
                _ = self._batches
            except InvalidValue as error:
                raise InvalidValue("sampling_probability", error.value, error.admissible, error.remedy) from None

    @property
    def _batches(self) -> TruncatedPoisson:
        return TruncatedPoisson(self.sampling_probability, self.truncated_batch_size, self.dataset_size)

    @property
    def _noise(self) -> Gaussian:
        return Gaussian(self.noise_multiplier)

    def pair(self, relation: Change) -> Pair:
        """The pair of a truncated batch (`docs/soundness_batches.md`)."""
        if not self.sampling_probability:
            return NOTHING
        return _of_a_batch(self._batches, self._noise.pair(ADD_REMOVE), relation)

    def reached(self, relation: Change) -> Pair | None:
        """Return the pair of a record among others that add nothing."""
        if not self.sampling_probability:
            return NOTHING
        return _reached_on_a_batch(self._batches, self._noise.pair(ADD_REMOVE), relation)

    @property
    def is_of_counted_records(self) -> bool:
        """Return True: what a batch costs hangs on how many records there are."""
        return True

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The number of records, how batches are drawn, clipping, and noise as declared."""
        size = f"at most {self.truncated_batch_size} of {self.dataset_size}, drawn at {self.sampling_probability}"
        cut = Assumption("Poisson samples that are cut to a size at random", size)
        counted = self._batches.assumptions if self.sampling_probability else ()
        return *counted, cut, *self._noise.assumptions


def _counts(value: Any) -> Any:
    return tuple(map(python_int, value)) if isinstance(value, list | tuple) else python_int(value)


@final
@frozen(field_transformer=naming_rationals)
class SingleEpochTreeAggregation(Event):
    """Sums over whole stretches of 1, 2, 4, … steps with normal noise, in trees that hold each record once at most.

    Attributes:
        noise_multiplier: standard deviation of each sum over the bound on a record's ℓ2 norm; at least 0.
        step_counts: of each tree, or of the only one; at least 0.
    """

    name = "SingleEpochTreeAggregationDpEvent"

    noise_multiplier: Fraction = field(converter=rational, validator=non_negative, metadata={"content": DOWNWARDS})
    step_counts: int | tuple[int, ...] = field(converter=_counts, metadata={"content": COUNT_OR_COUNTS})

    def __attrs_post_init__(self) -> None:
        if not self._steps:
            raise InvalidValue("step_counts", "[]", "a whole number ≥ 0, or several of them")
        for steps in self._steps:
            whole("step_counts", steps, 0)

    @property
    def _steps(self) -> tuple[int, ...]:
        return self.step_counts if isinstance(self.step_counts, tuple) else (self.step_counts,)

    @property
    def depth(self) -> int:
        """In how many sums a record is at most, d."""
        return max(self._steps).bit_length()

    def pair(self, relation: Change) -> Pair:
        """N(√d/σ, 1) and N(0, 1), d the most stretches that hold one step: the bits of the largest number of steps.

        The first step is in as many; a record adds the same to each of the sums.

        Raises:
            InvalidValue: but for a record that is zeroed out, in its place.
        """
        if relation != ZERO_OUT:
            admissible = "ZERO_OUT, for trees: it is stated for a record that leaves the others in their places"
            raise InvalidValue("relation", relation.name, admissible)
        if not self.depth:
            return NOTHING
        if not self.noise_multiplier:
            return EVERYTHING
        return GaussianPair(Enclosure.of(self.depth).power(Fraction(1, 2)) / self.noise_multiplier)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """Trees as declared, clipping, and noise."""
        trees = Assumption("trees in which each record occurs once at most, of so many steps", str(self.step_counts))
        return trees, *Gaussian(self.noise_multiplier).assumptions

    @property
    def releases(self) -> int:
        """How many steps there are."""
        return sum(self._steps)


EVENTS_OF_BATCHES: tuple[type[Event], ...] = (
    SampledWithoutReplacement,
    TruncatedSubsampledGaussian,
    SingleEpochTreeAggregation,
)
"""Batches that are no Poisson samples, and trees."""
