"""The claims about weighted samples hold, find a witness against wrong draws, and refute what is not private."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.keyed.reporting import FrequencyRow, ListedRates, PoissonPps, Ppswor
from certdp.accounting.notions.approximate import APPROXIMATE, Approximate
from certdp.plugins.contract import Expectation
from certdp.verification.claims import weighted_samples as claims
from certdp.verification.oracles.sanitisers import algorithm_3
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


@pytest.mark.parametrize("sampler", [PoissonPps, Ppswor])
def test_one_unit_too_many_is_told(sampler: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    right = sampler.drawn
    monkeypatch.setattr(sampler, "drawn", lambda self, frequency: right(self, frequency) + 1)
    assert check(BY_ID["pws/algorithm-1"], 60, 0).outcome is Outcome.FAILS


@pytest.mark.slow
def test_a_sample_that_keeps_too_few_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sanitiser then reports what the sampler cannot have kept."""
    right = ListedRates.drawn
    monkeypatch.setattr(ListedRates, "drawn", lambda self, frequency: right(self, frequency) * 9 // 10)
    assert check(BY_ID["pws/algorithm-2"], 60, 0).outcome is Outcome.FAILS


def test_a_sanitiser_that_reports_a_unit_more_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Callable[..., Any] = claims._in_two_stages

    def generous(row: FrequencyRow, drawn: int) -> Any:
        if not row.runs:
            return right(row, drawn)
        first, *rest = row.runs
        return right(attrs.evolve(row, runs=(first._replace(units=first.units + first.units // 8 + 1), *rest)), drawn)

    monkeypatch.setattr(claims, "_in_two_stages", generous)
    assert check(BY_ID["pws/algorithm-2"], 60, 0).outcome is Outcome.FAILS


@pytest.mark.slow
def test_a_smaller_group_bound_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Smaller:
        def group(self, bound: Approximate, size: int) -> Approximate:
            return Approximate(bound.epsilon * size, (bound.delta * size).minimum(1))

    monkeypatch.setattr(claims, "APPROXIMATE", Smaller())
    assert check(BY_ID["pws/users"], 60, 0).outcome is Outcome.FAILS


def test_the_group_bound_is_attained_without_sampling() -> None:
    """c δ's that grow: from frequency 0 to 3 at q ≡ 1."""
    bound = APPROXIMATE.group(Approximate(Enclosure.of("0.5"), Enclosure.of("0.001")), 3)
    growth = claims._growth(Fraction(1, 2))
    exact = algorithm_3(growth, Fraction(1, 1000), [Fraction(1)] * 3)[-1]
    assert abs(bound.delta.midpoint - exact) < Fraction(1, 2**60)


BOTTOM: dict[str, Any] = {
    "growth": Fraction(3, 2),
    "delta": Fraction(1, 1000),
    "frequency": 34,
    "others": (1,),
    "fresh": True,
}


def test_the_bounds_of_the_bottom_k_control_hold_the_simulated_probability() -> None:
    """Bottom-1 by u/w with the realised threshold, drawn 400,000 times."""
    growth, delta, m = BOTTOM["growth"], BOTTOM["delta"], BOTTOM["frequency"]
    generator, draws = np.random.default_rng(3), 400_000
    parts = claims._PARTS
    marks = sorted({Fraction(j, parts * m) for j in range(3 * parts)} | {Fraction(j, parts) for j in range(parts + 1)})
    reported = [algorithm_3(growth, delta, [min(Fraction(1), t * i) for i in range(1, m + 1)])[-1] for t in marks]
    places, heights = (np.array([float(value) for value in values]) for values in (marks, reported))
    for others in ((1,), (1, 1)):
        low, high = claims._reported_between(marks, reported, others)
        threshold = (generator.random((draws, len(others))) / np.array(others)).min(axis=1)
        sampled = generator.random(draws) / m < threshold
        kept = np.minimum(1, threshold * m)
        optimum = np.interp(threshold, places, heights)
        share = float(np.mean(sampled & (generator.random(draws) * kept < optimum)))
        assert float(low) - 5e-3 < share < float(high) + 5e-3
        assert float(high - low) < 0.03


@pytest.mark.slow
def test_a_fixed_threshold_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control is refuted for the threshold that it takes from the data, not for its arithmetic."""
    monkeypatch.setattr(claims, "_reported_between", lambda marks, reported, others: (reported[-1], reported[-1]))
    result = check(BY_ID["pws/bottom-k-sanitised"], 60, 0)
    assert not result.passed
    assert result.witness is None


def test_the_witness_against_bottom_k() -> None:
    finding = claims._examine_bottom_k(BOTTOM)
    assert not finding.holds
    assert "not reported" in finding.closed_form


NOT_PRIVATE = (
    "pws/bottom-k-sanitised",
    "pws/known-seed",
    "pws/reused-coins",
    "pws/short-draws",
    "pws/users-of-c-deltas",
)


def test_what_is_not_private_is_a_negative_control() -> None:
    assert {claim for claim in BY_ID if BY_ID[claim].expectation is Expectation.REJECTED} == set(NOT_PRIVATE)
