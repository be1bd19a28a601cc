"""Epochs of batches, of which each record enters one or k: what they cost, and how they are drawn and released."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import final

from attrs import field, frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import EX_POST, Derivation, Theorem
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.exact import python_int
from ..accounting.pairs import Pair
from ..accounting.private import HoldsRecords
from ..accounting.relations import ADD_REMOVE, RECORD, Change, Record
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.epochs import Epoch
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
    """Epochs of releases: each record enters a batch of an epoch, or k, and the mechanism releases once on each batch.

    >>> from certdp import AllocatedRun, GaussianSum, Public, RandomAllocation
    >>> run = AllocatedRun(
    ...     mechanism=GaussianSum(noise_multiplier=Public(1)), sampler=RandomAllocation(batches=Public(100))
    ... )
    >>> print(f"{run.epsilon('1e-6').epsilon.upper:.3f}")
    0.858

    Args:
        mechanism: what is released on each batch.
        sampler: how the batches of an epoch are drawn, of which each record enters one, or as many as it says.
        epochs: how many epochs there are, each with batches drawn afresh; fixed before the data are seen.
        domain: the public domain of the records, as for a `SampledRun`.
        relation: the change of the data to protect against, of those that the sampler covers: the first unless given.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for all records of the domain, whatever else is in the batches, and where a release is chosen
        by earlier ones among mechanisms with the same pair (`docs/soundness_allocation.md`,
        `docs/soundness_shuffled_batches.md`).

    Raises:
        InvalidValue: for a mechanism without add/remove, a change that the sampler does not cover, heuristic evidence,
            released batches, and as `SampledRun`.
        InvalidType: for a sampler that allocates no batches.
    """

    unit = RECORD

    mechanism: Mechanism
    sampler: AllocatingSampler
    epochs: int = field(default=1, converter=python_int)
    domain: NormBall | None = None
    relation: Change = None  # type: ignore[assignment]  # it is set below
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        whole("epochs", self.epochs, 1)
        if not isinstance(self.sampler, AllocatingSampler):
            raise InvalidType("sampler", self.sampler, "a sampler of the batches of an epoch, such as RandomAllocation")
        if released := released_parameters("sampler", self.sampler):
            raise InvalidValue("sampler", ", ".join(released), "public parameters", "Declare them before the data")
        known = self.sampler.epoch.relations
        if self.relation is None:
            object.__setattr__(self, "relation", known[0])
        if self.relation not in known:
            admissible = " or ".join(relation.name for relation in known)
            raise InvalidValue("relation", self.relation.name, f"{admissible}, with sampler {self.sampler.about.name}")
        self.sampler.about.require("sampler", RECORD, self.relation)
        self.mechanism.about.require("mechanism", RECORD, ADD_REMOVE)
        _ = self.derivation, self.one

    @property
    def batches(self) -> int:
        """How many batches an epoch has."""
        return self.sampler.epoch.number_of_batches

    @cached_property
    def one(self) -> SampledRun[Record]:
        """One release on everything."""
        return SampledRun(mechanism=self.mechanism, sampler=Full(), domain=self.domain, precision=self.precision)

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
        entered = self.sampler.epoch.number_of_participations
        count = "one" if entered == 1 else f"{entered:,}"
        return mechanism, sampler, f"{epochs} of {self.batches:,} releases, each record in {count} of them"

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run."""
        cases = self.one.worst_cases
        bounding = [self._whole(case.pair) for case in cases.bounding]
        reached = [pair for case in cases.reached for pair in self._reached(case.pair)]
        return WorstPairs(tuple(bounding), tuple(pair.repeated(self.epochs) for pair in reached))

    def pair_of_one(self, size: Fraction) -> Pair | None:
        """The pair of all releases about the record of this size on an axis, where it is known."""
        found, epoch = self.one.pair_of_one(size), self.sampler.epoch
        if found is None or epoch.pair(found, self.relation) not in self._reached(found):
            return None
        return self._whole(found)

    def _reached(self, one: Pair) -> tuple[Pair, ...]:
        epoch = self.sampler.epoch
        known = self.one.sums_gaussians or epoch.reached_by_any(self.relation)
        return epoch.reached(one, self.relation) if known else ()

    def _whole(self, one: Pair) -> Pair:
        found = self.sampler.epoch.pair(one, self.relation)
        if found is None:
            raise InvalidValue(
                "relation",
                self.relation.name,
                f"a mechanism with a pure loss, or with one in Gaussian DP, in place of {self.mechanism.about.name}",
                "For others the pair of one record does not say what this change costs: use a sum with Gaussian noise",
            )
        return found.repeated(self.epochs)

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        domain = () if self.domain is None else self.domain.assumptions
        released = [released_within(name, value) for name, value in self.open_parameters.items()]
        paid = [cost.derivation for cost in self._costs]
        premises, epoch = premises_of(self.mechanism, self.sampler), self.sampler.epoch
        dominated = _DOMINATION.conclude([*premises, *paid], [*domain, *released, *epoch.assumptions])
        epochs = "1 epoch" if self.epochs == 1 else f"{self.epochs} epochs"
        way = f"{epoch.way}, {epochs}"
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
        ready, scheme = self.one.prepared(records, outside, coins=coins), self.sampler.epoch
        scheme.require_size(len(ready.features))
        return PreparedEpochs(ready=ready, scheme=scheme, epochs=self.epochs)


@final
@frozen(kw_only=True, eq=False, repr=False)
class PreparedEpochs(HoldsRecords):
    """Epochs that only their draws are left of.

    Attributes:
        ready: one release on everything.
        scheme: how the batches of an epoch are drawn.
        epochs: how many there are.
    """

    ready: Prepared
    scheme: Epoch
    epochs: int

    def draw(self) -> list[list[Release]]:
        """Draw the batches of each epoch, and one release on each: call it once, after paying."""
        ready = self.ready
        rows, weights = ready.features.records, ready.realisation.weight
        released = []
        for _ in range(self.epochs):
            batches = self.scheme.members(len(rows), ready.coins)
            epoch = [WeightedSample(rows[chosen], weights[chosen]) for chosen in batches]
            released.append([ready.mechanism.release(sample, ready.coins) for sample in epoch])
        return released
