"""Simplification: like terms collected, products flattened, common factors cancelled.

A simplified expression equals the original wherever the original is defined; cancelling x/x can only enlarge
the domain of definition. A sum is a map from monomials to rational coefficients; a monomial is a set of
(atom, rational exponent) pairs. Products are not distributed over sums.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256

from attrs import evolve

from ..errors import InvalidType
from .ranges import range_of
from .tree import ONE, Algebra, Apply, Constant, Expression, Operation, Power, Symbol, Variable, fold

Monomial = frozenset[tuple[Expression, Fraction]]
Sum = dict[Monomial, Fraction]
_UNIT: Monomial = frozenset()
_HALF = Fraction(1, 2)
_LARGEST_EXPANDED = 16


def _atom(node: Expression) -> Sum:
    return {frozenset({(node, Fraction(1))}): Fraction(1)}


def _constant(value: Fraction) -> Sum:
    return {_UNIT: value} if value else {}


@lru_cache(maxsize=1 << 16)
def _rank(node: Expression) -> str:
    """A key that orders expressions the same way in every process: variables first, the rest by digest."""
    match node:
        case Variable():
            return f"0{list(Symbol).index(node.symbol)}{node.index}"
        case Constant():
            own = f"constant {node.value}"
        case Power():
            own = f"power {_rank(node.base)} {node.exponent}"
        case Apply():
            own = f"{node.operation.value} {' '.join(map(_rank, node.arguments))}"
        case _:
            raise InvalidType("expression", node, "a node of the grammar")
    return "1" + sha256(own.encode()).hexdigest()


def _order(pair: tuple[Expression, Fraction]) -> tuple[str, Fraction]:
    return _rank(pair[0]), pair[1]


def _product(factors: list[Expression]) -> Expression:
    result = factors[0]
    for factor in factors[1:]:
        result = Apply(Operation.MULTIPLY, (result, factor))
    return result


def _monomial(monomial: Monomial, coefficient: Fraction) -> Expression:
    above = [_powered(base, power) for base, power in sorted(monomial, key=_order) if power > 0]
    below = [_powered(base, -power) for base, power in sorted(monomial, key=_order) if power < 0]
    if coefficient != 1 or not above:
        above.insert(0, Constant(coefficient))
    numerator = _product(above)
    return Apply(Operation.DIVIDE, (numerator, _product(below))) if below else numerator


def _powered(base: Expression, exponent: Fraction) -> Expression:
    if exponent == 1:
        return base
    return Apply(Operation.SQRT, (base,)) if exponent == _HALF else Power(base, exponent)


def _expression(terms: Sum) -> Expression:
    ordered = sorted(terms.items(), key=lambda item: sorted(map(_order, item[0])))
    parts = [_monomial(monomial, coefficient) for monomial, coefficient in ordered]
    if not parts:
        return Constant(Fraction(0))
    result = parts[0]
    for part in parts[1:]:
        result = Apply(Operation.ADD, (result, part))
    return result


def _single(terms: Sum) -> tuple[Monomial, Fraction]:
    """The sum as one coefficient times one monomial; several terms become an atom."""
    if not terms:
        return _UNIT, Fraction(0)
    if len(terms) == 1:
        return next(iter(terms.items()))
    return next(iter(_atom(_expression(terms)).items()))


def _add(a: Sum, b: Sum) -> Sum:
    result = dict(a)
    for monomial, coefficient in b.items():
        total = result.get(monomial, Fraction(0)) + coefficient
        if total:
            result[monomial] = total
        else:
            del result[monomial]
    return result


def _scaled(a: Sum, factor: Fraction) -> Sum:
    return {monomial: coefficient * factor for monomial, coefficient in a.items()} if factor else {}


def _is_constant(a: Sum) -> bool:
    return not a or set(a) == {_UNIT}


def _multiply(a: Sum, b: Sum) -> Sum:
    for one, other in ((a, b), (b, a)):
        if _is_constant(one):
            return _scaled(other, one.get(_UNIT, Fraction(0)))
    (left, first), (right, second) = _single(a), _single(b)
    exponents = dict(left)
    for base, exponent in right:
        exponents[base] = exponents.get(base, Fraction(0)) + exponent
    return {frozenset((base, e) for base, e in exponents.items() if e): first * second}


def _power(base: Sum, exponent: Fraction) -> Sum:
    if exponent == 0:
        return _constant(Fraction(1))
    monomial, coefficient = _single(base)
    integer = exponent.denominator == 1
    if coefficient == 0:
        return {} if exponent > 0 else _atom(Power(_expression(base), exponent))
    # (abc)^e = a^e b^e c^e needs non-negative factors unless e is an integer
    splits = integer or all(range_of(atom).non_negative for atom, _ in monomial)
    if splits and (integer or coefficient == 1):
        powered = coefficient**exponent.numerator if integer else coefficient
        return {frozenset((atom, e * exponent) for atom, e in monomial): powered}
    return _atom(_powered(_expression(base), exponent))


def _divide(a: Sum, b: Sum) -> Sum:
    if not b:
        return _atom(Apply(Operation.DIVIDE, (_expression(a), Constant(Fraction(0)))))
    return _multiply(a, _power(b, Fraction(-1)))


def _extremum(operation: Operation, choose: Callable[[Fraction, Fraction], Fraction]) -> Callable[..., Sum]:
    def combined(a: Sum, b: Sum) -> Sum:
        if a == b:
            return a
        if _is_constant(a) and _is_constant(b):
            return _constant(choose(a.get(_UNIT, Fraction(0)), b.get(_UNIT, Fraction(0))))
        return _atom(Apply(operation, (_expression(a), _expression(b))))

    return combined


def _function(operation: Operation, inverse: Operation | None, fixed: Fraction) -> Callable[..., Sum]:
    """An elementary function; `inverse` undoes it and `fixed` is the argument whose value is the other unit."""
    value_at_fixed = {Operation.EXP: Fraction(1)}.get(operation, Fraction(0))

    def applied(a: Sum) -> Sum:
        if _is_constant(a) and a.get(_UNIT, Fraction(0)) == fixed:
            return _constant(value_at_fixed)
        argument = _expression(a)
        if isinstance(argument, Apply) and argument.operation is inverse:
            return fold(argument.arguments[0], _ALGEBRA)
        return _atom(Apply(operation, (argument,)))

    return applied


def _select(a: Sum, b: Sum, x: Sum, y: Sum) -> Sum:
    if x == y:
        return x
    if _is_constant(a) and _is_constant(b):
        return x if a.get(_UNIT, Fraction(0)) <= b.get(_UNIT, Fraction(0)) else y
    return _atom(Apply(Operation.SELECT, (_expression(a), _expression(b), _expression(x), _expression(y))))


def _variable(variable: Variable) -> Sum:
    return _atom(variable)


_ALGEBRA: Algebra[Sum] = Algebra(
    _constant,
    _variable,
    _power,
    {
        Operation.ADD: _add,
        Operation.SUBTRACT: lambda a, b: _add(a, _scaled(b, Fraction(-1))),
        Operation.MULTIPLY: _multiply,
        Operation.DIVIDE: _divide,
        Operation.MINIMUM: _extremum(Operation.MINIMUM, min),
        Operation.MAXIMUM: _extremum(Operation.MAXIMUM, max),
        # exp(log a) = a and log(exp a) = a wherever the left side is defined
        Operation.EXP: _function(Operation.EXP, Operation.LOG, Fraction(0)),
        Operation.EXPM1: _function(Operation.EXPM1, Operation.LOG1P, Fraction(0)),
        Operation.LOG: _function(Operation.LOG, Operation.EXP, Fraction(1)),
        Operation.LOG1P: _function(Operation.LOG1P, Operation.EXPM1, Fraction(0)),
        Operation.SQRT: lambda a: _power(a, _HALF),
        Operation.SELECT: _select,
    },
)


def simplify(root: Expression) -> Expression:
    """An expression with the same value as `root` wherever `root` is defined.

    >>> from .tree import W, norm
    >>> print(simplify(W * norm(1) - norm(1) * W), simplify(norm(1) / (3 * norm(1))))
    0 1/3
    """
    return _expression(fold(root, _ALGEBRA))


def _distribute(a: Sum, b: Sum) -> Sum:
    result: Sum = {}
    for left, first in a.items():
        for right, second in b.items():
            result = _add(result, _multiply({left: first}, {right: second}))
    return result


def _distributed_power(base: Sum, exponent: Fraction) -> Sum:
    if len(base) < 2 or exponent.denominator != 1 or not 2 <= exponent <= _LARGEST_EXPANDED:
        return _power(base, exponent)
    result = base
    for _ in range(int(exponent) - 1):
        result = _distribute(result, base)
    return result


_EXPANDING: Algebra[Sum] = evolve(
    _ALGEBRA,
    power=_distributed_power,
    operations={
        **_ALGEBRA.operations,
        Operation.MULTIPLY: _distribute,
        Operation.DIVIDE: lambda a, b: _distribute(a, _power(b, Fraction(-1))) if b else _divide(a, b),
    },
)


def terms(root: Expression) -> list[Expression]:
    """The summands of the expression with products distributed over sums; their sum has the value of `root`."""
    collected = fold(root, _EXPANDING)
    return [_monomial(monomial, coefficient) for monomial, coefficient in collected.items()] or [Constant(Fraction(0))]


def is_identically(root: Expression, value: int) -> bool:
    """Whether simplification alone shows that `root` is this constant."""
    return simplify(root - ONE * value) == Constant(Fraction(0))
