"""What the laws of pairs accept; a refusal names the parameter, the value and what is admissible."""

from __future__ import annotations

from fractions import Fraction

from ..errors import InvalidType, InvalidValue
from . import Enclosure, Truth


def non_negative(parameter: str, value: Enclosure) -> Enclosure:
    """`value` if every number in it is at least 0.

    Raises:
        InvalidType: for anything but an enclosure. InvalidValue: where it reaches below 0.
    """
    _enclosed(parameter, value, "an Enclosure of a number ≥ 0")
    if value.less(0) is not Truth.FALSE:
        raise InvalidValue(
            parameter,
            value,
            "an enclosure of numbers ≥ 0",
            "Where only rounding takes it below 0, cut it off there: value.maximum(0).",
        )
    return value


def positive(parameter: str, value: Enclosure) -> Enclosure:
    """`value` if every number in it is above 0.

    Raises:
        InvalidType: for anything but an enclosure. InvalidValue: where it reaches 0.
    """
    _enclosed(parameter, value, "an Enclosure of a number > 0")
    if value.greater(0) is not Truth.TRUE:
        raise InvalidValue(parameter, value, "an enclosure of numbers > 0")
    return value


def probability(parameter: str, value: Enclosure) -> Enclosure:
    """`value` if every number in it lies in [0, 1].

    Raises:
        InvalidType: for anything but an enclosure. InvalidValue: where it reaches outside.
    """
    _enclosed(parameter, value, "an Enclosure of a probability")
    if value.less(0) is not Truth.FALSE or value.greater(1) is not Truth.FALSE:
        raise InvalidValue(parameter, value, "an enclosure of numbers in [0, 1]")
    return value


def order_above_one(value: Fraction | int) -> Fraction:
    """A Rényi order α > 1.

    Raises:
        InvalidType: for anything but a Fraction or an int. InvalidValue: for α ≤ 1.
    """
    match value:
        case int() | Fraction() if not isinstance(value, bool):
            if value > 1:
                return Fraction(value)
            raise InvalidValue("order", value, "α > 1")
    raise InvalidType("order", value, "a Fraction α > 1", "Write exact(order) to read a float or text.")


def whole(parameter: str, value: int, least: int) -> int:
    """`value` if it is a whole number of at least `least`.

    Raises:
        InvalidType: for anything but an int. InvalidValue: below `least`.
    """
    match value:
        case int() if not isinstance(value, bool):
            if value >= least:
                return value
            raise InvalidValue(parameter, value, f"a whole number ≥ {least}")
    raise InvalidType(parameter, value, f"a whole number ≥ {least}")


def _enclosed(parameter: str, value: Enclosure, admissible: str) -> None:
    match value:
        case Enclosure():
            return
    raise InvalidType(parameter, value, admissible, "Write Enclosure.of(value) to read a float or text exactly.")
