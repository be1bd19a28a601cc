"""The most that steps of one record weigh together, against every way to take part."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting.sampling.heaviest import _row_by_row, heaviest
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
