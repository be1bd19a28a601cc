"""The records of files: all of them, or chunk by chunk in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Self, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.private import InvalidData
from ..plugins.contract import as_records
from .comma_separated import comma_separated
from .files import Files, ending_of, files_of, path_text, within_file
from .npy import npy, npz
from .numbers import refuse_shape, require_finite
from .parquet import parquet
from .reading import Reading, divisor_of
from .streams import Stream, each_well_formed, opened, well_formed
from .tables import Held, Table, usual_rows

_FORMATS: dict[str, Callable[[Stream, Reading], Table]] = {
    "npy": npy,
    "npz": npz,
    "csv": comma_separated,
    "parquet": parquet,
}
_MOST_ROWS = 1 << 24


@final
@frozen(eq=False)
class Records:
    """Records that need not be in memory, one per row: see `open_records`.

    Attributes:
        files: where they are, in their order; none for a matrix in memory.
        reading: how these become a matrix.
    """

    files: tuple[Path, ...]
    reading: Reading
    _table: Table
    _divisor: float
    _may_be_none: bool = False

    @classmethod
    def of(cls, records: ArrayLike, *, fewest: int = 1) -> Self:
        """The records of a matrix in memory.

        Args:
            records: matrix (n, d) of finite numbers.
            fewest: how many there have to be; 0 for a part of a data set, which may have none.

        Raises:
            InvalidValue: for anything but a matrix of finite numbers with so many records.
        """
        matrix = as_records(records)
        if not matrix.shape[1] or len(matrix) < fewest:
            refuse_shape(matrix.shape, "records")
        return cls((), Reading(), Held(matrix), 1.0)

    @property
    def shape(self) -> tuple[int | None, int]:
        """Records and columns; None for records that only reading would count, as in CSV files."""
        return self._table.shape

    @property
    def columns(self) -> int:
        """The number of entries of a record."""
        return self._table.shape[1]

    def chunks(self, rows: int | None = None) -> Iterator[Floats]:
        """The records in order, from the first one each time; memory is that of a chunk.

        Args:
            rows: at most so many at a time, ≥ 1; by default what fills 8 MiB, at most 131,072.

        Yields:
            float64 matrices of finite numbers, C-ordered. Put together they are what `read_records` gives, for any
            `rows`.

        Raises:
            InvalidValue: as `read_records`, once the reading comes to the fault.
        """
        if rows is not None and rows < 1:
            raise InvalidValue("rows", rows, "a number of records ≥ 1", "Leave it out for the usual one")
        none = bool(self.files) and not self._may_be_none
        for block in self._table.blocks(usual_rows(self.columns) if rows is None else min(rows, _MOST_ROWS)):
            none = False
            yield self._divided(block)
        if none:
            raise InvalidData("data", "a header alone", "at least one record", "Give a file with records")

    def by_file(self) -> Iterator[Records]:
        """The records of each file, opened anew; of several files, some may have none.

        Raises:
            InvalidValue: as `open_records`, and for a file of another shape than before.
        """
        for file in self.files:
            table = _Several.of((file,), self.reading)
            if table.columns != self.columns:
                raise _reshaped()
            yield Records((file,), self.reading, table, self._divisor, len(self.files) > 1)

    def _divided(self, records: Floats) -> Floats:
        if self._divisor == 1:
            return records
        with np.errstate(over="ignore"):
            result = np.asarray(records / self._divisor)
        if not np.isfinite(result).all():
            raise InvalidValue(
                "divide-by",
                str(self.reading.divide_by),
                "a public bound that keeps every entry finite",
                "Give a larger one",
            )
        return result


@final
@frozen(eq=False)
class _Opened(Table):
    """The rows of a file that is open, finite.

    Attributes:
        file: for messages.
        ending: that tells its format.
        table: what it holds.
    """

    file: Path
    ending: str
    table: Table

    @property
    def shape(self) -> tuple[int | None, int]:
        """That of what the file holds."""
        return self.table.shape

    @property
    def names(self) -> Sequence[str] | None:
        """Those that the file gives."""
        return self.table.names

    def blocks(self, rows: int) -> Iterator[Floats]:
        """Iterate over blocks; what is wrong with the file shows once the reading comes to it."""
        done = 0
        for block in each_well_formed(partial(self.table.blocks, rows), self.file, self.ending):
            require_finite(block, done)
            done += len(block)
            yield block


@contextmanager
def _open(file: Path, reading: Reading) -> Iterator[_Opened]:
    with ExitStack() as stack:
        stream = opened(file, stack)
        ending = ending_of(file, _FORMATS)
        with well_formed(file, ending):
            table = _FORMATS[ending](stream, reading)
        yield _Opened(file, ending, table)


@final
@frozen(eq=False)
class _Several(Table):
    """The rows of several files, one file after the other, of which one at a time is open.

    Attributes:
        files: where they are.
        reading: how each is read.
        lines: of each, as it was first seen.
        columns: of all.
    """

    files: tuple[Path, ...]
    reading: Reading
    lines: tuple[int | None, ...]
    columns: int

    @classmethod
    def of(cls, files: tuple[Path, ...], reading: Reading) -> Self:
        """Look at every file once.

        Raises:
            InvalidValue: for a file that cannot be read, and for one with other columns than those before it.
        """
        lines: list[int | None] = []
        widths: list[int] = []
        names, naming = None, files[0]
        for file in files:
            with within_file(file), _open(file, reading) as table:
                (number, width), named = table.shape, table.names
                lines.append(number)
                widths.append(width)
                if width != widths[0]:
                    admissible = f"{widths[0]}, as in {path_text(files[0])}"
                    raise InvalidValue("data", f"{width} columns", admissible, "Give files of one kind")
                if names is None:
                    names, naming = named, file
                if named is not None and list(named) != list(names or ()):
                    admissible, remedy = f"those of {path_text(naming)}, in that order", "Name the columns to read"
                    raise InvalidData("data", "columns of other names", admissible, remedy)
        return cls(files, reading, tuple(lines), widths[0])

    @property
    def shape(self) -> tuple[int | None, int]:
        """The number of all rows, where every file states its own, and that of the columns."""
        known = [number for number in self.lines if number is not None]
        return (sum(known) if len(known) == len(self.lines) else None), self.columns

    def blocks(self, rows: int) -> Iterator[Floats]:
        """Iterate over blocks, none of which has rows of two files."""
        for file, lines in zip(self.files, self.lines, strict=True):
            with within_file(file), _open(file, self.reading) as table:
                if table.shape != (lines, self.columns):
                    raise _reshaped()
                yield from table.blocks(rows)


def _reshaped() -> InvalidValue:
    return InvalidValue("data", "another shape than before", "files that stay as they are", "Start anew")


@contextmanager
def open_records(path: Files, reading: Reading | None = None) -> Iterator[Records]:
    """The records of files, to be read in chunks within this context.

    Memory stays that of a chunk, for Parquet with what its pages hold. Compressed archives and Parquet files, and
    compressed or textual files whose records are columns, are first copied to a temporary file without a name, which
    goes with this context. Of several files one at a time is open.

    Args:
        path: a file, a folder, a pattern such as `2024/*.parquet`, or several of these in order: see `files_of`. The
            records of the first file come first. The files may be of several formats; they have as many columns each,
            and where they name these, the same names in the same order.
        reading: how a file becomes a matrix.

    Raises:
        InvalidValue: for a missing or unreadable file, an unknown format, another shape than a matrix and types that
            hold no numbers; what is wrong with single records shows once they are read.
    """
    how = reading or Reading()
    divisor = divisor_of(how)
    files = files_of(path)
    with ExitStack() as stack:
        table: Table = stack.enter_context(_open(files[0], how)) if len(files) == 1 else _Several.of(files, how)
        lines, columns = table.shape
        if 0 in table.shape:
            refuse_shape((lines or 0, columns))
        yield Records(files, how, table, divisor)


def read_records(path: Files, reading: Reading | None = None) -> Floats:
    """The records in files, as a C-ordered float64 matrix with one record per row.

    Args:
        path, reading: as for `open_records`.

    Raises:
        InvalidValue: for a missing, unreadable or empty file, an unknown format, another shape than a matrix, text
            entries, NaN, inf, and integers that binary64 does not hold exactly.
    """
    with open_records(path, reading) as records:
        lines, columns = records.shape
        if lines is None:
            return np.concatenate(list(records.chunks()))
        matrix = np.empty((lines, columns))
        done = 0
        for chunk in records.chunks():
            matrix[done : done + len(chunk)] = chunk
            done += len(chunk)
        return matrix
