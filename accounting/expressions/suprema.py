"""Certified suprema over boxes, by branch and bound with interval enclosures.

On each cell the expression is pruned and simplified, then enclosed; a variable in which the derivative has a
proven sign is collapsed to its better end, unless the expression may jump along it. What remains is bounded by its
tangent at the highest point where it is smooth and concave in one variable, else by the mean-value form, and is
bisected. A few float values tell where to look first; they prove nothing.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import count
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from ..enclosures import Enclosure, Truth
from ..errors import InvalidValue, OutsideDomain
from . import (
    Algebra,
    Expression,
    Operation,
    Range,
    Symbol,
    Variable,
    deciding,
    evaluate,
    fold,
    prune,
    simplify,
    variables,
)
from .slopes import LocalSlope, Reader, Slope, slope_of

Cell: TypeAlias = dict[Variable, tuple[Fraction, Fraction]]
Point: TypeAlias = Mapping[Variable, Fraction]

_SIGNED = Symbol.ROUNDING
_BUDGET = 5_000
_DEPTH = 120
_GAP = Fraction(1, 2**48)
_SLACK = Fraction(1, 2**50)
_PROBES = 2**10
_NEWTON_STEPS = 4
_FINE = 2**64
_NEAR = 2**40
_SLIVERS = 2**12
_KINKED = {Operation.MINIMUM, Operation.MAXIMUM, Operation.SELECT}
_SMOOTH = Algebra[bool](
    lambda _: True,
    lambda _: True,
    lambda base, _: base,
    {operation: lambda *parts, kept=operation not in _KINKED: kept and all(parts) for operation in Operation},
)


class NoFiniteSupremum(OutsideDomain):
    """The error where no finite bound over the box could be proven."""


@final
@frozen
class Supremum:
    """A proven enclosure of a supremum.

    Attributes:
        enclosure: contains the supremum; its upper end has a slack, by default of a few units in the last place of
            binary64, so that another program can prove it without the same subdivision.
        maximiser: a point of the box where the value reaches the lower end, or None where none was found.
        cells: how many cells were examined.
    """

    enclosure: Enclosure
    maximiser: Point | None
    cells: int


@frozen(eq=False)
class _Node:
    cell: Cell
    upper: Fraction | None
    split: Variable | None
    at: Fraction  # where to split
    depth: int
    local: Expression  # has the values of the expression on this cell


class _Search:
    def __init__(self, root: Expression, precision: int) -> None:
        self.root = root
        self.precision = precision
        self.best: Fraction | None = None
        self.filled: Fraction | None = None  # the same for the simplified expression, where the original fails
        self.maximiser: Point | None = None
        self._slopes: dict[tuple[Expression, Variable], Slope] = {}
        self._smoothness: dict[Expression, bool] = {}

    def probe(self, cell: Cell) -> None:
        """Try the best of some points of the cell, chosen by float values: a high lower end closes cells soon."""
        norms = sum(v.symbol is not _SIGNED for v in cell)
        side = max(2, round(_PROBES ** (1 / norms))) if norms else 1
        try:
            ends = [(float(low), float(high), 2 if v.symbol is _SIGNED else side) for v, (low, high) in cell.items()]
        except OverflowError:
            return
        axes = np.meshgrid(*(np.linspace(*end) for end in ends), indexing="ij")
        if not axes or not np.isfinite(axes).all():
            return
        with np.errstate(all="ignore"):
            values = np.broadcast_to(evaluate(self.root, dict(zip(cell, axes, strict=True))), axes[0].shape)
        best = np.unravel_index(np.argmax(np.where(np.isfinite(values), values, -np.inf)), values.shape)
        inside = zip(cell.items(), axes, strict=True)
        point = {v: min(max(Fraction(float(axis[best])), low), high) for (v, (low, high)), axis in inside}
        with suppress(OutsideDomain):
            self._try({v: (x, x) for v, x in point.items()}, self.root)

    def examine(self, cell: Cell, depth: int, known: Expression) -> _Node:
        """Bound the expression on a cell, where it has the values of the `known` one."""
        if not depth or not self._smooth(known):
            known = simplify(prune(known, {v: Range(*ends) for v, ends in cell.items()}))
        local = known
        try:
            collapsed, influence, top = self._bounded(local, dict(cell))
        except OutsideDomain:
            # mostly what is undefined here is undefined where some coordinate is 0: approach that every other time
            closing = {v: (a, b) for v, (a, b) in cell.items() if a <= 0 <= b and a < b and v.symbol is not _SIGNED}
            split = self._widest(closing if closing and depth % 2 == 0 else cell)
            return _Node(cell, None, split, _middle(cell, split), depth, known)
        open_sides = {v: size for v, size in influence.items() if collapsed[v][0] < collapsed[v][1]}

        def promise(variable: Variable) -> tuple[float, Fraction]:
            return open_sides[variable], collapsed[variable][1] - collapsed[variable][0]

        split = max(open_sides, key=promise) if open_sides else self._widest(collapsed)
        return _Node(collapsed, top, split, self._place(local, collapsed, split, depth), depth, local)

    def _place(self, local: Expression, cell: Cell, split: Variable | None, depth: int) -> Fraction:
        """Where to split a cell: in the middle, or mostly beside a best point at a kink near an end."""
        if split is None or self.maximiser is None or depth % 4 == 3 or self._smooth(local):
            return _middle(cell, split)
        low, high = cell[split]
        sliver = (high - low) / _SLIVERS
        for end, inside in ((high, high - sliver), (low, low + sliver)):
            if abs(end - self.maximiser[split]) < sliver:
                return inside
        return _middle(cell, split)

    def _bounded(self, local: Expression, cell: Cell) -> tuple[Cell, dict[Variable, float], Fraction]:
        top = self._enclose(local, cell).upper
        if not self._may_rise_to(top):
            return cell, {}, top
        influence: dict[Variable, float] = {}
        slopes: dict[Variable, LocalSlope] = {}
        occurring = variables(local)
        jumps = deciding(local)  # a slope says nothing about a jump
        for variable in sorted(occurring, key=lambda v: v.name):
            low, high = cell[variable]
            if low == high:
                continue
            along = self._along(local, variable, cell)
            slope = None if variable in jumps else _value(along)
            if slope is None:
                influence[variable] = math.inf
            elif slope.greater_equal(0) is Truth.TRUE:
                cell[variable] = (high, high)
            elif slope.less_equal(0) is Truth.TRUE:
                cell[variable] = (low, low)
            else:
                slopes[variable] = along
                # floats steer the search and prove nothing
                influence[variable] = float(high - low) * max(-slope.lower_float, slope.upper_float)
        for variable in cell.keys() - occurring:
            # the expression does not depend on it here: any value of the cell is as good
            middle = sum(cell[variable], Fraction(0)) / 2
            cell[variable] = (middle, middle)
        top = min(top, self._enclose(local, cell).upper)
        if self._may_rise_to(top):
            if slopes and len(slopes) == len(influence):
                top = min(top, self._by_slopes(local, cell, slopes))
            if self._may_rise_to(top):
                self._try(cell, local)
        return cell, influence, top

    def _may_rise_to(self, top: Fraction) -> bool:
        return self.best is None or top > self.best

    def _smooth(self, local: Expression) -> bool:
        if local not in self._smoothness:
            self._smoothness[local] = fold(local, _SMOOTH)
        return self._smoothness[local]

    def _along(self, local: Expression, variable: Variable, cell: Cell) -> LocalSlope:
        key = (local, variable)
        if key not in self._slopes:
            self._slopes[key] = slope_of(local, variable)
        return self._slopes[key].over(Reader(dict(cell), self.precision))

    def _by_slopes(self, local: Expression, cell: Cell, slopes: Mapping[Variable, LocalSlope]) -> Fraction:
        """An upper bound from the slopes in the open variables of the cell."""
        if len(slopes) == 1 and self._smooth(local):
            ((variable, slope),) = slopes.items()
            top = self._below_summit(local, variable, cell, slope)
            if top is not None:
                return top
        return self._mean_value(local, cell, slopes).upper

    def _below_summit(self, local: Expression, variable: Variable, cell: Cell, slope: LocalSlope) -> Fraction | None:
        """An upper bound where a smooth expression is proven to have a single summit along the cell.

        Its slope is N/D with D > 0. Where N falls, f(x) − f(c) = ∫ N/D is at most N(c)·∫ 1/D, and the integral over
        [c, x] is x − c over some value of D. For D = 1 it is the tangent of a concave function.
        """
        try:
            bend = slope.bend
        except OutsideDomain:
            return None
        if slope.denominator.greater(0) is not Truth.TRUE or bend.less_equal(0) is not Truth.TRUE:
            return None
        low, high = cell[variable]
        summit = self._summit(local, variable, cell)
        at = {**cell, variable: (summit, summit)}
        self._try(at, local)
        ahead = Enclosure.between(low - summit, high - summit, precision=self.precision)
        rise = self._along(local, variable, at).numerator * ahead / slope.denominator
        return (self._enclose(local, at) + rise).upper

    def _summit(self, local: Expression, variable: Variable, cell: Cell) -> Fraction:
        """A point of the cell near the root of a falling numerator, by Newton's method."""
        low, high = cell[variable]
        known = low if self.maximiser is None else self.maximiser[variable]
        at = known if low < known < high else (low + high) / 2
        for _ in range(_NEWTON_STEPS):
            slope = self._along(local, variable, {**cell, variable: (at, at)})
            bend = slope.bend.midpoint
            if not bend:
                break
            share = (at - slope.numerator.midpoint / bend - low) / (high - low)
            nearest = Fraction(round(min(max(share, Fraction(0)), Fraction(1)) * _FINE), _FINE)
            before, at = at, low + (high - low) * nearest
            if abs(at - before) * _NEAR <= high - low:
                break
        return at

    def _mean_value(self, local: Expression, cell: Cell, slopes: Mapping[Variable, LocalSlope]) -> Enclosure:
        middle = {v: sum(ends, Fraction(0)) / 2 for v, ends in cell.items()}
        total = self._enclose(local, {v: (x, x) for v, x in middle.items()})
        for variable, slope in slopes.items():
            low, high = cell[variable]
            half = (high - low) / 2
            value = slope.numerator / slope.denominator
            total = total + value * Enclosure.between(-half, half, precision=self.precision)
        return total

    def _enclose(self, expression: Expression, cell: Cell) -> Enclosure:
        return Reader(cell, self.precision)(expression)

    def _try(self, cell: Cell, local: Expression) -> None:
        """Evaluate the original expression at a point of the cell: a lower bound of the supremum."""
        point = {v: (low + high) / 2 for v, (low, high) in cell.items()}
        degenerate = {v: (x, x) for v, x in point.items()}
        try:
            value = self._enclose(self.root, degenerate).lower
        except OutsideDomain:
            if self.best is None:
                value = self._enclose(local, degenerate).lower
                self.filled = value if self.filled is None else max(value, self.filled)
            return
        if self.best is None or value > self.best:
            self.best, self.maximiser = value, point

    @staticmethod
    def _widest(cell: Mapping[Variable, tuple[Fraction, Fraction]]) -> Variable | None:
        wide = {v: high - low for v, (low, high) in cell.items() if low < high}
        return max(wide, key=lambda v: (wide[v], v.name)) if wide else None


