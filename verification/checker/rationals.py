"""Ranges of expressions in exact rational arithmetic, where that is possible.

They decide what no rounded interval can: whether a bound that is reached is kept.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt
from typing import Any, Final, NamedTuple

from .expressions import Pool

_MOST_BITS: Final = 4096
"""Ends with longer numerators or denominators are given up."""


class Range(NamedTuple):
    """All numbers from lo to hi."""

    lo: Fraction
    hi: Fraction


def rational_range(pool: Pool, root: int, box: Mapping[str, Range]) -> Range | None:
    """Enclose an expression over the box, or give None where some operation has no rational ends there.

    Guarantee: every operation is defined on all of the box.
    """
    pool.spend_on_rationals(root)
    ranges: dict[int, Range] = {}
    for number in pool.program(root):
        operation, arguments, value = pool.nodes[number]
        operands: list[Any] = [ranges[argument] for argument in arguments]
        if operation == "variable":
            found = box.get(str(value))
        elif operation == "constant" and isinstance(value, Fraction):
            found = Range(value, value)
        elif operation == "power" and isinstance(value, Fraction):
            found = _power(operands[0], value)
        else:
            found = _OPERATIONS[operation](*operands) if operation in _OPERATIONS else None
        if found is None or any(
            end.numerator.bit_length() + end.denominator.bit_length() > _MOST_BITS for end in found
        ):
            return None
        ranges[number] = found
    return ranges[root]


def _bits(found: Range) -> int:
    return max(end.numerator.bit_length() + end.denominator.bit_length() for end in found)


def _products(a: Range, b: Range) -> Range:
    products = [x * y for x in a for y in b]
    return Range(min(products), max(products))


def _quotients(a: Range, b: Range) -> Range | None:
    return None if b.lo <= 0 <= b.hi else _products(a, Range(1 / b.hi, 1 / b.lo))


def _sqrt(base: Range) -> Range | None:
    """Give both roots where they are rational."""
    if base.lo < 0:
        return None
    lo, hi = (Fraction(isqrt(end.numerator), isqrt(end.denominator)) for end in base)
    return Range(lo, hi) if (lo**2, hi**2) == base else None


def _power(base: Range, exponent: Fraction) -> Range | None:
    if base.lo == base.hi == 1:
        return base
    if exponent.denominator != 1 or exponent < 1 or base.lo < 0 or _bits(base) * exponent > _MOST_BITS:
        return None
    return Range(base.lo**exponent.numerator, base.hi**exponent.numerator)


_OPERATIONS: Final[dict[str, Callable[..., Range | None]]] = {
    "add": lambda a, b: Range(a.lo + b.lo, a.hi + b.hi),
    "subtract": lambda a, b: Range(a.lo - b.hi, a.hi - b.lo),
    "multiply": _products,
    "divide": _quotients,
    "minimum": lambda a, b: Range(min(a.lo, b.lo), min(a.hi, b.hi)),
    "sqrt": _sqrt,
    "maximum": lambda a, b: Range(max(a.lo, b.lo), max(a.hi, b.hi)),
}
