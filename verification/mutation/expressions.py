"""Mutants of the expressions that mechanisms and samplers declare: the same slips, made in the expression tree.

A loss or a rate is one formula; what is planted is a mechanism that declares another one and does what it did. The
conformance of a plugin can be asked the same question: `declared_mutants` takes any loss or rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar, final

import attrs
from attrs import frozen

from ...accounting.errors import InvalidValue
from ...accounting.expressions import (
    ONE,
    Apply,
    Constant,
    Expression,
    Operation,
    Power,
    Symbol,
    Variable,
    norm,
    simplify,
)

Declared = TypeVar("Declared")
"""A loss or a sampling rate: a frozen class some of whose attributes are expressions."""

_Slip: TypeAlias = tuple[str, Expression]

_EXCHANGED = {
    Operation.ADD: ("sign", Operation.SUBTRACT),
    Operation.SUBTRACT: ("sign", Operation.ADD),
    Operation.MINIMUM: ("swapped direction", Operation.MAXIMUM),
    Operation.MAXIMUM: ("swapped direction", Operation.MINIMUM),
    Operation.EXP: ("one more", Operation.EXPM1),
    Operation.EXPM1: ("one more", Operation.EXP),
    Operation.LOG: ("one more", Operation.LOG1P),
    Operation.LOG1P: ("one more", Operation.LOG),
}
_OTHER_NORMS = {"1": ("2", "inf"), "2": ("1", "inf"), "inf": ("2",)}


@final
@frozen
class ExpressionMutant:
    """An expression with one slip in it.

    Attributes:
        operator: name of the slip.
        expression: the whole expression with it.
    """

    operator: str
    expression: Expression


def expression_mutants(root: Expression) -> tuple[ExpressionMutant, ...]:
    """Every expression that differs from `root` by one slip and is not the same function by its normal form.

    The slips: a factor or divisor dropped, the whole doubled, no square or root, another norm, no weight, + for −,
    minimum for maximum, 1 more in a constant or an exponential, the other branch.
    """
    own = simplify(root)
    found = dict.fromkeys((("doubled factor", 2 * root), *_slips(root)))
    return tuple(ExpressionMutant(name, tree) for name, tree in found if simplify(tree) != own)


def declared_mutants(declared: Declared) -> Iterator[tuple[str, ExpressionMutant, Callable[[Declared], Declared]]]:
    """For a loss or a rate: each attribute that is an expression, a mutant of it, and what puts it in its place.

    Mutants that such a class refuses by itself, as it does negative losses, are left out: nobody can declare them.
    """
    fields: Any = attrs.fields(type(declared))  # type: ignore[arg-type]  # a frozen class
    for attribute in fields:
        tree = getattr(declared, attribute.name)
        if not isinstance(tree, Expression):
            continue
        for place, mutant in enumerate(expression_mutants(tree)):
            if _admitted(declared, attribute.name, mutant.expression):
                yield attribute.name, mutant, _Planted(attribute.name, place)


@final
@frozen
class _Planted:
    """Puts the mutant at one place of the list into the attribute of that name."""

    attribute: str
    place: int

    def __call__(self, declared: Any) -> Any:
        tree = getattr(declared, self.attribute, None)
        mutants = expression_mutants(tree) if isinstance(tree, Expression) else ()
        if self.place >= len(mutants):  # another form of the same mechanism, whose formula has fewer places
            return declared
        return attrs.evolve(declared, **{self.attribute: mutants[self.place].expression})


def _admitted(declared: Any, attribute: str, tree: Expression) -> bool:
    try:
        attrs.evolve(declared, **{attribute: tree})
    except InvalidValue:
        return False
    return True


def _slips(node: Expression) -> Iterator[_Slip]:
    """Slips at a node and below it."""
    yield from _here(node)
    match node:
        case Apply(operation, arguments):
            for place, argument in enumerate(arguments):
                for name, other in _slips(argument):
                    yield name, Apply(operation, (*arguments[:place], other, *arguments[place + 1 :]))
        case Power(base, exponent):
            for name, other in _slips(base):
                yield name, Power(other, exponent)


def _here(node: Expression) -> Iterator[_Slip]:
    match node:
        case Constant(value):
            yield "one more", Constant(value + 1)
        case Variable(Symbol.WEIGHT):
            yield "no weight", ONE
        case Variable(Symbol.NORM, order):
            yield from (("another norm", norm(other)) for other in _OTHER_NORMS.get(order, ("1", "2")))
        case Power(base, exponent) if exponent == 2:
            yield "missing square", base
        case Apply(Operation.SQRT, (base,)):
            yield "missing square", base
        case Apply(Operation.MULTIPLY, (left, right)):
            yield "dropped factor", left
            yield "dropped factor", right
        case Apply(Operation.DIVIDE, (left, _)):
            yield "dropped factor", left
        case Apply(Operation.SELECT, (low, high, body, otherwise)):
            yield "swapped branch", Apply(Operation.SELECT, (low, high, otherwise, body))
    if isinstance(node, Apply) and node.operation in _EXCHANGED:
        name, other = _EXCHANGED[node.operation]
        yield name, Apply(other, node.arguments)
