"""Claims: held where the proven upper end is at most what is claimed, refuted where the lower end is above it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

import certdp
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.notions import GaussianDP, Renyi
from certdp.accounting.notions import ZeroConcentrated as Concentrated
from certdp.accounting.units import Delta, Epsilon
from certdp.interoperation import (
    Event,
    Finding,
    Gaussian,
    Laplace,
    NonPrivate,
    PoissonSampled,
    SelfComposed,
    ZeroConcentrated,
    judged,
)
from certdp.interoperation.claims import judged_in
from certdp.runs.run import NotionAbsent
from tests.support.cases import examples

TRAINING = SelfComposed(PoissonSampled(Fraction(1, 100), Gaussian(1)), 1000)


@pytest.mark.parametrize(
    ("claimed", "finding"),
    [("1.8283", Finding.HOLDS), ("1.8282", Finding.REFUTED), ("1.828236666516", Finding.REFUTED)],
)
def test_training(claimed: str, finding: Finding) -> None:
    verdict = judged(TRAINING.run(), Epsilon(claimed), Delta("1e-5"))
    assert verdict.finding is finding
    assert verdict.epsilon.lower is not None
    assert verdict.epsilon.lower <= 1.82823666651670 <= verdict.epsilon.upper * (1 + 1e-9)


def test_between_the_ends_neither_is_proven() -> None:
    bounds = TRAINING.run().epsilon(Delta("1e-5")).epsilon
    assert bounds.lower is not None
    assert bounds.lower < bounds.upper
    claims = {(Fraction(bounds.lower) + Fraction(bounds.upper)) / 2: Finding.UNDECIDED}
    claims |= {Fraction(bounds.lower): Finding.UNDECIDED, Fraction(bounds.upper): Finding.HOLDS}
    for claimed, finding in claims.items():
        assert judged(TRAINING.run(), Epsilon(claimed), Delta("1e-5")).finding is finding


@examples(60)
@given(st.integers(1, 4000), st.integers(1, 4000), st.integers(1, 3))
def test_claims_about_laplace_noise_are_decided(scale: int, claimed: int, times: int) -> None:
    """T releases at scale b cost T/b, exactly."""
    event: Event = SelfComposed(Laplace(Fraction(scale, 1000)), times)
    found = judged(event.run(), Epsilon(Fraction(claimed, 1000)), Delta(0)).finding
    true = Fraction(times * 1000, scale)
    wrong = Finding.HOLDS if Fraction(claimed, 1000) < true else Finding.REFUTED
    assert found is not wrong
    assert found is not Finding.UNDECIDED or abs(Fraction(claimed, 1000) - true) < true * Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("event", "delta", "finding"),
    [
        (NonPrivate(), "1e-5", Finding.REFUTED),
        (NonPrivate(), "1", Finding.HOLDS),
        (Gaussian(0), "0", Finding.REFUTED),
        (Gaussian(3), "0", Finding.REFUTED),
        (ZeroConcentrated("0.1"), "0", Finding.UNDECIDED),
        (ZeroConcentrated("0.1"), "1e-5", Finding.HOLDS),
    ],
)
def test_where_nothing_finite_is_proven(event: Event, delta: str, finding: Finding) -> None:
    assert judged(event.run(), Epsilon(2), Delta(delta)).finding is finding


NORMAL = certdp.SampledRun(
    mechanism=certdp.GaussianSum(noise_multiplier=certdp.Public(2)),
    sampler=certdp.Full(),
    releases=certdp.ResampleEach(4),
)
"""τ(α) = α/2, ρ = 1/2, μ = 1."""


@pytest.mark.parametrize(
    ("bound", "finding"),
    [
        (Renyi(Fraction(4), Enclosure.of("2.0001")), Finding.HOLDS),
        (Renyi(Fraction(4), Enclosure.of("1.9999")), Finding.REFUTED),
        (Concentrated(Enclosure.of("0.50001")), Finding.HOLDS),
        (Concentrated(Enclosure.of("0.49999")), Finding.REFUTED),
        (GaussianDP(Enclosure.of("1.00001")), Finding.HOLDS),
        (GaussianDP(Enclosure.of("0.9999")), Finding.REFUTED),
    ],
)
def test_claims_in_other_notions(bound: Any, finding: Finding) -> None:
    verdict = judged_in(NORMAL, bound)
    assert verdict.finding is finding
    assert verdict.answer is None


@pytest.mark.slow
def test_a_sample_may_lose_less_than_what_is_proven() -> None:
    """ρ and μ of a sample are those of the mechanism: a claim between is neither proven nor refuted."""
    run = evolve(NORMAL, sampler=certdp.Poisson(rate=certdp.Public("0.01")))
    for bound in (Concentrated(Enclosure.of("0.49")), GaussianDP(Enclosure.of("0.9"))):
        verdict = judged_in(run, bound)
        assert (verdict.finding, verdict.epsilon.lower) == (Finding.UNDECIDED, None)
    assert judged_in(run, GaussianDP(Enclosure.of("0.0001"))).finding is Finding.REFUTED


def test_a_notion_that_a_run_does_not_have_is_refused() -> None:
    run = certdp.SampledRun(
        mechanism=certdp.DiscreteGaussian(scale=certdp.Public(8)),
        sampler=certdp.Full(),
        domain=certdp.NormBall(norm=certdp.Norm.L2, radius=certdp.Public(1)),
    )
    with pytest.raises(NotionAbsent):
        judged_in(run, GaussianDP(Enclosure.of(1)))
