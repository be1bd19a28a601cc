"""Scalars with units. Each holds an exact rational; none mixes with another or with a bare float."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self, final

from attrs import field, frozen

from .errors import InvalidValue
from .exact import Number, exact, short_text


def _exact(value: Number) -> Fraction:
    return exact(value)


@frozen(order=False)
class Quantity:
    """An exact number in a range: base class of the units, not used itself.

    Attributes:
        value: the exact rational. Read from an int, a float (the dyadic rational it is) or decimal text.

    Raises:
        InvalidValue: outside the unit's range. InvalidType: for anything that is no exact number.
    """

    value: Fraction = field(converter=_exact)

    _admissible: ClassVar[str] = "a number"

    def __attrs_pre_init__(self, value: Number) -> None:
        exact(value, parameter=type(self).__name__.lower())  # an error names the unit

    def __attrs_post_init__(self) -> None:
        if not self._admits(self.value):
            raise InvalidValue(type(self).__name__.lower(), str(self.value), self._admissible)

    def _admits(self, value: Fraction) -> bool:
        return False

    def __str__(self) -> str:
        return short_text(self.value)


@final
@frozen(order=False, str=False)
class Epsilon(Quantity):
    """The privacy parameter ε, in nats; at least 0."""

    _admissible: ClassVar[str] = "ε ≥ 0"

    def _admits(self, value: Fraction) -> bool:
        return value >= 0


@final
@frozen(order=False, str=False)
class Delta(Quantity):
    """The privacy parameter δ, a probability in [0, 1]."""

    _admissible: ClassVar[str] = "0 ≤ δ ≤ 1"

    def _admits(self, value: Fraction) -> bool:
        return 0 <= value <= 1


@final
@frozen(order=False, str=False)
class Order(Quantity):
    """A Rényi order α > 1."""

    _admissible: ClassVar[str] = "α > 1"

    def _admits(self, value: Fraction) -> bool:
        return value > 1


@final
@frozen(order=False, str=False)
class Weight(Quantity):
    """The weight with which a sampled record enters a mechanism; at least 1."""

    _admissible: ClassVar[str] = "a weight ≥ 1"

    def _admits(self, value: Fraction) -> bool:
        return value >= 1


@final
@frozen(order=False, str=False)
class Probability(Quantity):
    """A probability in [0, 1]."""

    _admissible: ClassVar[str] = "0 ≤ q ≤ 1"

    def _admits(self, value: Fraction) -> bool:
        return 0 <= value <= 1

    def complement(self) -> Self:
        """1 minus the probability."""
        return type(self)(1 - self.value)

    def weight(self) -> Weight:
        """The inverse-probability weight 1/q.

        Raises:
            InvalidValue: at q = 0, where the record is never drawn and has no weight.
        """
        if not self.value:
            raise InvalidValue(
                "Probability", self.value, "0 < q ≤ 1", "A record drawn with probability 0 has no weight"
            )
        return Weight(1 / self.value)


@final
@frozen(order=False, str=False)
class Sensitivity(Quantity):
    """How far one record can move a statistic, in the statistic's own unit; at least 0."""

    _admissible: ClassVar[str] = "a sensitivity ≥ 0"

    def _admits(self, value: Fraction) -> bool:
        return value >= 0
