"""The Laplace sum: its loss is the log-ratio of its output densities, and its release is the noisy weighted sum."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.derivation import Evidence
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import W, evaluate, norm, simplify
from certdp.accounting.private import InvalidData
from certdp.accounting.provenance import Public
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import Coins, Mechanism, WeightedSample

RECORDS = np.array([[1.0, -2.0, 0.0], [0.5, 0.25, 4.0]])


@given(
    weight=st.integers(1, 9),
    record=st.lists(st.integers(-9, 9), min_size=1, max_size=4),
    scale=st.integers(1, 50),
    outputs=st.lists(st.integers(-200, 200), min_size=4, max_size=4),
)
def test_no_output_is_more_telling_than_the_loss(
    weight: int, record: list[int], scale: int, outputs: list[int]
) -> None:
    """log of the ratio of the densities with and without the record, exactly: a difference of ℓ1 distances."""
    shift = [weight * x for x in record]
    with_it = sum(abs(y - s) for y, s in zip(outputs, shift, strict=False))
    without = sum(abs(y) for y, _ in zip(outputs, shift, strict=False))
    loss = LaplaceSum(scale=Public(scale)).loss.pure.epsilon
    declared = float(evaluate(loss, {W: weight, norm(1): sum(map(abs, record))}))
    assert abs(with_it - without) / scale <= declared + 1e-9
    worst = sum(map(abs, shift)) / scale  # reached at the output `shift` itself
    assert declared == pytest.approx(worst)


def test_the_loss_is_exact_in_its_scale() -> None:
    assert simplify(LaplaceSum(scale=Public("0.1")).loss.pure.epsilon) == simplify(10 * W * norm(1))
    assert simplify(LaplaceSum(scale=Public(0.1)).loss.pure.epsilon) != simplify(10 * W * norm(1))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(30)])
def test_releases_spread_around_the_weighted_sum(scale: Fraction) -> None:
    sample = WeightedSample(RECORDS, [2.0, 4.0])
    mechanism, coins = LaplaceSum(scale=Public(scale)), Coins.seeded(3)
    releases = np.array([mechanism.release(sample, coins) for _ in range(4000)])
    assert releases.shape == (4000, 3)
    centred = releases - np.array([4.0, -3.0, 16.0])
    for column in centred.T:
        assert stats.kstest(column, stats.laplace(scale=float(scale)).cdf).pvalue > 1e-4
    correlations = np.asarray(np.corrcoef(centred.T)) - np.eye(3)
    assert np.abs(correlations).max() < 0.08


def test_an_empty_sample_releases_noise_of_the_same_shape() -> None:
    released = LaplaceSum(scale=Public(1)).release(WeightedSample(np.empty((0, 5)), []), Coins.seeded(1))
    assert released.shape == (5,)
    assert np.all(released != 0)


def test_seeded_releases_repeat_and_others_do_not() -> None:
    sample, mechanism = WeightedSample(RECORDS, [1.0, 1.0]), LaplaceSum(scale=Public(1))
    assert np.array_equal(mechanism.release(sample, Coins.seeded(1)), mechanism.release(sample, Coins.seeded(1)))
    assert not np.array_equal(mechanism.release(sample, Coins()), mechanism.release(sample, Coins()))


@pytest.mark.parametrize("scale", [0, -1, "0", float("nan"), float("inf"), True])
def test_scales_are_positive_numbers(scale: Any) -> None:
    with pytest.raises(InvalidValue, match="scale: got"):
        LaplaceSum(scale=Public(scale))


def test_it_is_a_proved_mechanism_that_assumes_nothing_of_arithmetic() -> None:
    mechanism = LaplaceSum(scale=Public(1))
    assert isinstance(mechanism, Mechanism)
    assert mechanism.about.evidence is Evidence.PROVED
    assert mechanism.about.assumptions == ()


def test_sums_near_the_end_of_binary64_are_refused_before_any_noise() -> None:
    mechanism = LaplaceSum(scale=Public(1))
    mechanism.require(WeightedSample(np.full((3, 1), 1e280), np.ones(3)))
    with pytest.raises(InvalidData):
        mechanism.require(WeightedSample(np.full((3, 1), 1e308), np.ones(3)))
