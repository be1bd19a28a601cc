"""`certdp mutants`: plant faults in the formulas, and tell which of them the verification suite did not notice."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Annotated

import typer
from attrs import asdict, fields, frozen
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..accounting.errors import InvalidValue, blamed_on
from ..durable.files import write_whole
from ..verification.mutation import recorded as records
from ..verification.mutation.exemptions import exemptions
from ..verification.mutation.guarded import EXCLUDED
from ..verification.mutation.recorded import Freshness, freshness
from ..verification.mutation.score import Fate, Score, together
from ..verification.mutation.score_page import page as page_of
from ..verification.mutation.scoring import Benches, Mutated, matching, score
from ..verification.mutation.traces import Traces
from .answer import Answer
from .answering import application
from .options import Jobs, Markdown, Only, Seed
from .output import FAILED, Terminal
from .page import Page
from .progress import watched

_COLUMNS = (Fate.KILLED, Fate.TIMED_OUT, Fate.EXEMPTED, Fate.SURVIVED)
_EACH = 40  # most mutants of a module in a share
_SHARE_MINUTES = 8.0


@frozen(kw_only=True)
class _Counts:
    """What became of the mutants of a module, by its record."""

    run: int
    killed: int
    timed_out: int
    exempted: int
    survived: int
    source: str


@frozen(kw_only=True)
class _Row:
    """What is recorded of a module; no counts where nothing is."""

    module: str
    freshness: str
    mutants: int
    counts: _Counts | None

    def as_json(self) -> dict[str, object]:
        """Return the row for programs, in JSON's types."""
        known = {} if self.counts is None else asdict(self.counts)
        return {"module": self.module, "freshness": self.freshness, "mutants": self.mutants, **known}


@frozen
class Recorded(Answer):
    """What is recorded of the modules that match, and what of it is stale."""

    rows: tuple[_Row, ...]

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {"modules": [row.as_json() for row in self.rows]}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        columns = ("module", "freshness", "mutants", *(one.name for one in fields(_Counts)))
        page.table(
            [column.replace("_", " ") for column in columns],
            [[str(row.as_json().get(column, "")) for column in columns] for row in self.rows],
        )


@frozen
class Scored(Answer):
    """What became of the mutants that were run."""

    score: Score

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return self.score.as_json()

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        found = self.score
        table = Table(box=None)
        for heading in ("", "module", "mutants", *(fate.value for fate in _COLUMNS)):
            table.add_column(heading, justify="left" if heading in ("", "module") else "right", overflow="fold")
        for module in found.modules:
            counts = [found.count(fate, module) for fate in Fate]
            passed = not (found.count(Fate.SURVIVED, module) or found.count(Fate.KILLED_THOUGH_EXEMPTED, module))
            mark = "[green]✓[/green]" if passed else "[red]✗[/red]"
            table.add_row(mark, module, str(sum(counts)), *(str(found.count(fate, module)) for fate in _COLUMNS))
        page.console.print(table)
        for verdict in found.survivors:
            page.copy(f"survived: {verdict.mutant}")
        for verdict in found.stale:
            page.copy(f"exempted, and killed by {verdict.by}: {verdict.mutant}")
        for file in found.unfit:
            page.copy(f"takes too long to be a guard: {file}")
        for stray in found.strays:
            place = f"{stray.module} {stray.place}, {stray.operator}"
            page.copy(f"an exemption fits no mutant: {place}: {stray.before}  →  {stray.after}")
        share = "none judged" if found.killed_share is None else f"{found.killed_share:.1%}"
        drawn = "all" if found.seed is None else f"seed {found.seed}"
        page.print(f"\nscore {share}: {len(found.verdicts)} of {found.population} mutants run ({drawn})")

    @property
    def exit_code(self) -> int:
        """1 where a mutant survives or an exemption is stale."""
        return 0 if self.score.passed else FAILED


def mutants(
    terminal: Terminal,
    only: Only = None,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="So many mutants, at random; or else all.")
    ] = None,
    each: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="At most so many of each module, always the same ones.")
    ] = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    minutes: Annotated[
        float | None, typer.Option(min=0, metavar="M", help="Begin no further mutant after so many minutes.")
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Run modules whose record is stale or missing, and write it.")
    ] = False,
    share: Annotated[
        bool, typer.Option("--share", help="Run, for 8 minutes or so many, what is recorded as noticed.")
    ] = False,
    table: Annotated[bool, typer.Option("--table", help="Run none; show what is recorded of each module.")] = False,
    markdown: Markdown = None,
) -> Answer:
    """Score the verification suite: which small faults, planted in the formulas, do its claims and tests notice?

    --only names modules. --jobs goes with --record, --markdown with --table.
    """
    modes = {"record": record, "share": share, "table": table}
    chosen = [name for name, wanted in modes.items() if wanted]
    if len(chosen) > 1:
        raise InvalidValue(chosen[1], "given", f"one of --{' and --'.join(chosen)}")
    if sample is not None and chosen:
        raise InvalidValue("sample", sample, f"none beside --{chosen[0]}")
    if each is not None and (share or table or sample is not None):
        raise InvalidValue("each", each, "given alone, or beside --record")
    if jobs != 1 and not record:
        raise InvalidValue("jobs", jobs, "1, or so many beside --record")
    if markdown is not None and not table:
        raise InvalidValue("markdown", str(markdown), "a file beside --table")
    globs = only or ()
    if table:
        return _recorded(globs, markdown)
    if record:
        return Scored(_record(globs, each, jobs, minutes, terminal))
    if share:
        return Scored(_share(globs, seed, _SHARE_MINUTES if minutes is None else minutes, terminal))
    return Scored(_run(globs, sample, each, seed, minutes, terminal))


