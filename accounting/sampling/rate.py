"""What a sampler declares: with which probability a record is drawn, and with which weight it then enters."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf
from typing import Any, final

from attrs import field, frozen

from ..bulk.arrays import UNIT, norm_relative_error
from ..errors import InvalidType, InvalidValue
from ..expressions import ONE, Constant, Expression, Symbol, Variable, range_of, roundings, variables
from ..norms import Norm

_BY_ENCLOSURE = 2
_NORM_RESERVE = 3


def norm_roundings(norm: Norm) -> int:
    """How many roundings a norm read by the bulk kernels is within of the truth."""
    return ceil(norm_relative_error(norm) / UNIT) + _NORM_RESERVE


def _roundings(variable: Variable) -> int:
    match variable.symbol:
        case Symbol.NORM:
            return norm_roundings(Norm(variable.index))
    return 1  # the constant that a released parameter came out as


def _probability(_: object, __: object, value: Any) -> None:
    if not isinstance(value, Expression):
        raise InvalidType("probability", value, "an expression in norms of the record")
    alien = [v.name for v in variables(value) if v.symbol not in {Symbol.NORM, Symbol.PLACE}]
    if alien:
        raise InvalidValue("probability", ", ".join(sorted(alien)), "an expression in norms of the record alone")
    if not range_of(value).within(Fraction(0), Fraction(1)):
        raise InvalidValue(
            "probability",
            str(value),
            "an expression in [0, 1] by its structure",
            "Cap it: minimum(1, …), and build it from non-negative parts",
        )


@final
@frozen
class SamplingRate:
    """Independent (Poisson) sampling: record x is drawn with probability q(x) (IS Definition 5).

    Attributes:
        probability: q as an expression in norms of the record, within [0, 1] by its structure. It depends on the
            record and public constants alone. Where it is 0 the record is never drawn and loses nothing.
        weighted: whether a drawn record enters with weight 1/q (otherwise 1).
    """

    probability: Expression = field(validator=_probability)
    weighted: bool

    @property
    def rounding(self) -> Fraction:
        """A bound η on the relative distance between q and the binary64 probability drawn, and 1/q and the weight.

        Every profile covers all values within this distance, so it is proven for what is really drawn.
        """
        if isinstance(self.probability, Constant) and self._exact(self.probability.value):
            return Fraction(0)
        known = {variable: _roundings(variable) for variable in variables(self.probability)}
        count = roundings(self.probability, known)
        return Fraction((_BY_ENCLOSURE if count is None else max(count, _BY_ENCLOSURE)) + 4, 2**53)

    def _exact(self, value: Fraction) -> bool:
        number = float(value)
        if not number or Fraction(number) != value:
            return value == 0
        weight = 1 / number
        return not self.weighted or (weight < inf and Fraction(weight) == 1 / value)


ALWAYS = SamplingRate(ONE, weighted=False)
"""Every record is drawn, with weight 1."""
