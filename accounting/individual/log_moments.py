"""Log-moments of the sampled Gaussian at fixed orders, added to the running totals of many records.

Legend: Λ = (α − 1)·τ(α) of one step, an upper bound in both directions; u = 2^-53. Where all records share one shift,
Λ is read from a table in the rate q; otherwise it is computed for each, at whole orders by a closed form. The proofs
are in `docs/soundness_individual.md`, whose step numbers stand beside the code.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from .._kernels import individual as kernels
from ..bulk.parts import part, shared
from ..errors import InvalidValue
from ..exact import Floats
from .orders import Orders

SMALLEST_RATE = 2.0**-60
"""Smaller rates, other than 0, count as this one where a table is read."""

_SHARE = 1 << 12  # records worth a thread
_FEWEST_DIGITS, _MOST_DIGITS = 6, 11
_WIDEST = 0.07  # order times width of a cell: the chord of q^α exceeds it by an eighth of the square of that
_UP = 1.0 + 2.0**-51
_TABLES = 4
_MOST_STEPS = 2**40

Octave: TypeAlias = tuple[Floats, Floats]
"""Bounds at the lower ends of the cells of [2^e, 2^(e+1)), and how much they grow over each; a column per order."""


class LogMoments:
    """What steps add to the running totals of records, at fixed orders.

    A total is a C-ordered matrix with one row per record and one column per order. After k additions, `with_margin(k)`
    times a total is at least the sum of `times`·Λ (step 4). A record's total depends on its own rates and shifts alone,
    and on which of the two methods was called.
    """

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._tables: dict[float, RateTable] = {}

    def add_each(self, rate: Floats, shift: Floats, times: int, totals: Floats, *, threads: int = 1) -> None:
        """totals += times·Λ for records with shifts of their own.

        Args:
            rate: q of each record, a contiguous vector in [0, 1], or of length 1 for all.
            shift: s of each record, a contiguous vector of finite numbers ≥ 0, or of length 1 for all.
            times: at least 1.
            totals: running totals.
            threads: threads for the kernels; the result is the same for any number.
        """
        values, summed, integrated = self._orders.values, self._orders.summed, self._orders.integrated
        whole = values[summed].astype(np.int64)

        def run(start: int, stop: int) -> bool:
            q, s, sums = part(rate, start, stop), part(shift, start, stop), totals[start:stop]
            if len(whole):
                kernels.add_whole(q, s, whole, summed, float(times), sums)
            for column in integrated.tolist():
                kernels.add_any(q, s, float(values[column]), column, float(times), sums)
            return True

        shared(run, len(totals), _SHARE if not len(integrated) else 64, threads)

    def add_common(self, rate: Floats, shift: float, times: int, totals: Floats, *, threads: int = 1) -> None:
        """totals += times·Λ for records with one shift for all; otherwise as `add_each`."""
        if shift not in self._tables:
            while len(self._tables) >= _TABLES:
                del self._tables[next(iter(self._tables))]
            self._tables[shift] = RateTable(self._orders, shift)
        self._tables[shift].add(rate, times, totals, threads=threads)


class RateTable:
    """Λ at one shift as a function of the rate, from above: straight lines between binary64 numbers (step 3).

    Cells have 2^-d of the width of their octave, with d so large that lines add below 10^-3 of Λ for orders up to 128.
    Octaves are filled when a rate in them is first met. A value depends on rate, shift and orders alone.

    Args:
        orders: the orders.
        shift: s, finite, ≥ 0.
    """

    def __init__(self, orders: Orders, shift: float) -> None:
        self._moments = LogMoments(orders)
        self._orders = orders
        self._shift = np.array([shift])
        largest = float(orders.values[-1])
        self._digits = min(max(int(np.ceil(np.log2(largest / _WIDEST))), _FEWEST_DIGITS), _MOST_DIGITS)
        self._octaves: dict[int, Octave] = {}
        self._first = 0
        self._base = self._climb = np.empty((0, len(orders)))

    def add(self, rate: Floats, times: int, totals: Floats, *, threads: int = 1) -> None:
        """totals += times·Λ, for rates in [0, 1] as in `LogMoments.add_each`."""
        least = float(np.min(rate, where=rate > 0, initial=2.0))
        if least > 1.0:
            return  # no record is ever drawn
        self._cover(max(least, SMALLEST_RATE), float(rate.max()), threads)
        leading = int(np.float64(2.0**self._first).view(np.int64)) >> (52 - self._digits)

        def run(start: int, stop: int) -> bool:
            kernels.add_from_table(
                part(rate, start, stop),
                self._base,
                self._climb,
                self._digits,
                leading,
                float(times),
                totals[start:stop],
            )
            return True

        shared(run, len(totals), _SHARE, threads)

    def _cover(self, least: float, most: float, threads: int) -> None:
        low, high = (int(np.frexp(end)[1]) - 1 for end in (least, max(most, least)))
        if self._octaves:
            low, high = min(low, *self._octaves), max(high, *self._octaves)
        missing = [octave for octave in range(low, high + 1) if octave not in self._octaves]
        if not missing:
            return
        for octave in missing:
            self._octaves[octave] = self._filled(octave, threads)
        covered = [self._octaves[octave] for octave in range(low, high + 1)]
        self._first = low
        self._base, self._climb = (np.concatenate([part[i] for part in covered]) for i in (0, 1))

    def _filled(self, octave: int, threads: int) -> Octave:
        cells = 1 << self._digits if octave < 0 else 0  # of [1, 2) the number 1 alone is a rate
        nodes = 2.0**octave * (1.0 + np.arange(cells + 1) / (1 << self._digits))
        bounds = np.zeros((cells + 1, len(self._orders)))
        self._moments.add_each(nodes, self._shift, 1, bounds, threads=threads)
        bounds *= with_margin(1)
        # Λ grows with q: what bounds it at a node bounds it at the nodes below
        bounds = np.minimum.accumulate(bounds[::-1])[::-1]
        if not cells:
            return bounds, np.zeros_like(bounds)
        low, high = bounds[:-1], bounds[1:]
        with np.errstate(invalid="ignore", over="ignore"):
            climb = (high - low) * _UP
            base = (low + climb * climb * (0.125 * _UP)) * _UP
        finite = np.isfinite(base)
        return np.where(finite, base, np.inf), np.where(finite, climb, 0.0)


def with_margin(additions: int) -> float:
    """What totals of so many additions are multiplied with to be upper bounds (step 4).

    Raises:
        InvalidValue: beyond 2^40 additions.
    """
    if additions > _MOST_STEPS:
        raise InvalidValue("steps", additions, "at most 2^40 steps")
    return 1.0 + (additions + 4) * 2.0**-52
