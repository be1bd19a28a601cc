"""The most that steps of one record weigh together, against every way to take part."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting.sampling.heaviest import _row_by_row, at_most, heaviest
from certdp.verification.claims.correlated_noise import ways

SMALL = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(st.integers(-9, 9), min_size=n, max_size=n), min_size=n, max_size=n)
)


def most(weights: NDArray[Any], times: int, apart: int) -> float:
    return max(float(weights[np.ix_(pi, pi)].sum()) for pi in map(list, ways(len(weights), times, apart)) if pi)


@given(SMALL, st.integers(1, 8), st.integers(1, 4))
def test_the_heaviest_way_is_found_and_the_bound_lies_above_it(rows: list[list[int]], times: int, apart: int) -> None:
    matrix = np.array(rows, dtype=float)
    weights = np.abs(matrix + matrix.T)
    fitting = min(times, -(-len(rows) // apart))
    truth = most(weights, fitting, apart)
    value, steps = heaviest(weights, fitting, apart)
    assert truth <= value <= truth + 1e-9
    assert steps is not None
    assert len(steps) <= fitting
    assert all(b - a >= apart for a, b in pairwise(steps))
    assert float(weights[np.ix_(list(steps), list(steps))].sum()) == truth
    assert _row_by_row(weights, fitting, apart) >= truth


@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 9), st.randoms(use_true_random=False))
def test_where_steps_weigh_nothing_together_the_bound_is_exact(size: int, times: int, apart: int, random: Any) -> None:
    weights = np.diag([float(random.randint(0, 9)) for _ in range(size)])
    fitting = min(times, -(-size // apart))
    assert abs(_row_by_row(weights, fitting, apart) - heaviest(weights, fitting, apart)[0]) < 1e-9


def bound(weights: NDArray[Any], times: int, apart: int) -> float:
    """What the bound is: each step takes the steps after it that weigh most with it."""
    size = len(weights)

    def following(step: int, count: int, first: int) -> float:
        if not count:
            return 0.0
        every = (weights[step, one] + following(step, count - 1, one + apart) for one in range(first, size))
        return float(max([0.0, *every]))

    def most(count: int, first: int) -> float:
        if not count:
            return 0.0
        each = (
            weights[one, one] + 2 * following(one, count - 1, one + apart) + most(count - 1, one + apart)
            for one in range(first, size)
        )
        return float(max([0.0, *each]))

    return float(most(times, 0))


@given(SMALL.filter(lambda rows: len(rows) < 6), st.integers(1, 4), st.integers(1, 3))
def test_the_bound_is_the_one_that_is_proven(rows: list[list[int]], times: int, apart: int) -> None:
    matrix = np.array(rows, dtype=float)
    weights = np.abs(matrix + matrix.T)
    fitting = min(times, -(-len(rows) // apart))
    assert _row_by_row(weights, fitting, apart) == bound(weights, fitting, apart)


def test_rounding_is_allowed_for() -> None:
    unit = 2.0**-52
    assert at_most(2.0, 3) == 6 * unit
    assert heaviest(np.eye(1), 1, 1)[0] == 1 + 2 * 2 * unit
    assert heaviest(np.eye(3), 2, 1)[0] == 2 + 2 * 2 * (4 + 3) * unit


@pytest.mark.parametrize(
    ("size", "reach", "times", "apart", "all_of_them"),
    [
        (100, 1, 60, 1, True),
        (100, 4, 60, 1, False),
        (40, 39, 2, 1, True),
        (60, 59, 10, 1, False),
        (90, 30, 9, 10, False),
    ],
)
def test_few_ways_are_gone_through(size: int, reach: int, times: int, apart: int, all_of_them: bool) -> None:
    lags = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    value, steps = heaviest(np.where(lags <= reach, 1.0, 0.0), times, apart)
    assert (steps is not None) is all_of_them
    assert value >= times


@pytest.mark.parametrize(("times", "ways"), [(4, 27), (2, 9), (1, 3)])
def test_how_many_ways_are_gone_through(times: int, ways: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lags = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    weights = np.where(lags <= 2, 1.0, 0.0)
    for limit, gone_through in ((6 * times * ways, True), (6 * times * ways - 1, False)):
        monkeypatch.setattr(f"{heaviest.__module__}._MOST_STATES", limit)
        assert (heaviest(weights, times, 1)[1] is not None) is gone_through
