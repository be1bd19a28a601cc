"""How answers show themselves: in at most three lines in a terminal, as a table in a notebook, long numbers shortened.

What is shortened keeps its meaning: ≈ stands before a rounded number, [v ± r] holds the enclosure it stands for, and
the ends of a wide enclosure are rounded outward. Certificates and JSON have every digit.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_UP, Context, Decimal
from enum import Enum
from fractions import Fraction
from html import escape
from typing import final

from attrs import frozen

_LONGEST = 3 * 80
EXACT_UP_TO = 40
"""Characters of a constant that is shown as it is stated, not shortened."""
_DIGITS = 16
_FIGURES = 6
_LONG_DECIMAL = 18
_LONG_RATIO = 13
_NARROW = Fraction(1, 10**12)
_LEADING_ZEROS = 5
_WIDEST = 4000
_DIGITS_OF = re.compile(r"\d+")

_DECIMAL = r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_RATIO = r"-?\d+/\d+"
_NUMBERS = re.compile(
    rf"Fraction\((?P<numerator>-?\d+), (?P<denominator>\d+)\)"
    rf"|\[(?P<lower>{_DECIMAL})(?:, (?P<upper>{_DECIMAL}))?\]"
    rf"|(?<![\w./])(?:(?P<ratio>{_RATIO})|(?P<decimal>{_DECIMAL}))(?![\w/]|\.\d)"
)


class Displayed:
    """Base class of answers that print well.

    A subclass gives `__str__`, the answer in a sentence, and may give `cells`, what a table of it holds. With attrs it
    is defined with `repr=False`.
    """

    __slots__ = ()

    def cells(self) -> Iterator[tuple[str, str]]:
        """What a table shows: names and values."""
        yield type(self).__name__, str(self)

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"<{kind}: {textwrap.shorten(str(self), _LONGEST - len(kind) - 4, placeholder=' …')}>"

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(value)}</td></tr>'
            for name, value in self.cells()
        )
        return f"<table>{cells}</table>"


@final
@frozen
class Number:
    """A number that a text states, or an enclosure of one.

    Attributes:
        lower: its lower end.
        upper: its upper end; the same for a number.
        stated: how the text states it.
        short: how people read it.
    """

    lower: Fraction
    upper: Fraction
    stated: str
    short: str


def parts(text: str, longest: int = 0) -> Iterator[str | Number]:
    """The text in pieces: what lies between numbers, and the numbers of more than `longest` characters."""
    end = 0
    for match in _NUMBERS.finditer(text):
        found = None if len(match[0]) <= longest else _number(match)
        if found is None:
            continue
        between = text[end : match.start()]
        if found.short.startswith("≈"):
            between = between.removesuffix("= ")
        if between:
            yield between
        yield found
        end = match.end()
    if end < len(text):
        yield text[end:]


def numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers that the text states."""
    return tuple(part for part in parts(text) if isinstance(part, Number))


def shorten(text: str, longest: int = 0) -> str:
    """The text with its numbers as people read them, but those of at most `longest` characters as they are."""
    return "".join(part.short if isinstance(part, Number) else part for part in parts(text, longest))


def format_value(value: object) -> str:
    """A value of a case as people read it."""
    match value:
        case Fraction():
            return shorten(str(value))
        case Enum():
            return format_value(value.value)
        case Mapping():
            return ", ".join(f"{name}: {format_value(item)}" for name, item in value.items()) or "none"
        case tuple() | list():
            return f"({', '.join(map(format_value, value))}{',' if len(value) == 1 else ''})"
        case _:
            return shorten(str(value))


def _number(match: re.Match[str]) -> Number | None:
    """The number found, None where it cannot be read as one."""
    stated = match[0]
    if max(map(len, _DIGITS_OF.findall(stated))) > _WIDEST:
        return None
    if match["lower"] is not None:
        return _enclosure(stated, match["lower"], match["upper"] or match["lower"])
    if match["decimal"] is not None:
        return _decimal(stated)
    numerator, denominator = map(int, match["ratio"].split("/") if match["ratio"] else match.group(1, 2))
    if not denominator:
        return None
    value = Fraction(numerator, denominator)
    short = len(str(value)) <= _LONG_RATIO
    return Number(value, value, stated, str(value) if short else _marked(value))


def _decimal(stated: str) -> Number | None:
    value = _exact(stated)
    if value is None:
        return None
    return Number(value, value, stated, _marked(value) if _long(stated) else stated)


def _enclosure(stated: str, low: str, high: str) -> Number | None:
    """An enclosure; None for a list of two numbers that looks like one."""
    lower, upper = _exact(low), _exact(high)
    if lower is None or upper is None or lower > upper:
        return None
    if not _long(low) and not _long(high):
        return Number(lower, upper, stated, stated)
    if upper - lower <= _NARROW * min(abs(lower), abs(upper)):
        middle = _rounded((lower + upper) / 2)
        radius = max(upper - Fraction(middle), Fraction(middle) - lower)
        around = f" ± {_rounded(radius, 1, ROUND_UP)}" if radius else ""
        return Number(lower, upper, stated, f"[{middle}{around}]")
    ends = f"[{_rounded(lower, rounding=ROUND_FLOOR)}, {_rounded(upper, rounding=ROUND_CEILING)}]"
    return Number(lower, upper, stated, ends)


def _marked(value: Fraction) -> str:
    """`value` in decimals, with a mark where they are not all of it."""
    rounded = _rounded(value)
    return rounded if Fraction(rounded) == value else f"≈ {rounded}"


def _exact(stated: str) -> Fraction | None:
    """The number that a decimal states; None where its exponent is beyond reason."""
    decimal = Decimal(stated)
    return Fraction(decimal) if decimal.is_zero() or abs(decimal.adjusted()) <= _WIDEST else None


def _long(stated: str) -> bool:
    mantissa = re.split("[eE]", stated)[0]
    return len(mantissa.replace(".", "").lstrip("-0")) >= _LONG_DECIMAL


def rounded_up(value: float | Fraction, digits: int) -> str:
    """A number of so many decimal digits that is at least a finite one."""
    return _rounded(Fraction(value), digits, ROUND_CEILING)


def rounded_down(value: float | Fraction, digits: int) -> str:
    """A number of so many decimal digits that is at most a finite one."""
    return _rounded(Fraction(value), digits, ROUND_FLOOR)


def figure(value: float, rounding: str = ROUND_HALF_EVEN) -> str:
    """A finite number to six digits, or all of those before the point, with commas.

    Args:
        value: the number.
        rounding: one of the constants of `decimal`: a proven end is rounded outward.
    """
    whole = 10 ** (_FIGURES - 1) <= abs(value) < 10**15
    digits = Decimal(value).adjusted() + 1 if whole else _FIGURES
    text = _rounded(Fraction(value), digits, rounding)
    return text if "e" in text else f"{Decimal(text):,f}"


def _rounded(value: Fraction, digits: int = _DIGITS, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write `value` in decimals, rounded once."""
    context = Context(prec=digits, rounding=rounding, Emin=-10 * _WIDEST, Emax=10 * _WIDEST)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    plain = -_LEADING_ZEROS <= quotient.adjusted() < _DIGITS
    return format(context.normalize(quotient), "f" if plain else "e")
