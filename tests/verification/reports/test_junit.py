"""JUnit XML: what continuous integration counts, and what it shows."""

from __future__ import annotations

from xml.etree import ElementTree

import attrs
import pytest

from certdp.plugins.registry import Status
from certdp.verification.reports.junit import junit
from certdp.verification.running.results import Report


@pytest.fixture
def root(report: Report, problems: list[Status]) -> ElementTree.Element:
    return ElementTree.fromstring(junit(report, problems))


def case(root: ElementTree.Element, name: str) -> ElementTree.Element:
    (found,) = [one for one in root.iter("testcase") if one.get("name") == name]
    return found


def test_every_claim_is_a_test_case_of_its_source(root: ElementTree.Element) -> None:
    found = {suite.get("name"): [case.get("name") for case in suite.iter("testcase")] for suite in root}
    assert list(found.items()) == [
        ("is", ["holds", "misprint"]),
        ("odd", ["breaks", "hangs"]),
        ("pws", ["fails", "unnoticed"]),
        ("plugins", ["bad", "shut"]),
    ]
    assert {case.get("classname") for case in root.iter("testcase")} == {
        "certdp.is",
        "certdp.odd",
        "certdp.pws",
        "plugins.bad-claims",
        "plugins.shut-claims",
    }


def test_the_counts_are_those_of_the_test_cases(root: ElementTree.Element) -> None:
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "8", "failures": "2", "errors": "3", "skipped": "1", "time": "100.250"}
    for suite in root:
        for attribute, kind in (
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert suite.get(attribute) == str(len(list(suite.iter(kind)))), (suite.get("name"), attribute)


def test_each_outcome_has_its_element(root: ElementTree.Element) -> None:
    kinds = {one.get("name"): [child.tag for child in one] for one in root.iter("testcase")}
    assert kinds == {
        "holds": ["system-out"],
        "misprint": ["system-out"],
        "fails": ["failure"],
        "unnoticed": ["failure"],
        "breaks": ["error"],
        "hangs": ["error"],
        "bad": ["error"],
        "shut": ["skipped"],
    }
    (timeout,) = case(root, "hangs")
    assert (timeout.get("type"), timeout.get("message")) == ("timeout", "stopped: it took longer than 9 s")


def test_a_failure_shows_its_witness_and_both_sides(root: ElementTree.Element) -> None:
    (failure,) = case(root, "fails")
    assert failure.text is not None
    lines = failure.text.splitlines()
    assert "witness: x = 1/3, rows = (1, 2/7)" in lines
    assert "closed form: π ≈ 0.3333333333333333" in lines
    (held,) = case(root, "holds")
    assert held.text is not None
    assert "proof: f ≥ 0: proven on q ∈ [0, 1] (12 cells)" in held.text


def test_the_run_can_be_repeated_from_its_properties(root: ElementTree.Element) -> None:
    for suite in root:
        found = {one.get("name"): one.get("value") for one in suite.iter("property")}
        assert found == {"seed": "4", "examples": "20", "timeout": "9.0", "certdp": "1.2.3", "odd-claims": "2.0"}
        assert suite.get("timestamp") == "2026-01-02T03:04:05"


def test_what_xml_cannot_hold_is_written_as_an_escape(root: ElementTree.Element) -> None:
    (broken,) = case(root, "breaks")
    message = broken.get("message")
    assert message is not None
    assert '<script src="https://evil.example/x.js">alert("&")</script>' in message
    assert message.endswith(r"\x00\x1b[31m")


def test_no_problems_make_no_suite(report: Report) -> None:
    root = ElementTree.fromstring(junit(attrs.evolve(report, results=report.results[:1]), []))
    assert [suite.get("name") for suite in root] == ["is"]
