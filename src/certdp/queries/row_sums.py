"""What a row adds to the sums of a statistic, in whole units, and what is told from the noisy sums."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Protocol, final

import numpy as np
from attrs import frozen

from ..accounting.bulk.clusters import Integers
from ..accounting.exact import Floats
from .intervals import mean_interval, variance_interval
from .noise import Noise

FINEST = Fraction(1, 1 << 30)
"""The finest unit of sums that is of use, where a row adds an ℓ1 norm of at most 1."""

Estimate = tuple[float, float, float]
"""Value, lower and upper end."""


class Statistic(Protocol):
    """A statistic of a group of rows."""

    width: ClassVar[int]
    """How many sums it needs."""
    finest: ClassVar[Fraction]
    """The finest unit of its sums that is of use."""

    def entries(self, numbers: Floats, units: int) -> Integers:
        """What rows add, in units: int64 (n, width), of ℓ1 norm at most their number."""
        ...

    def estimate(self, sums: Floats, noise: Noise, confidence: float) -> Estimate:
        """The statistic and an interval for it, from noisy sums (width,)."""
        ...


@final
@frozen
class Counted:
    """The number of rows."""

    width: ClassVar[int] = 1
    finest: ClassVar[Fraction] = Fraction(1)

    def entries(self, numbers: Floats, units: int) -> Integers:
        """Every row adds 1."""
        return np.full((len(numbers), 1), units, dtype=np.int64)

    def estimate(self, sums: Floats, noise: Noise, confidence: float) -> Estimate:
        """The noisy sum itself; it may be below 0."""
        value, reach = float(sums[0]), noise.half_width(confidence)
        return value, value - reach, value + reach


@frozen
class _Bounded:
    """A statistic of numbers that are held within bounds.

    Attributes:
        low: lower bound.
        high: upper bound, above it.
    """

    finest: ClassVar[Fraction] = FINEST
    low: float
    high: float

    @property
    def span(self) -> float:
        """How far the bounds are apart."""
        return self.high - self.low

    def shares(self, numbers: Floats) -> Floats:
        """How much of the way from the lower to the upper bound each number is: in [0, 1]."""
        return np.clip((np.clip(numbers, self.low, self.high) - self.low) / self.span, 0.0, 1.0)


@final
@frozen
class Summed(_Bounded):
    """The sum of the numbers, each held within the bounds."""

    width: ClassVar[int] = 1

    @property
    def largest(self) -> float:
        """The largest size that a number can have."""
        return max(abs(self.low), abs(self.high))

    def entries(self, numbers: Floats, units: int) -> Integers:
        """Shares of the largest size, rounded to the nearest unit."""
        return _whole(np.clip(numbers, self.low, self.high) / self.largest, units)[:, np.newaxis]

    def estimate(self, sums: Floats, noise: Noise, confidence: float) -> Estimate:
        """The noisy sum itself, in units of the data."""
        value, reach = float(sums[0]), noise.half_width(confidence)
        return value * self.largest, (value - reach) * self.largest, (value + reach) * self.largest


@final
@frozen
class Averaged(_Bounded):
    """The mean of the numbers, each held within the bounds; nothing is known of how many there are."""

    width: ClassVar[int] = 2

    def entries(self, numbers: Floats, units: int) -> Integers:
        """How far each number is from the upper and from the lower bound, as shares that add up to 1."""
        above = _whole(self.shares(numbers), units)
        return np.stack([units - above, above], axis=1)

    def estimate(self, sums: Floats, noise: Noise, confidence: float) -> Estimate:
        """The ratio of noisy sums, held within the bounds; the middle where the noisy count is not above 0."""
        whole = float(sums.sum())
        share = min(max(float(sums[1]) / whole, 0.0), 1.0) if whole > 0 else 0.5
        low, high = mean_interval((float(sums[0]), float(sums[1])), noise.half_width_of_sums(confidence))
        value, lower, upper = (self.low + self.span * part for part in (share, low, high))
        return value, lower, upper


@final
@frozen
class Spread(_Bounded):
    """The variance of the numbers, each held within the bounds, or its root.

    Attributes:
        root: whether the standard deviation is told.
    """

    width: ClassVar[int] = 3
    root: bool = False

    def entries(self, numbers: Floats, units: int) -> Integers:
        """(1 − t)², 2t(1 − t) and t² for the share t of the way up from the lower bound: they add up to 1."""
        shares = self.shares(numbers)
        square = _whole(shares**2, units)
        mixed = np.minimum(_whole(2 * shares * (1 - shares), units), units - square)
        return np.stack([units - square - mixed, mixed, square], axis=1)

    def estimate(self, sums: Floats, noise: Noise, confidence: float) -> Estimate:
        """The mean square less the squared mean, held within what numbers of these bounds can have."""
        whole = float(sums.sum())
        mean, square = ((float(sums[1]) / 2 + float(sums[2])) / whole, float(sums[2]) / whole) if whole > 0 else (0, 0)
        value = min(max(square - mean**2, 0.0), 0.25)
        low, high = variance_interval(
            (float(sums[0]), float(sums[1]), float(sums[2])), noise.half_width_of_sums((1 + confidence) / 2)
        )
        return self._scaled(value), self._scaled(low), self._scaled(high)

    def _scaled(self, share: float) -> float:
        return self.span * math.sqrt(share) if self.root else self.span**2 * share


def _whole(shares: Floats, units: int) -> Integers:
    """Shares in [−1, 1], as whole numbers of units, to the nearest."""
    return np.rint(shares * units).astype(np.int64)
