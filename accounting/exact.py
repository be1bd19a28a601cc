"""Exact reading of numbers: a float is the dyadic rational it is, a string is an exact decimal or ratio."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from attrs import Attribute
from numpy.typing import NDArray

from .errors import InvalidType, InvalidValue

Floats: TypeAlias = NDArray[np.float64]
"""Binary64 numbers, each of which is an exact one; compiled kernels have the same name for them."""

Number: TypeAlias = int | float | str | Fraction | Decimal
"""What is read as an exact rational number."""


@runtime_checkable
class HoldsNumber(Protocol):
    """A value that holds a number and knows for which parameters it stands: one with a unit, or one declared public."""

    def number_for(self, parameter: str) -> Fraction:
        """The number, as the value of `parameter`.

        Raises:
            InvalidType: where the value means something else.
        """
        ...


_TEXT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?|[+-]?\d+/\d+")
_LONGEST = 2000
_MOST_BITS = 13_000
"""Python writes whole numbers of up to 4,300 digits."""


def exact(value: Number | HoldsNumber, *, parameter: str = "value") -> Fraction:
    """The rational number that `value` is, without rounding.

    Args:
        value: an int, a finite float (also NumPy's), a Fraction, a Decimal, or text such as "0.1", "1e-9" or "2/3";
            also such a number declared public, or with the unit that the parameter has: `Epsilon(1)` as an epsilon.
        parameter: name of the parameter that the number is for, used in the error message too.

    Raises:
        InvalidType: for bools, other types, and numbers with another unit.
        InvalidValue: for NaN, infinities and text that is no number.

    >>> exact("0.1"), exact(0.5)
    (Fraction(1, 10), Fraction(1, 2))
    """
    match value:
        case bool() | np.bool_():
            pass
        case int() | Fraction() | np.integer():
            return Fraction(int(value)) if not isinstance(value, Fraction) else value
        case float() | np.floating():
            if not math.isfinite(value):
                raise InvalidValue(parameter, value, "a finite number")
            return Fraction(*value.as_integer_ratio())  # a longer float keeps its digits
        case str():
            text = value.strip()
            if len(text) > _LONGEST or not _TEXT.fullmatch(text):
                raise InvalidValue(parameter, value, 'a number such as "0.1", "1e-9" or "2/3"')
            try:
                number = Fraction(text)
            except ZeroDivisionError:
                raise InvalidValue(parameter, value, "a ratio with a non-zero denominator") from None
            if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
                raise InvalidValue(parameter, value, "a number of at most 3,900 digits, written out")
            return number
        case Decimal():
            return exact(str(value), parameter=parameter)
        case HoldsNumber():
            return value.number_for(parameter)
    raise InvalidType(parameter, value, "an int, float, Fraction, Decimal or text with a number")


def rational(value: Number) -> Fraction:
    """Read the number of an attrs field exactly: `exact`, which names the field where its class has `naming_rationals`.

    Raises:
        InvalidType, InvalidValue: as `exact`.
    """
    return exact(value)


def naming_rationals(_: type, fields: list[Attribute[Any]]) -> list[Attribute[Any]]:
    """A field transformer for attrs: what `rational` converts is read under the name of its field."""

    def reading(name: str) -> Callable[[Number], Fraction]:
        def read(value: Number) -> Fraction:
            return exact(value, parameter=name)

        return read

    def named(field: Attribute[Any]) -> Attribute[Any]:
        converter: object = field.converter
        return field.evolve(converter=reading(field.name)) if converter is rational else field

    return [named(field) for field in fields]


def above_zero(_: object, attribute: Attribute[Any], value: float | Fraction) -> None:
    """Check, as a validator of attrs, that a number is finite and above 0.

    Raises:
        InvalidValue: for another one, by the attribute's name.
    """
    if not 0 < value < math.inf:
        raise InvalidValue(attribute.name, value, "a finite number > 0")


def float_at_most(value: Fraction) -> float:
    """The largest binary64 number that is at most `value` ≥ 0."""
    try:
        nearest = float(value)
    except OverflowError:
        return sys.float_info.max
    return nearest if nearest <= value else math.nextafter(nearest, 0.0)


def python_int(value: int) -> int:
    """NumPy's integers as Python's, which never overflow; everything else as it is, to be looked at by a validator."""
    return int(value) if isinstance(value, np.integer) else value


def short_text(value: Fraction) -> str:
    """`value` for people: as the nearest binary64 number; beyond these in seven digits, as 1e-330 or 1.5e+400.

    >>> short_text(Fraction(1, 3)), short_text(Fraction(1, 10**330)), short_text(Fraction(10**400))
    ('0.3333333333333333', '1e-330', '1e+400')
    """
    try:
        nearest = float(value)
    except OverflowError:
        nearest = 0.0
    if nearest or not value:
        return str(nearest)
    return f"{(Decimal(value.numerator) / Decimal(value.denominator)).normalize():.7g}"


def ratio_text(value: Fraction) -> str:
    """`value` as "p/q", or "p" where q is 1: the form in which certificates write exact numbers."""
    return str(value)
