"""Laws of a tuple of claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import frozen

from ...verification.running.runner import run
from ..contract import Case, Claim, Finding
from .law import Law, broken, kept, once

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


@final
@frozen(eq=False)
class ClaimsSubject:
    """Claims of one plugin.

    Attributes:
        claims: the claims.
        examples: most cases per claim.
    """

    claims: tuple[Claim, ...]
    examples: int


def _cases_of_claims(subject: ClaimsSubject) -> SearchStrategy[Case]:
    from hypothesis import strategies

    def cases(claim: Claim) -> SearchStrategy[Case]:
        return strategies.fixed_dictionaries({"claim": strategies.just(claim.id), "case": claim.cases()})

    return strategies.sampled_from(subject.claims).flatmap(cases)


def _none(subject: ClaimsSubject) -> str | None:
    return None if subject.claims else "it has no claims"


def _as_expected(subject: ClaimsSubject, _: Case) -> Finding:
    """Each claim holds, or is rejected where it must be."""
    for result in run(subject.claims, examples=subject.examples).results:
        if not result.passed:
            details = result.error or (f"witness {dict(result.witness)}" if result.witness else "no witness")
            return broken(f"{result.claim.id}: {details}", result.claim.expectation.value)
    return kept()


def _has_its_words(subject: ClaimsSubject, _: Case) -> Finding:
    """Each has an id of its own, a statement and a line that says it."""
    seen: set[str] = set()
    for claim in subject.claims:
        if claim.id in seen:
            return broken(f"{claim.id} twice", "ids of their own")
        seen.add(claim.id)
        if not (claim.statement.strip() and claim.says.strip()):
            return broken(f"{claim.id}: {claim.statement!r}, {claim.says!r}", "a statement and a line that says it")
    return kept()


def _repeats(subject: ClaimsSubject, case: Case) -> Finding:
    """The same case is found the same each time."""
    (claim,) = (claim for claim in subject.claims if claim.id == case["claim"])
    first, second = claim.examine(case["case"]), claim.examine(case["case"])
    return kept() if first == second else broken(second, first)


LAWS: tuple[Law[ClaimsSubject], ...] = (
    Law(
        name="words",
        says="each claim has an id of its own, a statement and a line that says it",
        cases=once,
        examine=_has_its_words,
        most=1,
    ),
    Law(
        name="expectations",
        says="each claim holds, or is rejected where it must be",
        absence=_none,
        cases=once,
        examine=_as_expected,
        most=1,
    ),
    Law(
        name="repeats",
        says="the same case of a claim is found the same each time",
        absence=_none,
        cases=_cases_of_claims,
        examine=_repeats,
    ),
)
