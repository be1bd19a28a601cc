"""The ends of enclosures: raw mpmath numbers, their directed arithmetic and their exact readings.

A raw number is mpmath's tuple (sign, man, exponent, bits) with value (−1)**sign·man·2**exponent, man odd, or
`ZERO`. mpmath's infinities and NaN never occur. The operations are stateless functions of `mpmath.libmp`,
which round correctly in the direction `DOWN` (to −∞), `UP` (to +∞) or `NEAREST`. One of them only under a
condition: `add` perturbs instead of adding where exponents lie far apart, which is right if neither operand
has more bits than the precision asked for. Every enclosure keeps its ends within its precision, and an
operation on two enclosures takes the larger precision.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from mpmath import libmp

from ..errors import OutsideDomain

Raw: TypeAlias = tuple[int, int, int, int]

DOWN, UP, NEAREST = "f", "c", "n"

_library: Any = libmp  # mpmath carries no types: the signatures below are the ones relied upon

ZERO: Raw = _library.fzero
ONE: Raw = _library.fone

add: Callable[[Raw, Raw, int, str], Raw] = _library.mpf_add
multiply: Callable[[Raw, Raw, int, str], Raw] = _library.mpf_mul
divide: Callable[[Raw, Raw, int, str], Raw] = _library.mpf_div
square_root: Callable[[Raw, int, str], Raw] = _library.mpf_sqrt
negative: Callable[[Raw], Raw] = _library.mpf_neg
magnitude: Callable[[Raw], Raw] = _library.mpf_abs
rounded: Callable[[Raw, int, str], Raw] = _library.mpf_pos
shifted: Callable[[Raw, int], Raw] = _library.mpf_shift
order: Callable[[Raw, Raw], int] = _library.mpf_cmp
scaled: Callable[[int, int, int, str], Raw] = _library.from_man_exp
"""man·2**exponent rounded; precision 0 keeps it exact."""

_WIDEST_EXPONENT = 1 << 24
_FLOAT_BITS = 53
_FLOAT_LOWEST = -1074
_FLOAT_TOP = 1024


def whole(value: int) -> Raw:
    """Return the whole number `value` as an end, exactly."""
    return scaled(value, 0, 0, DOWN)


def ratio(value: Fraction, precision: int, direction: str) -> Raw:
    """Return the fraction `value` as an end, correctly rounded."""
    return divide(whole(value.numerator), whole(value.denominator), precision, direction)


def integers(value: Raw) -> tuple[int, int]:
    """(man, exponent) with `value` = man·2**exponent, man signed."""
    sign, man, exponent, _ = value
    return (-int(man) if sign else int(man)), int(exponent)


def fraction(value: Raw) -> Fraction:
    """Return the end `value` as a fraction, exactly.

    Raises:
        OutsideDomain: where its binary exponent is beyond ±2**24, which would fill the memory.
    """
    man, exponent = integers(value)
    if abs(exponent) > _WIDEST_EXPONENT:
        raise OutsideDomain(
            f"a number near 2**{exponent + man.bit_length()} is too large or too small to be written as a "
            "fraction; compare enclosures with less(), or take the logarithm first."
        )
    return Fraction(man << exponent) if exponent >= 0 else Fraction(man, 1 << -exponent)


def smaller(one: Raw, other: Raw) -> Raw:
    """Return the smaller of two ends."""
    return one if order(one, other) <= 0 else other


def larger(one: Raw, other: Raw) -> Raw:
    """Return the larger of two ends."""
    return one if order(one, other) >= 0 else other


def float_below(value: Raw) -> float:
    """The largest binary64 number that is at most `value` (−inf below the finite ones)."""
    man, exponent = integers(value)
    return _float(man, exponent, up=False) if man >= 0 else -_float(-man, exponent, up=True)


def float_above(value: Raw) -> float:
    """The smallest binary64 number that is at least `value` (inf above the finite ones)."""
    return 0.0 - float_below(negative(value))  # 0.0 − 0.0 keeps zero's sign positive


def _float(man: int, exponent: int, *, up: bool) -> float:
    """man·2**exponent ≥ 0 as binary64, rounded up or down; subnormals and overflow included."""
    cut = max(man.bit_length() - _FLOAT_BITS, _FLOAT_LOWEST - exponent)
    if man and cut > 0:
        kept = min(cut, man.bit_length() + 1)
        man = -(-man >> kept) if up else man >> kept
        exponent += cut
    if man.bit_length() + exponent > _FLOAT_TOP and man:
        return math.inf if up else sys.float_info.max
    return math.ldexp(man, exponent) if man else 0.0  # exact: at most 53 bits, none below 2**-1074
