"""A run of very many different sampled steps, as two runs of few different ones: above it and below it.

Legend: step i samples at the rate q_i and releases a base pair of shift s_i. The pair of a step dominates that of every
step with a smaller rate and a smaller shift: less sampling is post-processing of more; for normal and for Laplace noise
δ(ε) grows with the shift at every real ε, hence the pair of a smaller shift is post-processing of that of a larger one
(Blackwell 1953), before sampling and after it. Domination composes. So the steps of a group are dominated by as many of
its largest rate and largest shift, and dominate as many of its least rate and least shift, whichever groups there are:
these are chosen in floats and prove nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..enclosures.arguments import whole
from ..exact import Floats

Sizes: TypeAlias = Callable[[Floats, Floats], Floats]
"""About log(e^τ − 1) of steps, τ being their Rényi loss of order 2, from rates and shifts; finite."""

_SMALLEST, _LARGEST = 1e-300, 1e300


@final
@frozen(eq=False)
class Groups:
    """Steps put together, each group with bounds of its rates and shifts.

    Attributes:
        low_rate, high_rate, low_shift, high_shift: one of each per group; each is that of some step in it.
        times: the number of steps in each.
    """

    low_rate: Floats
    high_rate: Floats
    low_shift: Floats
    high_shift: Floats
    times: NDArray[np.intp]


@final
@frozen(eq=False)
class _Cell:
    """A rectangle of rates and shifts.

    Attributes:
        members: the steps in it, equal ones as one.
        looseness: by how much its greatest corner loses more than its least, times the number of steps.
        cut: whether to cut rates or shifts, and at which logarithm; None where all are equal.
    """

    members: NDArray[np.intp]
    looseness: float
    cut: tuple[int, float] | None


def grouped(rates: Floats, low_shifts: Floats, high_shifts: Floats, sizes: Sizes, *, most: int) -> Groups:
    """The steps in groups, which are split where that tells most about the loss of the run.

    Args:
        rates: in (0, 1].
        low_shifts, high_shifts: bounds of the shifts; above 0.
        sizes: of what the steps lose.
        most: how many groups there may be; at least 1. Runs with no more different steps are kept as they are.

    Guarantees: each step belongs to one group, whose bounds hold for it.
    """
    whole("most", most, 1)
    columns = [rates, low_shifts, high_shifts]
    order = np.lexsort((high_shifts, low_shifts, rates))
    new = np.ones(len(rates), dtype=bool)
    new[1:] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    rows = np.column_stack([column[order][new] for column in columns])
    times = np.diff(np.append(np.flatnonzero(new), len(rates)))
    if len(rows) <= most:
        return Groups(rows[:, 0], rows[:, 0], rows[:, 1], rows[:, 2], times)
    logarithms = np.log(np.clip(rows[:, 0], _SMALLEST, 1.0)), np.log(np.clip(rows[:, 2], _SMALLEST, _LARGEST))

    def cell(members: NDArray[np.intp]) -> _Cell:
        ends = [(float(column[members].min()), float(column[members].max())) for column in logarithms]
        corners = np.exp(np.array(ends))
        low, high = np.logaddexp(0.0, sizes(corners[0], corners[1]))
        gains = []
        for which, (first, last) in enumerate(ends):
            middle = corners.copy()
            middle[which, :] = np.exp((first + last) / 2)
            at = np.logaddexp(0.0, sizes(middle[0], middle[1]))
            gains.append((float(high - at[1]) if first < last else -1.0, which, (first + last) / 2))
        gain, which, middle_of = max(gains)
        looseness = float(times[members].sum()) * float(high - low)
        return _Cell(members, looseness, (which, middle_of) if gain >= 0 else None)

    start = cell(np.arange(len(rows)))
    heap, number = [(0.0, 0, start)], 1
    done: list[_Cell] = []
    while heap and len(heap) + len(done) < most:
        *_, first = heapq.heappop(heap)
        parts = _parts(first, logarithms)
        if len(parts) < 2:
            done.append(first)
            continue
        for part in parts:
            made = cell(part)
            heapq.heappush(heap, (-made.looseness, number, made))
            number += 1
    members = [one.members for one in done] + [one.members for *_, one in heap]
    low, high = (np.array([bound(rows[each], axis=0) for each in members]) for bound in (np.min, np.max))
    counts = np.array([times[each].sum() for each in members])
    return Groups(low[:, 0], high[:, 0], low[:, 1], high[:, 2], counts)


def _parts(cell: _Cell, logarithms: tuple[Floats, Floats]) -> list[NDArray[np.intp]]:
    if cell.cut is None:
        return [cell.members]
    which, middle = cell.cut
    left = logarithms[which][cell.members] <= middle
    return [part for part in (cell.members[left], cell.members[~left]) if part.size]
