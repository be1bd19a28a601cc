"""The claims of PWS hold, and each of them finds a witness against a wrong form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.keyed import key_sanitiser
from certdp.plugins.contract import Expectation
from certdp.verification.claims import private_weighted_sampling as claims
from certdp.verification.oracles.sanitisers import algorithm_3
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


Closed = Callable[[Enclosure, Enclosure, int], Enclosure]


def one_step_late(epsilon: Enclosure, delta: Enclosure, frequency: int) -> Enclosure:
    return key_sanitiser.reporting_probability(epsilon, delta, max(frequency - 1, 0))


def growing_only(epsilon: Enclosure, delta: Enclosure, frequency: int) -> Enclosure:
    return (delta * key_sanitiser._powers(epsilon, frequency)).minimum(1)


def blurred(epsilon: Enclosure, delta: Enclosure, frequency: int) -> Enclosure:
    return key_sanitiser.reporting_probability(epsilon, delta, frequency).widen(Fraction(1, 2**40))


@pytest.mark.parametrize("wrong", [one_step_late, growing_only, blurred])
def test_lemma_4_2_is_told_from_a_wrong_form(wrong: Closed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "reporting_probability", wrong)
    assert check(BY_ID["pws/lemma-4.2"], 400, 0).outcome is Outcome.FAILS


@pytest.mark.slow
def test_lemma_4_2_sees_one_growing_step_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    right = key_sanitiser._growing_steps

    def fewer(epsilon: Enclosure, delta: Enclosure) -> range:
        steps = right(epsilon, delta)
        return range(max(steps[0] - 1, 1), max(steps[-1], 2))

    monkeypatch.setattr(key_sanitiser, "_growing_steps", fewer)
    assert check(BY_ID["pws/lemma-4.2"], 400, 0).outcome is Outcome.FAILS


def test_equation_3_is_told_from_its_approximation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "crossover", lambda e, d: (e / (2 * d)).log() / e)
    assert check(BY_ID["pws/equation-3"], 400, 0).outcome is Outcome.FAILS


def without_the_second_outcome(epsilon: Enclosure, delta: Enclosure, rates: Sequence[Enclosure]) -> list[Enclosure]:
    found, before = [], Enclosure.of(0, precision=epsilon.precision)
    for rate in rates:
        before = rate.minimum(epsilon.exp() * before + delta)
        found.append(before)
    return found


def without_the_first_outcome(epsilon: Enclosure, delta: Enclosure, rates: Sequence[Enclosure]) -> list[Enclosure]:
    found, before = [], Enclosure.of(0, precision=epsilon.precision)
    for rate in rates:
        before = rate.minimum(1 - (-epsilon).exp() * (1 - before - delta))
        found.append(before)
    return found


def half(epsilon: Enclosure, delta: Enclosure, rates: Sequence[Enclosure]) -> list[Enclosure]:
    return [value / 2 for value in key_sanitiser.algorithm_3(epsilon, delta, rates)]


@pytest.mark.parametrize("wrong", [without_the_second_outcome, without_the_first_outcome, half])
def test_lemma_4_1_is_told_from_a_wrong_algorithm(
    wrong: Callable[..., list[Enclosure]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "algorithm_3", lambda e, d, rates: wrong(e, d, list(rates)))
    assert check(BY_ID["pws/lemma-4.1"], 400, 0).outcome is Outcome.FAILS


def test_the_programme_is_told_from_one_without_a_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    right = claims._constraints

    def fewer(growth: Fraction, delta: Fraction, rates: Sequence[Fraction]) -> Any:
        return [(row, limit) for row, limit in right(growth, delta, rates) if limit != delta + growth - 1]

    monkeypatch.setattr(claims, "_constraints", fewer)
    assert check(BY_ID["pws/lemma-4.1"], 400, 0, smallest=True).outcome is Outcome.FAILS


def test_a_smaller_band_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "crossover", lambda e, d: key_sanitiser.crossover(e, d) - 1)
    assert check(BY_ID["pws/lemma-4.3"], 400, 0).outcome is Outcome.FAILS


NEGATIVE_CONTROLS = {
    "pws/equation-4-printed": "PWS-L4.2",
    "pws/equation-4-any-crossover": "PWS-L any L",
    "pws/lemma-4.3-printed": "PWS-L4.3",
}


@pytest.mark.parametrize("claim", NEGATIVE_CONTROLS)
def test_negative_controls_name_their_erratum(claim: str) -> None:
    assert BY_ID[claim].expectation is Expectation.REJECTED
    assert BY_ID[claim].erratum == NEGATIVE_CONTROLS[claim]


def test_the_smallest_witness_against_the_printed_equation() -> None:
    result = check(BY_ID["pws/equation-4-printed"], 150, 0)
    assert result.witness is not None
    assert result.witness["steps"] == 1
    assert result.witness["frequency"] == 2


def test_the_known_witness_against_the_printed_equation() -> None:
    """Near ε = 0.5 and L = 4: π₅ = 0.636, printed 0.364."""
    growth = Fraction("1.6487212707")
    delta = claims._integral_delta(growth, 4)
    assert round(float(delta), 7) == 0.0369188
    power = claims._power_at_crossover(growth, delta)
    assert round(float(claims._printed_form(growth, delta, power, 5)), 4) == 0.3636
    assert round(float(claims._integral_form(growth, delta, power, 5)), 4) == 0.6364
    assert claims._integral_form(growth, delta, power, 5) == algorithm_3(growth, delta, [Fraction(1)] * 5)[-1]


@pytest.mark.parametrize(
    ("claim", "name", "right"),
    [
        ("pws/equation-4-printed", "_printed_form", claims._integral_form),
        ("pws/lemma-4.3-printed", "_printed_band", lambda growth, power, lost: growth ** (lost - 2) <= power**2),
        (
            "pws/equation-4-any-crossover",
            "_integral_form",
            lambda growth, delta, power, frequency: algorithm_3(growth, delta, [Fraction(1)] * frequency)[-1],
        ),
    ],
)
def test_a_negative_control_with_the_right_form_fails(
    claim: str, name: str, right: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, name, right)
    result = check(BY_ID[claim], 50, 0)
    assert not result.passed
    assert result.witness is None
