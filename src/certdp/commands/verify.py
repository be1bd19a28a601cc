"""`certdp verify`: run the claims and print the witnesses."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ..plugins.contract import Case, Expectation
from ..plugins.registry import Registry
from ..verification.runner import Report, Result, select
from ..verification.runner import run as run_claims
from .output import Output


def run(only: str, examples: int, seed: int, third_party: bool, allow: list[str] | None, output: Output) -> None:
    """Run the claims that match, and fail where one fails or a claims plugin cannot be used."""
    claims, problems = Registry(third_party=third_party, allow=allow).claims()
    chosen = select(claims, only)
    terminal = Console(stderr=True)
    with Progress(console=terminal, transient=True, disable=output.as_json or not terminal.is_terminal) as bar:
        task = bar.add_task("claims", total=len(chosen))
        report = run_claims(chosen, examples=examples, seed=seed, progress=lambda _: bar.advance(task))
    broken = [{"distribution": p.listing.distribution, "name": p.listing.name, "problem": p.problem} for p in problems]
    output.show({**report.as_json(), "unusable": broken}, lambda console: _print(console, report, broken))
    if not report.passed or broken:
        output.fail()


def _print(console: Console, report: Report, broken: list[dict[str, str | None]]) -> None:
    table = Table(box=None)
    for heading in ("", "claim", "statement", "cases", "seconds", "outcome"):
        table.add_column(heading, overflow="fold")
    for result in report.results:
        mark = "[green]✓[/green]" if result.passed else "[red]✗[/red]"
        table.add_row(
            mark,
            result.claim.id,
            result.claim.statement,
            str(result.cases_tried),
            f"{result.seconds:.2f}",
            _outcome(result),
        )
    console.print(table)
    for result in report.results:
        if result.witness is not None:
            console.print(f"\n{result.claim.id}: {result.claim.says}", markup=False)
            console.print(f"  witness: {_case(result.witness)}", markup=False)
            if result.finding is not None:
                console.print(f"  closed form {result.finding.closed_form}", markup=False)
                console.print(f"  independent {result.finding.independent}", markup=False)
        if result.proof is not None:
            console.print(f"\n{result.claim.id}: {result.proof}", markup=False)
        if result.error is not None:
            console.print(f"\n{result.claim.id}: {result.error}", markup=False)
    for item in broken:
        console.print(
            f"claims {item['name']} of {item['distribution']} cannot be used: {item['problem']}", markup=False
        )
    passed = sum(result.passed for result in report.results)
    console.print(f"\n{passed} of {len(report.results)} claims as expected; seed {report.seed}")


def _outcome(result: Result) -> str:
    if result.error is not None:
        return "error"
    if result.claim.expectation is Expectation.REJECTED:
        return "rejected, as it must be" if result.passed else "not rejected"
    return "holds" if result.passed else "fails"


def _case(case: Case) -> str:
    return ", ".join(f"{name}={value}" for name, value in case.items())
