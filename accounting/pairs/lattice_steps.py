"""Distances between points of a lattice."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import non_negative
from ..errors import InvalidValue

_MOST = 2**64


def lattice_steps(distance: Enclosure) -> tuple[int, int]:
    """The fewest and the most whole steps within an enclosed distance, whose whole part counts.

    Raises:
        InvalidValue: for a distance outside [0, 2**64]. InvalidType: for anything but an enclosure.
    """
    if non_negative("steps", distance).greater(_MOST) is not Truth.FALSE:
        raise InvalidValue("steps", distance, "a distance of at most 2**64 steps")
    return floor(distance.lower), floor(distance.upper)


def over_steps(distance: Enclosure, law: Callable[[int], Enclosure]) -> Enclosure:
    """The image of every number of whole steps within a distance, under a law that grows with it."""
    fewest, most = lattice_steps(distance)
    return law(fewest) if fewest == most else law(fewest).hull(law(most))
