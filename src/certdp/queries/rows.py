"""The rows of a table in memory: numbers, codes of public values, and whose rows they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from ..accounting.bulk.clusters import Integers
from ..accounting.exact import Floats
from ..accounting.private import HoldsRecords
from ..runs.contributions import first_of_each


@final
@frozen(kw_only=True, eq=False, repr=False)
class Rows(HoldsRecords):
    """What was read of a table.

    Attributes:
        length: number of rows n.
        numbers: float64 (n,) of each column of numbers; NaN where there is none.
        codes: int64 (n,) of each column of categories: the place among the public values; −1 for any other.
        users: int64 (n,), a number for each user; None where each row is a unit of its own.
    """

    length: int
    numbers: Mapping[str, Floats]
    codes: Mapping[str, Integers]
    users: Integers | None = None

    def where(self, mask: NDArray[np.bool_]) -> Rows:
        """The rows that are selected, in the same order."""
        return evolve(
            self,
            length=int(mask.sum()),
            numbers={name: values[mask] for name, values in self.numbers.items()},
            codes={name: values[mask] for name, values in self.codes.items()},
            users=None if self.users is None else self.users[mask],
        )

    def bounded(self, rows: int) -> Rows:
        """The first rows of each user, at most so many; which they are depends on that user's rows alone."""
        if self.users is None:
            return self
        return self.where(first_of_each(self.users, rows))
