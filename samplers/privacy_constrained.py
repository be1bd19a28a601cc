"""Privacy-constrained sampling: the largest weights within a target (IS Problem 7)."""

from __future__ import annotations

from fractions import Fraction
from math import nextafter
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.feasible_weights import ApproximateTarget, GaussianTarget, RenyiTarget
from ..accounting.feasible_weights.rates import (
    GAUSSIAN_DIGITS,
    ConstrainedRate,
    GaussianConstrainedRate,
    constrained_rate,
)
from ..accounting.sampling.losses import Loss
from ..plugins.contract import CONTRACT_VERSION, About, Real, named, positive
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given

_FEWEST_DIGITS, _MOST_DIGITS = 4, 52


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class PrivacyConstrained:
    """Poisson sampling in which each record has the largest weight w found, and probability 1/w, within a target.

    Args:
        target: ε* of the whole run: the pure ε, from 2^-40 to 1024; ε at `delta`; or τ at `order`. A record that loses
            more than that at weight 1 cannot be drawn: the public domain is checked for such records before any is
            read.
        delta: δ of the whole run, for Gaussian sums: in (0, 1]. Not beside `order`.
        order: a Rényi order above 1, for Gaussian sums: then `target` bounds the Rényi divergence of that order.
        largest_weight: a public cap on the weights, at least 1. Without it a record whose loss is 0, such as the zero
            vector in a sum, is never drawn.
        digits: how many binary digits of a record's norm, after the first, its weight depends on, 4 to 52; fewer are
            faster, and weights smaller by as much. Unless given, 10 for Gaussian sums and all for pure losses. Losses
            proportional to the weight have exact weights at no cost, and admit none.

    Guarantees:
        No record loses more than the target, proven for the binary64 probability drawn and the binary64 weight applied.
        The weight of a record depends on that record and public constants alone. Every weight from 1 to it is feasible,
        and for pure losses with e^ε convex in the weight none is beyond, but for a relative gap of at most 1e-12 where
        all digits count. In a run of several releases on one sample the composed loss is within the target; with a
        fresh sample for each, a pure target is shared equally (basic composition), and the Rényi bounds of a Gaussian
        sum are composed.
    """

    about: ClassVar[About] = About(
        name="privacy-constrained",
        version="2",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Problem 7, Theorem 10 and Algorithm 1",
    )

    target: Real = field(converter=positive, metadata={"help": "ε that no record may exceed"})
    delta: Choice = field(
        default=NOT_GIVEN, converter=positive_if_given, metadata={"help": "δ of the target, for Gaussian sums"}
    )
    order: Choice = field(
        default=NOT_GIVEN, converter=positive_if_given, metadata={"help": "order of the target, for Gaussian sums"}
    )
    largest_weight: Choice = field(
        default=NOT_GIVEN, converter=positive_if_given, metadata={"help": "cap on the weights, at least 1"}
    )
    digits: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "binary digits of norms that weights depend on, 4 to 52"},
    )

    def __attrs_post_init__(self) -> None:
        for name, value, admits, admissible in (
            ("largest_weight", self.largest_weight.value, lambda cap: cap >= 1, "a number ≥ 1"),
            ("delta", self.delta.value, lambda delta: delta <= 1, "a number in (0, 1]"),
            ("order", self.order.value, lambda order: order > 1, "a number > 1"),
            ("digits", self.digits.value, _admissible_digits, "a whole number from 4 to 52"),
        ):
            if value is not None and not admits(value):
                raise InvalidValue(name, str(value), admissible)
        if self.delta.value is not None and self.order.value is not None:
            raise InvalidValue("order", str(self.order.value), "nothing, beside a δ", "State delta or order, not both")

    def rate_for(self, loss: Loss) -> ConstrainedRate:
        """The largest weights for one release of a mechanism with this loss.

        Raises:
            InvalidValue: for a loss to which the target does not apply.
        """
        cap, digits = self.largest_weight.value, self.digits.value
        largest = None if cap is None else _below(cap)
        aim = self._aim
        if aim is None:
            whole = None if digits is None else int(digits)
            return constrained_rate(loss, self.target.value, largest=largest, digits=whole)
        kept = GAUSSIAN_DIGITS if digits is None else int(digits)
        return GaussianConstrainedRate.of(loss, aim, largest=largest, digits=kept)

    @property
    def _aim(self) -> GaussianTarget | None:
        """The target at a δ or an order; None for the pure one."""
        delta, order = self.delta.value, self.order.value
        if delta is not None:
            return ApproximateTarget(epsilon=self.target.value, delta=delta)
        return None if order is None else RenyiTarget(order=order, tau=self.target.value)


def _admissible_digits(digits: Fraction) -> bool:
    return digits.denominator == 1 and _FEWEST_DIGITS <= digits <= _MOST_DIGITS


def _below(value: Fraction) -> float:
    """The largest binary64 number that is at most `value` ≥ 1."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else nextafter(nearest, 0.0)
