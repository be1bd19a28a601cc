"""The runner: verdicts, shrinking, reproducibility, and what happens to broken claims."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import evolve
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.plugins.contract import Case, Claim, Expectation, Finding
from certdp.plugins.contract.claims import Proof
from certdp.plugins.forks import can_fork
from certdp.verification.running.results import Example
from certdp.verification.running.runner import Outcome, Result, run, select

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

PATIENT = 3600.0  # seconds: a limit that only sends claims into processes of their own, on the busiest machine


def pairs() -> SearchStrategy[Case]:
    whole = st.integers(0, 1000)
    return st.fixed_dictionaries({"x": whole.map(Fraction), "rows": st.lists(whole, max_size=5).map(tuple)})


def claim(
    holds: Callable[[Case], bool],
    *,
    name: str = "test/one",
    cases: Callable[[], SearchStrategy[Case]] = pairs,
    expectation: Expectation = Expectation.HOLDS,
) -> Claim:
    return Claim(
        id=name,
        statement="test",
        says="a test",
        cases=cases,
        examine=lambda case: Finding(holds(case), f"x = {case['x']}", f"rows = {case['rows']}"),
        expectation=expectation,
    )


def only(checked: Claim, *, examples: int = 300, seed: int = 0) -> Result:
    (result,) = run([checked], examples=examples, seed=seed).results
    return result


def test_a_claim_that_holds_passes() -> None:
    result = only(claim(lambda _: True), examples=40)
    assert result.passed
    assert result.cases_tried == 40
    assert (result.witness, result.finding, result.proof, result.error) == (None, None, None, None)
    assert result.seconds > 0


def test_both_sides_are_kept_of_the_last_case_that_agrees() -> None:
    seen: list[Case] = []

    def noted(case: Case) -> bool:
        seen.append(case)
        return bool(case["x"] < 2000)

    checked = claim(noted)
    result = only(checked, examples=30)
    assert result.example == Example(case=seen[-1], finding=checked.examine(seen[-1]))
    assert result.as_json()["example"]["closed_form"] == f"x = {seen[-2]['x']}"
    unnoticed = only(claim(noted, expectation=Expectation.REJECTED), examples=30)
    assert unnoticed.example is not None
    assert only(claim(lambda case: case["x"] < 10)).example is None


def test_a_form_that_was_not_rejected_has_advice() -> None:
    missed = only(claim(lambda _: True, expectation=Expectation.REJECTED), examples=3)
    assert missed.outcome is Outcome.NOT_REJECTED
    assert missed.advice is not None
    assert "no case of the 3" in missed.advice
    assert "--examples" in missed.advice
    assert only(claim(lambda _: True), examples=3).advice is None


def test_a_witness_is_shrunk_to_the_smallest() -> None:
    result = only(claim(lambda case: case["x"] + sum(case["rows"]) < 100))
    assert not result.passed
    assert result.witness is not None
    assert result.witness["x"] + sum(result.witness["rows"]) == 100
    assert len(result.witness["rows"]) <= 1
    assert result.finding == Finding(False, f"x = {result.witness['x']}", f"rows = {result.witness['rows']}")
    assert result.error is None


@pytest.mark.slow
def test_a_negative_control_passes_with_a_witness_alone() -> None:
    found = only(claim(lambda case: case["x"] < 10, expectation=Expectation.REJECTED))
    assert found.passed
    assert found.witness == {"x": 10, "rows": ()}
    missed = only(claim(lambda _: True, expectation=Expectation.REJECTED))
    assert not missed.passed
    assert missed.witness is None
    assert missed.error is None


@pytest.mark.slow
@pytest.mark.parametrize("expectation", Expectation)
def test_a_broken_examination_is_a_failure_and_the_others_run_on(expectation: Expectation) -> None:
    def breaks(case: Case) -> bool:
        return bool(1 / (case["x"] - case["x"]))

    report = run([claim(breaks, expectation=expectation), claim(lambda _: True, name="test/two")])
    broken, sound = report.results
    assert not report.passed
    assert not broken.passed
    assert broken.error is not None
    assert broken.error.startswith("ZeroDivisionError")
    assert broken.witness == {"x": 0, "rows": ()}
    assert sound.passed


UNIT = {"x": (Fraction(0), Fraction(1))}
HALF = {"x": (Fraction(1, 2), Fraction(1))}
PROVEN = Proof(says="x ≥ 0", box=UNIT, cells=1)
UNPROVEN = Proof(says="x ≥ 0", box=UNIT, cells=3, unproven=HALF)


def unprovable() -> Proof:
    raise ArithmeticError("no proof today")


def test_a_proof_goes_beside_the_cases() -> None:
    result = only(evolve(claim(lambda _: True), prove=lambda: PROVEN), examples=5)
    assert result.passed
    assert (result.cases_tried, result.proof) == (5, PROVEN)
    assert str(result.proof) == "x ≥ 0: proven on x ∈ [0, 1] (1 cell)"
    told = {"says": "x ≥ 0", "box": {"x": ["0", "1"]}, "cells": 1, "holds": True, "unproven": None}
    assert result.as_json()["proof"] == told


def test_a_claim_whose_proof_fails_fails() -> None:
    result = only(evolve(claim(lambda _: True), prove=lambda: UNPROVEN), examples=5)
    assert (result.passed, result.error, result.witness) == (False, None, None)
    assert str(result.proof) == "x ≥ 0: not proven on x ∈ [1/2, 1] within x ∈ [0, 1] (3 cells)"
    broken = only(evolve(claim(lambda _: True), prove=unprovable), examples=5)
    assert not broken.passed
    assert broken.error == "its proof broke: ArithmeticError: no proof today"


def test_a_stated_witness_is_the_one_shown() -> None:
    control = claim(lambda case: case["x"] < 10, expectation=Expectation.REJECTED)
    stated = {"x": Fraction(12), "rows": (1,)}
    result = only(evolve(control, witness=stated))
    assert result.passed
    assert result.witness == stated
    assert result.finding == Finding(False, "x = 12", "rows = (1,)")


def test_a_stated_witness_must_contradict_and_the_search_must_find_one_too() -> None:
    control = claim(lambda case: case["x"] < 10, expectation=Expectation.REJECTED)
    wrong = only(evolve(control, witness={"x": Fraction(9), "rows": ()}))
    assert not wrong.passed
    assert wrong.error == "the witness that it states does not contradict it"
    lacking = only(evolve(control, witness={"x": 12}))
    assert not lacking.passed
    assert lacking.error is not None
    assert "KeyError" in lacking.error
    unfound = claim(lambda case: case["x"] < 2000, expectation=Expectation.REJECTED)
    assert not only(evolve(unfound, witness={"x": Fraction(2000), "rows": ()}), examples=20).passed


def test_witnesses_are_for_controls_and_proofs_for_claims_that_hold() -> None:
    with pytest.raises(InvalidValue, match="test/one should hold"):
        evolve(claim(lambda _: True), witness={"x": Fraction(1), "rows": ()})
    with pytest.raises(InvalidValue, match="test/one must be rejected"):
        evolve(claim(lambda _: True, expectation=Expectation.REJECTED), prove=lambda: PROVEN)


def never() -> SearchStrategy[Case]:
    return pairs().filter(lambda _: False)


def rarely() -> SearchStrategy[Case]:
    return pairs().filter(lambda case: case["x"] == 777)


def unbuilt() -> SearchStrategy[Case]:
    raise RuntimeError("no strategy today")


@pytest.mark.parametrize("cases", [never, rarely, unbuilt])
@pytest.mark.parametrize("expectation", Expectation)
def test_a_claim_without_cases_fails(cases: Callable[[], SearchStrategy[Case]], expectation: Expectation) -> None:
    result = only(claim(lambda _: True, cases=cases, expectation=expectation))
    assert not result.passed
    assert result.error
    for jargon in ("hypothesis", "health", "Unsatisfiable", "suppress"):
        assert jargon not in result.error


def test_why_no_case_was_drawn_is_told() -> None:
    def error(cases: Callable[[], SearchStrategy[Case]]) -> str | None:
        return only(claim(lambda _: True, cases=cases)).error

    assert error(lambda: st.nothing()) == (
        "no case was examined: its cases exclude one another, or its filters let none through"
    )
    assert (error(rarely) or "").startswith("the search gave up after ")
    assert error(unbuilt) == "its cases cannot be drawn: RuntimeError: no strategy today"


def test_an_examination_that_changes_its_mind_fails() -> None:
    seen: list[Case] = []

    def flaky(case: Case) -> bool:
        seen.append(case)
        return len(seen) != 5

    result = only(claim(flaky, expectation=Expectation.REJECTED))
    assert not result.passed
    assert result.error is not None
    assert result.error.startswith("one case came to different outcomes")


def test_an_interruption_goes_through() -> None:
    def interrupted(_: Case) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        only(claim(interrupted))


def cases_drawn(seed: int) -> list[str]:
    seen: list[str] = []

    def noted(case: Case) -> bool:
        seen.append(str(dict(case)))
        return True

    assert only(claim(noted), examples=50, seed=seed).passed
    return seen


def test_the_seed_decides_the_cases() -> None:
    assert cases_drawn(7) == cases_drawn(7)
    assert cases_drawn(7) != cases_drawn(8)


PROBE = """
from fractions import Fraction
from hypothesis import strategies as st
from certdp.plugins.contract import Claim, Finding
from certdp.verification.running.runner import run
seen = []
def pairs():
    whole = st.integers(0, 1000)
    return st.fixed_dictionaries({"x": whole.map(Fraction), "rows": st.lists(whole, max_size=5).map(tuple)})
