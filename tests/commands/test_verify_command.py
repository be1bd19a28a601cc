"""`certdp verify`: which claims run, how failures are shown, and the exit code."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import attrs
import pytest
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.commands.digits import Numbers
from certdp.commands.page import Page
from certdp.commands.verify_table import show_report
from certdp.plugins.contract import Case, Claim, Expectation, Finding
from certdp.plugins.registry import Listing, Registry, Role, Status
from certdp.verification.running.runner import run

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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "outcome", "said"),
    [
        (FAILS, "fails", ["witness: a=10, b=0", "closed form a = 10", "independent [below 10]"]),
        (VOID, "not rejected", ["no case of the 100 that were examined contradicts this form", "--examples"]),
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


@pytest.mark.slow
def test_a_plugin_whose_claims_cannot_be_used(certdp: Run, claims: Callable[..., None]) -> None:
    listing = Listing(Role.CLAIMS, "odd", "odd-claims", "1.0", "odd:CLAIMS")
    claims(HOLDS, problems=[Status(listing, "odd:CLAIMS is no tuple of claims")])
    ran = certdp("verify")
    assert ran.code == 1
    assert "claims odd of odd-claims cannot be used: odd:CLAIMS is no tuple of claims" in ran.out
    assert certdp("verify", "--json").json["unusable"] == [
        {"distribution": "odd-claims", "name": "odd", "problem": "odd:CLAIMS is no tuple of claims"}
    ]


@pytest.mark.slow
def test_plugins_left_out_on_demand_are_no_failure(certdp: Run, claims: Callable[..., None]) -> None:
    listing = Listing(Role.CLAIMS, "odd", "odd-claims", "1.0", "odd:CLAIMS")
    claims(HOLDS, problems=[Status(listing, "blocked: third-party plugins are switched off", blocked=True)])
    ran = certdp("verify", "--no-third-party")
    assert ran.code == 0
    assert "claims odd of odd-claims are left out: blocked" in ran.out
    data = certdp("verify", "--no-third-party", "--json").json
    assert (data["passed"], data["unusable"], len(data["left_out"])) == (True, [], 1)


def test_no_claims_at_all(refusal: Refusal, claims: Callable[..., None]) -> None:
    claims()
    error = refusal("verify", "--no-third-party")
    assert (error["parameter"], error["value"]) == ("claims", "none")


def test_a_glob_without_a_match(refusal: Refusal, claims: Callable[..., None]) -> None:
    claims(HOLDS, FAILS)
    error = refusal("verify", "--only", "test/none*")
    assert (error["parameter"], error["value"]) == ("only", "test/none*")
    assert "test/commutes, test/small" in error["remedy"]


@pytest.mark.slow
def test_the_same_seed_finds_the_same(certdp: Run, claims: Callable[..., None]) -> None:
    claims(FAILS, CONTROL)
    first, again = (certdp("verify", "--seed", "3", "--json").json["results"] for _ in range(2))
    for result in first + again:
        del result["seconds"]
    assert first == again


def endless(_: Case) -> Finding:
    while True:
        time.sleep(1)


@pytest.mark.slow
def test_a_claim_that_hangs_is_stopped_and_named(certdp: Run, claims: Callable[..., None]) -> None:
    claims(attrs.evolve(HOLDS, id="test/hangs", examine=endless), HOLDS)
    ran = certdp("verify", "--timeout", "2", "--examples", "5", "--json")
    assert ran.code == 1
    assert [result["outcome"] for result in ran.json["results"]] == ["timeout", "holds"]
    assert ran.json["timeout"] == 2
    assert ran.json["results"][0]["error"] == "stopped: it took longer than 2 s"


@pytest.mark.slow
def test_many_jobs_find_what_one_does(certdp: Run, claims: Callable[..., None]) -> None:
    claims(HOLDS, FAILS, CONTROL)
    found = [certdp("verify", "--jobs", jobs, "--json").json["results"] for jobs in (1, 3)]
    for result in (result for results in found for result in results):
        del result["seconds"]
    assert found[0] == found[1]


@pytest.mark.parametrize("timeout", ["0", "-3", "nan", "inf"])
def test_a_bad_timeout_is_refused(refusal: Refusal, claims: Callable[..., None], timeout: str) -> None:
    claims(HOLDS)
    assert refusal("verify", "--timeout", timeout)["parameter"] == "timeout"


class TestReports:
    """The page and the file for continuous integration."""

    @pytest.mark.slow
    @pytest.mark.parametrize(("other", "code"), [(CONTROL, 0), (FAILS, 1)])
    def test_both_are_written_whatever_comes_out(
        self, certdp: Run, claims: Callable[..., None], tmp_path: Path, other: Claim, code: int
    ) -> None:
        claims(HOLDS, other)
        html, junit = tmp_path / "report.html", tmp_path / "report.xml"
        ran = certdp(
            "verify", "--html", html, "--junit", junit, "--only", "test/*", "--seed", "3", "--timeout", "60", "--json"
        )
        assert ran.code == code
        assert (ran.json["html"], ran.json["junit"]) == (str(html), str(junit))
        assert {path.name for path in tmp_path.iterdir()} == {"report.html", "report.xml"}
        text = html.read_text("utf-8")
        assert "certdp verify --only &#39;test/*&#39; --seed 3 --examples 100 --timeout 60</code>" in text
        assert text.count("<svg") >= 2
        root = ElementTree.parse(junit).getroot()
        assert (root.get("tests"), root.get("failures")) == ("2", str(code))
        assert str(html) in certdp("verify", "--html", html).out

    @pytest.mark.parametrize("option", ["html", "junit"])
    def test_a_place_that_cannot_be_written_is_refused_before_the_run(
        self, refusal: Refusal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str
    ) -> None:
        def never(_: Registry) -> None:
            raise AssertionError("the claims were asked for")

        monkeypatch.setattr(Registry, "claims", never)
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        for place in (tmp_path, tmp_path / "missing" / "report", tmp_path / "loop", tmp_path / ("n" * 300)):
            assert refusal("verify", f"--{option}", place)["parameter"] == option

    def test_a_closed_folder_is_refused_before_the_run(
        self, refusal: Refusal, claims: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        opened = os.open

        def closed(path: Any, flags: int, *rest: Any, **options: Any) -> int:
            if flags & os.O_CREAT:
                raise PermissionError(13, "Permission denied")
            return opened(path, flags, *rest, **options)

        claims(attrs.evolve(HOLDS, examine=endless))
        monkeypatch.setattr(os, "open", closed)
        error = refusal("verify", "--junit", tmp_path / "report.xml")
        assert (error["parameter"], error["remedy"]) == ("junit", "Permission denied: choose another place")

    def test_two_reports_in_one_file_are_refused(self, refusal: Refusal, tmp_path: Path) -> None:
        place = tmp_path / "report"
        assert refusal("verify", "--html", place, "--junit", place)["parameter"] == "junit"

    @pytest.mark.parametrize("missing", ["jinja2", "matplotlib.figure"])
    def test_a_missing_library_is_named_before_the_run(
        self, refusal: Refusal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
    ) -> None:
        monkeypatch.setitem(sys.modules, missing, None)
        error = refusal("verify", "--html", tmp_path / "report.html")
        assert error["parameter"] == "html"
        assert "pip install 'certdp[" in error["remedy"]
        assert not list(tmp_path.iterdir())

    def test_an_interrupted_run_leaves_the_old_report(
        self, claims: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        from certdp.commands import claim_runs

        def interrupted(*_: object, **__: object) -> None:
            raise KeyboardInterrupt

        claims(HOLDS)
        place = tmp_path / "report.xml"
        place.write_text("old", encoding="utf-8")
        monkeypatch.setattr(claim_runs, "run_claims", interrupted)
        result = CliRunner().invoke(app, ["verify", "--junit", str(place)])
        assert result.exit_code != 0
        assert [path.read_text("utf-8") for path in tmp_path.iterdir()] == ["old"]


PLUGIN = """
from fractions import Fraction
from hypothesis import strategies as st
from certdp.plugins.contract import Claim, Finding

