"""The declared columns of whatever holds a table: data frames, Arrow tables, mappings, files and database cursors.

What a single entry becomes depends on that entry alone: one that is no number is a missing number, one that is no
public value belongs to no group. A line of a CSV file is a row by itself: one that is none, as where a quoted cell does
not end in it, is a row of missing entries. So nothing that is read can fail by what a person's row holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..accounting.bulk.clusters import Integers
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Floats
from ..data.lines import COMMAS, blocks_of_lines
from ..data.parquet import parquet_file
from ..data.streams import Stream, opened, well_formed
from .columns import Category, Column, Declared
from .rows import Rows

Entries: TypeAlias = Sequence[Any] | NDArray[Any]
Read: TypeAlias = dict[str, Entries]
Row: TypeAlias = Sequence[Any] | Mapping[str, Any]

_KINDS = (
    "a data frame, an Arrow table, a mapping of columns, a list of rows that are mappings, a .csv or .parquet file, "
    "or a database cursor"
)
_NUMERIC = "biuf"
_BLOCK = 1 << 16


@runtime_checkable
class Cursor(Protocol):
    """Rows of a query, as every Python database module gives them (PEP 249)."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """One sequence for each column, its name first."""
        ...

    def fetchmany(self, size: int = ..., /) -> Sequence[Row]:
        """The next rows."""
        ...


@runtime_checkable
class LazyFrame(Protocol):
    """Columns that are computed when they are collected, as polars gives them."""

    def collect_schema(self) -> Mapping[str, Any]:
        """The columns' types by name."""
        ...

    def select(self, names: Sequence[str], /) -> LazyFrame:
        """Some of the columns."""
        ...

    def collect(self) -> Frame:
        """The columns, computed."""
        ...


@runtime_checkable
class Frame(Protocol):
    """Columns by their names, as pandas, polars and Arrow give them."""

    @property
    def columns(self) -> Iterable[Any]:
        """The columns, or their names."""
        ...

    def __getitem__(self, name: str, /) -> Any:
        """The column of a name."""
        ...


def rows_of(data: Any, declared: Mapping[str, Declared], user: str | None) -> Rows:
    """Read the declared columns, and no other.

    Args:
        data: a data frame of pandas or polars, an Arrow table, a mapping of columns, a list of rows that are mappings,
            the path of a CSV or Parquet file (.csv, .csv.xz, .parquet), or a database cursor that has executed a query.
            A line of a CSV file is a row by itself, and no cell holds a newline.
        declared: the columns by name.
        user: name of the column that says whose row it is. Rows without such an entry are nobody's, and left out.

    Raises:
        InvalidType, InvalidValue: for anything else, a column that is missing or holds no numbers by its type, and
            columns of different lengths.
    """
    names = [*declared] if user is None or user in declared else [*declared, user]
    read = _read(data, names)
    lengths = {len(column) for column in read.values()}
    if len(lengths) > 1:
        raise InvalidValue("data", f"columns of {len(lengths)} lengths", "columns of one length")
    rows = Rows(
        length=lengths.pop(),
        numbers={name: _numbers(name, read[name]) for name, kind in declared.items() if isinstance(kind, Column)},
        codes={name: _codes(read[name], kind) for name, kind in declared.items() if isinstance(kind, Category)},
        users=None if user is None else _users(read[user]),
    )
    return rows if rows.users is None else rows.where(rows.users >= 0)


def _read(data: Any, names: Sequence[str]) -> Read:
    match data:
        case str() | PathLike():
            return _file(Path(data), names)
        case Cursor():
            return _cursor(data, names)
        case Mapping():
            return _columns(names, list(data), data.__getitem__)
        case LazyFrame():
            _require_columns(names, list(data.collect_schema()))
            return _read(data.select(names).collect(), names)
        case list() | tuple() if all(isinstance(row, Mapping) for row in data):
            return _transposed(names, list(dict.fromkeys(name for row in data for name in row)), data)
        case Frame():
            known = getattr(data, "column_names", data.columns)  # of Arrow tables `columns` are the data
            return _columns(names, [str(name) for name in known], data.__getitem__)
        case _:
            raise InvalidType("data", type(data).__name__, _KINDS, "Name its columns: {name: numbers}")


def _columns(names: Sequence[str], known: Sequence[str], column: Callable[[str], Any]) -> Read:
    _require_columns(names, known)
    return {name: _entries(column(name)) for name in names}


def _entries(column: Any) -> Entries:
    if isinstance(column, list | tuple):
        return column
    return np.asarray(column)


