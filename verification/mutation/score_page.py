"""The mutation score as a page of Markdown: what is recorded of each module, its survivors, and every exemption."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from .exemptions import Exemption
from .intervals import Interval, Stratum, of_a_sample, of_strata
from .recorded import FEW, Recorded

_HEAD = """\
What became of small faults planted in each module, when its mutants were last run; how they are planted and what must
notice them is told in [verification](verification.md#mutation-score). *Survived* are faults that no claim and no test
noticed, and that no argument exempts: a test is missing there. Where not all mutants were run, those of smallest digest
were, the same ones each time, and the *score*, the share of mutants that do not survive, is an interval that holds it
with 95 % confidence: that of Clopper and Pearson for a module, that of Hoeffding for several, weighted by how many
mutants each has. It speaks of the modules that have a record alone, and no longer of chance where tests were written
for the survivors of that very sample. The digest is that of the source and of the mutants as they were scored:
`certdp mutants --table` says which records are stale today, `certdp mutants --record` runs those modules anew
(`--each 8`: a sample of them), and `certdp mutants --table --markdown docs/mutation_score.md` writes this page.
"""
_ROUNDING = 1e-9  # what floating-point numbers lose of a percentage that is whole
_FIGURES = "mutants | run | killed | timed out | exempted | survived | score"


class _Row(NamedTuple):
    """The figures of one module or of several."""

    mutants: int = 0
    run: int = 0
    killed: int = 0
    timed_out: int = 0
    exempted: int = 0
    survived: int = 0

    @property
    def stratum(self) -> Stratum:
        return Stratum(self.mutants, self.run, self.run - self.survived)


def page(
    records: Mapping[str, Recorded],
    missing: Mapping[str, int],
    left_out: Mapping[str, str],
    arguments: tuple[Exemption, ...],
) -> str:
    """Write the page of the score.

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
    rows = {module: _row(module, record) for module, record in records.items()}
    yield f"# Mutation score by module\n\n{_overall(list(rows.values()))}"
    thin = sum(record.is_thin for record in records.values())
    yield f"Of {thin} modules fewer than {FEW} were run, and not all: that none survived says little of these.\n"
    yield _HEAD
    yield f"| folder | modules | {_FIGURES} |\n|---|---:|---:|---:|---:|---:|---:|---:|---|"
    for folder, within in groupby(sorted(rows, key=_folder), key=_folder):
        yield _several(folder, [rows[module] for module in within])
    yield _several("**all of these**", list(rows.values()))
    yield f"\n## Modules\n\n| module | {_FIGURES} | digest |\n|---|---:|---:|---:|---:|---:|---:|---|---|"
    for module, row in rows.items():
        yield f"| `{module}` | {_numbers(row)} | {_score(row)} | {records[module].source} |"
    if missing:
        yield f"\n## Not yet scored\n\n{len(missing)} modules with {sum(missing.values()):,} mutants:\n"
        yield from (f"- `{module}`: {mutants:,}" for module, mutants in missing.items())
    yield "\n## Survivors\n\n| place | fault | before | after |\n|---|---|---|---|"
    for module, record in records.items():
        for place, operator, before, after, _ in record.survivors(module):
            yield _cells(f"`{module}` {place}", operator, f"`{before}`", f"`{after}`")
    yield "\n## Left out\n"
    yield from (f"- `{glob}`: {why}" for glob, why in left_out.items())
    yield "\n## Exemptions\n\n| place | fault | before | after | argument |\n|---|---|---|---|---|"
    for e in arguments:
        yield _cells(f"`{e.module}` {e.place}", e.operator, f"`{e.before}`", f"`{e.after}`", e.argument)


def _folder(module: str) -> str:
    first, _, rest = module.partition(".")
    return f"{first}.{rest.partition('.')[0]}" if first in ("plugins", "verification") else first if rest else "certdp"


def _row(module: str, record: Recorded) -> _Row:
    exempted, survived = record.split(module)
    killed = record.run - record.timed_out - exempted - survived
    return _Row(record.mutants, record.run, killed, record.timed_out, exempted, survived)


def _overall(rows: list[_Row]) -> str:
    """The figure of all modules with a record, in a sentence."""
    share, interval = of_strata(row.stratum for row in rows)
    total = _Row(*map(sum, zip(*rows, strict=True)))
    noticed = total.killed + total.timed_out
    return (
        f"**{_share(share, interval)}** of {total.mutants:,} mutants in {len(rows)} modules do not survive.\n"
        f"{total.run:,} were run: {noticed:,} noticed, {total.exempted:,} exempted, {total.survived:,} survived."
    )


def _several(name: str, rows: list[_Row]) -> str:
    share, interval = of_strata(row.stratum for row in rows)
    total = _Row(*map(sum, zip(*rows, strict=True)))
    return f"| {name} | {len(rows)} | {_numbers(total)} | {_share(share, interval)} |"


def _score(row: _Row) -> str:
    share = row.stratum.noticed / row.run
    return _share(
        share, Interval(share, share) if row.run == row.mutants else of_a_sample(row.stratum.noticed, row.run)
    )


def _share(share: float, interval: Interval) -> str:
    """Per cent; only what is all is 100, and an interval is rounded outward."""
    told = f"{_floor(share)} %"
    if interval.lower == interval.upper:
        return told
    return f"{told} ({_floor(interval.lower)} to {math.ceil(100 * interval.upper - _ROUNDING)} %)"


def _floor(share: float) -> int:
    return math.floor(100 * share + _ROUNDING)


def _numbers(row: _Row) -> str:
    return " | ".join(f"{n:,}" for n in row)


def _cells(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
