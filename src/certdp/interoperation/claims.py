"""Whether a run keeps an (ε, δ) that somebody claims of it."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from math import inf, isfinite
from typing import Any, final

from attrs import frozen

from ..accounting.accountants import LOSS_DISTRIBUTION, WorstPairs
from ..accounting.enclosures import Enclosure
from ..accounting.units import Delta, Epsilon
from ..runs.run import Answer, Interval, NotionAbsent, Run


class Finding(Enum):
    """What is proven of a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@final
@frozen
class ClaimVerdict:
    """What is proven of a claimed (ε, δ).

    Attributes:
        finding: whether the claim holds, is refuted, or neither is proven.
        epsilon: proven ends of the smallest ε at the claimed δ; no lower end where none is proven.
        answer: the upper end with its derivation; None where no finite ε follows.
    """

    finding: Finding
    epsilon: Interval
    answer: Answer[Any] | None


def judged(run: Run[Any], epsilon: Epsilon, delta: Delta) -> ClaimVerdict:
    """Hold a claim against what is proven of a run.

    Guarantees:
        A claim that holds is true of the run: the proven upper end of ε is at most the claimed one. Of a claim that is
        refuted, some neighbouring data sets show that it is false: the proven lower end is above it.
    """
    try:
        answer = run.epsilon(delta)
    except NotionAbsent:  # nothing finite is proven: also where nothing is private
        lower = run.delta(epsilon).delta.lower
        refuted = lower is not None and Fraction(lower) > delta.value
        finding = Finding.REFUTED if refuted else Finding.UNDECIDED
        return ClaimVerdict(finding, Interval(None, inf), None)
    bounds = answer.epsilon
    if bounds.lower is None and not run.payments:
        bounds = Interval(_reached(run.pairs, delta), bounds.upper)
    if isfinite(bounds.upper) and Fraction(bounds.upper) <= epsilon.value:
        return ClaimVerdict(Finding.HOLDS, bounds, answer)
    refuted = bounds.lower is not None and Fraction(bounds.lower) > epsilon.value
    return ClaimVerdict(Finding.REFUTED if refuted else Finding.UNDECIDED, bounds, answer)


def _reached(pairs: WorstPairs, delta: Delta) -> float | None:
    """A lower end by what is reached alone, where what bounds has no law of its own; None where nothing is."""
    if not pairs.reached:
        return None
    found = LOSS_DISTRIBUTION.epsilon(WorstPairs(pairs.reached, pairs.reached), Enclosure.of(delta.value))
    return None if found is None else Interval.of(found.bounds).lower
