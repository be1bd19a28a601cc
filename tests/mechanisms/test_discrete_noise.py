"""Discrete Laplace and Gaussian sums: exact laws of neighbouring outputs against the declared loss, and releases."""

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
from certdp.accounting.expressions import ORDER, W, evaluate, norm
from certdp.accounting.provenance import Public
from certdp.mechanisms.discrete_gaussian import DiscreteGaussian
from certdp.mechanisms.discrete_laplace import DiscreteLaplace
from certdp.mechanisms.lattice import lattice_sum
from certdp.plugins.contract import Coins, Mechanism, WeightedSample, build

BOTH = [DiscreteLaplace, DiscreteGaussian]


@given(
    weight=st.floats(1, 20),
    record=st.lists(st.floats(-50, 50), min_size=1, max_size=3),
    scale=st.fractions(Fraction(1, 4), 40),
    spacing=st.fractions(Fraction(1, 8), 8),
    outputs=st.lists(st.integers(-500, 500), min_size=3, max_size=3),
)
def test_no_output_is_more_telling_than_the_pure_loss(
    weight: float, record: list[float], scale: Fraction, spacing: Fraction, outputs: list[int]
) -> None:
    """log of the ratio of the exact masses e^(−Σ|z|·spacing/scale) with and without the record."""
    shift = lattice_sum(WeightedSample([record], [weight]), spacing)
    pairs = list(zip(outputs, shift, strict=False))
    ratio = (sum(abs(y - s) for y, s in pairs) - sum(abs(y) for y, _ in pairs)) * spacing / scale
    mechanism = DiscreteLaplace(scale=Public(scale), granularity=Public(spacing))
    pure = mechanism.loss.pure
    assert pure is not None
    length = math.fsum(map(abs, record))
    assert abs(ratio) <= float(evaluate(pure.epsilon, {W: weight, norm(1): length})) * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.5, 10.0])
@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 8.0, 40.0])
def test_the_renyi_divergence_of_shifted_noise_is_at_most_the_loss(sigma: float, steps: int, order: float) -> None:
    """One coordinate on the lattice ℤ, summed over every integer that matters, in the logarithm."""
    reach = int(60 * sigma * math.sqrt(order) + steps * order + 60)
    z = np.arange(-reach, reach + 1)
    with_it, without = -((z - steps) ** 2) / (2 * sigma**2), -(z**2) / (2 * sigma**2)
    total = np.logaddexp.reduce(without)
    divergence = (np.logaddexp.reduce(order * with_it + (1 - order) * without) - total) / (order - 1)
    loss = DiscreteGaussian(scale=Public(sigma)).loss
    declared = float(evaluate(loss.features[0], {ORDER: order, W: 1, norm(2): steps}))
    assert divergence <= declared * (1 + 1e-9)
    assert divergence == pytest.approx(declared, rel=0.01) or sigma < 1  # nothing is given away


def test_the_losses_are_those_of_the_continuous_noise() -> None:
    at = {W: 3, norm(1): 4.0, norm(2): 2.5}
    pure = DiscreteLaplace(scale=Public("0.5"), granularity=Public("0.1")).loss.pure
    assert pure is not None
    assert float(evaluate(pure.epsilon, at)) == pytest.approx(24)
    gaussian = DiscreteGaussian(scale=Public("0.5")).loss
    assert float(evaluate(gaussian.features[0], {**at, ORDER: 2})) == pytest.approx(225)


def centred(plugin: Any) -> Any:
    """The noise, in steps of the lattice, of many releases whose scale is four steps."""
    sample, coins = WeightedSample([[1.3, -2.0], [0.5, 4.2]], [2.0, 1.0]), Coins.seeded(4)
    truncated = np.array([2.5 + 0.5, -4.0 + 4.0])
    mechanism = plugin(scale=Public(2), granularity=Public("0.5"))
    noise = (np.array([mechanism.release(sample, coins) for _ in range(3000)]) - truncated) * 2
    assert noise.shape == (3000, 2)
    assert np.array_equal(noise, np.round(noise))
    assert np.abs(np.asarray(np.corrcoef(noise.T)) - np.eye(2)).max() < 0.08
    return noise


def test_discrete_laplace_noise_lies_on_the_lattice_around_the_truncated_sum() -> None:
    noise, last = centred(DiscreteLaplace), 12
    seen = [np.sum(np.clip(noise, -last, last) == cell) for cell in range(-last, last + 1)]
    inner = [math.tanh(1 / 8) * math.exp(-abs(z) / 4) for z in range(1 - last, last)]
    tail = (1 - math.fsum(inner)) / 2
    assert stats.chisquare(seen, np.array([tail, *inner, tail]) * noise.size, sum_check=False).pvalue > 1e-4


def test_discrete_gaussian_noise_lies_on_the_lattice_around_the_truncated_sum() -> None:
    noise = centred(DiscreteGaussian)
    assert noise.std() == pytest.approx(4, rel=0.03)
    spread = noise.ravel() + np.random.default_rng(1).random(noise.size) - 0.5
    assert stats.kstest(spread, smoothed(4)).pvalue > 1e-3


def smoothed(sigma: float) -> Any:
    """The distribution function of discrete Gaussian plus uniform noise on (−½, ½)."""
    z = np.arange(-200, 201)
    masses = np.exp(-(z**2) / (2 * sigma**2))
    upto = np.append(0, np.cumsum(masses)) / masses.sum()
    return lambda t: np.interp(t, np.append(z - 0.5, 200.5), upto)


@pytest.mark.parametrize("plugin", BOTH)
def test_whole_numbers_of_ordinary_data_are_kept(plugin: Any) -> None:
    mechanism = plugin(scale=Public(Fraction(1, 10**6)))
    sample = WeightedSample([[3.0, -4.0], [10.0, 0.0]], [1.0, 2.0])
    assert mechanism.release(sample, Coins.seeded(1)).tolist() == [23, -4]


@pytest.mark.parametrize("plugin", BOTH)
def test_an_empty_sample_releases_noise_of_the_same_shape(plugin: Any) -> None:
    released = plugin(scale=Public(1000)).release(WeightedSample(np.empty((0, 5)), []), Coins.seeded(1))
    assert released.shape == (5,)
    assert np.any(released != 0)


@pytest.mark.parametrize("plugin", BOTH)
def test_nothing_is_assumed_about_the_noise(plugin: Any) -> None:
    mechanism = build(plugin, "mechanism", {"scale": "2", "granularity": "0.01"})
    assert isinstance(mechanism, Mechanism)
    assert mechanism.about.assumptions == ()
    assert plugin(scale=Public(1)).granularity.value == 1


@pytest.mark.parametrize("plugin", BOTH)
@pytest.mark.parametrize(("name", "value"), [("scale", 0), ("scale", "-1"), ("granularity", 0), ("granularity", 1e300)])
def test_bad_options_are_named(plugin: Any, name: str, value: Any) -> None:
    with pytest.raises(InvalidValue, match=f"{name}: got"):
        plugin(**{"scale": Public(1), name: Public(value)})
