"""Very many sampled Gaussian steps put together as few weighted nodes of rates and shifts.

Legend: as in `interpolated_steps`. Which boxes are cut, and where, is found in floats and proves nothing; what a box
hides is bounded in `step_remainders`. Steps that no box of few nodes tells are kept as they are. The proofs are in
`docs/soundness_many_steps.md`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from .._kernels import loss_transforms as kernels
from ..bulk import arrays as bulk
from ..exact import Floats
from .step_remainders import ROOM, WIDER, Cells, Region, Remainder

_LARGEST_SHIFT, _LEAST_SHIFT, _LEAST_RATE, _MOST_RATE = 5.0, 1e-3, 1e-9, 0.5
_MOST_STEPS, _BLOCK = 1 << 30, 1 << 14
_NARROW, _NARROWEST = 1e-6, 1e-3
_MOST_NATS = 600.0
_NATS, _REACHED, _STEEPER = 12.0, 3.0, 1.5  # about where accuracy matters
_WANTED, _FAR = ((1e-7, 1e-7, 1e-2), (1e-4, 1e-4)), 4.0  # the first that so many nodes promise
_SEVERAL = 1 << 15  # steps, from which on attempts take long
_LEAST_TILT, _MOST_TILT, _HALVINGS = 1e-3, 1e4, 16
_COARSE, _FINE = (0.7, 0.4), (0.4, 0.2)  # widths of bins of rates and shifts
_MOST_BINS, _MOST_TAILS = 48, 24
_ALIKE = (0.02, 0.01)  # widths of bins of steps that are kept, for estimates
_FEW_KEPT = 8  # steps that are not cut further
_SMALLER = math.sqrt(0.75)


@final
@frozen(eq=False)
class Box:
    """Steps in a region, as weighted nodes.

    Attributes:
        rates, shifts: nodes of the interpolation.
        weights: of each rate and shift.
    """

    region: Region
    rates: Floats
    shifts: Floats
    weights: Floats

    @classmethod
    def of(cls, rates: Floats, squares: Floats, degrees: tuple[int, int]) -> Box:
        """Put steps together, by so many nodes in rate and in square."""
        region = Region.around(rates, squares)
        some = _nodes(region.low_rate, region.high_rate, degrees[0])
        others = np.sqrt(_nodes(region.low_square, region.high_square, degrees[1]))
        weights = np.zeros((some.size, others.size))
        for start in range(0, rates.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            weights += _lagrange(some, rates[part]) @ _lagrange(others * others, squares[part]).T
        return cls(region, some, others, weights)

    @property
    def degrees(self) -> tuple[int, int]:
        """The number of nodes in rate and in square."""
        return self.rates.size, self.shifts.size


@final
@frozen(eq=False)
class Kept:
    """Steps that are kept as they are, equal ones as one.

    Attributes:
        rates: of each.
        low_shifts, high_shifts: binary64 numbers that the shift of each lies between.
        times: how many there are of each.
    """

    rates: Floats
    low_shifts: Floats
    high_shifts: Floats
    times: NDArray[np.intp]

    @classmethod
    def of(cls, rates: Floats, low_shifts: Floats, high_shifts: Floats) -> Kept:
        """Count equal steps."""
        rows, times = np.unique(np.column_stack([rates, low_shifts, high_shifts]), axis=0, return_counts=True)
        return cls(rows[:, 0], rows[:, 1], rows[:, 2], times)

    @cached_property
    def below(self) -> Kept:
        """Steps that these dominate."""
        return Kept(self.rates, self.low_shifts, self.low_shifts, self.times)

    @cached_property
    def about(self) -> tuple[tuple[float, float, float], ...]:
        """Weight, rate and shift of few steps that lose about as much."""
        found = []
        for one in _binned(self.rates, self.high_shifts, _ALIKE):
            times = self.times[one]
            square = np.average(self.high_shifts[one] ** 2, weights=times)
            found.append((float(times.sum()), float(np.average(self.rates[one], weights=times)), math.sqrt(square)))
        return tuple(found)


@final
@frozen
class Tail:
    """Steps whose losses have parts with the law of one other step, but for the moments (step 7).

    Attributes:
        region: of the steps.
        rate, shift: of the other step.
        share: the sum of the parts.
    """

    region: Region
    rate: float
    shift: float
    share: float

    @classmethod
    def of(cls, rates: Floats, shifts: Floats) -> Tail:
        """Choose the other step, and bound the parts."""
        shift = _SMALLER * float(shifts.min())
        odds = np.asarray(bulk.log(rates / (1 - rates)))
        middles = odds - shifts * shifts / 2
        rate = 1 / (1 + math.exp(-float(np.mean(middles)) - shift * shift / 2))
        middle = math.log(rate / (1 - rate)) - shift * shift / 2
        far = np.abs(middles - middle) + 1e-9
        shares = bulk.exp(-far * far / (2 * (shifts * shifts * (1 - WIDER) - shift * shift))) * (shift / shifts)
        return cls(Region.around(rates, shifts * shifts), rate, shift, float(np.sum(shares)) / ROOM)

    def share_at(self, order: float) -> float:
        """The sum of the parts of the losses as they are tilted for an r."""
        region = self.region
        other = region.high_rate if order > 0 else region.low_rate
        tilted = math.exp(min(order * (math.log1p(-other) - math.log1p(-self.rate)), _MOST_NATS))  # less is right, too
        cells = Cells.of(region, order, 2)
        moved = abs(order * (order - 1)) / 2 * region.high_rate**2 * cells.second()  # of M − 1
        moment = min(1 + moved, float(cells.ratios(0)[0]))
        return self.share * tilted / (moment * ROOM)


@final
@frozen(eq=False)
class InterpolatedSteps:
    """Very many sampled Gaussian steps, put together for interpolation.

    Attributes:
        boxes: every step that is not kept as it is is in one.
        tails: some of the steps.
        count: how many steps there are.
        kept: the steps that are in no box; None for none.
    """

    boxes: tuple[Box, ...]
    tails: tuple[Tail, ...]
    count: int
    kept: Kept | None = None

    @classmethod
    def of(
        cls, rates: Floats, shifts: Floats, *, nodes: int, low_shifts: Floats | None = None
    ) -> InterpolatedSteps | None:
        """Put steps together.

        Args:
            rates: of each step, in (0, 1).
            shifts: of each step, at least the true one and within 4u of it, relatively.
            nodes: how many there may be, steps that are kept among them.
            low_shifts: at most the true one, as near; by default `shifts` are the true ones.

        Returns:
            None where so many nodes do not promise an accurate sum.
        """
        least, most = float(shifts.min()), float(shifts.max())
        if not (
            least >= _LEAST_SHIFT and most <= _LARGEST_SHIFT and rates.min() >= _LEAST_RATE and rates.max() < _MOST_RATE
        ):
            return None
        if not rates.size <= _MOST_STEPS:
            return None
        found = _boxes(rates, shifts, nodes)
        if found is None:
            return None
        boxes, others = found
        lower = shifts if low_shifts is None else low_shifts
        kept = Kept.of(rates[others], lower[others], shifts[others]) if others.size else None
        tails = (Tail.of(rates[one], shifts[one]) for one in _binned(rates, shifts, _FINE)[:_MOST_TAILS])
        return cls(boxes, tuple(tails), rates.size, kept)

    @cached_property
    def below(self) -> InterpolatedSteps:
        """Steps that the run dominates: each one that is kept has the lower end of its shift."""
        return self if self.kept is None else evolve(self, kept=self.kept.below)

    @cached_property
    def about(self) -> tuple[tuple[float, float, float], ...]:
        """Weight, rate and shift of nodes and of few steps whose moments are about those of all steps."""
        return self.nodes if self.kept is None else (*self.nodes, *self.kept.about)

    @cached_property
    def nodes(self) -> tuple[tuple[float, float, float], ...]:
        """Weight, rate and shift of each node."""
        return tuple(
            (float(weight), float(box.rates[j]), float(box.shifts[k]))
            for box in self.boxes
            for (j, k), weight in np.ndenumerate(box.weights)
            if weight
        )


def _nodes(low: float, high: float, count: int) -> Floats:
    """Chebyshev nodes in an interval, or its middle where it is narrow."""
    if high - low < _NARROW * high:
        return np.array([(low + high) / 2])
    angles = (2 * np.arange(count, 0, -1) - 1) * (math.pi / (2 * count))
    return np.asarray((low + high) / 2 + (high - low) / 2 * np.cos(angles))


def _lagrange(nodes: Floats, at: Floats) -> Floats:
    """The Lagrange polynomials of the nodes; a row for each."""
    apart = at - nodes[:, None]
    before, after = np.ones_like(apart), np.ones_like(apart)
    for j in range(1, nodes.size):
        before[j] = before[j - 1] * apart[j - 1]
        after[-j - 1] = after[-j] * apart[-j]
    differences = nodes[:, None] - nodes
    np.fill_diagonal(differences, 1.0)
    return np.asarray(before * after / np.prod(differences, axis=1)[:, None])


def _matters(rates: Floats, shifts: Floats) -> tuple[float, float]:
    """About the c of contours that tell the ε of a δ near e^−_NATS, and the variance of the loss near 0."""
    bins = _binned(rates, shifts, _COARSE)[:_MOST_BINS]
    corners = [(one.size, float(rates[one].max()), float(shifts[one].max())) for one in bins]

    def at(tilt: float) -> list[float]:
        each = [count * np.array(kernels.estimate(rate, shift, 1.0, tilt)) for count, rate, shift in corners]
        return list(np.sum(each, axis=0).tolist())

    low, high = math.log(_LEAST_TILT), math.log(_MOST_TILT)
    for _ in range(_HALVINGS):
        tilt = math.exp((low + high) / 2)
        moment, slope, _ = at(tilt)
        if tilt * slope - moment < _NATS:
            low = math.log(tilt)
        else:
            high = math.log(tilt)
    return math.exp(low), at(_LEAST_TILT)[2]


_Cut: TypeAlias = tuple[list[tuple[NDArray[np.intp], tuple[int, int]]], list[NDArray[np.intp]]]
"""Members and degrees of boxes, and members of what is kept."""


def _boxes(rates: Floats, shifts: Floats, nodes: int) -> tuple[tuple[Box, ...], NDArray[np.intp]] | None:
    """Cut into boxes in which few nodes promise an accurate sum, and the places of others; None where too many do."""
    squares = shifts * shifts
    tilt, variance = _matters(rates, shifts)
    y = np.array([0.0, 1.0, _FAR]) * (_REACHED / math.sqrt(variance))
    several = _WANTED if rates.size <= _SEVERAL else _WANTED[-1:]
    found = (_cut(rates, squares, nodes, tilt, y, np.array(wanted) / rates.size) for wanted in several)
    cut = next((one for one in found if one is not None), None)
    if cut is None:
        return None
    boxes, kept = cut
    made = tuple(Box.of(rates[members], squares[members], degrees) for members, degrees in boxes)
    return made, np.concatenate([np.arange(0), *kept])


def _cut(rates: Floats, squares: Floats, nodes: int, tilt: float, y: Floats, wanted: Floats) -> _Cut | None:
    """Halve boxes until so much is hidden of a step at each y; None where that takes too many nodes."""
    orders = tilt + 1, -_STEEPER * tilt
    y = y[: wanted.size]
    left, done, kept, used = [np.arange(rates.size)], [], [], 0
    while left:
        members = left.pop()
        region = Region.around(rates[members], squares[members])
        found = [Remainder.of(region, order).enough(y, wanted) for order in orders]
        first, second = (_most(each) for each in zip(*found, strict=True))
        ends = (region.low_rate, region.high_rate), (region.low_square, region.high_square)
        widths = [math.log(high / low) for low, high in ends]
        which = 0 if first is None and (second is not None or widths[0] > widths[1]) else 1
        if first is not None and second is not None and first * second <= members.size:
            used += first * second
            done.append((members, (first, second)))
        elif (first and second) or members.size <= _FEW_KEPT or widths[which] < _NARROWEST:
            used += members.size
            kept.append(members)
        else:
            column = (rates, squares)[which][members]
            above = column > math.sqrt(ends[which][0] * ends[which][1])
            left += [members[~above], members[above]]
        if used + len(left) > nodes:
            return None
    return done, kept


def _most(counts: tuple[int | None, ...]) -> int | None:
    """The largest; None where one is not known."""
    found = [count for count in counts if count is not None]
    return max(found) if len(found) == len(counts) else None


def _binned(rates: Floats, shifts: Floats, widths: tuple[float, float]) -> list[NDArray[np.intp]]:
    """Steps that are alike, what loses most first; the widths are in logarithms, and of rates for a shift of 1."""
    by_shift = np.floor(np.log(shifts) / widths[1])
    by_rate = np.floor(np.log(rates) / (widths[0] * np.minimum(np.exp(by_shift * widths[1]), 1.0)))
    keys = (by_shift - by_shift.min()) * (by_rate.max() - by_rate.min() + 1) + (by_rate - by_rate.min())
    short = keys.astype(np.int16 if float(keys.max()) < 2.0**15 else np.float64)  # sorted much sooner
    order = np.argsort(short, kind="stable")
    bins = np.split(order, np.flatnonzero(np.diff(short[order])) + 1)
    losses = [float(np.sum(rates[one] ** 2 * np.expm1(shifts[one] ** 2))) for one in bins]
    return [bins[which] for which in np.argsort(losses)[::-1]]
