"""Lines of a text, each of which is a row by itself.

A line is what ends with a newline, or with a carriage return and a newline; nothing else ends one. So what one line
holds, be it a quote that does not end, changes no other row.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, TypeAlias, final

import numpy as np
from attrs import frozen

from ..accounting.private import InvalidData, Private

Row: TypeAlias = list[str] | None
"""The cells of a line, none of an empty one; None for a line that is no row."""

NO_ROW = "a quoted cell that does not end or a carriage return before the end"


@final
@frozen
class Grammar:
    """How a line is cut into cells.

    Attributes:
        delimiter: between cells.
        quoted: whether a cell that begins with a quote ends with the next that is not doubled.
    """

    delimiter: str
    quoted: bool

    def cells(self, line: str) -> Row:
        """The cells of one line, with its end or without; None where a quoted cell does not end in it, or where a
        carriage return stands before its end and not in quotes.
        """
        line = line.removesuffix("\n").removesuffix("\r")
        found: list[str] = []
        at = 0 if line else -1
        while at >= 0:
            quoted = []
            while self.quoted and line.startswith('"', at):
                end = line.find('"', at + 1)
                if end < 0:
                    return None
                quoted.append(line[at + 1 : end])
                at = end + 1
            end = line.find(self.delimiter, at)
            rest = line[at:] if end < 0 else line[at:end]
            if "\r" in rest:
                return None
            found.append('"'.join(quoted) + rest)
            at = end if end < 0 else end + 1
        return found

    def rows(self, text: str) -> list[Row]:
        """The cells of each line of a text, as `cells` gives them."""
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        if "\r\r" not in text:  # csv takes them for one end
            with suppress(csv.Error):
                found: list[Row] = [
                    *csv.reader(
                        (*lines, ""),
                        delimiter=self.delimiter,
                        quoting=csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
                    )
                ]
                if len(found) == len(lines) + 1:  # else a row went on in the next line
                    return found[:-1]
        return [self.cells(line) for line in lines]

    def are_rows(self, text: bytes) -> bool:
        """Whether each line of a text is a row."""
        if text.count(b"\r") == text.count(b"\r\n") and (not self.quoted or self._pairs_quotes(text)):
            return True
        return None not in self.rows(text.decode("latin-1"))

    def _pairs_quotes(self, text: bytes) -> bool:
        """Whether quotes stand in pairs that begin and end cells, but for doubled ones, each pair within a line."""
        if b'"' not in text:
            return True
        held = np.frombuffer(b"\n" + text + b"\n", np.uint8)
        marks = np.flatnonzero((held == ord('"')) | (held == ord("\n")))
        quoting = held[marks] == ord('"')
        quotes = marks[quoting]
        if (np.cumsum(quoting)[~quoting] % 2).any():  # a line ends within a pair
            return False
        beside = np.zeros(256, np.bool_)
        beside[[ord(self.delimiter), ord('"'), *b"\r\n"]] = True
        return bool(beside[held[quotes[::2] - 1]].all() and beside[held[quotes[1::2] + 1]].all())

    def first(self, line: str) -> list[str]:
        """The cells of a first line, which may name columns.

        Raises:
            InvalidData: for a line that is no row.
        """
        names = self.cells(line)
        if names is None:
            admissible = "lines that end with a newline, and no newline within quotes"
            place = f"{NO_ROW} in the first line"
            raise InvalidData("data", place, admissible, "Correct that line", found=Private(line))
        return names


COMMAS = Grammar(",", quoted=True)
TABS = Grammar("\t", quoted=False)


def blocks_of_lines(content: BinaryIO, size: int) -> Iterator[bytes]:
    """Whole lines, each with its end, about `size` bytes at a time; the last one may lack it."""
    while block := content.read(size):
        yield block if block.endswith(b"\n") else block + content.readline()
