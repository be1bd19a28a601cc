"""The most that pairs of steps of one record can weigh together, over all the ways in which it may take part."""

from __future__ import annotations

import numpy as np

from ..exact import Floats

_MOST_STATES = 400_000
_UNIT = 2.0**-52
_MANY = 20  # of two choices each, which are more than the states that are gone through


def at_most(total: float, terms: int) -> float:
    """How far off a sum of so many numbers ≥ 0 may be that came to `total`, in any order."""
    return total * terms * _UNIT


def heaviest(weights: Floats, times: int, apart: int) -> tuple[float, tuple[int, ...] | None]:
    """An upper bound of Σ_{s, t ∈ π} weights_{st} over all π of at most `times` steps, each two at least `apart` apart.

    Args:
        weights: a symmetric matrix of numbers ≥ 0.
        times: k, as many as fit.
        apart: b.

    Returns:
        The bound, and a π that comes to it but for rounding, where all that matters was gone through.
    """
    reach = _reach(weights, apart)
    ways = float(reach + 1) ** min(reach // apart + 1, times, _MANY)
    if len(weights) * times * ways <= _MOST_STATES:
        value, steps = _exhaustive(weights, times, apart, reach)
    else:
        value, steps = _row_by_row(weights, times, apart), None
    return value + 2 * at_most(value, times * times + len(weights)), steps


def _reach(weights: Floats, apart: int) -> int:
    """How far apart two steps are at most that weigh something together; at least `apart`."""
    rows, columns = np.nonzero(weights)
    return int(np.max(rows - columns, initial=apart))


def _exhaustive(weights: Floats, times: int, apart: int, reach: int) -> tuple[float, tuple[int, ...]]:
    """Step by step: what matters of the past is how many steps were taken, and which of the last ones."""
    states: dict[tuple[int, tuple[int, ...]], tuple[float, tuple[int, ...]]] = {(0, ()): (0.0, ())}
    for step in range(len(weights)):
        grown: dict[tuple[int, tuple[int, ...]], tuple[float, tuple[int, ...]]] = {}
        for (count, recent), (value, taken) in states.items():
            kept = tuple(one for one in recent if step - one < reach)
            _keep(grown, (count, kept), (value, taken))
            if count < times and (not taken or step - taken[-1] >= apart):
                added = weights[step, step] + 2 * sum(weights[step, one] for one in recent)
                _keep(grown, (count + 1, (*kept, step)), (float(value + added), (*taken, step)))
        states = grown
    return max(states.values())


def _keep(
    states: dict[tuple[int, tuple[int, ...]], tuple[float, tuple[int, ...]]],
    key: tuple[int, tuple[int, ...]],
    found: tuple[float, tuple[int, ...]],
) -> None:
    if key not in states or states[key] < found:
        states[key] = found


def _row_by_row(weights: Floats, times: int, apart: int) -> float:
    """A bound: for each step the steps after it are chosen that weigh most with it, though another chooses others.

    The step that is followed by j others weighs at most its own weight and twice the most that j later ones weigh with
    it; the most that steps followed by j, …, 0 others come to is found from the last one.
    """
    size = len(weights)
    rows, heavy = np.arange(size), np.zeros(size + apart)  # by step: the most from there on
    later = np.zeros((size, size + apart))  # row s, column t: the most with s of steps from t on
    for _ in range(times):
        follow = later[rows, rows + apart]
        heavy[:size] = np.diagonal(weights) + 2 * follow + heavy[apart:]
        heavy[:size] = np.maximum.accumulate(heavy[:size][::-1])[::-1]
        later[:, :size] = weights + later[:, apart:]
        later[:, :size] = np.maximum.accumulate(later[:, :size][:, ::-1], axis=1)[:, ::-1]
    return float(heavy[0])
