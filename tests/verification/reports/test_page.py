"""The page: whole, alone, and harmless whatever claims say."""

from __future__ import annotations

import re
import sys
from collections import Counter
from fractions import Fraction
from html.parser import HTMLParser

import attrs
import pytest
from attrs import frozen

from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract import Finding
from certdp.plugins.registry import Registry, Status
from certdp.verification.errata.errata import ERRATA
from certdp.verification.reports.page import page, require_pages
from certdp.verification.reports.sources import SOURCES, source
from certdp.verification.running.results import Example, Report

VOID = {"meta", "input", "link", "br", "img", "hr"}


@frozen
class Picture:
    """A figure."""

    title: str = "A picture"
    caption: str = "of nothing"
    svg: str = '<svg viewBox="0 0 1 1"><title>nothing</title></svg>'


class Reader(HTMLParser):
    """Reads a page: its elements, that they are closed, what they refer to, and its text."""

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.references: list[str] = []
        self.claims: dict[str, dict[str, str | None]] = {}
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html.decode("utf-8"))
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        found = dict(attrs)
        self.references += [value for name, value in attrs if name in {"src", "href", "xlink:href", "action"} and value]
        assert not [name for name in found if name.startswith("on")]
        if found.get("class") == "claim":
            self.claims[(found["data-words"] or "").split()[0]] = found
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture
def read(report: Report, problems: list[Status]) -> Reader:
    return Reader(page(report, problems, [Picture()], "certdp verify --seed 4"))


def test_it_shows_what_came_of_every_claim(read: Reader, report: Report) -> None:
    assert {name: found["data-outcome"] for name, found in read.claims.items()} == {
        result.claim.id: result.outcome.name for result in report.results
    }
    for result in report.results:
        assert result.claim.statement in read.text
        assert result.outcome.value in read.text
    for words in (
        "4 of 6 claims are not as expected; claims of 1 plugin cannot be used",
        "1/3",
        "(1, 2/7)",
        "0.3333333333333333",
        f"{10**20}/{3 * 10**20 + 1}",
        "[0.25 ± 1e-23]",
        "Misprint TEST-1",
        "in 12 cells",
        "1 min 23 s",
        "certdp verify --only 'pws/fails' --seed 4 --examples 20 --timeout 9",
        "20, and those that shrink a witness",
        "shut of shut-claims 1.0 is left out",
    ):
        assert words in read.text, words


def test_a_misprint_shows_what_is_printed_and_what_holds(report: Report) -> None:
    control = report.results[1]
    known = attrs.evolve(control, claim=attrs.evolve(control.claim, erratum=ERRATA[0].id))
    read = Reader(page(attrs.evolve(report, results=(known,)), [], [], ""))
    for words in (f"Misprint {ERRATA[0].id}, {ERRATA[0].statement}", ERRATA[0].printed, ERRATA[0].holds):
        assert words in read.text


def test_a_claim_that_holds_shows_both_sides_at_a_case(report: Report) -> None:
    finding = Finding(True, "ε = [0.25, 0.5]", "largest ratio 0.375")
    holds = attrs.evolve(report.results[0], example=Example(case={"rate": Fraction(1, 7)}, finding=finding))
    read = Reader(page(attrs.evolve(report, results=(holds,)), [], [], ""))
    for words in ("The last case that was examined", "rate 1/7", "[0.25, 0.5]", "largest ratio 0.375"):
        assert words in read.text, words


def test_words_of_others_are_escaped_and_errors_shortened(report: Report) -> None:
    broken = attrs.evolve(report.results[4], error="\x9b31m" + "x" * 3000)
    html = page(attrs.evolve(report, results=(broken,)), [], [], "").decode("utf-8")
    assert "\x9b" not in html
    assert "\\x9b31m" in html
    assert "x" * 601 not in html
    assert "characters more" in html


def test_a_form_that_was_not_rejected_has_advice(read: Reader) -> None:
    assert "no case of the 7 that were examined contradicts this form" in read.text


def test_it_states_what_the_run_was(read: Reader) -> None:
    for words in ("2026-01-02 03:04 UTC", "1 min 40 s", "9 s", "1.2.3", "odd-claims 2.0", "certdp verify --seed 4"):
        assert words in read.text, words


def test_it_states_what_the_sources_assume(read: Reader) -> None:
    for name in ("is", "pws"):
        assert SOURCES[name].citation in read.text
        for assumption in SOURCES[name].assumptions:
            assert assumption in read.text
    assert SOURCES["dpis"].citation not in read.text
    assert source("odd").citation in read.text


def test_it_needs_nothing_from_elsewhere(read: Reader, report: Report) -> None:
    assert [reference for reference in read.references if not reference.startswith("#")] == []
    assert not read.elements.keys() & {"link", "img", "iframe", "object", "embed"}
    html = page(report, [], [], "certdp verify").decode("utf-8")
    assert "@import" not in html
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_what_claims_and_plugins_say_is_text(read: Reader) -> None:
    assert read.elements["script"] == 1
    assert read.text.count('<script src="https://evil.example/x.js">') >= 3


def test_figures_are_elements_of_the_page(read: Reader) -> None:
    assert read.elements["svg"] == read.elements["figure"] == 1
    assert "A picture" in read.text


def test_a_run_as_expected_says_so(report: Report) -> None:
    good = attrs.evolve(report, results=report.results[:2], timeout=None)
    read = Reader(page(good, [], [], "certdp verify"))
    assert "All 2 claims are as expected." in read.text
    assert "Not as expected" not in read.text
    assert "time limit per claim none" in read.text
    assert "figure" not in read.elements


def test_an_unusable_plugin_alone_is_no_success(report: Report, problems: list[Status]) -> None:
    good = attrs.evolve(report, results=report.results[:1])
    assert "0 of 1 claims are not as expected; claims of 1 plugin" in Reader(page(good, problems, [], "")).text


def test_text_that_utf_8_cannot_hold_is_written_as_an_escape(report: Report) -> None:
    odd = attrs.evolve(report.results[4], error="a lone \ud800")
    assert r"a lone \ud800" in Reader(page(attrs.evolve(report, results=(odd,)), [], [], "")).text


def test_the_library_knows_the_sources_of_its_own_claims() -> None:
    claims, _ = Registry(third_party=False).claims()
    assert {claim.id.partition("/")[0] for claim in claims} <= set(SOURCES)


def test_without_jinja_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InvalidValue, match=r"html.*pip install 'certdp\[report\]'"):
        require_pages()
