"""Independent oracles for expressions, and hypothesis strategies over their whole grammar.

Nothing here calls the library's own interpreters: trees are read node by node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import Any

import flint
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from certdp.accounting.expressions import ARITY, Apply, Constant, Expression, Operation, Power, Symbol, Variable
from tests.support.arb_numbers import arb_of, fraction_of

Values = Mapping[Variable, Any]
VARIABLES = (
    Variable(Symbol.WEIGHT),
    Variable(Symbol.NORM, "1"),
    Variable(Symbol.NORM, "2"),
    Variable(Symbol.NORM, "inf"),
    Variable(Symbol.ROUNDING, "rate"),
    Variable(Symbol.ROUNDING, "weight.1"),
    Variable(Symbol.ORDER),
)
EXPONENTS = (-2, -1, "-1/2", 0, "1/3", "1/2", 1, "3/2", 2, 3)
LARGEST = flint.arb(2) ** 4000


class Undefined(Exception):
    """The oracle cannot say that the expression has a value here."""


def ball(value: Any) -> flint.arb:
    if isinstance(value, Fraction):
        return arb_of(value)
    return flint.arb(value)


def checked(value: flint.arb) -> flint.arb:
    if not value.is_finite() or not abs(value) < LARGEST:
        raise Undefined
    return value


def arb_power(base: flint.arb, exponent: Fraction) -> flint.arb:
    if exponent.denominator == 1:
        if exponent < 0 and not base != 0:
            raise Undefined
        return base ** int(exponent)
    if base == 0 and exponent > 0:
        return flint.arb(0)
    if not base > 0:
        raise Undefined
    return (base.log() * ball(exponent)).exp()


def arb_apply(operation: Operation, arguments: Sequence[flint.arb]) -> flint.arb:
    a = arguments[0]
    b, x, y = (*arguments[1:], a, a, a)[:3]
    match operation:
        case Operation.ADD:
            return a + b
        case Operation.SUBTRACT:
            return a - b
        case Operation.MULTIPLY:
            return a * b
        case Operation.DIVIDE:
            if not b != 0:
                raise Undefined
            return a / b
        case Operation.MINIMUM:
            return a.min(b)
        case Operation.MAXIMUM:
            return a.max(b)
        case Operation.EXP:
            return a.exp()
        case Operation.EXPM1:
            return a.expm1()
        case Operation.LOG | Operation.LOG1P:
            if not a > (0 if operation is Operation.LOG else -1):
                raise Undefined
            return a.log() if operation is Operation.LOG else a.log1p()
        case Operation.SQRT:
            if not a >= 0:
                raise Undefined
            return a.sqrt()
        case Operation.SELECT:
            if a <= b:
                return x
            if a > b:
                return y
            raise Undefined


def arb_at(root: Expression, values: Values, bits: int = 400) -> flint.arb | None:
    """A ball around the value of `root` at exact `values`, or None where the oracle knows of none."""
    before, flint.ctx.prec = flint.ctx.prec, bits

    def value(node: Expression) -> flint.arb:
        match node:
            case Constant():
                return ball(node.value)
            case Variable():
                return ball(values[node])
            case Power():
                return checked(arb_power(value(node.base), node.exponent))
            case Apply():
                return checked(arb_apply(node.operation, [value(argument) for argument in node.arguments]))
        raise AssertionError(node)

    try:
        return value(root)
    except Undefined:
        return None
    finally:
        flint.ctx.prec = before


def exact_at(root: Expression, values: Mapping[Variable, Fraction]) -> Fraction | None:
    """The exact value of a tree of rational operations, or None at a pole."""
    try:
        return _exact(root, values)
    except ZeroDivisionError:
        return None


def _exact(node: Expression, values: Mapping[Variable, Fraction]) -> Fraction:
    match node:
        case Constant():
            return node.value
        case Variable():
            return values[node]
        case Power():
            return Fraction(_exact(node.base, values) ** node.exponent.numerator)
        case Apply():
            a, b, *rest = (_exact(argument, values) for argument in node.arguments)
            match node.operation:
                case Operation.ADD:
                    return a + b
                case Operation.SUBTRACT:
                    return a - b
                case Operation.MULTIPLY:
                    return a * b
                case Operation.DIVIDE:
                    return a / b
                case Operation.MINIMUM:
                    return min(a, b)
                case Operation.MAXIMUM:
                    return max(a, b)
                case Operation.SELECT:
                    return rest[0] if a <= b else rest[1]
    raise AssertionError(node)


def ends_of(value: flint.arb) -> tuple[Fraction, Fraction]:
    """Exact rationals below and above everything in a ball."""
    return fraction_of(value.mid()) - fraction_of(value.rad()), fraction_of(value.mid()) + fraction_of(value.rad())


CONSTANTS: SearchStrategy[Fraction] = st.one_of(
    st.integers(-4, 4).map(Fraction), st.integers(-36, 36).map(lambda n: Fraction(n, 12))
)
RATIONAL = (
    Operation.ADD,
    Operation.SUBTRACT,
    Operation.MULTIPLY,
    Operation.DIVIDE,
    Operation.MINIMUM,
    Operation.MAXIMUM,
    Operation.SELECT,
)
MODELLED = (
    Operation.ADD,
    Operation.MULTIPLY,
    Operation.DIVIDE,
    Operation.MINIMUM,
    Operation.MAXIMUM,
    Operation.SQRT,
)


def _trees(
    operations: Sequence[Operation],
    exponents: Sequence[Any],
    constants: SearchStrategy[Fraction] = CONSTANTS,
    leaves: Sequence[Variable] = VARIABLES,
    size: int = 12,
) -> SearchStrategy[Expression]:
    def grown(parts: SearchStrategy[Expression]) -> SearchStrategy[Expression]:
        def applied(operation: Operation) -> SearchStrategy[Expression]:
            arguments = st.tuples(*[parts] * ARITY[operation])
            return arguments.map(lambda chosen: Apply(operation, chosen))

        powers = st.builds(Power, parts, st.sampled_from([Fraction(e) for e in exponents]))
        return st.one_of(*map(applied, operations), powers)

    return st.recursive(st.sampled_from(leaves) | constants.map(Constant), grown, max_leaves=size)


@pytest.fixture(scope="session")
def trees() -> SearchStrategy[Expression]:
    """Trees over the whole grammar."""
    return _trees(tuple(Operation), EXPONENTS)


@pytest.fixture(scope="session")
def rational_trees() -> SearchStrategy[Expression]:
    """Trees whose value at rational points is rational."""
    return _trees(RATIONAL, (-2, -1, 0, 1, 2, 3))


@pytest.fixture(scope="session")
def positive_trees() -> SearchStrategy[Expression]:
    """Trees of non-negative parts inside the rounding model of the bulk bounds, with extreme constants."""
    extreme = st.floats(0, allow_infinity=False).map(Fraction) | st.fractions(0, 50, max_denominator=99)
    return _trees(MODELLED, (1, 2, 3), constants=extreme, leaves=VARIABLES[:4], size=8)


def _between(low: int, high: int) -> SearchStrategy[Fraction]:
    return st.integers(12 * low, 12 * high).map(lambda n: Fraction(n, 12))


def _side(variable: Variable) -> tuple[int, int]:
    match variable.symbol:
        case Symbol.ROUNDING:
            return -1, 1
        case Symbol.WEIGHT | Symbol.ORDER:
            return 1, 6
    return 0, 5


@pytest.fixture(scope="session")
def points() -> SearchStrategy[dict[Variable, Fraction]]:
    """Admissible values of every variable, with the ends of their ranges."""
    return st.fixed_dictionaries({v: _between(*_side(v)) for v in VARIABLES})


@pytest.fixture(scope="session")
def boxes() -> SearchStrategy[dict[Variable, tuple[Fraction, Fraction]]]:
    """An admissible interval for every variable, points among them."""

    def interval(variable: Variable) -> SearchStrategy[tuple[Fraction, Fraction]]:
        end = _between(*_side(variable))
        return st.tuples(end, end).map(lambda ends: (min(ends), max(ends)))

    return st.fixed_dictionaries({v: interval(v) for v in VARIABLES})


@pytest.fixture(scope="session")
def arb() -> Callable[..., flint.arb | None]:
    """The value of an expression in Arb."""
    return arb_at


@pytest.fixture(scope="session")
def exactly() -> Callable[..., Fraction | None]:
    """The value of a rational expression in Fractions."""
    return exact_at


@pytest.fixture(scope="session")
def ends() -> Callable[[flint.arb], tuple[Fraction, Fraction]]:
    """The ends of a ball as Fractions."""
    return ends_of


@pytest.fixture(scope="session")
def bits() -> Callable[[int], AbstractContextManager[None]]:
    """A context with another working precision of Arb."""

    @contextmanager
    def context(precision: int) -> Iterator[None]:
        before, flint.ctx.prec = flint.ctx.prec, precision
        try:
            yield
        finally:
            flint.ctx.prec = before

    return context
