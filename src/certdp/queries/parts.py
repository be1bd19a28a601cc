"""The releases that answer queries: noisy sums of groups, and choices of a candidate."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from attrs import frozen

from ..accounting.bulk.clusters import Integers
from ..accounting.exact import Floats
from ..mechanisms.quantile_choice import QuantileChoice
from ..plugins.contract import Mechanism, Release, WeightedSample
from .intervals import rank_reach
from .noise import Noise
from .results import Result
from .row_sums import Statistic
from .rows import Rows

Groups: TypeAlias = tuple[tuple[Any, ...], ...]

_UPPER = 1 << 32


class Part(Protocol):
    """One release, for a query that was put to certain columns with its share of the budget."""

    @property
    def mechanism(self) -> Mechanism:
        """What releases the answer."""
        ...

    def sample(self, rows: Rows) -> WeightedSample:
        """What all rows add up to, as the mechanism takes it: each adds an ℓ1 norm of at most 1."""
        ...

    def result(self, release: Release, confidence: float) -> Result:
        """What follows from the release."""
        ...


@final
@frozen(kw_only=True, eq=False)
class Sums:
    """A statistic of each group, from sums with noise.

    Attributes:
        name: the query.
        groups: the public values of each group.
        statistic: what is told of a group.
        noise: of the sums.
        cells: the group of each row, −1 for none.
        numbers: the number of each row; NaN for none, which adds nothing.
    """

    name: str
    groups: Groups
    statistic: Statistic
    noise: Noise
    cells: Callable[[Rows], Integers]
    numbers: Callable[[Rows], Floats]

    @property
    def mechanism(self) -> Mechanism:
        """The sum with this noise."""
        return self.noise.mechanism

    def sample(self, rows: Rows) -> WeightedSample:
        """All rows as two records, upper and lower bits of the sums: both are exact in binary64."""
        cells, numbers = self.cells(rows), self.numbers(rows)
        used = (cells >= 0) & ~np.isnan(numbers)
        totals = np.zeros((len(self.groups), self.statistic.width), dtype=np.int64)
        units = int(1 / self.noise.unit)
        entries = self.statistic.entries(numbers[used], units)
        _require_short(entries, units)
        np.add.at(totals, cells[used], entries)
        flat = totals.ravel()
        upper = flat // _UPPER * _UPPER
        return WeightedSample(np.stack([upper, flat - upper]) * float(self.noise.unit), np.ones(2))

    def result(self, release: Release, confidence: float) -> Result:
        """The statistic of each group, from its noisy sums."""
        sums = release.reshape(len(self.groups), self.statistic.width)
        told = np.array([self.statistic.estimate(row, self.noise, confidence) for row in sums])
        return Result(
            name=self.name,
            groups=self.groups,
            values=told[:, 0],
            low=told[:, 1],
            high=told[:, 2],
            confidence=confidence,
            noise=str(self.noise),
        )


def _require_short(entries: Integers, units: int) -> None:
    """What noise and cost rest on, whatever the statistic: no row adds an ℓ1 norm above 1.

    Raises:
        AssertionError: where one does. No statistic is known to; nothing was paid.
    """
    within = (entries >= -units) & (entries <= units)  # first: the least integer has no absolute value
    if not (within.all() and (np.abs(entries).sum(axis=1) <= units).all()):
        raise AssertionError("a row adds more than 1 to the sums: the statistic is wrong")


@final
@frozen(kw_only=True, eq=False)
class Choice:
    """A candidate near a quantile.

    Attributes:
        name: the query.
        group: the quantile, as the answer shows it.
        mechanism: what chooses.
        candidates: float64, in order.
        numbers: the number of each row; NaN for none.
    """

    name: str
    group: tuple[Any, ...]
    mechanism: QuantileChoice
    candidates: Floats
    numbers: Callable[[Rows], Floats]

    def sample(self, rows: Rows) -> WeightedSample:
        """How many numbers are nearest to each candidate."""
        numbers = self.numbers(rows)
        nearest = np.searchsorted(self._middles, numbers[~np.isnan(numbers)])
        counts = np.bincount(nearest, minlength=len(self.candidates))
        return WeightedSample(counts[np.newaxis].astype(np.float64), np.ones(1))

    def result(self, release: Release, confidence: float) -> Result:
        """The candidate; how far its rank may be off is said in words, as what lies between ranks is private.

        Where the rank is moved, the numbers nearest to the candidate, and those beyond on that side, are the interval.
        """
        chosen = release.astype(np.int64)
        edges = np.concatenate([self.candidates[:1], self._middles, self.candidates[-1:]])
        shift = self.mechanism.shift.value
        off = rank_reach(float(self.mechanism.scale.value), len(self.candidates), confidence)
        return Result(
            name=self.name,
            groups=(self.group,),
            values=self.candidates[chosen],
            low=edges[chosen] if shift < 0 else np.full(1, np.nan),
            high=edges[chosen + 1] if shift > 0 else np.full(1, np.nan),
            confidence=confidence,
            noise=f"{100 * confidence:.12g} %: within {math.ceil(off):,} values of that rank, by permute-and-flip",
        )

    @property
    def _middles(self) -> Floats:
        """Between neighbouring candidates: a number at one belongs to the lower candidate."""
        return (self.candidates[1:] + self.candidates[:-1]) / 2
