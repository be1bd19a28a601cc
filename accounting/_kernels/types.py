"""The types of what kernels take, return and compute with."""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TypeAlias


@dataclass(frozen=True)
class Number:
    """A number by NumPy's name for it."""

    name: str
    size: int = 8


@dataclass(frozen=True)
class Array:
    """An array: its entries, its dimensions, and whether it is contiguous ("C") or has any strides ("A")."""

    entry: Number
    dimensions: int
    layout: str
    readonly: bool = False


@dataclass(frozen=True)
class Tuple:
    """Some values side by side; none is what a kernel without a result returns."""

    items: tuple[Type, ...]


Type: TypeAlias = Number | Array | Tuple


float64, int64, uint64 = Number("float64"), Number("int64"), Number("uint64")
int8, uint8, boolean = Number("int8", 1), Number("uint8", 1), Number("bool", 1)
void = Tuple(())

READ = Array(float64, 1, "C", readonly=True)
"""A contiguous vector that is only read; a writable one converts to it."""
WRITE = Array(float64, 1, "C")
READ_ROWS = Array(float64, 2, "A", readonly=True)
"""A matrix of any strides that is only read."""


@dataclass(frozen=True)
class Intrinsic:
    """An operation of the processor."""

    name: str
    result: Number
    arguments: tuple[Number, ...]


@dataclass(frozen=True)
class Source:
    """A kernel as it is written: a function, and what it returns and takes."""

    function: FunctionType
    result: Type
    arguments: tuple[Type, ...]

    @property
    def name(self) -> str:
        """The dotted name of the function."""
        return f"{self.function.__module__}.{self.function.__name__}"
