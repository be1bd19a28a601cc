"""Figures of a report about claims: one for each thing there is to see, the same every time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import strategies as st

from certdp.plots.claims import drawings
from certdp.plugins.contract import Claim, Expectation, Finding
from certdp.verification.running.results import Outcome, Report, Result

pytest.importorskip("matplotlib")

SVG = "{http://www.w3.org/2000/svg}"


def result(name: str, outcome: Outcome = Outcome.HOLDS, finding: Finding | None = None) -> Result:
    claim = Claim(
        id=name,
        statement="",
        says="",
        cases=lambda: st.just({}),
        examine=lambda _: Finding(True, "", ""),
        expectation=Expectation.HOLDS if finding is None else Expectation.REJECTED,
    )
    return Result(
        claim=claim, outcome=outcome, cases_tried=1, witness=None, finding=finding, proof=None, seconds=1.5, error=None
    )


def report(results: Sequence[Result]) -> Report:
    return Report(results=tuple(results), seed=0, examples=1)


def words(svg: str) -> set[str]:
    return {"".join(text.itertext()).strip() for text in ElementTree.fromstring(svg).iter(f"{SVG}text")}


def misprint(name: str, closed_form: str, independent: str) -> Result:
    return result(name, Outcome.REJECTED, Finding(False, closed_form, independent))


def test_every_outcome_is_counted_by_source() -> None:
    found = [result(f"a/{outcome.name}", outcome) for outcome in Outcome] + [result("b/one")]
    first, _ = drawings(report(found))
    assert {"a", "b", "6", "1", *(outcome.value for outcome in Outcome)} <= words(first.svg)


def test_times_are_those_of_the_slowest() -> None:
    _, times = drawings(report([result(f"a/{index}") for index in range(40)]))
    assert len([text for text in words(times.svg) if text.startswith("a/")]) == 15
    assert "The 15 slowest" in times.caption


@pytest.mark.slow
def test_gaps_are_shown_where_either_side_is_one_number() -> None:
    found = [
        misprint("a/gap", "ε = 0.5", "the integral is [0.24, 0.25]"),
        misprint("a/two-numbers", "ε = 0.5 at 1", "0.25"),
        misprint("a/no-number", "printed", "0.25"),
        misprint("a/overlap", "[0.2, 0.3]", "0.25"),
        result("a/holds"),
    ]
    *_, gaps = drawings(report(found))
    assert gaps.title == "How wrong at the witness"
    assert gaps.caption.endswith(" Of 3 more the witnesses below tell it in words.")
    assert {text for text in words(gaps.svg) if text.startswith("a/")} == {"a/gap"}


def test_where_no_gap_can_be_drawn_the_witnesses_tell() -> None:
    *_, gaps = drawings(report([misprint("a/two-numbers", "ε = 0.5 at 1", "0.25"), result("a/holds")]))
    assert gaps.caption == "No two sides state a single number each: the witness below tells it in words."
    assert gaps.svg == ""


@pytest.mark.slow
def test_figures_are_elements_that_repeat_and_stand_alone() -> None:
    found = report([result("a/b"), misprint("a/gap", "1", "2")])
    first, second = drawings(found), drawings(found)
    assert [one.svg for one in first] == [one.svg for one in second]
    identifiers = [re.findall(r'\bid="([^"]*)"', one.svg) for one in first]
    assert len(identifiers) == 3
    assert len({name for names in identifiers for name in names}) == sum(map(len, identifiers))
    for one, names in zip(first, identifiers, strict=True):
        assert one.svg.startswith("<svg")
        references = re.findall(r'(?:href="|url\()([^")]*)', one.svg)
        assert {reference.removeprefix("#") for reference in references} <= set(names)
