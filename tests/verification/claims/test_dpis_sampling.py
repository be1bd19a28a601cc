"""The claims on the estimator and the sampler of DPIS tell right from wrong."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.mechanisms.dpis_step import DpisStep
from certdp.plugins.contract import Case, Coins, Expectation, Release, WeightedSample
from certdp.verification.claims import dpis_sampling as claims
from certdp.verification.claims.dpis import step_of
from certdp.verification.oracles.dpis_estimator import sampling_term
from certdp.verification.running.runner import run

BY_ID = {claim.id: claim for claim in claims.CLAIMS}

NEGATIVE_CONTROLS = {
    "dpis/line-26-printed": "DPIS-line26",
    "dpis/equation-15-printed": "DPIS-stale",
    "dpis/unclipped-stale": "DPIS-stale",
    "dpis/saturation-printed": "DPIS-saturation",
    "dpis/equation-16-printed": "DPIS-Eq16",
    "dpis/section-3.5-printed": "DPIS-3.5",
    "dpis/private-deviation": "DPIS-private N",
}

DATA: Case = {
    "norms": [Fraction(1), Fraction(2), Fraction(1, 2)],
    "directions": list(claims._DIRECTIONS[2:5]),
    "weights": [Fraction(1), Fraction(3), Fraction(2)],
    "share": Fraction(1, 2),
    "variance": Fraction(3),
}
STALE: Case = {
    "batch": Fraction(100),
    "size": Fraction(1000),
    "clip": Fraction(1),
    "noise_multiplier": Fraction(2),
    "share": Fraction(1, 900),  # K̃ = 1.01·bC
    "norm": Fraction(1),
    "stale": Fraction(1, 10),
    "floor": Fraction(1, 100),
    "multiplier": Fraction(5),
    "order": Fraction(4),
}


def test_every_control_names_its_erratum() -> None:
    found = {claim.id: claim.erratum for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED}
    assert found == NEGATIVE_CONTROLS


MUTANTS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "half the mixed terms": (
        "dpis/second-moment",
        "second_moment",
        lambda gram, p, *, batch, noise: sampling_term([row[i] for i, row in enumerate(gram)], p, batch=batch),
    ),
    "uniform probabilities": (
        "dpis/equation-9",
        "best_probabilities",
        lambda norms: [Fraction(1, len(norms))] * len(norms),
    ),
    "no stale bound": (
        "dpis/equation-15",
        "two_stage_rate",
        lambda norm, bound, *, batch, norm_sum: batch * norm / norm_sum,
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_closed_form_is_told(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    claim, name, wrong = MUTANTS[mutant]
    monkeypatch.setattr(claims, name, wrong)
    case = DATA if BY_ID[claim].cases is claims._data_cases else STALE
    assert not BY_ID[claim].examine(case).holds


@pytest.mark.parametrize("sampler", [claims._saturated, claims._unclipped])
def test_controls_fail_for_their_fault_alone(sampler: Callable[..., Any]) -> None:
    """Where ĝ is neither above K̃/b nor below the norm, the printed sampler costs what Lemma 3.1 says."""
    harmless = {**STALE, "share": Fraction(1, 2), "stale": Fraction(1, 4)}
    assert claims._costing(sampler)(harmless).holds


def test_the_known_witness_against_saturation() -> None:
    """k = 5, b = 100, K̃ = 1.01·bC: 4.95 times the analysed shift."""
    case = {**STALE, "stale": Fraction(1)}
    step = step_of(case)
    drawn = claims._saturated(case, step)
    assert float(drawn.moved / (step.norm_sum / step.size)) == pytest.approx(4.95, abs=0.001)
    assert not claims._costing(claims._saturated)(case).holds


def test_the_known_witness_against_stale_norms() -> None:
    """k = 5, stale norm 0.1·C: the rate is halved."""
    step = step_of(STALE)
    assert claims._two_stage(STALE, step).rate == step.rate / 2


def test_the_known_witness_against_line_26() -> None:
    """The printed mean is 1/b of the true one: here b = 3/2, half of what the largest probability admits."""
    batch = claims._batch(DATA, claims._probabilities(DATA))
    gradients = [claims._scaled(gradient, batch) for gradient in claims._gradients(DATA)]
    assert batch == 1
    assert not claims._examine_line_26({**DATA, "share": Fraction(1, 4)}).holds
    assert claims._examine_line_26(DATA).holds  # b = 1 hides the fault
    assert gradients == claims._gradients(DATA)


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.99, 1.01])
def test_a_release_that_is_a_percent_off_is_refuted(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    right = DpisStep.release_many

    def wrong(self: DpisStep, sample: WeightedSample, count: int, coins: Coins) -> Release:
        return right(self, WeightedSample(sample.records * factor, sample.weights), count, coins)

    monkeypatch.setattr(DpisStep, "release_many", wrong)
    (result,) = run([BY_ID["dpis/equation-7"]], examples=40).results
    assert result.error is None
    assert not result.passed
