"""Events that may tell two inputs apart: thresholds of statistics, chosen on runs that no test reuses.

Of the statistics proposed here, `low_order_statistics` look at the low-order bits of an output, by which binary64 noise
tells the inputs apart (Mironov 2012), at its digits and at the order of its entries. `statistics_of` does not, as a
mechanism that assumes real-valued noise does not claim to hide them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats
from ...accounting.units import Delta

_ENTRIES = 16
_JOINT_ENTRIES = 256
_CELLS = 64
_FEWEST_PER_CELL = 20
_THRESHOLDS = 100
_DIGITS = 4
_GRID = 2.0**-20
"""Resolution of the differences of distances, in units of the largest."""


@final
@frozen
class Statistic:
    """A number computed from each output, whose thresholds are the events tried.

    Attributes:
        name: as an event shows it.
        score: takes outputs (count, d), returns (count,) numbers.
    """

    name: str
    score: Callable[[Floats], Floats]

    def scores(self, outputs: Floats) -> Floats:
        """The number of each output.

        Raises:
            InvalidValue: for anything but one number per output, and for NaN.
        """
        scores = np.asarray(self.score(outputs), dtype=np.float64)
        if scores.shape != (len(outputs),):
            raise InvalidValue("statistics", f"{self.name}: shape {scores.shape}", "one number per output")
        if np.isnan(scores).any():
            raise InvalidValue("statistics", f"{self.name}: NaN", "numbers", "Score such outputs apart")
        return scores


@final
@frozen
class Event:
    """Outputs on one side of a threshold of a statistic.

    Attributes:
        statistic: what is compared.
        threshold: with what.
        above: whether the event is "above the threshold" rather than "at most".
    """

    statistic: Statistic
    threshold: float
    above: bool

    def happens(self, outputs: Floats) -> NDArray[np.bool_]:
        """Return for each output whether the event happens."""
        scores = self.statistic.scores(outputs)
        return scores > self.threshold if self.above else scores <= self.threshold

    def __str__(self) -> str:
        return f"{self.statistic.name} {'>' if self.above else '≤'} {self.threshold:.{_DIGITS}g}"


def statistics_of(first: Floats, second: Floats) -> tuple[Statistic, ...]:
    """Statistics that tell many wrong mechanisms: entries, distances to where the outputs lie, likelihood ratios.

    The entries (the first 16); the norms of what is left when the componentwise median of either input's outputs is
    subtracted, and the differences of those norms between the inputs: the log-likelihood ratio of Laplace noise for
    p = 1, of noise with a density in ‖·‖₂ for p = 2; the projection on the line through the means, which is that of
    Gaussian noise; and the sum of log-likelihood ratios of the entries, read from histograms: that of independent
    entries, whatever their law.

    Args:
        first: outputs (count, d) on one input, which no test reuses.
        second: outputs on the other.
    """
    return (*_distances(np.median(first, axis=0), np.median(second, axis=0)), *_ratios(first, second))


def low_order_statistics(columns: int) -> tuple[Statistic, ...]:
    """Statistics of how outputs are written rather than how large they are.

    Of each of the first 16 entries: the place of its last binary digit that is not 0, absolutely and from its first
    one, whether it is finer than 2^-53, eight binary digits up to that place, to 2^-30 and to 2^-42, its last decimal
    digit, how many it takes to write it, and its sign bit. Of several entries how many are above the one before.

    Args:
        columns: entries of an output.
    """
    each: dict[str, Callable[[Floats], NDArray[Any]]] = {
        "place of the last bit of": lambda entry: _last_bit(entry)[0],
        "bits of": lambda entry: _last_bit(entry)[1],
        "finer than 2^-53 is": lambda entry: entry * 2.0**53 % 1 != 0,
        "last eight bits of": lambda entry: _last_bit(entry)[2] % 256,
        "units of 2^-30, modulo 256, of": lambda entry: np.floor(entry * 2.0**30) % 256,
        "units of 2^-42, modulo 256, of": lambda entry: np.floor(entry * 2.0**42) % 256,
        "last decimal digit of": lambda entry: np.array([float(_digits(number)[-1]) for number in entry.tolist()]),
        "decimal digits of": lambda entry: np.array([float(len(_digits(number))) for number in entry.tolist()]),
        "sign bit of": np.signbit,
    }
    found = [
        Statistic(f"{name} entry {index}", partial(_of_entry, read, index))
        for index in range(min(columns, _ENTRIES))
        for name, read in each.items()
    ]
    if columns > 1:
        found.append(Statistic("entries in order", lambda outputs: np.sum(np.diff(outputs, axis=1) > 0, axis=1)))
    return tuple(found)


def _of_entry(read: Callable[[Floats], NDArray[Any]], index: int, outputs: Floats) -> Floats:
    return np.asarray(read(outputs[:, index]), dtype=np.float64)


def _last_bit(entry: Floats) -> tuple[Floats, Floats, Floats]:
    """The exponent of the last binary digit that is not 0, how many there are up to it, and the number they are."""
    mantissa, exponent = np.frexp(entry)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1.0
    zeros[whole == 0] = 53
    return exponent - 53 + zeros, 53 - zeros, np.floor(whole / 2.0**zeros)


def _digits(number: float) -> str:
    return "".join(filter(str.isdigit, f"{number!r}".partition("e")[0]))


def best_event(
    statistics: Sequence[Statistic], outputs: tuple[Floats, Floats], delta: Delta, error: Fraction
) -> tuple[Event, bool]:
    """The event with the largest bound on the runs that choose, and whether the first input makes it likelier.

    Raises:
        InvalidValue: where there is no statistic.
    """
    if not statistics:
        raise InvalidValue("statistics", "none", "at least one statistic")
    best, chosen = -np.inf, (Event(statistics[0], 0.0, False), True)
    for statistic in statistics:
        scores = [np.sort(statistic.scores(half)) for half in outputs]
        thresholds = _thresholds(np.sort(np.concatenate(scores)))
        at_most = [np.searchsorted(ordered, thresholds, side="right") for ordered in scores]
        for above in (False, True):
            hits = [len(half) - below if above else below for half, below in zip(outputs, at_most, strict=True)]
            for first_is_likelier in (True, False):
                likelier, rarer = hits if first_is_likelier else reversed(hits)
                bounds = _estimated_bounds(likelier, rarer, len(outputs[0]), float(delta.value), float(error))
                index = int(np.argmax(bounds))
                if bounds[index] > best:
                    best = bounds[index]
                    chosen = Event(statistic, float(thresholds[index]), above), first_is_likelier
    return chosen


def _distances(first: Floats, second: Floats) -> Iterator[Statistic]:
    apart = not np.array_equal(first, second)
    for index in range(min(len(first), _ENTRIES)):
        yield Statistic(f"entry {index} of the output", partial(np.take, indices=index, axis=1))
    for order, name in ((1, "ℓ1"), (2, "ℓ2"), (np.inf, "ℓ∞")):
        distance = f"{name} distance of the output from the median output on the"
        yield Statistic(f"{distance} first input", partial(_distance, first, order))
        yield Statistic(f"{distance} second input", partial(_distance, second, order))
        if apart:
            both = f"{distance} first input, minus that on the second"
            yield Statistic(both, partial(_difference, first, second, order))


def _distance(centre: Floats, order: float, outputs: Floats) -> Floats:
    return np.asarray(np.linalg.norm(outputs - centre, ord=order, axis=1))


def _difference(first: Floats, second: Floats, order: float, outputs: Floats) -> Floats:
    # far away the difference is constant but for its rounding, which tells the low-order bits of the outputs
    grid = float(np.linalg.norm(first - second, ord=order)) * _GRID
    return np.asarray(np.rint((_distance(first, order, outputs) - _distance(second, order, outputs)) / grid)) * grid


def _ratios(first: Floats, second: Floats) -> Iterator[Statistic]:
    line = first.mean(axis=0) - second.mean(axis=0)
    if len(line) > 1 and np.all(np.isfinite(line)) and line.any():
        yield Statistic("projection of the output on the line through the mean outputs", partial(_projection, line))
    cells = min(_CELLS, len(first) // _FEWEST_PER_CELL)
    if cells > 1:
        entries = tuple(
            _EntryRatio.of(one, other, cells)
            for one, other in zip(first.T[:_JOINT_ENTRIES], second.T[:_JOINT_ENTRIES], strict=True)
        )
        yield Statistic(
            "log-likelihood ratio of the output's entries, read from histograms", partial(_likelihood_ratio, entries)
        )


def _projection(line: Floats, outputs: Floats) -> Floats:
    return np.asarray(outputs @ line)


@final
@frozen(eq=False)
class _EntryRatio:
    """The log-likelihood ratio of one entry between the inputs, as a step function.

    Attributes:
        edges: where its cells begin, increasing; a value with much probability of its own has its own cell.
        logarithms: one more than edges.
    """

    edges: Floats
    logarithms: Floats

    @classmethod
    def of(cls, first: Floats, second: Floats, cells: int) -> _EntryRatio:
        pooled = np.sort(np.concatenate([first, second]))
        edges = np.unique(pooled[np.linspace(0, len(pooled) - 1, cells).astype(np.int64)])
        counts = [
            np.bincount(np.searchsorted(edges, one, "right"), minlength=len(edges) + 1) for one in (first, second)
        ]
        return cls(edges, np.log((counts[0] + 1) / (counts[1] + 1)))

    def __call__(self, entries: Floats) -> Floats:
        return np.asarray(self.logarithms[np.searchsorted(self.edges, entries, side="right")])


def _likelihood_ratio(entries: Sequence[_EntryRatio], outputs: Floats) -> Floats:
    total = np.zeros(len(outputs))
    for ratio, column in zip(entries, outputs.T, strict=False):  # entries beyond the last are left out
        total += ratio(column)
    return total


def _thresholds(scores: Floats) -> Floats:
    """Some of the sorted scores, denser towards both ends, where ratios of probabilities are largest."""
    count = len(scores)
    tail = np.geomspace(1, count, _THRESHOLDS).astype(np.int64) - 1
    even = np.linspace(0, count - 1, _THRESHOLDS).astype(np.int64)
    return np.unique(scores[np.concatenate([tail, even, count - 1 - tail])])


def _estimated_bounds(
    likelier: NDArray[np.int64], rarer: NDArray[np.int64], trials: int, delta: float, error: float
) -> Floats:
    """The bounds on ε that such counts would give, to choose by; −inf where they give none."""
    from scipy.special import betaincinv

    least = np.where(likelier > 0, betaincinv(np.maximum(likelier, 1), trials - likelier + 1, error / 2), 0.0)
    most = np.where(rarer < trials, betaincinv(rarer + 1, np.maximum(trials - rarer, 1), 1 - error / 2), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(least - delta, 0.0) / most))
