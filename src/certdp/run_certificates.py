"""Certificates of what a run costs as (ε, δ)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .accounting.errors import InvalidValue
from .accounting.notions import PURE
from .accounting.relations import RECORD
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
    from .plans import Plan
    from .sampled_releases import SampledReleases

__all__ = ["Certified", "certified"]


def certified(run: SampledReleases[Any] | Plan[Any], answer: Answer[Any]) -> Certified:
    """A certificate of the ε or δ of an answer about a run; what it proves may be a little above the answer.

    Args:
        run: whose answer it is.
        answer: what the run was found to cost.

    Raises:
        InvalidValue: for a loss, a unit or a cost that no certificate states, and where the checker has no method that
            proves it.
    """
    _require_stateable(run)
    stated = RunStatement(
        parts=tuple(map(_stated, run.sampled_parts)),
        pairs=run.pairs,
        relation=run.relation.name,
        domain=run.domain,
        released_cost=sum((payment.cost.bound.epsilon.upper for payment in run.payments), Fraction(0)),
        assumptions=tuple(assumed for part in run.sampled_parts for assumed in part.derivation.assumptions),
    )
    match answer.asked:
        case Delta():
            return certified_epsilon(stated, answer.asked.value, answer.epsilon.upper)
        case Epsilon():
            return certified_delta(stated, answer.asked.value, answer.delta.upper)


def _require_stateable(run: Accounted[Any]) -> None:
    """Refuse a run of which no kind of certificate speaks.

    Raises:
        InvalidValue: for another unit than a record, and for parameters released for an ε and a δ.
    """
    if run.unit != RECORD:
        raise InvalidValue(
            "certificate",
            f"unit {run.unit.name}",
            "a run whose unit is a record",
            "There is no kind of certificate yet for runs about other units: leave the certificate out",
        )
    for payment in run.payments:
        if payment.cost.bound.notion != PURE:
            raise InvalidValue(
                "certificate",
                f"a parameter released for {payment.cost.bound}",
                "parameters that are public or were released with a pure ε",
                "There is no kind of certificate yet for other costs: leave the certificate out",
            )


def _stated(part: SampledReleases[Any]) -> ReleaseStatement:
    return ReleaseStatement(
        mechanism=statement_of(part.mechanism),
        sampler=statement_of(part.sampler),
        loss=declared_loss(part.mechanism),
        rate=declared_rate(part.sampler),
        releases=part.releases,
        corners=len(part.worst_cases.bounding),
    )
