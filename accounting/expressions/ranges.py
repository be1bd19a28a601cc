"""Coarse proven bounds on an expression over all admissible records, by structure alone.

Exact rational arithmetic on bounds that may be absent (None stands for unbounded). Used for the premises of
theorems (a loss is at least 0, a rate lies in [0, 1]) and for the side conditions of simplification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from attrs import frozen

from .tree import Algebra, Expression, Operation, Symbol, Variable, fold

Bound = Fraction | None


@frozen
class Range:
    """A set of reals between two bounds, each of them absent where unbounded."""

    lower: Bound
    upper: Bound

    @property
    def non_negative(self) -> bool:
        """Whether no value of the range is below 0."""
        return self.lower is not None and self.lower >= 0

    def within(self, lower: Fraction, upper: Fraction) -> bool:
        """Whether every value lies in [lower, upper]."""
        return self.lower is not None and self.upper is not None and lower <= self.lower and self.upper <= upper


_ZERO, _ONE = Fraction(0), Fraction(1)
_EVERYTHING = Range(None, None)
_SYMBOLS = {
    Symbol.WEIGHT: Range(_ONE, None),
    Symbol.NORM: Range(_ZERO, None),
    Symbol.ROUNDING: Range(-_ONE, _ONE),
    Symbol.RATIO: Range(_ZERO, None),
    Symbol.ORDER: Range(_ONE, None),
    Symbol.PLACE: Range(_ZERO, _ONE),
}


def symbol_range(variable: Variable) -> Range:
    """What a variable may be for an arbitrary record."""
    return _SYMBOLS[variable.symbol]


def _plus(a: Bound, b: Bound) -> Bound:
    return None if a is None or b is None else a + b


def _add(a: Range, b: Range) -> Range:
    return Range(_plus(a.lower, b.lower), _plus(a.upper, b.upper))


def _negate(a: Range) -> Range:
    return Range(None if a.upper is None else -a.upper, None if a.lower is None else -a.lower)


def _multiply(a: Range, b: Range) -> Range:
    if a.lower is not None and b.lower is not None and a.lower >= 0 and b.lower >= 0:
        bounded = a.upper is not None and b.upper is not None
        return Range(a.lower * b.lower, a.upper * b.upper if bounded else None)  # type: ignore[operator]
    ends = [a.lower, a.upper, b.lower, b.upper]
    if any(end is None for end in ends):
        return _EVERYTHING
    products = [x * y for x in (a.lower, a.upper) for y in (b.lower, b.upper)]  # type: ignore[operator]
    return Range(min(products), max(products))


def _reciprocal(a: Range) -> Range:
    if a.lower is None or a.lower < 0:
        return _EVERYTHING
    return Range(_ZERO if a.upper is None else 1 / a.upper if a.upper else None, 1 / a.lower if a.lower else None)


def _lower(choose: Callable[[list[Fraction]], Fraction], a: Bound, b: Bound, *, absent_wins: bool) -> Bound:
    known = [end for end in (a, b) if end is not None]
    if len(known) == 2 or (known and not absent_wins):
        return choose(known)
    return None


def _minimum(a: Range, b: Range) -> Range:
    return Range(_lower(min, a.lower, b.lower, absent_wins=True), _lower(min, a.upper, b.upper, absent_wins=False))


def _maximum(a: Range, b: Range) -> Range:
    return Range(_lower(max, a.lower, b.lower, absent_wins=False), _lower(max, a.upper, b.upper, absent_wins=True))


def _exp(a: Range) -> Range:
    return Range(_ONE if a.non_negative else _ZERO, _ONE if a.upper is not None and a.upper <= 0 else None)


def _expm1(a: Range) -> Range:
    return _add(_exp(a), Range(-_ONE, -_ONE))


def _log1p(a: Range) -> Range:
    # log(1+a) ≤ a, so a finite upper bound survives
    return Range(_ZERO if a.non_negative else None, a.upper)


def _log(a: Range) -> Range:
    return _log1p(_add(a, Range(-_ONE, -_ONE)))


def _power(base: Range, exponent: Fraction) -> Range:
    if exponent == 0:
        return Range(_ONE, _ONE)
    if exponent < 0:
        return _power(_reciprocal(base), -exponent) if base.non_negative else _EVERYTHING
    if not base.non_negative:
        return Range(_ZERO, None) if exponent.denominator == 1 and exponent.numerator % 2 == 0 else _EVERYTHING

    def side(end: Bound) -> Bound:
        if end is None:
            return None
        return end**exponent.numerator if exponent.denominator == 1 else end if end in (0, 1) else None

    low = side(base.lower)
    floor = _ONE if base.lower is not None and base.lower >= 1 else _ZERO
    high = side(base.upper)
    if high is None and base.upper is not None and base.upper <= 1:
        high = _ONE
    return Range(floor if low is None else low, high)


_OPERATIONS: dict[Operation, Callable[..., Range]] = {
    Operation.ADD: _add,
    Operation.SUBTRACT: lambda a, b: _add(a, _negate(b)),
    Operation.MULTIPLY: _multiply,
    Operation.DIVIDE: lambda a, b: _multiply(a, _reciprocal(b)),
    Operation.MINIMUM: _minimum,
    Operation.MAXIMUM: _maximum,
    Operation.EXP: _exp,
    Operation.EXPM1: _expm1,
    Operation.LOG: _log,
    Operation.LOG1P: _log1p,
    Operation.SQRT: lambda a: _power(a, Fraction(1, 2)),
    Operation.SELECT: lambda _a, _b, x, y: Range(_minimum(x, y).lower, _maximum(x, y).upper),
}


_NOWHERE: Mapping[Variable, Range] = {}


def ranges(known: Mapping[Variable, Range] = _NOWHERE) -> Algebra[Range]:
    """The algebra of coarse bounds, for variables in `known` ranges and otherwise in all admissible ones."""

    def variable(name: Variable) -> Range:
        return known[name] if name in known else symbol_range(name)

    return Algebra(lambda value: Range(value, value), variable, _power, _OPERATIONS)


def range_of(root: Expression, known: Mapping[Variable, Range] = _NOWHERE) -> Range:
    """Bounds on `root` over `known` ranges; by default over every record, weight and rounding."""
    return fold(root, ranges(known))
