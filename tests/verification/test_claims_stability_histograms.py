"""The claims about stability-based histograms hold, and each of them finds a witness against a wrong form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting import key_reporting, stability_histograms
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.stability_histograms import Threshold
from certdp.plugins.contract import Expectation
from certdp.verification.claims import stability_histograms as claims
from certdp.verification.runner import Result, run

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


def checked(claim: str, examples: int = 100) -> Result:
    (result,) = run([BY_ID[claim]], examples=examples).results
    assert result.error is None, result.error
    return result


@pytest.mark.parametrize("claim", BY_ID)
def test_every_claim_is_as_expected(claim: str) -> None:
    holds = BY_ID[claim].expectation is Expectation.HOLDS
    result = checked(claim, 40 if holds else 100)
    assert result.passed, result.finding
    assert result.cases_tried >= (10 if holds else 1)


@pytest.mark.soundness
@pytest.mark.parametrize("claim", BY_ID)
def test_every_claim_is_as_expected_on_many_cases(claim: str) -> None:
    (result,) = run([BY_ID[claim]], examples=1000, seed=1).results
    assert result.passed, result


def refuted(claim: str) -> None:
    result = checked(claim)
    assert not result.passed
    assert result.witness is not None
    assert result.finding is not None
    assert not result.finding.holds


def lower_half_only(epsilon: Enclosure, delta: Enclosure, frequency: int, threshold: Threshold) -> Enclosure:
    return ((epsilon * (frequency - 1)).exp() * delta * threshold.factor / 2).minimum(1)


def one_element_late(epsilon: Enclosure, delta: Enclosure, frequency: int, threshold: Threshold) -> Enclosure:
    return stability_histograms.reporting_probability(epsilon, delta, max(frequency - 1, 0), threshold)


def always_published(epsilon: Enclosure, delta: Enclosure, frequency: int, threshold: Threshold) -> Enclosure:
    return stability_histograms.reporting_probability(epsilon, delta, frequency)


@pytest.mark.parametrize("wrong", [lower_half_only, one_element_late, always_published])
def test_probabilities_are_told_from_a_wrong_form(
    wrong: Callable[..., Enclosure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "reporting_probability", wrong)
    refuted("pws/algorithm-6-probability")


def test_a_lower_threshold_is_not_private(monkeypatch: pytest.MonkeyPatch) -> None:
    right = claims._least
    monkeypatch.setattr(claims, "_least", lambda growth, delta, factor: right(growth, delta, factor) * Fraction(9, 10))
    refuted("pws/algorithm-6")
    refuted("pws/algorithm-6-tight")


def test_the_gain_is_told_from_that_of_another_histogram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        claims,
        "reporting_probability",
        lambda epsilon, delta, frequency: stability_histograms.reporting_probability(
            epsilon, delta, frequency, Threshold.TIGHT
        ),
    )
    refuted("pws/section-8-ratio")


def test_the_gain_is_told_from_that_of_another_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(epsilon: Enclosure, delta: Enclosure, frequency: int) -> Enclosure:
        return key_reporting.reporting_probability(epsilon, delta, max(1, frequency - 1))

    monkeypatch.setattr(claims, "optimal_probability", late)
    refuted("pws/section-8-ratio")


@pytest.mark.parametrize(
    ("claim", "erratum"),
    [("pws/algorithm-6-published-tight", "PWS-A6"), ("pws/section-8-ratio-printed", "PWS-sec8")],
)
def test_negative_controls_name_their_erratum(claim: str, erratum: str) -> None:
    assert BY_ID[claim].expectation is Expectation.REJECTED
    assert BY_ID[claim].erratum == erratum


@pytest.mark.parametrize(
    ("claim", "name", "right"),
    [
        ("pws/algorithm-6-published-tight", "_least", lambda growth, delta, factor: growth / (2 * delta)),
        ("pws/algorithm-6-lower-threshold", "_least", lambda growth, delta, factor: growth / delta),
        ("pws/section-8-ratio-printed", "_log", lambda growth: Enclosure.of(1 - 1 / growth)),
    ],
)
def test_a_negative_control_with_the_right_form_fails(
    claim: str, name: str, right: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, name, right)
    result = checked(claim, 40)
    assert not result.passed
    assert result.witness is None


def test_the_known_witness_against_the_printed_gain() -> None:
    """ε = 0.5, i = 10: π/φ = 5.05, printed at most 4."""
    epsilon, delta = Enclosure.of("0.5"), Enclosure.of(Fraction(1, 10**6))
    assert key_reporting.crossover(epsilon, delta).lower > 10
    optimal = key_reporting.reporting_probability(epsilon, delta, 10)
    ratio = optimal / stability_histograms.reporting_probability(epsilon, delta, 10)
    assert round(ratio.upper_float, 2) == 5.05
    assert ratio.lower > 4
