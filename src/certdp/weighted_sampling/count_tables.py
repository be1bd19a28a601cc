"""Files of keys and counts as tables, read batch by batch: TSV, CSV and Parquet.

In TSV nothing is quoted: a key holds neither tabs nor line ends. In CSV a cell may be quoted, and then holds anything.
Bytes that are not UTF-8 are kept as they are. A header is recognised where columns are named, or are named key and
count; otherwise the first line is data.
"""

from __future__ import annotations

import csv
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, final

import numpy as np
from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.private import InvalidData, Private
from ..data.streams import Malformed, Stream
from .frequencies import Words, counts_of, written_counts
from .keys import Keys, arrow, as_bytes, as_keys, as_text

_BLOCK = 1 << 24
_HEAD = 1 << 20
_ROWS = 1 << 20
_BUFFER = 1 << 20
_MARK = b"\xef\xbb\xbf"
_TWO = 2
_WIDTH = re.compile(r"CSV parse error: ((?:Row #\d+: )?Expected \d+ columns, got \d+)")
_HEADER = "If the first line is a header, name its columns: key and count"


@frozen(kw_only=True)
class Columns:
    """The columns of a table of keys: which of them hold what.

    Attributes:
        key: name of the column of keys; by default key, or the first of two.
        count: name of the column of counts; by default count, or the second of two.
        aggregate: whether a key may come several times, and without a count each row is one element.
    """

    key: str | None = None
    count: str | None = None
    aggregate: bool = False

    @property
    def named(self) -> bool:
        """Whether a column is named."""
        return self.key is not None or self.count is not None

    def require_unnamed(self) -> None:
        """Refuse names where data have no named columns.

        Raises:
            InvalidValue: for the first name.
        """
        for role, name in (("key", self.key), ("count", self.count)):
            if name is not None:
                raise InvalidValue(role, name, "nothing, where data have no named columns")

    def among(self, names: Sequence[str]) -> tuple[str, str | None]:
        """The columns of keys and of counts, if there is one.

        Raises:
            InvalidValue: for names that are not there, and where they do not tell the columns.
        """
        for role, name in (("key", self.key), ("count", self.count)):
            if name is not None and names.count(name) != 1:
                found = Private(", ".join(names))
                raise InvalidData(role, name, f"the name of one of the {len(names)} columns", found=found)
        key = self.key if self.key is not None else _only(names, "key", self.count, 0)
        count = self.count if self.count is not None else _only(names, "count", key, 1)
        if key is None or (count is None and not self.aggregate):
            raise InvalidData(
                "data",
                f"{len(names)} columns of which none is named key or count",
                "a column of keys and one of counts",
                "Name them: key and count; or count keys in single rows: aggregate",
                found=Private(", ".join(names)),
            )
        return key, count


def _only(names: Sequence[str], usual: str, other: str | None, place: int) -> str | None:
    """The column with the usual name, or the one of two that is not the other."""
    if names.count(usual) == 1 and usual != other:
        return usual
    if len(names) != _TWO:
        return names[0] if len(names) == 1 and other is None else None
    return names[place] if other is None else names[1 - names.index(other)]


class Batch(NamedTuple):
    """Rows of a table.

    Attributes:
        keys: of type large_string or large_binary.
        counts: of each; None where every row is one element.
    """

    keys: Keys
    counts: Words | None


class CountTable(ABC):
    """Keys and counts that are read batch by batch, from the start each time."""

    __slots__ = ()

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows in order, batch by batch."""

    def rows(self, first: int, second: int) -> str:
        """Where two rows are, which are counted from 1."""
        return f"rows {first} and {second}"


@final
@frozen(eq=False)
class Nothing(CountTable):
    """A table without rows."""

    def batches(self) -> Iterator[Batch]:
        """Iterate over no batch."""
        return iter(())


def comma_separated(stream: Stream, columns: Columns) -> CountTable:
    """Return the rows of a CSV file as a table."""
    return _delimited(stream, columns, ",", '"')


def tab_separated(stream: Stream, columns: Columns) -> CountTable:
    """Return the rows of a TSV file as a table."""
    return _delimited(stream, columns, "\t", False)


def parquet(stream: Stream, columns: Columns) -> CountTable:
    """The rows of a Parquet file; one that is compressed is read from a copy."""
    arrow()
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(stream.in_any_order(), buffer_size=_BUFFER, pre_buffer=False)
    return _Parquet(file, *columns.among(file.schema_arrow.names))


@final
@frozen(eq=False)
class _Parquet(CountTable):
    """Two columns of a file.

    Attributes:
        file: as pyarrow has it.
        key: name of the column of keys.
        count: name of the column of counts.
    """

    file: Any
    key: str
    count: str | None

    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows, one row group after the other."""
        first = 0
        names = [self.key] if self.count is None else [self.key, self.count]
        for group in range(self.file.num_row_groups):
            for batch in self.file.iter_batches(_ROWS, row_groups=[group], columns=names, use_threads=False):
                keys = as_keys(batch.column(self.key), first=first)
                yield Batch(keys, None if self.count is None else counts_of(batch.column(self.count), first=first))
                first += len(batch)


