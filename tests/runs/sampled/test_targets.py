"""Weights solved for a target: general pure losses, Gaussian sums at a δ or an order, and runs of several releases.

The oracles are Arb and Gauss-Legendre quadrature in mpmath; they see weights, probabilities and records alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq

import certdp
from certdp import (
    ADD_REMOVE,
    RECORD,
    Coins,
    Count,
    Delta,
    Enclosure,
    Epsilon,
    GaussianSum,
    Guarantee,
    Importance,
    InvalidValue,
    LaplaceSum,
    Mechanism,
    Norm,
    NormBall,
    NotionAbsent,
    Order,
    Outside,
    OutsideDomain,
    Plan,
    PrivacyConstrained,
    Public,
    Records,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
    check,
)
from certdp.accounting.accountants import LOSS_DISTRIBUTION, WorstPairs
from certdp.accounting.expressions import log1p, maximum, sqrt
from certdp.accounting.feasible_weights import Reach
from certdp.accounting.feasible_weights.guesses import crossings
from certdp.accounting.feasible_weights.rates import ProfileConstrainedRate
from certdp.accounting.sampling.records import Realisation
from certdp.accounting.sampling.releases import Releases
from certdp.guarantees import Theorem
from certdp.notions import Approximate, Pure, Renyi
from certdp.pairs import Direction, PureLoss, RandomisedResponsePair
from certdp.plugins.contract import Expression, W, norm
from certdp.records.weights import RecordWeights, record_weights
from tests.support.arb_numbers import arb_of
from tests.support.stated import losing

CHUNKS = (1, 7, None)
NEGLIGIBLE = arb(2) ** -200


@pytest.fixture(autouse=True)
def _precision() -> None:
    ctx.prec = 300


def data(rows: int = 40) -> Any:
    records = np.random.default_rng(5).normal(size=(rows, 3)) * np.geomspace(1e-3, 1.5, rows)[:, None]
    records[4] = 0
    records[9:10] = [5e-324, 0, 0]
    return records


def ball(radius: Any, order: Norm = Norm.L1, dimension: int | None = None) -> NormBall:
    return NormBall(norm=order, radius=Public(radius), dimension=dimension)


def solved(mechanism: Mechanism, target: Any, plan: Releases | None = None, **options: Any) -> SampledRun:
    sampler = PrivacyConstrained(target=Public(target), **{name: Public(value) for name, value in options.items()})
    return SampledRun(mechanism=mechanism, sampler=sampler, releases=plan or ResampleEach(1))


def weighed(
    run: SampledRun, records: Any, domain: NormBall | None = None, outside: Outside = Outside.CLIP, **options: Any
) -> tuple[RecordWeights, Any, Any]:
    kept: list[Realisation] = []
    figures = record_weights(run.on(domain), Records.of(records), outside, into=kept.append, **options).reveal()
    weights, probabilities = (np.concatenate([getattr(r, name) for r in kept]) for name in ("weight", "probability"))
    return figures, weights, probabilities


def ell(row: Any, order: int) -> Any:
    sizes = [abs(arb_of(float(x))) for x in row]
    return sum(sizes, arb(0)) if order == 1 else sum((x * x for x in sizes), arb(0)).sqrt()


# Pure losses: the loss in Arb, from weight and ‖x‖₁


RISING = fmpq(1, 10)
PURE: dict[str, tuple[Expression, Callable[[Any, Any], Any], str, dict[str, Any]]] = {
    "log of a square": (log1p(W * W * norm(1)), lambda w, x: (1 + w * w * x).log(), "9/4", {}),
    "two powers": (
        W * norm(1) / 10 + W * W * norm(1) / 100,
        lambda w, x: w * x / 10 + w * w * x / 100,
        "3/2",
        {"largest_weight": 40},
    ),
    "a root": (
        Fraction(1, 5) * sqrt(W) * norm(1),
        lambda w, x: w.sqrt() * x / 5,
        "2",
        {"largest_weight": 500},
    ),
    "a kink": (
        maximum(W * norm(1) / 10, Fraction(1, 5)),
        lambda w, x: max(w * x / 10, arb(1) / 5),
        "1",
        {"largest_weight": 300},
    ),
}


def psi(loss: Any, weight: Any, probability: Any) -> Any:
    return (1 + probability * loss.expm1()).log()


@pytest.mark.parametrize("domain", [None, ball(5)], ids=["no domain", "a domain"])
@pytest.mark.parametrize("name", PURE)
def test_every_weight_up_to_a_pure_one_is_feasible_and_none_beyond(name: str, domain: NormBall | None) -> None:
    loss, formula, target, options = PURE[name]
    records = data(24)
    figures, weights, probabilities = weighed(solved(losing(loss), target, **options), records, domain)
    assert figures.gap is not None
    assert figures.gap < 1e-12
    assert figures.reach is not None
    assert sum(figures.reach.values()) == len(records)
    cap = float(options.get("largest_weight", math.inf))
    for row, weight, probability in zip(records, weights.tolist(), probabilities.tolist(), strict=True):
        size = ell(row, 1)
        if math.isinf(weight):
            assert (size, probability) == (0, 0)
            continue
        assert Fraction(weight) * Fraction(probability) <= 1 <= weight <= cap
        assert psi(formula(arb_of(weight), size), arb_of(weight), arb_of(probability)) <= arb_of(target) + NEGLIGIBLE
        for share in range(12):
            below = arb_of(weight) ** (arb(share) / 12)
            assert psi(formula(below, size), below, 1 / below) <= arb_of(target) + NEGLIGIBLE
        if weight < min(cap, 2.0**1022):
            beyond = arb_of(weight) * (1 + arb_of(figures.gap) * 2)
            assert psi(formula(beyond, size), beyond, 1 / beyond) > arb_of(target)


@pytest.mark.slow
def test_how_each_weight_is_proven_is_told() -> None:
    figures, weights, _ = weighed(solved(losing(PURE["log of a square"][0]), "9/4"), data(24), ball(5))
    assert figures.reach == {Reach.LARGEST: 22, Reach.CAPPED: 1, Reach.NEVER_DRAWN: 1}
    assert weights[9] == 2.0**1022
    kinked, _, _ = weighed(solved(losing(PURE["a kink"][0]), 1, largest_weight=300), data(24), ball(5))
    assert kinked.reach is not None
    assert set(kinked.reach) == {Reach.FIRST_CROSSING, Reach.CAPPED}
    linear, _, _ = weighed(solved(LaplaceSum(scale=Public(10)), 1, largest_weight=30), data(24), ball(5))
    assert linear.reach is not None
    assert set(linear.reach) == {Reach.LARGEST, Reach.CAPPED}
    assert linear.reach[Reach.CAPPED] > 2


def test_a_tight_target_and_a_loss_without_norms() -> None:
    run = solved(losing(Fraction("1.2") * sqrt(W)), "1.2")
    figures, weights, _ = weighed(run, data(6), ball(1))
    assert set(weights) == {weights[0]}
    assert weights[0] == pytest.approx(2.9260480888844995, rel=1e-12)
    assert figures.reach == {Reach.LARGEST: 6}
    assert check(certdp.profile_certificate(run.on(ball(1)))).accepted


@pytest.mark.slow
def test_digits_trade_closeness_for_speed() -> None:
    loss, records = log1p(W * W * norm(1)), data()
    _, sharp, _ = weighed(solved(losing(loss), 2), records, ball(5))
    figures, coarse, _ = weighed(solved(losing(loss), 2, digits=8), records, ball(5))
    assert figures.gap is not None
    assert 1e-4 < figures.gap < 0.05
    assert np.all(coarse <= sharp)
    drawn = np.isfinite(sharp)
    assert np.all(coarse[drawn] >= sharp[drawn] * (1 - 0.05))
    assert coarse[4] == sharp[4] == math.inf


def test_guesses_do_not_depend_on_their_neighbours() -> None:
    sizes = np.random.default_rng(1).uniform(0.001, 0.5, 101)
    loss = log1p(W * W * norm(1)) + sqrt(W) * norm(1) ** Fraction(3, 2)
    whole = crossings(loss, {norm(1): sizes}, Enclosure.of(3), 2.0**1022, 101)
    for start in range(0, 101, 13):
        part = sizes[start : start + 13]
        assert (
            crossings(loss, {norm(1): part}, Enclosure.of(3), 2.0**1022, len(part)).tobytes()
            == whole[start:][:13].tobytes()
        )
    for size, weight in zip(sizes[:9].tolist(), whole[:9].tolist(), strict=True):
        excess = [
            math.log1p(w * w * size) + math.sqrt(w) * size**1.5 - math.log1p(3 * w)
            for w in (weight * (1 - 1e-12), weight * (1 + 1e-12))
        ]
        assert excess[0] < 0 < excess[1]


# Several releases of a pure loss


@pytest.mark.parametrize("loss", ["a sum", "log of a square"])
@pytest.mark.parametrize("plan", [SampleOnce(4), ResampleEach(4)], ids=["once", "each"])
def test_several_releases_share_the_target(plan: Releases, loss: str) -> None:
    mechanism: Mechanism = LaplaceSum(scale=Public(60)) if loss == "a sum" else losing(log1p(W * W * norm(1) / 50))
    run, records = solved(mechanism, "3/2", plan), data(16)
    figures, weights, probabilities = weighed(run, records, ball(5))
    assert figures.largest_loss <= 1.5

    def of_run(weight: Any, probability: Any, size: Any) -> Any:
        one = weight * size / 60 if loss == "a sum" else (1 + weight * weight * size / 50).log()
        if plan == SampleOnce(4):
            return (1 + probability * (4 * one).expm1()).log()
        return 4 * (1 + probability * one.expm1()).log()

    drawn = [i for i in range(16) if 0 < probabilities[i] > 2.0**-1000]
    assert len(drawn) >= 14
    for i in drawn:
        weight, size = arb_of(weights[i]), ell(records[i], 1)
        assert of_run(weight, arb_of(probabilities[i]), size) <= arb_of("3/2") + NEGLIGIBLE
        beyond = weight * (1 + arb(10) ** -11)
        assert of_run(beyond, 1 / beyond, size) > arb_of("3/2")
    verdict = check(certdp.profile_certificate(run.on(ball(5))))
    assert verdict.outcome.value == ("holds" if loss == "a sum" else "holds assuming the profile"), verdict
    assert verdict.claim is not None
    assert verdict.claim.epsilon == (None, 1.5)
    bound = run.on(ball(5)).target.bound
    assert isinstance(bound, Pure)
    assert bound.epsilon.upper == Fraction(3, 2)
    assert "releases" in {item.name for item in run.on(ball(5)).target.assumptions}
    assert check(certdp.profile_certificate(run)).accepted


def test_a_target_composes_like_any_other_loss() -> None:
    """A run within a pure target is dominated by randomised response, so every accountant applies to it."""
    run = solved(LaplaceSum(scale=Public(10)), "1/2").on(ball(5))
    assert run.epsilon(Delta(0)).epsilon.upper == run.pure().bound.epsilon.upper == 0.5
    response = RandomisedResponsePair(Enclosure.of("1/2"))
    assert run.renyi(Order(3)).bound.tau.upper_float == response.renyi(Fraction(3), Direction.REMOVE).upper_float
    assert 0 < run.epsilon(Delta("0.01")).epsilon.upper < 0.5
    plan = Plan([run] * 40)
    assert plan.pure().bound.epsilon.upper == 20
    together = LOSS_DISTRIBUTION.epsilon(WorstPairs((response.repeated(40),), ()), Enclosure.of("1e-5"))
    assert together is not None
    assert plan.epsilon(Delta("1e-5")).epsilon.upper == pytest.approx(float(together.upper), rel=1e-9)
    with pytest.raises(InvalidValue, match="solves for its weights"):
        certdp.certificate(run, run.epsilon(Delta("0.01")))


def test_a_target_at_a_delta_composes_too() -> None:
    run = solved(GaussianSum(scale=Public(20)), 1, delta="1e-5").on(ball(3, Norm.L2))
    assert run.epsilon(Delta("1e-5")).epsilon.upper == 1
    assert run.epsilon(Delta("1e-3")).epsilon.upper <= 1
    assert run.delta(Epsilon(1)).delta.upper == run.epsilon(Delta("1e-5")).delta.upper
    assert run.delta(Epsilon("0.5")).delta.upper > 0.1  # of what else the run loses, the target says nothing
    with pytest.raises(NotionAbsent):
        run.epsilon(Delta("1e-6"))
    twice = Plan([run, run])
    assert twice.epsilon(Delta("2e-5")).epsilon.upper == pytest.approx(2, rel=1e-9)


def test_a_renyi_target_is_known_up_to_its_order() -> None:
    run = solved(GaussianSum(scale=Public(20)), "1/2", order=4).on(ball(3, Norm.L2))
    assert run.renyi(Order(4)).bound.tau.upper == run.renyi(Order(2)).bound.tau.upper == Fraction(1, 2)
    with pytest.raises(OutsideDomain, match="orders up to 4"):
        run.renyi(Order(5))
    answer = run.epsilon(Delta("1e-5"))
    assert answer.epsilon.upper <= 0.5 + math.log(1e5) / 3
    assert answer.order is not None
    assert answer.order <= 4


def test_without_a_domain_no_single_number_is_stated() -> None:
    run = solved(LaplaceSum(scale=Public(10)), "1/2")
    for asked in (run.pure, lambda: run.epsilon(Delta(0)), lambda: run.target, lambda: Plan([run]).pure()):
        with pytest.raises(InvalidValue, match="declare a public domain") as caught:
            asked()
        assert caught.value.parameter == "radius"
    assert record_weights(run, data(5)).reveal().largest_loss <= 0.5


# Gaussian sums


def delta_of(weight: Any, shift: Any, epsilon: Any) -> Any:
    """δ(ε) of the sampled pair in both directions, by quadrature of the positive part of p − e^ε·p'."""
    with mpmath.workdps(25):
        q, s, level = 1 / mpmath.mpf(weight), mpmath.mpf(weight) * mpmath.mpf(shift), mpmath.exp(epsilon)

        def without(x: Any) -> Any:
            return mpmath.npdf(x)

        def including(x: Any) -> Any:
            return (1 - q) * mpmath.npdf(x) + q * mpmath.npdf(x - s)

        def positive(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Any:
            # the ratio is monotone in x: find where it crosses, and integrate on the one side
            def difference(x: Any) -> Any:
                return first(x) - level * second(x)

            low, high = mpmath.mpf(-60), s + 60
            if difference(low) > 0 and difference(high) > 0:
                return mpmath.quad(difference, mpmath.linspace(-30, s + 30, 41))
            if (difference(low) > 0) == (difference(high) > 0):
                return mpmath.mpf(0)
            rising = difference(high) > 0
            for _ in range(100):
                middle = (low + high) / 2
                low, high = (low, middle) if (difference(middle) > 0) == rising else (middle, high)
            ends = (high, max(high, s) + 30) if rising else (min(low, mpmath.mpf(0)) - 30, low)
            return mpmath.quad(difference, mpmath.linspace(*ends, 13))

        return max(positive(including, without), positive(without, including))


@pytest.mark.slow
def test_a_gaussian_sum_is_within_epsilon_and_delta_by_quadrature() -> None:
    records = data(12)
    run = solved(GaussianSum(scale=Public(20)), 1, delta="1e-5")
    figures, weights, probabilities = weighed(run, records, ball(3, Norm.L2))
    assert figures.gap is not None
    assert figures.gap < 0.005
    assert figures.reach == {Reach.FIRST_CROSSING: 10, Reach.CAPPED: 1, Reach.NEVER_DRAWN: 1}
    assert figures.largest_loss <= 1
    for index in (0, 11):
        weight, shift = float(weights[index]), float(np.linalg.norm(records[index])) / 20
        assert abs(weight * probabilities[index] - 1) < 1e-15
        for below in (weight, 1 + (weight - 1) * 0.3)[: 2 - index // 11]:
            assert delta_of(below, shift, 1) <= mpmath.mpf("1e-5") * (1 + mpmath.mpf(10) ** -12)
        assert delta_of(weight * (1 + 1.01 * figures.gap), shift, 1) > mpmath.mpf("1e-5")
    bound = run.on(ball(3, Norm.L2)).target.bound
    assert isinstance(bound, Approximate)
    assert bound.epsilon.upper == 1
    assert bound.delta.contains(Fraction(1, 10**5))


@pytest.mark.parametrize("plan", [ResampleEach(1), SampleOnce(3), ResampleEach(3)])
def test_a_gaussian_sum_is_within_a_renyi_target(plan: Releases) -> None:
    records, order = data(12), 4
    run = solved(GaussianSum(scale=Public(20)), "1/2", plan, order=order, digits=16)
    figures, weights, probabilities = weighed(run, records, ball(3, Norm.L2))
    assert figures.gap is not None
    assert figures.gap < 1e-4
    together = 3 if plan == SampleOnce(3) else 1

    def tau(weight: Any, probability: Any, shift: Any) -> Any:
        """By the binomial sum (Mironov, Talwar, Zhang 2019)."""
        s = weight * shift * arb(together).sqrt()
        total = arb(0)
        for k in range(order + 1):
            rest = (1 - probability) ** (order - k) * probability**k
            total += comb(order, k) * rest * (s * s * k * (k - 1) / 2).exp()
        return plan.steps // together * total.log() / (order - 1)

    for index in (0, 5, 11):
        weight, shift = arb_of(weights[index]), ell(records[index], 2) / 20
        assert tau(weight, arb_of(probabilities[index]), shift) <= arb_of("1/2") + NEGLIGIBLE
        beyond = weight * (1 + arb(10) ** -4)
        assert tau(beyond, 1 / beyond, shift) > arb_of("1/2")
    bound = run.on(ball(3, Norm.L2)).target.bound
    assert isinstance(bound, Renyi)
    assert bound.order == 4
    assert bound.tau.upper == Fraction(1, 2)


def test_fresh_samples_at_a_delta_lose_less_than_together_and_more_than_one() -> None:
    records, domain = data(8), ball(3, Norm.L2)
    weights = {}
    for plan in (ResampleEach(1), ResampleEach(3)):
        run = solved(GaussianSum(scale=Public(30)), 2, plan, delta="1e-5", digits=6)
        figures, weights[plan.steps], _ = weighed(run, records, domain)
        assert figures.largest_loss <= 2
    assert np.all(weights[3][:4] < weights[1][:4])


def test_the_target_may_be_what_the_radius_needs() -> None:
    mechanism, domain = GaussianSum(scale=Public(10)), ball(5, Norm.L2)
    with pytest.raises(InvalidValue, match="at least") as caught:
        solved(mechanism, "1/10", delta="1e-6").on(domain)
    assert caught.value.parameter == "target"
    least = float(caught.value.admissible.split()[2].strip(","))
    assert 1.5 < least < 3
    run = solved(mechanism, least, delta="1e-6")
    _, weights, probabilities = weighed(run, np.array([[5.0, 0, 0], [0.1, 0, 0]]), domain)
    assert weights[0] == probabilities[0] == 1
    assert weights[1] > 10


# Streams, bad input and costs


RUNS: dict[str, tuple[SampledRun, NormBall | None]] = {
    "a profile": (solved(losing(log1p(W * W * norm(1))), 2), ball(2)),
    "a profile without a domain": (solved(losing(log1p(W * W * norm(1))), 3), None),
    "a profile in cells": (solved(losing(log1p(W * W * norm(1))), 2, digits=6), ball(2)),
    "releases on one sample": (solved(LaplaceSum(scale=Public(20)), 1, SampleOnce(3)), ball(2)),
    "releases on fresh samples": (solved(LaplaceSum(scale=Public(20)), 1, ResampleEach(3)), ball(2)),
    "a Gaussian sum": (solved(GaussianSum(scale=Public(20)), 1, delta="1e-5"), ball(2, Norm.L2)),
    "a Gaussian sum at an order": (solved(GaussianSum(scale=Public(20)), 1, order=3, digits=6), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize("name", RUNS)
def test_nothing_depends_on_chunks_order_or_dtype(name: str, outside: Outside) -> None:
    run, domain = RUNS[name]
    if domain is None and outside is Outside.DROP:
        pytest.skip("nothing is dropped")
    records = data(16)
    figures, weights, probabilities = weighed(run, records, domain, outside)
    for rows in CHUNKS:
        for layout in (records, np.asfortranarray(records)):
            again, w, q = weighed(run, layout, domain, outside, rows=rows)
            assert w.tobytes() == weights.tobytes()
            assert q.tobytes() == probabilities.tobytes()
            for key in ("gap", "reach", "largest_loss", "expected_sample_size", "outside"):
                assert getattr(again, key) == getattr(figures, key)
    if domain is not None:
        assert figures.outside > 0
        assert (outside is Outside.DROP) == (figures.reach is not None and sum(figures.reach.values()) < 16)
    for dtype in (np.float32, np.int32):
        whole = np.rint(records * 4).astype(dtype)
        expected = weighed(run, whole.astype(np.float64), domain, outside)[1] if domain else None
        if expected is not None:
            assert weighed(run, whole, domain, outside)[1].tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", RUNS)
def test_records_that_are_no_numbers(name: str) -> None:
    run, domain = RUNS[name]
    for bad in (math.nan, math.inf):
        records = data(6)
        records[3, 1] = bad
        with pytest.raises(InvalidValue, match="row 3"):
            weighed(run, records, domain, rows=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a profile without a domain", "a Gaussian sum at an order"])
def test_without_a_domain_a_record_that_loses_too_much_is_named(name: str) -> None:
    records = data(20)
    records[17] = 1e4
    for rows in CHUNKS:
        with pytest.raises(InvalidValue, match="record 17"):
            weighed(RUNS[name][0], records, rows=rows)
    assert any("at weight 1" in str(item) for item in RUNS[name][0].derivation.assumptions)


@pytest.mark.parametrize("digits", [{}, {"digits": 6}])
def test_norms_beyond_binary64_are_refused_like_others(digits: dict[str, Any]) -> None:
    records = np.array([[1.0, 0.5], [1.5e308, 1.5e308]])
    with pytest.raises(InvalidValue, match="record 1"):
        weighed(solved(losing(log1p(W * W * norm(1))), 2, **digits), records)
    _, weights, _ = weighed(solved(losing(log1p(W * W * norm(1))), 700, **digits), records[:1])
    assert weights[0] > 1e300


def test_zero_vectors_have_the_cap() -> None:
    runs = [solved(losing(log1p(W * W * norm(1))), 2, largest_weight=8)]
    runs.append(solved(GaussianSum(scale=Public(20)), 1, delta="1e-5", largest_weight=8))
    for run in runs:
        figures, weights, probabilities = weighed(run, np.zeros((2, 3)), ball(1, run.norm))
        assert (weights.tolist(), probabilities.tolist()) == ([8.0, 8.0], [0.125, 0.125])
        assert figures.reach == {Reach.CAPPED: 2}
        assert figures.largest_loss == 0


def released(value: Any, cost: Any) -> Any:
    bound = Pure(Enclosure.of(cost))
    return Released(
        value, Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("X", "1").conclude())
    )


def test_what_parameters_cost_comes_on_top() -> None:
    run = solved(LaplaceSum(scale=released(40, "1/4")), 1, SampleOnce(2))
    bound = run.on(ball(2)).target.bound
    assert isinstance(bound, Pure)
    assert bound.epsilon.upper == Fraction(5, 4)
    assert check(certdp.profile_certificate(run.on(ball(2)))).accepted
    figures, _, _ = weighed(run, data(5), ball(2))
    assert figures.largest_loss == pytest.approx(1.25)
    gaussian = solved(GaussianSum(scale=released(40, "1/4")), 1, delta="1e-6").on(ball(2, Norm.L2)).target.bound
    assert isinstance(gaussian, Approximate)
    assert gaussian.epsilon.upper == Fraction(5, 4)
    renyi = solved(GaussianSum(scale=released(40, "1/4")), 1, order=2).on(ball(2, Norm.L2)).target.bound
    assert isinstance(renyi, Renyi)
    spent = math.log(math.exp(0.25) / (1 + math.exp(-0.25)) + math.exp(-0.25) / (1 + math.exp(0.25)))
    assert float(renyi.tau.upper) == pytest.approx(1 + spent)


def test_releases_are_as_many_as_planned() -> None:
    run = solved(LaplaceSum(scale=Public(20)), 1, SampleOnce(3))
    found = run.on(ball(2)).release(data(), coins=Coins.seeded(1))
    assert len(found) == 3
    samples = solved(losing(log1p(W * norm(1))), 2, SampleOnce(2), largest_weight=9)
    first, second = samples.on(ball(1)).release(data(), coins=Coins.seeded(1))
    assert np.array_equal(first, second)


class TestRefusals:
    @pytest.mark.parametrize(
        ("run", "parameter"),
        [
            (lambda: solved(GaussianSum(scale=Public(1)), 1), "mechanism"),
            (lambda: solved(GaussianSum(noise_multiplier=Public(1)), 1, delta="1e-6"), "mechanism"),
            (lambda: solved(LaplaceSum(scale=Public(1)), 1, delta="1e-6"), "mechanism"),
            (lambda: solved(GaussianSum(scale=Public(1)), 1, delta="1e-6", order=2), "order"),
            (lambda: solved(GaussianSum(scale=Public(1)), 1, delta=2), "delta"),
            (lambda: solved(GaussianSum(scale=Public(1)), 1, order=1), "order"),
            (lambda: solved(GaussianSum(scale=Public(1)), 1, order=2, digits=3), "digits"),
            (lambda: solved(GaussianSum(scale=Public(1)), 1, order=2, digits="9/2"), "digits"),
            (lambda: solved(LaplaceSum(scale=Public(1)), 1, digits=9), "digits"),
            (lambda: solved(Count(scale=Public(1)), 1025), "target"),
            (lambda: solved(Count(scale=Public(1)), Fraction(1, 2**39), ResampleEach(4)), "target"),
        ],
    )
    def test_targets(self, run: Callable[[], object], parameter: str) -> None:
        with pytest.raises(InvalidValue) as caught:
            run()
        assert caught.value.parameter == parameter

    @pytest.mark.parametrize("plan", [SampleOnce(4), ResampleEach(4)])
    def test_a_domain_whose_records_lose_too_much_in_all(self, plan: Releases) -> None:
        for mechanism in (LaplaceSum(scale=Public(10)), losing(log1p(W * norm(1) / 5))):
            with pytest.raises(InvalidValue, match="at least") as caught:
                certdp.profile_certificate(solved(mechanism, 1, plan).on(ball(5)))
            assert caught.value.parameter == "target"
            assert float(caught.value.admissible.split()[2].strip(",")) > 1.9

    def test_samplers_that_do_not_solve(self) -> None:
        run = SampledRun(mechanism=Count(scale=Public(1)), sampler=Importance(rate=Public("0.1"), floor=Public("0.1")))
        with pytest.raises(InvalidValue, match="a sampler that solves for a target"):
            _ = run.target

    def test_a_target_at_a_delta_has_a_certificate_on_a_domain_and_no_pure_profile(self) -> None:
        run = solved(GaussianSum(scale=Public(20)), 1, delta="1e-6")
        assert check(certdp.profile_certificate(run.on(ball(1, Norm.L2)))).accepted
        with pytest.raises(InvalidValue, match="Declare the public domain"):
            certdp.profile_certificate(run)
        with pytest.raises(InvalidValue, match="pure ε"):
            run.drawing.profile(PureLoss(W * norm(1)))

    @pytest.mark.slow
    def test_a_loss_that_never_breaks_the_target_needs_a_cap(self) -> None:
        run = solved(losing(log1p(2 * sqrt(W) * norm(1))), 2)
        assert isinstance(run.drawing, ProfileConstrainedRate)
        with pytest.raises(InvalidValue, match="cap on the weight"):
            weighed(run, np.ones((1, 2)), ball(2))
