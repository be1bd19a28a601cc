"""Types of what kernels take and return; as text they are as Numba spells them, which is loaded to compile alone."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

void = "void"
boolean = "boolean"
float64 = "float64"
int8 = "int8"
int64 = "int64"
uint8 = "uint8"
uint64 = "uint64"


class Array(NamedTuple):
    """The type of an array; see `array`."""

    of: str
    dimensions: int
    layout: str
    readonly: bool

    def __str__(self) -> str:
        """Spell the type as Numba does."""
        return f"Array({self.of}, {self.dimensions}, {self.layout!r}, readonly={self.readonly})"


class TupleOf(NamedTuple):
    """The type of several values of one type."""

    entry: str
    length: int

    def __str__(self) -> str:
        """Spell the type as Numba does."""
        return f"UniTuple({self.entry}, {self.length})"


Argument: TypeAlias = str | Array
Result: TypeAlias = str | TupleOf


class Declaration(NamedTuple):
    """A loop that is to be compiled.

    Attributes:
        source: the function.
        result: the type of what it returns.
        arguments: the types of what it takes.
    """

    source: Any  # a function
    result: Result
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        """The dotted name, by which its code is found."""
        return f"{self.source.__module__}.{self.source.__qualname__}"

    @property
    def signature(self) -> str:
        """The types of what it returns and takes, as Numba spells them."""
        return f"{self.result}({', '.join(map(str, self.arguments))})"


def array(of: str, dimensions: int, layout: str, *, readonly: bool = False) -> Array:
    """Make the type of an array; a writable one converts to one that is only read.

    Args:
        of: the type of its entries.
        dimensions: how many indices an entry has.
        layout: `C` for rows one after another, `A` for any strides.
        readonly: whether it is only read.
    """
    return Array(of, dimensions, layout, readonly)


def tuple_of(entry: str, length: int) -> TupleOf:
    """Make the type of `length` values of one type."""
    return TupleOf(entry, length)
