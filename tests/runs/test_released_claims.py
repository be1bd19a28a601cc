"""The claims about released parameters hold, each tells a wrong composition, and each control has a right one."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.notions import Pure
from certdp.plugins.contract import Expectation
from certdp.runs import released_claims as claims
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["released/every-value", "released/rate"])
def test_a_reading_in_place_of_the_supremum_is_told(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded = claims._bounded
    monkeypatch.setattr(claims, "_bounded", lambda run, direct: bounded(run.as_it_came_out, direct))
    assert check(BY_ID[claim], 200, 0).outcome is Outcome.FAILS


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["released/every-value", "released/noise-multiplier", "released/two-stages"])
def test_a_release_that_costs_nothing_is_told(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from certdp.accounting.notions import Approximate
    from certdp.runs.run import Run

    nothing = Enclosure.of(0)
    monkeypatch.setattr(Run, "_spent", property(lambda self: Approximate(nothing, nothing)))
    assert check(BY_ID[claim], 200, 0).outcome is Outcome.FAILS


@pytest.mark.slow
def test_half_a_cost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = claims._cost

    def half(*laws: Any) -> Any:
        cost = whole(*laws)
        return evolve(cost, bound=Pure(cost.bound.epsilon / 2))

    monkeypatch.setattr(claims, "_cost", half)
    assert check(BY_ID["released/every-value"], 200, 0).outcome is Outcome.FAILS


@pytest.mark.slow
def test_every_negative_control_with_the_right_composition_finds_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    controls = {claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED}
    assert controls == {"released/reading", "released/two-stages-reading"}
    monkeypatch.setattr(claims, "_examine_reading", claims._examine_every_value)
    right = evolve(BY_ID["released/reading"], examine=claims._examine_every_value)
    result = check(right, 100, 0)
    assert not result.passed
    assert result.witness is None


def test_the_witness_of_a_noisy_count_that_chooses_a_scale() -> None:
    """For a released 3 the reading is (0.11, 1e-6), and the true δ at that ε is 0.4966."""
    claim = BY_ID["released/two-stages-reading"]
    assert claim.witness is not None
    finding = claim.examine(claim.witness)
    assert not finding.holds
    assert "0.109998, 1e-06" in finding.closed_form
    assert "0.4966" in finding.independent
