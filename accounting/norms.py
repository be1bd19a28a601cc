"""The norms that features, sensitivities and public domains are stated in."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from .errors import InvalidValue
from .exact import Number, exact, ratio_text

_INFINITE = "inf"
_ADMISSIBLE = 'a number ≥ 1, such as 2, "1.5" or "3/2", or "inf"'
_LARGEST = 10**600  # certificates carry numbers of at most 700 digits
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _order(value: Number) -> Fraction | None:
    match value:
        case str() if value.strip() == _INFINITE:
            return None
        case float() if value == math.inf:
            return None
    try:
        order = exact(value, parameter="norm")
    except InvalidValue as error:
        if error.parameter != "norm":  # a refusal to read it at all, which says why
            raise
        raise type(error)("norm", value, _ADMISSIBLE, "Write the number alone, such as 2 for the ℓ2 norm") from None
    if order < 1:
        raise InvalidValue("norm", value, _ADMISSIBLE, "Below 1 the triangle inequality fails: it is no norm")
    if order.numerator >= _LARGEST:
        raise InvalidValue("norm", value, "an order of at most 600 digits in numerator and denominator, or inf")
    return order


@final
@frozen(repr=False)
class Norm:
    """The norm ‖x‖_p = (Σ|x_j|^p)^(1/p) of a record, or max|x_j| for p = ∞.

    Args:
        order: p, a number ≥ 1 that is read exactly, or "inf"; at most 600 digits in numerator and denominator.

    Raises:
        InvalidValue: for an order below 1, NaN, text that is no number, and orders with too many digits.
        InvalidType: for other types.

    >>> Norm("1.5"), Norm("3/2") == Norm(1.5), Norm(2) == Norm.L2, Norm("inf") == Norm.LINF
    (Norm('3/2'), True, True, True)
    """

    L1: ClassVar[Norm]
    L2: ClassVar[Norm]
    LINF: ClassVar[Norm]

    order: Fraction | None = field(converter=_order)
    """p, or None for ∞."""

    @classmethod
    def of(cls, value: Norm | Number) -> Norm:
        """The norm itself, or the one of this order."""
        return value if isinstance(value, Norm) else cls(value)

    @property
    def reciprocal(self) -> Fraction:
        """1/p for the norm ‖·‖_p, exactly, in [0, 1]; 0 for p = ∞."""
        return Fraction(0) if self.order is None else 1 / self.order

    @property
    def value(self) -> str:
        """The order in certificates and on the command line: "1", "3/2", "inf"."""
        return _INFINITE if self.order is None else ratio_text(self.order)

    @property
    def subscript(self) -> str:
        """The order as people read it below a norm: "₁", "_{3/2}", "∞"."""
        if self.order is None:
            return "∞"
        text = self.value
        return text.translate(_SUBSCRIPTS) if self.order.denominator == 1 else f"_{{{text}}}"

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"Norm({self.value!r})"


Norm.L1, Norm.L2, Norm.LINF = Norm(1), Norm(2), Norm(_INFINITE)
