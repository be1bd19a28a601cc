"""Limits in Rényi, zero-concentrated and Gaussian DP: the noise is that of the closed forms, as all limits are kept."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

import certdp
from certdp import Continuous, Full, GaussianSum, InvalidType, LaplaceSum, Norm, NormBall, Public, SampledRun, calibrate
from certdp.accounting.enclosures import Enclosure
from certdp.notions import GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.risks import AdvantageLimit, BayesRiskLimit, BoundLimit, TruePositiveRateLimit
from certdp.runs.bound_limit import BoundCost
from certdp.runs.calibration import Budget, Limit


def noisy(noise: Fraction) -> SampledRun:
    return SampledRun(mechanism=GaussianSum(noise_multiplier=Public(noise)), sampler=Full())


def laplace(scale: Fraction) -> SampledRun:
    ball = NormBall(norm=Norm.L1, radius=Public(1))
    return SampledRun(mechanism=LaplaceSum(scale=Public(scale)), sampler=Full(), domain=ball)


@pytest.mark.parametrize(
    ("bound", "noise"),
    [
        (Renyi(Fraction(4), Enclosure.of("1/2")), 2.0),  # α/(2σ²)
        (ZeroConcentrated(Enclosure.of("1/8")), 2.0),  # 1/(2σ²)
        (GaussianDP(Enclosure.of("1/4")), 4.0),  # 1/σ
    ],
)
def test_the_noise_of_a_bound_is_that_of_its_closed_form(bound: Any, noise: float) -> None:
    found = calibrate(noisy, BoundLimit(bound=bound), Continuous())
    assert found.answer.guarantee.bound.notion is bound.notion
    assert noise <= found.value <= noise * (1 + 2**-19)
    assert found.refused is not None
    assert found.refused < noise
    assert not found.refuted  # such bounds are proven from above alone
    assert str(found.answer.guarantee.bound) == found.answer.statement


def test_another_notion_is_no_such_limit() -> None:
    with pytest.raises(InvalidType, match="Use Budget"):
        BoundLimit(bound=Pure(Enclosure.of(1)))


LIMITS: dict[str, Limit[Any]] = {
    "budget": Budget(epsilon="1/2", delta="1e-5"),
    "pure budget": Budget(epsilon="1/2", delta=0),
    "advantage": AdvantageLimit(advantage="1/5"),
    "true positives": TruePositiveRateLimit(true_positive_rate="1/20", false_positive_rate="1/50"),
    "bayes risk": BayesRiskLimit(risk="2/5", prior="9/20"),
    "tau": BoundLimit(bound=Renyi(Fraction(3), Enclosure.of("1/2"))),
    "rho": BoundLimit(bound=ZeroConcentrated(Enclosure.of("1/8"))),
    "mu": BoundLimit(bound=GaussianDP(Enclosure.of("1/2"))),
}


def certified(run: SampledRun, limit: Any) -> dict[str, Fraction]:
    match limit:
        case Budget():
            answer: Any = limit.cost_of(run)
        case BoundLimit():
            answer = limit.cost_of(run).guarantee
        case _:
            answer = limit
    return dict(certdp.certificate(run, answer).parameters)


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_says_how_many_times_of_it_a_certificate_proves(name: str) -> None:
    limit = LIMITS[name]
    run: Callable[[Fraction], SampledRun] = laplace if "pure" in name else noisy
    found = calibrate(run, limit, Continuous())
    nearly = limit.times(certified(found.run, limit))
    assert 1 - Fraction(1, 10**4) <= nearly <= 1 + Fraction(1, 10**5)
    tighter = limit.tightened(Fraction(11, 10))
    again = calibrate(run, tighter, Continuous())
    assert again.value > found.value
    proven = certified(again.run, limit)
    assert limit.times(proven) <= 1
    assert tighter.times(proven) <= 1 + Fraction(1, 10**5)


def test_of_numbers_that_are_only_enclosed_the_ends_that_protect_count() -> None:
    limit = BoundLimit(bound=ZeroConcentrated(Enclosure.between(1, 2)))
    known = noisy(Fraction(2)).zero_concentrated()
    for upper, kept in (("3/2", False), ("1", True)):
        cost = BoundCost(guarantee=evolve(known, bound=ZeroConcentrated(Enclosure.between("1/2", upper))))
        assert (limit.excess(cost) <= 0) is kept
    assert limit.times({"rho": Fraction(1)}) == 1
    tighter: Any = limit.tightened(Fraction(2)).bound
    assert tighter.rho.upper == Fraction(1, 2)
