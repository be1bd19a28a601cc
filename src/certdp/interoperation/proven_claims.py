"""A claimed (ε, δ) that is to be proven of a run of certdp or of another tool, with a certificate if there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, final

from attrs import frozen

from ..accounting.derivation import REAL_VALUED_NOISE, Assumption
from ..accounting.errors import InvalidType, InvalidValue
from ..accounting.exact import Number
from ..accounting.notions import Bound
from ..accounting.relations import ADD_REMOVE, Change
from ..accounting.units import Delta, Epsilon
from ..runs.calibration import Budget
from ..runs.certificates import Certified, certified_described, certified_keys
from ..runs.keyed import KeyedRun
from ..runs.plan import Plan
from ..runs.run import Run
from ..runs.sampled import SampledRun
from .as_plan import plan_of
from .claims import ClaimVerdict, Finding, judged
from .events import Event
from .peer_files import PeerRun

Claimed: TypeAlias = "SampledRun[Any] | Plan[Any] | KeyedRun | Event | PeerRun"
"""What a claim is about."""

_Certificate: TypeAlias = tuple[bytes, str | None]


@final
@frozen(kw_only=True)
class Proven:
    """What was found of a claim.

    Attributes:
        verdict: what is proven.
        about: for whom and against what change of the data, in words.
        refusal: why the claim is not proven, in words; None where it is.
        certificate: of the run at that δ, where the claim is proven and a kind of certificate states it.
        reason: why there is none, or what it proves where the checker has no method as sharp; None where it proves the
            claim, or none was asked for.
    """

    verdict: ClaimVerdict
    about: str
    refusal: str | None
    certificate: bytes | None = None
    reason: str | None = None


def proven(
    run: Claimed,
    epsilon: Epsilon | Number,
    delta: Delta | Number = 0,
    *,
    relation: Change = ADD_REMOVE,
    with_certificate: bool = True,
) -> Proven:
    """Hold a claim against what is proven of a run, for its unit and under one change of the data.

    Args:
        run: of certdp, or of another tool.
        epsilon: what is claimed.
        delta: the δ that goes with it.
        relation: the change of the data that the claim is about. A run of certdp is to be about the same.
        with_certificate: whether one is wanted.

    Raises:
        InvalidType: for anything else than a run. InvalidValue: for a claim outside its range, a run about another
            relation, and an event that is not understood under this one.
    """
    budget = Budget(epsilon=epsilon, delta=delta)
    asked: Run[Any]
    certify: Callable[[float], _Certificate]
    match run:
        case KeyedRun():
            asked, certify = run, partial(_of_keys, run, budget)
        case Plan():
            asked, certify = run, partial(_of_plan, run, budget)
        case SampledRun():
            asked, certify = run, partial(_of_plan, Plan([run]), budget)
        case PeerRun(event=event, assumptions=stated):
            asked, certify = run.run(relation), partial(_described, event, budget, stated, relation)
        case Event():
            asked, certify = run.run(relation), partial(_described, run, budget, (), relation)
        case _:
            raise InvalidType("run", run, "a run of certdp, an event, or what read_peer_file gave")
    if asked.relation != relation:
        remedy = f"Ask about {asked.relation.name}, or state the run under {relation.name}"
        raise InvalidValue("relation", asked.relation.name, f"a run about {relation.name}, as the claim is", remedy)
    verdict, about = judged(asked, budget.epsilon, budget.delta), f"unit {asked.unit.name}, relation {relation.name}"
    if verdict.finding is not Finding.HOLDS:
        return Proven(verdict=verdict, about=about, refusal=_words(verdict, budget, about))
    if not with_certificate:
        return Proven(verdict=verdict, about=about, refusal=None)
    try:
        certificate, reason = certify(verdict.epsilon.upper)
        return Proven(verdict=verdict, about=about, refusal=None, certificate=certificate, reason=reason)
    except InvalidValue as error:  # the verdict stands, whatever can be certified
        return Proven(verdict=verdict, about=about, refusal=None, reason=str(error))


def certified_event(
    event: Event,
    claimed: Budget | Bound,
    upper: float,
    assumptions: Sequence[Assumption],
    relation: Change = ADD_REMOVE,
) -> Certified:
    """A certificate that the releases of an event keep what is claimed; all else as of `certified_described`."""
    return certified_described(plan_of(event, relation), claimed, upper, (*assumptions, REAL_VALUED_NOISE))


def _of_keys(run: KeyedRun, budget: Budget, upper: float) -> _Certificate:
    return _noted(certified_keys(run, budget.delta, upper), budget)


def _of_plan(run: Plan[Any], budget: Budget, upper: float) -> _Certificate:
    return _noted(certified_described(run, budget, upper, ()), budget)


def _described(
    event: Event, budget: Budget, assumptions: Sequence[Assumption], relation: Change, upper: float
) -> _Certificate:
    return _noted(certified_event(event, budget, upper, assumptions, relation), budget)


def _noted(found: Certified, budget: Budget) -> _Certificate:
    return found.content, None if found.epsilon <= budget.epsilon.value else f"it proves more: {found}"


def _words(verdict: ClaimVerdict, budget: Budget, about: str) -> str:
    """Why a claim is not proven, with the ends that are; every digit of them, as the claim lies outside."""
    claim = f"({budget.epsilon.value}, {budget.delta.value})-DP ({about})"
    lower, upper = verdict.epsilon.lower, verdict.epsilon.upper
    of = f", {verdict.lower_end}" if verdict.lower_end else ""
    if verdict.finding is Finding.REFUTED:
        least = "" if lower is None else f": the true ε is at least {lower!r}"
        return f"{claim} is refuted{least}{of}"
    least = "no lower end is proven" if lower is None else f"it is at least {lower!r}"
    return f"{claim} is not proven: the true ε is at most {upper!r}, and {least}{of}"
