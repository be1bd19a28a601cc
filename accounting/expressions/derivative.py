"""The derivative of an expression with respect to one variable, as an expression.

At a kink of a minimum, maximum or selection the result is one of the one-sided derivatives; its enclosure over
a box in which the order is undecided is the hull of both, which encloses Clarke's generalised derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from attrs import frozen

from .normal_form import simplify
from .tree import (
    ONE,
    ZERO,
    Algebra,
    Apply,
    Constant,
    Expression,
    Operation,
    Power,
    Variable,
    exp,
    fold,
    select,
    sqrt,
)


@frozen
class _Dual:
    value: Expression
    slope: Expression


def _chain(operation: Operation, outer: Callable[[Expression], Expression]) -> Callable[[_Dual], _Dual]:
    """An elementary function whose derivative at u is `outer(u)`."""
    return lambda a: _Dual(Apply(operation, (a.value,)), outer(a.value) * a.slope)


def _power(base: _Dual, exponent: Fraction) -> _Dual:
    slope = exponent * Power(base.value, exponent - 1) * base.slope if exponent else ZERO
    return _Dual(Power(base.value, exponent), slope)


def _extremum(operation: Operation) -> Callable[[_Dual, _Dual], _Dual]:
    def rule(a: _Dual, b: _Dual) -> _Dual:
        smaller, larger = (a.slope, b.slope) if operation is Operation.MINIMUM else (b.slope, a.slope)
        return _Dual(Apply(operation, (a.value, b.value)), select(a.value, b.value, smaller, larger))

    return rule


_OPERATIONS: dict[Operation, Callable[..., _Dual]] = {
    Operation.ADD: lambda a, b: _Dual(a.value + b.value, a.slope + b.slope),
    Operation.SUBTRACT: lambda a, b: _Dual(a.value - b.value, a.slope - b.slope),
    Operation.MULTIPLY: lambda a, b: _Dual(a.value * b.value, a.slope * b.value + a.value * b.slope),
    Operation.DIVIDE: lambda a, b: _Dual(
        a.value / b.value, a.slope / b.value - a.value * b.slope / Power(b.value, Fraction(2))
    ),
    Operation.MINIMUM: _extremum(Operation.MINIMUM),
    Operation.MAXIMUM: _extremum(Operation.MAXIMUM),
    Operation.EXP: _chain(Operation.EXP, exp),
    Operation.EXPM1: _chain(Operation.EXPM1, exp),
    Operation.LOG: _chain(Operation.LOG, lambda u: 1 / u),
    Operation.LOG1P: _chain(Operation.LOG1P, lambda u: 1 / (1 + u)),
    Operation.SQRT: _chain(Operation.SQRT, lambda u: 1 / (2 * sqrt(u))),
    Operation.SELECT: lambda a, b, x, y: _Dual(
        select(a.value, b.value, x.value, y.value), select(a.value, b.value, x.slope, y.slope)
    ),
}


def derivative(root: Expression, variable: Variable) -> Expression:
    """d root / d variable, simplified.

    >>> from .tree import W, norm
    >>> print(derivative(norm(1) * W / 160, W))
    1/160·‖x‖₁
    """
    dual = fold(
        root,
        Algebra(
            lambda value: _Dual(Constant(value), ZERO),
            lambda other: _Dual(other, ONE if other == variable else ZERO),
            _power,
            _OPERATIONS,
        ),
    )
    return simplify(dual.slope)
