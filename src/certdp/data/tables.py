"""What every format of file yields: rows of a matrix, block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO, final

import numpy as np
from attrs import frozen

from ..accounting.exact import Floats
from .numbers import exactly, require_finite
from .streams import drain, fill, temporary

_ENTRIES = 1 << 20
_MOST_ROWS = 1 << 17


class Table(ABC):
    """A matrix of numbers that is read block by block, from the start each time."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int | None, int]:
        """Rows and columns; None for rows that only reading would count."""

    @property
    def names(self) -> Sequence[str] | None:
        """The columns' names; None where they have none."""
        return None

    @abstractmethod
    def blocks(self, rows: int) -> Iterator[Floats]:
        """The rows in order, at most so many at a time, C-ordered; entries need not be finite."""


def usual_rows(columns: int) -> int:
    """How many rows at a time keep the work fast and small: at most 8 MiB of binary64."""
    return max(1, min(_MOST_ROWS, _ENTRIES // max(1, columns)))


@final
@frozen(eq=False)
class Held(Table):
    """A matrix in memory.

    Attributes:
        matrix: float64 (n, d).
    """

    matrix: Floats

    @property
    def shape(self) -> tuple[int | None, int]:
        """The numbers of rows and columns of the matrix."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def blocks(self, rows: int) -> Iterator[Floats]:
        """Iterate over blocks of rows; they are views where the matrix is C-ordered."""
        for start in range(0, len(self.matrix), rows):
            block = np.ascontiguousarray(self.matrix[start : start + rows])
            require_finite(block, start)  # the matrix is not ours
            yield block


@frozen(eq=False)
class _Lying(Table):
    """Entries of one type that lie one after the other.

    Attributes:
        content: where they lie.
        start: position of the first.
        lines: number of rows.
        columns: number of columns.
        kind: type of an entry.
    """

    content: BinaryIO
    start: int
    lines: int
    columns: int
    kind: np.dtype[Any]

    @property
    def shape(self) -> tuple[int | None, int]:
        """The numbers of rows and columns, as stated when the table was opened."""
        return self.lines, self.columns


@final
@frozen(eq=False)
class ByRows(_Lying):
    """Entries that lie row after row."""

    def blocks(self, rows: int) -> Iterator[Floats]:
        """Read one after the other, to the very end of the content."""
        self.content.seek(self.start)
        for first in range(0, self.lines, rows):
            block = np.empty((min(rows, self.lines - first), self.columns), dtype=self.kind)
            fill(self.content, block)
            yield exactly(block, "entries")
        drain(self.content)


@final
@frozen(eq=False)
class ByColumns(_Lying):
    """Entries that lie column after column, in content that is fast to read in any order."""

    def blocks(self, rows: int) -> Iterator[Floats]:
        """Read as one piece of each column."""
        for first in range(0, self.lines, rows):
            block = np.empty((self.columns, min(rows, self.lines - first)), dtype=self.kind)
            for column, piece in enumerate(block):
                self.content.seek(self.start + (column * self.lines + first) * self.kind.itemsize)
                fill(self.content, piece)
            yield exactly(block.T, "entries")


def turned(table: Table, stack: ExitStack) -> ByColumns:
    """The transpose: all of the matrix is read and kept on disk, in a file that has no name."""
    copy = temporary(stack)
    lines, columns = 0, table.shape[1]
    for block in table.blocks(usual_rows(columns)):
        lines += len(block)
        copy.write(block.data)
    return ByColumns(copy, 0, columns, lines, np.dtype(np.float64))
