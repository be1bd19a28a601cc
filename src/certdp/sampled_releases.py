"""Releases of a mechanism on samples of the data: what they cost in each notion, by a plan fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar, final

from attrs import field, frozen
from numpy.typing import ArrayLike

from .accounting.accountants import (
    BEST,
    Accountant,
    Bounds,
    Finding,
    Law,
    WorstPairs,
    gaussian,
    pure,
    renyi_at,
    zero_concentrated,
)
from .accounting.clipping import Outside, confine
from .accounting.derivation import Assumption, Derivation, Theorem
from .accounting.directions import Direction
from .accounting.domains import NormBall
from .accounting.enclosures import Enclosure
from .accounting.errors import InvalidType, InvalidValue
from .accounting.expressions import Symbol, variables
from .accounting.guarantees import Guarantee, compose, require
from .accounting.norms import Norm
from .accounting.notions import (
    GAUSSIAN_DP,
    PURE,
    RENYI,
    ZERO_CONCENTRATED,
    Approximate,
    Bound,
    GaussianDP,
    Notion,
    Pure,
    Renyi,
    ZeroConcentrated,
)
from .accounting.pairs import Pair, RandomisedResponsePair
from .accounting.records import Features, realise
from .accounting.relations import ADD_REMOVE, RECORD, REPLACE, AddRemove, Record, Replace
from .accounting.releases import Releases, ResampleEach
from .accounting.sampling import ALWAYS, SamplingRate
from .accounting.units import Delta, Epsilon, Order
from .accounting.worst_cases import Case, WorstCases, worst_cases
from .plugins.contract import Coins, Mechanism, Release, Sampler, draw_from, payments, stated
from .sampled import declared_loss, declared_rate, matrix_within

B = TypeVar("B", bound=Bound)

_DOMINATION = Theorem("law", "pairs that dominate every record of the domain")


class NotionAbsent(InvalidValue):
    """A notion in which no bound follows from what the mechanism declares."""


@final
@frozen
class Interval:
    """Proven bounds of a number, in binary64 rounded outward.

    Attributes:
        lower: None where only an upper bound is proven.
        upper: at least the number.
    """

    lower: float | None
    upper: float

    @classmethod
    def of(cls, bounds: Bounds) -> Interval:
        """The ends of proven bounds of a number ≥ 0."""
        value = bounds.enclosure
        return cls(max(0.0, value.lower_float) if bounds.two_sided else None, value.upper_float)


@final
@frozen
class Answer:
    """What a run of releases costs as (ε, δ).

    Attributes:
        guarantee: the proven statement.
        epsilon: bounds of the smallest ε for the δ asked for, or the ε asked for.
        delta: bounds of the smallest δ for the ε asked for, or the δ asked for.
        composed_in: the notion in which the releases were composed.
        order: the Rényi order used, or None.
        asked: the δ or ε that was asked about, exactly.
    """

    guarantee: Guarantee[Approximate, AddRemove | Replace, Record]
    epsilon: Interval
    delta: Interval
    composed_in: Notion[Any]
    order: Fraction | None
    asked: Delta | Epsilon

    @property
    def statement(self) -> str:
        """The guarantee in words; what was asked about as it was stated."""
        epsilon, delta = _stated(self.epsilon.upper, self.asked), _stated(self.delta.upper, self.asked)
        return f"({epsilon}, {delta})-DP" if self.delta.upper else f"{epsilon}-DP"

    def __str__(self) -> str:
        order = "" if self.order is None else f" at order {float(self.order):.6g}"
        return f"{self.statement}, composed in the {self.composed_in} notion{order}"


def _stated(upper: float, asked: Delta | Epsilon) -> str:
    """A proven end, or the exact number asked about where that is the one it was rounded from and is short."""
    nearest = repr(float(asked.value))
    near = Enclosure.of(asked.value).upper_float == upper
    return nearest if near and Fraction(nearest) == asked.value else repr(upper)


@final
@frozen(kw_only=True)
class SampledReleases:
    """Releases of a mechanism on Poisson importance samples of the data.

    Args:
        mechanism: what is released.
        sampler: which records enter, and with what weight.
        releases: how many releases there are, on one sample or each on a fresh one; fixed before the data are seen.
        domain: the public domain of the records; None where no norm of a record matters.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for all records of the domain, for the probabilities really drawn and the weights really
        applied, under add/remove; under replace where the mechanism covers that alone and every record is drawn. What
        released parameters cost is contained.

    Raises:
        InvalidValue: for plugins without a common relation, a mechanism that needs a constant rate on a sampler that
            has none, heuristic evidence, and where a norm matters and there is no domain.
    """

    mechanism: Mechanism
    sampler: Sampler
    releases: Releases = field(factory=lambda: ResampleEach(1))
    domain: NormBall | None = None
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.releases, Releases):
            raise InvalidType("releases", self.releases, "SampleOnce(steps) or ResampleEach(steps)")
        _ = self.relation
        if getattr(self.mechanism, "needs_constant_rate", False) and variables(self._rate.probability):
            raise InvalidValue(
                "sampler",
                self.sampler.about.name,
                "a sampler with a constant rate",
                f"The loss of {self.mechanism.about.name} is stated as one number: state its scale instead",
            )
        _ = self._derivation, self.pairs

    @staticmethod
    def norm_of(mechanism: Mechanism, sampler: Sampler) -> Norm:
        """The norm of the run's public domain: the mechanism's, else the sampler's, else ℓ1."""
        for roots in (declared_loss(mechanism).features, (declared_rate(sampler).probability,)):
            norms = sorted(v.index for root in roots for v in variables(root) if v.symbol is Symbol.NORM)
            if norms:
                return Norm.of(norms[0])
        return Norm.L1

    @cached_property
    def relation(self) -> AddRemove | Replace:
        """The change of the data that the guarantees protect against."""
        for role, plugin in (("mechanism", self.mechanism), ("sampler", self.sampler)):
            if plugin.about.unit != RECORD:
                raise InvalidValue(role, plugin.about.name, "a plugin whose unit is a record")
        common = set(self.mechanism.about.relations) & set(self.sampler.about.relations)
        if ADD_REMOVE in common:
            return ADD_REMOVE
        if REPLACE in common and self._rate == ALWAYS:
            return REPLACE
        raise InvalidValue(
            "sampler",
            self.sampler.about.name,
            f"a sampler under which {self.mechanism.about.name} covers a neighbouring relation",
            "Sampling amplifies under add/remove; for a mechanism that covers replace alone use the sampler full",
        )

    @cached_property
    def worst_cases(self) -> WorstCases:
        """The pairs about every record, before sampling and composition."""
        return worst_cases(declared_loss(self.mechanism), self._rate, self.domain, precision=self.precision)

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run."""

        def run(cases: Iterable[Case]) -> tuple[Pair, ...]:
            return tuple(self.releases.pair(case.pair, case.rate) for case in cases)

        return WorstPairs(run(self.worst_cases.bounding), run(self.worst_cases.reached))

    # What the run costs

    def pure(self) -> Guarantee[Pure, AddRemove | Replace, Record]:
        """The pure ε.

        Raises:
            NotionAbsent: for a mechanism without one.
        """
        return self._guarantee(Pure(self._worst(pure, "pure ε") + self._cost), PURE)

    def renyi(self, order: Order) -> Guarantee[Renyi, AddRemove | Replace, Record]:
        """τ at an order.

        Raises:
            NotionAbsent: for a mechanism without one.
        """
        require("order", order, Order, "Write Order(…) to read a number exactly")
        spent = RandomisedResponsePair(self._cost).renyi(order.value, Direction.REMOVE)
        return self._guarantee(Renyi(order.value, self._worst(renyi_at(order.value), "Rényi bound") + spent), RENYI)

    def zero_concentrated(self) -> Guarantee[ZeroConcentrated, AddRemove | Replace, Record]:
        """ρ.

        Raises:
            NotionAbsent: for a mechanism without one.
        """
        spent = RandomisedResponsePair(self._cost).zero_concentrated
        rho = self._worst(zero_concentrated, "zero-concentrated bound") + spent
        return self._guarantee(ZeroConcentrated(rho), ZERO_CONCENTRATED)

    def gaussian(self) -> Guarantee[GaussianDP, AddRemove | Replace, Record]:
        """μ.

        Raises:
            NotionAbsent: for a mechanism without one.
        """
        spent = GaussianDP(RandomisedResponsePair(self._cost).gaussian)
        bound = GAUSSIAN_DP.compose([GaussianDP(self._worst(gaussian, "Gaussian bound")), spent])
        return self._guarantee(bound, GAUSSIAN_DP)

    def epsilon(self, delta: Delta, *, accountant: Accountant = BEST) -> Answer:
        """The smallest proven ε with which the whole run is (ε, δ)-DP.

        Where every pair has a law δ(ε), the true ε is enclosed from both sides. Otherwise the best of the pure, the
        Gaussian and the Rényi bound is stated; the Rényi order is searched continuously and proven once.

        Raises:
            NotionAbsent: where nothing finite follows, such as at δ = 0 for a mechanism without a pure ε.
        """
        require("delta", delta, Delta, "Write Delta(…) to read a number exactly")
        target = Enclosure.of(delta.value, precision=self.precision)
        found = accountant.epsilon(self.pairs, target)
        if found is None:
            raise NotionAbsent(
                "delta",
                str(delta),
                "a δ at which a finite ε follows",
                f"Mechanism {self.mechanism.about.name} declares nothing from which one does: state a δ above 0",
            )
        total = Bounds(found.bounds.enclosure + self._cost, found.bounds.two_sided and not self._cost.upper)
        return self._answer(total, Bounds(target, two_sided=True), found, delta)

    def delta(self, epsilon: Epsilon, *, accountant: Accountant = BEST) -> Answer:
        """The smallest proven δ with which the whole run is (ε, δ)-DP; by the same ways as `epsilon`.

        Raises:
            NotionAbsent: where nothing follows.
            InvalidValue: for an ε below what released parameters have cost.
        """
        require("epsilon", epsilon, Epsilon, "Write Epsilon(…) to read a number exactly")
        target = Enclosure.of(epsilon.value, precision=self.precision)
        left = target - self._cost
        if left.lower < 0:
            raise InvalidValue(
                "epsilon", float(epsilon.value), f"at least {self._cost.upper_float!r}, the cost of released parameters"
            )
        found = accountant.delta(self.pairs, left)
        if found is None:
            raise NotionAbsent(
                "epsilon",
                str(epsilon),
                "an ε at which a δ below 1 follows",
                f"Mechanism {self.mechanism.about.name} declares nothing from which one does: state a larger ε",
            )
        value = Bounds(found.bounds.enclosure.maximum(0).minimum(1), found.bounds.two_sided and not self._cost.upper)
        return self._answer(Bounds(target, two_sided=True), value, found, epsilon)

    # Running it

    def release(
        self, records: ArrayLike, outside: Outside = Outside.CLIP, *, coins: Coins | None = None
    ) -> list[Release]:
        """Draw and release, as planned.

        Args:
            records: matrix (n, d) of finite numbers.
            outside: what happens to records outside the domain.
            coins: the operating system's unless given; releases with seeded coins are not private.

        Returns:
            One release per step.
        """
        matrix = matrix_within(records, self.domain)
        if self.domain is not None:
            matrix, _ = confine(matrix, self.domain, outside)
        used = coins or Coins()
        features = Features(matrix)
        realisation = realise(self._rate, features)
        samples = self.releases.samples(lambda: draw_from(features, realisation, used))
        return [self.mechanism.release(sample, used) for sample in samples]

    # Shared steps

    @property
    def _rate(self) -> SamplingRate:
        return declared_rate(self.sampler)

    @cached_property
    def _cost(self) -> Enclosure:
        """Pure ε spent on releasing parameters."""
        spent = self._costs
        return Enclosure.of(0, precision=self.precision) if not spent else compose(*spent).bound.epsilon

    @property
    def _costs(self) -> list[Guarantee[Pure, Any, Any]]:
        paid = [*payments(self.mechanism, self.sampler), *(() if self.domain is None else self.domain.payments)]
        spent = [payment.cost for payment in dict.fromkeys(paid)]
        for cost in spent:
            if (cost.relation, cost.unit, cost.bound.notion) != (self.relation, RECORD, PURE):
                raise InvalidValue(
                    "cost",
                    f"{cost.bound.notion} DP, {cost.relation!r}, {cost.unit!r}",
                    f"pure DP, {self.relation!r}, {RECORD!r}",
                )
        return spent

    @cached_property
    def _derivation(self) -> Derivation:
        premises = [
            self.mechanism.about.declaration("mechanism", stated(self.mechanism)),
            self.sampler.about.declaration("sampler", stated(self.sampler)),
            *(cost.derivation for cost in self._costs),
        ]
        eta = self._rate.rounding
        assumptions = [Assumption("relative rounding of probability and weight", str(eta))] if eta else []
        domain = () if self.domain is None else self.domain.assumptions
        return self.releases.theorem.conclude([_DOMINATION.conclude(premises, [*domain, *assumptions])])

    def _worst(self, law: Law, name: str) -> Enclosure:
        found = self.pairs.worst(law)
        if found is None:
            raise NotionAbsent(
                "mechanism",
                self.mechanism.about.name,
                f"a mechanism that has a {name}",
                "Ask for another notion, or for ε at a δ",
            )
        return found.enclosure.maximum(0)

    def _guarantee(self, bound: B, notion: Notion[B]) -> Guarantee[B, AddRemove | Replace, Record]:
        return self._stated(bound, notion.composition_theorem.conclude([self._derivation]))

    def _stated(self, bound: B, derivation: Derivation) -> Guarantee[B, AddRemove | Replace, Record]:
        return Guarantee(bound=bound, relation=self.relation, unit=RECORD, derivation=derivation)

    def _answer(self, epsilon: Bounds, delta: Bounds, found: Finding, asked: Delta | Epsilon) -> Answer:
        first, *then = found.theorems
        order = [] if found.order is None else [Assumption("order", str(found.order))]
        derivation = first.conclude([self._derivation], order)
        for theorem in then:
            derivation = theorem.conclude([derivation])
        return Answer(
            guarantee=self._stated(Approximate(epsilon.enclosure, delta.enclosure), derivation),
            epsilon=Interval.of(epsilon),
            delta=Interval.of(delta),
            composed_in=found.notion,
            order=found.order,
            asked=asked,
        )
