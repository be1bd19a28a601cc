"""Images of enclosures under monotone functions, with enough bits that cancellation costs no digits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from .enclosure import Enclosure

Function: TypeAlias = Callable[[Enclosure], Enclosure]

_GUARD = 16
_DOUBLINGS = 4
_WORTHWHILE = 16


def sharp(function: Function, value: Fraction, precision: int) -> Enclosure:
    """function(value), computed with more and more bits until it is as tight as `precision` can say.

    More bits are given up on where they no longer make the result narrower: then something else limits it.
    """
    wanted = Fraction(1, 2 ** (precision - 2))
    work = precision + _GUARD
    result = function(Enclosure.of(value, precision=work))
    for _ in range(_DOUBLINGS):
        if _tight(result, wanted):
            break
        work *= 2
        finer = function(Enclosure.of(value, precision=work))
        helped = finer.width * _WORTHWHILE <= result.width
        result = finer
        if not helped:
            break
    return result.at(precision)


def _tight(result: Enclosure, wanted: Fraction) -> bool:
    width = result.relative_width
    return width is not None and width <= wanted


def increasing(function: Function, parameter: Enclosure) -> Enclosure:
    """The image of `parameter` under a non-decreasing function that `function` encloses."""
    bits = parameter.precision
    low = sharp(function, parameter.lower, bits)
    if parameter.is_point:
        return low
    return low.hull(sharp(function, parameter.upper, bits))


def decreasing(function: Function, parameter: Enclosure) -> Enclosure:
    """The image of `parameter` under a non-increasing function that `function` encloses."""
    return -increasing(lambda value: -function(value), parameter)
