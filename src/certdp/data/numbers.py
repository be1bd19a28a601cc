"""What entries a matrix of records may have."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..accounting.bulk.exact_floats import LARGEST_INTEGER
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from ..accounting.private import InvalidData, Private
from ..plugins.contract.mechanism import not_a_matrix

_LEAVE_OUT = "Encode text columns as numbers or leave them out"


def require_type(kind: np.dtype[Any], where: str) -> None:
    """Refuse types that hold no numbers, or numbers that binary64 does not hold.

    Raises:
        InvalidValue: for such a type.
    """
    if kind.kind not in "biuf":
        raise InvalidValue("data", f"{where} of type {kind}", "numbers", _LEAVE_OUT)
    if kind.kind == "f" and kind.itemsize > 8:
        raise InvalidValue("data", f"{where} of type {kind}", "at most double precision", "Round it to float64")


def exactly(values: Any, where: str) -> Floats:
    """An array of an admissible type in binary64, C-ordered.

    Raises:
        InvalidValue: for integers that binary64 does not hold exactly.
    """
    if (
        values.dtype.kind in "iu"
        and values.dtype.itemsize == 8
        and values.size
        and max(int(values.max()), -int(values.min())) > LARGEST_INTEGER
    ):
        raise InvalidValue(
            "data", f"an integer beyond 2^53 in {where}", "numbers that binary64 holds exactly", "Scale it down"
        )
    return np.ascontiguousarray(values, dtype=np.float64)


def require_finite(records: Floats, first: int) -> None:
    """Refuse NaN and inf, by their place.

    Args:
        records: some rows of the matrix of records.
        first: number of the first of them in the file.

    Raises:
        InvalidValue: for such an entry.
    """
    finite = np.isfinite(records)
    if not finite.all():
        row, column = (int(position) for position in np.argwhere(~finite)[0])
        raise InvalidData(
            "data",
            f"NaN or inf in row {first + row}, column {column}, counted from 0",
            "finite numbers",
            "Remove or impute such records",
            found=Private(float(records[row, column])),
        )


def refuse_shape(shape: tuple[int, ...], parameter: str = "data") -> NoReturn:
    """Refuse what is not a matrix with a record: a file's, or that of another parameter."""
    if len(shape) != 2:
        raise not_a_matrix(parameter, shape)
    remedy = "Give a file with records" if parameter == "data" else "Give one with records"
    raise InvalidValue(parameter, f"a matrix of shape {shape}", "at least one record and one column", remedy)
