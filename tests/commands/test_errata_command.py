"""`certdp verify --errata`: rows with their witnesses, the page, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import strategies as st

from certdp.plugins.contract import Claim, Expectation, Finding
from certdp.plugins.registry import Listing, Registry, Role, Status

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]

CONTROL = Claim(
    id="test/misprint",
    statement="Test, Lemma 1",
    says="x is below 3 [sic]",
    cases=lambda: st.fixed_dictionaries({"x": st.integers(0, 9)}),
    examine=lambda case: Finding(case["x"] < 3, f"x = {case['x']}", "[3]"),
    expectation=Expectation.REJECTED,
    erratum="IS-Eq4",
)


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def install(*found: Claim, problems: list[Status] | None = None) -> None:
        monkeypatch.setattr(Registry, "claims", lambda _: (list(found), problems or []))

    return install


@pytest.mark.slow
def test_rows_are_printed_with_both_sides_of_their_witness(certdp: Run) -> None:
    ran = certdp("verify", "--errata", "--only", "PWS-L4.2")
    assert (ran.code, ran.err) == (0, "")
    for part in (
        "PWS-L4.2",
        "Statement: Lemma 4.2, Equation 4",
        "pws/equation-4-printed: rejected, as it must be",
        "case: growth = 2, steps = 1, frequency = 2",
        "as printed: π = 1/4",
        "recomputed: Algorithm 3: π = 3/4",
        "1 row, 1 with witnesses; 1 of 1 printed forms rejected",
    ):
        assert part in ran.out


def test_rows_without_a_witness_say_why(certdp: Run) -> None:
    ran = certdp("verify", "--errata", "--only", "DPIS-α", "--json")
    assert ran.code == 0
    (row,) = ran.json["errata"]
    assert row["id"] == "DPIS-α"
    assert row["controls"] == []
    assert row["unwitnessed"] == "what is printed holds; it is narrower than need be"


@pytest.mark.slow
def test_a_page_of_the_rows(certdp: Run, claims: Callable[..., None], tmp_path: Path) -> None:
    claims(CONTROL)
    target = tmp_path / "errata.md"
    ran = certdp("verify", "--errata", "--markdown", str(target), "--only", "IS-Eq*")
    assert ran.code == 0
    text = target.read_text("utf-8")
    assert "### IS-Eq5" in text
    assert "“x is below 3 [sic]”:\n\n- case: x = 3\n- as printed: x = 3\n- recomputed: [3]\n" in text


@pytest.mark.slow
def test_a_printed_form_that_is_not_rejected_fails(certdp: Run, claims: Callable[..., None]) -> None:
    claims(attrs.evolve(CONTROL, examine=lambda _: Finding(True, "", "")))
    ran = certdp("verify", "--errata", "--json", "--only", "IS-Eq4", "--examples", "20")
    assert ran.code == 1
    assert ran.json["passed"] is False
    told = certdp("verify", "--errata", "--only", "IS-Eq4", "--examples", "20")
    assert told.code == 1
    assert "test/misprint: not rejected" in told.out
    assert "0 of 1 printed forms rejected" in told.out


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        (("--only", "no/such"), "only"),
        (("--html", "page.html"), "html"),
        (("--junit", "out.xml"), "junit"),
        (("--markdown", "missing/folder/page.md"), "markdown"),
    ],
)
def test_what_is_refused(refusal: Refusal, options: tuple[str, ...], parameter: str) -> None:
    assert refusal("verify", "--errata", *options)["parameter"] == parameter


EVIL = Status(Listing(Role.CLAIMS, "evil", "evil-claims", "1.0", "evil:CLAIMS"), "its import fails")


@pytest.mark.slow
def test_a_plugin_whose_claims_cannot_be_used_is_a_failure(certdp: Run, claims: Callable[..., None]) -> None:
    claims(CONTROL, problems=[EVIL])
    ran = certdp("verify", "--errata", "--only", "IS-Eq4", "--examples", "30")
    assert ran.code == 1
    assert "1 of 1 printed forms rejected" in ran.out
    assert "claims evil of evil-claims cannot be used: its import fails" in ran.out
    told = certdp("verify", "--errata", "--only", "IS-Eq4", "--examples", "30", "--json")
    assert (told.code, told.json["passed"]) == (1, True)
    assert told.json["unusable"] == [{"distribution": "evil-claims", "name": "evil", "problem": "its import fails"}]


def test_claims_that_were_not_run_are_mentioned_where_a_glob_matches_nothing(
    refusal: Refusal, claims: Callable[..., None]
) -> None:
    claims(CONTROL, problems=[EVIL])
    for words in (("verify",), ("verify", "--errata")):
        remedy = refusal(*words, "--only", "evil/*")["remedy"]
        assert "claims evil of evil-claims cannot be used: its import fails" in remedy


def test_a_page_of_errata_wants_errata(refusal: Refusal, claims: Callable[..., None], tmp_path: Path) -> None:
    claims(CONTROL)
    error = refusal("verify", "--markdown", tmp_path / "errata.md")
    assert (error["parameter"], error["remedy"]) == ("markdown", "Add --errata")
