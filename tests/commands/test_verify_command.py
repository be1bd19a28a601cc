"""`certdp verify`: which claims run, how failures are shown, and the exit code."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import strategies as st

from certdp.plugins.contract import Claim, Expectation, Finding
from certdp.plugins.registry import Listing, Registry, Role, Status

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]

HOLDS = Claim(
    id="test/commutes",
    statement="Test [1] Statement 1",
    says="a + b = b + a [sic]",
    cases=lambda: st.fixed_dictionaries({"a": st.integers(), "b": st.integers()}),
    examine=lambda case: Finding(case["a"] + case["b"] == case["b"] + case["a"], "a + b", "b + a"),
)
FAILS = attrs.evolve(
    HOLDS,
    id="test/small",
    examine=lambda case: Finding(case["a"] < 10, f"a = {case['a']}", "[below 10]"),
)
CONTROL = attrs.evolve(FAILS, id="test/misprint", expectation=Expectation.REJECTED, erratum="test-erratum")
VOID = attrs.evolve(HOLDS, id="test/never-rejected", expectation=Expectation.REJECTED)
BROKEN = attrs.evolve(HOLDS, id="test/broken", examine=lambda case: Finding(1 / 0 > 0, "", ""))


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a registry find these claims, and these problems."""

    def install(*found: Claim, problems: list[Status] | None = None) -> None:
        monkeypatch.setattr(Registry, "claims", lambda _: (list(found), problems or []))

    return install


def test_one_claim_of_the_library(certdp: Run) -> None:
    ran = certdp("verify", "--only", "is/theorem-6*", "--examples", "5", "--json")
    assert (ran.code, ran.err) == (0, "")
    keys = {"passed", "seed", "examples", "timeout", "started", "seconds", "versions", "results"}
    assert set(ran.json) == {*keys, "unusable", "left_out"}
    assert ran.json["passed"] is True
    assert ran.json["unusable"] == []
    assert ran.json["results"]
    for result in ran.json["results"]:
        assert result["id"].startswith("is/theorem-6")
        assert result["cases_tried"] > 0


def test_claims_that_are_as_expected(certdp: Run, claims: Callable[..., None]) -> None:
    claims(HOLDS, CONTROL)
    ran = certdp("verify", "--seed", "4", "--examples", "50", "--json")
    assert ran.code == 0
    assert (ran.json["seed"], ran.json["examples"], ran.json["passed"]) == (4, 50, True)
    holds, control = ran.json["results"]
    assert (holds["passed"], holds["witness"], holds["expectation"]) == (True, None, "holds")
    assert (control["passed"], control["witness"]["a"], control["erratum"]) == (True, 10, "test-erratum")
    assert control["closed_form"] == "a = 10"
    text = certdp("verify").out
    assert "2 of 2 claims as expected" in text
    assert "rejected, as it must be" in text
    assert "Test [1] Statement 1" in text


@pytest.mark.parametrize(
    ("claim", "outcome", "said"),
    [
        (FAILS, "fails", ["witness: a=10, b=0", "closed form a = 10", "independent [below 10]"]),
        (VOID, "not rejected", []),
        (BROKEN, "error", ["witness: a=0, b=0", "ZeroDivisionError: division by zero"]),
    ],
)
def test_a_claim_that_fails(
    certdp: Run, claims: Callable[..., None], claim: Claim, outcome: str, said: list[str]
) -> None:
    claims(claim, HOLDS)
    ran = certdp("verify")
    assert (ran.code, ran.err) == (1, "")
    assert "1 of 2 claims as expected" in ran.out
    assert re.search(rf"{claim.id} .*{outcome}", ran.out)
    for words in said:
        assert words in ran.out
    ran = certdp("verify", "--json")
    assert ran.code == 1
    assert ran.json["passed"] is False
    assert [result["passed"] for result in ran.json["results"]] == [False, True]


def test_a_plugin_whose_claims_cannot_be_used(certdp: Run, claims: Callable[..., None]) -> None:
    listing = Listing(Role.CLAIMS, "odd", "odd-claims", "1.0", "odd:CLAIMS")
    claims(HOLDS, problems=[Status(listing, "odd:CLAIMS is no tuple of claims")])
    ran = certdp("verify")
    assert ran.code == 1
    assert "claims odd of odd-claims cannot be used: odd:CLAIMS is no tuple of claims" in ran.out
    assert certdp("verify", "--json").json["unusable"] == [
        {"distribution": "odd-claims", "name": "odd", "problem": "odd:CLAIMS is no tuple of claims"}
    ]


def test_a_glob_without_a_match(refusal: Refusal, claims: Callable[..., None]) -> None:
    claims(HOLDS, FAILS)
    error = refusal("verify", "--only", "test/none*")
    assert (error["parameter"], error["value"]) == ("only", "test/none*")
    assert "test/commutes, test/small" in error["remedy"]


def test_the_same_seed_finds_the_same(certdp: Run, claims: Callable[..., None]) -> None:
    claims(FAILS, CONTROL)
    first, again = (certdp("verify", "--seed", "3", "--json").json["results"] for _ in range(2))
    for result in first + again:
        del result["seconds"]
    assert first == again


@pytest.mark.parametrize("arguments", [["--examples", "0"], ["--seed", "-1"], ["--examples", "many"]])
def test_bad_numbers_are_usage_errors(certdp: Run, arguments: list[str]) -> None:
    ran = certdp("verify", *arguments)
    assert ran.code == 2
    assert arguments[0] in ran.err
