"""Answers of an earlier version, which no later one may lose: equal or tighter, for every kind of question.

`python tests/test_answers.py` says how many have become tighter and writes them down, and refuses where one is looser.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from certdp import (
    ADD_REMOVE,
    RECORD,
    AdaptiveRun,
    Budget,
    Continuous,
    Coreset,
    Count,
    Delta,
    DiscreteGaussian,
    DiscreteLaplace,
    DominatedRun,
    Enclosure,
    Epsilon,
    EveryKey,
    Full,
    GaussianSteps,
    GaussianSum,
    Importance,
    KeyedRun,
    LaplaceSteps,
    LaplaceSum,
    ListedRates,
    Lloyd,
    LpSum,
    Norm,
    NormBall,
    Order,
    Outside,
    Plan,
    Poisson,
    Pps,
    Ppswor,
    PrivacyConstrained,
    PrivateWeightedSampling,
    Public,
    PwsFrequencies,
    PwsKeys,
    RandomisedResponse,
    Records,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
    Whole,
    calibrate,
    check,
    for_groups,
    record_losses,
    record_weights,
)
from certdp.accountants import (
    Accountant,
    AdvancedAccountant,
    BasicAccountant,
    GaussianAccountant,
    LossDistributionAccountant,
    OptimalAccountant,
    RenyiAccountant,
    ZeroConcentratedAccountant,
)
from certdp.conversions import (
    gaussian_to_approximate,
    pure_to_renyi,
    pure_to_zero_concentrated,
    renyi_to_approximate,
    zero_concentrated_to_approximate,
)
from certdp.dpis import (
    AdaptiveClip,
    ExponentialDecay,
    FixedClip,
    NoisySize,
    NormSums,
    PublicSize,
    RenyiAccounting,
    RunPlan,
    dominated_dp_sgd,
    dp_sgd,
    forecast,
)
from certdp.filters import (
    ApproximateFilter,
    GaussianFilter,
    PureFilter,
    PureOdometer,
    RenyiFilter,
    RenyiOdometer,
    ZeroConcentratedFilter,
)
from certdp.individual import IndividualFilter, IndividualLosses, Orders
from certdp.mechanisms.dpis_step import DpisStep
from certdp.notions import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.samplers.dpis import Dpis
from tests.support.stated import Rows

FOLDER = Path(__file__).parent / "answers"
TABLE = FOLDER / "answers.json"
CERTIFICATES = FOLDER / "certificates"


class Ends(NamedTuple):
    """Proven ends of a number; None where there is none."""

    lower: float | None
    upper: float | None


Question = Callable[[], list[Ends]]


def ends(value: Any) -> Ends:
    """Of an enclosure, or of what has a lower and an upper end in binary64."""
    if isinstance(value, Enclosure):
        return Ends(value.lower_float, value.upper_float)
    return Ends(value.lower, value.upper)


def at_most(values: Iterable[Any]) -> list[Ends]:
    return [Ends(None, float(value)) for value in values]


# What is run: mechanisms, samplers and releases

CUBE = np.array([[(3 * row + 5 * column) % 11 - 5 for column in range(3)] for row in range(6)]) / 8
"""Six records of three columns, exactly; the largest ℓ2 norm is below 1."""
DELTA = Delta("1e-6")
TENTH = Poisson(rate=Public("0.1"))
WEIGHTED = Poisson(rate=Public("0.25"), weighted=Public(True))
BY_NORM = {order: Importance(rate=Public("0.3"), norm=Public(order), floor=Public("0.05")) for order in (1, 2)}
CORESET = Coreset(m=Public(10), n=Public(1000), mean_squared_norm=Public(1), radius=Public(2))


def ball(order: Any, radius: Any = 1, dimension: int | None = 3) -> NormBall:
    return NormBall(norm=Norm(order), radius=Public(radius), dimension=dimension)


MECHANISMS: dict[str, tuple[Any, NormBall | None]] = {
    "laplace-sum": (LaplaceSum(scale=Public(3)), ball(1)),
    "count": (Count(scale=Public(2)), None),
    "lp-sum": (LpSum(scale=Public(3), norm=Public("3/2")), ball("3/2")),
    "gaussian-sum": (GaussianSum(scale=Public(4)), ball(2)),
    "gaussian-sum, relative": (GaussianSum(noise_multiplier=Public("1.5")), None),
    "discrete-laplace": (DiscreteLaplace(scale=Public(6), granularity=Public("1/4")), ball(1)),
    "discrete-gaussian": (DiscreteGaussian(scale=Public(5), dimension=Public(1)), ball(1, 1, 1)),
    "randomised-response": (RandomisedResponse(categories=Public(4), noise=Public("1/3")), None),
    "lloyd": (
        Lloyd(clusters=Public(3), scale_sum=Public(20), split=Public("derived"), radius=Public(1), dimension=Public(3)),
        ball(2),
    ),
    "dpis-step": (DpisStep(noise_multiplier=Public(2), clip=Public(1), size=Public(1000), batch=Public(10)), ball(2)),
}
SAMPLERS: dict[str, Any] = {
    "full": Full(),
    "poisson": TENTH,
    "weighted poisson": WEIGHTED,
    "importance": BY_NORM[1],
    "importance by l2": BY_NORM[2],
    "coreset": CORESET,
    "dpis": Dpis(batch=Public(10), norm_sum=Public(100), clip=Public(1)),
}
PURE_RUNS = {
    f"{mechanism}, {sampler}": (mechanism, sampler)
    for mechanism, sampler in [
        ("laplace-sum", "full"),
        ("laplace-sum", "poisson"),
        ("laplace-sum", "weighted poisson"),
        ("laplace-sum", "importance"),
        ("laplace-sum", "importance by l2"),
        ("laplace-sum", "coreset"),
        ("laplace-sum", "dpis"),
        ("count", "weighted poisson"),
        ("lp-sum", "poisson"),
        ("discrete-laplace", "poisson"),
        ("lloyd", "coreset"),
    ]
}
EACH: list[tuple[str, str, ResampleEach | SampleOnce]] = [
    ("laplace-sum", "full", ResampleEach(3)),
    ("laplace-sum", "poisson", ResampleEach(10)),
    ("laplace-sum", "poisson", SampleOnce(10)),
    ("laplace-sum", "importance", ResampleEach(2)),
    ("count", "poisson", ResampleEach(5)),
    ("lp-sum", "full", ResampleEach(2)),
    ("gaussian-sum", "full", ResampleEach(4)),
    ("gaussian-sum", "poisson", ResampleEach(100)),
    ("gaussian-sum", "poisson", SampleOnce(10)),
    ("gaussian-sum", "importance by l2", ResampleEach(20)),
    ("gaussian-sum, relative", "poisson", ResampleEach(1000)),
    ("gaussian-sum, relative", "poisson", SampleOnce(2)),
    ("discrete-laplace", "poisson", ResampleEach(1)),
    ("discrete-gaussian", "full", ResampleEach(3)),
    ("discrete-gaussian", "poisson", ResampleEach(1)),
    ("randomised-response", "full", ResampleEach(2)),
    ("dpis-step", "dpis", ResampleEach(50)),
]
WAYS = {ResampleEach: "afresh", SampleOnce: "at once"}
RUNS = {
    f"{mechanism}, {sampler}, {plan.steps} {WAYS[type(plan)]}": (mechanism, sampler, plan)
    for mechanism, sampler, plan in EACH
}
KEYED: dict[str, tuple[Any, Any, int]] = {
    "keys, all": (PwsKeys(epsilon=Public("0.5"), delta=Public("1e-3")), EveryKey(), 1),
    "keys, ppswor": (PwsKeys(epsilon=Public("0.5"), delta=Public("1e-3")), Ppswor(threshold=Public("0.1")), 3),
    "keys, listed": (
        PwsKeys(epsilon=Public("0.5"), delta=Public("1e-3")),
        ListedRates(rates=Public("0.001,0.1,0.5,0.5,1")),
        2,
    ),
    "tokens, all": (
        PwsFrequencies(epsilon=Public("0.5"), delta=Public("1e-3"), subdivision=Public(2), largest=Public(20)),
        EveryKey(),
        1,
    ),
    "tokens, pps": (
        PwsFrequencies(epsilon=Public("0.5"), delta=Public("1e-3"), subdivision=Public(2), largest=Public(20)),
        Pps(threshold=Public("0.1")),
        2,
    ),
}


WEIGHTS: dict[str, tuple[Any, Any, Any, Mapping[str, Any]]] = {
    "pure": (LaplaceSum(scale=Public(3)), "1/2", ResampleEach(1), {}),
    "pure, a cap": (LaplaceSum(scale=Public(3)), 1, ResampleEach(3), {"largest_weight": 30}),
    "at a δ": (GaussianSum(scale=Public(4)), "3/2", ResampleEach(1), {"delta": "1e-6", "digits": 4}),
    "at a δ, one sample": (GaussianSum(scale=Public(8)), "3/2", SampleOnce(4), {"delta": "1e-6", "digits": 4}),
    "at a δ, steps": (GaussianSum(scale=Public(8)), "3/2", ResampleEach(4), {"delta": "1e-6", "digits": 4}),
    "at an order": (GaussianSum(scale=Public(4)), "1/2", ResampleEach(4), {"order": 3, "digits": 4}),
}
ACCOUNTANTS: tuple[Accountant, ...] = (
    BasicAccountant(),
    AdvancedAccountant(),
    OptimalAccountant(),
    ZeroConcentratedAccountant(),
    GaussianAccountant(),
    RenyiAccountant(),
    LossDistributionAccountant(),
)


def release(mechanism: str, sampler: str) -> SampledRun:
    declared, domain = MECHANISMS[mechanism]
    run = SampledRun(mechanism=declared, sampler=SAMPLERS[sampler])
    return run.on(domain or ball(run.norm.order))


def releases(mechanism: str, sampler: str, plan: Any) -> SampledRun[Any]:
    declared, domain = MECHANISMS[mechanism]
    return SampledRun(mechanism=declared, sampler=SAMPLERS[sampler], releases=plan, domain=domain)


def keyed(name: str) -> KeyedRun:
    mechanism, sampler, number = KEYED[name]
    return KeyedRun(mechanism=mechanism, sampler=sampler, releases=number)


PLANS: dict[str, Callable[[], Plan[Any]]] = {
    "one noise, two samplers": lambda: Plan(
        [releases("gaussian-sum", "full", ResampleEach(4)), releases("gaussian-sum", "poisson", SampleOnce(2))]
    ),
    "two kinds of noise": lambda: Plan(
        [releases("gaussian-sum, relative", "poisson", ResampleEach(9)), releases("count", "full", ResampleEach(2))]
    ),
    "keys twice": lambda: Plan([keyed("keys, all"), keyed("keys, listed")]),
}


# What is asked


def psi(mechanism: str, sampler: str) -> list[Ends]:
    """ψ of each record, and the supremum over the domain."""
    run = release(mechanism, sampler)
    found = record_losses(run, CUBE).reveal()
    return [*at_most(found.values[:4]), ends(run.pure().bound.epsilon)]


def kept_losses(run: SampledRun) -> Any:
    """τ of the records that are not dropped."""
    found = record_losses(run, CUBE * 1.25, Outside.DROP, at=Order("7/2")).reveal().values
    return found[found > 0]


def epsilon(run: Callable[[], Any]) -> list[Ends]:
    return [ends(run().epsilon(DELTA).epsilon)]


def delta(run: Callable[[], Any]) -> list[Ends]:
    return [ends(run().delta(Epsilon(1)).delta)]


def both(run: Callable[[], Any]) -> list[Ends]:
    return [ends(run().epsilon(Delta("8e-3")).epsilon), ends(run().delta(Epsilon("0.7")).delta)]


def renyi(run: Callable[[], Any]) -> list[Ends]:
    return [ends(run().renyi(Order(order)).bound.tau) for order in ("3/2", 8)]


def concentrated(run: Callable[[], Any]) -> list[Ends]:
    return [ends(run().zero_concentrated().bound.rho), ends(run().gaussian().bound.mu)]


def by_accountant(accountant: Accountant) -> list[Ends]:
    run = releases("laplace-sum", "full", ResampleEach(40))
    return [ends(run.epsilon(DELTA, accountant=accountant).epsilon)]


def trade_off(run: Callable[[], Any]) -> list[Ends]:
    curve = run().trade_off()
    return [ends(curve.at(alpha)) for alpha in ("0.05", "0.3")]


def reporting(name: str) -> Any:
    return keyed(name).reporting


def rows(reported: Callable[[], Any], frequencies: Sequence[int]) -> list[Ends]:
    """The probability with which a key of each frequency is reported, end to end."""
    found = reported()
    return [ends(Enclosure.of(found.row(frequency).probability)) for frequency in frequencies]


def keyed_costs(name: str) -> list[Ends]:
    run = keyed(name)
    declared = (run.guarantee().bound.epsilon, run.guarantee_for_users(3).bound.delta)
    return [ends(run.epsilon(Delta("4e-3")).epsilon), *map(ends, declared)]


def sampled_keys() -> Any:
    sampler = Ppswor(threshold=Public("0.01"))
    return PrivateWeightedSampling.within(epsilon=1, delta="1e-6", sampler=sampler).reporting


def weights(mechanism: Any, target: Any, plan: Any, options: Mapping[str, Any]) -> list[Ends]:
    """Of each record: the weight, and the weight that is proven to be too large."""
    sampler = PrivacyConstrained(target=Public(target), **{name: Public(value) for name, value in options.items()})
    run = SampledRun(mechanism=mechanism, sampler=sampler, releases=plan)
    kept: list[Any] = []
    found = record_weights(run.on(ball(run.norm.order)), Records.of(CUBE), into=kept.append).reveal()
    gap = math.inf if found.gap is None else found.gap
    each = (float(weight) for part in kept for weight in part.weight)
    return [Ends(weight, weight * (1 + 2 * gap)) for weight in list(each)[:4]]


def individual() -> list[Ends]:
    """Of four records, by the sums of their Rényi losses."""
    account = IndividualLosses(4, Orders([Order(2), Order("9/2"), Order(12)]))
    account.step(0.125, np.array([0.0, 0.25, 0.5, 1.0]), given=Public("steps"), times=30)
    account.step(np.array([0.01, 0.1, 0.5, 1.0]), 0.5, given=Public("steps"))
    return at_most([*account.renyi(Order("9/2")).reveal(), *account.epsilon(DELTA).reveal()])


def individual_filter() -> list[Ends]:
    account = IndividualFilter(Order(4), 2, 4)
    for _ in range(4):
        account.step(0.5, np.array([0.0, 0.25, 0.75, 1.5]))
    return [*at_most(account.spent.reveal()), *(Ends(float(kept), float(kept)) for kept in account.active.reveal())]


def ends_of_calibration(run: Callable[[Fraction], Any], over: Any) -> list[Ends]:
    """Between the value found and the one refused, which is proven to exceed the budget; and what the first costs."""
    found = calibrate(run, Budget(epsilon=Epsilon(1), delta=Delta("1e-5")), over)
    assert found.refuted
    assert found.refused is not None
    return [Ends(*sorted([float(found.value), float(found.refused)])), ends(found.answer.epsilon)]


def noise_within(noise: Fraction) -> SampledRun[Any]:
    mechanism = GaussianSum(noise_multiplier=Public(noise))
    return SampledRun(mechanism=mechanism, sampler=TENTH, releases=ResampleEach(50))


def steps_within(steps: Fraction) -> SampledRun[Any]:
    mechanism = GaussianSum(noise_multiplier=Public(3))
    return SampledRun(mechanism=mechanism, sampler=TENTH, releases=ResampleEach(int(steps)))


def many_gaussian_steps() -> GaussianSteps:
    rates, noise = [0.01, 0.02, 0.5] * 30, [1.5, 2.0, 8.0] * 30
    return GaussianSteps(rates=Public(rates), noise_multipliers=Public(noise), groups=16)


def many_laplace_steps() -> LaplaceSteps:
    return LaplaceSteps(rates=Public([0.01, 0.02, 0.5] * 5), noise_multipliers=Public([2.5, 5.0, 20.0] * 5))


def paid(account: Any, *runs: Any) -> list[Ends]:
    """What a filter has counted after these runs."""
    run = AdaptiveRun(account)
    for step in runs:
        run.pay(step)
    spent = account.spent
    named = (getattr(spent, name, None) for name in ("epsilon", "delta", "tau", "rho", "mu"))
    return [ends(number) for number in named if number is not None]


def filters() -> dict[str, Question]:
    laplace = releases("laplace-sum", "full", ResampleEach(1))
    gaussian = releases("gaussian-sum", "poisson", ResampleEach(10))
    whose: Any = {"relation": ADD_REMOVE, "unit": RECORD}
    one = Enclosure.of(1)
    return {
        "pure": lambda: paid(PureFilter(Pure(one * 2), domain=ball(1), **whose), laplace, laplace),
        "approximate": lambda: paid(
            ApproximateFilter(Approximate(one * 9, Enclosure.of("1e-2")), domain=ball(2), at=Delta("1e-5"), **whose),
            gaussian,
            gaussian,
        ),
        "zero-concentrated": lambda: paid(
            ZeroConcentratedFilter(ZeroConcentrated(one), domain=ball(2), **whose),
            releases("gaussian-sum", "full", ResampleEach(2)),
        ),
        "Rényi": lambda: paid(RenyiFilter(Renyi(Fraction(4), one), domain=ball(2), **whose), gaussian, gaussian),
        "Gaussian": lambda: paid(
            GaussianFilter(GaussianDP(one), domain=ball(2), **whose),
            releases("gaussian-sum", "full", ResampleEach(2)),
            releases("gaussian-sum", "full", SampleOnce(1)),
        ),
    }


def odometers() -> list[Ends]:
    laplace = releases("laplace-sum", "full", ResampleEach(1))
    counted: PureOdometer[Any, Any] = PureOdometer(relation=ADD_REMOVE, unit=RECORD, domain=ball(1))
    counted.charge(laplace.pure())
    orders = [Order(2), Order(8), Order(32)]
    read: RenyiOdometer[Any, Any] = RenyiOdometer(orders, DELTA, relation=ADD_REMOVE, unit=RECORD, domain=ball(2))
    gaussian = releases("gaussian-sum", "poisson", ResampleEach(20))
    return [
        ends(counted.charge(laplace.pure()).loss),
        ends(read.charge(*(gaussian.renyi(order) for order in orders)).loss),
    ]


def dominated() -> list[Ends]:
    """An adaptive run within a plan fixed beforehand."""
    run = DominatedRun(Plan([releases("gaussian-sum", "poisson", ResampleEach(30))]))
    return [ends(run.epsilon(DELTA).epsilon)]


def chosen_within() -> list[Ends]:
    """A released scale with a public range: the supremum over the range, and what its release cost."""
    cost = releases("laplace-sum", "full", ResampleEach(1)).pure()
    scale = Released(Fraction(4), cost, within=(3, 6))
    run = SampledRun(mechanism=LaplaceSum(scale=scale), sampler=TENTH, releases=ResampleEach(2), domain=ball(1))
    return [ends(run.pure().bound.epsilon), *both(lambda: run)]


def converted() -> dict[str, Question]:
    pure = releases("laplace-sum", "full", ResampleEach(3)).pure
    gaussian = releases("gaussian-sum", "full", ResampleEach(4))
    return {
        "pure to Rényi": lambda: [ends(pure_to_renyi(pure(), Order("5/2")).bound.tau)],
        "pure to zero-concentrated": lambda: [ends(pure_to_zero_concentrated(pure()).bound.rho)],
        "zero-concentrated to approximate": lambda: [
            ends(zero_concentrated_to_approximate(gaussian.zero_concentrated(), DELTA).bound.epsilon)
        ],
        "Rényi to approximate": lambda: [ends(renyi_to_approximate(gaussian.renyi(Order(9)), DELTA).bound.epsilon)],
        "Gaussian to approximate": lambda: [ends(gaussian_to_approximate(gaussian.gaussian(), DELTA).bound.epsilon)],
        "groups": lambda: [
            ends(for_groups(pure(), 3).bound.epsilon),
            ends(for_groups(gaussian.gaussian(), 3).bound.mu),
        ],
    }


def training() -> dict[str, RunPlan]:
    """DPIS, DP-SGD, and a run that no run exceeds."""
    plan = RunPlan(
        budget=Budget(epsilon=Epsilon(8), delta=Delta("1e-5")),
        batch=Public(20),
        epochs=2,
        steps_per_epoch=5,
        size=PublicSize(size=Public(400)),
        clip=FixedClip(bound=Public(2)),
        norm_sums=NormSums(noise_multiplier=Public(15)),
        accounting=RenyiAccounting(order=Order(4)),
    )
    adaptive = RunPlan(
        budget=Budget(epsilon=Epsilon(4), delta=Delta("1e-6")),
        batch=Public(30),
        epochs=3,
        steps_per_epoch=20,
        size=NoisySize(noise=Public(30), guess=Public(3000)),
        clip=AdaptiveClip(
            start=Public(1),
            external=Public(1),
            quantile=Public("1/2"),
            noise_multiplier=Public(100),
            lowest=Public("1/8"),
            highest=Public(4),
        ),
        norm_sums=NormSums(noise_multiplier=Public(30), rate=Public("1/4")),
        schedule=ExponentialDecay(base=Public("9/10")),
    )
    return {
        "DPIS": plan,
        "DPIS, adaptive": adaptive,
        "DP-SGD": dp_sgd(plan),
        "DP-SGD, dominated": dominated_dp_sgd(plan),
    }


def forecast_ends(plan: RunPlan) -> list[Ends]:
    """The noise of each epoch, what each release of the run costs, and what the run does."""
    found = forecast(plan)
    costs = [ends(cost.tau) for cost in (*found.fixed_costs, *found.step_costs)]
    return [*at_most(found.noise_multipliers), *costs, ends(found.guarantee.bound.epsilon)]


def questions() -> Iterator[tuple[str, Question]]:
    """Every question by its name."""
    for name, (mechanism, sampler) in PURE_RUNS.items():
        yield f"ψ: {name}", partial(psi, mechanism, sampler)
    for name, parts in RUNS.items():
        run = partial(releases, *parts)
        yield f"ε at δ: {name}", partial(epsilon, run)
        yield f"δ at ε: {name}", partial(delta, run)
        yield f"τ at orders: {name}", partial(renyi, run)
    for name in ("laplace-sum, full, 3 afresh", "gaussian-sum, full, 4 afresh", "randomised-response, full, 2 afresh"):
        yield f"ρ and μ: {name}", partial(concentrated, partial(releases, *RUNS[name]))
    for name in ("laplace-sum, poisson, 10 afresh", "gaussian-sum, full, 4 afresh"):
        yield f"trade-off: {name}", partial(trade_off, partial(releases, *RUNS[name]))
    for accountant in ACCOUNTANTS:
        yield f"by accountant: {accountant}", partial(by_accountant, accountant)
    for name in KEYED:
        yield f"rows: {name}", partial(rows, partial(reporting, name), (1, 3, 5))
        yield f"ε at δ: {name}", partial(keyed_costs, name)
    yield "rows: weighted sampling of keys", partial(rows, sampled_keys, (2, 20, 2000))
    for name, plan in PLANS.items():
        yield f"plan: {name}", partial(both, plan)
    for name, solved in WEIGHTS.items():
        yield f"weights: {name}", partial(weights, *solved)
    sampled = releases("gaussian-sum", "importance by l2", ResampleEach(20))
    yield "record by record: ε at δ", lambda: at_most(record_losses(sampled, CUBE, at=DELTA).reveal().values)
    yield (
        "record by record: τ",
        lambda: at_most(kept_losses(sampled)),
    )
    yield (
        "record by record: Laplace",
        lambda: at_most(
            record_losses(releases("laplace-sum", "importance", ResampleEach(2)), CUBE, at=DELTA).reveal().values
        ),
    )
    yield "individual losses", individual
    yield "individual filter", individual_filter
    yield "many steps: Gaussian", partial(epsilon, many_gaussian_steps)
    yield "many steps: Laplace", partial(epsilon, many_laplace_steps)
    coarse = Continuous(relative_gap=2**-6)
    yield "calibrated: noise", partial(ends_of_calibration, noise_within, coarse)
    yield "calibrated: steps", partial(ends_of_calibration, steps_within, Whole(highest=2**10))
    for name, question in filters().items():
        yield f"filter: {name}", question
    yield "odometers", odometers
    yield "a dominated run", dominated
    yield "a released scale in a public range", chosen_within
    for name, question in converted().items():
        yield f"conversion: {name}", question
    for name, plan_of_training in training().items():
        yield f"training: {name}", partial(forecast_ends, plan_of_training)


# How answers are kept and compared


def written(value: float | None) -> str | None:
    return None if value is None else value.hex()


def read(text: str | None) -> float | None:
    return None if text is None else float.fromhex(text)


def looser(now: Ends, then: Ends) -> bool:
    """Whether an end that was proven is lost."""
    below = then.lower is not None and (now.lower is None or now.lower < then.lower)
    return below or (then.upper is not None and (now.upper is None or now.upper > then.upper))


def kept() -> Mapping[str, Sequence[Ends]]:
    table: dict[str, list[list[str | None]]] = json.loads(TABLE.read_text("utf-8"))
    return {name: [Ends(*map(read, pair)) for pair in pairs] for name, pairs in table.items()}


QUESTIONS = dict(questions())
KEPT = kept() if TABLE.exists() else {}


def test_the_table_is_of_these_questions() -> None:
    assert list(KEPT) == list(QUESTIONS)
    assert sum(map(len, KEPT.values())) >= 200


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_as_tight_as_it_was(name: str) -> None:
    now, then = QUESTIONS[name](), KEPT[name]
    assert len(now) == len(then)
    lost = [(one, other) for one, other in zip(now, then, strict=True) if looser(one, other)]
    assert not lost
    assert all(one.lower is None or one.upper is None or one.lower <= one.upper for one in now)


def test_a_looser_answer_would_be_noticed() -> None:
    then = Ends(1.0, 2.0)
    assert not any(looser(now, then) for now in (then, Ends(1.5, 1.75)))
    assert all(looser(now, then) for now in (Ends(None, 2.0), Ends(1.0, None), Ends(0.99, 2.0), Ends(1.0, 2.01)))


# Certificates of format 1


OWNERS_RECORDS = json.loads((CERTIFICATES / "records.json").read_text("utf-8"))
VERDICTS: dict[str, dict[str, Any]] = json.loads((CERTIFICATES / "verdicts.json").read_text("utf-8"))


def verdict(name: str) -> dict[str, Any]:
    """What the checker says of a file."""
    found = check(
        (CERTIFICATES / f"{name}.json").read_bytes(), Rows(OWNERS_RECORDS) if name.startswith("owner") else None
    )
    assert found.claim is not None
    claim = found.claim
    bound = claim.bound and [str(end) for end in claim.bound]
    told = {"guarantee": claim.guarantee, "theorem": claim.theorem, "unit": claim.unit, "relation": claim.relation}
    return {"outcome": found.outcome.value, "bound": bound, "domain": claim.domain, **told}


def test_no_file_is_left_out() -> None:
    beside = {"records", "verdicts"}
    assert set(VERDICTS) == {path.stem for path in CERTIFICATES.glob("*.json")} - beside
    assert len(VERDICTS) >= 25


@pytest.mark.parametrize("name", VERDICTS)
def test_certificates_of_format_1_stand_as_they_stood(name: str) -> None:
    assert verdict(name) == VERDICTS[name]


def main() -> None:
    """Compare with the table and write it: never a looser answer over a tighter one."""
    answers = {name: question() for name, question in QUESTIONS.items()}
    known = [
        (name, now, then)
        for name, found in answers.items()
        for now, then in zip(found, KEPT.get(name, ()), strict=False)
    ]
    lost = [name for name, now, then in known if looser(now, then)]
    if lost:
        raise SystemExit(
            f"{len(lost)} answers became looser, and nothing was written: {', '.join(dict.fromkeys(lost))}"
        )
    tighter = sum(now != then for _, now, then in known)
    table = {name: [[*map(written, pair)] for pair in found] for name, found in answers.items()}
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{sum(map(len, answers.values()))} answers: {tighter} became tighter")


if __name__ == "__main__":
    main()
