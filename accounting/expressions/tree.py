"""The expression tree: a closed grammar in which losses, rates and profiles are written once.

Symbols: W is the weight with which a record enters (at least 1), ‖x‖_p its norms (at least 0), θ a rounding
variable in [-1, 1], s the ratio of two norms of one record (above 0), α a Rényi order (above 1), λ the place of a
released parameter between the ends of its public range, in [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar, final

from attrs import field, frozen

from ..errors import InvalidType, InvalidValue
from ..exact import Number, exact
from ..norms import Norm

T = TypeVar("T")


class Operation(Enum):
    """The closed list of operations; the value is the name in serialised form."""

    ADD = "add"
    SUBTRACT = "subtract"
    MULTIPLY = "multiply"
    DIVIDE = "divide"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    EXP = "exp"
    EXPM1 = "expm1"
    LOG = "log"
    LOG1P = "log1p"
    SQRT = "sqrt"
    SELECT = "select"


ARITY: Mapping[Operation, int] = {
    Operation.ADD: 2,
    Operation.SUBTRACT: 2,
    Operation.MULTIPLY: 2,
    Operation.DIVIDE: 2,
    Operation.MINIMUM: 2,
    Operation.MAXIMUM: 2,
    Operation.EXP: 1,
    Operation.EXPM1: 1,
    Operation.LOG: 1,
    Operation.LOG1P: 1,
    Operation.SQRT: 1,
    Operation.SELECT: 4,
}
"""How many arguments each operation takes."""


class Symbol(Enum):
    """What a variable stands for; the value is the name in serialised form."""

    WEIGHT = "weight"
    NORM = "norm"
    ROUNDING = "rounding"
    RATIO = "ratio"
    ORDER = "order"
    PLACE = "place"


class Expression:
    """A node of the tree. Expressions are immutable, hashable, and built with the usual operators.

    >>> print(W * norm(1) / "160")
    W·‖x‖₁ / 160
    """

    __slots__ = ()

    def __add__(self, other: Operand) -> Expression:
        return Apply(Operation.ADD, (self, expression(other)))

    def __radd__(self, other: Operand) -> Expression:
        return Apply(Operation.ADD, (expression(other), self))

    def __sub__(self, other: Operand) -> Expression:
        return Apply(Operation.SUBTRACT, (self, expression(other)))

    def __rsub__(self, other: Operand) -> Expression:
        return Apply(Operation.SUBTRACT, (expression(other), self))

    def __mul__(self, other: Operand) -> Expression:
        return Apply(Operation.MULTIPLY, (self, expression(other)))

    def __rmul__(self, other: Operand) -> Expression:
        return Apply(Operation.MULTIPLY, (expression(other), self))

    def __truediv__(self, other: Operand) -> Expression:
        return Apply(Operation.DIVIDE, (self, expression(other)))

    def __rtruediv__(self, other: Operand) -> Expression:
        return Apply(Operation.DIVIDE, (expression(other), self))

    def __neg__(self) -> Expression:
        return Apply(Operation.SUBTRACT, (ZERO, self))

    def __pow__(self, exponent: Number) -> Expression:
        return Power(self, exact(exponent, parameter="exponent"))

    def __bool__(self) -> bool:
        raise InvalidType("expression", self, "no truth value", "Compare values or enclosures, not expressions")

    def __str__(self) -> str:
        return text(self)


E = TypeVar("E", bound=type[Expression])


def _equals_expressions_alone(kind: E) -> E:
    """A class of nodes that refuse to be compared with a number: a branch on that would depend on how it is written."""
    same: Callable[[Any, object], Any] = kind.__eq__

    def equal(self: Expression, other: object) -> Any:
        found = same(self, other)
        if found is NotImplemented and not isinstance(other, Expression | None):
            bool(self)
        return found

    kind.__eq__ = equal  # type: ignore[method-assign, assignment]
    return kind


@final
@_equals_expressions_alone
@frozen(repr=False, cache_hash=True)
class Constant(Expression):
    """An expression that is an exact rational number."""

    value: Fraction

    def __repr__(self) -> str:
        return f"Constant({self.value})"


@final
@_equals_expressions_alone
@frozen(repr=False, cache_hash=True)
class Variable(Expression):
    """A weight, a norm, a rounding variable or a ratio of norms; `index` says which one."""

    symbol: Symbol
    index: str = ""

    @property
    def name(self) -> str:
        """The name in certificates and messages: "weight", "norm(1)", "rounding(rate)"."""
        return f"{self.symbol.value}({self.index})" if self.index else self.symbol.value

    def __repr__(self) -> str:
        return self.name


def _checked_arity(apply: Apply, _: object, arguments: tuple[Expression, ...]) -> None:
    if len(arguments) != ARITY[apply.operation]:
        raise InvalidValue(apply.operation.value, len(arguments), f"{ARITY[apply.operation]} arguments")


@final
@_equals_expressions_alone
@frozen(repr=False, cache_hash=True)
class Apply(Expression):
    """An operation applied to its arguments. SELECT(a, b, x, y) is x where a ≤ b and y elsewhere."""

    operation: Operation
    arguments: tuple[Expression, ...] = field(validator=_checked_arity)

    def __repr__(self) -> str:
        return f"{self.operation.value}{self.arguments!r}"


@final
@_equals_expressions_alone
@frozen(repr=False, cache_hash=True)
class Power(Expression):
    """A base to a fixed rational exponent; the base must not be negative unless the exponent is an integer."""

    base: Expression
    exponent: Fraction

    def __repr__(self) -> str:
        return f"power({self.base!r}, {self.exponent})"


Operand: TypeAlias = Expression | int | float | str | Fraction
"""What the operators accept beside an expression: exact numbers."""

ZERO = Constant(Fraction(0))
ONE = Constant(Fraction(1))
W = Variable(Symbol.WEIGHT)
"""The weight with which a record enters the mechanism."""
ORDER = Variable(Symbol.ORDER)
"""The Rényi order α, for mechanisms that declare τ(α; W, x)."""


def expression(value: Operand) -> Expression:
    """`value` itself, or the constant that an exact number is."""
    return value if isinstance(value, Expression) else Constant(exact(value, parameter="constant"))


def norm(order: Norm | Number) -> Variable:
    """The norm ‖x‖_p of the record, p being a number ≥ 1 or "inf".

    Raises:
        InvalidValue: for another order.
        InvalidType: for what is no number.
    """
    return Variable(Symbol.NORM, Norm.of(order).value)


def rounding(of: str) -> Variable:
    """A rounding variable in [-1, 1], named after the quantity that is rounded."""
    return Variable(Symbol.ROUNDING, of)


def between(low: Fraction, high: Fraction, of: str) -> Expression:
    """What lies between two public ends, as an expression in its place λ in [0, 1], named after the quantity."""
    return low + (high - low) * Variable(Symbol.PLACE, of)


def minimum(first: Operand, second: Operand) -> Expression:
    """Return the expression of the smaller of two expressions."""
    return Apply(Operation.MINIMUM, (expression(first), expression(second)))


def maximum(first: Operand, second: Operand) -> Expression:
    """Return the expression of the larger of two expressions."""
    return Apply(Operation.MAXIMUM, (expression(first), expression(second)))


def exp(argument: Operand) -> Expression:
    """Return the expression e^argument."""
    return Apply(Operation.EXP, (expression(argument),))


def expm1(argument: Operand) -> Expression:
    """Return the expression e^argument − 1."""
    return Apply(Operation.EXPM1, (expression(argument),))


def log(argument: Operand) -> Expression:
    """Return the expression of the natural logarithm of the argument."""
    return Apply(Operation.LOG, (expression(argument),))


def log1p(argument: Operand) -> Expression:
    """Return the expression log(1 + argument)."""
    return Apply(Operation.LOG1P, (expression(argument),))


def sqrt(argument: Operand) -> Expression:
    """Return the expression of the square root of the argument."""
    return Apply(Operation.SQRT, (expression(argument),))


def select(left: Expression, right: Expression, if_at_most: Expression, otherwise: Expression) -> Expression:
    """`if_at_most` where left ≤ right, `otherwise` elsewhere."""
    return Apply(Operation.SELECT, (left, right, if_at_most, otherwise))


@frozen
class Algebra(Generic[T]):
    """One interpretation of the grammar: a table from nodes to values of T."""

    constant: Callable[[Fraction], T]
    variable: Callable[[Variable], T]
    power: Callable[[T, Fraction], T]
    operations: Mapping[Operation, Callable[..., T]]


def fold(root: Expression, algebra: Algebra[T]) -> T:
    """The value of `root` under `algebra`; equal subtrees are evaluated once."""
    return _value(root, algebra, {})


def _value(node: Expression, algebra: Algebra[T], known: dict[Expression, T]) -> T:
    # no closure that calls itself: it would hold arrays until cycles are next looked for
    if node not in known:
        known[node] = _interpret(node, algebra, known)
    return known[node]


def _interpret(node: Expression, algebra: Algebra[T], known: dict[Expression, T]) -> T:
    match node:
        case Constant():
            return algebra.constant(node.value)
        case Variable():
            return algebra.variable(node)
        case Power():
            return algebra.power(_value(node.base, algebra, known), node.exponent)
        case Apply():
            value = partial(_value, algebra=algebra, known=known)
            return algebra.operations[node.operation](*map(value, node.arguments))
    raise InvalidType("expression", node, "a node of the grammar")


def rebuilt(variable: Callable[[Variable], Expression]) -> Algebra[Expression]:
    """The algebra that rebuilds a tree with its variables replaced."""

    def builder(operation: Operation) -> Callable[..., Expression]:
        return lambda *arguments: Apply(operation, arguments)

    return Algebra(Constant, variable, Power, {operation: builder(operation) for operation in Operation})


def substitute(root: Expression, values: Mapping[Variable, Expression]) -> Expression:
    """Return the expression `root` with variables replaced by expressions."""
    return fold(root, rebuilt(lambda variable: values.get(variable, variable)))


def deciding(root: Expression) -> frozenset[Variable]:
    """The variables in the conditions of selections; along every other one `root` has no jumps."""

    nothing = frozenset[Variable]()

    # of each node: the variables that occur, and those among them that decide a selection
    def union(
        *parts: tuple[frozenset[Variable], frozenset[Variable]],
    ) -> tuple[frozenset[Variable], frozenset[Variable]]:
        return nothing.union(*(part[0] for part in parts)), nothing.union(*(part[1] for part in parts))

    def selection(
        *parts: tuple[frozenset[Variable], frozenset[Variable]],
    ) -> tuple[frozenset[Variable], frozenset[Variable]]:
        occurring, jumping = union(*parts)
        return occurring, jumping | parts[0][0] | parts[1][0]

    return fold(
        root,
        Algebra(
            lambda _: (nothing, nothing),
            lambda variable: (frozenset({variable}), nothing),
            lambda base, _: base,
            {**dict.fromkeys(Operation, union), Operation.SELECT: selection},
        ),
    )[1]


def variables(root: Expression) -> frozenset[Variable]:
    """Return the variables that occur in the expression `root`."""

    def union(*parts: frozenset[Variable]) -> frozenset[Variable]:
        return frozenset[Variable]().union(*parts)

    return fold(
        root,
        Algebra(
            lambda _: frozenset(),
            lambda variable: frozenset({variable}),
            lambda base, _: base,
            dict.fromkeys(Operation, union),
        ),
    )


# As people read them: a text with its binding strength: 1 sums, 2 products, 3 powers, 4 closed
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
    """Write the expression `root` in mathematical notation."""
    return fold(root, Algebra(_constant, _variable, _power, _OPERATIONS))[0]
