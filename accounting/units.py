"""Scalars with units. Each holds an exact rational; none mixes with another or with a bare float."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Self, final

from attrs import field, frozen

from .errors import InvalidType, InvalidValue, blamed_on, known_keywords
from .exact import Number, exact, short_text


def _exact(value: Number) -> Fraction:
    return exact(value)


@frozen(order=False, repr=False)
class Quantity:
    """An exact number in a range: base class of the units, not used itself.

    Attributes:
        value: the exact rational. Read as `exact` reads it, from whatever states a number of this unit.

    Raises:
        InvalidValue: outside the unit's range.
        InvalidType: for anything that is no exact number, and for numbers of another unit.
    """

    value: Fraction = field(converter=_exact)

    _admissible: ClassVar[str] = "a number"

    def __attrs_pre_init__(self, value: Number) -> None:
        exact(value, parameter=self.symbol())  # an error names the unit

    @classmethod
    def of(cls, value: Self | Number, *, parameter: str = "") -> Self:
        """The quantity that a caller stated: with its unit, as a number, or as such a number declared public.

        Args:
            value: the quantity, or its number.
            parameter: what an error blames; the unit's own name unless given.

        Raises:
            InvalidType, InvalidValue: as the unit itself.
        """
        if isinstance(value, cls):
            return value
        with blamed_on(**{cls.symbol(): parameter or cls.symbol()}):
            return cls(value)  # type: ignore[arg-type]  # another unit is refused by name

    @classmethod
    def symbol(cls) -> str:
        """The name of a parameter that has this unit: epsilon, delta, order and so on."""
        return cls.__name__.lower()

    def number_for(self, parameter: str) -> Fraction:
        """The number, for a parameter whose name ends in the unit's, such as `target_epsilon`, or is just `value`.

        Raises:
            InvalidType: for a parameter of any other name.
        """
        if parameter not in ("value", self.symbol()) and not parameter.endswith("_" + self.symbol()):
            kind = type(self).__name__
            raise InvalidType(parameter, self, "a number", f"{parameter} is no {kind}: if meant, write {str(self)!r}")
        return self.value

    def __attrs_post_init__(self) -> None:
        if not self._admits(self.value):
            raise InvalidValue(self.symbol(), str(self.value), self._admissible)

    def _admits(self, value: Fraction) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.value)!r})"

    def __str__(self) -> str:
        return short_text(self.value)


@final
@known_keywords
@frozen(order=False, str=False, repr=False)
class Epsilon(Quantity):
    """The privacy parameter ε, in nats; at least 0."""

    _admissible: ClassVar[str] = "ε ≥ 0"

    def _admits(self, value: Fraction) -> bool:
        return value >= 0


@final
@known_keywords
@frozen(order=False, str=False, repr=False)
class Delta(Quantity):
    """The privacy parameter δ, a probability in [0, 1]."""

    _admissible: ClassVar[str] = "0 ≤ δ ≤ 1"

    def _admits(self, value: Fraction) -> bool:
        return 0 <= value <= 1


@final
@known_keywords
@frozen(order=False, str=False, repr=False)
class Order(Quantity):
    """A Rényi order α > 1."""

    _admissible: ClassVar[str] = "α > 1"

    def _admits(self, value: Fraction) -> bool:
        return value > 1


@final
@known_keywords
@frozen(order=False, str=False, repr=False)
class Weight(Quantity):
    """The weight with which a sampled record enters a mechanism; at least 1."""

    _admissible: ClassVar[str] = "a weight ≥ 1"

    def _admits(self, value: Fraction) -> bool:
        return value >= 1


@final
@known_keywords
@frozen(order=False, str=False, repr=False)
class Probability(Quantity):
    """A probability in [0, 1]."""

    _admissible: ClassVar[str] = "0 ≤ q ≤ 1"

    def _admits(self, value: Fraction) -> bool:
        return 0 <= value <= 1

    def complement(self) -> Self:
        """The probability of the opposite event, 1 − q."""
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
@known_keywords
@frozen(order=False, str=False, repr=False)
class Sensitivity(Quantity):
    """How far one record can move a statistic, in the statistic's own unit; at least 0."""

    _admissible: ClassVar[str] = "a sensitivity ≥ 0"

    def _admits(self, value: Fraction) -> bool:
        return value >= 0
