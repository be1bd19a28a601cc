"""Certificates of bounds in other notions, of groups and of rates: as near to the answers as is asked for."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

import certdp
from certdp import (
    Delta,
    DiscreteGaussian,
    Full,
    GaussianSum,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Poisson,
    Public,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.guarantees import for_groups
from certdp.accounting.notions import Pure
from certdp.risks import BayesRiskLimit, TruePositiveRateLimit
from certdp.runs.certificates import _statement
from certdp.verification.certificates.notions import (
    Rate,
    advantage_rate,
    bayes_risk_rate,
    certified_bound,
    certified_rates,
    true_positive_rate,
)
from certdp.verification.checker import Verdict, check

BALL = NormBall(norm=Norm.L1, radius=Public(1))
LAPLACE = SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), releases=ResampleEach(3), domain=BALL)
NORMAL = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(3)), sampler=Full(), releases=ResampleEach(2))
SAMPLES = SampledRun(
    mechanism=GaussianSum(noise_multiplier=Public(1)), sampler=Poisson(rate=Public("0.01")), releases=ResampleEach(100)
)


@pytest.mark.parametrize("run", [LAPLACE, NORMAL, SAMPLES, evolve(LAPLACE, sampler=Poisson(rate=Public("1/5")))])
@pytest.mark.parametrize("ask", ["2", "9/2", "zero_concentrated", "gaussian"])
def test_a_bound_is_certified_within_a_millionth(run: SampledRun, ask: str) -> None:
    guarantee: Any = run.renyi(ask) if ask[0].isdigit() else getattr(run, ask)()
    name = {"zero_concentrated": "rho", "gaussian": "mu"}.get(ask, "tau")
    end = getattr(guarantee.bound, name)
    found = certdp.certificate(run, guarantee)
    assert end.lower <= found.parameters[name] <= end.upper * (1 + Fraction(1, 10**6))
    claim = check(found.content).claim
    assert claim is not None
    assert dict(claim.parameters) == found.parameters
    assert found.parameters.get("order") == (Fraction(ask) if name == "tau" else None)


def test_what_has_no_such_bound_is_refused() -> None:
    lattice = SampledRun(mechanism=DiscreteGaussian(scale=Public(8)), sampler=Full(), domain=evolve(BALL, norm=Norm.L2))
    with pytest.raises(InvalidValue, match="has no mu"):
        certified_bound(_statement(lattice, ()), NORMAL.gaussian().bound)
    with pytest.raises(InvalidValue, match="a bound in Rényi"):
        certified_bound(_statement(lattice, ()), Pure(Enclosure.of(1)))
    with pytest.raises(InvalidValue, match="tau was not proven"):  # what is asked for is far below what it is
        certified_bound(_statement(NORMAL, ()), evolve(NORMAL.renyi(4).bound, tau=Enclosure.of("1/1000")))


def test_a_number_that_is_too_small_is_tried_with_one_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever parameters are raised by, a statement that the checker understands proves the same."""
    asked: list[bytes] = []

    def counted(content: bytes) -> Verdict:
        asked.append(content)
        return check(content)

    monkeypatch.setattr("certdp.verification.certificates.notions.check", counted)
    with pytest.raises(InvalidValue, match="tau was not proven"):
        certified_bound(_statement(NORMAL, ()), evolve(NORMAL.renyi(4).bound, tau=Enclosure.of("1/1000")))
    assert len({json.dumps(json.loads(content)["parts"]) for content in asked}) == 1


@pytest.mark.parametrize("size", [2, 3, 4, 7])
@pytest.mark.parametrize("ask", ["renyi", "zero_concentrated", "gaussian", "pure"])
def test_groups_have_what_the_notion_says(ask: str, size: int) -> None:
    guarantee = LAPLACE.renyi(32) if ask == "renyi" else getattr(LAPLACE, ask)()
    known = for_groups(guarantee, size).bound
    found = certdp.certificate(LAPLACE, guarantee, group=size)
    name = {"renyi": "tau", "zero_concentrated": "rho", "gaussian": "mu", "pure": "epsilon"}[ask]
    end = getattr(known, name)
    assert end.lower <= found.parameters[name] <= end.upper * (1 + Fraction(1, 10**6))
    if ask == "renyi":
        assert found.parameters["order"] == known.order
    claim = check(found.content).claim
    assert claim is not None
    assert f"per group of at most {size} records" in claim.guarantee
    assert ("group size", str(size)) in claim.assumptions


def test_groups_of_an_answer_are_within_a_millionth() -> None:
    answer = NORMAL.epsilon(Delta("1e-8"))
    known = for_groups(answer.guarantee, 3).bound
    found = certdp.certificate(NORMAL, answer, group=3)
    assert known.epsilon.lower <= found.epsilon <= known.epsilon.upper * (1 + Fraction(1, 10**6))
    assert known.delta.lower <= found.delta <= known.delta.upper * (1 + Fraction(1, 10**5))


