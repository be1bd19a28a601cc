"""What an attacker learns from runs: against normal and Laplace laws, for every kind of run, and within limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, ClassVar

import pytest
from attrs import frozen

from certdp import (
    Continuous,
    EveryKey,
    Full,
    GaussianSum,
    InvalidType,
    InvalidValue,
    KeyedRun,
    LaplaceSum,
    Norm,
    NormBall,
    Plan,
    Poisson,
    Public,
    PwsKeys,
    ResampleEach,
    SampledRun,
    calibrate,
    risk,
)
from certdp.accounting.accountants import BEST, LOSS_DISTRIBUTION, RENYI
from certdp.accounting.accountants.trade_off import curve_of
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import ORDER
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Approximate
from certdp.accounting.provenance import Released
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.pairs import RenyiLoss
from certdp.plugins.contract import CONTRACT_VERSION, About, Evidence
from certdp.risks import AdvantageLimit, BayesRiskLimit, Risk, TruePositiveRateLimit, plot_risk
from certdp.runs.calibration import Limit

NORMAL = NormalDist()
BALL = NormBall(norm=Norm.L1, radius=Public(1))
LAPLACE = SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Full(), domain=BALL)
KEYS = KeyedRun(mechanism=PwsKeys(epsilon=Public(1), delta=Public("1e-6")), sampler=EveryKey())


def gaussian(noise: Fraction | str, steps: int = 1, rate: str | None = None) -> SampledRun[Any]:
    sampler = Full() if rate is None else Poisson(rate=Public(rate))
    mechanism = GaussianSum(noise_multiplier=Public(noise))
    return SampledRun(mechanism=mechanism, sampler=sampler, releases=ResampleEach(steps))


@frozen
class KnownByRenyi:
    """A mechanism of which nothing but τ(α) = α/8 is known."""

    about: ClassVar[About] = About(
        name="known-by-renyi",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="a test",
    )

    @property
    def loss(self) -> RenyiLoss:
        return RenyiLoss(ORDER / 8)

    def release(self, sample: Any, coins: Any) -> Any:
        return sample.weights


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_normal_releases(mu: float) -> None:
    """Four releases of half the shift are one of the whole."""
    found = risk(gaussian(Fraction(2 / mu), steps=4))
    assert found.accountant == LOSS_DISTRIBUTION
    truths = [
        (found.advantage, 2 * NORMAL.cdf(mu / 2) - 1),
        (found.bayes_risk("1/2"), NORMAL.cdf(-mu / 2)),
        (found.true_positive_rate("1e-4"), 1 - NORMAL.cdf(NORMAL.inv_cdf(1 - 1e-4) - mu)),
        (found.true_positive_rate("0.3"), 1 - NORMAL.cdf(NORMAL.inv_cdf(0.7) - mu)),
    ]
    for enclosure, truth in truths:
        assert enclosure.lower_float <= truth + 1e-12
        assert enclosure.upper_float >= truth - 1e-12
        assert enclosure.width <= enclosure.upper / 2**20


HALF_DRAWN = SampledRun(mechanism=GaussianSum(noise_multiplier=Public("1/2")), sampler=Poisson(rate=Public("1/2")))


def half_drawn(alpha: float) -> float:
    """The true-positive rate of the best test between N(0, 1)/2 + N(2, 1)/2 and N(0, 1): all accuse beyond a bound."""
    remove = next(t for t in BOUNDS if NORMAL.cdf(-t) <= alpha)
    add = next(t for t in BOUNDS if (NORMAL.cdf(-t) + NORMAL.cdf(-t - 2)) / 2 <= alpha)
    return max((NORMAL.cdf(-remove) + NORMAL.cdf(2 - remove)) / 2, NORMAL.cdf(-add))


BOUNDS = [step / 20000 for step in range(-100000, 100000)]


@pytest.mark.parametrize("alpha", ["0.01", "0.1", "0.2", "0.25", "0.3", "0.4", "0.5", "0.9"])
def test_some_test_of_one_direction_reaches_the_lower_end(alpha: str) -> None:
    """From 0.2 to 0.4 nobody reaches the curve of both directions."""
    found, truth = risk(HALF_DRAWN), half_drawn(float(alpha))
    members = found.true_positive_rate(alpha)
    assert members.lower_float <= truth + 1e-4
    assert members.lower_float >= truth - 1e-4
    assert members.upper_float >= truth
    unreached = 1 - found.trade_off.at(alpha).upper_float > truth + 1e-3
    assert unreached == (Fraction("0.2") <= Fraction(alpha) <= Fraction("0.4"))
    limit = TruePositiveRateLimit(true_positive_rate=Fraction(truth) + Fraction(1, 1000), false_positive_rate=alpha)
    assert not limit.refuted(found)


@pytest.mark.parametrize("alpha", ["0.01", "0.05", "0.1", "0.3"])
def test_some_frequency_reaches_the_lower_end(alpha: str) -> None:
    """What several frequencies lose at several ε is lost by none of them."""
    run = KeyedRun(mechanism=PwsKeys(epsilon=Public(1), delta=Public("0.01")), sampler=EveryKey())
    error = Fraction(alpha)

    def rate(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
        left, found = error, Fraction(0)
        for p, q in sorted(zip(first, second, strict=True), key=lambda o: o[0] / o[1] if o[1] else 10**9, reverse=True):
            share = min(left / q, Fraction(1)) if q else Fraction(1)
            left, found = left - share * q, found + share * p
        return found

    pairs = list(run.neighbours(range(1, 80)))
    truth = max(max(rate(p.present, p.absent), rate(p.absent, p.present)) for p in pairs)
    found = risk(run)
    members = found.true_positive_rate(error)
    assert truth * Fraction(3, 4) <= members.lower <= truth * (1 + Fraction(1, 2**60))
    assert members.upper >= truth
    assert error < Fraction(1, 20) or 1 - found.trade_off.at(error).upper > truth


def test_laplace_releases() -> None:
    """At α ≤ e^(−ε)/2 a true-positive rate of e^ε·α; an advantage of 1 − e^(−ε/2); risk m at priors beyond ε."""
    found = risk(LAPLACE)
    assert float(found.true_positive_rate("0.1").upper) == pytest.approx(0.1 * math.e, rel=1e-6)
    assert float(found.advantage.lower) == pytest.approx(1 - math.exp(-0.5), rel=1e-12)
    assert float(found.bayes_risk("0.2").lower) == pytest.approx(0.2, rel=1e-12)  # e·0.2 < 0.8: the guess stays blind


@pytest.mark.parametrize(
    "run", [gaussian("1", 50, "0.1"), Plan([LAPLACE, LAPLACE]), KEYS], ids=lambda run: str(run)[:9]
)
def test_the_rates_are_those_of_the_privacy_curve(run: Any) -> None:
    """Of every kind of run: δ(0), and no test beats δ(ε) + e^ε·α at any ε; the curve says the same."""
    found = risk(run)
    delta = run.delta(0).delta
    assert found.advantage.upper_float <= delta.upper * (1 + 1e-9)
    for alpha in (Fraction(1, 1000), Fraction(1, 10), Fraction(1, 2)):
        members = found.true_positive_rate(alpha)
        for epsilon in ("1/10", "1", "3"):
            bound = run.delta(epsilon).delta.upper + math.exp(Fraction(epsilon)) * float(alpha)
            assert members.lower_float <= bound
        curve = found.trade_off.at(alpha)
        assert abs(curve.lower + members.upper - 1) < Fraction(1, 2**90)
        assert alpha <= members.lower <= 1 - curve.lower
        alone = run.trade_off().at(alpha)
        assert alone.lower <= curve.upper
        assert curve.lower <= alone.upper
        assert alone.width < Fraction(1, 2**18)
        risk_of_all = found.bayes_risk("1/3")
        assert risk_of_all.lower <= alpha / 3 + (1 - members.lower) * 2 / 3


def test_who_knows_upper_bounds_alone_gives_the_blind_guess_as_the_other_end() -> None:
    found, known = risk(gaussian("2"), accountant=RENYI), risk(gaussian("2"))
    assert found.advantage.lower == 0
    assert found.advantage.upper >= known.advantage.upper
    assert found.bayes_risk("0.3").lower <= known.bayes_risk("0.3").lower
    assert found.true_positive_rate("0.1").upper >= known.true_positive_rate("0.1").upper
    assert float(found.true_positive_rate("0.1").lower) == pytest.approx(0.1)


@pytest.mark.parametrize("cost", ["0", "1/4"])
@pytest.mark.parametrize("delta", ["0", "1/4"])
def test_what_released_parameters_cost_is_a_bound(cost: str, delta: str) -> None:
    """The release may tell nothing: that a rate is as high, or a limit exceeded, is not proven by what it may cost."""
    bound = Approximate(Enclosure.of(cost), Enclosure.of(delta))
    cited = Theorem("test", "the release of a scale").conclude()
    counted = Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=cited)
    paid = SampledRun(
        mechanism=LaplaceSum(scale=Released(Fraction(1), counted, within=(1, 1))), sampler=Full(), domain=BALL
    )
    found, free = risk(paid), risk(LAPLACE)
    assert found.advantage.upper >= free.advantage.upper
    assert found.bayes_risk("1/2").lower <= free.bayes_risk("1/2").lower
    if bound.epsilon.upper or bound.delta.upper:
        assert found.advantage.lower == 0
        assert found.bayes_risk("1/2").upper == Fraction(1, 2)
        assert float(found.true_positive_rate("0.1").lower) == pytest.approx(0.1)
        assert not AdvantageLimit(advantage="1/8").refuted(found)


def test_what_has_no_loss_distribution_is_answered_by_the_best_of_all() -> None:
    found = risk(SampledRun(mechanism=KnownByRenyi(), sampler=Full()))
    assert found.accountant == BEST
    assert 0 < found.advantage.upper < 1
    assert found.advantage.lower == 0
    assert found.true_positive_rate("0.01").upper < Fraction(1, 5)


def test_a_risk_prints_in_three_lines_with_the_ends_that_protect() -> None:
    found = risk(gaussian("1"))
    assert repr(found) == (
        "<Risk: membership advantage ≤ 0.382925; true-positive rate ≤ 0.0923623 at false-positive rate 0.01; "
        "Bayes risk ≥ 0.308537 at prior 0.5>"
    )
    assert len(repr(found)) <= 3 * 80
    shown = found._repr_html_()
    assert "[0.382924, 0.382925]" in shown
    assert "add-remove" in shown
    assert "loss-distribution" in shown


@pytest.mark.slow
def test_its_picture() -> None:
    pytest.importorskip("matplotlib")
    assert plot_risk(risk(LAPLACE)).startswith(b"\x89PNG")


LIMITS: list[tuple[Limit[Risk[Any]], float]] = [
    (AdvantageLimit(advantage="0.1"), 2 * NORMAL.inv_cdf(0.55)),
    (
        TruePositiveRateLimit(true_positive_rate="0.2", false_positive_rate="0.1"),
        NORMAL.inv_cdf(0.9) - NORMAL.inv_cdf(0.8),
    ),
    (BayesRiskLimit(risk="0.4", prior="1/2"), -2 * NORMAL.inv_cdf(0.4)),
]


@pytest.mark.parametrize(("limit", "mu"), LIMITS, ids=lambda value: type(value).__name__)
def test_noise_within_a_limit(limit: Limit[Risk[Any]], mu: float) -> None:
    """The least noise is the inverse of the μ that just keeps the limit; less is proven to exceed it."""
    found = calibrate(gaussian, limit, Continuous())
    assert float(found.value) == pytest.approx(1 / mu, rel=2**-19)
    assert limit.excess(found.answer) <= 0
    assert not limit.refuted(found.answer)
    assert found.refuted
    assert found.gap < 2**-19


def test_a_limit_at_another_prior() -> None:
    limit = BayesRiskLimit(risk="0.09", prior="0.1")
    found = calibrate(gaussian, limit, Continuous())
    assert Fraction("0.09") <= found.answer.bayes_risk("0.9").lower < Fraction("0.0900001")


def known(lower: str | int, upper: str | int) -> Risk[Any]:
    """What follows from a δ between these at every ε."""
    enclosed = Enclosure.between(Fraction(lower), Fraction(upper))

    def law(epsilon: Enclosure) -> Enclosure:
        return enclosed

    return Risk(run=LAPLACE, accountant=LOSS_DISTRIBUTION, delta=law, reached=(curve_of(law),))


def test_each_end_is_the_one_that_protects() -> None:
    wide = known("1/4", "3/4")
    assert "membership advantage ≤ 0.75;" in wide.statement
    assert wide.statement.endswith("Bayes risk ≥ 0.125 at prior 0.5")  # (1 − 3/4)/2
    limits: list[Limit[Risk[Any]]] = [
        AdvantageLimit(advantage="1/2"),
        TruePositiveRateLimit(true_positive_rate="1/2", false_positive_rate="1/8"),
        BayesRiskLimit(risk="1/4", prior="1/2"),
    ]
    for limit in limits:
        assert limit.excess(wide) > 0
        assert not limit.refuted(wide)
        assert limit.excess(known(0, "1/64")) <= 0
        assert limit.refuted(known("63/64", 1))


def test_what_is_just_kept_is_neither_exceeded_nor_refuted() -> None:
    quarter = known("1/4", "1/4")
    assert AdvantageLimit(advantage="1/4").excess(quarter) == 0
    assert not AdvantageLimit(advantage="1/4").refuted(quarter)
    assert BayesRiskLimit(risk="3/8", prior="1/2").excess(quarter) == 0
    assert not BayesRiskLimit(risk="3/8", prior="1/2").refuted(quarter)
    all_told = TruePositiveRateLimit(true_positive_rate=1, false_positive_rate=0)
    assert not all_told.refuted(known(1, 1))
    assert not AdvantageLimit(advantage=1).refuted(known(1, 1))
    uneven = BayesRiskLimit(risk="0.2", prior="0.7").excess(
        quarter
    )  # of 0.3, a guess is right in 0.075 more; 0.1 may be
    assert uneven == pytest.approx(math.log(0.75))


def test_rates_of_tests_that_accuse_nobody_and_everybody() -> None:
    found = risk(LAPLACE)
    assert found.true_positive_rate(1) == Enclosure.of(1)
    assert float(found.true_positive_rate(0).upper) < 1e-9


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: AdvantageLimit(advantage=0), "advantage"),
    (lambda: AdvantageLimit(advantage=2), "advantage"),
    (lambda: TruePositiveRateLimit(true_positive_rate="0.1", false_positive_rate="0.1"), "true_positive_rate"),
    (lambda: TruePositiveRateLimit(true_positive_rate="0.1", false_positive_rate=-1), "false_positive_rate"),
    (lambda: BayesRiskLimit(risk="0.4", prior="0.3"), "risk"),
    (lambda: BayesRiskLimit(risk="0.3", prior="0.7"), "risk"),
    (lambda: BayesRiskLimit(risk="0.4", prior="1.3"), "prior"),
    (lambda: AdvantageLimit(advantage="none"), "advantage"),
    (lambda: TruePositiveRateLimit(true_positive_rate="none", false_positive_rate=0), "true_positive_rate"),
    (lambda: TruePositiveRateLimit(true_positive_rate=1, false_positive_rate="none"), "false_positive_rate"),
    (lambda: BayesRiskLimit(risk=math.nan, prior="0.3"), "risk"),
    (lambda: BayesRiskLimit(risk="0.1", prior=math.inf), "prior"),
    (lambda: risk(LAPLACE).true_positive_rate(2), "false_positive_rate"),
    (lambda: risk(LAPLACE).bayes_risk(-1), "prior"),
    (lambda: calibrate(gaussian, AdvantageLimit(advantage="1e-9"), Continuous(highest=2.0)), "budget"),
]


@pytest.mark.parametrize(("ask", "parameter"), REFUSED)
def test_refusals(ask: Callable[[], object], parameter: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        ask()
    assert refused.value.parameter == parameter


def test_what_is_no_run_has_no_risk() -> None:
    with pytest.raises(InvalidType, match="SampledRun"):
        risk(LAPLACE.mechanism)  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="accountant"):
        risk(LAPLACE, accountant="renyi")  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="limit on a risk"):
        calibrate(gaussian, 1, Continuous())  # type: ignore[arg-type]
