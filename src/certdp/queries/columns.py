"""Columns of a table with what is public about them, and conditions on single rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidType, InvalidValue, known_keywords
from ..accounting.exact import Number, exact
from .rows import Rows

Mask: TypeAlias = NDArray[np.bool_]

_FARTHEST = Fraction(2**500)  # squares of distances between such numbers are in the range of binary64


def _name(_: Any, __: Any, value: Any) -> None:
    if not isinstance(value, str):
        raise InvalidType("name", value, "the name of a column, as text")


def in_range(value: Number, *, parameter: str) -> Fraction:
    """A public number that rows are compared with or held by, as it is given.

    Raises:
        InvalidType, InvalidValue: for no number, and one beyond ±2^500.
    """
    number = exact(value, parameter=parameter)
    if abs(number) > _FARTHEST:
        raise InvalidValue(
            parameter, str(value), "a number within ±2^500", "State one in reach of the column's meaning"
        )
    return number


def _bound(value: Number | None) -> Fraction | None:
    return None if value is None else in_range(value, parameter="bound")


@final
@frozen(eq=False)
class Condition:
    """A question about one row, answered by that row alone: so it may select rows without any cost.

    Methods of columns make conditions, and guarantees rest on what they say. They are joined by `&`, `|` and `~`. A
    missing value meets no comparison.

    Attributes:
        text: the condition as people read it.
        columns: the names of the columns that it asks about.
    """

    text: str
    columns: frozenset[str]
    _holds: Callable[[Rows], Mask]

    def holds(self, rows: Rows) -> Mask:
        """Whether each row meets the condition: boolean (n,)."""
        return self._holds(rows)

    def __and__(self, other: Condition) -> Condition:
        return Condition(
            f"({self.text} and {other.text})",
            self.columns | other.columns,
            lambda rows: self.holds(rows) & other.holds(rows),
        )

    def __or__(self, other: Condition) -> Condition:
        return Condition(
            f"({self.text} or {other.text})",
            self.columns | other.columns,
            lambda rows: self.holds(rows) | other.holds(rows),
        )

    def __invert__(self) -> Condition:
        return Condition(f"not {self.text}", self.columns, lambda rows: ~self.holds(rows))

    def __bool__(self) -> bool:
        raise InvalidType("condition", self.text, "a condition joined by &, | or ~", "`and`, `or` and `not` cannot be")

    def __str__(self) -> str:
        return self.text


@final
@known_keywords
@frozen
class Column:
    """A column of numbers, with public bounds.

    Args:
        name: of the column in the table.
        low: public lower bound, in units of the data. A smaller number counts as this one.
        high: public upper bound, above `low`. Take both from what the column means, never from the data at hand.
            Without bounds the column may be counted, and `Table.with_bounds` finds some privately.

    Raises:
        InvalidType, InvalidValue: for a name that is no text, one bound alone, and bounds that are no numbers within
            ±2^500, not in order, or one number in binary64.
    """

    name: str = field(validator=_name)
    low: Fraction | None = field(default=None, converter=_bound)
    high: Fraction | None = field(default=None, converter=_bound)

    def __attrs_post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise InvalidValue(
                "bounds", f"one bound of {self.name!r}", "both, or none", "Write Column(name, low, high)"
            )
        if self.low is not None and self.high is not None and not float(self.low) < float(self.high):
            raise InvalidValue("high", str(self.high), f"a number above low = {self.low}, in binary64 too")

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The public bounds.

        Raises:
            InvalidValue: where there are none.
        """
        if self.low is None or self.high is None:
            raise InvalidValue(
                "column",
                self.name,
                "a column with public bounds",
                f"Declare them, Column({self.name!r}, low, high), or find some privately: "
                f"table.with_bounds({self.name!r}, epsilon=…)",
            )
        return self.low, self.high

    def at_least(self, value: Number) -> Condition:
        """Rows whose number is at least this one."""
        edge = float(in_range(value, parameter="value"))
        return self._where(f"{self.name} ≥ {value}", lambda numbers: numbers >= edge)

    def at_most(self, value: Number) -> Condition:
        """Rows whose number is at most this one."""
        edge = float(in_range(value, parameter="value"))
        return self._where(f"{self.name} ≤ {value}", lambda numbers: numbers <= edge)

    def present(self) -> Condition:
        """Rows that have a number here."""
        return self._where(f"{self.name} is present", lambda numbers: ~np.isnan(numbers))

    def _where(self, text: str, holds: Callable[[NDArray[np.float64]], Mask]) -> Condition:
        return Condition(text, frozenset({self.name}), lambda rows: holds(rows.numbers[self.name]))


def _values(values: Iterable[Any]) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidType("values", values, "the values of a column, in order", 'Write Category("city", ["a", "b"])')
    listed = tuple(values)
    if not listed:
        raise InvalidValue("values", "none", "at least one value")
    if len(set(map(str, listed))) < len(listed):
        raise InvalidValue("values", listed, "values that read differently")
    return listed


@final
@known_keywords
@frozen
class Category:
    """A column of words or codes, of which some values are public.

    Args:
        name: of the column in the table.
        values: the public values, in the order of answers. Rows with any other value, or none, belong to no group.

    Raises:
        InvalidType, InvalidValue: for a name that is no text, no values, and values of which two read the same.
    """

    name: str = field(validator=_name)
    values: tuple[Any, ...] = field(converter=_values)

    def is_in(self, *values: Any) -> Condition:
        """Rows that have one of these values.

        Raises:
            InvalidValue: for a value that is not among the public ones.
        """
        for value in values:
            if value not in self.values:
                raise InvalidValue("value", value, f"one of {', '.join(map(str, self.values))}")
        codes = [self.values.index(value) for value in values]
        text = f"{self.name} is {' or '.join(map(str, values))}"
        return Condition(text, frozenset({self.name}), lambda rows: np.isin(rows.codes[self.name], codes))


Declared: TypeAlias = Column | Category
