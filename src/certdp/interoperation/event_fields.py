"""What the fields of events hold, and how each is read and written."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import frozen

from ..accounting.enclosures import Enclosure
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import exact

ReadEvent: TypeAlias = Callable[[str, object], Any]
"""Reads the event at a place of the tree, which it names in errors."""

WriteEvent: TypeAlias = Callable[[Any], Any]

_EXACT_INTEGERS = 2**53


class Content(ABC):
    """The content of a field: how it is read and written."""

    @abstractmethod
    def read(self, place: str, value: object, event: ReadEvent) -> Any:
        """The field's value, checked for its type; `event` reads events inside."""

    @abstractmethod
    def as_json(self, value: Any, event: WriteEvent) -> Any:
        """What `read` reads as the same value, in the types of JSON."""

    @abstractmethod
    def as_foreign(self, value: Any, event: WriteEvent) -> Any:
        """What another tool understands: numbers are rounded to binary64 in the direction of a larger loss."""


@final
@frozen
class Real(Content):
    """A field that holds an exact number.

    Attributes:
        rounded: to binary64, in the direction of a larger loss.
    """

    rounded: Callable[[Enclosure], float]

    def read(self, place: str, value: object, event: ReadEvent) -> Fraction:
        """Read a number, or a text with one."""
        return exact(value, parameter=place)  # type: ignore[arg-type]  # it refuses other types

    def as_json(self, value: Fraction, event: WriteEvent) -> int | float | str:
        """A number where binary64 holds it, text otherwise."""
        if value.denominator == 1 and abs(value) <= _EXACT_INTEGERS:
            return int(value)
        if abs(value) <= Fraction(sys.float_info.max) and Fraction(float(value)) == value:
            return float(value)
        return str(value)

    def as_foreign(self, value: Fraction, event: WriteEvent) -> float:
        """Return the number as a float, rounded outward."""
        return self.rounded(Enclosure.of(value))


@final
@frozen
class _Count(Content):
    """A field that holds a whole number."""

    def read(self, place: str, value: object, event: ReadEvent) -> int:
        """An int, or any exact number that is one."""
        number = exact(value, parameter=place)  # type: ignore[arg-type]  # it refuses other types
        if number.denominator != 1:
            raise InvalidValue(place, value, "a whole number")
        return int(number)

    def as_json(self, value: int, event: WriteEvent) -> int:
        """Return the whole number as it is."""
        return value

    def as_foreign(self, value: int, event: WriteEvent) -> int:
        """Return the whole number as it is."""
        return value


@final
@frozen
class _Optional(Content):
    """A field that may hold nothing.

    Attributes:
        content: what it holds otherwise.
    """

    content: Content

    def read(self, place: str, value: object, event: ReadEvent) -> Any:
        """None, or what the content reads."""
        return None if value is None else self.content.read(place, value, event)

    def as_json(self, value: Any, event: WriteEvent) -> Any:
        """Return null, or what the content gives."""
        return None if value is None else self.content.as_json(value, event)

    def as_foreign(self, value: Any, event: WriteEvent) -> Any:
        """Return None, or what the content gives."""
        return None if value is None else self.content.as_foreign(value, event)


@final
@frozen
class _OrInfinite(Content):
    """A field that holds a number or infinity, which is None here.

    Attributes:
        content: of a number.
    """

    content: Content

    def read(self, place: str, value: object, event: ReadEvent) -> Any:
        """None for infinity, as a float or as the text inf; else what the content reads."""
        return None if value in (math.inf, "inf") else self.content.read(place, value, event)

    def as_json(self, value: Any, event: WriteEvent) -> Any:
        """Return the text inf, or what the content gives."""
        return "inf" if value is None else self.content.as_json(value, event)

    def as_foreign(self, value: Any, event: WriteEvent) -> Any:
        """Return infinity, or what the content gives."""
        return math.inf if value is None else self.content.as_foreign(value, event)


@final
@frozen
class _Several(Content):
    """A field that holds a list of values.

    Attributes:
        content: what each of them is.
    """

    content: Content

    def read(self, place: str, value: object, event: ReadEvent) -> tuple[Any, ...]:
        """Read the values of a list or tuple."""
        match value:
            case list() | tuple():
                return tuple(self.content.read(f"{place}[{i}]", each, event) for i, each in enumerate(value))
        raise InvalidType(place, value, "a list of numbers")

    def as_json(self, value: Iterable[Any], event: WriteEvent) -> list[Any]:
        """Return the values as a list for JSON."""
        return [self.content.as_json(each, event) for each in value]

    def as_foreign(self, value: Iterable[Any], event: WriteEvent) -> list[Any]:
        """Return the values as a list of the other library's."""
        return [self.content.as_foreign(each, event) for each in value]


@final
@frozen
class _OneOrSeveral(Content):
    """A field that holds a value or a list of values.

    Attributes:
        content: what each of them is.
    """

    content: Content

    def read(self, place: str, value: object, event: ReadEvent) -> Any:
        """Read a list of values as such, and everything else as one value."""
        content = _Several(self.content) if isinstance(value, list | tuple) else self.content
        return content.read(place, value, event)

    def as_json(self, value: Any, event: WriteEvent) -> Any:
        """Return the value, or the list of values, for JSON."""
        return (_Several(self.content) if isinstance(value, tuple) else self.content).as_json(value, event)

    def as_foreign(self, value: Any, event: WriteEvent) -> Any:
        """Return the value, or the list of values, as the other library's."""
        return (_Several(self.content) if isinstance(value, tuple) else self.content).as_foreign(value, event)


@final
@frozen
class _Child(Content):
    """A field that holds an event."""

    def read(self, place: str, value: object, event: ReadEvent) -> Any:
        """Read the event of the field."""
        return event(place, value)

    def as_json(self, value: Any, event: WriteEvent) -> Any:
        """Return the event of the field for JSON."""
        return event(value)

    def as_foreign(self, value: Any, event: WriteEvent) -> Any:
        """Return the event of the field as the other library's."""
        return event(value)


@final
@frozen
class _Children(Content):
    """A field that holds several events, in order."""

    def read(self, place: str, value: object, event: ReadEvent) -> tuple[Any, ...]:
        """The events of a list or tuple."""
        match value:
            case list() | tuple():
                return tuple(event(f"{place}[{position}]", each) for position, each in enumerate(value))
        raise InvalidType(place, value, "a list of events")

    def as_json(self, value: Iterable[Any], event: WriteEvent) -> list[Any]:
        """Return the events of the field as a list for JSON."""
        return [event(each) for each in value]

    def as_foreign(self, value: Iterable[Any], event: WriteEvent) -> list[Any]:
        """Return the events of the field as a list of the other library's."""
        return [event(each) for each in value]


def _down(value: Enclosure) -> float:
    return value.lower_float


def _up(value: Enclosure) -> float:
    return value.upper_float


DOWNWARDS, UPWARDS = Real(_down), Real(_up)
"""Numbers of which the smaller, or the larger, loses more."""
COUNT, CHILD, CHILDREN = _Count(), _Child(), _Children()
COUNT_OR_COUNTS = _OneOrSeveral(COUNT)
REALS_UPWARDS, COUNT_OR_NONE, UPWARDS_OR_INFINITE = _Several(UPWARDS), _Optional(COUNT), _OrInfinite(UPWARDS)
