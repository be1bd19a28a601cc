"""An empirical audit: what runs of a release on two neighbouring inputs prove about its ε, at a stated confidence.

Half of the runs choose an event; the other half, which had no say in the choice, count how often it happens under each
input. If the release is (ε, δ)-DP, then Pr₁ ≤ e^ε·Pr₂ + δ for every event and both orders of the inputs: so the exact
binomial bounds of Clopper and Pearson (1934) on the two probabilities, which are proven here, bound ε from below. No
audit bounds ε from above: one that finds nothing proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.enclosures import Enclosure, binomial_lower_bound, binomial_upper_bound
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Number, exact
from ..accounting.guarantees import require
from ..accounting.units import Delta, Epsilon
from ..plugins.contract import Coins, Mechanism, WeightedSample

Floats: TypeAlias = NDArray[np.float64]

Releases: TypeAlias = Callable[[int], Floats]
"""Draws that many independent outputs on one input: an array (count,) or (count, d)."""

RUNS = 200_000
"""Runs per input where nothing else is asked for."""

CONFIDENCE = Fraction(999, 1000)
"""The confidence where nothing else is asked for."""

_FEWEST_RUNS = 20
_COORDINATES = 16
_THRESHOLDS = 100
_DIGITS = 4
_GRID = 2.0**-20
"""Resolution of the differences of distances, in units of the largest."""
_PRECISION = 64


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
        """Per output, whether the event happens."""
        scores = _scores(self.statistic, outputs)
        return scores > self.threshold if self.above else scores <= self.threshold

    def __str__(self) -> str:
        return f"{self.statistic.name} {'>' if self.above else '≤'} {self.threshold:.{_DIGITS}g}"


@final
@frozen
class Count:
    """How often an event happened."""

    hits: int
    trials: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.trials}"


@final
@frozen(kw_only=True)
class Audit:
    """What an audit proves.

    Attributes:
        lower: a lower bound on ε, rounded down; 0 where nothing was shown.
        delta: the δ at which it holds.
        confidence: with at least this probability over the runs, no ε below `lower` is a valid guarantee.
        event: the event that was counted.
        likelier: its count under the input where it is likelier.
        rarer: its count under the other input.
        first_is_likelier: whether `likelier` counts the first input.
    """

    lower: float
    delta: Delta
    confidence: Fraction
    event: Event
    likelier: Count
    rarer: Count
    first_is_likelier: bool

    def refutes(self, claimed: Epsilon) -> bool:
        """Whether the runs contradict the claimed ε, at `delta` and the stated confidence."""
        return Fraction(self.lower) > claimed.value

    def __str__(self) -> str:
        names = ("first", "second") if self.first_is_likelier else ("second", "first")
        return (
            f"ε ≥ {self.lower:.{_DIGITS}f} at δ = {self.delta}, confidence {float(self.confidence)}: "
            f"{self.event} in {self.likelier} runs on the {names[0]} input, {self.rarer} on the {names[1]}"
        )


def repeated(mechanism: Mechanism, sample: WeightedSample, coins: Coins) -> Releases:
    """The releases of a mechanism on one sample, run after run; write a vectorised one where that takes too long."""

    def releases(count: int) -> Floats:
        return np.stack([mechanism.release(sample, coins) for _ in range(count)])

    return releases


def audit(
    first: Releases,
    second: Releases,
    *,
    delta: Delta | None = None,
    statistics: Sequence[Statistic] | None = None,
    runs: int = RUNS,
    confidence: Number = CONFIDENCE,
) -> Audit:
    """A lower bound on ε from runs of one release on two neighbouring inputs.

    Args:
        first: draws outputs on one input.
        second: draws outputs on the neighbouring input.
        delta: the δ of the guarantee in question; 0 unless given.
        statistics: what to look at; `statistics_of` the runs unless given.
        runs: per input; half of them choose the event, half test it.
        confidence: between 0 and 1.

    Guarantees:
        Where the outputs are independent draws, `lower` exceeds an ε at which the release is (ε, δ)-DP with probability
        at most 1 − `confidence`. Several audits of one release share that probability: divide it among them.

    Raises:
        InvalidValue, InvalidType: for a confidence outside (0, 1), too few runs, outputs of the wrong shape, NaN.
    """
    error = 1 - _checked_confidence(confidence)
    _check_runs(runs)
    limit = Delta(0) if delta is None else delta
    require("delta", limit, Delta, "Write Delta(…) to read a number exactly")
    chosen_from = _drawn(first, runs // 2, "first"), _drawn(second, runs // 2, "second")
    tried = statistics_of(*chosen_from) if statistics is None else tuple(statistics)
    event, first_is_likelier = _best_event(tried, chosen_from, limit, error)
    tested = _drawn(first, runs - runs // 2, "first"), _drawn(second, runs - runs // 2, "second")
    counts = [Count(int(np.count_nonzero(event.happens(outputs))), len(outputs)) for outputs in tested]
    likelier, rarer = counts if first_is_likelier else reversed(counts)
    return Audit(
        lower=_lower_bound(likelier, rarer, limit, error),
        delta=limit,
        confidence=1 - error,
        event=event,
        likelier=likelier,
        rarer=rarer,
        first_is_likelier=first_is_likelier,
    )


def statistics_of(first: Floats, second: Floats) -> tuple[Statistic, ...]:
    """Statistics that tell many wrong mechanisms: entries, and distances to where the outputs lie.

    The entries (the first 16), the norms of what is left when the componentwise median of either input's outputs is
    subtracted, and the differences of those norms between the inputs: the log-likelihood ratio of Laplace noise for
    p = 1, of noise with a density in ‖·‖₂ for p = 2.

    They speak of real-valued noise: none looks at the low-order bits of an output, by which binary64 noise tells the
    inputs apart (Mironov 2012). Who wants to see that leak gives a statistic that does.

    Args:
        first: outputs (count, d) on one input, which no test reuses.
        second: outputs on the other.
    """
    return tuple(_statistics(np.median(first, axis=0), np.median(second, axis=0)))


def _statistics(first: Floats, second: Floats) -> Iterator[Statistic]:
    apart = not np.array_equal(first, second)
    for index in range(min(len(first), _COORDINATES)):
        yield Statistic(f"entry {index}", partial(np.take, indices=index, axis=1))
    for order, name in ((1, "ℓ1"), (2, "ℓ2"), (np.inf, "ℓ∞")):
        yield Statistic(f"{name} distance to the first median", partial(_distance, first, order))
        yield Statistic(f"{name} distance to the second median", partial(_distance, second, order))
        if apart:
            yield Statistic(f"{name} difference of the distances", partial(_difference, first, second, order))


def _distance(centre: Floats, order: float, outputs: Floats) -> Floats:
    return np.asarray(np.linalg.norm(outputs - centre, ord=order, axis=1))


def _difference(first: Floats, second: Floats, order: float, outputs: Floats) -> Floats:
    # far away the difference is constant but for its rounding, which tells the low-order bits of the outputs
    grid = float(np.linalg.norm(first - second, ord=order)) * _GRID
    return np.asarray(np.rint((_distance(first, order, outputs) - _distance(second, order, outputs)) / grid)) * grid


def _best_event(
    statistics: Sequence[Statistic], outputs: tuple[Floats, Floats], delta: Delta, error: Fraction
) -> tuple[Event, bool]:
    """The event with the largest bound on the runs that choose, and whether the first input makes it likelier."""
    if not statistics:
        raise InvalidValue("statistics", "none", "at least one statistic")
    best, chosen = -np.inf, (Event(statistics[0], 0.0, False), True)
    for statistic in statistics:
        scores = [np.sort(_scores(statistic, half)) for half in outputs]
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


def _lower_bound(likelier: Count, rarer: Count, delta: Delta, error: Fraction) -> float:
    """The bound on ε from proven binomial bounds, each at half of the error."""
    least = binomial_lower_bound(likelier.hits, likelier.trials, error / 2, precision=_PRECISION).lower - delta.value
    most = binomial_upper_bound(rarer.hits, rarer.trials, error / 2, precision=_PRECISION).upper
    if least <= most:
        return 0.0  # ε ≥ 0 holds of every guarantee
    return Enclosure.of(least / most).log().lower_float


def _scores(statistic: Statistic, outputs: Floats) -> Floats:
    scores = np.asarray(statistic.score(outputs), dtype=np.float64)
    if scores.shape != (len(outputs),):
        raise InvalidValue("statistics", f"{statistic.name}: shape {scores.shape}", "one number per output")
    if np.isnan(scores).any():
        raise InvalidValue("statistics", f"{statistic.name}: NaN", "numbers", "Score such outputs apart")
    return scores


def _drawn(releases: Releases, count: int, which: str) -> Floats:
    """`count` outputs as a matrix, one per row."""
    outputs = np.asarray(releases(count), dtype=np.float64)
    if outputs.ndim not in (1, 2) or len(outputs) != count:
        raise InvalidValue(which, f"outputs of shape {outputs.shape}", f"shape ({count},) or ({count}, d)")
    return outputs.reshape(count, -1)


def _check_runs(runs: int) -> None:
    if isinstance(runs, bool) or not isinstance(runs, int):
        raise InvalidType("runs", runs, f"a whole number ≥ {_FEWEST_RUNS}")
    if runs < _FEWEST_RUNS:
        raise InvalidValue("runs", runs, f"a whole number ≥ {_FEWEST_RUNS}")


def _checked_confidence(confidence: Number) -> Fraction:
    value = exact(confidence, parameter="confidence")
    if not 0 < value < 1:
        raise InvalidValue("confidence", confidence, "a number between 0 and 1")
    return value
