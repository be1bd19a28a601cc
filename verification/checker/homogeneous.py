"""Proof by structure that a loss is proportional to the weight.

An expression of degree k in the weight is W^k times its value at W = 1. Degrees follow from the operations; where
they do not, nothing is proven. For k = 1 the loss is A(x)·W with A its value at W = 1, wherever that is defined,
for every W > 0.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from .expressions import WEIGHT, Pool
from .verdict import Refused

Degree = Fraction | None
"""None is the degree of 0, which has every degree."""

_CONSTANT: Final = Fraction(0)
_LARGEST: Final = 2**64
"""Numerators and denominators of degrees beyond this are not followed."""


def prove_proportional(pool: Pool, root: int, where: str) -> None:
    """Prove that an expression is proportional to the weight, or refuse."""
    degrees: dict[int, Degree] = {}
    for number in pool.program(root):
        node = pool.nodes[number]
        operands: list[Any] = [degrees[argument] for argument in node.arguments]
        if node.operation == "variable":
            degrees[number] = Fraction(node.value == WEIGHT)
        elif node.operation == "constant":
            degrees[number] = _CONSTANT if node.value else None
        elif isinstance(node.value, Fraction):  # a power
            degrees[number] = _power(operands[0], node.value)
        else:
            try:
                degrees[number] = _DEGREES.get(node.operation, _none)(*operands)
            except _Unproven:
                raise Refused(f"{where} could not be proven to be proportional to the weight") from None
        degree = degrees[number]
        if degree is not None and max(abs(degree.numerator), degree.denominator) > _LARGEST:
            raise Refused(f"{where} has too large a power of the weight")
    if degrees[root] not in (None, 1):
        raise Refused(f"{where} is not proportional to the weight")


def is_proportional(pool: Pool, root: int) -> bool:
    """Whether an expression is proven to be proportional to the weight."""
    try:
        prove_proportional(pool, root, "the loss")
    except Refused:
        return False
    return True


class _Unproven(Exception):
    """The degree does not follow from the operands'."""


def _power(base: Degree, exponent: Fraction) -> Degree:
    if not exponent:
        return _CONSTANT  # 0^0 is 1
    return None if base is None else base * exponent


def _common(*degrees: Degree) -> Degree:
    """Give the degree of a sum, a minimum or a maximum: that of all parts, where it is the same."""
    known = {degree for degree in degrees if degree is not None}
    if len(known) > 1:
        raise _Unproven
    return known.pop() if known else None


def _none(*degrees: Degree) -> Degree:
    """Give the degree of a function without a law: 0, where all parts have it."""
    _common(_CONSTANT, *degrees)
    return _CONSTANT


def _select(a: Degree, b: Degree, x: Degree, y: Degree) -> Degree:
    """W > 0 does not change the order of parts of the same degree."""
    _common(a, b)
    return _common(x, y)


_DEGREES: Final[dict[str, Callable[..., Degree]]] = {
    "add": _common,
    "subtract": _common,
    "minimum": _common,
    "maximum": _common,
    "multiply": lambda a, b: None if a is None or b is None else a + b,
    "divide": lambda a, b: None if a is None else a - (b or 0),
    "sqrt": lambda a: None if a is None else a / 2,
    "select": _select,
}
