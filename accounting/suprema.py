"""Certified suprema over boxes, by branch and bound with interval enclosures.

On each cell the expression is pruned and simplified, then enclosed; a variable in which the derivative has a
proven sign is collapsed to its better end, unless the expression may jump along it; what remains is bounded by
the mean-value form and bisected.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import count
from typing import TypeAlias, final

from attrs import frozen

from .enclosures import Enclosure, Truth
from .errors import InvalidValue, OutsideDomain
from .expressions import Expression, Range, Symbol, Variable, deciding, derivative, enclose, prune, simplify, variables

Cell: TypeAlias = dict[Variable, tuple[Fraction, Fraction]]
Point: TypeAlias = Mapping[Variable, Fraction]

_SIGNED = Symbol.ROUNDING
_BUDGET = 5_000
_DEPTH = 120
_GAP = Fraction(1, 2**48)
_SLACK = Fraction(1, 2**50)


class NoFiniteSupremum(OutsideDomain):
    """No finite bound over the box could be proven."""


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
    depth: int


class _Search:
    def __init__(self, root: Expression, precision: int) -> None:
        self.root = root
        self.precision = precision
        self.best: Fraction | None = None
        self.filled: Fraction | None = None  # the same for the simplified expression, where the original fails
        self.maximiser: Point | None = None
        self._slopes: dict[tuple[Expression, Variable], Expression] = {}

    def examine(self, cell: Cell, depth: int) -> _Node:
        local = simplify(prune(self.root, {v: Range(low, high) for v, (low, high) in cell.items()}))
        try:
            collapsed, influence, bound = self._bounded(local, dict(cell))
            top = bound.upper
        except OutsideDomain:
            # mostly what is undefined here is undefined where some coordinate is 0: approach that every other time
            closing = {v: (a, b) for v, (a, b) in cell.items() if a <= 0 <= b and a < b and v.symbol is not _SIGNED}
            return _Node(cell, None, self._widest(closing if closing and depth % 2 == 0 else cell), depth)
        cell = collapsed
        self._try(cell, local)
        open_sides = {v: size for v, size in influence.items() if cell[v][0] < cell[v][1]}

        def promise(variable: Variable) -> tuple[float, Fraction]:
            return open_sides[variable], cell[variable][1] - cell[variable][0]

        split = max(open_sides, key=promise) if open_sides else self._widest(cell)
        return _Node(cell, top, split, depth)

    def _bounded(self, local: Expression, cell: Cell) -> tuple[Cell, dict[Variable, float], Enclosure]:
        bound = self._enclose(local, cell)
        influence: dict[Variable, float] = {}
        slopes: dict[Variable, Enclosure] = {}
        jumps = deciding(local)  # a slope says nothing about a jump
        for variable in sorted(variables(local), key=lambda v: v.name):
            low, high = cell[variable]
            if low == high:
                continue
            slope = None if variable in jumps else self._slope(local, variable, cell)
            if slope is None:
                influence[variable] = math.inf
            elif slope.greater_equal(0) is Truth.TRUE:
                cell[variable] = (high, high)
            elif slope.less_equal(0) is Truth.TRUE:
                cell[variable] = (low, low)
            else:
                slopes[variable] = slope
                # floats steer the search and prove nothing
                influence[variable] = float(high - low) * max(-slope.lower_float, slope.upper_float)
        for variable in cell.keys() - variables(local):
            # the expression does not depend on it here: any value of the cell is as good
            middle = sum(cell[variable], Fraction(0)) / 2
            cell[variable] = (middle, middle)
        bound = bound.intersection(self._enclose(local, cell))
        if len(slopes) == len(influence) and slopes:
            bound = bound.intersection(self._mean_value(local, cell, slopes))
        return cell, influence, bound

    def _slope(self, local: Expression, variable: Variable, cell: Cell) -> Enclosure | None:
        key = (local, variable)
        if key not in self._slopes:
            self._slopes[key] = derivative(local, variable)
        try:
            return self._enclose(self._slopes[key], cell)
        except OutsideDomain:
            return None

    def _mean_value(self, local: Expression, cell: Cell, slopes: Mapping[Variable, Enclosure]) -> Enclosure:
        middle = {v: sum(ends, Fraction(0)) / 2 for v, ends in cell.items()}
        total = self._enclose(local, {v: (x, x) for v, x in middle.items()})
        for variable, slope in slopes.items():
            low, high = cell[variable]
            half = (high - low) / 2
            total = total + slope * Enclosure.between(-half, half, precision=self.precision)
        return total

    def _enclose(self, expression: Expression, cell: Cell) -> Enclosure:
        box = {v: Enclosure.between(low, high, precision=self.precision) for v, (low, high) in cell.items()}
        return enclose(expression, box, precision=self.precision)

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


def _halves(node: _Node) -> list[Cell]:
    assert node.split is not None
    low, high = node.cell[node.split]
    middle = (low + high) / 2
    return [{**node.cell, node.split: (low, middle)}, {**node.cell, node.split: (middle, high)}]


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

    push(search.examine(start, 0))
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
            push(search.examine(half, node.depth + 1))
    top = queue[0][2].upper
    if top is None:
        raise _unproven(root)
    return _result(search, top, precision, budget, slack)


def _unproven(root: Expression) -> NoFiniteSupremum:
    return NoFiniteSupremum(
        f"no finite supremum of {root.simplified()} could be proven on the public domain. Where the probability of "
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
