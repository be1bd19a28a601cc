"""`certdp verify --errata`: every misprint of the papers, and a witness against each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from ..accounting.errors import InvalidValue
from ..files import write_whole
from ..plugins.registry import Registry
from ..verification.errata import Entry, entries
from ..verification.errata_page import Witness, lines_of, page, told
from ..verification.runner import Report, Result
from .output import Output
from .outputs import check_places
from .verify import Request, checked


def run(request: Request, markdown: Path | None, output: Output) -> None:
    """Print the rows that match, and fail where a printed form is not rejected."""
    for name, unfit in (("html", request.html), ("junit", request.junit)):
        if unfit is not None:
            raise InvalidValue(name, str(unfit), "no value beside --errata", "Leave out --errata, or write --markdown")
    check_places(None, {"markdown": markdown})
    claims, _ = Registry(third_party=request.third_party, allow=request.allow).claims()
    rows = entries(claims, request.only)
    report = checked(request, [claim for row in rows for claim in row.controls], output)
    results = {result.claim.id: result for result in report.results}
    witnesses = {name: witness for name, result in results.items() if (witness := _witness(result)) is not None}
    if markdown is not None:
        write_whole(markdown, page(rows, witnesses).encode())
    output.show(_json(rows, report, results), lambda console: _print(console, rows, results))
    if not report.passed:
        output.fail()


def _witness(result: Result) -> Witness | None:
    if not result.passed or result.witness is None or result.finding is None:
        return None
    return result.witness, result.finding


def _json(rows: tuple[Entry, ...], report: Report, results: Mapping[str, Result]) -> dict[str, Any]:
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
            for row in rows
        ],
    }


def _print(console: Console, rows: tuple[Entry, ...], results: Mapping[str, Result]) -> None:
    for row in rows:
        console.print(f"\n[bold]{row.id}[/bold]")
        for name, text in told(row):
            console.print(f"  {name}: {text}", markup=False)
        for claim in row.controls:
            result = results[claim.id]
            console.print(f"  {claim.id}: {result.outcome.value}", markup=False)
            witness = _witness(result)
            for line in [] if witness is None else lines_of(witness):
                console.print(f"    {line}", markup=False)
            if result.error is not None:
                console.print(f"    {result.error}", markup=False)
    witnessed = sum(bool(row.controls) for row in rows)
    passed = sum(result.passed for result in results.values())
    console.print(
        f"\n{len(rows)} row{'' if len(rows) == 1 else 's'}, {witnessed} with witnesses; "
        f"{passed} of {len(results)} printed forms rejected"
    )
