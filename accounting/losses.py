"""What a mechanism declares that one record costs, as expressions in its weight W and its norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

from attrs import field, frozen

from .errors import InvalidType, InvalidValue
from .expressions import Expression, Symbol, range_of, variables


def _features_and(*symbols: Symbol, name: str) -> Callable[[Any, Any, Expression], None]:
    def check(_: Any, __: Any, value: Expression) -> None:
        if not isinstance(value, Expression):
            raise InvalidType(name, value, "an expression in W and norms")
        alien = [v.name for v in variables(value) if v.symbol not in {Symbol.WEIGHT, Symbol.NORM, *symbols}]
        if alien:
            raise InvalidValue(name, ", ".join(sorted(alien)), "the weight and norms of the record")
        if not range_of(value).non_negative:
            raise InvalidValue(
                name,
                str(value),
                "an expression that is non-negative by its structure",
                "Write it from constants ≥ 0, W and norms with +, ·, /, min, max, exp, expm1, log1p and powers",
            )

    return check


@final
@frozen
class PureLoss:
    """A PDP profile ε(W, x): entering with weight W, record x changes no output probability by more than e^ε.

    Attributes:
        epsilon: an expression in W and norms, at least 0 by its structure.
    """

    epsilon: Expression = field(validator=_features_and(name="epsilon"))


@final
@frozen
class RenyiLoss:
    """A Rényi profile τ(α; W, x), for mechanisms that have no pure one.

    Attributes:
        tau: an expression in the order α, W and norms, at least 0 by its structure.
    """

    tau: Expression = field(validator=_features_and(Symbol.ORDER, name="tau"))


Loss: TypeAlias = PureLoss | RenyiLoss
"""The losses that a mechanism may declare; a notion that does not follow from one is absent."""
