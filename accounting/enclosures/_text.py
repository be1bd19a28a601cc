"""Enclosures as text: decimal digits rounded outward."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from . import _ends as ends
from ._ends import Raw

_WIDEST_EXPONENT = 5000
_LONGEST_POINT = 40
_FEWEST_DIGITS = 3
_POINT_DIGITS = 20


def interval_text(lower: Raw, upper: Raw) -> str:
    """The interval as "[lower, upper]" in decimals rounded outward, with digits to where the ends differ.

    A point is written once, in full, where that takes at most 40 digits; numbers beyond 2**±5000 are written
    in binary.
    """
    if lower == upper:
        text = _exact(lower)
        if len(text) <= _LONGEST_POINT:
            return f"[{text}]"
    digits = _digits(lower, upper)
    return f"[{_decimal(lower, digits, ROUND_FLOOR)}, {_decimal(upper, digits, ROUND_CEILING)}]"


def _digits(lower: Raw, upper: Raw) -> int:
    """How many significant digits show the ends apart."""
    width = ends.add(upper, ends.negative(lower), 8 + max(lower[3], upper[3]), ends.UP)
    if width == ends.ZERO:
        return _POINT_DIGITS
    largest = ends.larger(ends.magnitude(lower), ends.magnitude(upper))
    agreeing = largest[2] + largest[3] - width[2] - width[3]  # bits
    return max(_FEWEST_DIGITS, int(agreeing) * 30103 // 100000 + 1)


def _decimal(value: Raw, digits: int, rounding: str) -> str:
    man, exponent = ends.integers(value)
    if abs(exponent) > _WIDEST_EXPONENT:
        return _binary(man, exponent)
    context = Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    return str(context.divide(Decimal(man << max(exponent, 0)), Decimal(1 << max(-exponent, 0))))


def _exact(value: Raw) -> str:
    man, exponent = ends.integers(value)
    if abs(exponent) > _WIDEST_EXPONENT:
        return _binary(man, exponent)
    # man·2**-k has at most as many decimal digits as bits
    return _decimal(value, man.bit_length() + abs(exponent) + 1, ROUND_FLOOR)


def _binary(man: int, exponent: int) -> str:
    return f"{man}*2**{exponent}"
