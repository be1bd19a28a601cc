"""The general exponential mechanism: the loss against enumerated outputs, where the normaliser is constant and not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import ORDER, W, evaluate, norm, simplify, sqrt
from certdp.accounting.expressions.tree import Expression
from certdp.mechanisms.exponential import Exponential, Normaliser
from certdp.plugins.contract import Coins, Release, WeightedSample


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
