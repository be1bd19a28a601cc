"""Releases on samples: against closed forms, exact finite computation and the reference values of the field."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from certdp.accounting.accountants import ALL, LOSS_DISTRIBUTION, RENYI, ROUNDED_NORMAL
from certdp.accounting.accountants.worst_pairs import pure
from certdp.accounting.derivation import Evidence, Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.provenance import Public, Released
from certdp.accounting.relations import ADD_REMOVE, RECORD, REPLACE
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.mechanisms.count import Count
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.lp_sum import LpSum
from certdp.mechanisms.randomised_response import RandomisedResponse
from certdp.plugins.contract import Coins, Mechanism, Sampler
from certdp.records.losses import record_losses
from certdp.runs.certificates import profile_certificate
from certdp.runs.run import NotionAbsent
from certdp.runs.sampled import SampledRun
from certdp.samplers.full import Full
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

FULL = Full()
HALF = Poisson(rate=Public("0.5"))
LAPLACE = LaplaceSum(scale=Public(1))


def ball(radius: float = 1, order: Norm = Norm.L1) -> NormBall:
    return NormBall(norm=order, radius=Public(radius))


def gaussian(sigma: str) -> GaussianSum:
    return GaussianSum(noise_multiplier=Public(sigma))


def run(mechanism: Mechanism, sampler: Sampler, releases: Releases | None = None, **rest: Any) -> SampledRun:
    return SampledRun(mechanism=mechanism, sampler=sampler, releases=releases or ResampleEach(1), **rest)


def released(epsilon: str = "0.25", relation: Any = ADD_REMOVE) -> Guarantee[Pure, Any, Any]:
    return Guarantee(
        bound=Pure(Enclosure.of(epsilon)),
        relation=relation,
        unit=RECORD,
        derivation=Theorem("declaration", "count 1").conclude(),
    )


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _quantile(p: float) -> float:
    return NormalDist().inv_cdf(p)


def gaussian_delta(epsilon: float, mu: float) -> float:
    return normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)


class TestOneRelease:
    def test_the_pure_epsilon_without_sampling_is_exact(self) -> None:
        answer = run(LAPLACE, FULL, domain=ball(2)).epsilon(Delta(0))
        assert (answer.epsilon.lower, answer.epsilon.upper) == (2, 2)
        assert answer.composed_in.name == "pure"
        assert str(answer) == "2.0-DP by basic accounting"

    def test_what_was_asked_about_is_stated_as_it_was_given(self) -> None:
        answer = run(LAPLACE, FULL, domain=ball(2)).epsilon(Delta("1e-6"))
        assert answer.statement.endswith(", 1e-06)-DP")
        assert answer.delta.upper > 1e-6  # which binary64 holds a little too small
        assert run(LAPLACE, FULL, domain=ball(2)).delta(Epsilon("0.1")).statement.startswith("(0.1, ")

    @pytest.mark.parametrize("sampler", [HALF, Poisson(rate=Public("0.01"), weighted=Public(True))])
    def test_the_pure_epsilon_is_that_of_the_profile(self, sampler: Sampler) -> None:
        mine = run(LAPLACE, sampler, domain=ball()).epsilon(Delta(0)).epsilon
        theirs = SampledRun(mechanism=LAPLACE, sampler=sampler).on(ball()).pure().bound.epsilon
        assert mine.lower is not None
        assert mine.lower <= theirs.upper_float
        assert theirs.lower_float <= mine.upper <= theirs.upper_float * (1 + 1e-12)

    @pytest.mark.parametrize("delta", ["1e-3", "0.1", "0.3"])
    def test_a_sampled_laplace_release_follows_the_closed_form(self, delta: str) -> None:
        """REMOVE: q·(1 − e^{(e0 − 1)/2}) with e^e0 = 1 + (e^e − 1)/q is the larger direction for one release."""
        answer = run(LAPLACE, HALF, domain=ball()).epsilon(Delta(delta))
        base = 1 + 2 * math.log1p(-float(delta) / 0.5)
        exact = math.log1p(0.5 * math.expm1(base)) if base > 0 else 0.0
        assert answer.epsilon.lower is not None
        assert answer.epsilon.lower <= exact * (1 + 1e-12)
        assert answer.epsilon.upper >= exact * (1 - 1e-12)
        assert answer.epsilon.upper - answer.epsilon.lower < 1e-11

    @pytest.mark.parametrize(("sigma", "delta"), [("1", "1e-5"), ("4", "1e-5"), ("0.3", "1e-12"), ("30", "0.001")])
    def test_a_gaussian_release_is_inverted_from_both_sides(self, sigma: str, delta: str) -> None:
        answer = run(gaussian(sigma), FULL).epsilon(Delta(delta))
        low, high = answer.epsilon.lower, answer.epsilon.upper
        assert low is not None
        assert high - low <= 1e-11 * high
        mu = 1 / float(sigma)
        assert gaussian_delta(high, mu) == pytest.approx(float(delta), rel=1e-6)
        back = run(gaussian(sigma), FULL).delta(Epsilon(high))
        assert back.delta.upper <= float(delta) * (1 + 1e-9)
        assert answer.order is None

    def test_weights_count(self) -> None:
        weighted = Poisson(rate=Public("0.5"), weighted=Public(True))
        mechanism = GaussianSum(scale=Public(1))
        light = run(mechanism, HALF, domain=ball(1, Norm.L2)).epsilon(Delta("1e-5")).epsilon.upper
        heavy = run(mechanism, weighted, domain=ball(1, Norm.L2)).epsilon(Delta("1e-5")).epsilon.upper
        doubled = run(mechanism, HALF, domain=ball(2, Norm.L2)).epsilon(Delta("1e-5")).epsilon.upper
        assert light < heavy
        assert heavy == pytest.approx(doubled, rel=1e-12)

    def test_randomised_response_is_accounted_under_replace(self) -> None:
        mechanism = RandomisedResponse(categories=Public(4), epsilon=Public(1))
        releases = run(mechanism, FULL)
        assert releases.relation == REPLACE
        assert releases.epsilon(Delta(0)).epsilon.upper == pytest.approx(1, rel=1e-12)
        with pytest.raises(InvalidValue, match="use the sampler full"):
            run(mechanism, HALF)


class TestLowerEnds:
    """They are proven only where records have exactly the pair that is evaluated."""

    def test_a_mechanism_known_by_its_pure_loss_has_none_at_a_delta(self) -> None:
        """In one column its noise is Laplace, whose ε at δ is below that of randomised response."""
        releases = run(LpSum(scale=Public(1)), FULL, domain=ball(1, Norm.L2))
        epsilon, delta = releases.epsilon(Delta("0.1")).epsilon, releases.delta(Epsilon("0.3")).delta
        assert (epsilon.lower, delta.lower) == (None, None)
        assert epsilon.upper >= 1 + 2 * math.log1p(-0.1)
        assert delta.upper >= -math.expm1(-0.35)

    @pytest.mark.parametrize("dimension", [1, 4, 100])
    def test_laplace_noise_over_several_columns_is_no_lower_bound(self, dimension: int) -> None:
        """Records off the axes have larger shifts and lower rates here, and a product of pairs that each shift less."""
        domain = NormBall(norm=Norm.L1, radius=Public("0.9"), dimension=dimension)
        found = (
            run(LAPLACE, Importance(rate=Public(1), norm=Public(Norm.L2)), domain=domain).delta(Epsilon("0.5")).delta
        )
        q, factor = 0.9, math.exp(0.5)
        below = math.log1p((factor - 1) / q)
        remove = q * -math.expm1((below - 1) / 2)
        above = -math.log1p(math.expm1(-0.5) / q)
        add = q * math.exp(0.5 - above) * -math.expm1((above - 1) / 2)
        assert found.lower is not None
        assert found.lower <= max(remove, add) * (1 + 1e-12)
        assert max(remove, add) <= found.upper * (1 + 1e-12)

    @pytest.mark.slow
    def test_randomised_response_and_gaussian_sums_have_them(self) -> None:
        response = run(RandomisedResponse(categories=Public(4), epsilon=Public(1)), FULL)
        assert response.delta(Epsilon("0.5")).delta.lower is not None
        sampler = Importance(rate=Public(1), norm=Public(Norm.L1))
        domain = NormBall(norm=Norm.L2, radius=Public("0.5"), dimension=4)
        assert run(GaussianSum(scale=Public(1)), sampler, domain=domain).delta(Epsilon("0.5")).delta.lower is not None


class TestTheTighterProof:
    """A corner of several norms is worse than any record; ψ of a record is known jointly."""

    SAMPLER = Importance(rate=Public("0.3"), norm=Public(2), floor=Public("0.01"))
    DOMAIN = NormBall(norm=Norm.L1, radius=Public(2), dimension=4)

    def test_the_supremum_of_the_profile_stands_where_it_is_less(self) -> None:
        found = run(LAPLACE, self.SAMPLER, domain=self.DOMAIN)
        by_pairs = found.pairs.worst(pure)
        assert by_pairs is not None
        by_profile = found.profile.supremum(self.DOMAIN)[1].enclosure
        assert by_profile.upper < by_pairs.enclosure.upper * Fraction(95, 100)
        assert found.pure().bound.epsilon.upper == by_profile.upper
        answer = found.epsilon(Delta(0))
        assert answer.epsilon.upper == by_profile.upper_float
        assert answer.epsilon.lower is not None
        assert answer.epsilon.lower <= by_profile.lower_float
        assert "supremum over a public domain" in str(answer.guarantee.derivation)
        assert found.epsilon(Delta("1e-9")).epsilon.upper <= by_profile.upper_float
        assert found.delta(Epsilon(by_profile.upper_float)).delta.upper == 0
        assert 0 < found.delta(Epsilon(by_profile.lower_float * 0.9)).delta.upper < 1
        assert found.epsilon(Delta(0), accountant=LOSS_DISTRIBUTION).epsilon.upper > by_profile.upper_float

    def test_the_pairs_stand_where_they_are_less(self) -> None:
        found = run(LAPLACE, FULL, domain=ball(5))
        assert found.pure().bound.epsilon.upper == 5 < found.profile.supremum(ball(5))[1].enclosure.upper

    @pytest.mark.parametrize("plan", [SampleOnce(3), ResampleEach(3), SampleOnce(1)])
    def test_the_profile_of_several_releases_is_that_of_all(self, plan: Releases) -> None:
        """Against the pairs of the run, at a constant rate, where both know the same."""
        found = run(LAPLACE, HALF, plan, domain=ball(1))
        by_pairs = found.pairs.worst(pure)
        assert by_pairs is not None
        by_profile = found.profile.supremum(ball(1))[1].enclosure
        assert float(by_profile.upper) == pytest.approx(float(by_pairs.enclosure.upper), rel=1e-12)
        losses = record_losses(found, [[1.0], [0.0]]).reveal()
        assert losses.values[0] == pytest.approx(float(by_pairs.enclosure.upper), rel=1e-12)
        assert losses.values[1] == 0
        if plan.steps > 1:
            with pytest.raises(InvalidValue, match="certify an answer of the run instead"):
                profile_certificate(found)


class TestManyReleases:
    def test_the_reference_of_the_field(self) -> None:
        """q = 0.01, σ = 1, 1,000 steps, δ = 1e-5: 2.1014 by Lemma 2.5; the exact value is near 1.8282367."""
        releases = run(gaussian("1"), Poisson(rate=Public("0.01")), ResampleEach(1000))
        by_renyi = releases.epsilon(Delta("1e-5"), accountant=RENYI)
        assert by_renyi.epsilon.upper == pytest.approx(2.1008351, abs=1e-6)
        assert by_renyi.epsilon.lower is None
        assert by_renyi.order == pytest.approx(7.776, abs=0.01)
        assert (by_renyi.composed_in.name, str(by_renyi.accountant)) == ("Rényi", "renyi")
        answer = releases.epsilon(Delta("1e-5"))
        assert answer.accountant == LOSS_DISTRIBUTION
        assert answer.epsilon.upper == pytest.approx(1.8282367, abs=1e-7)
        assert answer.epsilon.lower == pytest.approx(answer.epsilon.upper, rel=1e-6)
        back = releases.delta(Epsilon(answer.epsilon.upper))
        assert back.delta.upper == pytest.approx(1e-5, rel=1e-6)

    @pytest.mark.slow
    def test_what_each_accountant_proves_is_a_table(self) -> None:
        answer = run(gaussian("1"), Poisson(rate=Public("0.01")), ResampleEach(100)).epsilon(Delta("1e-5"))
        rows = {str(row.accountant): row for row in answer.compared.rows}
        assert list(rows) == [accountant.name for accountant in ALL if accountant != ROUNDED_NORMAL]
        assert min(row.bounds.upper for row in rows.values()) == answer.epsilon.upper
        header, *lines = str(answer.compared).splitlines()
        assert header.split() == ["accountant", "lower", "upper", "order"]
        assert [line.split()[0] for line in lines] == list(rows)
        assert repr(rows["renyi"].bounds.upper) in str(answer.compared)
        alone = run(gaussian("1"), HALF).epsilon(Delta("1e-5"), accountant=RENYI)
        assert [str(row.accountant) for row in alone.compared.rows] == ["renyi"]

    def test_an_accountant_whose_notion_does_not_follow_is_refused(self) -> None:
        with pytest.raises(NotionAbsent, match="delta"):
            run(gaussian("1"), HALF).epsilon(Delta(0), accountant=RENYI)

    def test_the_trade_off_curve_of_normal_releases(self) -> None:
        curve = run(gaussian("2"), FULL, ResampleEach(4)).trade_off()
        for alpha in (0.01, 0.2, 0.7):
            truth = normal(_quantile(1 - alpha) - 1)
            assert curve.at(alpha).lower_float <= truth + 1e-12
            assert truth - 1e-12 <= curve.at(alpha).upper_float <= truth + 1e-6

    def test_a_bound_from_above_alone_holds_the_trade_off_curve_from_below(self) -> None:
        curve = run(gaussian("2"), FULL, ResampleEach(4)).trade_off(accountant=RENYI)
        for alpha in (0.01, 0.2, 0.7):
            truth = normal(_quantile(1 - alpha) - 1)
            assert truth / 2 < curve.at(alpha).lower_float <= truth + 1e-12
            assert curve.at(alpha).upper == 1 - Fraction(alpha)

    def test_released_parameters_lower_the_trade_off_curve(self) -> None:
        scale = Released(Fraction(1), released(), within=(1, 4))
        paid = run(LaplaceSum(scale=scale), FULL, domain=ball()).trade_off()
        free = run(LAPLACE, FULL, domain=ball()).trade_off()
        assert paid.at("0.2").lower < free.at("0.2").lower

    def test_gaussian_releases_on_one_sample_are_one_gaussian(self) -> None:
        four = run(gaussian("2"), HALF, SampleOnce(4)).epsilon(Delta("1e-6"))
        one = run(gaussian("1"), HALF).epsilon(Delta("1e-6"))
        assert four.epsilon == one.epsilon

    def test_sampling_once_and_afresh_cost_something_else(self) -> None:
        once = run(LAPLACE, HALF, SampleOnce(5), domain=ball()).epsilon(Delta(0)).epsilon.upper
        each = run(LAPLACE, HALF, ResampleEach(5), domain=ball()).epsilon(Delta(0)).epsilon.upper
        assert once == pytest.approx(math.log1p(0.5 * math.expm1(5)), rel=1e-12)
        assert each == pytest.approx(5 * math.log1p(0.5 * math.expm1(1)), rel=1e-12)
        assert each < once

    def test_without_sampling_both_are_the_same(self) -> None:
        once = run(LAPLACE, FULL, SampleOnce(3), domain=ball()).epsilon(Delta(0)).epsilon
        each = run(LAPLACE, FULL, ResampleEach(3), domain=ball()).epsilon(Delta(0)).epsilon
        assert once == each

    @pytest.mark.slow
    def test_the_best_notion_wins(self) -> None:
        many = run(Count(scale=Public(10)), HALF, ResampleEach(100))
        few = run(Count(scale=Public(10)), HALF, ResampleEach(1))
        assert many.epsilon(Delta("1e-6")).epsilon.upper < many.epsilon(Delta(0)).epsilon.upper
        assert few.epsilon(Delta("1e-6")).epsilon.upper <= few.epsilon(Delta(0)).epsilon.upper
        assert many.epsilon(Delta("1e-300")).epsilon.upper <= many.epsilon(Delta(0)).epsilon.upper

    @pytest.mark.slow
    @pytest.mark.parametrize("delta", ["1e-9", "1e-5", "1e-2"])
    def test_more_steps_and_higher_rates_never_cost_less(self, delta: str) -> None:
        def cost(rate: str, steps: int) -> float:
            return (
                run(gaussian("2"), Poisson(rate=Public(rate)), ResampleEach(steps)).epsilon(Delta(delta)).epsilon.upper
            )

        assert cost("0.01", 10) <= cost("0.01", 100)
        assert cost("0.01", 10) <= cost("0.02", 10)


class TestNotions:
    def test_each_notion_of_a_gaussian(self) -> None:
        releases = run(gaussian("2"), FULL, ResampleEach(9))
        assert releases.gaussian().bound.mu.contains(Fraction(3, 2))
        assert releases.zero_concentrated().bound.rho.contains(Fraction(9, 8))
        assert releases.renyi(Order(3)).bound.tau.contains(Fraction(27, 8))
        with pytest.raises(NotionAbsent, match="gaussian-sum; admissible: a mechanism that has a pure ε"):
            releases.pure()

    def test_a_notion_that_does_not_follow_is_refused(self) -> None:
        with pytest.raises(NotionAbsent, match="state a δ above 0"):
            run(gaussian("1"), HALF, ResampleEach(10)).epsilon(Delta(0))

    def test_an_accountant_without_an_answer_is_named(self) -> None:
        """No larger δ would help."""
        with pytest.raises(NotionAbsent, match=r"^accountant: got rounded-normal; .* at δ = 1e-06\. Ask another one"):
            run(gaussian("1"), HALF, ResampleEach(10)).epsilon(Delta("1e-6"), accountant=ROUNDED_NORMAL)

    def test_guarantees_state_their_origin(self) -> None:
        guarantee = run(LAPLACE, HALF, ResampleEach(7), domain=ball(3)).epsilon(Delta("1e-6")).guarantee
        stated = {assumption.name: assumption.value for assumption in guarantee.assumptions}
        assert stated["radius"] == "3"
        assert stated["sampler.rate"] == "1/2"
        assert stated["evidence of mechanism laplace-sum"] == Evidence.PROVED.value
        assert "real-valued noise" not in stated
        assert "7 releases on a fresh sample each" in str(guarantee.derivation)
        scaled = run(GaussianSum(scale=Public(1)), FULL, domain=ball(1, Norm.L2))
        assert "noise_multiplier" not in str(scaled.gaussian().assumptions)


class TestReleasedParameters:
    @pytest.mark.slow
    def test_what_they_cost_is_contained(self) -> None:
        free = run(LAPLACE, FULL, ResampleEach(3), domain=ball())
        scale = Released(Fraction(1), released(), within=(1, 4))
        paid = run(LaplaceSum(scale=scale), FULL, ResampleEach(3), domain=ball())
        assert paid.epsilon(Delta(0)).epsilon.upper == 3.25
        assert paid.epsilon(Delta(0)).epsilon.lower is None
        assert paid.pure().bound.epsilon.upper == Fraction(13, 4)
        for delta in ("1e-9", "0.01"):
            more = paid.epsilon(Delta(delta)).epsilon.upper - free.epsilon(Delta(delta)).epsilon.upper
            assert more == pytest.approx(0.25, abs=1e-9)
        assert paid.delta(Epsilon(1)).delta.upper == pytest.approx(free.delta(Epsilon("0.75")).delta.upper, rel=1e-12)
        assert paid.renyi(Order(2)).bound.tau.lower > free.renyi(Order(2)).bound.tau.upper
        assert "count 1" in str(paid.pure().derivation)

    def test_a_released_radius_costs_too(self) -> None:
        domain = NormBall(norm=Norm.L1, radius=Released(Fraction(1, 2), released("0.5"), within=(0.25, 1)))
        assert run(LAPLACE, FULL, domain=domain).epsilon(Delta(0)).epsilon.upper == 1.5

    def test_one_release_is_charged_once_and_two_alike_twice(self) -> None:
        cost = released("0.5")
        both = Released((Fraction(1), Fraction(1, 2)), cost)
        one = both.map(lambda pair: pair[0], within=(1, 1))
        half = both.map(lambda pair: pair[1], within=("1/2", "1/2"))
        domain = NormBall(norm=Norm.L1, radius=one)
        sampler = Importance(rate=half, floor=half)
        free = run(LAPLACE, Importance(rate=Public("1/2"), floor=Public("1/2")), domain=ball())
        for scale, radius, paid in (
            (one, domain, "0.5"),
            (one, ball(), "0.5"),
            (Released(Fraction(1), cost, within=(1, 1)), domain, 1),
        ):
            found = run(LaplaceSum(scale=scale), sampler, domain=radius)
            more = found.pure().bound.epsilon.upper - free.pure().bound.epsilon.upper
            assert abs(more - Fraction(paid)) < Fraction(1, 10**30)
            stated = str(found.pure().derivation)
            assert (stated.count("count 1"), stated.count("(×2)")) == (1, int(2 * Fraction(paid)) - 1)

    def test_an_epsilon_below_the_cost_is_refused(self) -> None:
        paid = run(LaplaceSum(scale=Released(Fraction(1), released(), within=(1, 4))), FULL, domain=ball())
        with pytest.raises(InvalidValue, match=r"epsilon: got 0\.1; admissible: at least 0\.25"):
            paid.delta(Epsilon("0.1"))

    def test_a_cost_for_another_change_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="cost"):
            run(LaplaceSum(scale=Released(Fraction(1), released(relation=REPLACE))), FULL, domain=ball())


class TestEnds:
    def test_a_record_that_is_never_drawn_loses_nothing(self) -> None:
        never = Poisson(rate=Public(0))
        for answer in (
            run(LAPLACE, never, ResampleEach(10), domain=ball()).epsilon(Delta(0)),
            run(gaussian("0.001"), never, ResampleEach(10)).epsilon(Delta("1e-300")),
        ):
            assert answer.epsilon.upper == 0

        weighted = Poisson(rate=Public(0), weighted=Public(True))
        assert run(LAPLACE, weighted, domain=ball()).epsilon(Delta(0)).epsilon.upper == 0

    def test_orders_next_to_one(self) -> None:
        """At ε = 0 ever lower orders prove more; the search for the best one ends."""
        found = run(Count(scale=Public(2)), HALF, ResampleEach(2)).delta(Epsilon(0)).delta.upper
        assert 0.5 * -math.expm1(-0.25) < found < 1

    @pytest.mark.slow
    def test_a_delta_too_small_to_be_written(self) -> None:
        releases = run(gaussian("1"), HALF, ResampleEach(5))
        assert releases.delta(Epsilon(10**6)).delta.upper == math.ulp(0.0)

    @pytest.mark.slow
    def test_delta_one_and_tiny_delta(self) -> None:
        assert run(gaussian("1"), FULL).epsilon(Delta(1)).epsilon.upper == 0
        tiny = run(gaussian("1"), FULL).epsilon(Delta("1e-300")).epsilon
        assert tiny.lower is not None
        assert 36 < tiny.lower <= tiny.upper < 38
        sampled = run(gaussian("1"), Poisson(rate=Public("0.01")), ResampleEach(100)).epsilon(Delta("1e-300")).epsilon
        assert math.isfinite(sampled.upper)

    @pytest.mark.slow
    @pytest.mark.parametrize("sigma", ["1e-6", "1e6"])
    def test_extreme_noise(self, sigma: str) -> None:
        for sampler in (FULL, Poisson(rate=Public("1e-8"))):
            answer = run(gaussian(sigma), sampler, ResampleEach(10)).epsilon(Delta("1e-5"))
            assert 0 <= answer.epsilon.upper < math.inf

    def test_epsilon_zero(self) -> None:
        """δ(0) is the total variation distance."""
        answer = run(gaussian("1"), FULL).delta(Epsilon(0))
        assert answer.delta.lower is not None
        assert answer.delta.lower <= math.erf(0.5 / math.sqrt(2)) * (1 + 1e-15)
        assert answer.delta.upper == pytest.approx(math.erf(0.5 / math.sqrt(2)), rel=1e-14)


class TestRefusals:
    def test_numbers_with_another_unit(self) -> None:
        releases: Any = run(LAPLACE, HALF, domain=ball())
        for ask, value in (
            (releases.epsilon, Epsilon(1)),
            (releases.epsilon, Order(2)),
            (releases.delta, Delta(0)),
            (releases.renyi, Epsilon(2)),
        ):
            with pytest.raises(InvalidType, match=r"is no .*: if meant, write"):
                ask(value)

    def test_a_plan_of_another_type(self) -> None:
        with pytest.raises(InvalidType, match=r"SampleOnce\(steps\) or ResampleEach\(steps\)"):
            run(LAPLACE, FULL, 10, domain=ball())  # type: ignore[arg-type]
        for steps in (0, -1):
            with pytest.raises(InvalidValue, match="steps"):
                ResampleEach(steps)
        with pytest.raises(InvalidType, match="steps"):
            SampleOnce(True)

    def test_a_missing_domain(self) -> None:
        """Without one each record is bounded, and no number for all of them is stated."""
        anywhere = run(LAPLACE, FULL, ResampleEach(3))
        for question in (anywhere.pure, lambda: anywhere.epsilon(Delta(0)), lambda: anywhere.renyi(Order(2))):
            with pytest.raises(InvalidValue, match="declare a public domain") as caught:
                question()
            assert caught.value.parameter == "radius"
        assert record_losses(anywhere, [[1.0], [-4.0]]).reveal().values == pytest.approx([3, 12], rel=1e-12)
        assert len(anywhere.release([[1.0]])) == 3

    def test_a_noise_multiplier_needs_a_constant_rate(self) -> None:
        with pytest.raises(InvalidValue, match="a sampler with a constant rate"):
            run(gaussian("1"), Importance(rate=Public("0.1")), domain=ball())


class TestRelease:
    def test_one_sample_for_all_releases_or_one_each(self) -> None:
        records = np.ones((400, 1))
        quiet = LaplaceSum(scale=Public(Fraction(1, 10**6)))
        once = run(quiet, HALF, SampleOnce(6), domain=ball()).release(records, coins=Coins.seeded(3))
        each = run(quiet, HALF, ResampleEach(6), domain=ball()).release(records, coins=Coins.seeded(3))
        assert len(once) == len(each) == 6
        assert np.ptp(np.concatenate(once)) < 1e-3
        assert np.ptp(np.concatenate(each)) > 1

    def test_records_are_held_within_the_domain(self) -> None:
        (release,) = run(LaplaceSum(scale=Public(Fraction(1, 10**6))), FULL, domain=ball(2)).release(
            np.full((3, 1), 100.0), coins=Coins.seeded(1)
        )
        assert release == pytest.approx(6, abs=1e-3)


@pytest.mark.slow
def test_two_resampled_laplace_releases_stay_above_the_exact_curve() -> None:
    """The exact δ of two steps, integrated on a grid, is never above the proven one."""
    releases = run(LAPLACE, HALF, ResampleEach(2), domain=ball())
    for epsilon in ("0.2", "0.5", "0.9"):
        proven = releases.delta(Epsilon(epsilon)).delta.upper
        exact = max(_two_steps(float(epsilon), remove) for remove in (True, False))
        assert exact <= proven < 0.5


def _two_steps(epsilon: float, remove: bool) -> float:
    """∫∫ (p(x)p(y) − e^ε q(x)q(y))₊ for the sampled Laplace pair of scale 1, shift 1 and q = ½, on a fine grid."""
    grid = np.linspace(-18.0, 19.0, 2960, endpoint=False) + 0.00625
    step = grid[1] - grid[0]
    without = np.exp(-np.abs(grid)) / 2
    mixed = (without + np.exp(-np.abs(grid - 1)) / 2) / 2
    first, second = (mixed, without) if remove else (without, mixed)
    gain = np.outer(first, first) - math.exp(epsilon) * np.outer(second, second)
    return float(np.maximum(gain, 0).sum() * step * step) * (1 - 1e-3)