def _run(
    only: Sequence[str], sample: int | None, each: int | None, seed: int, minutes: float | None, terminal: Terminal
) -> Score:
    total = sum(_count(mutated, each) for mutated in matching(*only)) if sample is None else sample
    with _bar(terminal, total) as advance:
        return score(*only, sample=sample, each=each, seed=seed, minutes=minutes, progress=advance)


def _record(only: Sequence[str], each: int | None, jobs: int, minutes: float | None, terminal: Terminal) -> Score:
    """Run the modules that match and have no fresh record of so many mutants, and write down what became of them."""
    known = records.read()
    asked = [mutated for mutated in matching(*only) if not _is_recorded(mutated, known.get(mutated.module), each)]
    asked.sort(key=lambda mutated: mutated.module in known)  # those first of which nothing is known
    scores: list[Score] = []
    end = None if minutes is None else time.monotonic() + 60 * minutes
    traces, taking = Traces(), Lock()

    def work(waiting: Iterator[Mutated], tell: Callable[[object], None]) -> None:
        with Benches(traces) as benches:
            benches.prepare(asked)
            while True:
                with taking:
                    mutated = next(waiting, None)
                left = None if end is None else (end - time.monotonic()) / 60
                if mutated is None or (left is not None and left <= 0):
                    return
                if _is_recorded(mutated, records.read().get(mutated.module), each):  # by another process
                    continue
                most = _at_least(each, known.get(mutated.module))
                found = score(mutated.module, each=most, minutes=left, progress=tell, benches=benches)
                if len(found.verdicts) < found.population:  # what the time cut short is no score
                    return
                scores.append(found)
                records.keep(mutated.module, records.recorded(mutated, found.verdicts))

    total = sum(_count(mutated, _at_least(each, known.get(mutated.module))) for mutated in asked)
    with _bar(terminal, total) as advance, ThreadPoolExecutor(jobs) as pool:
        waiting = iter(asked)
        working = [pool.submit(work, waiting, advance) for _ in range(jobs)]
        for ended in as_completed(working):
            ended.result()
    return together(scores)


def _at_least(each: int | None, record: records.Recorded | None) -> int | None:
    """How many mutants of a module to run: as many as its last record covers, if those are more."""
    return each if each is None or record is None else max(each, record.run)


def _is_recorded(mutated: Mutated, record: records.Recorded | None, each: int | None) -> bool:
    return record is not None and freshness(mutated, record) is Freshness.FRESH and record.suffices(each)


def _share(only: Sequence[str], seed: int, minutes: float, terminal: Terminal) -> Score:
    """Run, for so many minutes, mutants that the record says are noticed, in an order that the seed chooses.

    Of a module those alone that its record covers; and none where the record is of another source.
    """
    known = records.read()
    recorded = [m for m in matching(*only) if m.module in known and known[m.module].is_of_source(m)]
    if not recorded:
        remedy = "Run certdp mutants --record"
        raise InvalidValue("only", ", ".join(only) or "*", "modules with a record of today's source", remedy)
    random.Random(seed).shuffle(recorded)
    scores, end = [], time.monotonic() + 60 * minutes
    with _bar(terminal, None) as advance, Benches() as benches:
        for mutated in recorded:
            left = (end - time.monotonic()) / 60
            if left <= 0:
                break
            record = known[mutated.module]
            scores.append(
                score(
                    mutated.module,
                    sample=_EACH,
                    each=record.run,
                    seed=seed,
                    minutes=left,
                    leaving=records.unnoticed(mutated, record),
                    benches=benches,
                    progress=advance,
                )
            )
    return together(scores)


def _recorded(only: Sequence[str], markdown: Path | None) -> Recorded:
    known, asked = records.read(), matching(*only)
    if markdown is not None:
        listed = {m.module: known[m.module] for m in asked if m.module in known}
        missing = {m.module: _count(m) for m in asked if m.module not in known}
        with blamed_on(path="markdown"):
            write_whole(markdown, page_of(listed, missing, EXCLUDED, exemptions()).encode())
    return Recorded(tuple(_rows(asked, known)))


def _rows(asked: Sequence[Mutated], known: dict[str, records.Recorded]) -> Iterator[_Row]:
    for mutated in asked:
        found = known.get(mutated.module)
        fresh, mutants = freshness(mutated, found), _count(mutated)
        if found is None:
            yield _Row(module=mutated.module, freshness=fresh.value, mutants=mutants, counts=None)
            continue
        exempted, survived = found.split(mutated.module)
        counts = _Counts(
            run=found.run,
            killed=found.run - found.timed_out - exempted - survived,
            timed_out=found.timed_out,
            exempted=exempted,
            survived=survived,
            source=found.source,
        )
        yield _Row(module=mutated.module, freshness=fresh.value, mutants=mutants, counts=counts)


def _count(mutated: Mutated, most: int | None = None) -> int:
    found = sum(1 for _ in mutated.plantings())
    return found if most is None else min(found, most)


@contextmanager
def _bar(terminal: Terminal, total: int | None) -> Iterator[Callable[[object], None]]:
    """Told of each mutant that was run."""
    columns = TextColumn("mutants"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with watched(terminal, total, *columns) as bar:
        yield lambda _: None if bar is None else bar.add(1)


command = application(mutants)
