"""How far an audit of so many runs can see; an audit that finds nothing says that much and no more."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import inf, isfinite, log
from typing import Any, final

from attrs import frozen

from ...accounting.display import rounded_up
from ...accounting.exact import Number
from ...accounting.units import Delta, Epsilon
from .bounds import Count, checked_confidence, epsilon_lower_bound

_DIGITS = 4


@final
@frozen(kw_only=True)
class Power:
    """What an audit can show of a claim, whatever it audits.

    Attributes:
        claimed: the ε in question.
        runs: per input; half of them, rounded up, are tested.
        most: no outcome shows a larger bound on ε.
        refutable: the least ε of a release whose expected counts refute the claim, where it tells as much as randomised
            response at that ε; infinite where no outcome refutes it. An estimate: counts vary, and other releases tell
            less.
    """

    claimed: Epsilon
    runs: int
    most: float
    refutable: float

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary; None where nothing could be refuted."""
        return {
            "runs": self.runs,
            "epsilon_lower_most": self.most,
            "epsilon_refutable": self.refutable if isfinite(self.refutable) else None,
        }

    def __str__(self) -> str:
        most = f"{self.runs:,} runs on each input can show ε ≥ {rounded_up(self.most, _DIGITS)} at most"
        if not isfinite(self.refutable):
            return f"{most}, which does not refute the claim"
        return f"{most}, and refute the claim as a rule only where the true ε is {self.refutable:.{_DIGITS}g} or more"


def power_of(claimed: Epsilon, delta: Delta, *, runs: int, confidence: Number) -> Power:
    """What an audit of so many runs per input can show.

    Of all (ε, δ)-DP releases randomised response has the event that tells most at ε: it happens with probability 1 − p
    on one input and p = (1 − δ)/(1 + e^ε) on the other. With m tested runs and k the largest count for which m − k and
    k refute the claim, its expected counts refute it, rounded to whole numbers, while m·p ≤ k + 1/2.

    Raises:
        InvalidValue: for a confidence outside (0, 1).
    """
    error = 1 - checked_confidence(confidence)
    tested = runs - runs // 2

    def lower_bound(rarer: int) -> float:
        return epsilon_lower_bound(Count(tested - rarer, tested), Count(rarer, tested), delta, error)

    most = lower_bound(0)
    refuting = bisect_left(range(tested), True, key=lambda rarer: Fraction(lower_bound(rarer)) <= claimed.value)
    if not refuting:
        return Power(claimed=claimed, runs=runs, most=most, refutable=inf)
    odds = (1 - delta.value) * tested / (refuting - Fraction(1, 2)) - 1
    return Power(claimed=claimed, runs=runs, most=most, refutable=log(odds))
