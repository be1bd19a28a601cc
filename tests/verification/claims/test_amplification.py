"""The claims of amplification and of plans of releases hold, and each finds a witness against a wrong theorem."""

from __future__ import annotations

from typing import Any

import pytest

from certdp.accounting.amplification import delta_after_sampling, psi, psi_add, renyi_after_sampling
from certdp.accounting.pairs import FinitePair, pair
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce
from certdp.plugins.contract import Expectation
from certdp.verification.claims import amplification as claims
from certdp.verification.running.results import Outcome
from certdp.verification.running.runner import run
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}
CONTROLS = {claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED}


def test_every_negative_control_is_known() -> None:
    assert {control.removeprefix("amplification/") for control in CONTROLS} == {
        "unamplified-epsilon",
        "add-without-factor",
        "remove-for-add",
        "once-for-each",
        "each-for-once",
        "remove-alone",
    }


OTHER = {Direction.REMOVE: Direction.ADD, Direction.ADD: Direction.REMOVE}


def swapped(row: Any) -> Any:
    return lambda law, rate, at, direction: row(law, rate, at, OTHER[direction])


def unsampled(row: Any) -> Any:
    return lambda law, rate, at, direction: law(at, direction)


def half_the_rate(row: Any) -> Any:
    return lambda law, rate, at, direction: row(law, rate / 2, at, direction)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [swapped, unsampled, half_the_rate])
@pytest.mark.parametrize(
    ("claim", "row"),
    [
        ("amplification/approximate", delta_after_sampling),
        ("amplification/renyi-integer-orders", renyi_after_sampling),
        ("amplification/renyi-real-orders", renyi_after_sampling),
    ],
)
def test_a_wrong_row_is_told(claim: str, row: Any, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair, row.__name__, wrong(row))
    (result,) = run([BY_ID[claim]], examples=60).results
    assert not result.passed


@pytest.mark.parametrize("wrong", [dict.fromkeys(Direction, psi), dict.fromkeys(Direction, psi_add)])
def test_one_psi_for_both_directions_is_told(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair, "_PSI", wrong)
    assert check(BY_ID["amplification/pure"], 100, 0).outcome is Outcome.FAILS


def test_confused_plans_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    once, each = SampleOnce.pair, ResampleEach.pair
    monkeypatch.setattr(SampleOnce, "pair", each)
    monkeypatch.setattr(ResampleEach, "pair", once)
    for claim in ("amplification/sample-once", "amplification/resample-each"):
        assert check(BY_ID[claim], 80, 0).outcome is Outcome.FAILS


def test_forgotten_sampling_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FinitePair, "sampled", lambda self, rate: self)
    assert check(BY_ID["amplification/sample-once"], 80, 0).outcome is Outcome.FAILS
    assert check(BY_ID["amplification/resample-each"], 80, 0).outcome is Outcome.FAILS
    monkeypatch.setattr(FinitePair, "repeated", lambda self, times: self)
    assert check(BY_ID["amplification/every-record-drawn"], 80, 0).outcome is Outcome.FAILS


@pytest.mark.slow
def test_the_worse_direction_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def other_way(self: FinitePair, direction: Direction) -> Any:
        return (self.absent, self.present) if direction is Direction.REMOVE else (self.present, self.absent)

    claims._laplace_deltas.cache_clear()
    monkeypatch.setattr(FinitePair, "_laws", other_way)
    assert check(BY_ID["amplification/worse-direction"], 10, 0).outcome is Outcome.FAILS
    claims._laplace_deltas.cache_clear()
