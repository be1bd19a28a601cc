"""The records of a file: all of them, or chunk by chunk in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Self, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..plugins.contract import as_records
from .comma_separated import comma_separated
from .npy import npy, npz
from .numbers import refuse_shape, require_finite
from .parquet import parquet
from .reading import Reading, divisor_of
from .streams import Stream, opened, well_formed
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
        path: the file; None for a matrix in memory.
        reading: how it becomes a matrix.
    """

    path: Path | None
    reading: Reading
    _table: Table
    _suffix: str
    _divisor: float

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
        return cls(None, Reading(), Held(matrix), "", 1.0)

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
        blocks = self._table.blocks(usual_rows(self.columns) if rows is None else min(rows, _MOST_ROWS))
        done = 0
        while (block := self._next(blocks)) is not None:
            require_finite(block, done)
            done += len(block)
            yield self._divided(block)

    def _next(self, blocks: Iterator[Floats]) -> Floats | None:
        if self.path is None:
            return next(blocks, None)
        with well_formed(self.path, self._suffix):
            return next(blocks, None)

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


@contextmanager
def open_records(path: str | PathLike[str], reading: Reading | None = None) -> Iterator[Records]:
    """The records of a file, to be read in chunks while the file is open.

    Memory stays that of a chunk, for Parquet with what its pages hold. Compressed archives and Parquet files, and
    compressed or textual files whose records are columns, are first copied to a temporary file without a name, which
    goes with this context.

    Raises:
        InvalidValue: for a missing or unreadable file, an unknown format, another shape than a matrix and types that
            hold no numbers; what is wrong with single records shows once they are read.
    """
    how = reading or Reading()
    divisor = divisor_of(how)
    file = Path(path)
    with ExitStack() as stack:
        stream = opened(file, stack)
        suffix = file.name.lower().removesuffix(".xz").rpartition(".")[2]
        if suffix not in _FORMATS:
            endings = ", ".join(f".{known}" for known in _FORMATS)
            admissible = f"a file ending in {endings}, or in one of those and .xz"
            raise InvalidValue("data", str(file), admissible, "Convert it")
        with well_formed(file, suffix):
            table = _FORMATS[suffix](stream, how)
        if 0 in table.shape:
            lines, columns = table.shape
            refuse_shape((lines or 0, columns))
        yield Records(file, how, table, suffix, divisor)


def read_records(path: str | PathLike[str], reading: Reading | None = None) -> Floats:
    """The records in a file, as a C-ordered float64 matrix with one record per row.

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