def _delimited(stream: Stream, columns: Columns, delimiter: str, quote: str | bool) -> CountTable:
    stream.bytes.seek(0)
    head = stream.bytes.read(_HEAD).removeprefix(_MARK)
    first = _first_row(head, delimiter, bool(quote))
    if not first:  # empty lines, which are empty keys where keys are all there is
        bare = columns.aggregate and not columns.named and head
        return _Delimited(stream, delimiter, quote, 1, False, "f0", None) if bare else Nothing()
    header = columns.named or {"key", "count"} <= set(first)
    names = first if header else [f"f{place}" for place in range(len(first))]
    if not header and len(first) not in ({1, 2} if columns.aggregate else {2}):
        raise InvalidValue(
            "data",
            f"{len(first)} columns in {stream.path} without a header that names key and count",
            "a column of keys and one of counts",
            "Name them: key and count; or count keys in single rows: aggregate",
        )
    key, count = columns.among(names) if header else (names[0], names[1] if len(names) == _TWO else None)
    return _Delimited(stream, delimiter, quote, len(names), header, key, count)


def _first_row(head: bytes, delimiter: str, quoted: bool) -> list[str]:
    """The cells of the first row that is not empty; bytes that are not UTF-8 are escaped."""
    text = head.decode("utf-8", "surrogateescape")
    if quoted:
        return next((row for row in csv.reader(io.StringIO(text, newline="")) if row), [])
    lines = (line.rstrip("\r\n") for line in io.StringIO(text, newline=""))
    return next((line.split(delimiter) for line in lines if line), [])


@final
class _Ended(io.RawIOBase):
    """A text whose last line is ended: pyarrow reads no single line that is not."""

    def __init__(self, text: BinaryIO) -> None:
        self._text = text
        self._last = b"\n"

    def readable(self) -> bool:
        """Whether the text can be read: always."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Read at most so many bytes, fewer of them at the end alone."""
        block = self._text.read(size - 1 if size > 1 else size)
        self._last = (block or self._last)[-1:]
        if (block and len(block) >= size - 1) or self._last in (b"\n", b"\r"):
            return block
        self._last = b"\n"
        return block + b"\n"


@final
@frozen(eq=False)
class _Delimited(CountTable):
    """Columns of a text.

    Attributes:
        stream: the file.
        delimiter: between cells.
        quote: what cells may be quoted with; False for nothing.
        width: number of columns.
        header: whether the first line names them.
        key: name of the column of keys.
        count: name of the column of counts.
    """

    stream: Stream
    delimiter: str
    quote: str | bool
    width: int
    header: bool
    key: str
    count: str | None

    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows, some megabytes at a time."""
        from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

        with _lines_of_one_width():
            self.stream.bytes.seek(0)
            names = [self.key] if self.count is None else [self.key, self.count]
            reader = open_csv(
                _Ended(self.stream.bytes),
                read_options=ReadOptions(
                    use_threads=False, block_size=_BLOCK, autogenerate_column_names=not self.header
                ),
                parse_options=ParseOptions(
                    delimiter=self.delimiter,
                    quote_char=self.quote,
                    double_quote=bool(self.quote),
                    newlines_in_values=bool(self.quote),
                    ignore_empty_lines=self.width > 1,  # else they are empty keys
                ),
                convert_options=ConvertOptions(
                    check_utf8=False,
                    column_types=dict.fromkeys(names, arrow().large_binary()),
                    include_columns=names,
                    strings_can_be_null=False,
                ),
            )
            first = 0
            for batch in reader:
                keys = as_text(batch.column(self.key))
                yield Batch(keys, self._counts(batch, first))
                first += len(batch)

    def _counts(self, batch: Any, first: int) -> Words | None:
        if self.count is None:
            return None
        remedy = "" if self.header or first else _HEADER
        return written_counts(as_bytes(batch.column(self.count)), first=first, remedy=remedy)


@contextmanager
def _lines_of_one_width() -> Iterator[None]:
    """The parser's complaint of a line's width is told without the line."""
    try:
        yield
        return
    except arrow().ArrowInvalid as error:
        found = _WIDTH.match(str(error))
        if found is None:
            raise
    raise Malformed(found[1])


def ones(keys: Keys) -> Words:
    """Return a count of 1 for each key."""
    return np.ones(len(keys), dtype=np.uint64)
