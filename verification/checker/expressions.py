"""Expressions of a certificate, shared as nodes of one pool: equal expressions are the same node.

A node's arguments come before it, so whatever walks an expression is a loop over ascending node numbers:
no recursion, and no cost for sharing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from fractions import Fraction
from typing import Any, Final, NamedTuple

from . import intervals
from .budget import MOST_WORK_FOR_A_RECORD, PRODUCT, SERIES, SUM, Budget
from .intervals import (
    FRACTION,
    LINE,
    MINUS_ONE,
    NOTHING,
    ONE,
    OPERATIONS,
    ZERO,
    Arithmetic,
    Interval,
    at_most,
)
from .norms import is_order
from .shapes import rational
from .verdict import Refused

MOST_NODES = 10_000
MOST_DEPTH = 200
LARGEST_POWER = 4096
MOST_NORMS = 16
_WEIGHTS: Final[dict[str, int]] = {
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "power"), SERIES),
    **dict.fromkeys(("multiply", "divide", "sqrt"), PRODUCT),
}
_PER_SLOPE: Final = 3 * PRODUCT
"""For a derivative by the chain rule."""
_PER_FACTOR: Final = 100
_PER_NODE: Final = 10_000
"""For a range in exact rational numbers."""

Box = Mapping[str, Interval]
"""A range for each variable by name."""

_ARITY: Final = {
    **dict.fromkeys(("add", "subtract", "multiply", "divide", "minimum", "maximum"), 2),
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "sqrt"), 1),
    "select": 4,
}
_CHOICES: Final = ("minimum", "maximum", "select")
WEIGHT: Final = "weight"
ORDER: Final = "order"
"""Of a Renyi divergence."""


def norm(p: str) -> str:
    """Name the variable of a record's norm."""
    return f"norm({p})"


def rounding(of: str) -> str:
    """Name the variable, in [-1, 1], of a rounding."""
    return f"rounding({of})"


def order_of(variable: str) -> str | None:
    """Give the order of the norm that a variable names, if it names one."""
    return variable[5:-1] if variable.startswith("norm(") else None


def _variable(operation: str, indices: list[str]) -> str | None:
    """Name a variable of the grammar."""
    match operation, indices:
        case "weight", []:
            return WEIGHT
        case "order", []:
            return ORDER
        case "norm", [p] if is_order(p):
            return norm(p)
        case "rounding", ["rate" | "weight" as of]:
            return rounding(of)
    return None


class Node(NamedTuple):
    """An operation on earlier nodes; `value` is a constant, an exponent or the name of a variable."""

    operation: str
    arguments: tuple[int, ...]
    value: Fraction | str | None


class Evaluation(NamedTuple):
    """The range of every node over a box, and whether every operation is defined on all of it."""

    values: dict[int, Interval]
    regular: bool


