"""An audit from runs of a release on two neighbouring inputs.

Half of the runs choose an event: some of them fit statistics, the others pick the threshold of one. The other half,
which had no say in the choice, count how often the event happens under each input. If the release is (ε, δ)-DP, then
Pr₁ ≤ e^ε·Pr₂ + δ for every event and both orders of the inputs: so the exact binomial bounds of Clopper and Pearson
(1934) on the two probabilities, which are proven here, bound ε from below. No audit bounds ε from above: one that finds
nothing proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from ...accounting.display import rounded_down
from ...accounting.enclosures.arguments import whole
from ...accounting.errors import InvalidValue
from ...accounting.exact import Floats, Number
from ...accounting.units import Delta, Epsilon
from ...plugins.contract import Coins, Mechanism, WeightedSample, many_releases
from .bounds import Count, checked_confidence, epsilon_lower_bound
from .statistics import Event, Statistic, best_event, statistics_of

Releases: TypeAlias = Callable[[int], Floats]
"""Draws that many independent outputs on one input: an array (count,) or (count, d)."""

RUNS = 200_000
"""Runs per input where nothing else is asked for."""

CONFIDENCE = Fraction(999, 1000)
"""The confidence where nothing else is asked for."""

_FEWEST_RUNS = 20
_DIGITS = 5
_BLOCK = 1 << 18


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
            f"ε ≥ {rounded_down(self.lower, _DIGITS)} at δ = {self.delta}, confidence {float(self.confidence)}: "
            f"{self.event} in {self.likelier} runs on the {names[0]} input, {self.rarer} on the {names[1]}"
        )


def repeated(mechanism: Mechanism, sample: WeightedSample, coins: Coins) -> Releases:
    """The releases of a mechanism on one sample: many at a time where it can, else run after run."""
    return lambda count: many_releases(mechanism, sample, count, coins)


def audit(
    first: Releases,
    second: Releases,
    *,
    delta: Delta | Number | None = None,
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
    error = 1 - checked_confidence(confidence)
    whole("runs", runs, _FEWEST_RUNS)
    limit = Delta.of(0 if delta is None else delta)
    half = runs // 2
    outputs = _drawn(first, half, "first"), _drawn(second, half, "second")
    # an event looks too good on the runs that its statistic was fitted to
    fitted = half // 2 if statistics is None else 0
    tried = statistics_of(outputs[0][:fitted], outputs[1][:fitted]) if statistics is None else tuple(statistics)
    event, first_is_likelier = best_event(tried, (outputs[0][fitted:], outputs[1][fitted:]), limit, error)
    del outputs
    tested = runs - half
    counts = [_counted(event, first, tested, "first"), _counted(event, second, tested, "second")]
    likelier, rarer = counts if first_is_likelier else reversed(counts)
    return Audit(
        lower=epsilon_lower_bound(likelier, rarer, limit, error),
        delta=limit,
        confidence=1 - error,
        event=event,
        likelier=likelier,
        rarer=rarer,
        first_is_likelier=first_is_likelier,
    )


def _counted(event: Event, releases: Releases, trials: int, which: str) -> Count:
    """How often an event happens in so many runs, of which a block at a time is held."""
    blocks = (min(_BLOCK, trials - start) for start in range(0, trials, _BLOCK))
    return Count(sum(int(np.count_nonzero(event.happens(_drawn(releases, size, which)))) for size in blocks), trials)


def _drawn(releases: Releases, count: int, which: str) -> Floats:
    """`count` outputs as a matrix, one per row."""
    outputs = np.asarray(releases(count), dtype=np.float64)
    if outputs.ndim not in (1, 2) or len(outputs) != count:
        raise InvalidValue(which, f"outputs of shape {outputs.shape}", f"shape ({count},) or ({count}, d)")
    return outputs.reshape(count, -1)
