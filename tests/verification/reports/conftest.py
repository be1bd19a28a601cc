"""A report with every outcome, and words that neither HTML nor XML may take literally."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from certdp.plugins.contract import Claim, Expectation, Finding
from certdp.plugins.contract.claims import Proof
from certdp.plugins.registry import Listing, Role, Status
from certdp.verification.running.results import Outcome, Report, Result

HOSTILE = '<script src="https://evil.example/x.js">alert("&")</script>\x00\x1b[31m'


def claim(name: str, says: str = "a claim", *, rejected: bool = False) -> Claim:
    return Claim(
        id=name,
        statement=f"statement of {name}",
        says=says,
        cases=lambda: st.just({}),
        examine=lambda _: Finding(True, "", ""),
        expectation=Expectation.REJECTED if rejected else Expectation.HOLDS,
        erratum="TEST-1" if rejected else None,
    )


def result(
    outcome: Outcome,
    claim: Claim,
    *,
    finding: Finding | None = None,
    proof: Proof | None = None,
    error: str | None = None,
    seconds: float = 0.5,
) -> Result:
    witness = (
        None if finding is None and error is None else {"x": Fraction(1, 3), "rows": (Fraction(1), Fraction(2, 7))}
    )
    return Result(
        claim=claim,
        outcome=outcome,
        cases_tried=7,
        witness=witness,
        finding=finding,
        proof=proof,
        seconds=seconds,
        error=error,
    )


@pytest.fixture
def report() -> Report:
    """One claim of each outcome, of three known sources and an unknown one."""
    unit = {"q": (Fraction(0), Fraction(1))}
    return Report(
        results=(
            result(Outcome.HOLDS, claim("is/holds"), proof=Proof(says="f ≥ 0", box=unit, cells=12), seconds=83.4),
            result(
                Outcome.REJECTED,
                claim("is/misprint", rejected=True),
                finding=Finding(False, "ε = 0.5", "[0.24999999999999999999999, 0.25000000000000000000001]"),
            ),
            result(
                Outcome.FAILS,
                claim("pws/fails", HOSTILE),
                finding=Finding(False, f"π = {10**20}/{3 * 10**20 + 1}", HOSTILE),
            ),
            result(Outcome.NOT_REJECTED, claim("pws/unnoticed", rejected=True)),
            result(Outcome.ERROR, claim("odd/breaks"), error=f"ValueError: {HOSTILE}"),
            result(Outcome.TIMEOUT, claim("odd/hangs"), error="stopped: it took longer than 9 s"),
        ),
        seed=4,
        examples=20,
        timeout=9.0,
        started=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        seconds=100.25,
        versions={"certdp": "1.2.3", "odd-claims": "2.0"},
    )


@pytest.fixture
def problems() -> list[Status]:
    """A plugin that cannot be used and one that is blocked."""
    unusable = Listing(Role.CLAIMS, "bad", "bad-claims", "1.0", "bad:CLAIMS")
    blocked = Listing(Role.CLAIMS, "shut", "shut-claims", "1.0", "shut:CLAIMS")
    return [Status(unusable, f"its import fails: {HOSTILE}"), Status(blocked, "blocked: off", blocked=True)]
