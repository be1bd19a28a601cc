"""Aggregated data: keys and how often each occurs, in memory or chunk by chunk from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol, final, runtime_checkable

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.errors import InvalidType, InvalidValue
from ..data.files import Files, ending_of, files_of, path_text, within_file
from ..data.streams import Stream, each_well_formed, opened, well_formed
from .count_tables import Batch, Columns, CountTable, comma_separated, ones, parquet, tab_separated
from .frequencies import Words, counts_from, counts_in, counts_of, halves, summed, totals
from .keys import Distinct, Keys, arrow, arrow_if_installed, as_bytes, as_keys, as_text, listed_keys, require_keys
from .plain_keys import PlainKeys

_FORMATS: dict[str, Callable[[Stream, Columns], CountTable]] = {
    "tsv": tab_separated,
    "csv": comma_separated,
    "parquet": parquet,
}
_ROWS = 1 << 20
_FORMS = "a mapping, an Arrow table, a data frame, a pair (keys, counts), or a list of keys"


@runtime_checkable
class _Labelled(Protocol):
    """A Series of pandas, or what is like one: numbers, each with a label."""

    index: Any
    dtype: Any

    def to_numpy(self) -> NDArray[Any]:
        """The numbers."""
        ...


@final
@frozen(eq=False)
class KeyCounts:
    """Distinct keys and the frequency of each: see `of`.

    Attributes:
        keys: an Arrow array of type large_string or large_binary, without nulls; compared by their bytes. Where Arrow
            is not installed, what has `to_pylist`, `take`, `filter` and `slice` like one.
        counts: from 1 to 2^53.
    """

    keys: Keys = field(repr=False)
    counts: NDArray[np.uint64] = field(repr=False)

    def __attrs_post_init__(self) -> None:
        require_keys(self.keys, len(self.counts))

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def of(cls, data: Any, *, key: str | None = None, count: str | None = None, aggregate: bool = False) -> KeyCounts:
        """The counts of data in memory.

        Args:
            data: a mapping from keys to counts, an Arrow table, a data frame of pandas (2.2 or newer) or Polars, a pair
                of keys and counts, or a Series of counts with keys as its index, such as `value_counts()` of pandas
                gives; also a list, array or column of keys, each of which is one element.
            key: name of the column of keys; by default key, or the first of two columns.
            count: name of the column of counts; by default count, or the second of two columns.
            aggregate: sum the counts of a key; a row without a count is one element.

        Raises:
            InvalidType: for data of another form, keys that are neither text nor bytes, and counts that are no numbers.
            InvalidValue: for a missing key, a count that is no whole number from 1 to 2^53 (by its row, counted from
                1), and a key that comes twice and is not to be aggregated.
        """
        columns = Columns(key=key, count=count, aggregate=aggregate)
        match data:
            case KeyCounts():
                return data
            case Mapping():
                columns.require_unnamed()
                batch = Batch(listed_keys(data), counts_from(data.values()))
            case tuple() if len(data) == 2:
                columns.require_unnamed()
                batch = Batch(_column(data[0]), _numbers(data[1]))
            case _Labelled() if data.dtype.kind in "iuf":
                columns.require_unnamed()
                batch = Batch(listed_keys(data.index), _numbers(data.to_numpy()))
            case _:
                batch = _of_table(data, columns)
        if batch.counts is not None and len(batch.counts) != len(batch.keys):
            raise InvalidValue("count", f"{len(batch.counts)} counts for {len(batch.keys)} keys", "one for each")
        if aggregate or batch.counts is None:
            return _summed_plainly(batch) if isinstance(batch.keys, PlainKeys) else _summed([batch])
        distinct = Distinct()
        distinct.add(batch.keys)
        distinct.require(lambda: [batch.keys])
        return cls(batch.keys, batch.counts)


@final
@frozen(eq=False)
class CountStream:
    """Counts in files: see `open_counts`. To go through it is to go through `chunks`, each time from the start.

    Attributes:
        files: where they are, in their order.
    """

    files: tuple[Path, ...]
    _table: CountTable = field(repr=False)
    _aggregate: bool

    def __iter__(self) -> Iterator[KeyCounts]:
        return self.chunks()

    def chunks(self) -> Iterator[KeyCounts]:
        """The counts in order, from the start each time.

        Memory is that of a chunk and 8 bytes for each key; where counts are aggregated, that of the distinct keys.

        Guarantees:
            Once the iteration has ended, no key was in two rows. Until then that is not known: publish nothing before.

        Raises:
            InvalidValue: as `KeyCounts.of`, and for a damaged file, once the reading comes to the fault.
        """
        if self._aggregate:
            yield from _cut(_summed(self._table.batches()))
            return
        distinct = Distinct()
        for keys, counts in self._table.batches():
            distinct.add(keys)
            yield KeyCounts(keys, ones(keys) if counts is None else counts)
        distinct.require(lambda: (batch.keys for batch in self._table.batches()), self._table.rows)


@final
@frozen(eq=False)
class _Opened(CountTable):
    """The rows of a file that is open.

    Attributes:
        file: for messages.
        ending: that tells its format.
        table: what it holds.
    """

    file: Path
    ending: str
    table: CountTable

    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows; what is wrong with the file shows once the reading comes to it."""
        return each_well_formed(self.table.batches, self.file, self.ending)


