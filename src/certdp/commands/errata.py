"""`certdp verify --errata`: every misprint of the papers, and a witness against each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from ..accounting.errors import blamed_on
from ..durable.files import write_whole
from ..plugins.registry import Status
from ..verification.errata.errata import Entry, entries
from ..verification.errata.page import Witness, cells, lines_of
from ..verification.errata.page import page as page_of
from ..verification.reports.foreign_words import shortened
from ..verification.running.runner import Report, Result
from .absent_claims import absent_as_json, absent_in_words, mentioning, unusable
from .answer import Answer
from .claim_runs import Request, checked
from .output import FAILED, Terminal
from .outputs import check_places
from .page import Page
from .verify_table import print_harmless


@frozen(kw_only=True)
class Misprints(Answer):
    """The rows of the errata, and what became of their printed forms.

    Attributes:
        rows: the misprints.
        report: of the claims that stand for the printed forms.
        problems: claims plugins that were not run.
    """

    rows: tuple[Entry, ...]
    report: Report
    problems: Sequence[Status]

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        report, results = self.report, self._results
        return {
            "passed": report.passed,
            "seed": report.seed,
            "examples": report.examples,
            "versions": dict(report.versions),
            "errata": [
                {
                    "id": row.id,
                    "statement": row.erratum.statement if row.erratum else None,
                    "printed": row.erratum.printed if row.erratum else None,
                    "holds": row.erratum.holds if row.erratum else None,
                    "unwitnessed": row.erratum.unwitnessed if row.erratum else None,
                    "controls": [results[claim.id].as_json() for claim in row.controls],
                }
                for row in self.rows
            ],
            **absent_as_json(self.problems),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        results = self._results
        for row in self.rows:
            print_harmless(page, f"\n{row.id}")
            for name, text in cells(row):
                print_harmless(page, f"{name}: {text}", 2)
            for claim in row.controls:
                _show_result(page, results[claim.id])
        for line in absent_in_words(self.problems):
            print_harmless(page, line)
        witnessed = sum(bool(row.controls) for row in self.rows)
        passed = sum(result.passed for result in results.values())
        page.print(
            f"\n{len(self.rows)} row{'' if len(self.rows) == 1 else 's'}, {witnessed} with witnesses; "
            f"{passed} of {len(results)} printed forms rejected"
        )

    @property
    def exit_code(self) -> int:
        """1 where a printed form is not rejected or a claims plugin cannot be used."""
        return 0 if self.report.passed and not unusable(self.problems) else FAILED

    @property
    def _results(self) -> Mapping[str, Result]:
        return {result.claim.id: result for result in self.report.results}


def misprints(request: Request, markdown: Path | None, terminal: Terminal) -> Misprints:
    """Run the printed forms of the rows that match, and write the page of them."""
    check_places(None, {"markdown": markdown})
    claims, problems = request.admission.registry.claims()
    with mentioning(problems):
        rows = entries(claims, *request.globs)
    report = checked(request, [claim for row in rows for claim in row.controls], terminal)
    if markdown is not None:
        found = {result.claim.id: _witness(result) for result in report.results}
        witnesses = {name: witness for name, witness in found.items() if witness is not None}
        with blamed_on(path="markdown"):
            write_whole(markdown, page_of(rows, witnesses).encode())
    return Misprints(rows=rows, report=report, problems=problems)


def _witness(result: Result) -> Witness | None:
    if not result.passed or result.witness is None or result.finding is None:
        return None
    return result.witness, result.finding


def _show_result(page: Page, result: Result) -> None:
    print_harmless(page, f"{result.claim.id}: {result.outcome.value}", 2)
    witness = _witness(result)
    for line in [] if witness is None else lines_of(witness):
        print_harmless(page, line, 4)
    if result.error is not None:
        print_harmless(page, shortened(result.error), 4)
    if result.advice is not None:
        print_harmless(page, result.advice, 4)