class Pool:
    """The expressions of one check, or of one part of it; what is computed of them is taken from a budget."""

    def __init__(self, budget: Budget | None = None) -> None:
        """Start empty, with that of one check unless a budget is shared."""
        self.nodes: list[Node] = []
        self._norms: set[str] = set()
        self._budget = Budget() if budget is None else budget
        self._numbers: dict[Node, int] = {}
        self._factors: dict[int, dict[int, int]] = {}
        self._programs: dict[int, list[int]] = {}
        self._costs: dict[int, int] = {}
        self._constants: dict[tuple[int, int], Interval] = {}

    def for_a_record(self) -> "Pool":
        """Give a pool of the same expressions, with a budget for one record of data."""
        same = copy(self)
        same._budget = Budget(MOST_WORK_FOR_A_RECORD)
        return same

    # Building.

    def node(self, operation: str, *arguments: int, value: Fraction | str | None = None) -> int:
        """Give the number of this node."""
        node = Node(operation, arguments, value)
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self._numbers[node]

    def constant(self, value: Fraction | int) -> int:
        """Give the number of the node of a constant."""
        return self.node("constant", value=Fraction(value))

    def variable(self, name: str) -> int:
        """Give the number of the node of a variable."""
        return self.node("variable", value=name)

    def parse(self, tree: Any, where: str) -> int:
        """Read the nested arrays of a certificate, of bounded size and depth."""
        budget = [MOST_NODES]

        def read(tree: Any, depth: int) -> int:
            budget[0] -= 1
            if depth > MOST_DEPTH or budget[0] < 0:
                raise Refused(f"{where} has more than {MOST_NODES} nodes or a depth over {MOST_DEPTH}")
            if type(tree) is not list or not tree or type(tree[0]) is not str:
                raise Refused(f"{where} holds something that is no expression")
            operation, *rest = tree
            if operation == "constant" and len(rest) == 1:
                return self.constant(rational(rest[0], where))
            if operation == "power" and len(rest) == 2:
                exponent = rational(rest[1], where)
                if abs(exponent) > LARGEST_POWER:
                    raise Refused(f"{where} has an exponent beyond {LARGEST_POWER}")
                return self.node("power", read(rest[0], depth + 1), value=exponent)
            if all(type(item) is str for item in rest) and (name := _variable(operation, rest)) is not None:
                if order_of(name) is not None:
                    self._norms.add(name)
                if len(self._norms) > MOST_NORMS:
                    raise Refused(f"{where} has more than {MOST_NORMS} different norms")
                return self.variable(name)
            if _ARITY.get(operation) != len(rest):
                raise Refused(f"{where} holds an unknown operation or one with the wrong operands")
            return self.node(operation, *(read(item, depth + 1) for item in rest))

        return read(tree, 1)

    # Walking.

    def program(self, root: int) -> list[int]:
        """List the nodes of an expression, arguments first."""
        if root not in self._programs:
            seen, open_nodes = {root}, [root]
            while open_nodes:
                fresh = set(self.nodes[open_nodes.pop()].arguments) - seen
                seen |= fresh
                open_nodes.extend(fresh)
            self._programs[root] = sorted(seen)
        return self._programs[root]

    def variables(self, root: int) -> set[str]:
        """Name the variables of an expression."""
        return {str(node.value) for node in self._walk(root) if node.operation == "variable"}

    def _walk(self, root: int) -> Iterable[Node]:
        return (self.nodes[number] for number in self.program(root))

    def replace(self, root: int, replacements: Mapping[int, int]) -> int:
        """Put expressions in the place of nodes."""
        new: dict[int, int] = {}
        for number in self.program(root):
            node = self.nodes[number]
            if number in replacements:
                new[number] = replacements[number]
            else:
                new[number] = self.node(node.operation, *(new[a] for a in node.arguments), value=node.value)
        return new[root]

    # Evaluating.

    def evaluate(self, root: int, box: Box, arithmetic: Arithmetic) -> Evaluation:
        """Enclose every node over the box, at the points where the expression is defined."""
        values: dict[int, Interval] = {}
        regular = True
        self._budget.operations(self._cost(root), arithmetic.precision)
        for number in self.program(root):
            operation, arguments, value = self.nodes[number]
            if operation == "variable":
                values[number] = box[value]  # type: ignore[index]
            elif operation == "constant":
                values[number] = self._constant(number, arithmetic)
            else:
                operands: list[Any] = [values[argument] for argument in arguments]
                if operation == "power":
                    operands.append(value)
                regular = regular and (operation not in _DEFINED or _DEFINED[operation](*operands))
                values[number] = OPERATIONS[operation](arithmetic, *operands)
        return Evaluation(values, regular)

    def _cost(self, root: int) -> int:
        """Give the weight of all operations."""
        if root not in self._costs:
            self._costs[root] = sum(_WEIGHTS.get(node.operation, SUM) for node in self._walk(root))
        return self._costs[root]

    def spend_on_rationals(self, root: int) -> None:
        """Take what a range of every node in exact numbers takes."""
        self._budget.spend(_PER_NODE * len(self.program(root)))

    def _constant(self, number: int, arithmetic: Arithmetic) -> Interval:
        key = number, arithmetic.precision
        if key not in self._constants:
            value = self.nodes[number].value
            assert isinstance(value, Fraction)
            self._constants[key] = arithmetic.rational(value)
        return self._constants[key]

    def gradient(self, root: int, values: Mapping[int, Interval], arithmetic: Arithmetic) -> dict[str, Interval]:
        """Enclose the generalised derivatives in each variable, by the chain rule from the root down.

        Guarantee: on a box where the expression is regular, the mean value theorem holds with these ranges.
        An undecided minimum is locally Lipschitz: its generalised derivative lies between those of its
        sides. An undecided select may jump, so whatever it uses gets the whole line.
        """
        program = self.program(root)
        self._budget.operations(self._cost(root) + _PER_SLOPE * len(program), arithmetic.precision)
        slopes = dict.fromkeys(program, NOTHING)
        slopes[root] = Interval(ONE, ONE)
        gradient: dict[str, Interval] = {}
        for number in reversed(program):
            operation, arguments, value = self.nodes[number]
            if operation == "variable":
                gradient[str(value)] = slopes[number]
            elif arguments:
                operands: list[Any] = [values[argument] for argument in arguments]
                if operation == "power":
                    operands.append(value)
                partials = _PARTIALS[operation](arithmetic, values[number], *operands)
                for argument, partial in zip(arguments, partials, strict=True):
                    step = arithmetic.multiply(slopes[number], partial)
                    slopes[argument] = arithmetic.add(slopes[argument], step)
        return gradient

    # Simplifying on a cell.

    def decided(self, root: int, values: Mapping[int, Interval]) -> dict[int, int]:
        """Map each minimum, maximum and select whose order is proven by these ranges to what it equals."""
        choice: dict[int, int] = {}
        for number in self.program(root):
            operation, arguments, _ = self.nodes[number]
            if operation in _CHOICES:
                a, b, *sides = arguments
                first, second = sides or ((a, b) if operation == "minimum" else (b, a))
                if at_most(values[a].hi, values[b].lo):
                    choice[number] = first
                elif at_most(values[b].hi, values[a].lo) and (not sides or values[b].hi != values[a].lo):
                    choice[number] = second
        return choice

    def simplify(self, root: int, choice: Mapping[int, int]) -> int:
        """Replace what is decided and cancel equal factors.

        Guarantee: the result equals the expression wherever that is defined and the choices hold.
        """
        new: dict[int, int] = {}
        for number in self.program(root):
            operation, arguments, value = self.nodes[number]
            if number in choice:
                new[number] = new[choice[number]]
                continue
            operands = [new[argument] for argument in arguments]
            exponents = _EXPONENTS.get(operation, ())
            match operation, value:
                case "power", Fraction(numerator=whole, denominator=1):
                    exponents = (whole,)
            if exponents:
                new[number] = self._product(operands, exponents)
            else:
                new[number] = self.node(operation, *operands, value=value)
        return new[root]

    def _product(self, operands: Sequence[int], exponents: Sequence[int]) -> int:
        """Multiply operands raised to whole exponents, each different factor once."""
        factors: dict[int, int] = {}
        for operand, exponent in zip(operands, exponents, strict=True):
            for base, times in self._factors.get(operand, {operand: 1}).items():
                factors[base] = factors.get(base, 0) + times * exponent
        self._budget.spend(_PER_FACTOR * len(factors))
        one = self.constant(1)
        factors = {base: times for base, times in sorted(factors.items()) if base != one}
        if any(abs(times) > LARGEST_POWER for times in factors.values()):
            raise Refused(f"a product has an exponent beyond {LARGEST_POWER}")
        over = self._chain([self._raised(base, times) for base, times in factors.items() if times > 0])
        under = self._chain([self._raised(base, -times) for base, times in factors.items() if times < 0])
        product = over if under == one else self.node("divide", over, under)
        self._factors[product] = factors
        return product

    def _raised(self, base: int, exponent: int) -> int:
        return base if exponent == 1 else self.node("power", base, value=Fraction(exponent))

    def _chain(self, factors: Sequence[int]) -> int:
        if not factors:
            return self.constant(1)
        product, *rest = factors
        for factor in rest:
            product = self.node("multiply", product, factor)
        return product


