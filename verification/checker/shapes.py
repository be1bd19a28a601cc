"""The shape of a JSON value: small readers that refuse whatever is missing, extra or of another type."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .norms import is_order
from .verdict import Refused

_NAMES = {dict: "an object", list: "an array", str: "a string", int: "an integer", bool: "a boolean"}
Shape = Callable[[Any, str], None]

_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_RATIONAL = re.compile(r"(0|-?[1-9][0-9]{0,699})(/[1-9][0-9]{0,699})?")


def rational(value: Any, where: str) -> Fraction:
    """Read an exact rational in its one spelling: "p/q" in lowest terms, or "p", at most 700 digits each."""
    if type(value) is str and _RATIONAL.fullmatch(value):
        exact = Fraction(value)
        if str(exact) == value:
            return exact
    raise Refused(f'{where} must be a rational string "p/q" in lowest terms or "p", of at most 700 digits each')


def not_negative(value: Any, where: str) -> None:
    """Accept a rational string that is at least 0."""
    if rational(value, where) < 0:
        raise Refused(f"{where} must be at least 0")


def positive(value: Any, where: str) -> None:
    """Accept a rational string above 0."""
    if rational(value, where) <= 0:
        raise Refused(f"{where} must be above 0")


def a_rational(value: Any, where: str) -> None:
    """Accept any rational string."""
    rational(value, where)


def of_type(kind: type) -> Shape:
    """Accept values of exactly this type (a boolean is no integer)."""

    def shape(value: Any, where: str) -> None:
        if type(value) is not kind:
            raise Refused(f"{where} must be {_NAMES[kind]}")

    return shape


flag, _string, _array, _object = of_type(bool), of_type(str), of_type(list), of_type(dict)


def text(value: Any, where: str) -> None:
    """Accept a string of Unicode characters; half a surrogate pair is none."""
    _string(value, where)
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise Refused(f"{where} holds half a surrogate pair")


def anything(value: Any, where: str) -> None:
    """Accept any JSON value; something later reads it."""


def number(value: Any, where: str) -> None:
    """Accept a finite binary64, or an integer that is one exactly."""
    whole = type(value) is int and abs(value) <= 2**53
    if not whole and not (type(value) is float and math.isfinite(value)):
        raise Refused(f"{where} must be a finite binary64 number")


def integer(lowest: int, highest: int) -> Shape:
    """Accept the integers of a range."""

    def shape(value: Any, where: str) -> None:
        if type(value) is not int or not lowest <= value <= highest:
            raise Refused(f"{where} must be an integer in [{lowest}, {highest}]")

    return shape


def one_of(*admissible: str) -> Shape:
    """Accept one of these strings."""

    def shape(value: Any, where: str) -> None:
        if type(value) is not str or value not in admissible:
            raise Refused(f"{where} must be one of {', '.join(admissible)}")

    return shape


def an_order(value: Any, where: str) -> None:
    """Accept the canonical text of a norm's order."""
    if type(value) is not str or not is_order(value):
        raise Refused(f'{where} must be a number of at least 1 as "p/q" or "p" in lowest terms, or "inf"')


def hexadecimal(length: int) -> Shape:
    """Accept so many lower-case hexadecimal digits."""
    pattern = re.compile(f"[0-9a-f]{{{length}}}")

    def shape(value: Any, where: str) -> None:
        if type(value) is not str or not pattern.fullmatch(value):
            raise Refused(f"{where} must be {length} lower-case hexadecimal digits")

    return shape


def digest(value: Any, where: str) -> None:
    """Accept a SHA-256 as certificates write it."""
    if type(value) is not str or not _DIGEST.fullmatch(value):
        raise Refused(f'{where} must be "sha256:" and 64 lower-case hexadecimal digits')


def optional(inner: Shape) -> Shape:
    """Accept null, or what `inner` accepts."""
    return lambda value, where: None if value is None else inner(value, where)


def sequence(inner: Shape, length: int | None = None) -> Shape:
    """Accept an array of such values."""

    def shape(value: Any, where: str) -> None:
        _array(value, where)
        if length is not None and len(value) != length:
            raise Refused(f"{where} must have {length} items")
        for position, item in enumerate(value):
            inner(item, f"{where}[{position}]")

    return shape


def mapping(inner: Shape) -> Shape:
    """Accept an object with any keys and such values."""

    def shape(value: Any, where: str) -> None:
        _object(value, where)
        for key, item in value.items():
            text(key, where)
            inner(item, f"{where}[{key!a}]")

    return shape


def record(**fields: Shape) -> Shape:
    """Accept an object with exactly these keys."""

    def shape(value: Any, where: str) -> None:
        _object(value, where)
        if wrong := sorted(value.keys() ^ fields.keys()):
            raise Refused(f"{where} has missing or unknown keys: {wrong!a}")
        for key, inner in fields.items():
            inner(value[key], f"{where}.{key}")

    return shape
