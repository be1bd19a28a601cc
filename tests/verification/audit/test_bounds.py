"""How many runs an audit needs at least, against the bounds of Clopper and Pearson themselves."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.units import Delta, Epsilon
from certdp.verification.audit import Count, epsilon_lower_bound, fewest_runs
from tests.support.cases import examples


def largest_bound(runs: int, delta: Delta, confidence: Fraction) -> float:
    """The bound where an event happens in all tested runs on one input and in none on the other."""
    tested = runs - runs // 2
    return epsilon_lower_bound(Count(tested, tested), Count(0, tested), delta, 1 - confidence)


@pytest.mark.slow
@given(
    st.fractions(0, 6, max_denominator=20),
    st.sampled_from(["0", "1e-5", "0.1", "0.5"]),
    st.sampled_from([Fraction(9, 10), Fraction(999, 1000)]),
)
@examples(40)
def test_with_so_many_runs_the_best_outcome_refutes_and_with_fewer_it_does_not(
    epsilon: Fraction, delta: str, confidence: Fraction
) -> None:
    runs = fewest_runs(Epsilon(epsilon), Delta(delta), confidence)
    assert largest_bound(runs, Delta(delta), confidence) > float(epsilon)
    assert largest_bound(runs - 1, Delta(delta), confidence) <= float(epsilon) + 1e-12


def test_a_number_worked_out_by_hand() -> None:
    """At ε = 0, δ = 0 the two bounds must part: (1/10)^{1/m} > 1/2 from m = 4 on, where it is 0.56."""
    assert fewest_runs(Epsilon(0), Delta(0), Fraction(8, 10)) == 7


def test_of_a_large_claim() -> None:
    runs = fewest_runs(Epsilon(300), Delta(0), Fraction(999, 1000))
    assert math.log(runs) == pytest.approx(300 + math.log(2 * math.log(2000)), abs=1e-9)


@pytest.mark.parametrize("confidence", [0, 1, "1.5"])
def test_inadmissible_confidences(confidence: Any) -> None:
    with pytest.raises(InvalidValue, match="confidence"):
        fewest_runs(Epsilon(1), Delta(0), confidence)


def test_every_release_keeps_a_delta_of_one() -> None:
    with pytest.raises(InvalidValue, match="no audit can refute"):
        fewest_runs(Epsilon(1), Delta(1), "0.999")


@pytest.mark.soundness
@pytest.mark.parametrize(("confidence", "most"), [("0.5", 0.5), ("0.9", 0.1), ("0.999", 0.01)])
def test_a_claim_that_holds_with_equality_is_seldom_refuted(confidence: str, most: float) -> None:
    """Randomised response at its own ε, over 1,000 seeds: each tested event is as likely as the claim allows."""
    truth, trials, error = math.e / (1 + math.e), 1000, 1 - Fraction(confidence)
    alarms = 0
    for seed in range(1000):
        generator = np.random.default_rng(seed)
        hits = [int(generator.binomial(trials, chance)) for chance in (truth, 1 - truth)]
        bound = epsilon_lower_bound(Count(hits[0], trials), Count(hits[1], trials), Delta(0), error)
        alarms += Fraction(bound) > 1
    assert alarms <= most * 1000
    assert alarms > 0 or confidence != "0.5"  # so the rate can be seen at all
