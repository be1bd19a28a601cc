"""Certificates of what a run costs as (ε, δ)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from .accounting.units import Delta, Epsilon
from .sampled import declared_loss, declared_rate, statement_of
from .verification.composed_certificates import (
    Certified,
    ReleaseStatement,
    RunStatement,
    certified_delta,
    certified_epsilon,
)

if TYPE_CHECKING:
    from .accounted import Accounted, Answer
    from .accounting.domains import NormBall
    from .sampled_releases import SampledReleases

__all__ = ["Certified", "certified"]


def certified(run: Accounted, parts: Sequence[SampledReleases], domain: NormBall | None, answer: Answer) -> Certified:
    """A certificate of the ε or δ of an answer about a run; what it proves may be a little above the answer.

    Args:
        run: whose answer it is.
        parts: its releases, in order.
        domain: the public domain of the records.
        answer: what the run was found to cost.

    Raises:
        InvalidValue: for a loss that no certificate states, and where the checker has no method that proves it.
    """
    stated = RunStatement(
        parts=tuple(map(_stated, parts)),
        pairs=run.pairs,
        relation=run.relation.name,
        domain=domain,
        released_cost=sum((payment.cost.bound.epsilon.upper for payment in run.payments), Fraction(0)),
        assumptions=tuple(answer.guarantee.assumptions),
    )
    match answer.asked:
        case Delta():
            return certified_epsilon(stated, answer.asked.value, answer.epsilon.upper)
        case Epsilon():
            return certified_delta(stated, answer.asked.value, answer.delta.upper)


def _stated(part: SampledReleases) -> ReleaseStatement:
    return ReleaseStatement(
        mechanism=statement_of(part.mechanism),
        sampler=statement_of(part.sampler),
        loss=declared_loss(part.mechanism),
        rate=declared_rate(part.sampler),
        releases=part.releases,
        corners=len(part.worst_cases.bounding),
    )
