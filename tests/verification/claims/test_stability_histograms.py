"""The claims about stability-based histograms hold, and each of them finds a witness against a wrong form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.keyed import key_sanitiser, stability_histograms
from certdp.accounting.keyed.stability_histograms import Threshold
from certdp.plugins.contract import Expectation
from certdp.verification.claims import stability_histograms as claims
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


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
    assert check(BY_ID["pws/algorithm-6-probability"], 100, 0).outcome is Outcome.FAILS


def test_a_lower_threshold_is_not_private(monkeypatch: pytest.MonkeyPatch) -> None:
    right = claims._least
    monkeypatch.setattr(claims, "_least", lambda growth, delta, factor: right(growth, delta, factor) * Fraction(9, 10))
    assert check(BY_ID["pws/algorithm-6"], 100, 0).outcome is Outcome.FAILS
    assert check(BY_ID["pws/algorithm-6-tight"], 100, 0).outcome is Outcome.FAILS


def test_the_gain_is_told_from_that_of_another_histogram(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        claims,
        "reporting_probability",
        lambda epsilon, delta, frequency: stability_histograms.reporting_probability(
            epsilon, delta, frequency, Threshold.TIGHT
        ),
    )
    assert check(BY_ID["pws/section-8-ratio"], 100, 0).outcome is Outcome.FAILS


def test_the_gain_is_told_from_that_of_another_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(epsilon: Enclosure, delta: Enclosure, frequency: int) -> Enclosure:
        return key_sanitiser.reporting_probability(epsilon, delta, max(1, frequency - 1))

    monkeypatch.setattr(claims, "optimal_probability", late)
    assert check(BY_ID["pws/section-8-ratio"], 100, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize(
    ("claim", "erratum"),
    [("pws/algorithm-6-published-tight", "PWS-A6"), ("pws/section-8-ratio-printed", "PWS-sec8")],
)
def test_negative_controls_name_their_erratum(claim: str, erratum: str) -> None:
    assert BY_ID[claim].expectation is Expectation.REJECTED
    assert BY_ID[claim].erratum == erratum


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "name", "right"),
    [
        ("pws/algorithm-6-published-tight", "_least", lambda growth, delta, factor: growth / (2 * delta)),
        ("pws/algorithm-6-lower-threshold", "_least", lambda growth, delta, factor: growth / delta),
        ("pws/section-8-ratio-printed", "enclosed_log", lambda growth: Enclosure.of(1 - 1 / growth)),
    ],
)
def test_a_negative_control_with_the_right_form_fails(
    claim: str, name: str, right: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, name, right)
    result = check(BY_ID[claim], 40, 0)
    assert not result.passed
    assert result.witness is None


def test_the_known_witness_against_the_printed_gain() -> None:
    """ε = 0.5, i = 10: π/φ = 5.05, printed at most 4."""
    epsilon, delta = Enclosure.of("0.5"), Enclosure.of(Fraction(1, 10**6))
    assert key_sanitiser.crossover(epsilon, delta).lower > 10
    optimal = key_sanitiser.reporting_probability(epsilon, delta, 10)
    ratio = optimal / stability_histograms.reporting_probability(epsilon, delta, 10)
    assert round(ratio.upper_float, 2) == 5.05
    assert ratio.lower > 4
