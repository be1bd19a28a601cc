"""How far an audit is said to see, against the bounds of scipy and against audits of randomised response."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta

from certdp.accounting.errors import InvalidValue
from certdp.accounting.units import Delta, Epsilon
from certdp.verification.audit import power_of

Numbers: TypeAlias = NDArray[Any]

CONFIDENCE = Fraction(999, 1000)


def lower_bounds(likelier: Numbers, rarer: Numbers, trials: int, delta: float) -> Numbers:
    """The bounds of Clopper and Pearson on ε, by scipy."""
    tail = float(1 - CONFIDENCE) / 2
    least = beta.ppf(tail, likelier, trials - likelier + 1) - delta
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(least, 0) / beta.ppf(1 - tail, rarer + 1, trials - rarer)))


@pytest.mark.parametrize(("claimed", "delta", "runs"), [(1.0, 0.0, 2000), (2.0, 0.01, 20_000), (0.1, 0.1, 20_000)])
def test_no_event_at_a_smaller_epsilon_refutes_by_its_expected_counts(claimed: float, delta: float, runs: int) -> None:
    power = power_of(Epsilon(claimed), Delta(delta), runs=runs, confidence=CONFIDENCE)
    tested = runs // 2
    assert power.most == pytest.approx(lower_bounds(np.array(tested), np.array(0), tested, delta), rel=1e-9)
    assert power.refutable > claimed

    def best(epsilon: float) -> float:
        """Over all events that an (ε, δ)-DP release may have: p ≤ e^ε·q + δ and 1 − q ≤ e^ε·(1 − p) + δ."""
        rarer = np.linspace(1e-6, 1, 4000, endpoint=False)
        likelier = np.minimum(math.exp(epsilon) * rarer + delta, 1 - (1 - rarer - delta) / math.exp(epsilon))
        return float(lower_bounds(np.minimum(likelier, 1) * tested, rarer * tested, tested, delta).max())

    one_run = 1 / tested  # the expected counts are no whole numbers
    assert best(power.refutable - 8 * one_run - 1e-3) <= claimed < best(power.refutable + 8 * one_run + 1e-3)


def test_randomised_response_is_refuted_about_every_second_time_there() -> None:
    claimed, tested, tries = Epsilon(1), 5000, 1000
    power = power_of(claimed, Delta(0), runs=2 * tested, confidence=CONFIDENCE)
    generator = np.random.default_rng(0)

    def refuted(epsilon: float) -> float:
        chance = 1 / (1 + math.exp(epsilon))
        likelier, rarer = (generator.binomial(tested, p, tries) for p in (1 - chance, chance))
        return float(np.mean(lower_bounds(likelier, rarer, tested, 0) > 1))

    assert 0.4 < refuted(power.refutable) < 0.6
    assert refuted(1 + (power.refutable - 1) / 2) < 0.1
    assert refuted(1 + (power.refutable - 1) * 3 / 2) > 0.9


def test_what_no_outcome_refutes() -> None:
    blind = power_of(Epsilon(20), Delta(0), runs=20_000, confidence=CONFIDENCE)
    assert blind.refutable == math.inf
    assert blind.as_json() == {"runs": 20_000, "epsilon_lower_most": blind.most, "epsilon_refutable": None}
    assert "does not refute the claim" in str(blind)
    assert power_of(Epsilon(0), Delta(1), runs=2000, confidence=CONFIDENCE).most == 0


def test_inadmissible_confidences() -> None:
    with pytest.raises(InvalidValue, match="confidence"):
        power_of(Epsilon(1), Delta(0), runs=20, confidence=1)
