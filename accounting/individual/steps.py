"""The rates and shifts of one step, read and checked before anything is changed."""

from __future__ import annotations

from typing import Self, final

from attrs import frozen
from numpy.typing import ArrayLike

from ..bulk import Floats, _flat
from ..bulk_sampled_gaussian import _rates_and_shifts
from ..errors import InvalidValue
from .log_moments import LogMoments


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
        rates, shifts = _rates_and_shifts(rate, shift)
        for name, array in (("rate", rates), ("shift", shifts)):
            if array.shape not in ((), (records,)):
                raise InvalidValue(
                    name, f"an array of shape {array.shape}", "one number, or as many as there are records"
                )
        return cls(_flat(rates, (records,)), _flat(shifts, (records,)), shifts.ndim == 0)

    def add(self, moments: LogMoments, times: int, totals: Floats, *, threads: int) -> None:
        """totals += times·Λ, after `LogMoments`."""
        if self.common:
            moments.add_common(self.rate, float(self.shift[0]), times, totals, threads=threads)
        else:
            moments.add_each(self.rate, self.shift, times, totals, threads=threads)
