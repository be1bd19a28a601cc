"""The serialised form of expressions: nested lists of names and exact rationals, as certificates carry them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ..errors import InvalidValue
from ..exact import exact, ratio_text
from ..norms import Norm
from .tree import ARITY, Algebra, Apply, Constant, Expression, Operation, Power, Symbol, Variable, fold

Serialised: TypeAlias = list["str | Serialised"]

# a composition tells the roundings of its parts apart by number: "rate.0"
_ROUNDING = re.compile(r"(rate|weight)(\.(0|[1-9][0-9]*))*")


def _is_norm(index: str) -> bool:
    """Whether `index` is the canonical text of a norm's order."""
    try:
        return Norm(index).value == index
    except InvalidValue:
        return False


_INDEX: dict[Symbol, Callable[[str], bool]] = {
    Symbol.NORM: _is_norm,
    Symbol.ROUNDING: lambda index: _ROUNDING.fullmatch(index) is not None,
}


def _variable(variable: Variable) -> Serialised:
    return [variable.symbol.value, variable.index] if variable.index else [variable.symbol.value]


def serialise(root: Expression) -> Serialised:
    """`root` as nested lists: ["multiply", ["weight"], ["norm", "1"]].

    >>> from .tree import W, norm
    >>> serialise(W * norm(1))
    ['multiply', ['weight'], ['norm', '1']]
    """

    def applied(operation: Operation) -> Callable[..., Serialised]:
        return lambda *arguments: [operation.value, *arguments]

    algebra: Algebra[Serialised] = Algebra(
        lambda value: ["constant", ratio_text(value)],
        _variable,
        lambda base, exponent: ["power", base, ratio_text(exponent)],
        {operation: applied(operation) for operation in Operation},
    )
    return fold(root, algebra)


def _refuse(data: object) -> InvalidValue:
    return InvalidValue("expression", data, "a serialised expression of the closed grammar")


def deserialise(data: object) -> Expression:
    """The expression that `data` is the serialised form of.

    Raises:
        InvalidValue: for anything outside the grammar.
    """
    if not isinstance(data, Sequence) or isinstance(data, str) or not data or not isinstance(data[0], str):
        raise _refuse(data)
    name, *arguments = data
    match name, arguments:
        case "constant", [str(number)]:
            return Constant(exact(number))
        case "power", [base, str(exponent)]:
            return Power(deserialise(base), exact(exponent))
        case (("weight" | "order"), []):
            return Variable(Symbol(name))
        case (("norm" | "rounding"), [str(index)]) if _INDEX[Symbol(name)](index):
            return Variable(Symbol(name), index)
        case str(), _ if name in {o.value for o in Operation} and len(arguments) == ARITY[Operation(name)]:
            return Apply(Operation(name), tuple(deserialise(argument) for argument in arguments))
    raise _refuse(data)
