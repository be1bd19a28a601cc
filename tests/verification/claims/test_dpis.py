"""The claims of DPIS hold, and each of them finds a witness against a wrong form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.dpis import steps as dpis
from certdp.accounting.dpis.steps import Step
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.units import Order, Probability
from certdp.plugins.contract import Expectation
from certdp.verification.claims import dpis as claims
from certdp.verification.oracles.renyi import binomial_sum, mixture_divergence
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


CASE: dict[str, Any] = {
    "batch": Fraction(50),
    "size": Fraction(1000),
    "clip": Fraction(1, 10),
    "noise_multiplier": Fraction(3, 2),
    "share": Fraction(1, 3),
    "other": Fraction(2, 3),
    "norm": Fraction(3, 2),
    "rate": Fraction(1, 4),
    "order": 3,
}
"""One case of every claim: integrals are too slow to let a search shrink each witness."""


def refuted(claim: str, **changes: Any) -> bool:
    return not BY_ID[claim].examine({**CASE, **changes}).holds


@pytest.mark.parametrize("claim", BY_ID)
def test_the_case_of_the_mutants_is_as_expected(claim: str) -> None:
    assert refuted(claim) is (BY_ID[claim].expectation is Expectation.REJECTED)


Cost = Callable[[Fraction, Fraction, Order, int], Enclosure]
RIGHT = dpis._sampled_gaussian

WRONG_COSTS: dict[str, Cost] = {
    "rate squared": lambda rate, shift, order, precision: RIGHT(rate**2, shift, order, precision),
    "shift doubled": lambda rate, shift, order, precision: RIGHT(rate, 2 * shift, order, precision),
    "next order": lambda rate, shift, order, precision: RIGHT(rate, shift, Order(order.value + 1), precision),
    "no sampling": lambda rate, shift, order, precision: RIGHT(Fraction(1), shift, order, precision),
    "off by 1e-12": lambda *case: RIGHT(*case).widen(Fraction(1, 10**12)),
}


@pytest.mark.parametrize("wrong", WRONG_COSTS)
@pytest.mark.parametrize(
    "claim",
    ["dpis/lemma-2.7", "dpis/lemma-2.9", "dpis/lemma-3.1", "dpis/equation-13", "dpis/equation-21", "dpis/equation-19"],
)
def test_a_wrong_cost_is_told(claim: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpis, "_sampled_gaussian", WRONG_COSTS[wrong])
    assert refuted(claim)


def test_a_falling_cost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Step, "shift", property(lambda step: 1 / step.noise_multiplier))  # only the rate falls
    assert refuted("dpis/growing-norm-sum")


def test_a_rate_that_ignores_the_gradient_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Step, "record_rate", lambda step, norm: step.rate)
    assert refuted("dpis/equation-21", norm=Fraction(1, 2))


def test_a_rate_without_the_clipping_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unclipped(step: Step, norm: Fraction) -> Fraction:
        return min(step.batch * norm / step.norm_sum, Fraction(1))

    monkeypatch.setattr(Step, "record_rate", unclipped)
    assert refuted("dpis/equation-21")


NEGATIVE_CONTROLS = {"dpis/lemma-3.1-proof-printed": "DPIS-proof", "dpis/equation-19-printed": "DPIS-Eq19"}


@pytest.mark.parametrize("claim", NEGATIVE_CONTROLS)
def test_negative_controls_name_their_erratum(claim: str) -> None:
    assert BY_ID[claim].expectation is Expectation.REJECTED
    assert BY_ID[claim].erratum == NEGATIVE_CONTROLS[claim]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "name", "right"),
    [
        ("dpis/lemma-3.1-proof-printed", "_proof_exponent", claims._equation_13_exponent),
        ("dpis/equation-19-printed", "_printed_norm_sum_cost", claims._norm_sum_cost),
    ],
)
def test_a_negative_control_with_the_right_form_fails(
    claim: str, name: str, right: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, name, right)
    result = check(BY_ID[claim], 12, 0)
    assert not result.passed
    assert result.witness is None


def test_the_known_witness_against_the_proof() -> None:
    """α = 4, p = 0.05, σ = 1.5: 0.00298215 by quadrature and with the 2, more without."""
    rate, sigma = Fraction(1, 20), Fraction(3, 2)
    one = Step(batch=50, clip=1, noise_multiplier=sigma, size=1000, norm_sum=1000)
    integral = mixture_divergence(rate, Fraction(1), sigma, Fraction(4))
    printed = binomial_sum(rate, claims._proof_exponent(one), 4)
    assert round(float(integral), 8) == 0.00298215
    assert round(float(binomial_sum(rate, claims._equation_13_exponent(one), 4)), 8) == 0.00298215
    assert printed > 2 * integral


def test_the_known_witness_against_equation_19() -> None:
    """N = 60,000, b = 512, σ_K = 1,200: the multiplier is 10.24."""
    rate = Probability(Fraction(512, 60000))
    case = {"rate": rate.value, "noise_multiplier": Fraction(1200), "clip": Fraction(1), "order": Fraction(2)}
    assert claims._examine_equation_19(case).holds
    assert not claims._examine_printed_equation_19(case).holds
