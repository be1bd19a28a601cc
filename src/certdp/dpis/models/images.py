"""The shape of images whose numbers lie in one row."""

from __future__ import annotations

import math
from typing import Self, final

from attrs import field, frozen

from ...accounting.errors import InvalidValue
from .sizes import at_least_one


@final
@frozen
class ImageShape:
    """Channel after channel, each row after row; public.

    Args:
        channels: 1 for grey.
        height: rows of a channel.
        width: columns of a channel.
    """

    channels: int = field(validator=at_least_one)
    height: int = field(validator=at_least_one)
    width: int = field(validator=at_least_one)

    @property
    def entries(self) -> int:
        """How many numbers an image consists of."""
        return self.channels * self.height * self.width

    @classmethod
    def read(cls, text: str) -> Self:
        """HEIGHTxWIDTH of one channel, or CHANNELSxHEIGHTxWIDTH.

        Raises:
            InvalidValue: for anything else.
        """
        parts = text.split("x")
        if len(parts) not in (2, 3) or not all(part.isascii() and part.isdecimal() and int(part) for part in parts):
            raise InvalidValue("image", text, "HEIGHTxWIDTH or CHANNELSxHEIGHTxWIDTH, such as 28x28 or 3x32x32")
        return cls(*([1] * (3 - len(parts))), *map(int, parts))

    @classmethod
    def square(cls, entries: int) -> Self:
        """Return the shape of an image with one channel and as many rows as columns.

        Raises:
            InvalidValue: for a number of entries that is no square.
        """
        side = math.isqrt(entries)
        if side * side != entries:
            raise InvalidValue("image", f"{entries} columns", "a square number of them", "State the shape of an image")
        return cls(1, side, side)

    def require(self, columns: int) -> None:
        """Raises InvalidValue for records with another number of columns."""
        if columns != self.entries:
            raise InvalidValue("image", str(self), f"a shape of {columns} numbers, as each record has", "State another")

    def __str__(self) -> str:
        return f"{self.channels}x{self.height}x{self.width}"
