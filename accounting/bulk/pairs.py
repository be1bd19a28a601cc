"""The dominating pairs of many records, each with its own parameter, and what they lose after sampling.

These are the laws of `pairs` for millions of records: upper bounds alone, in the worse direction. Legend: record i
enters with probability q; u = (α − 1)·τ(α) is a log-moment, T a number of releases.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..enclosures import Enclosure
from ..exact import Floats
from . import amplification as bulk_amplification
from . import arrays as bulk
from . import sampled_gaussian as bulk_sampled_gaussian
from .amplification import added_moments, between_integers, mixed_moments, sampled_moments, scaled

_HIGHEST_SUMMED = 256
_ENTRIES = 1 << 22  # of a matrix of log-moments, held at a time
_WHOLE_ORDERS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
_ORDERS = tuple(1 + Fraction(2) ** power for power in range(-4, 13)) + tuple(
    1 + 3 * Fraction(2) ** power for power in range(-5, 12)
)


class BulkPairs(ABC):
    """The dominating pairs of n records, before sampling; the base class.

    Each method returns n upper bounds that hold in both directions: 0 where the rate is 0, inf where nothing finite
    is proven, never NaN. They are the same for any number of threads.
    """

    __slots__ = ()

    @abstractmethod
    def repeated(self, times: int) -> BulkPairs:
        """The pairs of `times` ≥ 1 independent releases on the same sample."""

    @abstractmethod
    def renyi(self, rate: Floats, order: Fraction, *, threads: int = 1) -> Floats:
        """τ(α) of the sampled pairs.

        Args:
            rate: q of each record, in [0, 1].
            order: α > 1.
            threads: threads for the kernels.
        """

    @abstractmethod
    def epsilon(self, rate: Floats, steps: int, delta: float, *, threads: int = 1) -> Floats:
        """ε at δ of `steps` releases, each on a fresh sample.

        Args:
            rate: q of each record, in [0, 1].
            steps: at least 1.
            delta: δ in [0, 1].
            threads: threads for the kernels.
        """


@final
@frozen(eq=False)
class GaussianPairs(BulkPairs):
    """N(0, 1) and N(s, 1).

    Attributes:
        shift: s of each record, ≥ 0; inf admitted.
    """

    shift: Floats

    def repeated(self, times: int) -> GaussianPairs:
        """Return the pairs of T releases: the shifts are s·√T, rounded up."""
        return self if times == 1 else GaussianPairs(scaled(self.shift, Enclosure.of(times).sqrt().upper))

    def renyi(self, rate: Floats, order: Fraction, *, threads: int = 1) -> Floats:
        """Bound τ(α) of the sampled Gaussian mechanism for each pair, at every real order."""
        at = Enclosure.of(order).upper_float  # τ grows with α
        return self._where_finite(
            rate, lambda shift: bulk_sampled_gaussian.renyi_upper(rate, shift, at, threads=threads)
        )

    def epsilon(self, rate: Floats, steps: int, delta: float, *, threads: int = 1) -> Floats:
        """Exact for one release, by the best Rényi order of each record for more."""

        def bound(shift: Floats) -> Floats:
            if steps == 1:
                return bulk_amplification.gaussian_epsilon(rate, shift, delta, threads=threads)
            return bulk_sampled_gaussian.epsilon_upper(rate, shift, steps, delta, threads=threads)[0]

        return self._where_finite(rate, bound)

    def _where_finite(self, rate: Floats, bound: Callable[[Floats], Floats]) -> Floats:
        """The bound, and inf for a shift that binary64 does not hold."""
        finite = np.isfinite(self.shift)
        return np.where(finite | (rate == 0.0), bound(np.where(finite, self.shift, 0.0)), np.inf)


@final
@frozen(eq=False)
class PureFamily:
    """A family of symmetric pairs whose parameter is the pure ε.

    Attributes:
        moments: bounds of (α − 1)·τ(α), from the parameter and a whole α ≥ 2.
        epsilon: bounds of ε at δ after sampling, from rate, parameter and δ.
    """

    moments: Callable[[Floats, int], Floats]
    epsilon: Callable[[Floats, Floats, float], Floats]


LAPLACE = PureFamily(bulk_amplification.laplace_moments, bulk_amplification.laplace_epsilon)
RESPONSE = PureFamily(bulk_amplification.response_moments, bulk_amplification.response_epsilon)


@final
@frozen(eq=False)
class PurePairs(BulkPairs):
    """Independent repetitions of symmetric pairs with a pure ε: after sampling, REMOVE dominates ADD.

    Attributes:
        family: what the pairs are.
        loss: ε of one release about each record, ≥ 0; inf admitted where the family does.
        times: number of releases on the same sample.
    """

    family: PureFamily
    loss: Floats
    times: int = 1

    def repeated(self, times: int) -> PurePairs:
        """Return the pairs of T times as many releases."""
        return PurePairs(self.family, self.loss, self.times * times)

    def renyi(self, rate: Floats, order: Fraction, *, threads: int = 1) -> Floats:
        """The exact binomial sum at whole orders, a chord between them, and never more than the pure loss."""
        below = floor(order)
        above = below if below == order else below + 1
        pure = self._pure(rate, threads)
        if above > _HIGHEST_SUMMED:
            mixed = mixed_moments(self._moments(self._finite, above), rate, threads=threads)
            return self._held(np.minimum(scaled(mixed, 1 / (order - 1)), pure), rate)
        found = np.empty(len(self.loss))
        for part, (low, high) in self._sampled(rate, (below, above), threads):
            found[part] = between_integers(low, high, order)
        return self._held(np.minimum(found, pure), rate)

    def epsilon(self, rate: Floats, steps: int, delta: float, *, threads: int = 1) -> Floats:
        """Exact for a single release; else the smaller of the pure loss and of what some whole orders give."""
        if self.times == steps == 1:
            return self._held(self.family.epsilon(rate, self._finite, delta), rate)
        best = scaled(self._pure(rate, threads), Fraction(steps))
        if not delta:
            return self._held(best, rate)
        for part, moments in self._sampled(rate, _WHOLE_ORDERS, threads):
            for order, moment in zip(_WHOLE_ORDERS, moments, strict=True):
                best[part] = np.minimum(best[part], _converted(moment, Fraction(order), steps, delta))
        return np.where(_hidden(rate, steps, delta), 0.0, self._held(best, rate))

    @property
    def _finite(self) -> Floats:
        return np.where(np.isfinite(self.loss), self.loss, 0.0)

    def _held(self, bounds: Floats, rate: Floats) -> Floats:
        """The bounds, inf for a loss that binary64 does not hold."""
        return np.where(np.isfinite(self.loss) | (rate == 0.0), bounds, np.inf)

    def _pure(self, rate: Floats, threads: int) -> Floats:
        return bulk.psi_remove(scaled(self._finite, Fraction(self.times)), rate, threads=threads)

    def _moments(self, loss: Floats, order: int) -> Floats:
        return scaled(self.family.moments(loss, order), Fraction(self.times))

    def _sampled(self, rate: Floats, orders: tuple[int, ...], threads: int) -> Iterator[tuple[slice, list[Floats]]]:
        """For a part of the records at a time, the part and the log-moments after sampling at each order."""
        highest = max(orders)
        rows = max(1, _ENTRIES // highest)
        losses = self._finite
        for start in range(0, len(losses), rows):
            part = slice(start, start + rows)
            base = np.stack([self._moments(losses[part], k) for k in range(2, highest + 1)], axis=1)
            yield (
                part,
                [
                    np.zeros(len(base))
                    if order == 1
                    else sampled_moments(base[:, : order - 1], rate[part], threads=threads)
                    for order in orders
                ],
            )


@final
@frozen(eq=False)
class CurvePairs(BulkPairs):
    """Pairs of which only a Rényi curve is known; it bounds both directions.

    Attributes:
        tau: bounds of τ(α) of one release about each record.
        times: number of releases on the same sample.
    """

    tau: Callable[[Fraction], Floats]
    times: int = 1

    def repeated(self, times: int) -> CurvePairs:
        """Return the pairs of T times as many releases."""
        return CurvePairs(self.tau, self.times * times)

    def renyi(self, rate: Floats, order: Fraction, *, threads: int = 1) -> Floats:
        """What `amplification.renyi_after_sampling` says of either direction; up to order 256, REMOVE by its sum."""
        return scaled(self._sampled(rate, order, threads), 1 / (order - 1))

    def epsilon(self, rate: Floats, steps: int, delta: float, *, threads: int = 1) -> Floats:
        """The smallest of what some orders from 1 + 1/16 to 6145 give."""
        best = np.full(len(rate), np.inf)
        if delta:
            for order in _ORDERS:
                best = np.minimum(best, _converted(self._sampled(rate, order, threads), order, steps, delta))
        return np.where(_hidden(rate, steps, delta), 0.0, best)

    def _sampled(self, rate: Floats, order: Fraction, threads: int) -> Floats:
        mixed = mixed_moments(self._moment(order), rate, threads=threads)
        below = floor(order)
        above = below if below == order else below + 1
        if above > _HIGHEST_SUMMED:
            return mixed
        removed = np.empty(len(rate))
        base = [self._moment(Fraction(k)) for k in range(2, above + 1)]
        rows = max(1, _ENTRIES // above)
        for start in range(0, len(rate), rows):
            part = slice(start, start + rows)
            matrix = np.stack([moments[part] for moments in base], axis=1)
            low, high = (
                np.zeros(len(matrix))
                if whole == 1
                else sampled_moments(matrix[:, : whole - 1], rate[part], threads=threads)
                for whole in (below, above)
            )
            removed[part] = scaled(between_integers(low, high, order), order - 1)
        added = added_moments(self._moment(Fraction(2)), rate, order)
        return np.minimum(mixed, np.maximum(removed, added))

    def _moment(self, order: Fraction) -> Floats:
        return scaled(self.tau(order), (order - 1) * self.times)


def _hidden(rate: Floats, steps: int, delta: float) -> NDArray[np.bool_]:
    """Whether (0, δ) holds because the record is drawn with probability at most T·q ≤ δ."""
    return np.asarray((rate * steps * (1.0 + 2.0**-50) <= delta) | (rate == 0.0) | (delta == 1.0))


def _converted(moment: Floats, order: Fraction, steps: int, delta: float) -> Floats:
    """ε at δ of `steps` releases, from a log-moment at one order (DPIS Lemma 2.5)."""
    total = scaled(moment, steps / (order - 1))
    found = np.nextafter(total + _constant(order, delta), np.inf)
    return np.where(moment == 0.0, 0.0, np.maximum(found, 0.0))


@lru_cache(maxsize=256)
def _constant(order: Fraction, delta: float) -> float:
    """log((α − 1)/α) − (log δ + log α)/(α − 1), from above."""
    ratio = Enclosure.of(1 - 1 / order).log()
    return (ratio - (Enclosure.of(delta).log() + Enclosure.of(order).log()) / (order - 1)).upper_float