def test_the_rates_are_those_that_a_risk_states() -> None:
    run = evolve(LAPLACE, releases=ResampleEach(1))
    found, known = certdp.certificate(run, certdp.risk(run)), certdp.risk(run)
    advantage, members, wrong = (float(value) for value in found.parameters.values())
    assert advantage == pytest.approx(known.advantage.upper_float, rel=1e-6)
    assert members == pytest.approx(known.true_positive_rate("1/100").upper_float, rel=1e-6)
    assert wrong == pytest.approx(known.bayes_risk("1/2").lower_float, rel=1e-6)
    assert advantage >= known.advantage.lower_float
    assert wrong <= known.bayes_risk("1/2").upper_float


@pytest.mark.parametrize("prior", ["1/1000", "1/5", "1/2", "4/5"])
def test_a_bayes_risk_is_that_of_either_neighbour(prior: str) -> None:
    run = evolve(NORMAL, releases=ResampleEach(1))
    found = certdp.certificate(run, BayesRiskLimit(risk=0, prior=prior))
    known = certdp.risk(run).bayes_risk(prior)
    (proven,) = found.parameters.values()
    assert known.lower * (1 - Fraction(1, 10**6)) <= proven <= known.upper


@pytest.mark.parametrize("at", ["0", "1/10000", "1/3", "99/100"])
def test_true_positives_are_certified_at_every_rate(at: str) -> None:
    run = evolve(NORMAL, releases=ResampleEach(1))
    found = certdp.certificate(run, TruePositiveRateLimit(true_positive_rate=1, false_positive_rate=at))
    known = certdp.risk(run).true_positive_rate(at, relative_gap=Fraction(1, 2**30))
    (proven,) = found.parameters.values()
    assert known.lower <= proven <= known.upper * (1 + Fraction(1, 10**6)) + Fraction(1, 10**12)


def test_rates_at_several_places_keep_their_order_and_names() -> None:
    limits = [TruePositiveRateLimit(true_positive_rate=1, false_positive_rate=at) for at in ("1/2", "1/100")]
    found = certdp.certificate(NORMAL, [*limits, BayesRiskLimit(risk=0, prior="1/3")])
    assert list(found.parameters) == ["true-positive-rate at 1/2", "true-positive-rate at 1/100", "bayes-risk"]
    stated = json.loads(found.content)["claim"]["rates"]
    assert [rate["at"] for rate in stated] == ["1/2", "1/100", "1/3"]
    assert [Fraction(rate["bound"]) for rate in stated] == list(found.parameters.values())
    with pytest.raises(InvalidValue, match="a certificate of"):
        assert found.epsilon


def test_a_rate_follows_from_its_delta() -> None:
    half = Enclosure.of("1/2")
    assert advantage_rate(Fraction(0), half).follows(Fraction(1, 4)) == Fraction(1, 4)
    third = advantage_rate(Fraction(Enclosure.of(2).log().upper_float), half).follows(Fraction(0))
    assert Fraction(1, 3) <= third <= Fraction(1, 3) * (1 + Fraction(1, 2**40))
    low = true_positive_rate(Fraction(1, 10), Fraction(0), half).follows(Fraction(1, 4))
    assert Fraction(7, 20) <= low <= Fraction(7, 20) * (1 + Fraction(1, 2**40))
    assert true_positive_rate(Fraction(9, 10), Fraction(0), half).follows(Fraction(1, 2)) == 1
    risk = bayes_risk_rate(Fraction(3, 4), Fraction(1), half).follows(Fraction(1, 2))
    assert Fraction(1, 8) * (1 - Fraction(1, 2**50)) <= risk <= Fraction(1, 8)
    beyond = bayes_risk_rate(Fraction(1, 2), Fraction(Enclosure.of(3).log().upper_float), half).follows(Fraction(1, 2))
    assert Fraction(1, 8) * (1 - Fraction(1, 2**40)) <= beyond <= Fraction(1, 8)


def test_what_no_rate_follows_from_is_refused() -> None:
    nothing = Rate(rate="membership-advantage", at=None, epsilon=Fraction(0), delta=1.0, follows=lambda found: found)
    with pytest.raises(InvalidValue, match="a δ of 1 says nothing"):
        certified_rates(_statement(NORMAL, ()), [nothing])
    with pytest.raises(InvalidValue, match="one record"):
        certdp.certificate(NORMAL, certdp.risk(NORMAL), group=2)
    wrong: Any = "1/2"
    with pytest.raises(certdp.InvalidType, match="limits on one"):
        certdp.certificate(NORMAL, wrong)
