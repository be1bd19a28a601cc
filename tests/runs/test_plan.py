"""Plans: several runs fixed beforehand, against closed forms, exact finite computation and each part alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from certdp.accounting.accountants import RENYI, WorstPairs
from certdp.accounting.accountants.composed_runs import LargestOf, composed
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.filters import PureFilter
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.pairs import GaussianPair, LaplacePair, Pair, RandomisedResponsePair
from certdp.accounting.provenance import Public, Released
from certdp.accounting.relations import ADD_REMOVE, RECORD, REPLACE, Direction
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.losses import PureLoss
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce
from certdp.accounting.sampling.worst_cases import case_on_axis
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.mechanisms.count import Count
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.lp_sum import LpSum
from certdp.mechanisms.randomised_response import RandomisedResponse
from certdp.plugins.contract import Coins
from certdp.runs.adaptive import AdaptiveRun
from certdp.runs.plan import Plan
from certdp.runs.run import NotionAbsent
from certdp.runs.sampled import SampledRun
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

BALL = NormBall(norm=Norm.L1, radius=Public(1))
HALF = Poisson(rate=Public("0.5"))


def run(mechanism: Any, sampler: Any = None, releases: Any = None, domain: Any = BALL) -> SampledRun:
    return SampledRun(
        mechanism=mechanism, sampler=sampler or Full(), releases=releases or ResampleEach(1), domain=domain
    )


LAPLACE = run(LaplaceSum(scale=Public(2)), HALF, ResampleEach(3))
GAUSSIAN = run(GaussianSum(noise_multiplier=Public(3)), domain=None)
COUNT = run(Count(scale=Public(4)), domain=None)


class TestCosts:
    def test_each_notion_is_the_sum_of_the_parts(self) -> None:
        plan = Plan([LAPLACE, COUNT])
        alone = LAPLACE.pure().bound.epsilon
        assert plan.pure().bound.epsilon == alone + Fraction(1, 4)
        both = LAPLACE.zero_concentrated().bound.rho + COUNT.zero_concentrated().bound.rho
        assert plan.zero_concentrated().bound.rho.upper == pytest.approx(float(both.upper), rel=1e-15)
        at = LAPLACE.renyi(Order(7)).bound.tau + COUNT.renyi(Order(7)).bound.tau
        assert plan.renyi(Order(7)).bound.tau.upper == pytest.approx(float(at.upper), rel=1e-15)
        squares = LAPLACE.gaussian().bound.mu.square() + COUNT.gaussian().bound.mu.square()
        assert plan.gaussian().bound.mu.square().upper == pytest.approx(float(squares.upper), rel=1e-12)

    def test_gaussian_parts_are_one_gaussian(self) -> None:
        plan = Plan([run(GaussianSum(noise_multiplier=Public(k)), domain=None) for k in (3, 4)])
        alone = run(GaussianSum(noise_multiplier=Public("2.4")), domain=None)  # 1/9 + 1/16 = (5/12)²
        mine, theirs = plan.epsilon(Delta("1e-6")), alone.epsilon(Delta("1e-6"))
        assert mine.epsilon.upper == pytest.approx(theirs.epsilon.upper, rel=1e-12)
        assert mine.epsilon.lower == pytest.approx(theirs.epsilon.upper, rel=1e-9)
        assert plan.gaussian().bound.mu.contains(Fraction(5, 12))

    def test_a_notion_that_one_part_lacks_is_refused(self) -> None:
        with pytest.raises(NotionAbsent, match="laplace-sum then gaussian-sum; admissible: a plan that has a pure ε"):
            Plan([LAPLACE, GAUSSIAN]).pure()
        assert Plan([LAPLACE, GAUSSIAN]).epsilon(Delta("1e-6"), accountant=RENYI).epsilon.upper > 0

    @pytest.mark.slow
    def test_one_part_costs_what_it_costs_alone(self) -> None:
        for part in (LAPLACE, GAUSSIAN, COUNT):
            plan = Plan([part])
            assert plan.pairs == part.pairs
            assert plan.zero_concentrated().bound == part.zero_concentrated().bound
            mine, alone = (run.epsilon(Delta("1e-4"), accountant=RENYI) for run in (plan, part))
            assert mine.epsilon == alone.epsilon

    def test_the_order_of_the_parts_does_not_matter(self) -> None:
        first, second = Plan([LAPLACE, COUNT]), Plan([COUNT, LAPLACE])
        assert first.pure().bound == second.pure().bound
        one, other = (plan.renyi(Order(3)).bound.tau for plan in (first, second))
        assert one.upper == pytest.approx(float(other.upper), rel=1e-15)

    def test_two_responses_by_hand(self) -> None:
        """ε = 1 and ε = 2 under replace: δ at e^ε of the product law, in exact numbers of a finite table."""
        parts = [run(RandomisedResponse(categories=Public(2), epsilon=Public(e)), domain=None) for e in (1, 2)]
        plan = Plan(parts)
        assert plan.relation == REPLACE
        likely = [1 / (1 + math.exp(-e)) for e in (1, 2)]
        outcomes = [(a, b) for a in (1, -1) for b in (1, -1)]
        loss = {(a, b): a * 1 + b * 2 for a, b in outcomes}

        def chance(a: int, b: int) -> float:
            return (likely[0] if a > 0 else 1 - likely[0]) * (likely[1] if b > 0 else 1 - likely[1])

        exact = sum(chance(*o) * max(0.0, -math.expm1(1.5 - loss[o])) for o in outcomes)
        found = plan.delta(Epsilon("1.5")).delta
        assert exact <= found.upper * (1 + 1e-12)
        assert found.lower is None or found.lower <= exact * (1 + 1e-12)

    def test_a_derivation_names_every_part(self) -> None:
        stated = str(Plan([LAPLACE, GAUSSIAN]).zero_concentrated().derivation)
        assert "releases fixed beforehand" in stated
        assert "declaration laplace-sum" in stated
        assert "declaration gaussian-sum" in stated
        assumptions = [str(assumption) for assumption in Plan([LAPLACE, GAUSSIAN]).zero_concentrated().assumptions]
        assert "part 2 = gaussian-sum (noise_multiplier=3) · full · 1 release" in assumptions


class TestRecords:
    """The worst record of one part may not be that of another."""

    def test_a_lower_end_is_about_one_record(self) -> None:
        weighted = run(LaplaceSum(scale=Public(2)), Importance(rate=Public("0.9"), norm=Public(1)))
        plan = Plan([weighted, LAPLACE])
        (together,) = plan.pairs.reached
        law = together.pure
        assert law is not None
        reached = max(law(direction).lower for direction in Direction)
        assert reached <= plan.pure().bound.epsilon.upper
        assert reached == pytest.approx(float(plan.pure().bound.epsilon.upper), rel=1e-9)

    def test_a_part_that_only_bounds_its_records_takes_the_lower_end_away(self) -> None:
        bounded = run(LpSum(scale=Public(1)), domain=NormBall(norm=Norm.L2, radius=Public(1)))
        other = run(LaplaceSum(scale=Public(2)), domain=NormBall(norm=Norm.L2, radius=Public(1), dimension=1))
        assert Plan([bounded, run(Count(scale=Public(1)), domain=None)]).pairs.reached == ()
        assert other.pairs.reached
        found = Plan([bounded, run(Count(scale=Public(1)), domain=None)]).epsilon(Delta("0.1"))
        assert found.epsilon.lower is None

    @pytest.mark.parametrize("size", ["0.1", "1", "7"])
    def test_a_record_on_an_axis_has_these_pairs(self, size: str) -> None:
        mechanism, sampler = LaplaceSum(scale=Public(2)), Importance(rate=Public("0.25"), floor=Public("0.05"))
        case = case_on_axis(mechanism.loss, sampler.rate, Fraction(size))
        assert case is not None
        q = min(1.0, max(0.05, 0.25 * float(size)))
        assert case.rate.contains(Fraction(q)) or case.rate.upper_float == pytest.approx(q)
        match case.pair:
            case LaplacePair(shift):
                assert shift.upper_float == pytest.approx(float(size) / q / 2)
                assert shift.width < 1e-9
            case _:
                raise AssertionError(case.pair)

    def test_no_pair_is_claimed_where_none_is_known(self) -> None:
        assert case_on_axis(LpSum(scale=Public(1)).loss, HALF.rate, Fraction(1)) is None
        never = Poisson(rate=Public(0), weighted=Public(True))
        case = case_on_axis(LaplaceSum(scale=Public(1)).loss, never.rate, Fraction(1))
        assert case is not None
        assert case.rate.upper == 0

    def test_every_choice_of_pairs_is_accounted_for(self) -> None:
        one, two = RandomisedResponsePair(Enclosure.of(1)), RandomisedResponsePair(Enclosure.of(2))
        wide, narrow = GaussianPair(Enclosure.of(3)), GaussianPair(Enclosure.of(1))
        runs = [WorstPairs((one, two), (two,)), WorstPairs((wide, narrow), (wide,))]
        pairs = composed(runs, ())
        assert len(pairs.bounding) == 4
        assert pairs.reached == ()
        bound = pairs.worst(lambda pair: pair.zero_concentrated)
        assert bound is not None
        assert bound.enclosure.upper == pytest.approx(2 * math.tanh(1) + 4.5)

    def test_many_choices_are_bounded_by_the_worst_of_each_part(self) -> None:
        several = tuple(LaplacePair(Enclosure.of(Fraction(n, 4))) for n in range(1, 10))
        pairs = composed([WorstPairs(several, ())] * 2, ())
        assert len(pairs.bounding) == 1
        worst = pairs.worst(lambda pair: pair.zero_concentrated)
        assert worst is not None
        alone = several[-1].zero_concentrated
        assert worst.enclosure.upper == pytest.approx(2 * float(alone.upper))

    def test_the_largest_of_pairs_is_the_largest_in_each_notion(self) -> None:
        pairs: tuple[Pair, ...] = (LaplacePair(Enclosure.of(2)), RandomisedResponsePair(Enclosure.of("1.5")))
        both = LargestOf(pairs)
        for direction in Direction:
            assert both.pure is not None
            assert both.renyi is not None
            assert both.pure(direction).upper == 2
            each = [pair.renyi(Fraction(9), direction).upper for pair in pairs if pair.renyi is not None]
            assert both.renyi(Fraction(9), direction).upper == max(each)
            assert both.renyi_estimate is not None
            assert both.renyi_estimate(9.0, direction) == pytest.approx(float(max(each)))
        assert both.zero_concentrated is not None
        assert both.zero_concentrated.upper == max(
            rho.upper for pair in pairs if (rho := pair.zero_concentrated) is not None
        )
        mixed = LargestOf((*pairs, GaussianPair(Enclosure.of(1))))
        assert mixed.pure is None
        assert mixed.gaussian is not None
        with pytest.raises(InvalidValue, match="at least one pair"):
            LargestOf(())


def released(epsilon: str = "0.25") -> Guarantee[Pure, Any, Any]:
    return Guarantee(
        bound=Pure(Enclosure.of(epsilon)),
        relation=ADD_REMOVE,
        unit=RECORD,
        derivation=Theorem("declaration", "count 1").conclude(),
    )


class TestReleasedParameters:
    def test_one_release_is_charged_once_in_all_parts(self) -> None:
        scale = Released(Fraction(2), released(), within=(2, 8))
        twice = scale.map(lambda value: 2 * value, within=(4, 16))
        parts = [run(LaplaceSum(scale=scale)), run(LaplaceSum(scale=twice))]
        assert Plan(parts).pure().bound.epsilon.upper == Fraction(1, 2) + Fraction(1, 4) + Fraction(1, 4)

    def test_two_releases_are_charged_each(self) -> None:
        parts = [run(LaplaceSum(scale=Released(Fraction(2), released(), within=(2, 8)))) for _ in range(2)]
        assert Plan(parts).pure().bound.epsilon.upper == Fraction(3, 2)
        answer = Plan(parts).epsilon(Delta(0))
        assert (answer.epsilon.lower, answer.epsilon.upper) == (None, 1.5)

    def test_a_parameter_chosen_on_the_way_is_refused(self) -> None:
        adaptive = AdaptiveRun(PureFilter(Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, domain=BALL))
        step = run(LaplaceSum(scale=adaptive.chosen(2)))
        with pytest.raises(InvalidValue, match="chosen from earlier releases; admissible: parameters fixed beforehand"):
            Plan([step])


class TestRefusals:
    def test_parts_of_other_domains_and_relations(self) -> None:
        wide = run(LaplaceSum(scale=Public(2)), domain=NormBall(norm=Norm.L1, radius=Public(2)))
        with pytest.raises(InvalidValue, match=r"parts\[1\]\.domain: got .*‖x‖₁ ≤ 2"):
            Plan([LAPLACE, wide])
        with pytest.raises(InvalidValue, match=r"parts\[1\]"):
            Plan([LAPLACE, run(RandomisedResponse(categories=Public(2), epsilon=Public(1)), domain=None)])
        assert Plan([GAUSSIAN, LAPLACE, COUNT]).domain == BALL

    def test_what_is_no_run_of_releases(self) -> None:
        with pytest.raises(InvalidValue, match="at least one run"):
            Plan([])
        adaptive = AdaptiveRun(PureFilter(Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD))
        for wrong in (adaptive, PureLoss, 3):
            with pytest.raises(InvalidType, match="An adaptive run composes by its filter alone"):
                Plan([LAPLACE, wrong])  # type: ignore[list-item]
        with pytest.raises(InvalidType, match=r"Plan\(\[first, second\]\)"):
            Plan(LAPLACE)  # type: ignore[arg-type]


def test_a_plan_prints_as_a_table() -> None:
    plan = Plan([LAPLACE, GAUSSIAN, run(LaplaceSum(scale=Public(1)), HALF, SampleOnce(2))])
    console = Console(width=120)
    with console.capture() as capture:
        console.print(plan)
    shown = capture.get()
    for words in (
        "laplace-sum (scale=2)",
        "3 releases, each on a fresh sample",
        "2 releases, on one sample",
        "‖x‖₁ ≤ 1",
    ):
        assert words in shown
    assert str(plan).splitlines()[1] == "2 · gaussian-sum (noise_multiplier=3) · full · 1 release"


def test_a_plan_is_released_part_by_part() -> None:
    plan = Plan([run(LaplaceSum(scale=Public(1)), HALF, ResampleEach(3)), run(Count(scale=Public(1)), domain=None)])
    sums, counts = plan.release(np.full((5, 2), 0.1), coins=Coins.seeded(1))
    assert [sum_.shape for sum_ in sums] == [(2,)] * 3
    assert len(counts) == 1
