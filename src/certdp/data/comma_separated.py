"""CSV files: a header line, then one record per line, which is read by itself: no cell holds a newline."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TextIO, final

import numpy as np
from attrs import frozen

from ..accounting.bulk.exact_floats import LARGEST_INTEGER
from ..accounting.exact import Floats
from ..accounting.private import InvalidData, Private
from .lines import COMMAS, NO_ROW
from .reading import Reading
from .streams import Stream
from .tables import Table, turned

_WHOLE = re.compile(r"[+-]?[0-9]+")


def comma_separated(stream: Stream, how: Reading) -> Table:
    """Return the numbers of a CSV file as a table."""
    text = stream.stack.enter_context(io.TextIOWrapper(stream.bytes, encoding="utf-8-sig", newline="\n"))
    header = COMMAS.first(text.readline())
    if all(_is_number(cell) for cell in header):
        place = "a first line of numbers" if header else "an empty first line"
        remedy = "Add one with the columns' names"
        raise InvalidData("data", place, "a CSV file with a header line", remedy, found=Private(",".join(header)))
    table = _CommaSeparated(text, header, how.among(header))
    return turned(table, stream.stack) if how.transpose else table


@final
@frozen(eq=False)
class _CommaSeparated(Table):
    """The lines after the header.

    Attributes:
        text: the file.
        header: names of the columns.
        chosen: places of those that are read.
    """

    text: TextIO
    header: list[str]
    chosen: list[int]

    @property
    def shape(self) -> tuple[int | None, int]:
        """The columns alone: lines are counted as they are read."""
        return None, len(self.chosen)

    @property
    def names(self) -> Sequence[str]:
        """Those of the columns that are read."""
        return [self.header[column] for column in self.chosen]

    def blocks(self, rows: int) -> Iterator[Floats]:
        """So many lines at a time; empty ones do not count as records."""
        self.text.seek(0)
        self.text.readline()
        first = 2
        while block := list(islice(self.text, rows)):
            if any(line.strip("\r\n") for line in block):
                yield self._numbers(block, first)
            first += len(block)

    def _numbers(self, block: list[str], first: int) -> Floats:
        if not COMMAS.are_rows("".join(block).encode()):
            self._refuse_faults(block, first)
        try:
            chosen = None if self._all else self.chosen
            matrix = np.loadtxt(block, delimiter=",", ndmin=2, comments=None, quotechar='"', usecols=chosen)
        except ValueError:
            self._refuse_faults(block, first)
            raise  # in the words of the parser, which are not passed on
        # where columns are chosen, the parser admits lines of other lengths
        whole = matrix.shape[1] == len(self.header) if self._all else self._of_one_width(block)
        if not whole or (np.abs(matrix) >= LARGEST_INTEGER).any():
            self._refuse_faults(block, first)
        return np.ascontiguousarray(matrix)

    @property
    def _all(self) -> bool:
        return self.chosen == list(range(len(self.header)))

    def _of_one_width(self, block: list[str]) -> bool:
        cells = (line.count(",") + 1 for line in block if line.strip("\r\n"))
        if any('"' in line for line in block):
            cells = (len(row) for row in COMMAS.rows("".join(block)) if row)
        return all(number == len(self.header) for number in cells)

    def _refuse_faults(self, block: list[str], first: int) -> None:
        admissible = f"exact numbers in {len(self.chosen)} of {len(self.header)} columns, line by line"
        if self._all:
            admissible = f"exact numbers in {len(self.header)} columns, line by line"
        for place, found in _faults(len(self.header), self.chosen, block, first):
            raise InvalidData(
                "data",
                place,
                admissible,
                "Correct that line, or name the columns that hold numbers alone",
                found=Private(found),
            )


def _faults(columns: int, chosen: list[int], block: list[str], first: int) -> Iterator[tuple[str, str]]:
    """What is wrong with lines of a CSV file, of which `block` starts at line `first`: where, and what is there.

    Columns go by number: where a header is missing, a record stands in its place.
    """
    for line, row in enumerate(COMMAS.rows("".join(block)), first):
        if row is None:
            yield f"{NO_ROW} in line {line}", block[line - first]
            continue
        if row and len(row) != columns:
            yield f"{len(row)} cells in line {line}", ",".join(row)
        for column, cell in ((place + 1, row[place]) for place in sorted(chosen) if place < len(row)):
            if not _is_number(cell):
                what = "text" if cell.strip() else "a missing value"
                yield f"{what} in line {line}, column {column}", cell
            elif _WHOLE.fullmatch(cell.strip()) and abs(int(cell)) > LARGEST_INTEGER:
                yield f"an integer beyond 2^53 in line {line}, column {column}", cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
