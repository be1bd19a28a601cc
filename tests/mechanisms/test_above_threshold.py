"""The first columns above a threshold: scores, the law of what is told by another sum, wrong options refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from certdp import Coins, InvalidValue, Public
from certdp.pairs import PureLoss
from certdp.plugins.contract import W, WeightedSample, norm
from certdp.selection import AboveThreshold

TIMES = 6000


def first(**options: Any) -> AboveThreshold:
    given: dict[str, Any] = {"threshold": 2, "threshold_scale": 1, "scale": 2, **options}
    return AboveThreshold(**{name: Public(value) for name, value in given.items()})


def sample(votes: list[list[float]], weights: list[float] | None = None) -> WeightedSample:
    return WeightedSample(np.array(votes), np.ones(len(votes)) if weights is None else np.array(weights))


def law(scores: list[int], threshold: int, scales: tuple[float, float], answers: int) -> dict[tuple[int, ...], float]:
    """What is told, over all noise of up to 30 steps of the threshold; scores reach it independently given that."""
    steps = np.arange(-200, 201)
    chances = [np.exp(-np.abs(steps) / scale) / np.exp(-np.abs(steps) / scale).sum() for scale in scales]
    found: dict[tuple[int, ...], float] = {}
    for own, chance in zip(steps, chances[0], strict=True):
        reaching = [float(chances[1][score + steps >= threshold + own].sum()) for score in scores]
        for reached in product([False, True], repeat=len(scores)):
            told = tuple(column for column, above in enumerate(reached) if above)[:answers]
            likely = np.prod([p if above else 1 - p for p, above in zip(reaching, reached, strict=True)])
            padded = told + (len(scores),) * (answers - len(told))
            found[padded] = found.get(padded, 0.0) + float(chance * likely)
    return found


@pytest.mark.parametrize("answers", [1, 2])
def test_what_is_told_follows_its_law(answers: int, stream: int) -> None:
    scores = [1, 0, 2]
    rows = first(answers=answers).release_many(sample([[1.5, -9.0, 2.0]]), TIMES, Coins.seeded(stream)).astype(int)
    expected = law(scores, 2, (1, 2), answers)
    observed = [int((rows == told).all(axis=1).sum()) for told in expected]
    assert rows.shape == (TIMES, answers)
    assert sum(observed) == TIMES
    assert chisquare(observed, np.array(list(expected.values())) / sum(expected.values()) * TIMES).pvalue > 1e-9


def test_scores_are_weighted_votes_on_the_lattice() -> None:
    votes = sample([[1.75, -0.5], [0.3, 2.0]], [2.0, 1.0])
    assert first(granularity="1/2").totals(votes) == [7, 4]
    assert first(granularity="1/2", signed=True).totals(votes) == [7, 2]


def test_thresholds_between_two_points_of_the_lattice_are_reached_from_the_upper_one_on() -> None:
    """With next to no noise."""
    votes, coins = sample([[4.0, 5.0, 6.0]]), Coins.seeded(1)
    quiet: dict[str, Any] = {"threshold_scale": "1/1000", "scale": "1/1000", "answers": 3}
    assert first(threshold="9/2", **quiet).release(votes, coins).tolist() == [1, 2, 3]
    assert first(threshold=5, **quiet).release(votes, coins).tolist() == [1, 2, 3]
    assert first(threshold=6, **quiet).release(votes, coins).tolist() == [2, 3, 3]
    assert first(threshold="10", granularity=2, **quiet).release(votes, coins).tolist() == [3, 3, 3]
    assert first(threshold=-(10**30), **quiet).release(votes, coins).tolist() == [0, 1, 2]


def test_the_loss_is_that_of_the_threshold_and_of_each_answer() -> None:
    loss = PureLoss(W * norm("inf") * (Fraction(1, 3) + Fraction(2, 5)))
    assert first(threshold_scale=3, scale=5, answers=2).loss == loss
    assert first(threshold_scale=3, scale=5, signed=True).loss == loss


@pytest.mark.parametrize("answers", [0, -1, "3/2", 2**20 + 1])
def test_what_is_no_number_of_answers_is_refused(answers: Any) -> None:
    with pytest.raises(InvalidValue, match="answers: got"):
        first(answers=answers)


def test_samples_without_columns_are_refused() -> None:
    with pytest.raises(InvalidValue, match="records: got no column"):
        first().require(WeightedSample(np.empty((2, 0)), np.ones(2)))
