"""Checks of the sizes of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...accounting.enclosures.arguments import whole

if TYPE_CHECKING:
    from attrs import Attribute


def at_least_one(_: object, attribute: Attribute[int], value: int) -> None:
    """Require a whole number ≥ 1."""
    whole(attribute.name, value, 1)


def at_least_two(_: object, attribute: Attribute[int], value: int) -> None:
    """Require a whole number ≥ 2."""
    whole(attribute.name, value, 2)
