"""Exact values of expressions built from rationals and logarithms of rationals.

log(1 + q·(e^{log E} − 1)) is log(1 + q(E − 1)) exactly: on such inputs the library's closed forms have a value that
needs no rounding, and e to that value is a rational number that can be compared with a ratio of probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias, final

from attrs import frozen

from ...accounting.errors import OutsideDomain
from ...accounting.expressions import Algebra, Expression, Operation, Symbol, Variable, fold, log1p


@final
@frozen
class Logarithm:
    """The number log(of), `of` being above 0."""

    of: Fraction


Value: TypeAlias = Fraction | Logarithm


def _inexact(*operands: Value) -> OutsideDomain:
    shown = ", ".join(map(str, operands))
    return OutsideDomain(f"the value of an operation on {shown} is neither rational nor the logarithm of a rational")


def _exp(value: Value) -> Fraction:
    """e to the value; of the rationals only 0 has a rational one."""
    match value:
        case Logarithm():
            return value.of
        case Fraction() if not value:
            return Fraction(1)
    raise _inexact(value)


def _log(value: Value) -> Value:
    if isinstance(value, Logarithm) or value <= 0:
        raise _inexact(value)
    return Logarithm(value)


def _add(a: Value, b: Value) -> Value:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    return Logarithm(_exp(a) * _exp(b))


def _negative(a: Value) -> Value:
    return -a if isinstance(a, Fraction) else Logarithm(1 / a.of)


def _multiply(a: Value, b: Value) -> Value:
    match a, b:
        case Fraction(), Fraction():
            return a * b
        case Fraction(denominator=1), Logarithm():
            return Logarithm(b.of**a.numerator)
        case Logarithm(), Fraction(denominator=1):
            return Logarithm(a.of**b.numerator)
    raise _inexact(a, b)


def _divide(a: Value, b: Value) -> Value:
    if isinstance(a, Fraction) and isinstance(b, Fraction) and b:
        return a / b
    raise _inexact(a, b)


def _at_most(a: Value, b: Value) -> bool:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a <= b
    return _exp(a) <= _exp(b)


def _power(base: Value, exponent: Fraction) -> Value:
    if isinstance(base, Fraction) and exponent.denominator == 1 and (base or exponent >= 0):
        return Fraction(base**exponent.numerator)
    raise _inexact(base)


_OPERATIONS: Mapping[Operation, Callable[..., Value]] = {
    Operation.ADD: _add,
    Operation.SUBTRACT: lambda a, b: _add(a, _negative(b)),
    Operation.MULTIPLY: _multiply,
    Operation.DIVIDE: _divide,
    Operation.MINIMUM: lambda a, b: a if _at_most(a, b) else b,
    Operation.MAXIMUM: lambda a, b: b if _at_most(a, b) else a,
    Operation.EXP: _exp,
    Operation.EXPM1: lambda a: _exp(a) - 1,
    Operation.LOG: _log,
    Operation.LOG1P: lambda a: _log(_add(a, Fraction(1))),
    Operation.SQRT: lambda a: _power(a, Fraction(1, 2)),
    Operation.SELECT: lambda a, b, x, y: x if _at_most(a, b) else y,
}


def exponential(root: Expression, values: Mapping[Variable, Fraction] | None = None) -> Fraction:
    """e^root, exactly; rounding variables without a value are 0, so rates and weights are the declared ones.

    Raises:
        OutsideDomain: where a value on the way is neither rational nor the logarithm of a rational.
    """
    known = values or {}

    def variable(name: Variable) -> Value:
        if name.symbol is Symbol.ROUNDING:
            return known.get(name, Fraction(0))
        return known[name]

    return _exp(fold(root, Algebra[Value](lambda value: value, variable, _power, _OPERATIONS)))


def logarithm(factor: Fraction) -> Expression:
    """log(factor) for a factor ≥ 1, as an expression that is non-negative by its structure."""
    return log1p(factor - 1)
