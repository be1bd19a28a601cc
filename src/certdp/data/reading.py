"""How a file becomes a matrix of records."""

from __future__ import annotations

import sys
from fractions import Fraction

from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.exact import Number, exact

_LEAST_BOUND, _LARGEST_BOUND = Fraction(2) ** -1022, Fraction(sys.float_info.max)


@frozen(kw_only=True)
class Reading:
    """How a file becomes a matrix of records.

    Attributes:
        array: name of the array in an npz file; by default X, else the only matrix.
        transpose: whether records are the columns of what the file holds.
        divide_by: a public bound that every entry is divided by.
    """

    array: str | None = None
    transpose: bool = False
    divide_by: Number = 1


def refuse_without_file(reading: Reading) -> None:
    """Refuse what says how to read a file where none is given.

    Raises:
        InvalidValue: for the first such option.
    """
    for name, value, unused in (
        ("array", reading.array, None),
        ("transpose", reading.transpose, False),
        ("divide-by", reading.divide_by, Reading().divide_by),
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
