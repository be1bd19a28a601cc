"""The weighted count."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import W, simplify, variables
from certdp.accounting.private import InvalidData
from certdp.accounting.provenance import Public
from certdp.mechanisms.count import Count
from certdp.plugins.contract import Coins, Mechanism, WeightedSample, draw
from certdp.samplers.poisson import Poisson


def test_the_loss_depends_on_the_weight_alone() -> None:
    loss = Count(scale=Public("2.5")).loss.pure.epsilon
    assert simplify(loss) == simplify(W * Fraction(2, 5))
    assert variables(loss) == {W}
    assert isinstance(Count(scale=Public(1)), Mechanism)
    assert Count.about.assumptions == ()


def test_releases_spread_around_the_sum_of_weights() -> None:
    sample, coins = WeightedSample(np.zeros((3, 2)), [1.0, 2.5, 4.0]), Coins.seeded(6)
    releases = np.array([Count(scale=Public(3)).release(sample, coins) for _ in range(4000)])
    assert releases.shape == (4000, 1)
    assert stats.kstest(releases[:, 0] - 7.5, stats.laplace(scale=3).cdf).pvalue > 1e-4


def test_a_weighted_sample_estimates_the_number_of_records() -> None:
    records, coins = np.ones((1000, 1)), Coins.seeded(9)
    sampler, mechanism = Poisson(rate=Public(0.25), weighted=Public(True)), Count(scale=Public(1))
    estimates = [mechanism.release(draw(sampler, records, coins), coins)[0] for _ in range(400)]
    spread = np.sqrt(1000 * 0.75 / 0.25 + 2)
    assert abs(np.mean(estimates) - 1000) < 5 * spread / np.sqrt(400)
    assert np.std(estimates) == pytest.approx(spread, rel=0.2)


def test_a_release_is_a_whole_number_of_units_of_a_grid_that_follows_from_the_scale() -> None:
    sample = WeightedSample(np.zeros((2, 0)), [1 + 2.0**-50, 3.0])  # what a weight has below the grid is cut off
    (release,) = Count(scale=Public("2.5")).release(sample, Coins.seeded(1))
    (cell,) = Coins.seeded(1).laplace_cells(Fraction(5, 2) * 2**29, 1)
    assert release == 4 + cell * 2.0**-29


@pytest.mark.parametrize("scale", [0, "-1", float("nan")])
def test_scales_are_positive_numbers(scale: Any) -> None:
    with pytest.raises(InvalidValue, match="scale: got"):
        Count(scale=Public(scale))


def test_weights_near_the_end_of_binary64_are_refused_before_any_noise() -> None:
    mechanism = Count(scale=Public(1))
    mechanism.require(WeightedSample(np.ones((3, 1)), np.full(3, 1e280)))
    with pytest.raises(InvalidData):
        mechanism.require(WeightedSample(np.ones((3, 1)), np.full(3, 1e308)))
