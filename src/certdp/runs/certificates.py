"""Certificates of what a run costs: as (ε, δ), and of what it loses about a record in the pure notion."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from attrs import evolve

from ..accounting.accountants.trade_off import DeltaLaw, curve_of
from ..accounting.derivation import REAL_VALUED_NOISE, Assumption
from ..accounting.enclosures import Enclosure
from ..accounting.enclosures.arguments import whole
from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.expressions import Constant
from ..accounting.feasible_weights.rates import GaussianConstrainedRate
from ..accounting.guarantees import Guarantee, require
from ..accounting.notions import PURE, Approximate, Bound, GaussianDP, Pure, Renyi, ZeroConcentrated
from ..accounting.relations import ADD_REMOVE, Element
from ..accounting.sampling.batches import BatchRate, FixedBatches, ShuffledAnswers, TruncatedPoisson
from ..accounting.sampling.epochs import ShuffledBatches
from ..accounting.sampling.losses import GaussianLoss
from ..accounting.sampling.rate import SamplingRate
from ..accounting.sampling.releases import ResampleEach
from ..accounting.selection import FixedRepetitions
from ..accounting.units import Delta, Epsilon
from ..verification.certificates.approximate import (
    FILTERED,
    Certified,
    ReleaseStatement,
    RunStatement,
    StatedAnswers,
    StatedBatches,
    StatedEpochs,
    StatedStratum,
    certified_by_filter,
    certified_delta,
    certified_epsilon,
)
from ..verification.certificates.constrained_sums import constrained_sum_certificate
from ..verification.certificates.keyed import certified_keyed, keyed_certificate
from ..verification.certificates.notions import (
    Rate,
    advantage_rate,
    bayes_risk_rate,
    certified_bound,
    certified_rates,
    true_positive_rate,
)
from ..verification.certificates.strategies import StatedStrategy
from ..verification.certificates.writing import SampledPureClaim, public_certificate, statement_of_rate
from ..verification.checker import check
from .allocated import AllocatedRun
from .correlated import CorrelatedRun
from .declared import declared_loss, declared_rate, premises_of, pure_loss_of, statement_of
from .ex_post import refuse_reading
from .keyed import KeyedRun
from .many_steps import ManySteps
from .plan import Plan
from .risk import AdvantageLimit, BayesRiskLimit, Risk, RiskLimit, TruePositiveRateLimit, risk
from .run import Answer, Run, RunPart
from .sampled import SampledRun
from .selected import SelectedRun
from .stratified import StratifiedRun
from .worst_ends import worst_ends

if TYPE_CHECKING:
    from .calibration import Budget

__all__ = [
    "Certified",
    "certificate",
    "certified_dominated",
    "certified_filtered",
    "guarantee_certificate",
    "profile_certificate",
    "pure_claim",
]

_DOMINATED = Assumption(
    "releases of the run", "each dominated by one of these, declared before it; parameters follow from earlier releases"
)

MOST_PARTS = 10_000
"""Of a certificate."""
_LARGEST_GROUP = 2**20
_SLIGHT = Delta(Fraction(1, 10**9))
_LEVELS = 12
_NARROW = Fraction(1, 2**30)
_ROOM = 2.0**-18
"""How far below a claim its certificate aims, relatively: a method of the checker proves up to a millionth more."""


Certifiable: TypeAlias = "Answer[Any] | Guarantee[Any, Any, Any] | Risk[Any] | RiskLimit | Sequence[RiskLimit]"
"""What a run was found to cost, or limits on what it tells an attacker."""


@known_keywords
def certificate(
    run: SampledRun[Any]
    | AllocatedRun
    | SelectedRun[Any]
    | StratifiedRun
    | CorrelatedRun
    | KeyedRun
    | ManySteps
    | Plan[Any],
    answer: Certifiable,
    *,
    group: int = 1,
) -> Certified:
    """A publishable certificate of what a run costs, accepted by the independent checker.

    The checker proves it anew by a method of its own: the numbers certified may be a little above the answer's. Of a
    keyed run they follow from what each release declares, composed optimally, as (ε, δ) for one element.

    Args:
        run: whose answer it is. Of many steps at most 10,000 different ones.
        answer: an answer (ε, δ); a guarantee of the run in any notion, such as `run.renyi(4)`; one or several limits on
            a risk, whose rates are certified as small as is proven, whether or not the limits are kept; or a risk, of
            which the advantage, the true-positive rate and the Bayes risk that it prints are certified.
        group: of how many records the certificate speaks, at most; 1 to 2**20. Of Rényi DP then at the order divided by
            the least power of 2 that is no smaller, and of no risks.

    Raises:
        InvalidValue: for a loss, a way to draw or a cost that no certificate states, and where the checker has no
            method that proves it.
        InvalidType: for anything else than a run and an answer.
    """
    require("run", run, Run, "Certify an answer of a run, or of a plan of several")
    match run:
        case SelectedRun():
            return _of_the_best(run, answer, group)
        case KeyedRun():
            return _of_keys(run, answer, group)
        case ManySteps():
            return _certified(evolve(_of_steps(run), group=_size(group)), run, answer)
        case SampledRun() | AllocatedRun() | CorrelatedRun() | StratifiedRun() | Plan():
            return _certified(evolve(_statement(run, ()), group=_size(group)), run, answer)
    remedy = "Certify the plan of what another tool described: certificate(plan_of(event, relation), answer)"
    raise InvalidValue("certificate", run.named[1], "a run or a plan of certdp", remedy)


def _certified(stated: RunStatement, run: _Whole, answer: Certifiable) -> Certified:
    match answer:
        case Answer():
            match answer.asked:
                case Delta():
                    return certified_epsilon(stated, answer.asked.value, answer.epsilon.upper)
                case Epsilon():
                    return certified_delta(stated, answer.asked.value, answer.delta.upper)
        case Guarantee():
            return _of_guarantee(stated, answer)
        case RiskLimit():
            return _of_risk(run, stated, [answer])
        case Risk():
            return _of_risk(run, stated, answer.limits_at())
        case [*limits]:
            return _of_risk(run, stated, limits)
    raise InvalidType("answer", answer, "an answer, a guarantee, a risk, or limits on one")


def _size(group: int) -> int:
    size = whole("group", group, 1)
    if size > _LARGEST_GROUP:
        raise InvalidValue("group", size, f"at most {_LARGEST_GROUP}", "No certificate speaks of larger groups")
    return size


def _of_the_best(run: SelectedRun[Any], answer: Certifiable, group: int) -> Certified:
    """Of the best of several runs (ε, δ); of a fixed number whatever certificates state of all of them."""
    match run.repetitions:
        case FixedRepetitions(times=times):
            stated = evolve(_statement(run.base, ()), group=_size(group))
            return _of_all(stated, run, int(times.value), answer)
    stated = evolve(_statement(run.base, run.derivation.assumptions), group=_size(group), pairs=run.pairs)
    match answer:
        case Answer(asked=Delta() as asked):
            return certified_epsilon(stated, asked.value, answer.epsilon.upper)
        case Answer(asked=Epsilon() as asked):
            return certified_delta(stated, asked.value, answer.delta.upper)
        case Guarantee(bound=Approximate(epsilon, delta)):
            return certified_epsilon(stated, delta.upper, epsilon.upper_float)
    raise InvalidValue(
        "certificate",
        f"{type(answer).__name__} of the best of several runs",
        "an answer (ε, δ)",
        "No certificate states another notion of it, nor a risk: certify certificate(run, run.epsilon(delta))",
    )


def _of_all(stated: RunStatement, run: SelectedRun[Any], times: int, answer: Certifiable) -> Certified:
    """Which of them is best is post-processing: all are stated as releases of one run."""
    (part,) = stated.parts
    if run.on_one_sample and run.steps > 1:
        remedy = "Certify one run, certificate(run.base, answer)"
        raise InvalidValue("certificate", str(run.repetitions), "runs whose releases are each on a sample", remedy)
    releases = ResampleEach(part.releases.steps * times)
    return _certified(evolve(stated, parts=(evolve(part, releases=releases),), pairs=run.pairs), run, answer)


def _of_keys(run: KeyedRun, answer: Certifiable, group: int) -> Certified:
    if group != 1:
        remedy = "Of what is declared, guarantee_certificate(run, contributions) speaks of users with several elements"
        raise InvalidValue("group", group, "1, for releases of keys", remedy)
    match answer:
        case Answer(asked=Delta() as asked):
            return certified_keys(run, asked, answer.epsilon.upper)
        case Answer(asked=Epsilon() as asked):
            return certified_keys(run, asked, answer.delta.upper)
        case Guarantee(bound=Approximate(epsilon, delta), unit=Element()):
            return certified_keys(run, Delta(delta.upper), epsilon.upper_float)
    raise InvalidValue(
        "certificate",
        f"{type(answer).__name__} of releases of keys",
        "an answer (ε, δ), or a guarantee for one element",
        "No certificate states a risk of keys; guarantee_certificate(run, contributions) speaks of users",
    )


def certified_keys(run: KeyedRun, asked: Delta | Epsilon, answer: float) -> Certified:
    """A certificate of what a keyed run costs one element at a δ, or at an ε, from what each release declares.

    Args:
        run: releases of sampled keys.
        asked: the δ or ε.
        answer: the proven upper end of the other one.

    Raises:
        ExPost: for bounds that move with a released value. InvalidValue: as `certificate`.
    """
    _require_for_every_value(run)
    assumptions = run.derivation.assumptions
    return certified_keyed(
        run.mechanism, run.sampler, releases=run.releases, assumptions=assumptions, asked=asked, answer=answer
    )


def _require_for_every_value(run: KeyedRun) -> None:
    run.require_for_every_value()
    refuse_reading(run)


def _of_guarantee(stated: RunStatement, guarantee: Guarantee[Any, Any, Any]) -> Certified:
    if "group size" in {assumed.name for assumed in guarantee.assumptions}:
        remedy = "Certify the guarantee of one record: certificate(run, answer, group=k)"
        raise InvalidValue("answer", "a guarantee for groups", "one for a record", remedy)
    match guarantee.bound:
        case Pure(epsilon):
            return certified_epsilon(stated, Fraction(0), epsilon.upper_float)
        case Approximate(epsilon, delta):
            return certified_epsilon(stated, delta.upper, epsilon.upper_float)
        case bound:
            return certified_bound(stated, bound)


def _of_risk(run: _Whole, stated: RunStatement, limits: Sequence[RiskLimit]) -> Certified:
    if stated.released_cost:
        return certified_rates(stated, [_costly_rate(run, stated.released_cost, limit) for limit in limits])
    law = risk(run).delta_law
    return certified_rates(stated, [_rate(law, limit) for limit in limits])


def _rate(law: DeltaLaw, limit: RiskLimit) -> Rate:
    """The rate that a limit is on, and the (ε, δ) from which it follows best."""
    match limit:
        case TruePositiveRateLimit(false_positive_rate=rate):
            factor = curve_of(law).for_alpha(rate, relative_gap=_NARROW).sharpest(rate).factor
            factor = max(factor, 1 / factor) if factor else Fraction(1)
            return _rate_at(limit, Fraction(Enclosure.of(factor).log().upper_float), law)
        case BayesRiskLimit(prior=prior):
            less = min(prior, 1 - prior)
            return _rate_at(limit, Fraction(max(Enclosure.of((1 - less) / less).log().lower_float, 0.0)), law)
    return _rate_at(limit, Fraction(0), law)


def _costly_rate(run: _Whole, cost: Fraction, limit: RiskLimit) -> Rate:
    """The best of some rates, each from an (ε, δ) with an ε above the pure cost of released parameters."""
    farthest = max(Fraction(run.epsilon(_SLIGHT).epsilon.upper) - cost, Fraction(1, 2**10))
    levels = [cost, *(cost + farthest / 2**power for power in range(_LEVELS))]
    found = [_rate_at(limit, level, lambda at: run.delta(Epsilon(at.upper)).guarantee.bound.delta) for level in levels]
    best = max if found[0].at_least else min
    return best(found, key=lambda rate: rate.follows(Fraction(rate.delta)))


def _rate_at(limit: RiskLimit, epsilon: Fraction, law: DeltaLaw) -> Rate:
    """The rate that a limit is on, from δ at an ε."""
    delta = law(Enclosure.of(epsilon))
    match limit:
        case TruePositiveRateLimit(false_positive_rate=rate):
            return true_positive_rate(rate, epsilon, delta)
        case BayesRiskLimit(prior=prior):
            return bayes_risk_rate(prior, epsilon, delta)
        case AdvantageLimit():
            return advantage_rate(epsilon, delta)
    raise InvalidType("answer", limit, "one of the limits in certdp.risks")


def guarantee_certificate(run: KeyedRun, contributions: int | None = None) -> bytes:
    """A publishable certificate of what a keyed run declares, for keys of every frequency.

    Args:
        run: releases of sampled keys.
        contributions: how many elements a user has at most, for a certificate of `guarantee_for_users`; by default it
            is of `guarantee`, for one element.

    Raises:
        ExPost: for bounds that move with a released value.
        InvalidValue: for what no certificate states, and where the checker cannot prove the table.
        InvalidType: for anything else than such a run, such as a guarantee.
    """
    require("run", run, KeyedRun, "A guarantee of other runs is certified by certificate(run, guarantee)")
    _require_for_every_value(run)
    return keyed_certificate(
        run.mechanism,
        run.sampler,
        contributions=contributions,
        releases=run.releases,
        assumptions=run.derivation.assumptions,
    )


def pure_claim(run: SampledRun[Any]) -> SampledPureClaim:
    """What a certificate of ψ states: the profile and, with a domain, its supremum.

    Where a released parameter has a range it is the profile at the end that costs most.

    Raises:
        ExPost: where the profile moves with a released value that has no range, and for a run at released values.
        NoPureValue: for a mechanism without a pure ε.
        NoFiniteSupremum: where ψ grows without bound on the domain.
        InvalidValue: where neither end of a range costs most, for several releases of a sampler that states its rate,
            and for a target at a δ or an order, of which no pure profile follows.
        InvalidType: for a run of another kind.
    """
    _require_of_records(run)
    refuse_reading(run)
    rate = statement_of_rate(run.drawing)
    if run.steps > 1 and not rate.only_bound:
        raise InvalidValue(
            "releases",
            run.releases,
            "one release",
            "The certificate of a profile states one: certify an answer of the run instead, certificate(run, answer)",
        )
    run = run.at_ends(worst_ends([run.profile.remove], run.open_parameters))
    profile, found = run.profile_at_its_values, None
    assumptions = profile.assumptions
    if run.domain is not None:
        guarantee, found = profile.supremum(run.domain, precision=run.precision)
        assumptions = guarantee.assumptions
    if profile.released_cost:
        assumptions = (*assumptions, Assumption("released cost", str(profile.released_cost)))
    return SampledPureClaim(
        profile=profile,
        loss=pure_loss_of(run.mechanism, run.loss),
        rate=statement_of_rate(run.drawing),
        released_cost=profile.released_cost,
        mechanism=statement_of(run.mechanism),
        sampler=statement_of(run.sampler),
        domain=run.domain,
        supremum=found,
        assumptions=assumptions,
        precision=run.precision,
    )


@known_keywords
def profile_certificate(run: SampledRun[Any]) -> bytes:
    """A publishable certificate of a run's ψ and, with a domain, of its supremum: public constants alone.

    Of weights that are solved for a target at a δ or an order it states that no record of the domain loses more.

    Raises:
        ExPost, NoPureValue, NoFiniteSupremum: as `pure_claim`.
        InvalidValue: as `pure_claim`, and where the checker does not know the end of a released parameter's range to
            cost most; for a target at a δ or an order without a domain, or beside released parameters.
        InvalidType: for a run of another kind.
    """
    _require_of_records(run)
    match run.drawing:
        case GaussianConstrainedRate() as rate:
            return _constrained_certificate(run, rate)
    content = public_certificate(pure_claim(run))
    if run.open_parameters and not (verdict := check(content)).accepted:
        raise InvalidValue(
            "certificate",
            ", ".join(run.open_parameters),
            "released parameters that the checker knows of",
            f"It says: {verdict.reason}. Leave the certificate out",
        )
    return content


def _require_of_records(run: object) -> None:
    require("run", run, SampledRun, "No profile of records is stated of others: certificate(run, answer)")


def _constrained_certificate(run: SampledRun[Any], rate: GaussianConstrainedRate) -> bytes:
    """A certificate of a target at a δ or an order."""
    if run.domain is None:
        remedy = "Declare the public domain of the records, as in run.on(NormBall(…)) or --option radius=R"
        raise InvalidValue("domain", None, "a domain every record of which is within the target at weight 1", remedy)
    if run.payments:
        remedy = "There is no kind of certificate yet for weights within a target beside these: leave it out"
        raise InvalidValue("certificate", ", ".join(run.open_parameters), "parameters that are public", remedy)
    return constrained_sum_certificate(
        cast("GaussianLoss", run.loss).shift,
        rate,
        run.domain,
        (statement_of(run.mechanism), statement_of(run.sampler)),
        run.derivation.assumptions,
    )


def certified_dominated(run: Plan[Any], budget: Budget, assumptions: Sequence[Assumption]) -> Certified:
    """A certificate of a budget (ε, δ) for an adaptive run of which every release is dominated by one of a plan.

    Args:
        run: the plan, fixed beforehand. How many of its releases were used up may be an output, so all count.
        budget: (ε, δ). The ε certified may be a little above it.
        assumptions: what the run rests on beside the releases; that they dominate is added.

    Raises:
        InvalidValue: as `certificate`.
    """
    stated = _statement(run, [*assumptions, _DOMINATED])
    return certified_epsilon(stated, budget.delta.value, Enclosure.of(budget.epsilon.value).upper_float)


def certified_described(
    run: Plan[Any], claimed: Budget | Bound, upper: float, assumptions: Sequence[Assumption]
) -> Certified:
    """A certificate that releases which another tool made keep a budget (ε, δ), or a bound in another notion.

    Args:
        run: the releases, as that tool describes them.
        claimed: what is kept by the run. The number certified is at most this where the checker proves as much, or else
            a little above it.
        upper: the proven upper end of the run's ε at that δ, or of its τ, ρ or μ; at most the one claimed.
        assumptions: what the description rests on.

    Raises:
        InvalidValue: as `certificate`.
    """
    stated = _statement(run, assumptions)

    def aim(number: Fraction) -> float:
        most = Enclosure.of(number).lower_float
        return min(most, max(upper, most * (1 - _ROOM)))

    match claimed:
        case Renyi(tau=tau):
            return certified_bound(stated, evolve(claimed, tau=Enclosure.of(aim(tau.lower))))
        case ZeroConcentrated(rho):
            return certified_bound(stated, ZeroConcentrated(Enclosure.of(aim(rho.lower))))
        case GaussianDP(mu):
            return certified_bound(stated, GaussianDP(Enclosure.of(aim(mu.lower))))
    budget = cast("Budget", claimed)
    return certified_epsilon(stated, budget.delta.value, aim(budget.epsilon.value))


def certified_filtered(run: Plan[Any], order: Fraction, budget: Budget, assumptions: Sequence[Assumption]) -> Certified:
    """A certificate of a budget (ε, δ) for what a run released that paid from a Rényi filter.

    Args:
        run: the releases at the parameters that they had. These are outputs: the certificate depends on the data
            through them alone.
        order: of the filter, fixed beforehand with the budget.
        budget: (ε, δ).
        assumptions: what the run rests on beside the releases; that a filter was paid is added.

    Raises:
        InvalidValue: as `certificate`, and where the releases do not provably fit into the budget.
    """
    stated = _statement(run, [*assumptions, FILTERED])
    return certified_by_filter(stated, order, budget.epsilon.value, budget.delta.value)


def _statement(run: Stateable | Plan[Any], further: Sequence[Assumption]) -> RunStatement:
    """The run as certificates state it, with further assumptions.

    Raises:
        InvalidValue: for a cost, or batches, that no certificate states.
    """
    _require_stateable(run)
    parts = _parts_of(run)
    own = (assumed for part in parts for assumed in _assumed(part))
    return RunStatement(
        parts=tuple(map(_stated, parts)),
        pairs=run.pairs,
        relation=run.relation.name,
        unit=run.unit,
        domain=None if run.domain is None else run.domain.at_its_largest,
        released_cost=sum((payment.cost.bound.epsilon.upper for payment in run.payments), Fraction(0)),
        assumptions=tuple(dict.fromkeys((*own, *further))),
    )


def _require_stateable(run: Stateable | Plan[Any]) -> None:
    """Refuse a run of which no kind of certificate speaks.

    Raises:
        InvalidValue: for releases of keys, and for parameters released for an ε and a δ.
    """
    refuse_reading(run)
    if isinstance(run, Plan) and any(isinstance(part, KeyedRun) for part in run.parts):
        raise InvalidValue(
            "certificate",
            "a plan with releases of sampled keys",
            "releases from a matrix of records",
            "There is no kind of certificate yet for plans with releases of keys: certify the answer of each such run "
            "by itself, certificate(run, answer)",
        )
    for payment in run.payments:
        if payment.cost.bound.notion != PURE:
            raise InvalidValue(
                "certificate",
                f"a parameter released for {payment.cost.bound}",
                "parameters that are public or were released with a pure ε",
                "There is no kind of certificate yet for other costs: leave the certificate out",
            )


def _of_steps(run: ManySteps) -> RunStatement:
    """Many steps as certificates state them: in floats of whoever draws them, and of as many parts as there are kinds.

    Raises:
        InvalidValue: for too many different steps.
    """
    if len(run.alike) > MOST_PARTS:
        remedy = "Count steps that are alike as one kind, with the largest rate and the least noise of theirs"
        raise InvalidValue("certificate", f"{len(run.alike):,} different steps", f"at most {MOST_PARTS:,}", remedy)
    parts = run.parts()
    return RunStatement(
        parts=tuple(map(_stated, parts)),
        pairs=run.pairs,
        relation=run.relation.name,
        unit=run.unit,
        domain=parts[0].domain,
        released_cost=Fraction(0),
        assumptions=tuple(dict.fromkeys((*(one for part in parts for one in _assumed(part)), REAL_VALUED_NOISE))),
    )


Stateable: TypeAlias = SampledRun[Any] | AllocatedRun | CorrelatedRun | StratifiedRun
"""A part of which certificates speak."""
_Whole: TypeAlias = "Stateable | SelectedRun[Any] | ManySteps | Plan[Any]"


def _assumed(part: Stateable) -> Sequence[Assumption]:
    """What a part rests on, without the constants of single strata, which their sampler states together."""
    match part:
        case StratifiedRun():
            of_strata = {assumed for run in part.runs.values() for assumed in _constants(run)}
            own = {*_constants(part)}
            return [one for one in part.derivation.assumptions if one in own or one not in of_strata]
    return part.derivation.assumptions


def _constants(run: SampledRun[Any] | StratifiedRun) -> Sequence[Assumption]:
    _, sampler = premises_of(run.mechanism, run.sampler)
    return (*sampler.assumptions, *(() if run.domain is None else run.domain.assumptions))


def _parts_of(run: Stateable | Plan[Any]) -> list[Stateable]:
    """The parts of a run, at the ends of released parameters' ranges that cost most.

    Raises:
        InvalidValue: for a part of another kind.
    """
    parts = run.parts if isinstance(run, Plan) else (run,)
    return [_at_worst(number, part) for number, part in enumerate(parts)]


def _at_worst(number: int, part: RunPart[Any]) -> Stateable:
    match part:
        case SampledRun():
            return part.at_worst_ends
        case AllocatedRun() | CorrelatedRun() | StratifiedRun():
            return part
    name = f"the best of {part.repetitions}" if isinstance(part, SelectedRun) else part.plugins[1].about.name
    remedy = "There is no kind of certificate yet for such a part: certify it alone, or leave the certificate out"
    raise InvalidValue(f"parts[{number}]", name, "runs on samples or batches, or with correlated noise", remedy)


def _stated(part: Stateable) -> ReleaseStatement:
    match part:
        case AllocatedRun():
            return _epochs(part)
        case CorrelatedRun():
            strategy = StatedStrategy(strategy=part.strategy, participation=part.participation)
            return evolve(_stated(part.one), releases=ResampleEach(part.steps), strategy=strategy)
        case StratifiedRun():
            return _in_strata(part)
    rate, batches, answers = _drawing(part)
    return ReleaseStatement(
        mechanism=statement_of(part.mechanism),
        sampler=statement_of(part.sampler),
        loss=declared_loss(part.mechanism),
        rate=rate,
        batches=batches,
        answers=answers,
        releases=part.releases,
        relation=(ADD_REMOVE if batches is not None else part.own_relation).name,
        corners=len(part.as_it_came_out.worst_cases.bounding),
        released=part.ranges_assumed,
    )


def _epochs(run: AllocatedRun) -> ReleaseStatement:
    """Epochs of batches, as certificates state them."""
    one, epoch = run.one.at_worst_ends, run.sampler.epoch
    number, entered = epoch.number_of_batches, epoch.number_of_participations
    size = epoch.data_size if isinstance(epoch, ShuffledBatches) else None
    return evolve(
        _stated(one),
        sampler=statement_of(run.sampler),
        rate=SamplingRate(Constant(Fraction(entered, number)), weighted=False),
        releases=ResampleEach(run.steps),
        relation=ADD_REMOVE.name,
        batches=StatedEpochs(number=number, participations=entered, data_size=size),
    )


def _in_strata(run: StratifiedRun) -> ReleaseStatement:
    """Public strata, as certificates state them."""
    runs = {label: one.at_worst_ends for label, one in run.runs.items()}
    each = {label: _stated(one) for label, one in runs.items()}
    strata = tuple(
        StatedStratum(
            label=label,
            rate=stated.rate,
            largest=run.sampler.strata.largest(label),
            domain=runs[label].domain,
            corners=stated.corners,
        )
        for label, stated in each.items()
    )
    return evolve(next(iter(each.values())), sampler=statement_of(run.sampler), strata=strata)


def _drawing(part: SampledRun[Any]) -> tuple[SamplingRate, StatedBatches | None, StatedAnswers | None]:
    """With what probability a record is drawn, how batches are drawn as a whole, and which answers are shuffled."""
    match part.drawing:
        case BatchRate(FixedBatches(chance, size)):
            batches = StatedBatches(most=None, data_size=size, bounded=False)
        case BatchRate(TruncatedPoisson(chance, most, size, at_most)):
            batches = StatedBatches(most=most, data_size=size, bounded=at_most)
        case BatchRate(ShuffledAnswers(users, _, clones)):
            answers = StatedAnswers(users=users, clones=clones.lower)
            return SamplingRate(Constant(Fraction(1)), weighted=False), None, answers
        case _:
            return declared_rate(part.sampler), None, None
    return SamplingRate(Constant(chance), weighted=False), batches, None
