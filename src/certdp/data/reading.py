"""How a file becomes a matrix of records."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction

from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.exact import Number, exact
from ..accounting.private import InvalidData, Private

_LEAST_BOUND, _LARGEST_BOUND = Fraction(2) ** -1022, Fraction(sys.float_info.max)


@frozen(kw_only=True)
class Reading:
    """How a file becomes a matrix of records.

    Attributes:
        array: name of the array in an npz file; by default X, else the only matrix.
        transpose: whether records are the columns of what the file holds.
        divide_by: a public bound that every entry is divided by.
        columns: names of the columns to read of CSV and Parquet files, in this order; by default all of them.
    """

    array: str | None = None
    transpose: bool = False
    divide_by: Number = 1
    columns: Sequence[str] | None = None

    def among(self, names: Sequence[str]) -> list[int]:
        """The places of the columns to read among all that a file has.

        Raises:
            InvalidValue: for no name, a name that comes twice, and one that the file does not have once.
        """
        if self.columns is None:
            return list(range(len(names)))
        wanted = list(self.columns)
        if not wanted or isinstance(self.columns, str):
            raise InvalidValue("column", self.columns, "a list of names, at least one", "Leave it out for all columns")
        for name in wanted:
            if wanted.count(name) > 1:
                raise InvalidValue("column", name, "each column once", "Name it once")
            if names.count(name) != 1:
                admissible = f"the name of one of the {len(names)} columns"
                raise InvalidData("column", name, admissible, "Correct it", found=Private(", ".join(names)))
        return [names.index(name) for name in wanted]

    def require_unnamed(self) -> None:
        """Refuse names of columns where a file has none.

        Raises:
            InvalidValue: for such names.
        """
        if self.columns is not None:
            names = ", ".join(self.columns)
            raise InvalidValue("column", names, "nothing, for arrays: their columns have no names", "Leave it out")


def refuse_without_file(reading: Reading) -> None:
    """Refuse what says how to read a file where none is given.

    Raises:
        InvalidValue: for the first such option.
    """
    for name, value, unused in (
        ("array", reading.array, None),
        ("transpose", reading.transpose, False),
        ("divide-by", reading.divide_by, Reading().divide_by),
        ("column", reading.columns, None),
    ):
        if str(value) != str(unused):
            raise InvalidValue(name, str(value), "nothing, where no file is read", "Name the file: --data FILE")


def divisor_of(reading: Reading) -> float:
    """The public bound that every entry is divided by.

    Raises:
        InvalidValue: for a bound that is not above 0 or beyond binary64.
    """
    bound = reading.divide_by
    divisor = exact(bound, parameter="divide-by")
    if not _LEAST_BOUND <= divisor <= _LARGEST_BOUND:
        raise InvalidValue(
            "divide-by", str(bound), "a public bound > 0, within the range of binary64", "Leave it out to divide by 1"
        )
    return float(divisor)
