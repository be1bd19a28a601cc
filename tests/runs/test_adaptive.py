"""Adaptive runs: paid from a filter or within a plan, never accounted for afterwards."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.accounting.accountants import RENYI, ZERO_CONCENTRATED
from certdp.accounting.conversions import best_order, pure_to_zero_concentrated
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.filters import (
    ApproximateFilter,
    BudgetExceeded,
    GaussianFilter,
    PureFilter,
    PureOdometer,
    RenyiFilter,
    RenyiOdometer,
    ZeroConcentratedFilter,
)
from certdp.accounting.guarantees import Guarantee, compose, for_groups
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.accounting.provenance import Public, Released
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, ZERO_OUT, Change, User
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce
from certdp.accounting.stored.guarantees import guarantee_from_json, guarantee_to_json
from certdp.accounting.units import Delta, Epsilon
from certdp.ledger import Ledger, LedgerRequest
from certdp.mechanisms.count import Count
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import Coins
from certdp.runs.adaptive import AdaptiveRun, DominatedRun, NoAccountant
from certdp.runs.ex_post import ExPostRun
from certdp.runs.plan import Plan
from certdp.runs.sampled import SampledRun
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

BALL = NormBall(norm=Norm.L1, radius=Public(1))
WIDE = NormBall(norm=Norm.L1, radius=Public(2))
ROUND = NormBall(norm=Norm.L2, radius=Public(1))
ONE = Enclosure.of(1)
DATA = np.full((20, 2), 0.25)


def laplace(scale: Any, rate: Any = 1, releases: Any = None, **more: Any) -> SampledRun:
    return SampledRun(
        mechanism=LaplaceSum(scale=scale if isinstance(scale, Released) else Public(scale)),
        sampler=Poisson(rate=Public(rate)),
        releases=releases or ResampleEach(1),
        domain=more.get("domain", BALL),
    )


def gaussian(noise: Any, rate: Any = 1, releases: Any = None) -> SampledRun:
    return SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(noise)),
        sampler=Poisson(rate=Public(rate)),
        releases=releases or ResampleEach(1),
    )


def pure_run(epsilon: Any = 1) -> AdaptiveRun[Pure, Any]:
    return AdaptiveRun(PureFilter(Pure(Enclosure.of(epsilon)), relation=ADD_REMOVE, unit=RECORD, domain=BALL))


class TestPaidFromAFilter:
    def test_a_run_that_looks_at_what_it_released(self) -> None:
        run = pure_run()
        (first,) = run.release(laplace(2), DATA)
        finer = run.chosen(4 if float(first[0]) > 0 else 8)
        (second,) = run.release(laplace(finer), DATA)
        assert second.shape == (2,)
        assert run.filter.number == 2
        assert run.filter.spent.epsilon.upper in (Fraction(3, 4), Fraction(5, 8))
        assert run.guarantee.bound == Pure(ONE)
        assert "chosen from earlier releases" in str(run.guarantee.derivation)

    def test_nothing_is_released_beyond_the_budget(self) -> None:
        run = pure_run()
        run.release(laplace(2), DATA)
        assert run.would_exceed(laplace(1)) is Truth.TRUE
        with pytest.raises(BudgetExceeded):
            run.release(laplace(1), DATA)
        assert run.filter.number == 1
        run.release(laplace(2), DATA)
        assert run.filter.spent == Pure(ONE)

    @pytest.mark.parametrize(
        ("account", "spent"),
        [
            (ZeroConcentratedFilter(ZeroConcentrated(ONE), relation=ADD_REMOVE, unit=RECORD), Fraction(1, 8)),
            (RenyiFilter(Renyi(Fraction(4), ONE), relation=ADD_REMOVE, unit=RECORD), Fraction(1, 2)),
            (GaussianFilter(GaussianDP(ONE), relation=ADD_REMOVE, unit=RECORD), Fraction(1, 2)),
        ],
    )
    def test_each_filter_asks_for_its_own_cost(self, account: Any, spent: Fraction) -> None:
        run = AdaptiveRun(account)
        run.pay(gaussian(2))
        (number,) = (getattr(account.spent, name) for name in ("rho", "tau", "mu") if hasattr(account.spent, name))
        assert number.contains(spent)

    def test_an_approximate_cost_is_read_at_the_declared_delta(self) -> None:
        account = ApproximateFilter(
            Approximate(ONE * 3, Enclosure.of("1e-3")), relation=ADD_REMOVE, unit=RECORD, at=Delta("1e-4")
        )
        run = AdaptiveRun(account)
        run.pay(gaussian(4))
        exact = gaussian(4).epsilon(Delta("1e-4")).guarantee.bound
        assert account.spent.epsilon == exact.epsilon
        assert account.spent.delta.number == Fraction(1, 10_000)

    def test_a_step_may_be_a_plan(self) -> None:
        run = pure_run()
        run.pay(Plan([laplace(4), laplace(4)]))
        assert run.filter.spent.epsilon.upper == Fraction(1, 2)

    def test_bad_steps_and_filters(self) -> None:
        run = pure_run()
        with pytest.raises(InvalidType, match="A step is fixed before it is released"):
            run.pay(run)  # type: ignore[arg-type]
        with pytest.raises(InvalidType, match="released one by one"):
            run.release(Plan([laplace(4)]), DATA)  # type: ignore[arg-type]
        with pytest.raises(InvalidValue, match="radius = 5"):
            run.pay(laplace(10, domain=NormBall(norm=Norm.L1, radius=Public(5))))
        with pytest.raises(InvalidType, match="Fix a budget beforehand"):
            AdaptiveRun(Pure(ONE))  # type: ignore[call-overload]
        with pytest.raises(InvalidValue, match="whose unit is a record or a user"):
            AdaptiveRun(PureFilter(Pure(ONE), relation=ADD_REMOVE, unit=ELEMENT))
        assert run.filter.number == 0

    def test_many_parameters_chosen_one_from_another_stay_cheap_to_account_for(self) -> None:
        run = pure_run(100)
        scale: Any = 2
        for _ in range(60):
            step = laplace(run.chosen(scale))
            run.pay(step)
            scale = 3 if scale == 2 else 2
        assert run.filter.number == 60
        assert len(str(run.guarantee.derivation)) < 2000


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE, ZERO_OUT])
@pytest.mark.parametrize("unit", [RECORD, User(contributions=3)])
class TestOtherUnitsAndRelations:
    """Steps about what the filter is about, and no others, with parameters that the run chose."""

    def run(self, relation: Change, unit: Any) -> AdaptiveRun[ZeroConcentrated, Change, Any]:
        budget = ZeroConcentrated(ONE)
        return AdaptiveRun(ZeroConcentratedFilter(budget, relation=relation, unit=unit, domain=ROUND))

    def step(self, scale: Public[int] | Released[int], relation: Change, unit: Any) -> SampledRun[Any]:
        return SampledRun(
            mechanism=GaussianSum(scale=scale),
            sampler=Poisson(rate=Public(1)),
            domain=ROUND,
            relation=relation,
            unit=unit,
        )

    def test_chosen_parameters_cost_what_public_ones_do(self, relation: Change, unit: Any) -> None:
        run = self.run(relation, unit)
        run.release(self.step(Public(20), relation, unit), DATA)
        chosen = self.step(run.chosen(10), relation, unit)
        run.release(chosen, DATA)
        records = (1 if unit == RECORD else 3) * (2 if relation == REPLACE else 1)  # so far, in radii, may the sum move
        expected = Fraction(records**2, 2) * (Fraction(1, 400) + Fraction(1, 100))
        assert run.filter.spent.rho.contains(expected)
        assert run.filter.spent.rho.upper - expected < Fraction(1, 10**12)
        with pytest.raises(InvalidValue, match="Account for adaptive runs by a filter"):
            chosen.zero_concentrated()
        with pytest.raises(InvalidValue, match=r"step: got a parameter chosen"):
            self.run(relation, unit).pay(chosen)

    def test_a_released_parameter_is_charged_or_refused(self, relation: Change, unit: Any) -> None:
        cost: Guarantee[Pure, Change, Any] = Guarantee(
            bound=Pure(ONE / 10), relation=relation, unit=unit, derivation=Theorem("a", "b").conclude()
        )
        if (relation, unit) == (ADD_REMOVE, RECORD):
            run = self.run(relation, unit)
            run.pay(self.step(Released(10, cost), relation, unit))
            assert run.filter.spent.rho.lower > Fraction(1, 200) + Fraction(49, 10_000)  # ε·tanh(ε/2) at ε = 1/10
        else:
            with pytest.raises(InvalidValue, match="released parameters, are accounted for under that alone"):
                self.step(Released(10, cost), relation, unit)

    def test_steps_about_something_else_are_refused(self, relation: Change, unit: Any) -> None:
        run = self.run(relation, unit)
        for other in (ADD_REMOVE, REPLACE, ZERO_OUT):
            for whose in (RECORD, User(contributions=2), User(contributions=3)):
                if (other, whose) != (relation, unit):
                    with pytest.raises(InvalidValue, match=r"cost\.(unit|relation)"):
                        run.pay(self.step(Public(20), other, whose))
        assert run.filter.number == 0


class TestNoAccountant:
    @pytest.mark.parametrize("name", ["epsilon", "delta", "pairs", "pure", "renyi", "zero_concentrated", "gaussian"])
    def test_an_adaptive_run_answers_no_accountant(self, name: str) -> None:
        run: Any = pure_run()
        with pytest.raises(NoAccountant, match=r"cannot be accounted for afterwards.*run\.guarantee"):
            getattr(run, name)
        assert not hasattr(run, name)
        with pytest.raises(AttributeError, match="colour"):
            _ = run.colour

    def test_neither_accountants_nor_searches_nor_plans_take_one(self) -> None:
        run: Any = pure_run()
        with pytest.raises(AttributeError):
            RENYI.epsilon(run, Enclosure.of("1e-5"))
        with pytest.raises(TypeError):
            best_order(run, Enclosure.of("1e-5"))
        with pytest.raises(InvalidType, match="composes by its filter alone"):
            Plan([laplace(4), run])

    def test_a_parameter_chosen_on_the_way_is_marked(self) -> None:
        run = pure_run()
        chosen = run.chosen(3)
        assert chosen.value == 3
        assert chosen.cost.bound.epsilon.upper == 0
        step = laplace(chosen)
        assert "chosen from earlier releases of an adaptive run" in str(run.cost(step).derivation)
        for question in (step.pure, step.zero_concentrated, lambda: step.epsilon(Delta("1e-6"))):
            with pytest.raises(InvalidValue, match="a parameter chosen from earlier releases"):
                question()

    def test_a_parameter_chosen_by_another_run_is_refused(self) -> None:
        """Its scale tells what the other run released for 5; the smaller budget does not say so."""
        other, run, dominated = pure_run(10), pure_run("1/10"), DominatedRun(Plan([laplace(10)]))
        other.release(laplace("1/5"), DATA)
        foreign = [laplace(other.chosen(100)), laplace(other.chosen(100).map(lambda scale: 2 * scale))]
        foreign.append(laplace(dominated.chosen(100)))
        for step in foreign:
            for ask in (run.cost, run.would_exceed, run.pay, lambda step: run.release(step, DATA), ExPostRun):
                with pytest.raises(InvalidValue, match="chosen from earlier releases"):
                    ask(step)
        for step in foreign[:2]:
            with pytest.raises(InvalidValue, match="a parameter released for"):
                dominated.release(step, DATA)
        assert run.filter.number == 0
        again = AdaptiveRun(other.filter)  # another run from the same budget
        again.release(foreign[0], DATA)
        assert other.filter.number == 2

    def test_what_a_chosen_parameter_costs_beside_its_run_is_no_guarantee(self) -> None:
        cost = pure_run().chosen(3).cost
        for marked in (cost, for_groups(cost, 1)):
            for ask in (compose, lambda marked: Released(3, marked, within=(1, 5))):
                with pytest.raises(InvalidValue, match="counted elsewhere"):
                    ask(marked)

    def test_a_cost_counted_beside_one_account_is_paid_by_no_other(self, tmp_path: Path) -> None:
        """Beside its own account the cost says all: the others would state less than the chosen scale tells."""
        run, other = pure_run(3), pure_run(3)
        cost = run.cost(laplace(run.chosen(3)))
        rule = PureFilter(Pure(Enclosure.of(3)), relation=ADD_REMOVE, unit=RECORD, domain=BALL)
        held = Ledger.create(tmp_path / "a.ledger", rule, data="people")
        one: Any = {"relation": ADD_REMOVE, "unit": RECORD, "domain": BALL}
        odometer, at_orders = PureOdometer(**one), RenyiOdometer([2], "1e-6", **one)
        line = run.chosen(3).cost, pure_to_zero_concentrated(cost)
        foreign: dict[str, list[Any]] = {
            "filter": [other.filter.spend, other.filter.would_exceed],
            "ledger": [
                lambda cost: held.pay(cost, request="a"),
                lambda cost: held.reserve(cost, request="a", expires=timedelta(hours=1)),
                lambda cost: held.release(cost, lambda: b"", request="a"),
                lambda cost: LedgerRequest(held, "a").pay(cost, plan="a", coins=Coins()),
                held.would_exceed,
            ],
            "odometer": [odometer.charge, lambda _: at_orders.charge_line(line[1])],
        }
        for pay in [way for ways in foreign.values() for way in ways]:
            for marked in (cost, line[0], for_groups(cost, 1)):
                with pytest.raises(InvalidValue, match="counted elsewhere"):
                    pay(marked)
        stored = guarantee_from_json(guarantee_to_json(cost))
        for copied in (pickle.loads(pickle.dumps(cost)), copy.deepcopy(cost), stored):
            assert copied == cost
            with pytest.raises(InvalidValue, match="counted elsewhere"):
                run.filter.spend(copied)
        assert (other.filter.number, held.number, run.filter.number) == (0, 0, 0)
        run.filter.spend(cost)
        assert run.filter.number == 1
        shared = AdaptiveRun(ledger=held)
        held.pay(shared.cost(laplace(shared.chosen(3))), request="b")
        assert held.number == 1
        assert held.verify().sound

    def test_the_budget_is_a_guarantee_whatever_was_paid(self) -> None:
        run = pure_run(5)
        run.release(laplace(run.chosen(2)), DATA)
        run.release(laplace(Released(2, laplace(10).pure())), DATA)  # at the value that came out
        assert compose(run.guarantee, run.guarantee).bound.epsilon.upper == 10
        assert for_groups(run.guarantee, 2).bound.epsilon.upper == 10
        assert Released(3, run.guarantee).cost == run.guarantee
        dominated = DominatedRun(Plan([laplace(1)]))
        dominated.release(laplace(dominated.chosen(2)), DATA)
        answer = dominated.epsilon(Delta(0))
        assert compose(answer.guarantee, answer.guarantee).bound.epsilon.upper == 2
        assert "ex post" not in answer.statement


class TestDominated:
    PLAN = Plan([laplace(2, "1/2", ResampleEach(3)), gaussian(2, "1/4"), laplace(4, "1/2", SampleOnce(2))])

    def test_steps_within_the_declared_ones(self) -> None:
        run = DominatedRun(self.PLAN)
        run.release(laplace(2, "1/2"), DATA)
        run.use(laplace(3, "1/4", ResampleEach(2)))
        run.use(gaussian(5, "1/4"))
        run.use(laplace(8, "1/3", SampleOnce(2)))
        with pytest.raises(InvalidValue, match="used up"):
            run.use(laplace(100))
        quick: Any = {"accountant": ZERO_CONCENTRATED}
        for mine, planned in (
            (run.epsilon(Delta("1e-5"), **quick), self.PLAN.epsilon(Delta("1e-5"), **quick)),
            (run.delta(Epsilon(3), **quick), self.PLAN.delta(Epsilon(3), **quick)),
        ):
            assert (mine.epsilon, mine.delta) == (planned.epsilon, planned.delta)
            assert "each step dominated by one declared beforehand" in str(mine.guarantee.derivation)
            assert "gaussian-sum" in str(mine.guarantee.derivation)

    def test_parameters_may_be_chosen(self) -> None:
        run = DominatedRun(self.PLAN)
        run.release(laplace(run.chosen(3), "1/2"), DATA)
        cost: Guarantee[Pure, Any, Any] = Guarantee(
            bound=Pure(ONE), relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("a", "b").conclude()
        )
        with pytest.raises(InvalidValue, match="a parameter released for"):
            run.use(laplace(Released(3, cost), "1/2"))

    def test_a_parameter_that_the_plan_paid_for_may_be_used(self) -> None:
        cost: Guarantee[Pure, Any, Any] = Guarantee(
            bound=Pure(ONE), relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("a", "b").conclude()
        )
        scale = Released(Fraction(2), cost, within=(2, 8))
        run = DominatedRun(Plan([laplace(scale, releases=ResampleEach(2))]))
        run.use(laplace(scale))
        run.use(laplace(scale.map(lambda value: value * 2)))

    @pytest.mark.parametrize(
        ("step", "parameter"),
        [
            (laplace(2, "0.6"), "step.rate"),
            (laplace("1.9", "1/2"), "step.pair"),
            (gaussian(100, "1/2"), "step.pair"),
            (laplace(2, "1/2", SampleOnce(2)), "step.releases"),
            (laplace(2, "1/2", ResampleEach(4)), "step.releases"),
            (laplace(4, "1/2", domain=WIDE), "step.domain"),
        ],
    )
    def test_what_is_not_within_is_refused_and_nothing_is_used(self, step: SampledRun, parameter: str) -> None:
        run = DominatedRun(self.PLAN)
        with pytest.raises(InvalidValue) as refused:
            run.use(step)
        assert refused.value.parameter == parameter
        assert refused.value.remedy or parameter == "step.domain"
        run.use(laplace(2, "1/2", ResampleEach(3)))

    def test_a_pure_step_is_within_a_gaussian_one_of_its_mu(self) -> None:
        run = DominatedRun(Plan([gaussian(1, releases=ResampleEach(3))]))
        run.use(gaussian(1))
        run.use(SampledRun(mechanism=Count(scale=Public(2)), sampler=Full()))
        with pytest.raises(InvalidValue, match=r"step\.pair"):
            run.use(SampledRun(mechanism=Count(scale=Public("0.7")), sampler=Full()))

    def test_the_rest_of_a_part_may_be_left(self) -> None:
        run = DominatedRun(self.PLAN)
        run.use(laplace(2, "1/2"))
        run.skip()
        run.use(gaussian(2, "1/4"))
        run.use(laplace(4, "1/2"))  # one release on the declared sample of two
        for last in (run.skip, lambda: run.use(laplace(100, "1/2"))):
            with pytest.raises(InvalidValue, match="used up"):
                last()

    def test_releases_on_one_sample_are_one_step(self) -> None:
        run = DominatedRun(Plan([laplace(4, "1/2", SampleOnce(4)), laplace(4, "1/2", SampleOnce(4))]))
        run.use(laplace(4, "1/2", SampleOnce(2)))
        run.use(laplace(4, "1/2", SampleOnce(4)))
        assert repr(run) == "DominatedRun(part 3 of 2, 0 releases of it used)"

    @pytest.mark.slow
    def test_a_part_with_several_worst_pairs_is_refused(self) -> None:
        several = SampledRun(
            mechanism=LaplaceSum(scale=Public(1)),
            sampler=Importance(rate=Public("0.9"), norm=Public(Norm.LINF)),
            domain=NormBall(norm=Norm.L1, radius=Public(1), dimension=4),
        )
        assert len(several.worst_cases.bounding) > 1
        with pytest.raises(InvalidValue, match=r"plan\.parts\[1\].*constant rate"):
            DominatedRun(Plan([gaussian(1), several]))
        with pytest.raises(InvalidType, match="Declare what each step may cost"):
            DominatedRun(several)  # type: ignore[arg-type]

    def test_an_importance_sample_is_within_a_declared_constant_rate(self) -> None:
        declared = SampledRun(mechanism=GaussianSum(scale=Public(1)), sampler=Poisson(rate=Public(1)), domain=ROUND)
        step = SampledRun(
            mechanism=GaussianSum(scale=Public(10)),
            sampler=Importance(rate=Public("0.9"), norm=Public(2), floor=Public("0.2")),
            domain=ROUND,
        )
        DominatedRun(Plan([declared])).use(step)
