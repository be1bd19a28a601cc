"""The general exponential mechanism: the loss against enumerated outputs, where the normaliser is constant and not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import ORDER, W, evaluate, norm, simplify, sqrt
from certdp.accounting.expressions.tree import Expression
from certdp.mechanisms.exponential import Exponential, FiniteExponential, Normaliser
from certdp.plugins.contract import Coins, Release, WeightedSample
from tests.support.arb_noise import Handed


def total(sample: WeightedSample) -> Release:
    return sample.weighted_sum()


def nothing_added(centre: Release, coins: Coins) -> Release:
    return centre


def exponential(**change: Any) -> Exponential:
    parts: dict[str, Any] = {"sensitivity": norm(1), "scale": 2, "query": total, "draw": nothing_added}
    return Exponential(**{**parts, **change})


@given(
    outputs=st.lists(st.integers(-20, 20), min_size=1, max_size=12, unique=True),
    centre=st.integers(-15, 15),
    step=st.integers(-9, 9),
    weight=st.integers(1, 3),
    scale=st.integers(1, 9),
)
def test_on_a_bounded_space_of_outputs_the_loss_counts_twice(
    outputs: list[int], centre: int, step: int, weight: int, scale: int
) -> None:
    """Outputs from a finite set with d(y, g) = |y − g|: all log-ratios of the exact laws."""

    def law(g: int) -> np.ndarray[Any, Any]:
        masses = np.array([math.exp(-abs(y - g) / scale) for y in outputs])
        return np.asarray(masses / masses.sum())

    worst = np.abs(np.log(law(centre) / law(centre + weight * step))).max()
    loss = exponential(scale=scale).loss.epsilon
    assert worst <= float(evaluate(loss, {W: weight, norm(1): abs(step)})) + 1e-9


def test_once_would_not_be_enough_where_the_normaliser_varies() -> None:
    """Two outputs around the centres 0 and 1: the ratio of the laws exceeds e^(Δ/β)."""
    outputs, scale = np.array([0.0, 1.0]), 1.0

    def law(g: float) -> np.ndarray[Any, Any]:
        masses = np.exp(-np.abs(outputs - g) / scale)
        return np.asarray(masses / masses.sum())

    worst = np.abs(np.log(law(0.0) / law(1.0))).max()
    assert worst == pytest.approx(1)  # symmetric: the normalisers agree
    outputs = np.array([1.0, *[0.0] * 50])  # fifty outputs at 0
    worst = np.abs(np.log(law(0.0) / law(1.0))).max()
    once = float(evaluate(exponential(scale=1, normaliser=Normaliser.CONSTANT).loss.epsilon, {W: 1, norm(1): 1}))
    assert once < worst <= 2 * once


def test_the_loss_is_the_weighted_sensitivity_over_the_scale() -> None:
    delta = sqrt(norm(2)) + norm("inf")
    assert simplify(exponential(sensitivity=delta).loss.epsilon) == simplify(W * delta)
    constant = exponential(sensitivity=delta, normaliser=Normaliser.CONSTANT)
    assert simplify(constant.loss.epsilon) == simplify(W * delta / 2)


def test_a_release_draws_around_the_query() -> None:
    shifted = exponential(draw=lambda centre, coins: centre + coins.integers(1, 1)[0] + 1)
    released = shifted.release(WeightedSample([[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0]), Coins.seeded(0))
    assert released.tolist() == [8, 11]


@pytest.mark.parametrize("sensitivity", [W * norm(1), ORDER * norm(2), norm(1) - norm(2)])
def test_sensitivities_are_non_negative_in_norms_alone(sensitivity: Expression) -> None:
    with pytest.raises(InvalidValue, match=r"norms|non-negative"):
        exponential(sensitivity=sensitivity)


@pytest.mark.parametrize("scale", [0, -1])
def test_scales_are_positive(scale: int) -> None:
    with pytest.raises(InvalidValue, match="scale: got"):
        exponential(scale=scale)


def votes(sample: WeightedSample) -> list[Fraction]:
    """How much weight votes for each column."""
    return [sum((Fraction(w) for w in sample.weights[column > 0].tolist()), Fraction(0)) for column in sample.records.T]


@given(
    records=st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=3), min_size=1, max_size=5),
    weight=st.integers(1, 4),
    scale=st.integers(1, 5),
    monotone=st.booleans(),
)
def test_a_choice_among_finitely_many_outputs_loses_no_more_than_it_says(
    records: list[list[int]], weight: int, scale: int, monotone: bool
) -> None:
    """The votes of the last record, of weight w, against the log-ratios of exact laws; as votes only add, once."""
    mechanism = FiniteExponential(sensitivity=norm("inf"), scale=Fraction(scale), utilities=votes, monotone=monotone)
    weights = [1.0] * (len(records) - 1) + [float(weight)]
    every = WeightedSample(np.array(records, dtype=np.float64), weights)
    without = WeightedSample(np.array(records[:-1], dtype=np.float64).reshape(-1, 3), weights[:-1])

    def law(sample: WeightedSample) -> np.ndarray[Any, Any]:
        masses = np.exp([float(score) / scale for score in votes(sample)])
        return np.asarray(masses / masses.sum())

    worst = np.abs(np.log(law(every) / law(without))).max()
    declared = float(evaluate(mechanism.loss.epsilon, {W: weight, norm("inf"): max(records[-1])}))
    assert worst <= declared + 1e-9
    assert declared == pytest.approx((1 if monotone else 2) * weight * max(records[-1]) / scale)


def test_choices_have_the_law_of_the_utilities() -> None:
    """χ²; for a right law it fails once in 10^6 runs."""
    mechanism = FiniteExponential(sensitivity=norm("inf"), scale=Fraction(3), utilities=votes)
    sample = WeightedSample(np.array([[1.0, 0, 1], [1, 0, 0]]), [2.0, 3.5])
    drawn = mechanism.release_many(sample, 10**5, Coins.seeded(1))
    assert drawn.shape == (10**5, 1)
    masses = np.exp([5.5 / 3, 0, 2 / 3])
    seen = np.bincount(drawn[:, 0].astype(int), minlength=3)
    assert stats.chisquare(seen, masses / masses.sum() * 10**5).pvalue > 1e-6
    assert mechanism.release(sample, Coins.seeded(1)).shape == (1,)


@pytest.mark.parametrize(
    ("utilities", "parameter"), [(lambda _: [0.5, math.nan], "utilities"), (lambda _: [], "exponents")]
)
def test_utilities_that_are_no_numbers_are_refused_before_anything_is_drawn(utilities: Any, parameter: str) -> None:
    mechanism = FiniteExponential(sensitivity=norm(1), scale=Fraction(1), utilities=utilities)
    with pytest.raises(InvalidValue, match=parameter):
        mechanism.release(WeightedSample(np.ones((1, 1)), [1.0]), Coins(Handed([])))