def examine(case):
    seen.append(str(dict(case)))
    return Finding(True, "", "")
run([Claim(id="a/b", statement="", says="", cases=pairs, examine=examine)], examples=50, seed=7)
print("\\n".join(seen))
"""


@pytest.mark.slow
def test_another_process_draws_the_same_cases_and_no_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "local.py").write_text("ELSEWHERE = [321, 654, 987]\n", encoding="utf-8")
    probe = [sys.executable, "-B", "-c", f"import local\n{PROBE}"]
    done = subprocess.run(probe, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.splitlines() == cases_drawn(7)
    assert [path.name for path in tmp_path.iterdir()] == ["local.py"]


def test_the_report_is_plain_and_reproducible() -> None:
    checked = [
        claim(lambda case: case["x"] < 10, name="test/control", expectation=Expectation.REJECTED),
        claim(lambda _: True),
    ]
    reports = [run(checked, examples=60, seed=3) for _ in range(2)]
    first, second = (report.as_json() for report in reports)
    for timed in (first, second, *first["results"], *second["results"]):
        assert timed.pop("seconds") > 0
    assert first.pop("started") <= second.pop("started")
    assert first == second
    assert json.loads(json.dumps(first)) == first
    assert reports[0].passed
    assert first["passed"] is True
    assert (first["seed"], first["examples"]) == (3, 60)
    assert {"certdp", "hypothesis", "mpmath", "python"} <= first["versions"].keys()
    control = first["results"][0]
    assert control["id"] == "test/control"
    assert control["witness"] == {"x": "10", "rows": []}
    assert (control["closed_form"], control["independent"]) == ("x = 10", "rows = ()")


def test_exact_numbers_are_written_as_ratios() -> None:
    def thirds() -> SearchStrategy[Case]:
        return st.just({"x": Fraction(1, 3), "rows": (Fraction(2), Expectation.HOLDS, None, {1: 0.5}, range(2))})

    result = only(claim(lambda _: False, cases=thirds)).as_json()
    assert result["witness"] == {"x": "1/3", "rows": ["2", "holds", None, {"1": 0.5}, "range(0, 2)"]}


def test_progress_is_told_claim_by_claim() -> None:
    told: list[str] = []
    claims = [claim(lambda _: True, name=f"test/{index}") for index in range(3)]
    report = run(claims, examples=5, progress=lambda result: told.append(result.claim.id))
    assert told == [result.claim.id for result in report.results] == ["test/0", "test/1", "test/2"]


def test_claims_are_selected_by_a_glob() -> None:
    claims = [claim(lambda _: True, name=name) for name in ("is/one", "is/two", "pws/one")]
    assert [chosen.id for chosen in select(claims, "is/*")] == ["is/one", "is/two"]
    assert [chosen.id for chosen in select(claims, "*/one")] == ["is/one", "pws/one"]
    assert [chosen.id for chosen in select(claims, "pws/*", "is/o*")] == ["is/one", "pws/one"]
    assert select(claims) == tuple(claims)
    with pytest.raises(InvalidValue, match=r"is/one, is/two, pws/one") as refusal:
        select(claims, "dpis/*")
    assert refusal.value.value == "dpis/*"
    with pytest.raises(InvalidValue, match="only: got dpis/"):
        select(claims, "is/*", "dpis/*")
    with pytest.raises(InvalidValue, match="claims: got none; admissible: at least one claim"):
        select([], "*")


@pytest.mark.parametrize(
    ("examples", "seed", "refusal"),
    [(0, 0, InvalidValue), (1, -1, InvalidValue), (True, 0, InvalidType), (1, 1.0, InvalidType), ("9", 0, InvalidType)],
)
def test_unfit_numbers_are_refused(examples: Any, seed: Any, refusal: type[InvalidValue]) -> None:
    with pytest.raises(refusal):
        run([], examples=examples, seed=seed)


@pytest.mark.slow
def test_listing_claims_loads_no_hypothesis() -> None:
    modules = "certdp.verification.claims.importance_sampling, certdp.verification.claims.pure"
    statement = f"import {modules}, certdp.verification.running.runner, sys; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", statement], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "False"


class TestApart:
    """Claims in processes of their own."""

    pytestmark = pytest.mark.skipif(not can_fork(), reason="this system cannot fork")

    def test_a_claim_that_hangs_or_crashes_is_named_and_the_others_run_on(self) -> None:
        def hangs(case: Case) -> bool:
            while case["x"] > 20:
                time.sleep(1)
            return True

        def crashes(_: Case) -> bool:
            os.kill(os.getpid(), signal.SIGKILL)
            return True

        def leaves(_: Case) -> bool:
            os._exit(7)

        claims = [
            claim(crashes, name="test/crashes", expectation=Expectation.REJECTED),
            claim(leaves, name="test/leaves"),
            claim(lambda case: case["x"] < 10, name="test/fails"),
        ]
        assert only(claim(lambda _: True), examples=1).passed  # what a search imports is then there when it is forked
        (hung,) = run([claim(hangs, name="test/hangs")], examples=50, timeout=2).results
        report = run(claims, examples=50, timeout=PATIENT)
        crashed, left, failed = report.results
        assert not report.passed
        assert hung.outcome is Outcome.TIMEOUT
        assert hung.error == "stopped: it took longer than 2 s"
        assert hung.seconds >= 2
        assert hung.witness is not None
        assert hung.witness["x"] > 20
        assert hung.cases_tried >= 1
        assert (crashed.witness, crashed.cases_tried) == ({"x": 0, "rows": ()}, 1)
        assert (crashed.outcome, crashed.error) == (Outcome.ERROR, "its process ended with signal SIGKILL")
        assert (left.outcome, left.error) == (Outcome.ERROR, "its process ended with exit code 7")
        assert failed.outcome is Outcome.FAILS
        assert failed.witness == {"x": 10, "rows": ()}
        assert failed.finding == Finding(False, "x = 10", "rows = ()")
        assert not any(result.passed for result in (hung, *report.results))

    @pytest.mark.slow
    def test_processes_and_jobs_change_nothing_but_times(self) -> None:
        def below(least: int) -> Claim:
            return claim(lambda case: case["x"] + sum(case["rows"]) < least, name=f"test/{least}")

        claims = [below(least) for least in (3, 50, 400, 10**6)]
        runs = [
            run(claims, examples=60, seed=5, jobs=jobs, timeout=limit)
            for jobs, limit in ((1, None), (1, PATIENT), (3, PATIENT))
        ]
        plain = [[result.as_json() for result in report.results] for report in runs]
        for result in (result for results in plain for result in results):
            del result["seconds"]
        assert plain[0] == plain[1] == plain[2]
        assert [result["outcome"] for result in plain[0]] == ["fails", "fails", "fails", "holds"]

    def test_a_witness_that_cannot_be_sent_is_told_in_words(self) -> None:
        class Local:
            def __str__(self) -> str:
                return "a local thing"

        def local() -> SearchStrategy[Case]:
            return st.just({"x": Local(), "rows": Fraction(1, 3)})

        (agrees,) = run([claim(lambda _: True, cases=local)], timeout=PATIENT).results
        assert agrees.example is not None
        assert agrees.example.case == {"x": "a local thing", "rows": Fraction(1, 3)}
        (result,) = run([claim(lambda _: False, cases=local)], timeout=PATIENT).results
        assert result.witness == {"x": "a local thing", "rows": Fraction(1, 3)}
        assert result.as_json()["witness"] == {"x": "a local thing", "rows": "1/3"}

    def test_a_claim_that_hangs_between_two_cases_blames_none(self) -> None:
        def slowly(case: Case) -> Case:
            if case["x"] > 20:
                time.sleep(600)
            return case

        def hanging() -> SearchStrategy[Case]:
            return pairs().map(slowly)

        assert only(claim(lambda _: True), examples=1).passed  # what a search imports is then there when it is forked
        (result,) = run([claim(lambda _: True, cases=hanging)], timeout=2).results
        assert result.outcome is Outcome.TIMEOUT
        assert result.witness is None
        assert result.cases_tried >= 1

    @pytest.mark.slow
    def test_the_time_limit_is_for_each_claim(self) -> None:
        def slow(_: Case) -> bool:
            time.sleep(1)
            return True

        claims = [claim(slow, name=f"test/{index}") for index in range(5)]
        assert only(claim(lambda _: True), examples=1).passed  # what a search imports is then there when it is forked
        assert run(claims, examples=1, timeout=4).passed


def test_a_claim_that_exits_is_an_error() -> None:
    def leaves(_: Case) -> bool:
        sys.exit(4)

    result = only(claim(leaves))
    assert (result.outcome, result.error) == (Outcome.ERROR, "SystemExit: 4")
    assert result.witness == {"x": 0, "rows": ()}


def test_claims_of_one_id_are_refused() -> None:
    holds = claim(lambda _: True)
    control = claim(lambda _: True, expectation=Expectation.REJECTED)
    with pytest.raises(InvalidValue, match=r"claims: got test/one; .*\(holds\) and .* \(rejected\)"):
        run([holds, control])
    assert run([holds], examples=1).passed


def test_a_system_without_fork_refuses_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("certdp.verification.running.runner.can_fork", lambda: False)
    holds = claim(lambda _: True)
    with pytest.raises(InvalidValue, match=r"timeout: got 5.*cannot fork.*Leave timeout out"):
        run([holds], timeout=5)
    with pytest.raises(InvalidValue, match=r"jobs: got 2.*cannot fork"):
        run([holds], jobs=2)
    assert run([holds], examples=1).passed


@pytest.mark.parametrize("timeout", [0, -1, math.nan, True, "5"])
def test_an_unfit_timeout_is_refused(timeout: Any) -> None:
    with pytest.raises((InvalidValue, InvalidType), match="timeout"):
        run([claim(lambda _: True)], timeout=timeout)


def test_numbers_that_json_lacks_are_written_as_text() -> None:
    def odd() -> SearchStrategy[Case]:
        return st.just({"x": math.nan, "rows": (math.inf, 0.5)})

    found = only(claim(lambda _: False, cases=odd)).as_json()
    assert found["witness"] == {"x": "nan", "rows": ["inf", 0.5]}
    assert json.dumps(found, allow_nan=False)


def test_ticks_tell_which_claim_runs() -> None:
    told: list[str] = []
    claims = [claim(lambda _: True, name=f"test/{index}") for index in range(2)]
    run(claims, examples=1, tick=lambda running: told.extend(one.id for one in running))
    assert told == ["test/0", "test/1"]
