"""A run of one mechanism on samples of the data: what it costs in each notion, and what it loses about a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, Self, final

from attrs import evolve, frozen
from numpy.typing import ArrayLike

from ..accounting.accountants import BASIC, BEST, Accountant, Bounds, Finding, WorstPairs
from ..accounting.accountants.worst_pairs import pure
from ..accounting.conversions import PURE_TO_APPROXIMATE
from ..accounting.derivation import EX_POST, Assumption, Derivation, Theorem
from ..accounting.enclosures import Enclosure
from ..accounting.errors import CertdpError, InvalidType, InvalidValue, known_keywords
from ..accounting.expressions import ONE, Expression, Symbol, W, range_of, substitute, variables
from ..accounting.feasible_weights.plans import on_one_sample, samples
from ..accounting.feasible_weights.rates import ONE_RELEASE, ConstrainedRate, PureConstrainedRate, planned
from ..accounting.guarantees import Guarantee
from ..accounting.norms import Norm
from ..accounting.notions import APPROXIMATE, PURE, Approximate, Bound, Notion, Pure
from ..accounting.pairs import Pair
from ..accounting.relations import (
    ADD_REMOVE,
    ELEMENT,
    RECORD,
    REPLACE,
    AddRemove,
    Change,
    Record,
    Unit,
    User,
    contributions_of,
)
from ..accounting.sampling.batches import Batches, BatchRate
from ..accounting.sampling.clipping import Outside
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.drawing import Rate, StatedRate
from ..accounting.sampling.every_value import ExPost, moves, released_within
from ..accounting.sampling.losses import GaussianLoss, Loss, PureLoss
from ..accounting.sampling.profiles import PureProfile, for_every_value, plus_payments, within
from ..accounting.sampling.rate import ALWAYS
from ..accounting.sampling.releases import Releases, SampleOnce, Seen
from ..accounting.sampling.worst_cases import Case, WorstCases, case_on_axis, worst_cases
from ..accounting.units import Delta, Epsilon
from ..plugins.contract import (
    AnySampler,
    Coins,
    Mechanism,
    Release,
    open_parameters,
    payments,
    stated_ends,
    with_values,
)
from .declared import (
    declared_loss,
    declared_rate,
    drawing_of,
    loss_for_every_value,
    premises_of,
    pure_loss_of,
    rate_for_every_value,
)
from .prepared import Prepared, prepared
from .run import Answer, Comparison, Interval, NotionAbsent, RunPart, U, refuse_chosen
from .worst_ends import worst_ends

_DOMINATION = Theorem("law", "pairs that dominate every record of the domain")
_ON_DOMAIN = Theorem("law", "supremum over a public domain")

_RECORDS_ARE_ELEMENTS = Assumption("each record of the matrix is one element", "one occurrence of a key")
_LARGEST_USER = 64

_AS_MANY = Theorem("law", "records of one user: comonotone density ratios, by Poisson sampling of each")
_REPLACED = Theorem("law", "replaced records: countermonotone density ratios, in both orientations")


_BATCHES = Theorem("law", "batches drawn as a whole: one place that a record takes from another one")

_OTHER_RUNS = {
    "epoch": "Batches of an epoch are accounted for by an AllocatedRun",
    "strata": "Public strata are accounted for by a StratifiedRun",
}
"""By what a sampler declares in place of a rate: which run takes it."""


def _assumed_of(unit: Unit) -> tuple[Assumption, ...] | None:
    """What a unit assumes of the records of a matrix; None for one that is not known."""
    match unit:
        case User(contributions) if contributions <= _LARGEST_USER:
            return (Assumption("most records of one user", str(contributions)),)
    return {RECORD: (), ELEMENT: (_RECORDS_ARE_ELEMENTS,)}.get(unit)


@final
@known_keywords
@frozen(kw_only=True, repr=False)
class SampledRun(RunPart[U]):
    """Releases of a mechanism on Poisson importance samples of the data.

    Args:
        mechanism: what is released.
        sampler: which records enter, and with what weight: a sampler that states its rate, or one that solves for the
            largest weights within a target for the whole run.
        releases: how many releases there are, on one sample or each on a fresh one; fixed before the data are seen.
        domain: the public domain of the records. Without one, what is lost about each record is still proven, and no
            ε for all records is, unless no norm of a record matters.
        unit: RECORD; ELEMENT, which says that each record of the matrix is one occurrence of a key, so that the
            run composes with releases of keyed data; or User(contributions=k), k ≤ 64, which says that at most k
            records of the matrix are one user's: `certdp.sampling.first_of_each_user` tells which to keep.
        relation: the change of the data to protect against: ADD_REMOVE, REPLACE or ZERO_OUT. Unless given, add/remove,
            or replace for a mechanism that covers that alone. A noise multiplier stays relative to the most that one
            record adds, under replace, too, where two records may differ by twice as much.
        precision: working precision of proofs, in bits.

    Guarantees:
        Every bound holds for all records of the domain, for the probabilities really drawn and the weights really
        applied. What released parameters cost is contained. Where several proofs are known, the tighter one is stated.
        Under replace one pair dominates both orientations (`docs/soundness_replace.md`).

    Raises:
        InvalidValue: for plugins without a common relation, another unit, a mechanism that needs a constant rate on a
            sampler that has none, heuristic evidence, a domain that bounds not all norms that matter, or some record of
            which exceeds the sampler's target. Where the loss grows without bound on the domain, questions about all
            records raise NoFiniteSupremum.
    """

    mechanism: Mechanism
    sampler: AnySampler
    releases: Releases = ONE_RELEASE
    domain: NormBall | None = None
    unit: U = RECORD  # type: ignore[assignment]  # which is the default of U
    relation: Change = None  # type: ignore[assignment]  # it is set below
    precision: int = 128

    def __attrs_post_init__(self) -> None:
        for role, plugin, wanted in (
            ("mechanism", self.mechanism, ("loss",)),
            ("sampler", self.sampler, ("rate", "rate_for")),
        ):
            about = getattr(type(plugin), "about", None)
            if about is not None and about.unit != RECORD:
                remedy = "Of keyed data release by a KeyedRun" if about.unit == ELEMENT else ""
                raise InvalidValue(role, about.name, "a plugin whose unit is a record", remedy)
            if about is None or not any(hasattr(type(plugin), name) for name in wanted):
                remedy = f"Build it from its options: {plugin.__name__}(…)" if isinstance(plugin, type) else ""
                remedy = next((said for name, said in _OTHER_RUNS.items() if hasattr(type(plugin), name)), remedy)
                raise InvalidType(role, plugin, f"a {role}: a class with `about` and `{wanted[0]}`", remedy)
        if not isinstance(self.releases, Releases):
            remedy = "Say whether each is on a fresh sample, ResampleEach, or all are on one, SampleOnce"
            raise InvalidType("releases", self.releases, "SampleOnce(steps) or ResampleEach(steps)", remedy)
        if self.domain is not None and not isinstance(self.domain, NormBall):
            raise InvalidType("domain", self.domain, "a NormBall, or None")
        if _assumed_of(self.unit) is None:
            admissible = f"RECORD, ELEMENT, or User(contributions=k) with k ≤ {_LARGEST_USER}"
            raise InvalidValue("unit", self.unit, admissible, "A record of a matrix is, or belongs to, one of these")
        _ = self.loss, self.drawing  # what is no loss or no rate is refused here
        if self.relation is None:
            object.__setattr__(self, "relation", self.own_relation)
        self._check_relation()
        if getattr(self.mechanism, "needs_constant_rate", False) and any(map(variables, self.drawing.features)):
            raise InvalidValue(
                "sampler",
                self.sampler.about.name,
                "a sampler with a constant rate",
                f"The loss of {self.mechanism.about.name} is stated as one number: state its scale instead",
            )
        _ = self.derivation
        if self.domain is not None:  # refused now: a norm that the domain does not bound
            self.domain.as_it_came_out.box({v for root in self.features for v in variables(root)})

    # What it is made of

    @property
    def loss(self) -> Loss:
        """What the mechanism declares that a record costs in one release."""
        return declared_loss(self.mechanism)

    @cached_property
    def drawing(self) -> Rate:
        """How the records of this run are drawn, held within its domain."""
        rate = drawing_of(self.mechanism, self.sampler)
        match rate:
            case ConstrainedRate():
                rate = rate.over(self.releases)
        return rate.on(self.domain)

    @property
    def features(self) -> tuple[Expression, ...]:
        """The expressions whose norms decide what is lost about a record."""
        loss = self.loss
        pure = () if loss.pure is None else loss.pure.features
        return tuple(dict.fromkeys([*loss.features, *pure, *self.drawing.features]))

    @property
    def norms(self) -> tuple[Norm, ...]:
        """The norms of a record on which its loss depends: the mechanism's, then the sampler's."""
        orders = (sorted(v.index for v in variables(root) if v.symbol is Symbol.NORM) for root in self.features)
        return tuple(map(Norm.of, dict.fromkeys(chain.from_iterable(orders))))

    @property
    def norm(self) -> Norm:
        """The norm that a domain of the run is best stated in: the mechanism's, else the sampler's, else ℓ1."""
        return next(iter(self.norms), Norm.L1)

    def on(self, domain: NormBall | None) -> Self:
        """Return the same run with its records held within another public domain."""
        return evolve(self, domain=domain)

    @property
    def own_relation(self) -> Change:
        """The relation that the pairs which the mechanism declares are about, under this sampler."""
        common = set(self.mechanism.about.relations) & set(self.sampler.about.relations)
        if self._batches is not None and self._batches.base_relation in self.mechanism.about.relations:
            return self._batches.relations[0]
        if ADD_REMOVE in common:
            return ADD_REMOVE
        if REPLACE in common and self.drawing == StatedRate(ALWAYS) and not open_parameters("sampler", self.sampler):
            return REPLACE
        raise InvalidValue(
            "sampler",
            self.sampler.about.name,
            f"a sampler under which {self.mechanism.about.name} covers a neighbouring relation",
            "Sampling amplifies under add/remove; for a mechanism that covers replace alone use the sampler full",
        )

    @cached_property
    def derived(self) -> bool:
        """Whether its pairs follow from those that the mechanism declares by a theorem about several records."""
        return (
            self._batches is not None or self._size > 1 or (self.relation == REPLACE and self.own_relation != REPLACE)
        )

    @property
    def _batches(self) -> Batches | None:
        """The scheme that draws records together; None where each is drawn by itself."""
        match self.drawing:
            case BatchRate(batches):
                return batches
        return None

    @property
    def _size(self) -> int:
        """How many records the unit of privacy has at most."""
        return contributions_of(self.unit) or 1

    def _check_relation(self) -> None:
        """Refuse a change of the data that no theorem covers for these plugins."""
        if not isinstance(self.relation, Change):
            raise InvalidType("relation", self.relation, "ADD_REMOVE, REPLACE or ZERO_OUT, or None")
        own = self.own_relation
        if self._batches is not None:
            self._check_batches(self._batches)
            return
        if self.relation == own and self._size == 1:
            return
        sampler, mechanism = self.sampler.about, self.mechanism.about
        parameter, value = ("relation", self.relation.name) if self.relation != own else ("unit", self.unit)
        if own != ADD_REMOVE or self.relation not in sampler.relations:
            raise InvalidValue(
                parameter,
                value,
                f"{own.name} per record, which {mechanism.name} covers on samples by {sampler.name}",
                "Other changes follow for mechanisms that cover add-remove, on samplers that cover the change",
            )
        if not isinstance(self.drawing, StatedRate) or any(payment.account is None for payment in self.payments):
            raise InvalidValue(
                parameter,
                value,
                f"{own.name} per record",
                "A sampler that solves for its weights, and released parameters, are accounted for under that alone",
            )

    def _check_batches(self, batches: Batches) -> None:
        """Refuse what no theorem covers for records that are drawn together."""
        name = self.sampler.about.name
        if self.relation not in batches.relations:
            known = " or ".join(relation.name for relation in batches.relations)
            remedy = "The number of records is public: nothing is stated about data sets with another one"
            raise InvalidValue("relation", self.relation.name, f"{known}, on batches by {name}", remedy)
        if self._size > 1:
            remedy = "No theorem is known for several records of a user in one batch: draw them by poisson"
            raise InvalidValue("unit", self.unit, f"RECORD or ELEMENT, on batches by {name}", remedy)
        if self.payments:
            remedy = "What a batch costs for every value of a released parameter is not known: declare it public"
            raise InvalidValue("mechanism", self.mechanism.about.name, "public parameters", remedy)

    def _changed(self, base: Pair, rate: Enclosure) -> Pair:
        """The pair of the release about the change that the run protects against.

        Raises:
            InvalidValue: where no theorem gives one.
        """
        if not self.derived:
            return base.sampled(rate)
        found = self.drawing.changed(base, rate, self.relation, self._size)
        if found is None:
            raise InvalidValue(
                "relation" if self._size == 1 else "unit",
                self.relation.name if self._size == 1 else self.unit,
                f"a mechanism with a pure loss, or with one in Gaussian DP, in place of {self.mechanism.about.name}",
                "For others the pair of one record does not say what this change costs: use a sum with Gaussian noise",
            )
        return found

    # What it costs

    @cached_property
    def worst_cases(self) -> WorstCases:
        """The pairs about every record, before sampling and composition.

        Raises:
            InvalidValue: for a sampler that solves for its weights, and where a norm matters and there is no domain.
        """
        if self.open_parameters:
            refuse_chosen("parameters", self.payments)
        loss = loss_for_every_value(self.mechanism)
        rate = ALWAYS if self._batches is not None else rate_for_every_value(self.sampler)
        domain = None if self.domain is None else self.domain.for_every_value
        found = worst_cases(loss, rate, domain, precision=self.precision, joined=self.derived)
        # which value comes out is not the data's choice
        known = not self.open_parameters and (not self.derived or self.sums_gaussians)
        return found if known else WorstCases(found.bounding, ())

    @property
    def sums_gaussians(self) -> bool:
        """Whether larger changes are reached by some records: opposite ones of a sum with Gaussian noise."""
        return getattr(self.mechanism, "sums_records", False) and isinstance(self.loss, GaussianLoss)

    @cached_property
    def pairs(self) -> WorstPairs:
        """The pairs of the whole run; of a target, the one that dominates every run within it."""
        match self.drawing:
            case ConstrainedRate():
                rate = self._solved_rate()
                self._require_domain()
                return WorstPairs((rate.dominating(precision=self.precision),), ())

        def run(cases: Iterable[Case], seen: Seen) -> tuple[Pair, ...]:
            return tuple(self.releases.pair(case.pair, case.rate, seen) for case in cases)

        bounding = run(self.worst_cases.bounding, self._changed)
        match self.drawing:
            case BatchRate(batches):

                def reached(base: Pair, _: Enclosure) -> Pair:
                    found = batches.reached(base, self.relation)
                    assert found is not None  # the cases reached are those of Gaussian sums
                    return found

                return WorstPairs(bounding, run(self.worst_cases.reached, reached))
        return WorstPairs(bounding, run(self.worst_cases.reached, self._changed))

    def pure(self) -> Guarantee[Pure, Change, U]:
        """The pure ε: by the pairs, or by the certified supremum of ψ where that is less.

        A rational number is known exactly where the sampler states that it draws every record, or where it is a target:
        n costs of 1/n add up to 1.

        Raises:
            NotionAbsent: where none follows.
        """
        found, number = self._pure(), self._rational_epsilon
        if number is None or not found.bound.epsilon.contains(number):
            return found
        return evolve(found, bound=Pure(Enclosure.of(number, precision=self.precision)))

    @cached_property
    def _rational_epsilon(self) -> Fraction | None:
        """A rational number that the pure ε does not exceed, by basic composition."""
        loss = self.loss.pure
        if self.payments or self.derived:
            return None
        match self.drawing:
            case PureConstrainedRate() as rate:
                return rate.target
            case StatedRate(rate) if rate == ALWAYS and loss is not None:
                root = substitute(loss.epsilon, {W: ONE})
                bound = range_of(root).upper if self.domain is None else self.domain.rational_bound(root)
                return None if bound is None else bound * self.steps
        return None

    def _pure(self) -> Guarantee[Pure, Change, U]:
        try:
            by_pairs = super().pure()
        except NotionAbsent:
            if self._by_profile is None:
                raise
            return self._by_profile
        least = self.pairs.worst(pure)
        if least is not None and least.two_sided and least.enclosure.lower == least.enclosure.upper:
            return by_pairs  # which some record reaches
        by_profile = self._by_profile
        if by_profile is None:
            return by_pairs
        mine, other = by_pairs.bound.epsilon, by_profile.bound.epsilon
        if other.upper < mine.upper:
            return by_profile
        if not mine.lower < other.lower <= mine.upper:
            return by_pairs
        return evolve(by_pairs, bound=Pure(Enclosure.between(other.lower, mine.upper, precision=self.precision)))

    def _epsilon_at(self, delta: Delta, accountant: Accountant) -> Answer[U]:
        try:
            answer = super()._epsilon_at(delta, accountant)
        except NotionAbsent:
            known = self._known_at(delta, accountant, None)
            if known is None:
                raise
            return known
        known = self._known_at(delta, accountant, answer.epsilon.upper)
        if known is None or answer.epsilon.upper <= known.epsilon.upper:
            return answer
        return evolve(known, epsilon=Interval(answer.epsilon.lower, known.epsilon.upper), compared=answer.compared)

    def _delta_at(self, epsilon: Epsilon, accountant: Accountant) -> Answer[U]:
        answer = super()._delta_at(epsilon, accountant)
        known = self._known_at(epsilon, accountant, float(epsilon.value))
        if known is None or answer.delta.upper <= known.delta.upper:
            return answer
        return evolve(known, delta=Interval(answer.delta.lower, known.delta.upper), compared=answer.compared)

    @property
    def target(self) -> Guarantee[Any, Change, U]:
        """The guarantee in the notion of the target that the sampler solves for, with what released parameters cost.

        Raises:
            ExPost: for a sampler with released parameters.
            InvalidValue: for a sampler that states its rate, without a domain, and for a parameter that an adaptive
                run chose.
        """
        bound = self.target_bound
        self._require_domain()
        return self._stated(bound, self.derivation)

    @property
    def target_bound(self) -> Bound:
        """The target of the sampler with what released parameters cost: a bound for every record that may be drawn.

        Raises:
            ExPost, InvalidValue: as `target`, but for the domain.
        """
        rate = self._solved_rate()
        loss = Enclosure.of(rate.target, precision=self.precision)
        return rate.stated(loss + rate.spent(self.released_cost) if self.released_cost.upper else loss)

    # What it loses about a record

    @cached_property
    def profile(self) -> PureProfile[AddRemove, Record]:
        """ψ as a public function of a record held within the domain, for every value of released parameters.

        Of several releases it is the loss of all of them; what released parameters cost is contained.

        Raises:
            ExPost: where it moves with a released value that has no range.
            NoPureValue: for a mechanism without a pure ε.
            InvalidValue: for a run about replaced records or about elements, and for a target at a δ or an order.
        """
        if self.relation != ADD_REMOVE or self.unit != RECORD:
            raise InvalidValue(
                "mechanism",
                self.mechanism.about.name,
                "a run about a record that is added or removed",
                "Theorem 6 needs it: ask for an ε of all records",
            )
        loss, rate, ranges = pure_loss_of(self.mechanism, self.loss), self.drawing, self._plugins_open
        if ranges:
            refuse_chosen("parameters", self.payments)
            match rate:
                case StatedRate():
                    loss = pure_loss_of(self.mechanism, loss_for_every_value(self.mechanism))
                    rate = StatedRate(rate_for_every_value(self.sampler))
                case ConstrainedRate() if not open_parameters("sampler", self.sampler):
                    pass  # the target, whatever is lost
                case _:
                    raise ExPost.about(", ".join(ranges))
        return self._for_every_value(loss, rate)

    @property
    def profile_at_its_values(self) -> PureProfile[AddRemove, Record]:
        """ψ at the values that released parameters have, stated for every other: who asks proves that these cost most.

        Raises:
            NoPureValue, InvalidValue: as `profile`.
        """
        return self._for_every_value(pure_loss_of(self.mechanism, self.loss), self.drawing)

    def _for_every_value(self, loss: PureLoss, rate: Rate) -> PureProfile[AddRemove, Record]:
        free = plus_payments(self._composed(loss, rate), payments(self.mechanism, self.sampler))
        ranges = [released_within(name, value) for name, value in self._plugins_open.items()]
        found = for_every_value(free, ranges)
        if self.domain is not None:
            found = within(found, self.domain)
        return evolve(found, derivation=EX_POST.conclude([found.derivation])) if self._is_ex_post else found

    def _composed(self, loss: PureLoss, rate: Rate) -> PureProfile[AddRemove, Record]:
        """ψ of all releases."""
        steps = self.releases.steps
        match rate:
            case StatedRate() if steps > 1:
                together, times = on_one_sample(self.releases), samples(self.releases)
                one = rate.profile(PureLoss(together * loss.epsilon) if together > 1 else loss, self._premises)
                derivation = self.releases.theorem.conclude([one.derivation], [planned(self.releases)])
                if times == 1:
                    return evolve(one, derivation=derivation)
                return evolve(
                    one,
                    remove=times * one.remove,
                    add=times * one.add,
                    derivation=PURE.composition_theorem.conclude([derivation]),
                )
        return rate.profile(loss, self._premises)

    def require_drawn_apart(self) -> None:
        """Refuse records that are drawn together: the chance of one says nothing of a release without the others.

        Raises:
            InvalidValue: for such a sampler.
        """
        if self._batches is not None:
            remedy = "A batch is drawn of all records in one place: release(records), and ask for an ε of all records"
            raise InvalidValue("sampler", self.sampler.about.name, "a sampler that draws each record by itself", remedy)

    def require_losses_fixed(self) -> None:
        """Refuse losses per record that move with a released value.

        Raises:
            ExPost: for such a run, and records held within a ball whose radius was released.
        """
        if not self.open_parameters:
            return
        roots = (*loss_for_every_value(self.mechanism).features, rate_for_every_value(self.sampler).probability)
        occurring = {v for root in roots for v in variables(root)}
        of_norms = any(v.symbol is Symbol.NORM for v in occurring)
        held = self.domain is not None and of_norms and any(map(moves, self.domain.released.values()))
        if held or any(v.symbol is Symbol.PLACE for v in occurring):
            raise ExPost.about(", ".join(self.open_parameters))

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
        found = prepared(self.mechanism, self.drawing.realise, self.releases, records, self.domain, outside, coins)
        if self._batches is not None:
            self._batches.require_size_for(self.relation, len(found.features))
        return found

    # At the ends of ranges

    def at_ends(self, ends: Mapping[str, Any]) -> Self:
        """The run as if these released parameters had come out as these ends of their ranges, and the radius at its
        largest.
        """
        if not self.open_parameters:
            return self
        every = {
            **stated_ends("mechanism", self.mechanism),
            **stated_ends("sampler", self.sampler),
            **ends,
        }
        return evolve(
            self,
            mechanism=with_values("mechanism", self.mechanism, every),
            sampler=with_values("sampler", self.sampler, every),
            domain=None if self.domain is None else self.domain.at_its_largest,
        )

    @cached_property
    def at_worst_ends(self) -> Self:
        """The run as if released parameters had come out as the ends of their ranges that cost most.

        Raises:
            ExPost: where what it costs moves with a released value that has no range.
            InvalidValue: where neither end costs most.
        """
        if not self.open_parameters:
            return self
        loss, rate = loss_for_every_value(self.mechanism), rate_for_every_value(self.sampler)
        weight = 1 / rate.probability if rate.weighted else ONE
        roots = [substitute(root, {W: weight}) for root in loss.parameters]
        return self.at_ends(worst_ends([*roots, rate.probability], self.open_parameters))

    @property
    def ranges_assumed(self) -> tuple[Assumption, ...]:
        """What guarantees for every value of released parameters of the plugins say of them."""
        found = self._plugins_open
        return tuple(released_within(name, found[name]) for name in sorted(found))

    # As part of a plan

    @property
    def sampled_parts(self) -> tuple[SampledRun[U]]:
        """The parts of a plan of this run alone."""
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
        match self.drawing:
            case StatedRate() if not self.open_parameters and (not self.derived or self.sums_gaussians):
                case = case_on_axis(self.loss, declared_rate(self.sampler), size, precision=self.precision)
                return None if case is None else self.releases.pair(case.pair, case.rate, self._changed)
        return None

    # Shared steps

    @property
    def _premises(self) -> list[Derivation]:
        return premises_of(self.mechanism, self.sampler)

    @cached_property
    def derivation(self) -> Derivation:
        """What the pairs rest on."""
        domain, unit = () if self.domain is None else self.domain.assumptions, _assumed_of(self.unit) or ()
        released = [released_within(name, value) for name, value in self.open_parameters.items()]
        paid = [cost.derivation for cost in self._costs]
        match self.drawing:
            case ConstrainedRate() as rate:
                found = rate.derivation(self._premises)
                if paid:
                    notion = rate.stated(Enclosure.of(rate.target)).notion
                    found = notion.composition_theorem.conclude([found, *paid])
                about = [*domain, *unit, *released]
                found = _ON_DOMAIN.conclude([found], about) if about else found
            case rate:
                eta = rate.rounding
                rounding = [Assumption("relative rounding of probability and weight", str(eta))] if eta else []
                about = [*domain, *unit, *rounding, *released]
                if self._batches is not None:
                    about.extend(self._batches.assumptions)
                dominated = _DOMINATION.conclude([*self._premises, *paid], about)
                if self._batches is not None:
                    return self.releases.theorem.conclude([_BATCHES.conclude([dominated])])
                if self._size > 1:
                    dominated = _AS_MANY.conclude([dominated])
                if self.derived and self.relation == REPLACE:
                    dominated = _REPLACED.conclude([dominated])
                found = self.releases.theorem.conclude([dominated])
        return EX_POST.conclude([found]) if self._is_ex_post else found

    @cached_property
    def _by_profile(self) -> Guarantee[Pure, Change, U] | None:
        """The pure ε by the certified supremum of ψ, where a rate is stated and there is one."""
        stated_rate = isinstance(self.drawing, StatedRate)
        about_records = self.relation == ADD_REMOVE and self.unit == RECORD
        if self.domain is None or self.loss.pure is None or not stated_rate or not about_records:
            return None
        try:
            found, _ = self.profile.supremum(self.domain, precision=self.precision)
        except CertdpError:  # the pairs alone answer, or say why nothing does
            return None
        return self._stated(found.bound, found.derivation)

    def _known_at(self, asked: Delta | Epsilon, accountant: Accountant, upper: float | None) -> Answer[U] | None:
        """What is known without pairs, as an answer: a pure ε, or the target at its own δ.

        Args:
            asked: δ or ε.
            accountant: basic accounting is what states it.
            upper: an ε above which the supremum of ψ need not be looked for; None where it may be any.
        """
        if accountant not in (BEST, BASIC):
            return None
        found = self._known_bound(upper)
        if found is None:
            return None
        bound, derivation, notion = found
        given = Enclosure.of(asked.value, precision=self.precision)
        match asked:
            case Delta() if bound.delta.upper <= given.upper:
                bound = Approximate(bound.epsilon, given)
            case Epsilon() if bound.epsilon.upper <= asked.value:
                bound = Approximate(given, bound.delta)
            case _:
                return None
        finding = Finding(Bounds(bound.epsilon, two_sided=False), notion, (derivation.theorem,), BASIC)
        return Answer(
            guarantee=self._stated(bound, derivation),
            epsilon=Interval.of(Bounds(bound.epsilon, two_sided=isinstance(asked, Epsilon))),
            delta=Interval.of(Bounds(bound.delta, two_sided=isinstance(asked, Delta))),
            accountant=BASIC,
            composed_in=notion,
            order=None,
            compared=Comparison(finding),
            asked=asked,
        )

    def _known_bound(self, upper: float | None) -> tuple[Approximate, Derivation, Notion[Any]] | None:
        match self.drawing:
            case ConstrainedRate() if self._spent.delta.upper:
                return None
            case ConstrainedRate():
                match self.target_bound:
                    case Approximate() as bound:
                        return bound, self.derivation, APPROXIMATE
                return None
        if self.loss.pure is None:
            return None
        least = self.pairs.worst(pure)
        if upper is not None and least is not None and least.two_sided and upper <= least.enclosure.lower:
            return None  # no proof has the supremum of ψ there
        by_profile = self._by_profile
        if by_profile is None:
            return None
        derivation = PURE_TO_APPROXIMATE.theorem.conclude([by_profile.derivation])
        return Approximate(by_profile.bound.epsilon, Enclosure.of(0, precision=self.precision)), derivation, PURE

    def _solved_rate(self) -> ConstrainedRate:
        """The rate that is solved for a target, which does not move with parameters of the mechanism or the domain."""
        match self.drawing:
            case ConstrainedRate() as rate:
                pass
            case _:
                name = self.sampler.about.name
                raise InvalidValue("sampler", name, "a sampler that solves for a target, such as privacy-constrained")
        if moving := open_parameters("sampler", self.sampler):
            raise ExPost.about(", ".join(moving))
        refuse_chosen("parameters", self.payments)
        return rate

    def _require_domain(self) -> None:
        """Refuse a target as a bound for all records where there is no domain of them."""
        if self.domain is None:
            raise InvalidValue(
                "radius",
                "nothing",
                "a public bound on the records",
                "The target holds for records that lose no more at weight 1: declare a public domain",
            )
