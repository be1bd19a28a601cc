"""Privacy-constrained sampling: the largest weights within a target ε (IS Problem 7)."""

from __future__ import annotations

from fractions import Fraction
from math import nextafter
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidValue
from ..accounting.losses import Loss
from ..accounting.rates import ConstrainedRate
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, positive
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given


@final
@frozen(kw_only=True, field_transformer=named)
class PrivacyConstrained:
    """Poisson sampling in which each record has the largest weight w, and probability 1/w, with ψ ≤ ε*.

    Args:
        target: ε*, from 2^-40 to 700. A record that loses more than that at weight 1 cannot be drawn: the public
            domain is checked for such records before any is read.
        largest_weight: a public cap on the weights, at least 1. Without it a record whose loss is 0, such as the zero
            vector in a sum, is never drawn.

    Guarantees:
        ψ(x) ≤ ε* for every record, proven for the binary64 probability drawn and the binary64 weight applied. The
        weight of a record depends on that record and public constants alone. For mechanisms whose loss is proportional
        to the weight it is the largest feasible one but for a relative gap of at most 1e-12; others are refused.
    """

    about: ClassVar[About] = About(
        name="privacy-constrained",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Problem 7, Theorem 10 and Algorithm 1",
    )

    target: Real = field(converter=positive, metadata={"help": "ε that no record may exceed"})
    largest_weight: Choice = field(
        default=NOT_GIVEN, converter=positive_if_given, metadata={"help": "cap on the weights, at least 1"}
    )

    def __attrs_post_init__(self) -> None:
        largest = self.largest_weight.value
        if largest is not None and largest < 1:
            raise InvalidValue("largest_weight", str(largest), "a number ≥ 1")

    def rate_for(self, loss: Loss) -> ConstrainedRate:
        """The largest weights for a mechanism with this loss."""
        largest = self.largest_weight.value
        return ConstrainedRate.of(loss, self.target.value, largest=None if largest is None else _below(largest))


def _below(value: Fraction) -> float:
    """The largest binary64 number that is at most `value` ≥ 1."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else nextafter(nearest, 0.0)
