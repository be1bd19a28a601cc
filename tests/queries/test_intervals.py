"""Intervals hold the true statistic as often as they say: counted over noise of both kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from certdp.plugins.contract import Coins, WeightedSample
from certdp.queries.intervals import WHOLE, mean_interval, rank_reach, ratio_interval, variance_interval
from certdp.queries.noise import GaussianNoise, LaplaceNoise, Noise
from certdp.queries.row_sums import FINEST, Averaged, Counted, Spread, Statistic, Summed

TIMES, CONFIDENCE = 2000, 0.8
DATA = {
    "low": np.full(40, 0.5),
    "spread": np.linspace(-1, 7, 60),
    "ends": np.repeat([-1.0, 7.0], [50, 3]),
    "one": np.array([3.0]),
}
NOISES: list[Noise] = [LaplaceNoise(Fraction(2), FINEST), GaussianNoise(Fraction(3), Fraction(1, 2**20))]
TRUE: dict[type[Any], Callable[[Any], Any]] = {Counted: len, Summed: np.sum, Averaged: np.mean, Spread: np.var}


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("statistic", [Counted(), Summed(-1.0, 7.0), Averaged(-1.0, 7.0), Spread(-1.0, 7.0)])
def test_intervals_cover(statistic: Statistic, data: str, noise: Noise) -> None:
    numbers = DATA[data]
    true = float(TRUE[type(statistic)](numbers))
    sums = (statistic.entries(numbers, 2**20).sum(axis=0) / 2**20)[np.newaxis]
    drawn = noise.mechanism.release_many(WeightedSample(sums, np.ones(1)), TIMES, Coins.seeded(7))
    ends = [statistic.estimate(row, noise, CONFIDENCE)[1:] for row in drawn]
    covered = sum(low - 1e-3 <= true <= high + 1e-3 for low, high in ends)
    assert binom.cdf(covered, TIMES, CONFIDENCE) > 1e-9


def test_an_interval_of_half_the_width_does_not() -> None:
    """The control: the count above misses an interval that is too short."""
    noise, sums = NOISES[0], np.zeros((1, 1))
    drawn = noise.mechanism.release_many(WeightedSample(sums, np.ones(1)), TIMES, Coins.seeded(7))
    covered = int((np.abs(drawn) <= noise.half_width(CONFIDENCE) / 2).sum())
    assert binom.cdf(covered, TIMES, CONFIDENCE) < 1e-9


def test_ratios_of_noise_alone_say_nothing() -> None:
    assert ratio_interval(1.0, -2.0, 0.1) == WHOLE
    assert ratio_interval(9.0, 2.0, 0.1) == WHOLE
    assert mean_interval((-1.0, 0.5), 3.0) == WHOLE
    assert variance_interval((0.0, 0.0, 0.0), 1.0) == (0.0, 0.25)


@pytest.mark.parametrize("true", [(9.0, 12.0, 4.0), (20.0, 0.0, 0.0), (10.0, 0.0, 10.0), (1.0, 2.0, 30.0)])
def test_no_noise_within_the_half_width_leads_out_of_an_interval(true: tuple[float, float, float]) -> None:
    """Every sign of three noises of that size."""
    count = sum(true)
    mean, square = (true[1] / 2 + true[2]) / count, true[2] / count
    for signs in product((-1, 0, 1), repeat=3):
        noisy = (true[0] + signs[0], true[1] + signs[1], true[2] + signs[2])
        low, high = variance_interval(noisy, 1.0)
        assert low - 1e-12 <= square - mean**2 <= high + 1e-12
        low, high = mean_interval((noisy[0] + noisy[1] / 2, noisy[1] / 2 + noisy[2]), 1.5)
        assert low - 1e-12 <= mean <= high + 1e-12


def test_the_ends_of_a_variance_are_those_of_both_means() -> None:
    found = variance_interval((100.0, 20.0, 100.0), 1.0)
    assert found == pytest.approx((98 / 220 - (111.5 / 220) ** 2, 102 / 220 - (108.5 / 220) ** 2))


def missed(scale: float, candidates: int, reach: float) -> float:
    """How often a choice misses by so much: one candidate misses by nothing, all the others by that."""
    chance = math.exp(-reach / scale)
    coins: Any = binom(candidates - 1, chance)
    return math.fsum(coins.pmf(number) * number / (number + 1) for number in range(candidates))


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("candidates", [2, 5, 121, 4096])
def test_a_choice_misses_its_rank_by_the_reach_exactly_that_often(candidates: int, confidence: float) -> None:
    reach = rank_reach(3.0, candidates, confidence)
    assert missed(3.0, candidates, reach) == pytest.approx(1 - confidence, rel=1e-9)


def test_no_other_misses_of_candidates_are_worse() -> None:
    """Exact laws of choices among a few candidates at random misses."""
    generator = np.random.default_rng(8)
    for _ in range(200):
        gaps = np.r_[0.0, generator.exponential(2, 5)]
        reach = rank_reach(1.0, 6, 0.7)
        law = np.zeros(6)
        for coins in product([0, 1], repeat=6):
            weight = np.prod(np.where(coins, np.exp(-gaps), -np.expm1(-gaps)))
            law += weight * np.array(coins) / max(sum(coins), 1)
        assert law[gaps > reach].sum() <= 0.3 + 1e-12


def test_a_choice_that_is_wanted_less_often_than_chance_has_it_is_not_bounded() -> None:
    assert rank_reach(3.0, 2, 0.5) < 1e-300
    assert rank_reach(3.0, 4, 0.1) < 1e-300
