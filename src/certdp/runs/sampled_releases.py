"""Releases of a mechanism on samples of the data: what they cost in each notion, by a plan fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, final

from attrs import evolve, field, frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import WorstPairs
from ..accounting.derivation import EX_POST, Assumption, Derivation, Theorem
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.expressions import ONE, Symbol, Variable, W, substitute, variables
from ..accounting.norms import Norm
from ..accounting.pairs import Pair
from ..accounting.provenance import Payment, Released
from ..accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, AddRemove, Replace
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.common_record import case_on_axis
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.every_value import ExPost, is_open, moves, released_within
from ..accounting.sampling.rate import ALWAYS, SamplingRate
from ..accounting.sampling.records import realise
from ..accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from ..accounting.sampling.worst_cases import Case, WorstCases, worst_cases
from ..plugins.contract import (
    Coins,
    Mechanism,
    Release,
    Sampler,
    as_they_came_out,
    open_parameters,
    payments,
    released_parameters,
    stated,
    stated_ends,
    with_values,
)
from .plan_parts import PlanPart
from .prepared import Prepared, prepared
from .run import Answer, Interval, NotionAbsent, U, refuse_chosen
from .sampled import declared_loss, declared_rate, loss_for_every_value, rate_for_every_value
from .worst_ends import worst_ends

if TYPE_CHECKING:
    from .certificates import Certified

__all__ = ["Answer", "Interval", "NotionAbsent", "SampledReleases"]

_DOMINATION = Theorem("law", "pairs that dominate every record of the domain")

_RECORDS_ARE_ELEMENTS = Assumption("each record of the matrix is one element", "one occurrence of a key")
_UNITS = {RECORD: (), ELEMENT: (_RECORDS_ARE_ELEMENTS,)}
"""The units that a record of a matrix may stand for, and what that assumes."""


@final
@frozen(kw_only=True)
class SampledReleases(PlanPart[U]):
    """Releases of a mechanism on Poisson importance samples of the data.

    Args:
        mechanism: what is released.
        sampler: which records enter, and with what weight.
        releases: how many releases there are, on one sample or each on a fresh one; fixed before the data are seen.
        domain: the public domain of the records; None where no norm of a record matters.
        unit: RECORD; or ELEMENT, which says that each record of the matrix is one occurrence of a key, so that the
            run composes with releases of keyed data.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for all records of the domain, for the probabilities really drawn and the weights really
        applied, under add/remove; under replace where the mechanism covers that alone and every record is drawn. What
        released parameters cost is contained.

    Raises:
        InvalidValue: for plugins without a common relation, another unit, a mechanism that needs a constant rate on a
            sampler that has none, heuristic evidence, and where a norm matters and there is no domain.
    """

    mechanism: Mechanism
    sampler: Sampler
    releases: Releases = field(factory=lambda: ResampleEach(1))
    domain: NormBall | None = None
    unit: U = RECORD  # type: ignore[assignment]  # which is the default of U
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.releases, Releases):
            raise InvalidType("releases", self.releases, "SampleOnce(steps) or ResampleEach(steps)")
        if self.unit not in _UNITS:
            raise InvalidValue("unit", self.unit, "RECORD or ELEMENT", "A record of a matrix is one of these")
        _ = self.relation
        if getattr(self.mechanism, "needs_constant_rate", False) and variables(self._rate.probability):
            raise InvalidValue(
                "sampler",
                self.sampler.about.name,
                "a sampler with a constant rate",
                f"The loss of {self.mechanism.about.name} is stated as one number: state its scale instead",
            )
        _ = self.derivation, self.as_it_came_out.pairs  # what cannot be composed is refused here

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
        if REPLACE in common and self._rate == ALWAYS and not open_parameters("sampler", self.sampler):
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
        if self._open:
            refuse_chosen("parameters", self.payments)
        loss, rate = loss_for_every_value(self.mechanism), rate_for_every_value(self.sampler)
        domain = None if self.domain is None else self.domain.for_every_value
        found = worst_cases(loss, rate, domain, precision=self.precision)
        return WorstCases(found.bounding, ()) if self._open else found  # which value comes out is not the data's choice

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run."""

        def run(cases: Iterable[Case]) -> tuple[Pair, ...]:
            return tuple(self.releases.pair(case.pair, case.rate) for case in cases)

        return WorstPairs(run(self.worst_cases.bounding), run(self.worst_cases.reached))

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
        return self.prepared(records, outside, coins=coins).draw()

    def prepared(self, records: ArrayLike, outside: Outside = Outside.CLIP, *, coins: Coins | None = None) -> Prepared:
        """The releases, looked at whole and not drawn yet; arguments as for `release`.

        Raises:
            InvalidType, InvalidValue: for whatever `release` would refuse.
        """
        rate = self._rate
        return prepared(
            self.mechanism, lambda held: realise(rate, held), self.releases, records, self.domain, outside, coins
        )

    def certificate(self, answer: Answer[U]) -> Certified:
        """A publishable certificate of an answer's (ε, δ), accepted by the independent checker.

        The checker proves them anew by a method of its own: the ε or δ certified may be above the answer's.

        Raises:
            InvalidValue: for a loss, a unit or a cost that no certificate states, and where the checker has no method
                that proves it.
        """
        from .certificates import certified

        return certified(self, answer)

    # At released values

    def require_losses_fixed(self) -> None:
        """Refuse losses per record that move with a released value.

        Raises:
            ExPost: for such a run, and records held within a ball whose radius was released.
        """
        if not self._open:
            return
        roots = (*loss_for_every_value(self.mechanism).features, rate_for_every_value(self.sampler).probability)
        occurring = frozenset[Variable]().union(*map(variables, roots))
        of_norms = any(v.symbol is Symbol.NORM for v in occurring)
        held = self.domain is not None and of_norms and any(map(moves, self.domain.released.values()))
        if held or any(v.symbol is Symbol.PLACE for v in occurring):
            raise ExPost.about(", ".join(self._open))

    @property
    def released_values(self) -> Mapping[str, str]:
        """The released parameters and the values that they came out as."""
        return {name: str(value.value) for name, value in self._released.items()}

    @property
    def as_it_came_out(self) -> Self:
        """The run at its released values, as filters and ex-post readings take it; itself where it has none."""
        return self._at_released_values

    @cached_property
    def _at_released_values(self) -> Self:
        if not self._open:
            return self
        return evolve(
            self,
            mechanism=as_they_came_out("mechanism", self.mechanism),
            sampler=as_they_came_out("sampler", self.sampler),
            domain=None if self.domain is None else self.domain.as_it_came_out,
        )

    @cached_property
    def _released(self) -> dict[str, Released[Any]]:
        """The released parameters by name, the domain's radius among them."""
        domain = {} if self.domain is None else self.domain.released
        of_plugins = (("mechanism", self.mechanism), ("sampler", self.sampler))
        return {n: v for part in of_plugins for n, v in released_parameters(*part).items()} | domain

    @cached_property
    def _open(self) -> dict[str, Released[Any]]:
        """Those for every value of which a guarantee has to hold."""
        return {name: value for name, value in self._released.items() if is_open(value)}

    @cached_property
    def at_worst_ends(self) -> Self:
        """The run as if released parameters had come out as the ends of their ranges that cost most.

        Raises:
            ExPost: where what it costs moves with a released value that has no range.
            InvalidValue: where neither end costs most.
        """
        if not self._open:
            return self
        loss, rate = loss_for_every_value(self.mechanism), rate_for_every_value(self.sampler)
        weight = 1 / rate.probability if rate.weighted else ONE
        roots = [substitute(root, {W: weight}) for root in loss.parameters]
        ends = worst_ends([*roots, rate.probability], self._open)
        ends |= stated_ends("mechanism", self.mechanism) | stated_ends("sampler", self.sampler)
        return evolve(
            self,
            mechanism=with_values("mechanism", self.mechanism, ends),
            sampler=with_values("sampler", self.sampler, ends),
            domain=None if self.domain is None else self.domain.at_its_largest,
        )

    @property
    def ranges_assumed(self) -> tuple[Assumption, ...]:
        """What guarantees for every value of released parameters of the plugins say of them."""
        own = self._open.keys() - (set() if self.domain is None else self.domain.released.keys())
        return tuple(released_within(name, self._open[name]) for name in sorted(own))

    # As part of a plan

    @property
    def plugins(self) -> tuple[Mechanism, Sampler]:
        """Mechanism and sampler."""
        return self.mechanism, self.sampler

    @property
    def sampled_parts(self) -> tuple[SampledReleases[U]]:
        """Itself."""
        return (self,)

    @property
    def steps(self) -> int:
        """How many releases there are."""
        return self.releases.steps

    @property
    def on_one_sample(self) -> bool:
        """Whether all of them see the same sample."""
        return isinstance(self.releases, SampleOnce)

    def pair_of_one(self, size: Fraction) -> Pair | None:
        """The pair of all releases about the record of this size on an axis, where it is known."""
        if self._open:
            return None
        case = case_on_axis(declared_loss(self.mechanism), self._rate, size, precision=self.precision)
        return None if case is None else self.releases.pair(case.pair, case.rate)

    # Shared steps

    @property
    def _rate(self) -> SamplingRate:
        return declared_rate(self.sampler)

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        premises = [
            self.mechanism.about.declaration("mechanism", stated(self.mechanism)),
            self.sampler.about.declaration("sampler", stated(self.sampler)),
            *(cost.derivation for cost in self._costs),
        ]
        eta = self._rate.rounding
        assumptions = [Assumption("relative rounding of probability and weight", str(eta))] if eta else []
        domain = () if self.domain is None else self.domain.assumptions
        released = [released_within(name, value) for name, value in self._open.items()]
        about = [*domain, *_UNITS[self.unit], *assumptions, *released]
        found = self.releases.theorem.conclude([_DOMINATION.conclude(premises, about)])
        return EX_POST.conclude([found]) if len(self._open) < len(self._released) else found

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What its released parameters cost, each release once."""
        of_domain = () if self.domain is None else self.domain.payments
        return tuple(dict.fromkeys([*payments(self.mechanism, self.sampler), *of_domain]))

    @property
    def named(self) -> tuple[str, str]:
        """The mechanism."""
        return "mechanism", self.mechanism.about.name
