"""What `certdp verify` prints for people: a table of claims, then their witnesses and proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..plugins.contract import Case
from ..plugins.registry import Status
from ..verification.reports.readable import readable, shown
from ..verification.runner import Report, Result


def print_report(console: Console, report: Report, problems: Sequence[Status], written: Mapping[str, str]) -> None:
    """Print a report.

    Args:
        console: where.
        report: what came of the claims.
        problems: plugins whose claims were not run.
        written: the files that hold the report, by the name of their option.
    """
    console.print(_table(report))
    for result in report.results:
        for line in _details(result):
            console.print(line, markup=False)
    for problem in problems:
        listing, verb = problem.listing, "are left out" if problem.blocked else "cannot be used"
        said = f"claims {listing.name} of {listing.distribution} {verb}: {problem.problem}"
        console.print(said, markup=False)
    for path in written.values():
        console.print(f"report written to {path}", markup=False)
    passed = sum(result.passed for result in report.results)
    console.print(f"\n{passed} of {len(report.results)} claims as expected; seed {report.seed}")


def _table(report: Report) -> Table:
    table = Table(box=None)
    for heading in ("", "claim", "statement", "cases", "seconds", "outcome"):
        table.add_column(heading, overflow="fold")
    for result in report.results:
        mark = "[green]✓[/green]" if result.passed else "[red]✗[/red]"
        told = (result.claim.id, result.claim.statement, str(result.cases_tried), f"{result.seconds:.2f}")
        table.add_row(mark, *map(escape, told), result.outcome.value)
    return table


def _details(result: Result) -> list[str]:
    lines = []
    if result.witness is not None:
        lines += [f"\n{result.claim.id}: {result.claim.says}", f"  witness: {_case(result.witness)}"]
    if result.finding is not None:
        lines.append(f"  closed form {readable(result.finding.closed_form)}")
        lines.append(f"  independent {readable(result.finding.independent)}")
    if result.proof is not None:
        lines.append(f"\n{result.claim.id}: {result.proof}")
    if result.error is not None:
        lines.append(f"\n{result.claim.id}: {result.error}")
    return lines


def _case(case: Case) -> str:
    return ", ".join(f"{name}={shown(value)}" for name, value in case.items())
