"""Float evaluation over arrays: estimates, for plots and searches; no guarantee rests on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidValue
from ..exact import Floats
from .tree import Algebra, Expression, Operation, Variable, fold

_OPERATIONS: dict[Operation, Callable[..., Floats]] = {
    Operation.ADD: np.add,
    Operation.SUBTRACT: np.subtract,
    Operation.MULTIPLY: np.multiply,
    Operation.DIVIDE: np.divide,
    Operation.MINIMUM: np.minimum,
    Operation.MAXIMUM: np.maximum,
    Operation.EXP: np.exp,
    Operation.EXPM1: np.expm1,
    Operation.LOG: np.log,
    Operation.LOG1P: np.log1p,
    Operation.SQRT: np.sqrt,
    Operation.SELECT: lambda a, b, x, y: np.asarray(np.where(np.asarray(a <= b), x, y)),
}


def evaluate(root: Expression, values: Mapping[Variable, ArrayLike]) -> Floats:
    """A float estimate of `root` at `values` (arrays that broadcast together).

    Follows NumPy's conventions for invalid operations: NaN or inf with NumPy's warnings.

    Raises:
        InvalidValue: where a variable of `root` has no value.
    """

    def value(variable: Variable) -> Floats:
        if variable not in values:
            known = ", ".join(sorted(v.name for v in values)) or "none"
            raise InvalidValue("values", known, f"a value for {variable.name}")
        return np.asarray(values[variable], dtype=np.float64)

    def constant(number: Fraction) -> Floats:
        try:
            return np.asarray(float(number))
        except OverflowError:
            return np.asarray(np.inf if number > 0 else -np.inf)

    return fold(root, Algebra(constant, value, lambda base, e: np.asarray(np.power(base, float(e))), _OPERATIONS))