_EXPONENTS: Final[dict[str, tuple[int, ...]]] = {"multiply": (1, 1), "divide": (1, -1)}


def _power_defined(a: Interval, exponent: Fraction) -> bool:
    if exponent.denominator != 1 and not at_most(ZERO, a.lo):
        return False
    return exponent >= 0 or not intervals.holds_zero(a)


_DEFINED: Final[dict[str, Callable[..., bool]]] = {
    "divide": lambda a, b: not intervals.holds_zero(b),
    "log": lambda a: not at_most(a.lo, ZERO),
    "log1p": lambda a: not at_most(a.lo, MINUS_ONE),
    "sqrt": lambda a: at_most(ZERO, a.lo),
    "power": _power_defined,
}
"""Where an operation that is not defined everywhere is proven to be defined, and continuous."""

_ONE: Final = Interval(ONE, ONE)
_MINUS_ONE: Final = Interval(MINUS_ONE, MINUS_ONE)


def _power_partial(q: Arithmetic, v: Interval, a: Interval, exponent: Fraction) -> tuple[Interval]:
    return (q.multiply(q.rational(exponent), q.power(a, exponent - 1)),)


_PARTIALS: Final[dict[str, Callable[..., tuple[Interval, ...]]]] = {
    "add": lambda q, v, a, b: (_ONE, _ONE),
    "subtract": lambda q, v, a, b: (_ONE, _MINUS_ONE),
    "multiply": lambda q, v, a, b: (b, a),
    "divide": lambda q, v, a, b: (q.divide(_ONE, b), q.negate(q.divide(v, b))),
    "minimum": lambda q, v, a, b: (FRACTION, FRACTION),
    "maximum": lambda q, v, a, b: (FRACTION, FRACTION),
    "select": lambda q, v, *operands: (LINE,) * 4,
    "exp": lambda q, v, a: (v,),
    "expm1": lambda q, v, a: (q.exp(a),),
    "log": lambda q, v, a: (q.divide(_ONE, a),),
    "log1p": lambda q, v, a: (q.divide(_ONE, q.add(_ONE, a)),),
    "sqrt": lambda q, v, a: (q.divide(_ONE, q.add(v, v)),),
    "power": _power_partial,
}
"""The derivative of an operation in each operand, from the arithmetic, its value and its operands."""
