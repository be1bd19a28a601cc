"""The Gaussian sum: its shift, its two ways of stating the noise, and its releases."""

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
from certdp.accounting.provenance import Private, PrivateValue, Public
from certdp.accounting.sampling.losses import GaussianLoss
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.plugins.contract import Coins, Mechanism, WeightedSample, build, stated

RECORDS = np.array([[1.0, -2.0, 0.0], [0.5, 0.25, 4.0]])


@given(
    weight=st.integers(1, 9),
    record=st.lists(st.integers(-9, 9), min_size=1, max_size=4),
    scale=st.fractions(Fraction(1, 10), 50),
)
def test_the_shift_is_the_distance_of_the_two_outputs_in_standard_deviations(
    weight: int, record: list[int], scale: Fraction
) -> None:
    loss = GaussianSum(scale=Public(scale)).loss
    length = float(np.linalg.norm(record))
    assert float(evaluate(loss.shift, {W: weight, norm(2): length})) == pytest.approx(weight * length / float(scale))


def test_the_loss_is_exact_in_its_scale() -> None:
    assert simplify(GaussianSum(scale=Public("0.1")).loss.shift) == simplify(10 * W * norm(2))
    assert GaussianSum(scale=Public(1)).loss.pure is None


def test_a_noise_multiplier_is_one_shift_for_all_records() -> None:
    mechanism = GaussianSum(noise_multiplier=Public("2.5"))
    assert isinstance(mechanism.loss, GaussianLoss)
    assert str(simplify(mechanism.loss.shift)) == "2/5"
    assert mechanism.needs_constant_rate
    assert not GaussianSum(scale=Public(1)).needs_constant_rate


@pytest.mark.parametrize(("radius", "weight"), [("0.5", 4), (3, 1), (Fraction(1, 3), 2.5)])
def test_a_scaled_mechanism_loses_at_the_edge_what_its_multiplier_says(radius: Any, weight: Any) -> None:
    mechanism = GaussianSum(noise_multiplier=Public("1.1"))
    scaled = mechanism.scaled(radius, weight)
    assert scaled.scale.value == Fraction("1.1") * Fraction(radius) * Fraction(weight)
    at_edge = evaluate(scaled.loss.shift, {W: float(weight), norm(2): float(Fraction(radius))})
    assert float(at_edge) == pytest.approx(float(evaluate(mechanism.loss.shift, {})))
    assert scaled.scaled(radius, weight) is scaled


@pytest.mark.parametrize(("radius", "weight"), [(0, 1), (-1, 1), (1, "0.5"), (float("nan"), 1), (1, float("inf"))])
def test_scaling_needs_a_radius_and_a_weight(radius: Any, weight: Any) -> None:
    with pytest.raises(InvalidValue, match=r"(radius|weight): got"):
        GaussianSum(noise_multiplier=Public(1)).scaled(radius, weight)


def test_a_multiplier_alone_releases_nothing() -> None:
    sample = WeightedSample(RECORDS, [1.0, 1.0])
    with pytest.raises(InvalidValue, match=r"scale: got noise_multiplier=1 alone; .* mechanism\.scaled"):
        GaussianSum(noise_multiplier=Public(1)).release(sample, Coins.seeded(0))
    assert GaussianSum(noise_multiplier=Public(1)).scaled(5, 1).release(sample, Coins.seeded(0)).shape == (3,)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(30)])
def test_releases_spread_around_the_weighted_sum(scale: Fraction) -> None:
    sample = WeightedSample(RECORDS, [2.0, 4.0])
    mechanism, coins = GaussianSum(scale=Public(scale)), Coins.seeded(3)
    releases = np.array([mechanism.release(sample, coins) for _ in range(4000)])
    assert releases.shape == (4000, 3)
    centred = releases - np.array([4.0, -3.0, 16.0])
    for column in centred.T:
        assert stats.kstest(column, stats.norm(scale=float(scale)).cdf).pvalue > 1e-4
    assert np.abs(np.asarray(np.corrcoef(centred.T)) - np.eye(3)).max() < 0.08


def test_an_empty_sample_releases_noise_of_the_same_shape() -> None:
    released = GaussianSum(scale=Public(1)).release(WeightedSample(np.empty((0, 5)), []), Coins.seeded(1))
    assert released.shape == (5,)
    assert np.all(released != 0)


@pytest.mark.parametrize("options", [{}, {"scale": "1", "noise_multiplier": "1"}])
def test_exactly_one_way_of_stating_the_noise(options: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match=r"scale or noise_multiplier: got .*; admissible: exactly one of them"):
        build(GaussianSum, "mechanism", options)


@pytest.mark.parametrize("name", ["scale", "noise_multiplier"])
@pytest.mark.parametrize("value", [0, -1, "ten", float("nan"), float("inf"), True])
def test_noise_is_stated_by_positive_numbers(name: str, value: Any) -> None:
    options: dict[str, Any] = {name: Public(value)}
    with pytest.raises(InvalidValue, match=f"{name}: got"):
        GaussianSum(**options)


def test_parameters_are_declared() -> None:
    private: Any = Private(1)
    with pytest.raises(PrivateValue, match="scale: got a Private value"):
        GaussianSum(scale=private)
    assert stated(GaussianSum(scale=Public("2.5")))["scale"] == "5/2"
    assert build(GaussianSum, "mechanism", {"noise_multiplier": "3"}) == GaussianSum(noise_multiplier=Public(3))


def test_it_assumes_nothing_of_arithmetic() -> None:
    mechanism = GaussianSum(scale=Public(1))
    assert isinstance(mechanism, Mechanism)
    assert mechanism.about.assumptions == ()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "scale or noise_multiplier: got none of them; admissible: exactly one of them. Give scale=Public(…) or"),
        ({"scale": 2, "noise_multiplier": 3}, "got scale=2 and noise_multiplier=3; admissible: exactly one of them"),
    ],
)
def test_which_of_two_options_is_given_or_missing_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        GaussianSum(**{name: Public(value) for name, value in given.items()})
    assert message in str(caught.value)
