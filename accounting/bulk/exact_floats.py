"""Arrays as the binary64 numbers they are; what would be rounded is refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidType, InvalidValue
from ..exact import Floats
from ..private import InvalidData, Private

LARGEST_INTEGER = 2**53
"""Beyond it binary64 leaves out integers."""


def exact_floats(parameter: str, values: ArrayLike, *, flags: bool = False) -> Floats:
    """`values` as binary64 numbers, without rounding.

    Args:
        parameter: what an error blames.
        values: an array of real numbers; NaN and infinities are numbers here.
        flags: whether truth values are admitted, as 0 and 1.

    Raises:
        InvalidType: for anything else, such as text, masked arrays and rows of several lengths.
        InvalidValue: for numbers that binary64 would round.
    """
    numbers = "an array of real numbers"
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidType(parameter, "a masked array", numbers, "Fill or drop the masked entries.")
    try:
        array = np.asarray(values)
    except ValueError:  # ragged
        raise InvalidType(
            parameter, "rows of several lengths", numbers, "Give each record the same number of entries."
        ) from None
    if array.dtype.kind not in ("biuf" if flags else "iuf"):
        raise InvalidType(parameter, f"dtype {array.dtype}", numbers, "Convert it to numbers, without rounding.")
    if array.dtype.kind in "iu":
        exact = (array <= LARGEST_INTEGER) & (array >= -LARGEST_INTEGER)
        require_each(parameter, array, exact, "integers up to 2^53 in magnitude", "Larger ones would be rounded.")
    floats = array.astype(np.float64, copy=False)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        require_each(parameter, array, (floats == array) | np.isnan(array), "numbers that binary64 holds exactly")
    return floats


def probabilities(parameter: str, values: ArrayLike) -> Floats:
    """`values` as `exact_floats` reads them, all in [0, 1]; errors as there, and of `require_each`."""
    numbers = exact_floats(parameter, values)
    require_each(parameter, numbers, (numbers >= 0) & (numbers <= 1), "probabilities in [0, 1]")
    return numbers


def non_negative(parameter: str, values: ArrayLike) -> Floats:
    """`values` as `exact_floats` reads them, all at least 0; errors as there, and of `require_each`."""
    numbers = exact_floats(parameter, values)
    require_each(parameter, numbers, numbers >= 0, "numbers ≥ 0, inf included")
    return numbers


def finite_non_negative(parameter: str, values: ArrayLike) -> Floats:
    """`values` as `exact_floats` reads them, all finite and at least 0; errors as there, and of `require_each`."""
    numbers = exact_floats(parameter, values)
    require_each(parameter, numbers, (numbers >= 0) & np.isfinite(numbers), "finite numbers ≥ 0")
    return numbers


def require_each(
    parameter: str, array: NDArray[np.generic], valid: NDArray[np.bool_], admissible: str, remedy: str = ""
) -> None:
    """Refuse an array with an entry that is not valid, by the place of the first.

    Raises:
        InvalidValue: for a single number, with it. InvalidData: for one of several, withheld from all but their owner.
    """
    if not np.all(valid):
        index = first_of(~np.asarray(valid))
        if not index:  # one number for all, which the caller states
            raise InvalidValue(parameter, str(array[()]), admissible, remedy)
        place, found = f"another value at index {', '.join(map(str, index))}", Private(array[index].item())
        raise InvalidData(parameter, place, admissible, remedy, found=found)


def first_of(condition: NDArray[np.bool_]) -> tuple[int, ...]:
    """The index of the first true entry, in C order."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(condition)), condition.shape))
