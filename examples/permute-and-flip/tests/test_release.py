"""How often each column is told, against the exact law; and what a run on a sample costs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from permute_and_flip import PermuteAndFlip

import certdp
from certdp.plugins.contract import Coins, InvalidValue, Public, WeightedSample

RUNS = 2000
SCALE = Fraction(3, 2)


def noisy_argmax_law(gaps: list[float], scale: float, steps: int = 200_001) -> list[float]:
    """With what probability each column has the largest score + exponential noise, by the trapezoidal rule.

    `gaps` are the distances of the scores to the largest one: column j wins where e_j − gap_j is the largest.
    """
    noise = np.linspace(0, 40 * scale, steps)
    density = np.exp(-noise / scale) / scale
    won = []
    for column, gap in enumerate(gaps):
        others = np.ones(steps)
        for rival, other in enumerate(gaps):
            if rival != column:
                others *= -np.expm1(-np.maximum(noise - gap + other, 0) / scale)
        won.append(float(np.trapezoid(density * others, noise)))
    return won


def selections(records: list[list[float]], weights: list[float], granularity: str = "1") -> Counter[float]:
    mechanism = PermuteAndFlip(scale=Public(SCALE), granularity=Public(granularity))
    sample = WeightedSample(np.asarray(records), np.asarray(weights))
    coins = Coins.seeded(5)
    return Counter(mechanism.release(sample, coins)[0] for _ in range(RUNS))


def test_columns_are_told_as_often_as_noisy_scores_win() -> None:
    counts = selections([[1, 0, 2], [1, 3, 0]], [1, 1])  # scores 2, 3, 2
    for column, probability in enumerate(noisy_argmax_law([1, 0, 1], float(SCALE))):
        spread = (RUNS * probability * (1 - probability)) ** 0.5
        assert abs(counts[column] - RUNS * probability) < 5 * spread


def test_votes_below_zero_are_none_and_votes_between_lattice_points_lose_the_rest() -> None:
    assert selections([[4, 5]], [1]) == selections([[4, 5.75], [-9, 0]], [1, 1])
    assert selections([[4, 5]], [1]) != selections([[4, 5.75]], [1], granularity="1/4")


def test_a_column_far_behind_is_not_told() -> None:
    assert set(selections([[0, 500.0]], [2])) == {1}


def test_on_no_records_every_column_is_as_likely() -> None:
    sample = WeightedSample(np.zeros((0, 2)), np.zeros(0))
    coins = Coins.seeded(6)
    first = sum(PermuteAndFlip(scale=Public(1)).release(sample, coins)[0] == 0 for _ in range(RUNS))
    assert abs(first - RUNS / 2) < 5 * (RUNS / 4) ** 0.5


def test_records_without_columns() -> None:
    with pytest.raises(InvalidValue, match="at least one column"):
        PermuteAndFlip(scale=Public(1)).release(WeightedSample(np.zeros((1, 0)), np.ones(1)), Coins.seeded(1))


def test_sampling_at_rate_one_half_costs_what_theorem_6_says() -> None:
    run = certdp.SampledRun(mechanism=PermuteAndFlip(scale=Public(SCALE)), sampler=certdp.Poisson(rate=Public("0.5")))
    domain = certdp.NormBall(norm=run.norm, radius=Public(1))
    by_hand = np.log1p(0.5 * np.expm1(2 / 3))
    assert run.norm == certdp.Norm.LINF
    assert run.on(domain).pure().bound.epsilon.upper_float == pytest.approx(by_hand, rel=1e-12)
    assert certdp.check(certdp.profile_certificate(run.on(domain))).outcome.value == "holds assuming the profile"
