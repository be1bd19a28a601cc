"""The mutation score as a page of Markdown: what is recorded of each module, what was left out, and every exemption."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .exemptions import Exemption
from .recorded import Recorded

_HEAD = """# Mutation score by module

What became of small faults planted in each module, when all of its mutants were last run; how they are planted and what
must notice them is told in [verification](verification.md#mutation-score). *Survived* are faults that no claim and no
test noticed, and that no argument exempts: a test is missing there. The digest is that of the source and of the mutants
as they were scored: `certdp mutants --table` says which records are stale today, `certdp mutants --record` runs those
modules anew, and `certdp mutants --table --markdown docs/mutation_score.md` writes this page.
"""


def page(
    records: Mapping[str, Recorded],
    missing: Mapping[str, int],
    left_out: Mapping[str, str],
    arguments: tuple[Exemption, ...],
) -> str:
    """The page.

    Args:
        records: by module, in order.
        missing: how many mutants there are in modules without a record.
        left_out: globs of modules that have no score, with the reason.
        arguments: all exemptions, in order.
    """
    return "".join(f"{line}\n" for line in _lines(records, missing, left_out, arguments))


def _lines(
    records: Mapping[str, Recorded],
    missing: Mapping[str, int],
    left_out: Mapping[str, str],
    arguments: tuple[Exemption, ...],
) -> Iterator[str]:
    yield _HEAD
    yield "| module | mutants | killed | timed out | exempted | survived | digest |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    rows = {module: _row(module, record) for module, record in records.items()}
    for module, row in rows.items():
        yield f"| `{module}` | {' | '.join(f'{n:,}' for n in row)} | {records[module].source} |"
    totals = [sum(column) for column in zip(*rows.values(), strict=True)] or [0] * 5
    yield f"| **all of {len(rows)}** | {' | '.join(f'{n:,}' for n in totals)} | |"
    yield f"\n## Not yet scored\n\n{len(missing)} modules with {sum(missing.values()):,} mutants:\n"
    yield from (f"- `{module}`: {mutants:,}" for module, mutants in missing.items())
    yield "\n## Left out\n"
    yield from (f"- `{glob}`: {why}" for glob, why in left_out.items())
    yield "\n## Exemptions\n\n| place | fault | before | after | argument |\n|---|---|---|---|---|"
    for e in arguments:
        cells = (f"`{e.module}` {e.place}", e.operator, f"`{e.before}`", f"`{e.after}`", e.argument)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _row(module: str, record: Recorded) -> tuple[int, int, int, int, int]:
    exempted, survived = record.split(module)
    killed = record.mutants - record.timed_out - exempted - survived
    return record.mutants, killed, record.timed_out, exempted, survived