def _middle(cell: Cell, variable: Variable | None) -> Fraction:
    return Fraction(0) if variable is None else sum(cell[variable], Fraction(0)) / 2


def _value(slope: LocalSlope) -> Enclosure | None:
    """The slope itself, or None where it may be undefined."""
    try:
        return slope.numerator / slope.denominator
    except OutsideDomain:
        return None


def _halves(node: _Node) -> list[Cell]:
    assert node.split is not None
    low, high = node.cell[node.split]
    return [{**node.cell, node.split: (low, node.at)}, {**node.cell, node.split: (node.at, high)}]


def supremum(
    root: Expression,
    box: Mapping[Variable, Range],
    *,
    precision: int = 128,
    relative_gap: Fraction = _GAP,
    budget: int = _BUDGET,
    slack: Fraction = _SLACK,
) -> Supremum:
    """A proven enclosure of the supremum of `root` over `box`, where `root` is defined.

    Args:
        root: an expression; it may be undefined on a set that closing the domain by continuity fills.
        box: a bounded range for each variable of `root`.
        precision: working precision in bits.
        relative_gap: the search ends once upper and lower end are this close, relatively.
        budget: most cells to examine; a wider enclosure is returned when it is spent.
        slack: by how much, relatively, the upper end is raised, so that another program can prove it more coarsely.

    Raises:
        InvalidValue: for an unbounded box.
        NoFiniteSupremum: where no finite upper bound could be proven.
    """
    start: Cell = {}
    for variable, side in box.items():
        if side.lower is None or side.upper is None:
            raise InvalidValue(variable.name, "an unbounded range", "a bounded box")
        start[variable] = (side.lower, side.upper)
    search = _Search(root, precision)
    ticket = count()
    queue: list[tuple[tuple[int, Fraction], int, _Node]] = []

    def push(node: _Node) -> None:
        # unbounded cells first, the deepest of them foremost, so that a true pole shows soon
        urgency = (0, Fraction(-node.depth)) if node.upper is None else (1, -node.upper)
        heapq.heappush(queue, (urgency, next(ticket), node))

    search.probe(start)
    push(search.examine(start, 0, root))
    for examined in range(1, budget):
        node = queue[0][2]
        if node.upper is not None:
            close = search.best is not None and node.upper - search.best <= relative_gap * abs(node.upper)
            if close or node.split is None or node.depth >= _DEPTH:
                return _result(search, node.upper, precision, examined, slack)
        elif node.depth >= _DEPTH or node.split is None:
            break
        heapq.heappop(queue)
        for half in _halves(node):
            push(search.examine(half, node.depth + 1, node.local))
    top = queue[0][2].upper
    if top is None:
        raise _unproven(root)
    return _result(search, top, precision, budget, slack)


def _unproven(root: Expression) -> NoFiniteSupremum:
    return NoFiniteSupremum(
        f"no finite supremum of {simplify(root)} could be proven on the public domain. Where the probability of "
        "being drawn falls to 0, the weight grows without bound. Set a floor above 0, or ask for the ψ-PDP profile "
        "alone by leaving out the radius"
    )


def _result(search: _Search, upper: Fraction, precision: int, cells: int, slack: Fraction) -> Supremum:
    end = upper + abs(upper) * slack
    reached = search.filled if search.best is None else search.best
    if reached is None:
        raise _unproven(search.root)
    lower = min(reached, end)
    return Supremum(Enclosure.between(lower, end, precision=precision), search.maximiser, cells)
