"""Types of what kernels take and return, as Numba spells them: Numba itself is loaded when a kernel is compiled."""

from __future__ import annotations

void = "void"
boolean = "boolean"
float64 = "float64"
int8 = "int8"
int64 = "int64"
uint8 = "uint8"
uint64 = "uint64"


def array(of: str, dimensions: int, layout: str, *, readonly: bool = False) -> str:
    """Spell the type of an array; a writable one converts to one that is only read.

    Args:
        of: the type of its entries.
        dimensions: how many indices an entry has.
        layout: `C` for rows one after another, `A` for any strides.
        readonly: whether it is only read.
    """
    return f"Array({of}, {dimensions}, {layout!r}, readonly={readonly})"


def tuple_of(entry: str, count: int) -> str:
    """Spell the type of `count` values of one type."""
    return f"UniTuple({entry}, {count})"
