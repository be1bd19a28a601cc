"""Proofs on whole boxes: an inequality f ≥ 0 is enclosed cell by cell, and undecided cells are halved.

On a cell the enclosure of f may decide; else that of its slopes, by the mean value theorem; else f is followed to the
end of a side along which it is proven to fall, where it is another expression with a variable less. Whether it falls is
an inequality of the same kind, about its slope. None of this is the search that certifies suprema.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ...accounting.enclosures import Enclosure, Truth
from ...accounting.errors import InvalidValue, OutsideDomain
from ...accounting.expressions import (
    Constant,
    Expression,
    Symbol,
    Variable,
    deciding,
    derivative,
    enclose,
    simplify,
    substitute,
    variables,
)
from ...plugins.contract import Box, Proof

Cell: TypeAlias = Mapping[Variable, tuple[Fraction, Fraction]]

_PRECISION = 96
_BUDGET = 4000
_NARROW = Fraction(1, 2**40)
"""Cells are not halved along a side that is narrower than this share of the box."""
_ORDERS = 2
"""How many times an inequality may be led back to one about a slope."""


def quantity(name: str) -> Variable:
    """A variable of an inequality; it stands for numbers from 0 on."""
    return Variable(Symbol.RATIO, name)


def prove(
    says: str,
    margins: Expression | Iterable[Expression],
    box: Mapping[Variable, tuple[Fraction | int | str, Fraction | int | str]],
    *,
    budget: int = _BUDGET,
) -> Proof:
    """Prove that no margin is below 0 anywhere on a box.

    Args:
        says: the inequality in words.
        margins: what must be at least 0, one expression or several.
        box: both ends of each variable.
        budget: most cells to examine.

    Guarantees:
        The proof holds only if every margin is enclosed at or above 0 on cells that cover the box, or is on each of
        them at least a value that is.

    Raises:
        InvalidValue: for a side that is reversed or begins below 0.
    """
    start = {variable: (Fraction(low), Fraction(high)) for variable, (low, high) in box.items()}
    for variable, (low, high) in start.items():
        if not 0 <= low <= high:
            raise InvalidValue(variable.index or variable.name, f"[{low}, {high}]", "0 ≤ lower end ≤ upper end")
    cells = 0
    unproven: Cell | None = None
    for margin in [margins] if isinstance(margins, Expression) else margins:
        spent, unproven = _cover(simplify(margin), start, budget - cells)
        cells += spent
        if unproven is not None:
            break
    return Proof(says=says, box=_named(start), cells=cells, unproven=None if unproven is None else _named(unproven))


def _cover(margin: Expression, start: Cell, budget: int) -> tuple[int, Cell | None]:
    """How many cells were examined, and one that stayed open, if any did."""
    waiting = [start]
    for examined in range(1, budget + 1):
        cell = waiting.pop()
        if not _non_negative(margin, cell, _ORDERS):
            if _negative(margin, cell):
                return examined, cell
            halves = _halves(margin, cell, start)
            if not halves:
                return examined, cell
            waiting.extend(halves)
        if not waiting:
            return examined, None
    return budget, waiting[-1]


def _non_negative(margin: Expression, cell: Cell, orders: int) -> bool:
    """Whether the margin is proven to be at least 0 on the whole cell."""
    whole = _enclosure(margin, cell)
    if whole is not None and whole.greater_equal(0) is Truth.TRUE:
        return True
    if not orders or deciding(margin):  # a slope says nothing about a jump
        return False
    slopes = {variable: _slope(margin, variable) for variable in _open(margin, cell)}
    found = {variable: _enclosure(slope, cell) for variable, slope in slopes.items()}
    for variable, values in found.items():
        for sign, end in zip((1, -1), cell[variable], strict=True):
            if values is not None and (sign * values).greater_equal(0) is Truth.TRUE:
                return _non_negative(_at(margin, variable, end), cell, orders)
    if _by_mean_value(margin, cell, found):
        return True
    for variable, slope in slopes.items():
        for sign, end in zip((1, -1), cell[variable], strict=True):
            if _non_negative(_signed(slope, sign), cell, orders - 1):
                return _non_negative(_at(margin, variable, end), cell, orders)
    return False


def _by_mean_value(margin: Expression, cell: Cell, slopes: Mapping[Variable, Enclosure | None]) -> bool:
    """Decide whether f(x) ≥ f(middle) − Σ |slope|·half proves the margin."""
    least = _enclosure(margin, {variable: (middle, middle) for variable, middle in _middles(cell).items()})
    for variable, slope in slopes.items():
        if least is None or slope is None:
            return False
        low, high = cell[variable]
        least = least + slope * Enclosure.between((low - high) / 2, (high - low) / 2, precision=_PRECISION)
    return least is not None and least.greater_equal(0) is Truth.TRUE


def _negative(margin: Expression, cell: Cell) -> bool:
    """Whether the margin is proven to be below 0 in the middle of the cell."""
    value = _enclosure(margin, {variable: (middle, middle) for variable, middle in _middles(cell).items()})
    return value is not None and value.less(0) is Truth.TRUE


def _halves(margin: Expression, cell: Cell, start: Cell) -> list[Cell]:
    """The cell cut where the margin varies most, as far as floats tell: they steer and prove nothing."""

    def influence(variable: Variable) -> tuple[float, float]:
        low, high = cell[variable]
        slope = _enclosure(_slope(margin, variable), cell)
        steep = math.inf if slope is None else max(-slope.lower_float, slope.upper_float)
        return steep * float(high - low), float(high - low)

    open_sides = [v for v in _open(margin, cell) if _width(cell, v) > _NARROW * _width(start, v)]
    if not open_sides:
        return []
    widest = max(open_sides, key=influence)
    (low, high), middle = cell[widest], _middles(cell)[widest]
    return [{**cell, widest: (low, middle)}, {**cell, widest: (middle, high)}]


def _middles(cell: Cell) -> dict[Variable, Fraction]:
    """The middle of each side: the geometric one, to a few digits, where the ends are of different magnitude."""
    return {variable: _middle(low, high) for variable, (low, high) in cell.items()}


def _middle(low: Fraction, high: Fraction) -> Fraction:
    if low and high > 4 * low:
        mantissa, exponent = math.frexp(math.sqrt(low * high))
        return Fraction(round(mantissa * 64), 64) * Fraction(2) ** exponent
    return (low + high) / 2


def _width(cell: Cell, variable: Variable) -> Fraction:
    low, high = cell[variable]
    return high - low


def _open(margin: Expression, cell: Cell) -> list[Variable]:
    occurring = sorted(variables(margin), key=lambda variable: variable.name)
    return [variable for variable in occurring if cell[variable][0] < cell[variable][1]]


def _enclosure(expression: Expression, cell: Cell) -> Enclosure | None:
    """The values on the cell, or None where an operation may leave its domain."""
    sides = {variable: Enclosure.between(*ends, precision=_PRECISION) for variable, ends in cell.items()}
    try:
        return enclose(expression, sides, precision=_PRECISION)
    except OutsideDomain:
        return None


@lru_cache(maxsize=4096)
def _slope(margin: Expression, variable: Variable) -> Expression:
    return derivative(margin, variable)


@lru_cache(maxsize=4096)
def _signed(expression: Expression, sign: int) -> Expression:
    return simplify(sign * expression)


@lru_cache(maxsize=4096)
def _at(margin: Expression, variable: Variable, end: Fraction) -> Expression:
    """The margin on the side of the cell where a variable is at an end."""
    return simplify(substitute(margin, {variable: Constant(end)}))


def _named(cell: Cell) -> Box:
    return {variable.index or variable.name: ends for variable, ends in cell.items()}
