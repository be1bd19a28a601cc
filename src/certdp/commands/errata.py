"""`certdp verify --errata`: every misprint of the papers, and a witness against each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from ..accounting.errors import blamed_on
from ..durable.files import write_whole
from ..plugins.registry import Registry
from ..verification.errata.errata import Entry, entries
from ..verification.errata.page import Witness, lines_of, page, told
from ..verification.reports.foreign_words import shortened
from ..verification.running.runner import Report, Result
from .absent_claims import absent_as_json, absent_in_words, mentioning, unusable
from .options import refuse_unused
from .output import Output
from .outputs import check_places
from .verify import Request, checked
from .verify_table import say


def run(request: Request, markdown: Path | None, output: Output) -> None:
    """Print the rows that match, and fail where a printed form is not rejected or a claims plugin cannot be used."""
    reports = {"html": request.html, "junit": request.junit}
    refuse_unused(reports, "beside --errata", "Leave out --errata, or write --markdown")
    check_places(None, {"markdown": markdown})
    claims, problems = Registry(third_party=request.third_party, allow=request.allow).claims()
    with mentioning(problems):
        rows = entries(claims, *request.only)
    report = checked(request, [claim for row in rows for claim in row.controls], output)
    results = {result.claim.id: result for result in report.results}
    witnesses = {name: witness for name, result in results.items() if (witness := _witness(result)) is not None}
    if markdown is not None:
        with blamed_on(path="markdown"):
            write_whole(markdown, page(rows, witnesses).encode())
    output.show(
        {**_json(rows, report, results), **absent_as_json(problems)},
        lambda console: _print(console, rows, results, absent_in_words(problems)),
    )
    if not report.passed or unusable(problems):
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


def _print(console: Console, rows: tuple[Entry, ...], results: Mapping[str, Result], absent: Sequence[str]) -> None:
    for row in rows:
        say(console, f"\n{row.id}")
        for name, text in told(row):
            say(console, f"{name}: {text}", 2)
        for claim in row.controls:
            result = results[claim.id]
            say(console, f"{claim.id}: {result.outcome.value}", 2)
            witness = _witness(result)
            for line in [] if witness is None else lines_of(witness):
                say(console, line, 4)
            if result.error is not None:
                say(console, shortened(result.error), 4)
            if result.advice is not None:
                say(console, result.advice, 4)
    for line in absent:
        say(console, line)
    witnessed = sum(bool(row.controls) for row in rows)
    passed = sum(result.passed for result in results.values())
    console.print(
        f"\n{len(rows)} row{'' if len(rows) == 1 else 's'}, {witnessed} with witnesses; "
        f"{passed} of {len(results)} printed forms rejected"
    )
