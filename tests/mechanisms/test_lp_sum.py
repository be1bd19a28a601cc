"""The ℓ_p sum: noise against the density by quadrature, its radius, and the loss as a log-ratio of densities."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import W, evaluate, norm, simplify
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Public
from certdp.mechanisms.lp_sum import LpSum, lp_noise
from certdp.plugins.contract import Coins, Mechanism, WeightedSample, build

ORDERS = ["1", "5/4", "3/2", "2", "3", "20", "inf"]


def length(x: Any, order: str, axis: int = -1) -> Any:
    return np.linalg.norm(x, float(Fraction(order)) if order != "inf" else np.inf, axis=axis)


def noise(order: str, size: int, draws: int, seed: int = 1) -> Any:
    return lp_noise(Norm(order), Fraction(1), (draws, size), Coins.seeded(seed))


@pytest.mark.parametrize("order", ORDERS)
def test_coordinates_and_boxes_have_the_masses_of_the_density(order: str) -> None:
    """Two coordinates: the density exp(−‖ζ‖_p), summed over the cells of a grid; by symmetry in one quadrant."""
    cells = (np.arange(500) + 0.5) / 20
    points = np.stack(np.meshgrid(cells, cells, indexing="ij"), axis=-1)
    density = np.exp(-length(points, order))
    edges = np.append(0, cells + 1 / 40)
    drawn = np.abs(noise(order, 2, 2500))

    def law(masses: Any) -> Any:
        upto = np.append(0, np.cumsum(masses)) / masses.sum()
        return lambda t: np.interp(t, edges, upto)

    for column in drawn.T:
        assert stats.kstest(column, law(density.sum(axis=1))).pvalue > 1e-3
    squares = np.histogram(points.max(axis=-1), bins=edges, weights=density)[0]
    assert stats.kstest(drawn.max(axis=1), law(squares)).pvalue > 1e-3


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [1, 3, 50])
def test_the_radius_is_gamma_and_says_nothing_about_the_direction(order: str, size: int) -> None:
    drawn = noise(order, size, 1500, seed=2)
    radius = length(drawn, order)
    assert stats.kstest(radius, stats.gamma(size).cdf).pvalue > 1e-3
    if size > 1:
        assert stats.kstest(radius, stats.expon.cdf).pvalue < 1e-100  # an exponential radius is another law
        first = np.abs(drawn[:, 0]) / radius
        assert abs(np.corrcoef(first, radius)[0, 1]) < 0.1
    assert abs((drawn[:, 0] > 0).mean() - 0.5) < 0.05


@pytest.mark.parametrize("order", ORDERS)
def test_vectors_drawn_together_are_independent(order: str) -> None:
    """Of three drawn at once: neither lengths nor directions of two of them go together."""
    coins = Coins.seeded(7)
    together = np.stack([lp_noise(Norm(order), Fraction(2), (3, 2), coins) for _ in range(1500)])
    radius = length(together, order)
    for column in radius.T:
        assert stats.kstest(column, stats.gamma(2, scale=2).cdf).pvalue > 1e-3
    for features in (radius, together[:, :, 0], np.abs(together[:, :, 0]) / radius):
        assert np.abs(np.corrcoef(features.T) - np.eye(3)).max() < 0.1


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
@pytest.mark.parametrize("order", ORDERS)
def test_no_vectors_and_no_coordinates(order: str, shape: tuple[int, int]) -> None:
    assert lp_noise(Norm(order), Fraction(1), shape, Coins.seeded(1)).shape == shape


@pytest.mark.parametrize("order", ORDERS[:-1])
def test_many_coordinates_of_one_direction_have_the_density_of_the_cone_measure(order: str) -> None:
    """‖t‖_p^p is near its mean size/p, so the coordinates look like independent draws of density ∝ exp(−|t|^p)."""
    size, p = 100_000, float(Fraction(order))
    drawn = lp_noise(Norm(order), Fraction(1), (1, size), Coins.seeded(10))[0]
    direction = drawn / length(drawn, order) * (size / p) ** (1 / p)
    assert stats.kstest(direction, stats.gennorm(p).cdf).pvalue > 1e-3


def test_in_one_dimension_and_for_order_one_it_is_laplace_noise() -> None:
    for order in ORDERS:
        assert stats.kstest(noise(order, 1, 1500, seed=3)[:, 0], stats.laplace.cdf).pvalue > 1e-3
    drawn = noise("1", 4, 1500, seed=4)
    for column in drawn.T:
        assert stats.kstest(column, stats.laplace.cdf).pvalue > 1e-3
    assert np.abs(np.corrcoef(np.abs(drawn).T) - np.eye(4)).max() < 0.08


@pytest.mark.parametrize("order", ["1000000000", str(2**70), "1" + "0" * 400])
def test_large_orders_behave_like_infinity(order: str) -> None:
    drawn = noise(order, 3, 1500)
    assert stats.kstest(np.abs(drawn).max(axis=1), stats.gamma(3).cdf).pvalue > 1e-3
    assert stats.kstest(drawn[:, 0], noise("inf", 3, 1500, seed=9)[:, 0]).pvalue > 1e-3


@given(
    order=st.sampled_from(ORDERS),
    weight=st.integers(1, 9),
    record=st.lists(st.integers(-9, 9), min_size=1, max_size=4),
    scale=st.integers(1, 50),
    outputs=st.lists(st.integers(-200, 200), min_size=4, max_size=4),
)
def test_no_output_is_more_telling_than_the_loss(
    order: str, weight: int, record: list[int], scale: int, outputs: list[int]
) -> None:
    shift = weight * np.array(record, dtype=np.float64)
    output = np.array(outputs[: len(record)], dtype=np.float64)
    loss = LpSum(scale=Public(scale), norm=Public(order)).loss.epsilon
    declared = float(evaluate(loss, {W: weight, norm(order): float(length(np.array(record), order))}))
    assert abs(length(output - shift, order) - length(output, order)) / scale <= declared + 1e-9
    assert declared == pytest.approx(float(length(shift, order)) / scale)


def test_options() -> None:
    assert build(LpSum, "mechanism", {"scale": "2"}).norm.value == Norm.L2
    general = build(LpSum, "mechanism", {"scale": "0.1", "norm": "3/2"})
    assert simplify(general.loss.epsilon) == simplify(10 * W * norm("3/2"))
    assert isinstance(general, Mechanism)
    assert general.about.assumptions == ()


@pytest.mark.slow
def test_releases_spread_around_the_weighted_sum() -> None:
    sample, coins = WeightedSample([[1.0, -2.0], [0.5, 4.0]], [2.0, 4.0]), Coins.seeded(6)
    mechanism = LpSum(scale=Public(3), norm=Public(2))
    releases = np.array([mechanism.release(sample, coins) for _ in range(1500)])
    radius = np.linalg.norm(releases - np.array([4.0, 12.0]), axis=1)
    assert stats.kstest(radius, stats.gamma(2, scale=3).cdf).pvalue > 1e-3


def test_empty_samples_and_no_columns() -> None:
    mechanism = LpSum(scale=Public(1))
    assert np.all(mechanism.release(WeightedSample(np.empty((0, 5)), []), Coins.seeded(1)) != 0)
    assert mechanism.release(WeightedSample(np.empty((2, 0)), [1.0, 1.0]), Coins.seeded(1)).shape == (0,)


@pytest.mark.parametrize(("name", "value"), [("scale", 0), ("scale", "x"), ("norm", "1/2"), ("norm", "two")])
def test_bad_options_are_named(name: str, value: Any) -> None:
    options: dict[str, Any] = {"scale": Public(1), name: Public(value)}
    with pytest.raises(InvalidValue, match=f"{name}: got"):
        LpSum(**options)


@pytest.mark.parametrize("order", ["1", "3/2", "inf"])
def test_one_release_is_the_first_of_many_on_the_same_coins(order: str) -> None:
    mechanism = LpSum(scale=Public(3), norm=Public(Norm(order)))
    sample = WeightedSample(np.array([[1.0, -2.0, 5.0]]), np.array([2.0]))
    (many,) = mechanism.release_many(sample, 1, Coins.seeded(4))
    assert np.array_equal(mechanism.release(sample, Coins.seeded(4)), many)
