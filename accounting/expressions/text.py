"""Expressions as people read them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..norms import Norm
from .tree import Algebra, Expression, Operation, Symbol, Variable, fold

# a text with its binding strength: 1 sums, 2 products, 3 powers, 4 closed
Piece = tuple[str, int]


def _closed(piece: Piece, strength: int) -> str:
    return piece[0] if piece[1] >= strength else f"({piece[0]})"


def _infix(sign: str, strength: int, right: int) -> Callable[..., Piece]:
    return lambda a, b: (f"{_closed(a, strength)}{sign}{_closed(b, right)}", strength)


def _call(name: str) -> Callable[..., Piece]:
    return lambda *arguments: (f"{name}({', '.join(a[0] for a in arguments)})", 4)


def _subtract(a: Piece, b: Piece) -> Piece:
    return (f"−{_closed(b, 2)}", 1) if a[0] == "0" else (f"{_closed(a, 1)} − {_closed(b, 2)}", 1)


def _variable(variable: Variable) -> Piece:
    match variable.symbol:
        case Symbol.WEIGHT:
            return "W", 4
        case Symbol.NORM:
            return f"‖x‖{Norm(variable.index).subscript}", 4
        case Symbol.ROUNDING:
            return f"θ_{variable.index}", 4
        case Symbol.ORDER:
            return "α", 4
        case Symbol.PLACE:
            return f"λ_{variable.index}", 4
        case Symbol.RATIO:
            return f"s{Norm(variable.index).subscript}", 4


def _constant(value: Fraction) -> Piece:
    bits = value.denominator.bit_length() - 1
    dyadic = bits > 20 and value.denominator == 1 << bits
    text = f"{value.numerator}/2^{bits}" if dyadic else str(value)
    return text, 2 if value.denominator != 1 else 4 if value >= 0 else 1


_OPERATIONS: dict[Operation, Callable[..., Piece]] = {
    Operation.ADD: _infix(" + ", 1, 1),
    Operation.SUBTRACT: _subtract,
    Operation.MULTIPLY: _infix("·", 2, 2),
    Operation.DIVIDE: _infix(" / ", 2, 3),
    Operation.MINIMUM: _call("min"),
    Operation.MAXIMUM: _call("max"),
    Operation.EXP: _call("exp"),
    Operation.EXPM1: _call("expm1"),
    Operation.LOG: _call("log"),
    Operation.LOG1P: _call("log1p"),
    Operation.SQRT: _call("√"),
    Operation.SELECT: lambda a, b, x, y: (f"[{a[0]} ≤ {b[0]} ? {x[0]} : {y[0]}]", 4),
}


def _power(base: Piece, exponent: Fraction) -> Piece:
    return f"{_closed(base, 4)}^{_closed(_constant(exponent), 4)}", 3


def text(root: Expression) -> str:
    """`root` in mathematical notation."""
    return fold(root, Algebra(_constant, _variable, _power, _OPERATIONS))[0]
