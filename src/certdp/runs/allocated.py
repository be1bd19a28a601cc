"""Epochs of batches, of which each record enters one: what they cost, and how they are drawn and released."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import EX_POST, Derivation, Theorem
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.exact import python_int
from ..accounting.pairs import MOST_BATCHES, Pair, allocated
from ..accounting.relations import ADD_REMOVE, RECORD, AddRemove, Record
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.every_value import released_within
from ..plugins.contract import AllocatingSampler, Coins, Mechanism, Release, WeightedSample, released_parameters
from ..samplers.full import Full
from .declared import premises_of
from .prepared import Prepared
from .run import RunPart
from .sampled import SampledRun

_DOMINATION = Theorem("law", "pairs that dominate every record of the domain")


@final
@known_keywords
@frozen(kw_only=True, repr=False)
class AllocatedRun(RunPart[Record]):
    """Epochs of releases: each record enters one batch of an epoch, and the mechanism releases once on each batch.

    >>> from certdp import AllocatedRun, GaussianSum, Public, RandomAllocation
    >>> run = AllocatedRun(
    ...     mechanism=GaussianSum(noise_multiplier=Public(1)), sampler=RandomAllocation(batches=Public(100))
    ... )
    >>> print(f"{run.epsilon('1e-6').epsilon.upper:.3f}")
    0.858

    Args:
        mechanism: what is released on each batch.
        sampler: how many batches an epoch has, of which each record enters one, drawn uniformly.
        epochs: how many epochs there are, each with batches drawn afresh; fixed before the data are seen.
        domain: the public domain of the records, as for a `SampledRun`.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for all records of the domain, under add/remove, whatever else is in the batches, and where a
        release is chosen by earlier ones among mechanisms with the same pair (`docs/soundness_allocation.md`).

    Raises:
        InvalidValue: for a mechanism without add/remove, heuristic evidence, released batches, and as `SampledRun`.
        InvalidType: for a sampler that allocates no batches.
    """

    unit = RECORD

    mechanism: Mechanism
    sampler: AllocatingSampler
    epochs: int = field(default=1, converter=python_int)
    domain: NormBall | None = None
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        whole("epochs", self.epochs, 1)
        if not isinstance(self.sampler, AllocatingSampler):
            raise InvalidType("sampler", self.sampler, "a sampler of the batches of an epoch, such as RandomAllocation")
        if released := released_parameters("sampler", self.sampler):
            raise InvalidValue("sampler", ", ".join(released), "public parameters", "Declare them before the data")
        whole("batches", self.batches, 1)
        if self.batches > MOST_BATCHES:
            raise InvalidValue("batches", self.batches, f"a whole number from 1 to {MOST_BATCHES}")
        _ = self.relation, self.derivation, self.one

    @property
    def batches(self) -> int:
        """How many batches an epoch has."""
        return self.sampler.epoch_batches

    @cached_property
    def one(self) -> SampledRun[Record]:
        """One release on everything."""
        return SampledRun(mechanism=self.mechanism, sampler=Full(), domain=self.domain, precision=self.precision)

    @cached_property
    def relation(self) -> AddRemove:  # type: ignore[override]
        """Add/remove: allocation amplifies under that."""
        for role, plugin in (("mechanism", self.mechanism), ("sampler", self.sampler)):
            plugin.about.require(role, RECORD, ADD_REMOVE)
        return ADD_REMOVE

    @property
    def steps(self) -> int:
        """How many releases there are: one on each batch."""
        return self.epochs * self.batches

    @property
    def on_one_sample(self) -> bool:
        """Whether all of them see the same sample: no."""
        return False

    @property
    def described(self) -> tuple[str, str, str]:
        """Mechanism and sampler with their options, every digit of them, and how often is released."""
        mechanism, sampler, _ = super().described
        epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs:,} epochs"
        return mechanism, sampler, f"{epochs} of {self.batches:,} releases, each record in one of them"

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run."""
        cases = self.one.worst_cases

        def run(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
            return tuple(self._whole(pair) for pair in pairs)

        return WorstPairs(run(case.pair for case in cases.bounding), run(case.pair for case in cases.reached))

    def pair_of_one(self, size: Fraction) -> Pair | None:
        """The pair of all releases about the record of this size on an axis, where it is known."""
        found = self.one.pair_of_one(size)
        return None if found is None else self._whole(found)

    def _whole(self, one: Pair) -> Pair:
        return allocated(one, self.batches).repeated(self.epochs)

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        domain = () if self.domain is None else self.domain.assumptions
        released = [released_within(name, value) for name, value in self.open_parameters.items()]
        paid = [cost.derivation for cost in self._costs]
        premises = premises_of(self.mechanism, self.sampler)
        dominated = _DOMINATION.conclude([*premises, *paid], [*domain, *released])
        epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs} epochs"
        way = f"random allocation, each record in one of {self.batches} batches, {epochs}"
        found = Theorem("law", way).conclude([dominated])
        return EX_POST.conclude([found]) if self._is_ex_post else found

    def release(
        self, records: ArrayLike, outside: Outside = Outside.CLIP, *, coins: Coins | None = None
    ) -> list[list[Release]]:
        """Draw the batches of each epoch and release on all of them, the empty ones included.

        Args:
            records: matrix (n, d) of finite numbers.
            outside: what happens to records outside the domain.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Returns:
            For each epoch, one release per batch.

        Raises:
            InvalidType, InvalidValue: before anything is drawn, for records, options and coins that are none, and where
                the mechanism does not release from some sample of these records.
        """
        return self.prepared(records, outside, coins=coins).draw()

    def prepared(
        self, records: ArrayLike, outside: Outside = Outside.CLIP, *, coins: Coins | None = None
    ) -> PreparedEpochs:
        """The releases, looked at whole and not drawn yet; arguments and errors as of `release`."""
        ready = self.one.prepared(records, outside, coins=coins)
        return PreparedEpochs(ready=ready, batches=self.batches, epochs=self.epochs)


@final
@frozen(kw_only=True, eq=False, repr=False)
class PreparedEpochs:
    """Epochs that only their draws are left of. Private: it holds the records.

    Attributes:
        ready: one release on everything.
        batches: how many an epoch has.
        epochs: how many there are.
    """

    ready: Prepared
    batches: int
    epochs: int

    def draw(self) -> list[list[Release]]:
        """Draw the batches of each epoch, and one release on each: call it once, after paying."""
        ready = self.ready
        rows, weights = ready.features.records, ready.realisation.weight
        released = []
        for _ in range(self.epochs):
            batch = np.array(ready.coins.integers(self.batches, len(rows)), dtype=np.int64)
            order = np.argsort(batch, kind="stable")  # records of a batch stay in the order of the data
            ends = np.searchsorted(batch[order], np.arange(1, self.batches))
            epoch = [WeightedSample(rows[chosen], weights[chosen]) for chosen in np.split(order, ends)]
            released.append([ready.mechanism.release(sample, ready.coins) for sample in epoch])
        return released
