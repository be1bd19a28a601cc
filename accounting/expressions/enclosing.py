"""Interval evaluation: an enclosure of the expression's values over a box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from ..enclosures import Enclosure, Truth
from ..errors import InvalidValue
from .tree import Algebra, Expression, Operation, Variable, fold

Box = Mapping[Variable, Enclosure]
"""A value or an interval for each variable."""


def _select(a: Enclosure, b: Enclosure, x: Enclosure, y: Enclosure) -> Enclosure:
    match a.less_equal(b):
        case Truth.TRUE:
            return x
        case Truth.FALSE:
            return y
        case Truth.UNDECIDED:
            return x.hull(y)


_OPERATIONS: dict[Operation, Callable[..., Enclosure]] = {
    Operation.ADD: lambda a, b: a + b,
    Operation.SUBTRACT: lambda a, b: a - b,
    Operation.MULTIPLY: lambda a, b: a * b,
    Operation.DIVIDE: lambda a, b: a / b,
    Operation.MINIMUM: Enclosure.minimum,
    Operation.MAXIMUM: Enclosure.maximum,
    Operation.EXP: Enclosure.exp,
    Operation.EXPM1: Enclosure.expm1,
    Operation.LOG: Enclosure.log,
    Operation.LOG1P: Enclosure.log1p,
    Operation.SQRT: Enclosure.sqrt,
    Operation.SELECT: _select,
}


def enclose(root: Expression, box: Box, *, precision: int) -> Enclosure:
    """An enclosure of `root` over `box`.

    Args:
        root: the expression.
        box: an enclosure for each variable of `root`.
        precision: working precision in bits.

    Raises:
        InvalidValue: where the box lacks a variable.
        OutsideDomain: where the box reaches outside the domain of an operation.
    """

    def value(variable: Variable) -> Enclosure:
        try:
            return box[variable].at(precision)
        except KeyError:
            known = ", ".join(sorted(v.name for v in box)) or "none"
            raise InvalidValue("box", known, f"a value for {variable.name}") from None

    def constant(number: Fraction) -> Enclosure:
        return Enclosure.of(number, precision=precision)

    algebra: Algebra[Enclosure] = Algebra(constant, value, Enclosure.power, _OPERATIONS)
    return fold(root, algebra)
