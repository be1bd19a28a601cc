"""Files of keys and counts as tables, read batch by batch: TSV, CSV and Parquet.

A line of a text is a row by itself. In TSV nothing is quoted: a key holds neither tabs nor line ends. In CSV a cell may
be quoted, and then holds anything but a newline. Bytes that are not UTF-8 are kept as they are. A header is recognised
where columns are named, or are named key and count; otherwise the first line is data. The layout is public: whether
there is a header, and how many columns, which without one is what the first line that is not empty has.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, final

import numpy as np
from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.private import InvalidData, Private
from ..data.lines import COMMAS, NO_ROW, TABS, Grammar, blocks_of_lines
from ..data.streams import Malformed, Stream
from .frequencies import Words, counts_of, written_counts
from .keys import Keys, arrow, as_keys, as_text

_BLOCK = 1 << 24
_ROWS = 1 << 20
_BUFFER = 1 << 20
_MARK = b"\xef\xbb\xbf"
_TWO = 2
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
    return _delimited(stream, columns, COMMAS)


def tab_separated(stream: Stream, columns: Columns) -> CountTable:
    """Return the rows of a TSV file as a table."""
    return _delimited(stream, columns, TABS)


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


def _delimited(stream: Stream, columns: Columns, grammar: Grammar) -> CountTable:
    begin, end, number, line = _first_line(stream.bytes)
    first = grammar.first(line.decode("utf-8", "surrogateescape"))
    if not first:  # empty lines, which are empty keys where keys are all there is
        bare = columns.aggregate and not columns.named and number
        return _Delimited(stream, grammar, 1, False, begin, 1, 0, None) if bare else Nothing()
    if columns.named or {"key", "count"} <= set(first):
        key, count = columns.among(first)
        places = first.index(key), None if count is None else first.index(count)
        return _Delimited(stream, grammar, len(first), True, end, number + 1, *places)
    if len(first) not in ({1, 2} if columns.aggregate else {2}):
        raise InvalidValue(
            "data",
            f"{len(first)} columns in {stream.path} without a header that names key and count",
            "a column of keys and one of counts",
            "Name them: key and count; or count keys in single rows: aggregate",
        )
    return _Delimited(stream, grammar, len(first), False, begin, 1, 0, 1 if len(first) == _TWO else None)


def _first_line(content: BinaryIO) -> tuple[int, int, int, bytes]:
    """Where lines begin, and of the first that is not empty: where it ends, its number and what it holds."""
    content.seek(0)
    begin = len(_MARK) if content.read(len(_MARK)) == _MARK else 0
    content.seek(begin)
    end, number = begin, 0
    for number, line in enumerate(content, 1):
        end += len(line)
        if line.strip(b"\r\n"):
            return begin, end, number, line
    return begin, end, number, b""


@final
@frozen(eq=False)
class _Delimited(CountTable):
    """Columns of a text.

    Attributes:
        stream: the file.
        grammar: how a line is cut.
        width: number of columns.
        header: whether a line names them.
        begin: bytes before the first row.
        first: number of the line that it is in, from 1.
        key: place of the column of keys.
        count: place of the column of counts.
    """

    stream: Stream
    grammar: Grammar
    width: int
    header: bool
    begin: int
    first: int
    key: int
    count: int | None

    def batches(self) -> Iterator[Batch]:
        """Iterate over the rows, some megabytes at a time."""
        self.stream.bytes.seek(self.begin)
        row, line = 0, self.first
        for block in blocks_of_lines(self.stream.bytes, _BLOCK):
            table = self._table(block, line)
            keys = as_text(table["key"].combine_chunks())
            yield Batch(keys, self._counts(table, row))
            row += len(table)
            line += block.count(b"\n")

    def _table(self, block: bytes, first: int) -> Any:
        from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

        if not self.grammar.are_rows(block):
            self._refuse_faults(block, first)
        names = [f"f{place}" for place in range(self.width)]
        wanted = {"key": self.key} if self.count is None else {"key": self.key, "count": self.count}
        try:
            table = read_csv(
                io.BytesIO(block + b"\n" if block[-1:] != b"\n" else block),  # else it reads no single line
                read_options=ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
                parse_options=ParseOptions(
                    delimiter=self.grammar.delimiter,
                    quote_char='"' if self.grammar.quoted else False,
                    double_quote=self.grammar.quoted,
                    ignore_empty_lines=self.width > 1,  # else they are empty keys
                ),
                convert_options=ConvertOptions(
                    check_utf8=False,
                    column_types={names[place]: arrow().large_binary() for place in wanted.values()},
                    include_columns=[names[place] for place in wanted.values()],
                    strings_can_be_null=False,
                ),
            )
        except arrow().ArrowInvalid:
            self._refuse_faults(block, first)
            raise
        return table.rename_columns(list(wanted))

    def _refuse_faults(self, block: bytes, first: int) -> None:
        """The first fault by its line, of which nothing is told; the parser's words would quote it."""
        for line, row in enumerate(self.grammar.rows(block.decode("latin-1")), first):
            if row is None:
                raise Malformed(f"There is {NO_ROW} in line {line}; keys with newlines take Parquet")
            if len(row) not in (0, self.width):
                raise Malformed(f"Expected {self.width} columns, got {len(row)} in line {line}")

    def _counts(self, table: Any, first: int) -> Words | None:
        if self.count is None:
            return None
        remedy = "" if self.header or first else _HEADER
        return written_counts(table["count"].combine_chunks(), first=first, remedy=remedy)


def ones(keys: Keys) -> Words:
    """Return a count of 1 for each key."""
    return np.ones(len(keys), dtype=np.uint64)