def _require_columns(names: Sequence[str], known: Sequence[Any], remedy: str = "") -> None:
    for name in names:
        if name not in known:
            raise InvalidValue("column", name, f"one of {', '.join(map(str, known)) or 'no columns'}", remedy)


def _file(path: Path, names: Sequence[str]) -> Read:
    readers = {".csv": _csv, ".parquet": _parquet}
    with ExitStack() as stack:
        stream = opened(path, stack)
        suffix = Path(path.name.lower().removesuffix(".xz")).suffix
        if suffix not in readers:
            raise InvalidValue("data", str(path), "a file ending in .csv, .csv.xz, .parquet or .parquet.xz")
        with well_formed(path, suffix.removeprefix(".")):
            return readers[suffix](stream, names)


def _csv(stream: Stream, names: Sequence[str]) -> Read:
    header = COMMAS.first(stream.bytes.readline().decode("utf-8-sig", "replace"))
    one_field = len(header) == 1 and not header[0].isidentifier()
    _require_columns(names, header, "Fields are to be separated by commas" if one_field else "")
    blocks = (block.decode("utf-8", "replace") for block in blocks_of_lines(stream.bytes, _BLOCK))
    return _transposed(names, header, (row or [] for block in blocks for row in COMMAS.rows(block)))


def _parquet(stream: Stream, names: Sequence[str]) -> Read:
    file = parquet_file(stream)
    _require_columns(names, file.schema_arrow.names)
    table = file.read(columns=list(names))
    return {name: _entries(table[name]) for name in names}


def _cursor(cursor: Cursor, names: Sequence[str]) -> Read:
    if cursor.description is None:
        raise InvalidValue("data", "a cursor without rows", "one that has executed a query")
    header = [str(column[0]) for column in cursor.description]

    def rows() -> Iterator[Row]:
        while block := cursor.fetchmany(1 << 16):
            yield from block

    return _transposed(names, header, rows())


def _transposed(names: Sequence[str], header: Sequence[str], rows: Iterable[Row]) -> Read:
    """Columns from rows; what a row lacks is missing."""
    _require_columns(names, header)
    places = [(name, header.index(name)) for name in names]
    found: list[list[Any]] = [[] for _ in names]
    for row in rows:
        for column, (name, place) in zip(found, places, strict=True):
            if isinstance(row, Mapping):
                column.append(row.get(name))
            else:
                column.append(row[place] if place < len(row) else None)
    return cast(Read, dict(zip(names, found, strict=True)))


def _numbers(name: str, entries: Entries) -> Floats:
    """Every entry as binary64; NaN for what is no number."""
    array = entries if isinstance(entries, np.ndarray) else None
    if array is not None and array.ndim != 1:
        raise InvalidValue("data", f"column {name} of {array.ndim} dimensions", "columns of one dimension")
    if array is not None and array.dtype.kind in _NUMERIC:
        return np.asarray(array, dtype=np.float64)
    if array is not None and array.dtype.kind not in "OUST":
        raise InvalidValue("column", name, "a column of numbers", f"It holds {array.dtype}: leave it out")
    return np.fromiter(map(_number, entries), dtype=np.float64, count=len(entries))


def _number(entry: Any) -> float:
    try:
        return float(entry)
    except OverflowError:
        return float("inf") if entry > 0 else float("-inf")
    except (TypeError, ValueError):
        return float("nan")


def _codes(entries: Entries, category: Category) -> Integers:
    """The place of each entry among the public values, −1 for others; entries may be the values' text."""
    places: dict[Any, int] = {str(value): place for place, value in enumerate(category.values)}
    places |= {value: place for place, value in enumerate(category.values)}
    return np.fromiter((_place(places, entry) for entry in entries), dtype=np.int64, count=len(entries))


def _place(places: Mapping[Any, int], entry: Any) -> int:
    try:
        return places.get(entry, -1)
    except TypeError:  # what cannot be a key is no public value
        return -1


def _users(entries: Entries) -> Integers:
    """A number for each user; −1 for rows without one."""
    numbers: dict[Any, int] = {}
    listed = entries.tolist() if isinstance(entries, np.ndarray) else entries
    return np.fromiter(
        (-1 if _is_missing(entry) else numbers.setdefault(entry, len(numbers)) for entry in listed),
        dtype=np.int64,
        count=len(listed),
    )


def _is_missing(entry: Any) -> bool:
    try:
        hash(entry)
        return entry is None or entry == "" or bool(entry != entry)
    except TypeError:  # as of pandas.NA, of which nothing is known, and of what cannot be a key
        return True
