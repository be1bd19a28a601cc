"""Columns of counts: whole numbers from 1 to 2^53; any other is refused by its row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..accounting.errors import InvalidType
from ..accounting.exact import exact
from ..accounting.private import InvalidData, Private
from ._kernels import decimals
from .keys import Keys, arrow, as_bytes, buffers, formatted_key, key_at, whole_array

Words: TypeAlias = NDArray[np.uint64]

LARGEST_COUNT = 1 << 53
"""Beyond it binary64 leaves out whole numbers."""

_ADMISSIBLE = "a whole number from 1 to 2^53"
_LEAVE_OUT = "A key that does not occur is left out; correct or remove the row"
_LOW_BITS = 26
_LARGEST_WORD = (1 << 64) - 1


def counts_of(column: Any, *, first: int = 0) -> Words:
    """A column of numbers as counts.

    Args:
        column: an Arrow array, chunked or not, of whole, floating or decimal numbers.
        first: rows before it, for messages.

    Raises:
        InvalidType: for a column of another type.
        InvalidValue: for a missing value and any number but a whole one from 1 to 2^53.
    """
    pa = arrow()
    if pa.types.is_null(column.type) and not len(column):
        return np.zeros(0, dtype=np.uint64)
    if column.null_count:
        _refuse(None, first + column.is_null().index(True).as_py())
    if pa.types.is_decimal(column.type):
        return counts_from(column.to_pylist(), first=first)
    values = whole_array(column, column.type).to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "iuf":
        raise InvalidType("count", f"a column of type {column.type}", "numbers")
    return counts_in(values, first=first)


def counts_in(values: NDArray[Any], *, first: int = 0) -> Words:
    """An array of whole or floating numbers as counts; errors as for `counts_of`."""
    wrong = (values < 1) | (values > LARGEST_COUNT)
    if values.dtype.kind == "f":
        wrong |= values != np.floor(values)  # true for NaN
    if wrong.any():
        row = int(wrong.argmax())
        _refuse(str(values[row]), first + row)
    return np.asarray(values, dtype=np.uint64)


def capped(counts: Words, largest: int | None) -> Words:
    """Counts with those above a public largest frequency lowered to it; None for none."""
    return counts if largest is None else np.minimum(counts, np.uint64(min(largest, _LARGEST_WORD)))


def counts_from(values: Iterable[Any], *, first: int = 0) -> Words:
    """Any numbers as counts; errors as for `counts_of`."""
    found: list[int] = []
    for row, value in enumerate(values, first):
        try:
            number = exact(Fraction(value) if isinstance(value, Decimal) else value)
        except (ValueError, ArithmeticError):  # Decimal has infinities of its own
            _refuse(repr(value), row)
        if number.denominator != 1 or not 1 <= number <= LARGEST_COUNT:
            _refuse(str(value), row)
        found.append(int(number))
    return np.array(found, dtype=np.uint64)


def written_counts(column: Keys, *, first: int = 0, remedy: str = "") -> Words:
    """A column of text as counts.

    Args:
        column: of type large_binary.
        first: rows before it, for messages.
        remedy: what to do about text that is no number.

    Raises:
        InvalidValue: as `counts_of`.
    """
    counts, read = np.empty(len(column), dtype=np.uint64), np.empty(len(column), dtype=np.bool_)
    decimals(*buffers(column), counts, read)
    for row in np.flatnonzero(~read | (counts < 1) | (counts > LARGEST_COUNT)).tolist():
        text = column[row].as_py()
        try:
            number = exact(text.decode("ascii"))
        except ValueError:
            _refuse(formatted_key(text), first + row, remedy or _LEAVE_OUT)
        if number.denominator != 1 or not 1 <= number <= LARGEST_COUNT:
            _refuse(text.decode("ascii").strip(), first + row)
        counts[row] = int(number)
    return counts


def halves(counts: Words) -> tuple[Words, Words]:
    """The higher and the 26 lower bits: sums of fewer than 2^37 of either fit in 64 bits."""
    low = np.uint64(_LOW_BITS)
    return counts >> low, counts & ((np.uint64(1) << low) - np.uint64(1))


def totals(higher: Words, lower: Words, keys: Keys) -> Words:
    """Sums of counts from the sums of their halves.

    Raises:
        InvalidValue: for a key whose sum is beyond 2^53.
    """
    low = np.uint64(_LOW_BITS)
    carried = higher + (lower >> low)
    beyond = carried > np.uint64(LARGEST_COUNT >> _LOW_BITS)
    sums = (carried << low) | (lower & ((np.uint64(1) << low) - np.uint64(1)))
    wrong = beyond | (sums > LARGEST_COUNT)
    if wrong.any():
        place = int(wrong.argmax())
        total = (int(higher[place]) << _LOW_BITS) + int(lower[place])
        found = Private(f"{total} for the key {formatted_key(key_at(as_bytes(keys), place))}")
        raise InvalidData("count", "a sum of the counts of one key beyond 2^53", _ADMISSIBLE, found=found)
    return sums


def summed(sums: Sequence[int], keys: Keys) -> Words:
    """Sums of counts that Python added up; errors as for `totals`."""
    higher = np.array([number >> _LOW_BITS for number in sums], dtype=np.uint64)
    lower = np.array([number % (1 << _LOW_BITS) for number in sums], dtype=np.uint64)
    return totals(higher, lower, keys)


def _refuse(value: str | None, row: int, remedy: str = _LEAVE_OUT) -> NoReturn:
    """Refuse a count by its row; None for one that is missing."""
    what, found = ("a missing value", None) if value is None else ("another value", Private(value))
    raise InvalidData("count", f"{what} in row {row + 1}", _ADMISSIBLE, remedy, found=found)
