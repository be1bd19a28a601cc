"""The search among pairs of inputs: it finds the one that tells, on runs that it keeps for itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.exact import Floats
from certdp.accounting.units import Delta, Epsilon
from certdp.verification.audit import Pair, Releases, directions, search_pairs

PURE = Delta(0)


def pair(epsilon: float, seed: int, drawn: list[int], claimed: float = 1) -> Pair:
    """Randomised response at ε."""
    random = np.random.default_rng(seed)
    truth = 1 / (1 + np.exp(-epsilon))

    def releases(chance: float) -> Releases:
        def draw(count: int) -> Floats:
            drawn.append(count)
            return (random.random(count) < chance).astype(np.float64)

        return draw

    return Pair(first=releases(truth), second=releases(1 - truth), delta=PURE, claimed=Epsilon(claimed))


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_the_pair_that_tells_more_is_chosen(place: int, stream: int) -> None:
    drawn: list[int] = []
    pairs = [pair(1.5 if turn == place else 1.0, 10 * stream + turn, drawn) for turn in range(4)]
    found = search_pairs(pairs, runs=40_000, fewest=10)
    assert (found.chosen, found.tried, found.left) == (place, 4, 32_000)
    assert sum(drawn) == 2 * 8_000


@pytest.mark.slow
def test_of_equal_ones_mostly_the_first_is_chosen() -> None:
    chosen = [
        search_pairs([pair(1, 10 * seed + turn, []) for turn in range(4)], runs=40_000, fewest=10).chosen
        for seed in range(20)
    ]
    assert chosen.count(0) >= 16


def test_a_first_that_shows_nothing_is_left() -> None:
    pairs = [pair(0, 1, []), pair(0.5, 2, [])]
    assert search_pairs(pairs, runs=40_000, fewest=10).chosen == 1
    assert search_pairs([pair(60, 3, []), pair(1, 4, [])], runs=40_000, fewest=10).chosen == 0


def test_each_pair_is_held_against_its_own_claim() -> None:
    pairs = [pair(2, 1, [], claimed=2), pair(1, 2, [], claimed=0.5), pair(1.5, 3, [], claimed=1.4)]
    assert search_pairs(pairs, runs=40_000, fewest=10).chosen == 1


@pytest.mark.parametrize(("count", "runs", "fewest"), [(1, 10**5, 10), (4, 3999, 10), (4, 10**4, 8001)])
def test_where_nothing_is_tried_nothing_is_drawn(count: int, runs: int, fewest: int) -> None:
    drawn: list[int] = []
    found = search_pairs([pair(1, 1, drawn)] * count, runs=runs, fewest=fewest)
    assert (found.chosen, found.tried, found.left, drawn) == (0, 0, runs, [])


def test_the_least_runs_with_which_something_is_tried() -> None:
    found = search_pairs([pair(1, turn, []) for turn in range(4)], runs=4000, fewest=3200)
    assert (found.tried, found.left) == (4, 3200)


@given(st.integers(1, 40))
def test_directions_are_of_norm_one_and_differ(columns: int) -> None:
    tried = directions(columns)
    assert len(set(tried)) == len(tried) <= 8
    assert all(len(direction) == columns for direction in tried)
    assert np.abs(tried).sum(axis=1) == pytest.approx(np.ones(len(tried)))
    assert tried[0] == (1.0, *[0.0] * (columns - 1))
    assert (*[0.0] * (columns - 1), 1.0) in tried
    if columns > 1:
        assert min(tried[1]) > 0
        assert min(tried[2]) < 0 < max(tried[2])
    if columns <= 6:
        assert {tuple(map(float, axis)) for axis in np.eye(columns)} <= set(tried)
