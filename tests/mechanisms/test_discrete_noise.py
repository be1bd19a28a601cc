"""Discrete Laplace and Gaussian sums: exact laws of neighbouring outputs against the declared loss, and releases."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import Expression, Variable, W, enclose, evaluate, norm
from certdp.accounting.private import InvalidData
from certdp.accounting.provenance import Public
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.losses import DiscreteGaussianLoss, DiscreteGaussianVectorLoss, ZeroConcentratedLoss
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
    declared = order * rho(DiscreteGaussian(scale=Public(sigma)), {W: 1, norm(2): Fraction(steps)})
    assert divergence <= declared * (1 + 1e-9)
    assert divergence == pytest.approx(declared, rel=0.01) or sigma < 1  # nothing is given away


def test_the_losses_are_those_of_the_continuous_noise() -> None:
    at = {W: 3, norm(1): 4.0, norm(2): 2.5}
    pure = DiscreteLaplace(scale=Public("0.5"), granularity=Public("0.1")).loss.pure
    assert float(evaluate(pure.epsilon, at)) == pytest.approx(24)
    for dimension in ({}, {"dimension": Public(3)}):
        gaussian = DiscreteGaussian(scale=Public("0.5"), granularity=Public("0.1"), **dimension)
        assert 2 * rho(gaussian, {W: 3, norm(2): Fraction(5, 2)}) == pytest.approx(225)


def test_a_scale_beyond_the_pair_keeps_its_curve() -> None:
    huge = DiscreteGaussian(scale=Public(2**70))
    assert isinstance(huge.loss, ZeroConcentratedLoss)
    assert rho(huge, {W: 1, norm(2): Fraction(2**70)}) == pytest.approx(0.5)


def rho(mechanism: DiscreteGaussian, at: Mapping[Variable, Fraction | int]) -> float:
    cost = mechanism.loss.pair(read(at)).zero_concentrated
    assert cost is not None
    return cost.upper_float


def read(values: Mapping[Variable, Fraction | int]) -> Callable[[Expression], Enclosure]:
    return lambda root: enclose(root, {v: Enclosure.of(x) for v, x in values.items()}, precision=96)


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.7, 1.5])
@pytest.mark.parametrize("moved", [(1, 0), (2, 1), (1, 3)])
def test_the_laplace_pair_dominates_a_sum_of_two_columns(epsilon: float, moved: tuple[int, int]) -> None:
    """The hockey-stick divergence of two exact laws on a square of ℤ², whose rest is negligible."""
    z = np.arange(-120, 121)
    masses = math.tanh(1 / 4) * np.exp(-np.abs(z) / 2)
    shifted = [math.tanh(1 / 4) * np.exp(-np.abs(z - step) / 2) for step in moved]
    divergence = np.maximum(np.outer(*shifted) - math.exp(epsilon) * np.outer(masses, masses), 0).sum()
    mechanism = DiscreteLaplace(scale=Public(1), granularity=Public("0.5"))
    # the record 0.5·moved + 0.24 is truncated to the lattice point `moved`
    length = Fraction(sum(moved), 2) + Fraction("0.48")
    assert lattice_sum(WeightedSample([[0.5 * step + 0.24 for step in moved]], [1.0]), Fraction(1, 2)) == list(moved)
    law = mechanism.loss.pair(read({W: 1, norm(1): length})).delta
    assert divergence <= law(Enclosure.of(epsilon), Direction.REMOVE).upper_float + 1e-12
    single = mechanism.loss.pair(read({W: 1, norm(1): Fraction(sum(moved), 2)})).delta
    alone = math.tanh(1 / 4) * np.exp(-np.abs(z - sum(moved)) / 2)
    assert np.maximum(alone - math.exp(epsilon) * masses, 0).sum() == pytest.approx(
        single(Enclosure.of(epsilon), Direction.REMOVE).upper_float, abs=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.7, 1.5])
def test_one_column_of_discrete_gaussian_noise_has_its_exact_pair(epsilon: float) -> None:
    mechanism = DiscreteGaussian(scale=Public(2), granularity=Public("0.5"), dimension=Public(1))
    z = np.arange(-200, 201)
    masses, shifted = np.exp(-(z**2) / 32), np.exp(-((z - 5) ** 2) / 32)  # σ is 4 steps, and 5 of 5.8 count
    divergence = np.maximum(shifted - math.exp(epsilon) * masses, 0).sum() / masses.sum()
    law = mechanism.loss.pair(read({W: 2, norm(2): Fraction("1.45")})).delta
    assert law is not None
    assert law(Enclosure.of(epsilon), Direction.REMOVE).upper_float == pytest.approx(divergence, abs=1e-12)


def test_the_dimension_is_that_of_the_data() -> None:
    vectors = DiscreteGaussian(scale=Public(2), dimension=Public(3)).loss
    assert isinstance(vectors, DiscreteGaussianVectorLoss)
    assert vectors.dimension == 3
    mechanism = build(DiscreteGaussian, "mechanism", {"scale": "2", "dimension": "1"})
    assert isinstance(mechanism.loss, DiscreteGaussianLoss)
    assert mechanism.release(WeightedSample([[4.0]], [1.0]), Coins.seeded(1)).shape == (1,)
    with pytest.raises(InvalidValue, match="dimension: got 1; admissible: 2, the number of columns"):
        mechanism.release(WeightedSample([[4.0, 5.0]], [1.0]), Coins.seeded(1))
    for dimension in (0, "1.5", -1, "one"):
        with pytest.raises(InvalidValue, match="dimension: got"):
            DiscreteGaussian(scale=Public(2), dimension=Public(dimension))
    with pytest.raises(InvalidValue, match=r"scale: got .*; admissible: for dimension 1 .* Leave the dimension out"):
        DiscreteGaussian(scale=Public(2**70), dimension=Public(1))


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


@pytest.mark.slow
def test_discrete_laplace_noise_lies_on_the_lattice_around_the_truncated_sum() -> None:
    noise, last = centred(DiscreteLaplace), 12
    seen = [np.sum(np.clip(noise, -last, last) == cell) for cell in range(-last, last + 1)]
    inner = [math.tanh(1 / 8) * math.exp(-abs(z) / 4) for z in range(1 - last, last)]
    tail = (1 - math.fsum(inner)) / 2
    assert stats.chisquare(seen, np.array([tail, *inner, tail]) * noise.size).pvalue > 1e-4


@pytest.mark.slow
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


@pytest.mark.parametrize("moved", ["1/100", "1/3", "2", "30"])
@pytest.mark.parametrize("scale", [2**70, Fraction(1, 2**70)])
def test_a_curve_is_half_the_square_of_what_a_record_moves(scale: Fraction | int, moved: str) -> None:
    """In standard deviations; a root, or a single power, of it agrees at no more than one length."""
    beyond = DiscreteGaussian(scale=Public(scale), granularity=Public(1))
    assert isinstance(beyond.loss, ZeroConcentratedLoss)
    assert rho(beyond, {W: 3, norm(2): scale * Fraction(moved)}) == pytest.approx(float(9 * Fraction(moved) ** 2 / 2))


@pytest.mark.parametrize("plugin", [DiscreteLaplace(scale=Public(1)), DiscreteGaussian(scale=Public(1))])
def test_sums_near_the_end_of_binary64_are_refused_before_any_noise(plugin: Any) -> None:
    plugin.require(WeightedSample(np.full((3, 1), 1e280), np.ones(3)))
    with pytest.raises(InvalidData):
        plugin.require(WeightedSample(np.full((3, 1), 1e308), np.ones(3)))