@contextmanager
def _open(file: Path, columns: Columns) -> Iterator[_Opened]:
    with ExitStack() as stack:
        stream = opened(file, stack)
        ending = ending_of(file, _FORMATS)
        arrow()
        with well_formed(file, ending):
            table = _FORMATS[ending](stream, columns)
        yield _Opened(file, ending, table)


@final
@frozen(eq=False)
class _Several(CountTable):
    """The rows of several files, one file after the other, of which one at a time is open.

    Attributes:
        files: where they are.
        columns: which of their columns hold what.
    """

    files: tuple[Path, ...]
    columns: Columns

    @classmethod
    def of(cls, files: tuple[Path, ...], columns: Columns) -> _Several:
        """Look at every file once.

        Raises:
            InvalidValue: for a file that cannot be read, and columns that it does not have.
        """
        for file in files:
            with within_file(file), _open(file, columns):
                pass
        return cls(files, columns)

    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows of one file after the other."""
        for file in self.files:
            with within_file(file), _open(file, self.columns) as table:
                yield from table.batches()

    def rows(self, first: int, second: int) -> str:
        """Where two rows are, each in its file, which are read again for that."""
        return f"{self._row(first)} and {self._row(second)}"

    def _row(self, row: int) -> str:
        for file in self.files:
            with within_file(file), _open(file, self.columns) as table:
                length = sum(len(batch.keys) for batch in table.batches())
            if row <= length:
                return f"row {row} of {path_text(file)}"
            row -= length
        raise InvalidValue("data", "another number of rows than before", "files that stay as they are", "Start anew")


@contextmanager
def open_counts(
    path: Files, *, aggregate: bool = False, key: str | None = None, count: str | None = None
) -> Iterator[CountStream]:
    """The counts of files, to be read in chunks within this context.

    A key that is in two files is one that comes twice: it is refused, or its counts are summed with `aggregate`.

    Args:
        path: a file, a folder, a pattern such as `2024/*.parquet`, or several of these: see `certdp.open_records`. A
            file is .tsv, .csv or .parquet, or one of those compressed with xz. TSV is not quoted. Text files begin
            with a header where `key` or `count` is given, or where that line has columns called key and count.
        aggregate: sum the counts of a key; a row without a count is one element.
        key: name of the column of keys; by default key, or the first of two columns.
        count: name of the column of counts; by default count, or the second of two columns.

    Raises:
        InvalidValue: for a missing or unreadable file, an unknown format, and columns that are not there; what is
            wrong with single rows shows once they are read.
    """
    files, columns = files_of(path), Columns(key=key, count=count, aggregate=aggregate)
    with ExitStack() as stack:
        single = len(files) == 1
        table: CountTable = stack.enter_context(_open(files[0], columns)) if single else _Several.of(files, columns)
        yield CountStream(files, table, aggregate)


def _column(keys: Any) -> Keys:
    match keys:
        case np.ndarray():
            return listed_keys(keys.tolist())
        case str() | bytes():
            raise InvalidType("data", type(keys).__name__, _FORMS, "Give the path of a file as pathlib.Path(…)")
        case Iterable() if not _is_arrow(keys):
            return listed_keys(keys)
        case Iterable():
            return as_keys(keys)
    raise InvalidType("data", type(keys).__name__, _FORMS)


def _numbers(counts: Any) -> Words:
    match counts:
        case np.ndarray() if counts.dtype.kind in "iuf" and counts.ndim == 1:
            return counts_in(counts)
        case Iterable() if not _is_arrow(counts):
            return counts_from(counts)
        case Iterable():
            return counts_of(counts)
    raise InvalidType("count", type(counts).__name__, "whole numbers")


def _is_arrow(column: Any) -> bool:
    pa = arrow_if_installed()
    return pa is not None and isinstance(column, pa.Array | pa.ChunkedArray)


def _of_table(data: Any, columns: Columns) -> Batch:
    """The batch of a table, or of a column of keys."""
    if not _is_arrow(data) and hasattr(data, "__arrow_c_stream__"):
        pa = arrow()
        try:
            table = pa.table(data)
        except (pa.ArrowException, TypeError):  # a column of a data frame
            columns.require_unnamed()
            return Batch(as_keys(pa.chunked_array(data)), None)
        key, count = columns.among(table.column_names)
        return Batch(as_keys(table[key]), None if count is None else counts_of(table[count]))
    columns.require_unnamed()
    return Batch(_column(data), None)


def _summed(batches: Iterable[Batch]) -> KeyCounts:
    """The sums of the counts of each key, in the order of first appearance."""
    pa = arrow()
    names = ["key", "higher", "lower"]
    held: list[Any] = []
    rows = distinct = 0
    for keys, counts in batches:
        columns = [as_bytes(keys), *halves(ones(keys) if counts is None else counts)]
        held.append(_grouped(pa.table(columns, names=names)))
        rows += len(held[-1])
        if rows > 2 * distinct + _ROWS:
            held = [_grouped(pa.concat_tables(held))]
            rows = distinct = len(held[0])
    if not held:
        return KeyCounts(pa.array([], pa.large_string()), np.zeros(0, dtype=np.uint64))
    table = _grouped(pa.concat_tables(held))
    keys, higher, lower = (table[name].combine_chunks() for name in names)
    return KeyCounts(as_text(keys), totals(higher.to_numpy(), lower.to_numpy(), keys))


def _summed_plainly(batch: Batch) -> KeyCounts:
    """The sums of the counts of each key, without Arrow."""
    sums: dict[bytes, int] = {}
    counts = ones(batch.keys) if batch.counts is None else batch.counts
    for key, count in zip(batch.keys.items, counts.tolist(), strict=True):
        sums[key] = sums.get(key, 0) + count
    keys = PlainKeys(sums, text=False).as_text()
    return KeyCounts(keys, summed(list(sums.values()), keys))


def _grouped(table: Any) -> Any:
    """Return the sums of each key's columns."""
    sums = table.group_by("key", use_threads=False).aggregate([("higher", "sum"), ("lower", "sum")])
    return sums.select(["key", "higher_sum", "lower_sum"]).rename_columns(["key", "higher", "lower"])


def _cut(counts: KeyCounts) -> Iterator[KeyCounts]:
    """Cut counts in chunks of a moderate size."""
    for start in range(0, len(counts), _ROWS):
        yield KeyCounts(counts.keys.slice(start, _ROWS), counts.counts[start : start + _ROWS])
