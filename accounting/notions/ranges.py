"""What the numbers of a bound may be, checked when the bound is made."""

from __future__ import annotations

from typing import Any

from attrs import Attribute

from ..enclosures import Enclosure
from ..errors import InvalidType, InvalidValue


def _enclosure(parameter: str, value: Any) -> Enclosure:
    if not isinstance(value, Enclosure):
        raise InvalidType(
            parameter,
            value,
            "an Enclosure",
            "A float is an estimate; build Enclosure.of(value) from an exact number",
        )
    return value


def non_negative(_: object, attribute: Attribute[Enclosure], value: Any) -> None:
    """Raise InvalidType for no Enclosure, InvalidValue for one that reaches below 0."""
    if _enclosure(attribute.name, value).lower < 0:
        raise InvalidValue(attribute.name, value, "an enclosure of a number ≥ 0")


def probability(_: object, attribute: Attribute[Enclosure], value: Any) -> None:
    """Raise InvalidType for no Enclosure, InvalidValue for one that leaves [0, 1]."""
    enclosed = _enclosure(attribute.name, value)
    if enclosed.lower < 0 or enclosed.upper > 1:
        raise InvalidValue(attribute.name, value, "an enclosure of a number from 0 to 1")


def group_size(size: Any) -> int:
    """`size` if it is a number of units.

    Raises:
        InvalidValue: for anything but a whole number ≥ 0.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InvalidValue("size", size, "a whole number ≥ 0")
    return size
