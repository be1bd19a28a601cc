"""Parquet files: a column per entry, read by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np
from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.private import InvalidData
from .numbers import exactly, require_type
from .reading import Reading
from .streams import Stream
from .tables import Table, turned

_BUFFER = 1 << 20


def parquet(stream: Stream, how: Reading) -> Table:
    """The columns of a Parquet file; one that is compressed is read from a copy."""
    file = parquet_file(stream)
    every: list[str] = file.schema_arrow.names
    table = _Parquet(file, [every[place] for place in how.among(every)], how.columns is None)
    return turned(table, stream.stack) if how.transpose else table


def parquet_file(stream: Stream) -> Any:
    """The file as Arrow reads it, not more of it at a time than is asked for.

    Raises:
        InvalidValue: where Arrow is not installed.
    """
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise InvalidValue(
            "data", "a Parquet file", "CSV in this installation", "pip install 'certdp[parquet]'"
        ) from None
    # without a buffer, and with reading ahead, whole row groups would be held
    return ParquetFile(stream.in_any_order(), buffer_size=_BUFFER, pre_buffer=False)


@final
@frozen(eq=False)
class _Parquet(Table):
    """Columns of a file.

    Attributes:
        file: as pyarrow has it.
        chosen: names of the columns that are read.
        all: whether these are all of them.
    """

    file: Any
    chosen: Sequence[str]
    all: bool

    @property
    def shape(self) -> tuple[int | None, int]:
        """The numbers of rows and columns, as the file's end states them."""
        return self.file.metadata.num_rows, len(self.chosen)

    @property
    def names(self) -> Sequence[str]:
        """Those of the columns that are read."""
        return self.chosen

    def blocks(self, rows: int) -> Iterator[Floats]:
        """Iterate over the rows, one row group after the other."""
        for group in range(self.file.num_row_groups):
            wanted = None if self.all else list(self.chosen)
            for batch in self.file.iter_batches(batch_size=rows, row_groups=[group], columns=wanted):
                yield _numbers(batch if wanted is None else batch.select(wanted))


def _numbers(batch: Any) -> Floats:
    columns = []
    for number, column in enumerate(batch.columns, start=1):
        if column.null_count:
            raise InvalidData(
                "data", f"missing values in column {number}", "a value in every cell", "Remove or impute such records"
            )
        values = column.to_numpy(zero_copy_only=False)
        where = f"column {number}"
        require_type(values.dtype, where)
        columns.append(exactly(values, where))  # before another column's type widens this one's
    return np.column_stack(columns)
