"""Where a loss crosses log(1 + c·w), for many records at once in floats: guesses, which are proven elsewhere.

Only IEEE operations and the bulk kernels are used: a guess depends on its own record alone, and is the same on every
machine and for any chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from attrs import frozen

from ..bulk import arrays as bulk
from ..enclosures import Enclosure
from ..exact import Floats
from ..expressions import Algebra, Expression, Operation, Variable, W, fold

_ONE = np.float64(1.0).view(np.int64)
_HALVINGS = 62
_LARGE = 2.0**30
_LARGEST_EXPONENT = 16


def crossings(loss: Expression, norms: Mapping[Variable, Floats], odds: Enclosure, cap: float, size: int) -> Floats:
    """Per record, a weight from 1 to `cap` below which ε(w) ≤ log(1 + c·w), and above which not, if there is one.

    Args:
        loss: ε in W and the norms.
        norms: estimates per record.
        odds: c; above 0, and of any size.
        cap: where to stop.
        size: number of records.
    """
    low = np.full(size, _ONE)  # binary64 numbers above 0 are ordered like the integers of their bits
    high = np.full(size, np.float64(cap).view(np.int64))
    allowed = _Allowed(odds.lower_float, odds.log().lower_float)
    for _ in range(_HALVINGS):
        middle = low + (high - low + 1) // 2
        weight = np.asarray(middle.view(np.float64))
        feasible = _value(loss, {**norms, W: weight}) <= allowed(weight)
        low = np.where(feasible, middle, low)
        high = np.where(feasible, high, np.maximum(middle - 1, low))
    return np.asarray(low.view(np.float64))


@frozen
class _Allowed:
    """log(1 + c·w), where c·w may be beyond the range, and c too.

    Attributes:
        odds: c, or the largest binary64.
        level: log c.
    """

    odds: float
    level: float

    def __call__(self, weight: Floats) -> Floats:
        with np.errstate(over="ignore"):
            product = weight * self.odds
        small = product <= _LARGE
        large = bulk.log(weight) + self.level + 1.0 / np.maximum(product, _LARGE)
        return np.where(small, bulk.log1p(np.where(small, product, 0.0)), large)


def _value(root: Expression, values: Mapping[Variable, Floats]) -> Floats:
    with np.errstate(all="ignore"):  # what is beyond the range is no guess
        return fold(root, Algebra(_constant, values.__getitem__, _power, _OPERATIONS))


def _constant(value: Fraction) -> Floats:
    try:
        return np.asarray(float(value))
    except OverflowError:
        return np.asarray(np.inf if value > 0 else -np.inf)


def _where(function: Callable[[Floats], Floats], least: float) -> Callable[[Floats], Floats]:
    """The kernel where it is defined, else NaN."""

    def applied(values: Floats) -> Floats:
        defined = values >= least
        return np.where(defined, function(np.where(defined, values, 1.0)), np.nan)

    return applied


_log = _where(bulk.log, 0.0)
_exp = _where(bulk.exp, -np.inf)


def _power(base: Floats, exponent: Fraction) -> Floats:
    if exponent.denominator == 1 and 1 <= exponent <= _LARGEST_EXPONENT:
        result = base
        for _ in range(exponent.numerator - 1):
            result = result * base
        return np.asarray(result)
    return _exp(_log(base) * float(exponent))


_OPERATIONS: dict[Operation, Callable[..., Floats]] = {
    Operation.ADD: np.add,
    Operation.SUBTRACT: np.subtract,
    Operation.MULTIPLY: np.multiply,
    Operation.DIVIDE: np.divide,
    Operation.MINIMUM: np.minimum,
    Operation.MAXIMUM: np.maximum,
    Operation.EXP: _exp,
    Operation.EXPM1: _where(bulk.expm1, -np.inf),
    Operation.LOG: _log,
    Operation.LOG1P: _where(bulk.log1p, -1.0),
    Operation.SQRT: np.sqrt,
    Operation.SELECT: lambda a, b, x, y: np.asarray(np.where(np.asarray(a <= b), x, y)),
}
