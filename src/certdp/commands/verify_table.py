"""What `certdp verify` shows people: a table of claims, then their witnesses and proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from ..accounting.display import format_value, shorten
from ..plugins.contract import Case
from ..plugins.registry import Status
from ..verification.reports.foreign_words import harmless, shortened
from ..verification.running.runner import Report, Result
from .absent_claims import absent_in_words
from .page import Page

_WIDE = 100
"""Characters from which on there is room for statements beside ids."""


def print_harmless(page: Page, text: str, indent: int = 0) -> None:
    """Print words that may be a third party's."""
    page.print(harmless(text), indent)


def show_report(page: Page, report: Report, problems: Sequence[Status], written: Mapping[str, Path]) -> None:
    """Print a report.

    Args:
        page: where.
        report: what came of the claims.
        problems: plugins whose claims were not run.
        written: the files that hold the report, by the name of their option.
    """
    page.console.print(_table(report, statements=page.console.width >= _WIDE))
    for result in report.results:
        for indent, line in _details(result):
            print_harmless(page, line, indent)
    for line in absent_in_words(problems):
        print_harmless(page, line)
    for path in written.values():
        page.copy(harmless(f"report written to {path}"))
    passed = sum(result.passed for result in report.results)
    page.console.print(f"\n{passed} of {len(report.results)} claims as expected; seed {report.seed}")


def _table(report: Report, *, statements: bool) -> Table:
    table = Table(box=None)
    table.add_column("")
    table.add_column("claim", no_wrap=True, overflow="fold")  # an id is there to be copied
    if statements:
        table.add_column("statement", overflow="fold")
    for heading in ("cases", "seconds", "outcome"):
        table.add_column(heading, overflow="fold")
    for result in report.results:
        mark = "[green]✓[/green]" if result.passed else "[red]✗[/red]"
        names = (result.claim.id, result.claim.statement) if statements else (result.claim.id,)
        told = (*map(harmless, names), str(result.cases_tried), f"{result.seconds:.2f}")
        table.add_row(mark, *map(escape, told), result.outcome.value)
    return table


def _details(result: Result) -> Iterator[tuple[int, str]]:
    """Lines with their indents."""
    name = result.claim.id
    if result.witness is not None:
        yield 0, f"\n{name}: {result.claim.says}"
        yield 2, f"witness: {_case(result.witness)}"
    if result.finding is not None:
        yield 2, f"closed form {shorten(result.finding.closed_form)}"
        yield 2, f"independent {shorten(result.finding.independent)}"
    for said in (result.proof, result.advice):
        if said is not None:
            yield 0, f"\n{name}: {said}"
    if result.error is not None:
        yield 0, f"\n{name}: {shortened(result.error)}"


def _case(case: Case) -> str:
    return ", ".join(f"{name}={format_value(value)}" for name, value in case.items())
