"""Images of several enclosures under a function that is monotone in each of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from . import Enclosure, Truth
from .monotone import sharp

_SMALLEST = Enclosure.of(Fraction(1, 2 ** (1 << 16)))  # a point: comparing with it is cheap


def between_corners(
    function: Callable[[Enclosure, Enclosure], Enclosure], *, rising: Enclosure, falling: Enclosure
) -> Enclosure:
    """The image under a function ≥ 0 that does not fall with its first argument and does not rise with its second.

    `function` gets single numbers, with as many bits as cancellation inside it asks for. Images below 2**-2**16 are
    enclosed by 0 and that.
    """
    return _image(function, (rising.lower, falling.upper), (rising.upper, falling.lower), _bits((rising, falling)))


def between_low_and_high(function: Callable[[Enclosure, Enclosure], Enclosure], *rising: Enclosure) -> Enclosure:
    """The image under a function ≥ 0 that falls with neither of its two arguments; otherwise as `between_corners`."""
    first, second = rising
    return _image(function, (first.lower, second.lower), (first.upper, second.upper), _bits(rising))


def _bits(arguments: Iterable[Enclosure]) -> int:
    return max(argument.precision for argument in arguments)


def _image(
    function: Callable[[Enclosure, Enclosure], Enclosure],
    low: tuple[Fraction, Fraction],
    high: tuple[Fraction, Fraction],
    bits: int,
) -> Enclosure:
    def at(corner: tuple[Fraction, Fraction]) -> Enclosure:
        first, second = corner
        return sharp(
            lambda value: writable(function(value, Enclosure.of(second, precision=value.precision))), first, bits
        ).maximum(0)

    return at(low) if low == high else at(low).hull(at(high))


def writable(value: Enclosure) -> Enclosure:
    """`value` ≥ 0, or 0 and 2**-2**16 around it where it is below that, so that its ends remain handy fractions."""
    if value.is_point or value.greater(_SMALLEST) is not Truth.FALSE:
        return value
    return _SMALLEST.hull(0).at(value.precision)
