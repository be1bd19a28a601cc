"""The rates and shifts of one step, read and checked before anything is changed."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike, NDArray

from ..bulk.exact_floats import finite_non_negative, probabilities
from ..bulk.parts import common_shape, flat
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..exact import Floats, Number, exact
from .log_moments import LogMoments

_UP = 1.0 + 2.0**-50


@final
@frozen(eq=False, repr=False)
class Step:
    """One step of the sampled Gaussian mechanism: private, as it is computed from the records.

    Attributes:
        rate: q of each record.
        shift: s of each record, or one number of all.
        common: whether all records share one shift, whatever their number.
    """

    rate: Floats
    shift: Floats
    common: bool

    @classmethod
    def read(cls, rate: ArrayLike, shift: ArrayLike, records: int) -> Self:
        """Rates and shifts of n records.

        Raises:
            InvalidType: for anything but arrays of real numbers.
            InvalidValue: for rates outside [0, 1], shifts that are not finite and ≥ 0, and other lengths.
        """
        rates, shifts = probabilities("rate", rate), finite_non_negative("shift", shift)
        for name, array in (("rate", rates), ("shift", shifts)):
            if array.shape not in ((), (records,)):
                raise InvalidValue(
                    name, f"an array of shape {array.shape}", "one number, or as many as there are records"
                )
        return cls(flat(rates, (records,)), flat(shifts, (records,)), shifts.ndim == 0)

    def add(self, moments: LogMoments, times: int, totals: Floats, *, threads: int) -> None:
        """Add the step's losses, `times` times, to `totals`."""
        if self.common:
            moments.add_common(self.rate, float(self.shift[0]), times, totals, threads=threads)
        else:
            moments.add_each(self.rate, self.shift, times, totals, threads=threads)


def record_shifts(weight: ArrayLike, sensitivity: ArrayLike, standard_deviation: Number) -> Floats:
    """weight·sensitivity/standard deviation of each record, rounded up: how far it moves a noisy sum when drawn.

    Args:
        weight: with which the record enters when it is drawn, finite, ≥ 0; any where its rate is 0, such as 1.
        sensitivity: how far the record moves the sum with weight 1, finite, ≥ 0, rounded up. Broadcast against weights.
        standard_deviation: of the noise, above 0.

    Guarantees: at least the exact quotient of the binary64 numbers given, above it by less than 2^-48 of it as long as
    nothing underflows; 0 where a factor is 0, inf where it exceeds the range.

    Raises:
        InvalidType: for anything but arrays of real numbers, and a number.
        InvalidValue: for numbers outside these ranges, or shapes that do not broadcast.
    """
    weights, sizes = finite_non_negative("weight", weight), finite_non_negative("sensitivity", sensitivity)
    deviation = exact(standard_deviation, parameter="standard_deviation")
    if deviation <= 0:
        raise InvalidValue("standard_deviation", standard_deviation, "a standard deviation > 0")
    inverse = Enclosure.of(1 / deviation).upper_float
    common_shape(weight=weights, sensitivity=sizes)
    with np.errstate(over="ignore", under="ignore"):
        return _above(_above(weights * sizes, (weights > 0) & (sizes > 0)) * inverse, (weights > 0) & (sizes > 0))


def _above(products: Floats, positive: NDArray[np.bool_]) -> Floats:
    """More than products that were rounded once, underflow included; 0 where they are exactly 0."""
    return np.where(positive, np.nextafter(products * _UP, np.inf), 0.0)
