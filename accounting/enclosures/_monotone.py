"""Images of enclosures under monotone functions that are enclosed at single numbers."""

from __future__ import annotations

from collections.abc import Callable

from . import _ends as ends
from ._ends import DOWN, UP, Raw
from ._series import Bracket
from .enclosure import Enclosure, _make


def increasing_image(x: Enclosure, function: Callable[[Enclosure], Enclosure]) -> Enclosure:
    """Enclosure of f(x), at the precision of `x`, for an increasing f that `function` encloses at every point."""
    bits = x.precision
    if x.is_point:
        return function(x).at(bits)
    low, high = function(point(x._lower, bits)), function(point(x._upper, bits))
    return _make(ends.rounded(low._lower, bits, DOWN), ends.rounded(high._upper, bits, UP), bits)


def decreasing_image(x: Enclosure, function: Callable[[Enclosure], Enclosure]) -> Enclosure:
    """Enclosure of f(x), at the precision of `x`, for a decreasing f that `function` encloses at every point."""
    return -increasing_image(x, lambda at: -function(at))


def point(end: Raw, precision: int) -> Enclosure:
    """The enclosure of an end that has at most `precision` bits."""
    return _make(end, end, precision)


def of_bracket(bracket: Bracket, precision: int) -> Enclosure:
    """Return the enclosure of a bracket, rounded outward."""
    low, high, exponent = bracket
    return _make(ends.scaled(low, exponent, precision, DOWN), ends.scaled(high, exponent, precision, UP), precision)