def cases():
    return st.fixed_dictionaries({"x": st.integers(0, 1000).map(Fraction), "many": st.lists(st.integers(0, 50))})

def examine(case):
    total = case["x"] / 3 + sum(case["many"])
    return Finding(total < 10, f"sum {total}", "10")

def breaks(case):
    raise ValueError("no such thing as " + str(case["x"]))

CLAIMS = (
    Claim(id="odd/planted", statement="Odd 1", says="the sum stays below 10", cases=cases, examine=examine),
    Claim(id="odd/raises", statement="Odd 2", says="it can be examined", cases=cases, examine=breaks),
)
"""


@pytest.mark.slow
def test_claims_of_another_distribution(tmp_path: Path) -> None:
    """A real process, a real distribution: the planted fault shrinks, the report names where it comes from."""
    site = tmp_path / "site"
    info = site / "odd_claims-2.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-claims\nVersion: 2.5\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[certdp.claims]\nodd = odd_claims:CLAIMS\n", encoding="utf-8")
    (site / "odd_claims.py").write_text(PLUGIN, encoding="utf-8")
    junit = tmp_path / "report.xml"
    command = [sys.executable, "-m", "certdp", "verify", "--only", "odd/*", "--junit", str(junit), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["versions"]["odd-claims"] == "2.5"
    planted, raises = report["results"]
    assert (planted["outcome"], planted["closed_form"]) == ("fails", "sum 10")
    assert planted["witness"] in ({"x": "30", "many": []}, {"x": "0", "many": [10]})
    assert raises["error"] == "ValueError: no such thing as 0"
    assert raises["witness"] == {"x": "0", "many": []}
    root = ElementTree.parse(junit).getroot()
    assert (root.get("failures"), root.get("errors")) == ("1", "1")


@pytest.mark.slow
def test_a_disk_that_fills_up_is_told_by_the_option(
    refusal: Refusal, claims: Callable[..., None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    claims(HOLDS)
    monkeypatch.setattr(os, "fsync", full)
    for option in ("html", "junit"):
        error = refusal("verify", "--html", tmp_path / "a", "--junit", tmp_path / "b", "--examples", "2")
        assert error["parameter"] == "html"  # the first that was asked for is the first that appears
        error = refusal("verify", f"--{option}", tmp_path / "a", "--examples", "2")
        assert (error["parameter"], error["remedy"]) == (option, "No space left on device: choose another place")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_globs_repeat(certdp: Run, claims: Callable[..., None]) -> None:
    claims(HOLDS, FAILS, CONTROL)
    ran = certdp("verify", "--only", "test/misprint", "--only", "test/c*", "--json")
    assert [result["id"] for result in ran.json["results"]] == ["test/commutes", "test/misprint"]


@pytest.mark.slow
def test_words_of_a_claim_do_nothing_to_the_terminal_and_are_shortened(
    certdp: Run, claims: Callable[..., None], tmp_path: Path
) -> None:
    def breaks(_: Case) -> Finding:
        raise ValueError("\x1b[31mred\x9b\u202e" + "x" * 3000)

    red = "\x1b[31m"
    claims(
        attrs.evolve(HOLDS, id="test/\x1b[31m", examine=breaks, statement=red, says=red),
        attrs.evolve(FAILS, id="test/red", examine=lambda case: Finding(case["a"] < 10, red, red), says=red),
    )
    html = tmp_path / "report.html"
    ran = certdp("verify", "--html", html)
    assert ran.code == 1
    for text in (ran.out, html.read_text("utf-8")):
        assert not {"\x1b", "\x9b", "\u202e"} & set(text)
        assert "\\x1b[31m" in text
        assert "characters more" in text
        assert "x" * 700 not in re.sub(r"\s", "", text)
    assert ran.out.count("closed form \\x1b[31m") == 1
    whole = certdp("verify", "--json").json["results"][0]["error"]
    assert whole.endswith("x" * 3000)


@pytest.mark.slow
def test_ids_and_indents_survive_a_narrow_terminal(claims: Callable[..., None]) -> None:
    name = "test/" + "-".join(["long"] * 9)
    claims(attrs.evolve(FAILS, id=name, examine=lambda case: Finding(case["a"] < 10, "word " * 40, "")))
    told = io.StringIO()
    show_report(Page(Console(width=60, file=told), Numbers()), run(Registry().claims()[0]), [], {})
    text = told.getvalue()
    assert f" {name} " in text
    folded = [line for line in text.splitlines() if line.strip().startswith("word")]
    assert len(folded) >= 3
    assert all(line.startswith("  word") for line in folded)


@pytest.mark.parametrize("flags", [["--json"], []])
def test_a_name_on_the_allow_list_that_stands_for_nothing_is_told(
    certdp: Run, claims: Callable[..., None], flags: list[str]
) -> None:
    claims(HOLDS)
    ran = certdp("verify", "--allow", "Foo", "--allow", "certdp", "--examples", "2", *flags)
    assert ran.code == 0
    assert ran.err == "warning: --allow foo: no installed distribution of this name has plugins\n"
