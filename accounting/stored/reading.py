"""JSON that has one text for each value, and what is read from it: refused unless it is what was written."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeAlias

from ..errors import InvalidType, InvalidValue
from ..exact import ratio_text

Json: TypeAlias = dict[str, Any]

_MOST_BITS = 13_000
"""Python writes whole numbers of up to 4,300 digits."""
_RATIO = re.compile(r"-?\d{1,3920}(/\d{1,3920})?")

_DAMAGED = "Damaged, or nothing that certdp wrote"


def canonical(value: object) -> str:
    """The one text of a JSON value: keys sorted, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def parsed(text: str, parameter: str) -> Any:
    """The value of a text that `canonical` wrote.

    Raises:
        InvalidType: for anything but text.
        InvalidValue: for text that is no JSON, or not its canonical form.
    """
    if not isinstance(text, str):
        raise InvalidType(parameter, text, "text")
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if canonical(value) == text:
            return value
    raise InvalidValue(parameter, text, "canonical JSON", _DAMAGED)


def require_written(parameter: str, text: str, again: str) -> None:
    """Refuse a text unless what was read from it is written `again` as that text: nothing was read over or rounded.

    Raises:
        InvalidValue: where the two differ.
    """
    if text != again:
        raise InvalidValue(parameter, text, "what certdp writes for what it states", _DAMAGED)


def entries(parameter: str, value: object, *names: str) -> list[Any]:
    """The values of an object with exactly these entries.

    Raises:
        InvalidValue: for anything else.
    """
    if not isinstance(value, dict) or set(value) != set(names):
        found = ", ".join(map(str, value)) if isinstance(value, dict) else value
        raise InvalidValue(parameter, found, f"the entries {', '.join(names)}", _DAMAGED)
    return [value[name] for name in names]


def read_text(parameter: str, value: object) -> str:
    """`value`, which must be text."""
    if not isinstance(value, str):
        raise InvalidType(parameter, value, "text", _DAMAGED)
    return value


def read_whole(parameter: str, value: object) -> int:
    """`value`, which must be a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidType(parameter, value, "a whole number", _DAMAGED)
    return value


def written(parameter: str, value: Fraction) -> str:
    """An exact number as text, "p/q" in lowest terms.

    Raises:
        InvalidValue: for one of more than 3,900 digits.
    """
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits > _MOST_BITS:
        raise InvalidValue(parameter, f"a ratio of {bits} bits", "at most 3,900 digits", "Round it outward first")
    return ratio_text(value)


def read_ratio(parameter: str, value: object) -> Fraction:
    """The exact number that `written` gave."""
    text = read_text(parameter, value)
    if _RATIO.fullmatch(text) and not text.endswith("/0"):
        number = Fraction(text)
        if ratio_text(number) == text:
            return number
    raise InvalidValue(parameter, text, "a ratio in lowest terms", _DAMAGED)
