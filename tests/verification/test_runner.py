"""The runner: verdicts, shrinking, reproducibility, and what happens to broken claims."""

from __future__ import annotations

import json
import subprocess
import sys
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
from certdp.verification.runner import Result, run, select

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


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


def test_a_witness_is_shrunk_to_the_smallest() -> None:
    result = only(claim(lambda case: case["x"] + sum(case["rows"]) < 100))
    assert not result.passed
    assert result.witness is not None
    assert result.witness["x"] + sum(result.witness["rows"]) == 100
    assert len(result.witness["rows"]) <= 1
    assert result.finding == Finding(False, f"x = {result.witness['x']}", f"rows = {result.witness['rows']}")
    assert result.error is None


def test_a_negative_control_passes_with_a_witness_alone() -> None:
    found = only(claim(lambda case: case["x"] < 10, expectation=Expectation.REJECTED))
    assert found.passed
    assert found.witness == {"x": 10, "rows": ()}
    missed = only(claim(lambda _: True, expectation=Expectation.REJECTED))
    assert not missed.passed
    assert missed.witness is None
    assert missed.error is None


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


def test_an_examination_that_changes_its_mind_fails() -> None:
    seen: list[Case] = []

    def flaky(case: Case) -> bool:
        seen.append(case)
        return len(seen) != 5

    result = only(claim(flaky, expectation=Expectation.REJECTED))
    assert not result.passed
    assert result.error is not None
    assert "Flaky" in result.error


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
from certdp.verification.runner import run
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
    with pytest.raises(InvalidValue, match=r"is/one, is/two, pws/one") as refusal:
        select(claims, "dpis/*")
    assert refusal.value.value == "dpis/*"
    with pytest.raises(InvalidValue, match="claims: got none; admissible: at least one claim"):
        select([], "*")


@pytest.mark.parametrize(
    ("examples", "seed", "refusal"),
    [(0, 0, InvalidValue), (1, -1, InvalidValue), (True, 0, InvalidType), (1, 1.0, InvalidType), ("9", 0, InvalidType)],
)
def test_unfit_numbers_are_refused(examples: Any, seed: Any, refusal: type[InvalidValue]) -> None:
    with pytest.raises(refusal):
        run([], examples=examples, seed=seed)


def test_listing_claims_loads_no_hypothesis() -> None:
    modules = "certdp.verification.claims.importance_sampling, certdp.verification.claims.pure"
    statement = f"import {modules}, certdp.verification.runner, sys; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", statement], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "False"
