"""What came of claims: results, reports, and both in JSON's types."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from fractions import Fraction
from importlib import metadata
from typing import Any, final

from attrs import field, frozen

from ...plugins.contract import Case, Claim, Finding
from ...plugins.contract.claims import Proof


class Outcome(Enum):
    """What came of a claim, in words."""

    HOLDS = "holds"
    REJECTED = "rejected, as it must be"
    FAILS = "fails"
    NOT_REJECTED = "not rejected"
    ERROR = "error"
    TIMEOUT = "timeout"

    @property
    def as_expected(self) -> bool:
        """Whether the outcome is what the claim expects."""
        return self in (Outcome.HOLDS, Outcome.REJECTED)


@final
@frozen(kw_only=True)
class Example:
    """A case that was examined, and both sides of the comparison there."""

    case: Case
    finding: Finding


@final
@frozen(kw_only=True)
class Result:
    """What came of one claim.

    Attributes:
        claim: the claim.
        outcome: whether it holds, fails, is rejected, or could not be examined.
        cases_tried: how often it was examined, while searching and shrinking.
        witness: the case that the claim states, else the smallest contradicting one found, or the one on which the
            examination broke.
        finding: both sides of the comparison at the witness.
        proof: what interval subdivision came to, where the claim has a proof.
        seconds: how long it took.
        error: what broke, if anything did.
        example: the last case that was examined, where none contradicts the claim.
    """

    claim: Claim
    outcome: Outcome
    cases_tried: int
    witness: Case | None
    finding: Finding | None
    proof: Proof | None
    seconds: float
    error: str | None
    example: Example | None = None

    @property
    def advice(self) -> str | None:
        """What to do about a wrong form that was not rejected."""
        if self.outcome is not Outcome.NOT_REJECTED:
            return None
        return (
            f"no case of the {self.cases_tried} that were examined contradicts this form, though it is wrong: "
            "ask for more by --examples; where they do not help either, the claim no longer sees the fault"
        )

    @property
    def passed(self) -> bool:
        """Whether the result is as expected."""
        return self.outcome.as_expected

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary, exact numbers as "p/q"."""
        claim, finding = self.claim, self.finding
        return {
            "id": claim.id,
            "statement": claim.statement,
            "says": claim.says,
            "expectation": claim.expectation.value,
            "erratum": claim.erratum,
            "outcome": self.outcome.value,
            "passed": self.passed,
            "cases_tried": self.cases_tried,
            "witness": _plain(self.witness),
            "closed_form": finding.closed_form if finding else None,
            "independent": finding.independent if finding else None,
            "example": _example(self.example),
            "proof": _proof(self.proof),
            "seconds": self.seconds,
            "error": self.error,
        }


@final
@frozen(kw_only=True)
class Report:
    """What came of a run; the same seed, examples and versions give the same cases.

    Attributes:
        results: one per claim, in the order asked for.
        seed: of the search.
        examples: most cases generated per claim.
        timeout: seconds that one claim may take, None for no limit.
        started: when the run began.
        seconds: how long it took.
        versions: of what took part.
    """

    results: tuple[Result, ...]
    seed: int
    examples: int
    timeout: float | None = None
    started: datetime = field(factory=lambda: datetime.now(UTC))
    seconds: float = 0.0
    versions: Mapping[str, str] = field(factory=lambda: _versions())

    @property
    def passed(self) -> bool:
        """Whether the result of every claim is as expected."""
        return all(result.passed for result in self.results)

    def as_json(self) -> dict[str, Any]:
        """A plain dictionary, exact numbers as "p/q"."""
        return {
            "passed": self.passed,
            "seed": self.seed,
            "examples": self.examples,
            "timeout": _plain(self.timeout),
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": self.seconds,
            "versions": dict(self.versions),
            "results": [result.as_json() for result in self.results],
        }


def _example(example: Example | None) -> dict[str, Any] | None:
    if example is None:
        return None
    finding = example.finding
    return {"case": _plain(example.case), "closed_form": finding.closed_form, "independent": finding.independent}


def _proof(proof: Proof | None) -> dict[str, Any] | None:
    if proof is None:
        return None
    return {
        "says": proof.says,
        "box": _plain(proof.box),
        "cells": proof.cells,
        "holds": proof.holds,
        "unproven": _plain(proof.unproven),
    }


def _versions() -> dict[str, str]:
    packages = {name: metadata.version(name) for name in ("certdp", "hypothesis", "mpmath", "numpy")}
    return {**packages, "python": platform.python_version()}


def _plain(value: object) -> Any:
    """`value` in JSON's types: exact numbers as "p/q", what JSON cannot say as text."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case Fraction():
            return str(value)
        case Enum():
            return _plain(value.value)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case tuple() | list():
            return [_plain(item) for item in value]
        case _:
            return str(value)
