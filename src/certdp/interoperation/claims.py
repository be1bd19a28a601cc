"""Whether a run keeps an (ε, δ) that somebody claims of it."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from math import inf, isfinite
from typing import Any, final

from attrs import frozen

from ..accounting.accountants import LOSS_DISTRIBUTION, WorstPairs, renyi_at
from ..accounting.enclosures import Enclosure
from ..accounting.notions import GaussianDP, Renyi, ZeroConcentrated
from ..accounting.pairs import GaussianPair
from ..accounting.relations import Direction
from ..accounting.units import Delta, Epsilon
from ..runs.as_declared import lower_ends_of
from ..runs.ex_post import refuse_reading
from ..runs.run import Answer, Interval, NotionAbsent, Run

_ORDERS = (Fraction(3, 2), Fraction(2), Fraction(8), Fraction(32))
_LEVELS = (Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2))
"""Where a claimed ρ or μ is tried."""


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
        lower_end: what the lower end, or the refutation, is about where that is not what is released: the mechanism as
            declared, of which a release on a grid may lose less. None too where nothing is proven from below.
    """

    finding: Finding
    epsilon: Interval
    answer: Answer[Any] | None
    lower_end: str | None = None


def judged(run: Run[Any], epsilon: Epsilon, delta: Delta) -> ClaimVerdict:
    """Hold a claim against what is proven of a run.

    Guarantees:
        A claim that holds is true of the run: the proven upper end of ε is at most the claimed one. Of a claim that is
        refuted, some neighbouring data sets show that it is false of the mechanism as declared: the proven lower end is
        above it. What is released on a grid may keep it all the same, as where every record is cut to 0.

    Raises:
        ExPost: for a run whose bounds move with a released value, also where it is taken as it came out.
    """
    refuse_reading(run)
    try:
        answer = run.epsilon(delta)
    except NotionAbsent:  # nothing finite is proven: also where nothing is private
        lower = run.delta(epsilon).delta.lower
        refuted = lower is not None and Fraction(lower) > delta.value
        finding = Finding.REFUTED if refuted else Finding.UNDECIDED
        return ClaimVerdict(finding, Interval(None, inf), None, lower_ends_of(run) if refuted else None)
    bounds = answer.epsilon
    if bounds.lower is None and not run.payments:
        bounds = Interval(_reached(run.pairs, delta), bounds.upper)
    about = None if bounds.lower is None else lower_ends_of(run)
    if isfinite(bounds.upper) and Fraction(bounds.upper) <= epsilon.value:
        return ClaimVerdict(Finding.HOLDS, bounds, answer, about)
    refuted = bounds.lower is not None and Fraction(bounds.lower) > epsilon.value
    return ClaimVerdict(Finding.REFUTED if refuted else Finding.UNDECIDED, bounds, answer, about)


def judged_in(run: Run[Any], bound: Renyi | ZeroConcentrated | GaussianDP) -> ClaimVerdict:
    """Hold a claimed bound in another notion against what is proven of a run; as `judged`.

    The interval of the verdict is of τ, ρ or μ; ρ and μ have no lower end, but a claim of either is refuted where a
    Rényi divergence, or a δ, is proven to be larger than it admits.

    Raises:
        NotionAbsent: where nothing is known of the run in that notion.
        ExPost: as `judged`.
    """
    refuse_reading(run)
    match bound:
        case Renyi(order, claimed):
            found = run.renyi(order).bound.tau
        case ZeroConcentrated(claimed):
            found = run.zero_concentrated().bound.rho
        case GaussianDP(claimed):
            found = run.gaussian().bound.mu
    lower = _least_tau(run, bound.order) if isinstance(bound, Renyi) else None
    ends = Interval(None if lower is None else lower.lower_float, found.upper_float)
    about = None if ends.lower is None else lower_ends_of(run)
    if Fraction(ends.upper) <= claimed.lower:
        return ClaimVerdict(Finding.HOLDS, ends, None, about)
    if _exceeds(run, bound):
        return ClaimVerdict(Finding.REFUTED, ends, None, lower_ends_of(run))
    return ClaimVerdict(Finding.UNDECIDED, ends, None, about)


def _exceeds(run: Run[Any], bound: Renyi | ZeroConcentrated | GaussianDP) -> bool:
    """Whether a run is proven to lose more than a bound."""
    match bound:
        case Renyi(order, tau):
            return _above(_least_tau(run, order), tau)
        case ZeroConcentrated(rho):
            return any(_above(_least_tau(run, order), rho * order) for order in _ORDERS)
        case GaussianDP(mu):
            law = GaussianPair(mu).delta
            for epsilon in _LEVELS:
                least = run.delta(epsilon).delta.lower
                if least is not None and least > law(Enclosure.of(epsilon), Direction.REMOVE).upper:
                    return True
    return False


def _least_tau(run: Run[Any], order: Fraction) -> Enclosure | None:
    """A lower end of τ at an order, where one is proven: as the lower end of an enclosure."""
    found = run.pairs.worst(renyi_at(order))
    return None if found is None or not found.two_sided or run.payments else found.enclosure


def _above(found: Enclosure | None, claimed: Enclosure) -> bool:
    return found is not None and found.lower > claimed.upper


def _reached(pairs: WorstPairs, delta: Delta) -> float | None:
    """A lower end by what is reached alone, where what bounds has no law of its own; None where nothing is."""
    if not pairs.reached:
        return None
    found = LOSS_DISTRIBUTION.epsilon(WorstPairs(pairs.reached, pairs.reached), Enclosure.of(delta.value))
    return None if found is None else Interval.of(found.bounds).lower
