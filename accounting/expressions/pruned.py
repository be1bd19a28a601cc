"""Pruning: minima, maxima and selections whose order is decided on a box are replaced by the chosen branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from attrs import frozen

from .ranges import Range, ranges
from .tree import Algebra, Apply, Constant, Expression, Operation, Power, Variable, fold


@frozen
class _Bounded:
    node: Expression
    range: Range


def _at_most(a: Range, b: Range) -> bool:
    return a.upper is not None and b.lower is not None and a.upper <= b.lower


def prune(root: Expression, known: Mapping[Variable, Range]) -> Expression:
    """An expression with the values of `root` wherever its variables lie in the `known` ranges."""
    bounds = ranges(known)

    def kept(operation: Operation) -> Callable[..., _Bounded]:
        def applied(*arguments: _Bounded) -> _Bounded:
            return _Bounded(
                Apply(operation, tuple(argument.node for argument in arguments)),
                bounds.operations[operation](*(argument.range for argument in arguments)),
            )

        return applied

    def chosen(operation: Operation, first: int, second: int) -> Callable[..., _Bounded]:
        """Argument `first` where the leading two are decided ≤, `second` where they are decided ≥."""
        rule = kept(operation)

        def applied(*arguments: _Bounded) -> _Bounded:
            left, right = arguments[:2]
            if _at_most(left.range, right.range):
                return arguments[first]
            strict = operation is not Operation.SELECT or left.range.lower != right.range.upper
            return arguments[second] if strict and _at_most(right.range, left.range) else rule(*arguments)

        return applied

    def power(base: _Bounded, exponent: Fraction) -> _Bounded:
        return _Bounded(Power(base.node, exponent), bounds.power(base.range, exponent))

    operations = {operation: kept(operation) for operation in Operation}
    operations[Operation.MINIMUM] = chosen(Operation.MINIMUM, 0, 1)
    operations[Operation.MAXIMUM] = chosen(Operation.MAXIMUM, 1, 0)
    operations[Operation.SELECT] = chosen(Operation.SELECT, 2, 3)
    algebra = Algebra(
        lambda value: _Bounded(Constant(value), bounds.constant(value)),
        lambda variable: _Bounded(variable, bounds.variable(variable)),
        power,
        operations,
    )
    return fold(root, algebra).node
