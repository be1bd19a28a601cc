"""Releases of a mechanism on samples of the data: what they cost in each notion, by a plan fixed beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

from attrs import field, frozen
from numpy.typing import ArrayLike

from .accounted import Answer, Interval, NotionAbsent, U
from .accounting.accountants import WorstPairs
from .accounting.clipping import Outside
from .accounting.common_record import case_on_axis
from .accounting.derivation import Assumption, Derivation, Theorem
from .accounting.domains import NormBall
from .accounting.errors import InvalidType, InvalidValue
from .accounting.expressions import Symbol, variables
from .accounting.norms import Norm
from .accounting.pairs import Pair
from .accounting.provenance import Payment
from .accounting.records import realise
from .accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, AddRemove, Replace
from .accounting.releases import Releases, ResampleEach, SampleOnce
from .accounting.sampling import ALWAYS, SamplingRate
from .accounting.worst_cases import Case, WorstCases, worst_cases
from .plan_parts import PlanPart
from .plugins.contract import Coins, Mechanism, Release, Sampler, payments, stated
from .prepared import Prepared, prepared
from .sampled import declared_loss, declared_rate

if TYPE_CHECKING:
    from .run_certificates import Certified

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
        _ = self.derivation, self.pairs

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
        from .run_certificates import certified

        return certified(self, answer)

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
        about = [*domain, *_UNITS[self.unit], *assumptions]
        return self.releases.theorem.conclude([_DOMINATION.conclude(premises, about)])

    @property
    def payments(self) -> tuple[Payment, ...]:
        """What its released parameters cost, each release once."""
        of_domain = () if self.domain is None else self.domain.payments
        return tuple(dict.fromkeys([*payments(self.mechanism, self.sampler), *of_domain]))

    @property
    def named(self) -> tuple[str, str]:
        """The mechanism."""
        return "mechanism", self.mechanism.about.name
