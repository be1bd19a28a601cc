"""Runs with released parameters: every door that a bound goes out by refuses one that moves with the value."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import evolve

import certdp
from certdp import (
    AdaptiveRun,
    Coins,
    Coreset,
    Count,
    Delta,
    DiscreteGaussian,
    DiscreteLaplace,
    DominatedRun,
    Enclosure,
    Epsilon,
    ExPost,
    ExPostRun,
    Full,
    GaussianSum,
    Guarantee,
    Importance,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    Lloyd,
    LpSum,
    Norm,
    NormBall,
    Order,
    Plan,
    Poisson,
    PrivacyConstrained,
    Private,
    Public,
    RandomisedResponse,
    Released,
    ResampleEach,
    SampledRun,
    check,
)
from certdp.accounting.relations import ADD_REMOVE, RECORD, REPLACE
from certdp.filters import PureFilter, ZeroConcentratedFilter
from certdp.individual import release_count
from certdp.interoperation import judged
from certdp.interoperation.claims import judged_in
from certdp.mechanisms.dpis_step import DpisStep
from certdp.notions import Pure, ZeroConcentrated
from certdp.risks import AdvantageLimit
from certdp.samplers.dpis import Dpis

BALL = NormBall(norm=Norm.L1, radius=Public(1))
BALL_2 = NormBall(norm=Norm.L2, radius=Public(1))
COUNT = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=Full(), domain=BALL).pure()
RELEASED_BALL = NormBall(norm=Norm.L1, radius=Released(1, COUNT))
DELTA = Delta("1e-6")
DATA = np.array([[0.25], [0.5]])


def scale_by_count(count: float) -> Released[Any]:
    """The scale that a noisy count chooses: 100 below 5, and 1/10 otherwise."""
    return Released(count, COUNT).map(lambda value: 100 if value < 5 else "0.1")


def after_a_count(scale: Any, domain: Any = BALL) -> SampledRun:
    return SampledRun(mechanism=LaplaceSum(scale=scale), sampler=Full(), domain=domain)


def sampled(scale: Any = None, sampler: Any = None, domain: NormBall | None = BALL) -> SampledRun:
    return SampledRun(mechanism=LaplaceSum(scale=scale or Public(1)), sampler=sampler or Full(), domain=domain)


WITNESS = after_a_count(scale_by_count(3.0))

DOORS: dict[str, Callable[[], object]] = {
    "pure": WITNESS.pure,
    "rényi": lambda: WITNESS.renyi(Order(2)),
    "zero-concentrated": WITNESS.zero_concentrated,
    "gaussian": WITNESS.gaussian,
    "epsilon": lambda: WITNESS.epsilon(DELTA),
    "delta": lambda: WITNESS.delta(Epsilon(1)),
    "trade-off": WITNESS.trade_off,
    "certificate": lambda: certdp.certificate(WITNESS, after_a_count(Public(100)).epsilon(DELTA)),
    "plan": lambda: Plan([WITNESS]).epsilon(DELTA),
    "plan, pure": lambda: Plan([after_a_count(Public(3)), WITNESS]).pure(),
    "plan, certificate": lambda: certdp.certificate(Plan([WITNESS]), after_a_count(Public(100)).epsilon(DELTA)),
    "profile": lambda: sampled(scale_by_count(3.0), domain=None).profile,
    "supremum": lambda: sampled(scale_by_count(3.0)).profile.supremum(BALL),
    "profile's certificate": lambda: certdp.profile_certificate(sampled(scale_by_count(3.0), domain=None)),
    "supremum's certificate": lambda: certdp.profile_certificate(sampled(scale_by_count(3.0))),
    "owner's certificate": lambda: certdp.owner_certificate(sampled(scale_by_count(3.0)), DATA),
    "losses of records": lambda: certdp.record_losses(sampled(scale_by_count(3.0), domain=None), DATA),
    "ε per record": lambda: certdp.record_losses(WITNESS, DATA, at=DELTA),
    "τ per record": lambda: certdp.record_losses(WITNESS, DATA, at=Order(2)),
    "weights": lambda: certdp.record_weights(sampled(scale_by_count(3.0)), certdp.Records.of(DATA)),
    "radius": lambda: after_a_count(Public(1), NormBall(norm=Norm.L1, radius=Released(1, COUNT))).pure(),
    "radius, supremum": lambda: sampled(domain=NormBall(norm=Norm.L1, radius=Released(1, COUNT))).profile.supremum(
        RELEASED_BALL
    ),
    "radius, certificate": lambda: certdp.profile_certificate(sampled(domain=RELEASED_BALL)),
    "rate": lambda: sampled(sampler=Poisson(rate=Released("0.5", COUNT))).pure(),
    "whether weighted": lambda: sampled(sampler=Poisson(rate=Public("0.5"), weighted=Released(True, COUNT))).pure(),
    "norm": lambda: sampled(sampler=Importance(rate=Public("0.5"), norm=Released(2, COUNT)), domain=None).profile,
    "coreset": lambda: sampled(
        sampler=Coreset(
            m=Public(10),
            n=Released(100, COUNT),
            mean_squared_norm=Public("0.5"),
            radius=Public(1),
            mixing=Public("0.5"),
        ),
        domain=NormBall(norm=Norm.L1, radius=Public(1), dimension=1),
    ).pure(),
    "target": lambda: sampled(sampler=PrivacyConstrained(target=Released(2, COUNT))).pure(),
    "target of a run": lambda: sampled(sampler=PrivacyConstrained(target=Released(2, COUNT))).target,
    "target, certificate": lambda: certdp.profile_certificate(
        sampled(sampler=PrivacyConstrained(target=Released(2, COUNT)))
    ),
    "noise multiplier": lambda: SampledRun(
        mechanism=GaussianSum(noise_multiplier=Released(1, COUNT)), sampler=Full()
    ).epsilon(DELTA),
    "iterations": lambda: SampledRun(
        mechanism=Lloyd(
            clusters=Public(2),
            scale_sum=Public(1),
            scale_count=Public(1),
            radius=Public(1),
            iterations=Released(2, COUNT),
        ),
        sampler=Full(),
        domain=BALL_2,
    ).pure(),
    "size of a training step": lambda: SampledRun(
        mechanism=DpisStep(
            noise_multiplier=Public(1), clip=Public(1), size=Released(100, COUNT), batch=Public(10), norm_sum=Public(20)
        ),
        sampler=Dpis(batch=Public(10), norm_sum=Public(20), clip=Public(1)),
        domain=BALL_2,
    ).epsilon(DELTA),
    "norm sum of a training step": lambda: SampledRun(
        mechanism=DpisStep(
            noise_multiplier=Public(1), clip=Public(1), size=Public(100), batch=Public(10), norm_sum=Public(20)
        ),
        sampler=Dpis(batch=Public(10), norm_sum=Released(20, COUNT), clip=Public(1)),
        domain=BALL_2,
    ).epsilon(DELTA),
}


@pytest.mark.parametrize("door", DOORS)
def test_no_bound_that_moves_with_a_released_value_is_stated(door: str) -> None:
    with pytest.raises(ExPost, match=r"admissible: a value fixed beforehand, or a released number of a public range"):
        DOORS[door]()


@pytest.mark.parametrize("count", [3.0, 7.0])
def test_the_witness_is_what_the_supremum_says_whatever_came_out(count: float) -> None:
    ranged = Released(count, COUNT).map(lambda value: 100 if value < 5 else "0.1", within=("0.1", 100))
    run = after_a_count(ranged)
    assert run.pure().bound.epsilon.upper_float == pytest.approx(10.1, rel=1e-15)
    answer = run.epsilon(DELTA)
    assert 10.09 < answer.epsilon.upper <= 10.1
    assert answer.epsilon.lower is None
    found = certdp.certificate(run, answer)
    verdict = check(found.content)
    assert verdict.accepted
    assert float(found.epsilon) == answer.epsilon.upper
    assert verdict.claim is not None
    assert ("part 1: mechanism.scale was released", "within 1/10 to 100") in verdict.claim.assumptions


RESTS_ON_GUARANTEES: dict[str, Callable[[Any], object]] = {
    "a claim": lambda run: judged(run, Epsilon("0.5"), DELTA),
    "a claim in another notion": lambda run: judged_in(run, ZeroConcentrated(Enclosure.of(1))),
    "a search": lambda run: certdp.calibrate(lambda _: run, certdp.Budget(epsilon=1, delta=DELTA), certdp.Continuous()),
    "a search for a risk": lambda run: certdp.calibrate(
        lambda _: run, AdvantageLimit(advantage="0.5"), certdp.Continuous()
    ),
}
"""What says of a run that it keeps something, and not only what it costs."""


@pytest.mark.parametrize("door", RESTS_ON_GUARANTEES)
def test_what_is_read_ex_post_keeps_no_claim_and_no_budget(door: str) -> None:
    plan = Plan([after_a_count(Public(3)), WITNESS])
    for run in (WITNESS, WITNESS.as_it_came_out, ExPostRun(WITNESS), plan.as_it_came_out, ExPostRun(plan)):
        with pytest.raises(ExPost, match=r"mechanism\.scale: got a released value with which the bound moves"):
            RESTS_ON_GUARANTEES[door](run)
    RESTS_ON_GUARANTEES[door](after_a_count(Public(100)))


def test_steps_within_a_plan_read_ex_post_are_bounded_by_nothing() -> None:
    for plan in (Plan([WITNESS]).as_it_came_out, Plan([WITNESS.as_it_came_out])):
        with pytest.raises(ExPost, match=r"mechanism\.scale"):
            DominatedRun(plan)


READINGS: dict[str, Callable[[Any], object]] = {
    "pure": lambda reading: reading.pure(),
    "rényi": lambda reading: reading.renyi(Order(2)),
    "group": lambda reading: certdp.for_groups(reading.pure(), 2),
    "epsilon": lambda reading: reading.epsilon(DELTA),
    "delta": lambda reading: reading.delta(Epsilon("0.105")),
    "trade-off": lambda reading: reading.trade_off(),
    "risk": certdp.risk,
    "trade-off of a risk": lambda reading: certdp.risk(reading).trade_off,
}
"""All that a run which is read as it came out can be asked."""


@pytest.mark.parametrize("asked", READINGS)
def test_what_is_read_ex_post_says_so_wherever_it_is_printed(asked: str) -> None:
    told = ("read ex post: no guarantee", "released values as they came out")
    for reading in (WITNESS.as_it_came_out, Plan([WITNESS]).as_it_came_out):
        assert any(words in str(READINGS[asked](reading)) for words in told)
    plain = after_a_count(Public(100))
    assert not any(words in str(READINGS[asked](plain)) for words in told)


class TestWhatDoesNotMove:
    """Such bounds need no range."""

    def test_a_radius_beside_a_noise_multiplier(self) -> None:
        mechanism, sampler = GaussianSum(noise_multiplier=Public(1)), Poisson(rate=Public("0.01"))
        free = SampledRun(mechanism=mechanism, sampler=sampler).epsilon(DELTA).epsilon
        for radius in (1, 5):
            run = SampledRun(
                mechanism=mechanism, sampler=sampler, domain=NormBall(norm=Norm.L2, radius=Released(radius, COUNT))
            )
            answer = run.epsilon(DELTA)
            assert answer.epsilon.upper == pytest.approx(free.upper + 0.1, rel=1e-12)
            assert check(certdp.certificate(run, answer).content).accepted

    def test_a_target_beside_a_released_scale(self) -> None:
        """The supremum stands, while what a record loses at its weight moves with the scale."""
        run = sampled(Released(3, COUNT), PrivacyConstrained(target=Public(1)))
        assert run.pure().bound.epsilon.upper_float == run.target.bound.epsilon.upper_float == 1.1
        assert run.epsilon(Delta(0)).epsilon.upper == 1.1
        assert check(certdp.profile_certificate(run)).accepted
        assert certdp.record_losses(run, DATA).reveal().values == pytest.approx([1.1, 1.1], rel=1e-15)

    def test_a_parameter_that_no_loss_looks_at(self) -> None:
        mechanism = Lloyd(
            clusters=Released(2, COUNT),
            scale_sum=Public(1),
            scale_count=Public(1),
            radius=Public(1),
            iterations=Public(1),
        )
        run = SampledRun(mechanism=mechanism, sampler=Full(), domain=BALL_2)
        assert run.pure().bound.epsilon.upper_float == pytest.approx(2.1)
        assert check(certdp.profile_certificate(run)).accepted

    def test_the_radius_that_a_coreset_is_checked_against(self) -> None:
        constants: dict[str, Any] = {"m": 10, "n": 100, "mean_squared_norm": "0.5", "mixing": "0.5"}
        known = {name: Public(value) for name, value in constants.items()}
        domain = NormBall(norm=Norm.L1, radius=Public(1), dimension=1)
        free = sampled(sampler=Coreset(**known, radius=Public(1)), domain=domain).pure()
        paid = sampled(sampler=Coreset(**known, radius=Released(1, COUNT)), domain=domain).pure()
        assert paid.bound.epsilon.upper == pytest.approx(free.bound.epsilon.upper + Fraction(1, 10))


class TestRanges:
    """The bound is the supremum over the range: found by trying values one by one."""

    @pytest.mark.parametrize("within", [("0.5", 4), (1, 1), ("0.1", "0.2")])
    @pytest.mark.parametrize("sampler", [Full(), Poisson(rate=Public("0.3")), Importance(rate=Public("0.7"))])
    def test_of_a_scale(self, within: Any, sampler: Any) -> None:
        low, high = (Fraction(end) for end in within)
        run = sampled(Released(low, COUNT, within=within), sampler)
        bound = run.pure().bound.epsilon.upper
        tried = [sampled(Public(low + (high - low) * k / 8), sampler).pure().bound.epsilon.lower for k in range(9)]
        assert max(tried) + Fraction(1, 10) <= bound <= (max(tried) + Fraction(1, 10)) * (1 + Fraction(1, 2**40))
        assert check(certdp.profile_certificate(run)).accepted

    @pytest.mark.parametrize("weighted", [False, True])
    def test_of_a_rate(self, weighted: bool) -> None:
        def sampler(rate: Any) -> Poisson:
            return Poisson(rate=rate, weighted=Public(weighted))

        run = sampled(sampler=sampler(Released("0.2", COUNT, within=("0.1", "0.6"))))
        bound = run.pure().bound.epsilon.upper
        tried = [sampled(sampler=sampler(Public(Fraction(k, 20)))).pure().bound.epsilon.upper for k in range(2, 13)]
        assert float(bound) == pytest.approx(float(max(tried)) + 0.1, rel=1e-9)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("mechanism", "numbers"),
        [
            (lambda scale: DiscreteLaplace(scale=scale, granularity=Public("0.25")), ("0.5", "0.75", "1", "2")),
            (lambda scale: DiscreteGaussian(scale=scale, granularity=Public(1)), ("1", "1.5", "2", "4")),
            (lambda scale: LpSum(scale=scale, norm=Public(2)), ("0.5", "0.75", "1", "2")),
            (lambda scale: Count(scale=scale), ("0.5", "0.75", "1", "2")),
            (lambda scale: GaussianSum(scale=scale), ("1", "1.5", "2", "4")),
        ],
    )
    def test_of_the_noise_of_every_mechanism(self, mechanism: Any, numbers: tuple[str, ...]) -> None:
        domain = NormBall(norm=Norm.L1, radius=Public(1), dimension=2)

        def run(scale: Any) -> SampledRun:
            return SampledRun(mechanism=mechanism(scale), sampler=Poisson(rate=Public("0.5")), domain=domain)

        ranged = run(Released(numbers[1], COUNT, within=(numbers[0], numbers[-1])))
        answer = ranged.epsilon(Delta("1e-3"))
        tried = max(run(Public(number)).epsilon(Delta("1e-3")).epsilon.upper for number in numbers)
        assert tried + 0.1 <= answer.epsilon.upper <= (tried + 0.1) * (1 + 1e-9)
        assert check(certdp.certificate(ranged, answer).content).accepted

    @pytest.mark.parametrize(("option", "numbers"), [("noise", ("0.2", "0.5", "0.9")), ("epsilon", ("0.5", "1", "2"))])
    def test_of_randomised_response(self, option: str, numbers: tuple[str, ...]) -> None:
        cost = evolve(COUNT, relation=REPLACE)

        def run(value: Any) -> SampledRun:
            return SampledRun(mechanism=RandomisedResponse(categories=Public(3), **{option: value}), sampler=Full())

        ranged = run(Released(numbers[1], cost, within=(numbers[0], numbers[-1])))
        tried = max(run(Public(number)).pure().bound.epsilon.upper for number in numbers)
        assert ranged.pure().bound.epsilon.upper == pytest.approx(tried + Fraction(1, 10), rel=1e-12)
        assert check(certdp.certificate(ranged, ranged.epsilon(DELTA)).content).accepted

    def test_a_range_over_which_no_bound_is_proven_is_refused(self) -> None:
        mechanism = DiscreteGaussian(
            scale=Released(2, COUNT, within=(1, 4)), granularity=Public(1), dimension=Public(1)
        )
        run = SampledRun(mechanism=mechanism, sampler=Full(), domain=BALL_2)
        with pytest.raises(ExPost, match="over whose range no bound is proven"):
            run.epsilon(DELTA)

    def test_of_a_radius(self) -> None:
        domain = NormBall(norm=Norm.L1, radius=Released(2, COUNT, within=(1, 3)))
        assert sampled(domain=domain).pure().bound.epsilon.upper_float == pytest.approx(3.1)
        assert after_a_count(Public(1), domain).pure().bound.epsilon.upper_float == 3.1
        verdict = check(certdp.profile_certificate(sampled(domain=domain)))
        assert verdict.accepted
        assert verdict.claim is not None
        assert verdict.claim.domain == "norm(1) <= 3"

    @pytest.mark.slow
    def test_of_coreset_constants(self) -> None:
        def coreset(size: Any) -> Coreset:
            return Coreset(
                m=Public(10), n=size, mean_squared_norm=Public("0.5"), radius=Public(1), mixing=Public("0.5")
            )

        domain = NormBall(norm=Norm.L1, radius=Public(1), dimension=1)
        bound = (
            sampled(sampler=coreset(Released(100, COUNT, within=(80, 400))), domain=domain).pure().bound.epsilon.upper
        )
        tried = [
            sampled(sampler=coreset(Public(size)), domain=domain).pure().bound.epsilon.upper
            for size in range(80, 401, 40)
        ]
        assert float(bound) == pytest.approx(float(max(tried)) + 0.1, rel=1e-6)
        assert bound >= max(tried) + Fraction(1, 10)

    def test_of_a_training_step(self) -> None:
        """K̃ within its public interval: rate and shift are those of both ends, or better."""

        def step(norm_sum: Any) -> SampledRun:
            return SampledRun(
                mechanism=DpisStep(
                    noise_multiplier=Public(2), clip=Public(1), size=Public(100), batch=Public(10), norm_sum=norm_sum
                ),
                sampler=Dpis(batch=Public(10), norm_sum=norm_sum, clip=Public(1)),
                releases=ResampleEach(10),
                domain=BALL_2,
            )

        bound = step(Released(30, COUNT, within=(20, 60))).epsilon(DELTA).epsilon.upper
        for norm_sum in (20, 30, 45, 60):
            assert step(Public(norm_sum)).epsilon(DELTA).epsilon.upper + 0.1 <= bound

    def test_two_parts_of_a_plan_have_their_own(self) -> None:
        parts = [after_a_count(Released(2, COUNT, within=within)) for within in ((1, 4), (2, 8))]
        assert Plan(parts).pure().bound.epsilon.upper_float == pytest.approx(1 + 0.5 + 0.2)


class TestFilters:
    def run(self) -> AdaptiveRun[Any, Any]:
        return AdaptiveRun(PureFilter(Pure(Enclosure.of(5)), relation=ADD_REMOVE, unit=RECORD, domain=BALL))

    def test_they_charge_the_value_that_came_out_clamped(self) -> None:
        run = self.run()
        chosen = Released(1000, COUNT, within=(1, 2))
        assert run.cost(after_a_count(chosen)).bound.epsilon.upper_float == pytest.approx(
            0.6
        )  # 1/2 and the count's 1/10
        run.pay(WITNESS)
        assert run.filter.number == 1

    def test_a_chosen_parameter_costs_what_it_came_out_as_and_counts_in_that_run_alone(self) -> None:
        run = self.run()
        step = after_a_count(run.chosen(4))
        assert run.cost(step).bound.epsilon.upper_float == 0.25
        for question in (step.pure, lambda: step.epsilon(DELTA), lambda: Plan([step])):
            with pytest.raises(InvalidValue, match="a parameter chosen from earlier releases"):
                question()
        beside = SampledRun(
            mechanism=GaussianSum(noise_multiplier=Public(1)),
            sampler=Full(),
            domain=NormBall(norm=Norm.L2, radius=run.chosen(4)),
        )
        with pytest.raises(InvalidValue, match="a parameter chosen from earlier releases"):
            beside.epsilon(DELTA)

    def test_what_was_paid_for_a_parameter_holds_for_the_accounts_domain_too(self) -> None:
        """A count of records within 1 says nothing of one at 100, whose loss the account would have to cover."""
        wide = NormBall(norm=Norm.L1, radius=Public(100))

        def scaled_by(cost: Guarantee[Any, Any, Any]) -> Guarantee[Any, Any, Any]:
            scale = Released(5, cost, within=(4, 6))
            return after_a_count(scale, wide).pure()

        account = PureFilter(Pure(Enclosure.of(500)), relation=ADD_REMOVE, unit=RECORD, domain=wide)
        count_of_all = after_a_count(Public(1000), wide).pure()
        costs: list[Guarantee[Any, Any, Any]] = [COUNT, scaled_by(COUNT), scaled_by(scaled_by(COUNT))]
        for cost in costs:
            with pytest.raises(InvalidValue, match=r"domain: got .*radius = 1; admissible: norm = 1, radius = 100"):
                account.spend(cost)
        assert account.number == 0
        account.spend(scaled_by(scaled_by(count_of_all)))
        assert account.number == 1

    def test_such_costs_compose_with_nothing_and_have_no_certificate(self) -> None:
        run, cost = self.run(), self.run().cost(WITNESS)
        with pytest.raises(InvalidValue, match="what a run cost at released values"):
            certdp.compose(COUNT, cost)
        with pytest.raises(InvalidValue, match="what a run cost at released values"):
            Released(1, cost)
        at_value = WITNESS.as_it_came_out
        with pytest.raises(ExPost):
            certdp.certificate(at_value, at_value.epsilon(DELTA))
        assert "no guarantee" in at_value.epsilon(DELTA).statement
        with pytest.raises(ExPost):
            certdp.profile_certificate(at_value)
        read: list[Guarantee[Pure, Any, Any]] = [at_value.pure(), at_value.profile.supremum(BALL)[0]]
        for bound in read:
            with pytest.raises(InvalidValue, match="what a run cost at released values"):
                certdp.compose(COUNT, bound)
        assert run.filter.number == 0


class TestTrainingSteps:
    """A step of importance-sampled DP-SGD whose K̃ came out of the run: by a filter, or within a declared pair."""

    @staticmethod
    def step(norm_sum: Any) -> SampledRun:
        return SampledRun(
            mechanism=DpisStep(
                noise_multiplier=Public(2), clip=Public(1), size=Public(100), batch=Public(10), norm_sum=norm_sum
            ),
            sampler=Dpis(batch=Public(10), norm_sum=norm_sum, clip=Public(1)),
            domain=BALL_2,
        )

    def test_a_filter_pays_for_the_sum_that_came_out(self) -> None:
        budget = ZeroConcentrated(Enclosure.of(1))
        run = AdaptiveRun(ZeroConcentratedFilter(budget, relation=ADD_REMOVE, unit=RECORD, domain=BALL_2))
        for norm_sum in (20, 40):
            step = self.step(run.chosen(norm_sum))
            fixed = self.step(Public(norm_sum)).zero_concentrated().bound.rho
            assert run.cost(step).bound.rho.upper == fixed.upper
            run.pay(step)
            with pytest.raises(InvalidValue, match="chosen from earlier releases"):
                step.epsilon(DELTA)

    @pytest.mark.slow
    def test_a_declared_pair_takes_steps_that_it_dominates(self) -> None:
        declared = SampledRun(
            mechanism=GaussianSum(noise_multiplier=Public(4)),
            sampler=Poisson(rate=Public("0.51")),  # the drawn rate is within its rounding of 1/2
            releases=ResampleEach(3),
            domain=BALL_2,
        )
        run = DominatedRun(Plan([declared]))
        run.use(self.step(run.chosen(20)))  # rate 1/2, shift 1/10
        run.use(self.step(run.chosen(45)))
        with pytest.raises(InvalidValue, match=r"step\.pair: .*within the declared"):
            run.use(self.step(run.chosen(60)))  # shift 3/10 is above 1/4
        assert run.epsilon(DELTA).epsilon == Plan([declared]).epsilon(DELTA).epsilon


class TestReadings:
    def test_they_say_what_came_out(self) -> None:
        reading = ExPostRun(WITNESS).pure()
        assert reading.bounds.upper == pytest.approx(0.11)
        assert reading.given == {"mechanism.scale": "100"}
        assert str(reading).endswith("(ex post, no guarantee: others could come out)")
        assert ExPostRun(after_a_count(scale_by_count(7.0))).pure().bounds.upper == pytest.approx(10.1)

    def test_of_each_notion_and_of_plans(self) -> None:
        readings = ExPostRun(Plan([WITNESS, after_a_count(Public(10))]))
        assert readings.pure().given == {"part 1: mechanism.scale": "100"}
        assert readings.epsilon(DELTA).bounds.upper <= 0.21
        assert readings.delta(Epsilon(1)).bounds.upper < 1e-12
        assert readings.renyi(Order(2)).bounds.upper < 0.1
        assert len(readings.payments) == 1

    def test_they_are_no_guarantees(self) -> None:
        reading: Any = ExPostRun(WITNESS).pure()
        with pytest.raises(InvalidType):
            certdp.compose(COUNT, reading)
        with pytest.raises(InvalidType):
            Released(1, reading)

    def test_a_run_whose_bounds_are_guarantees_has_none(self) -> None:
        with pytest.raises(InvalidType, match="a run with released parameters"):
            ExPostRun(after_a_count(Public(1)))
        with pytest.raises(InvalidType, match="a run of releases"):
            ExPostRun(COUNT)  # type: ignore[arg-type]

    def test_losses_of_records_at_the_values_that_came_out(self) -> None:
        measured = certdp.record_losses(WITNESS.as_it_came_out, DATA, at=DELTA).reveal()
        assert measured.values == pytest.approx([0.1 + 0.0025, 0.1 + 0.005], abs=1e-5)


# Released with seeded coins


def counted_with(coins: Coins) -> Released[Any]:
    """A scale in a public range, from a noisy count."""
    count = release_count(Private(np.ones(40, dtype=np.bool_)), Epsilon("0.1"), coins=coins)
    return count.map(lambda found: Fraction(max(3, min(found, 6))), within=(3, 6))


CERTIFIED: dict[str, Callable[[Released[Any]], bytes]] = {
    "supremum": lambda scale: certdp.profile_certificate(sampled(scale)),
    "run": lambda scale: certified(after_a_count(scale)),
    "plan": lambda scale: certified(Plan([after_a_count(scale), after_a_count(Public(8))])),
    "radius": lambda size: certdp.profile_certificate(sampled(domain=NormBall(norm=Norm.L1, radius=size))),
}


def certified(run: SampledRun[Any] | Plan[Any]) -> bytes:
    return certdp.certificate(run, run.epsilon(DELTA)).content


@pytest.mark.parametrize("kind", CERTIFIED)
def test_what_was_released_with_seeded_coins_has_no_certificate(kind: str) -> None:
    """Whoever knows the seed knows the count: only of one that the system's coins hid is there a certificate."""
    with pytest.raises(InvalidValue, match=r"seeded coins; admissible: releases with private coins"):
        CERTIFIED[kind](counted_with(Coins.seeded(1)))
    assert b"seeded" not in CERTIFIED[kind](counted_with(Coins()))
