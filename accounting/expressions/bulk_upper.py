"""Bulk evaluation with a proven rounding margin.

Every operation here is one IEEE operation, so a chain of k of them on non-negative numbers without cancellation
stays within a factor (1 ± u)^k of the truth, u = 2^-53, as long as nothing underflows or overflows. Each node
carries k; an element that left the safe exponent range is marked and evaluated by enclosures instead. Where the
expression has an operation outside this model (a difference, an exponential), all elements are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..enclosures import Enclosure
from ..exact import Floats
from .enclosing import enclose
from .tree import Algebra, Expression, Operation, Variable, fold

Mask: TypeAlias = NDArray[np.bool_]

_SMALLEST, _LARGEST = 2.0**-900, 2.0**900
_FALLBACK_PRECISION = 96


@frozen(eq=False)
class Rounded:
    """Float values with the number of roundings behind them.

    Attributes:
        values: within a factor (1 ± 2^-53)^roundings of the truth where `safe`.
        roundings: how many.
        safe: where the statement above is proven; one truth value may stand for all elements.
    """

    values: Floats
    roundings: int
    safe: Mask


class _Unmodelled(Exception):
    """The expression has an operation outside the rounding model."""


EVERYWHERE: Mask = np.asarray(True)
"""Safe at every element."""


def mask_within(values: Floats, least: float, most: float, *, zeros: bool) -> Mask:
    """Where numbers lie in a range; 0 is within where `zeros` says so."""
    if values.size and values.min() >= least and values.max() <= most:  # as it mostly is, and quickly seen
        return EVERYWHERE
    inside = (values >= least) & (values <= most)
    return np.asarray(inside | (values == 0) if zeros else inside)


def _binary(
    function: Callable[[Floats, Floats], Floats], roundings: Callable[[int, int], int]
) -> Callable[[Rounded, Rounded], Rounded]:
    def applied(a: Rounded, b: Rounded) -> Rounded:
        with np.errstate(all="ignore"):  # unsafe elements are recomputed by enclosures
            values = np.asarray(function(a.values, b.values))
        return Rounded(values, roundings(a.roundings, b.roundings), a.safe & b.safe & _plain(values, a, b))

    def _plain(values: Floats, a: Rounded, b: Rounded) -> Mask:
        inside = mask_within(values, _SMALLEST, _LARGEST, zeros=False)
        if inside is EVERYWHERE:
            return inside
        return np.asarray(inside | ((values == 0) & ((a.values == 0) | (b.values == 0))))

    return applied


def _sqrt(a: Rounded) -> Rounded:
    with np.errstate(all="ignore"):
        values = np.asarray(np.sqrt(a.values))
    return Rounded(values, a.roundings // 2 + 2, a.safe & mask_within(values, _SMALLEST, _LARGEST, zeros=True))


def _power(base: Rounded, exponent: Fraction) -> Rounded:
    """Square roots, one for each halving of the exponent, then products."""
    halvings = exponent.denominator.bit_length() - 1
    if exponent.denominator != 2**halvings or halvings > 4 or not 1 <= exponent.numerator <= 16:
        raise _Unmodelled
    root = base
    for _ in range(halvings):
        root = _sqrt(root)
    result = root
    for _ in range(exponent.numerator - 1):
        result = _multiply(result, root)
    return result


def _refuse(*_: Rounded) -> Rounded:
    raise _Unmodelled


_multiply = _binary(np.multiply, lambda k, m: k + m + 1)
_OPERATIONS: dict[Operation, Callable[..., Rounded]] = {
    Operation.ADD: _binary(np.add, lambda k, m: max(k, m) + 1),
    Operation.SUBTRACT: _refuse,
    Operation.MULTIPLY: _multiply,
    Operation.DIVIDE: _binary(np.divide, lambda k, m: k + m + 1),
    Operation.MINIMUM: _binary(np.minimum, max),
    Operation.MAXIMUM: _binary(np.maximum, max),
    Operation.EXP: _refuse,
    Operation.EXPM1: _refuse,
    Operation.LOG: _refuse,
    Operation.LOG1P: _refuse,
    Operation.SQRT: _sqrt,
    Operation.SELECT: _refuse,
}


def _constant(value: Fraction) -> Rounded:
    if value < 0:
        raise _Unmodelled
    number = float(value) if value <= Fraction(_LARGEST) else np.inf
    exact = number != np.inf and Fraction(number) == value
    values = np.asarray(number)
    return Rounded(values, 0 if exact else 1, np.asarray(exact | mask_within(values, _SMALLEST, _LARGEST, zeros=False)))


def rounded(root: Expression, values: Mapping[Variable, Rounded]) -> Rounded | None:
    """`root` in floats with its count of roundings, or None where the model does not cover an operation."""
    try:
        return fold(root, Algebra(_constant, values.__getitem__, _power, _OPERATIONS))
    except _Unmodelled:
        return None


def roundings(root: Expression, inputs: Mapping[Variable, int]) -> int | None:
    """The number of roundings in a float evaluation of `root`, given those in its inputs."""
    one = np.ones(())
    result = rounded(root, {variable: Rounded(one, count, EVERYWHERE) for variable, count in inputs.items()})
    return None if result is None else result.roundings


EnclosureAt: TypeAlias = Callable[[int], Mapping[Variable, Enclosure]]
"""For an element's index, enclosures of the variables' true values there."""


def upper(root: Expression, values: Mapping[Variable, Rounded], size: int, enclosures: EnclosureAt) -> Floats:
    """Proven upper bounds of a non-negative `root`, element by element.

    Args:
        root: an expression whose values are at least 0.
        values: one-dimensional inputs of length `size` with their roundings.
        size: number of elements.
        enclosures: enclosures of the inputs for elements that need them.

    Returns:
        float64 array of length `size`; each element is at least the true value.

    Raises:
        OutsideDomain: where an element lies outside the domain of an operation.
    """
    result = rounded(root, values)
    bounds = np.empty(size)
    safe = np.zeros(size, dtype=np.bool_)
    if result is not None:
        # (1 − u)^-k ≤ 1 + (k+2)·u·(1 + 2^-20) for k ≤ 2^20, and one rounding more for this product
        margin = 1.0 + (result.roundings + 4) * 2.0**-53 * 2.0
        with np.errstate(all="ignore"):  # what overflows here is unsafe and recomputed
            bounds[...] = result.values if result.roundings == 0 else result.values * margin
        safe[...] = result.safe
    for index in np.flatnonzero(~safe):
        box = enclosures(int(index))
        bounds[index] = max(0.0, enclose(root, box, precision=_FALLBACK_PRECISION).upper_float)
    return bounds
