"""`certdp mutants`: plant faults in the formulas, and tell which of them the verification suite did not notice."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..accounting.errors import InvalidValue, blamed_on
from ..durable.files import write_whole
from ..verification.mutation import recorded as records
from ..verification.mutation.exemptions import exemptions
from ..verification.mutation.guarded import EXCLUDED
from ..verification.mutation.recorded import Standing, standing
from ..verification.mutation.score import Fate, Score, together
from ..verification.mutation.score_page import page
from ..verification.mutation.scoring import Benches, Mutated, matching, score
from ..verification.mutation.traces import Traces
from .output import Output

_COLUMNS = (Fate.KILLED, Fate.TIMED_OUT, Fate.EXEMPTED, Fate.SURVIVED)
_EACH = 40  # mutants of a module in a share
_SHARE_MINUTES = 8.0


def choose(
    only: Sequence[str],
    sample: int | None,
    each: int | None,
    workers: int,
    seed: int,
    minutes: float | None,
    recording: bool,
    sharing: bool,
    showing: bool,
    markdown: Path | None,
) -> Callable[[Output], None]:
    """What the options ask for.

    Raises:
        InvalidValue: for options that do not go together.
    """
    modes = {"record": recording, "share": sharing, "table": showing}
    chosen = [name for name, wanted in modes.items() if wanted]
    if len(chosen) > 1:
        raise InvalidValue(chosen[1], "given", f"one of --{' and --'.join(chosen)}")
    if sample is not None and chosen:
        raise InvalidValue("sample", sample, f"none beside --{chosen[0]}")
    if each is not None and (sharing or showing or sample is not None):
        raise InvalidValue("each", each, "given alone, or beside --record")
    if workers != 1 and not recording:
        raise InvalidValue("workers", workers, "1, or so many beside --record")
    if markdown is not None and not showing:
        raise InvalidValue("markdown", str(markdown), "a file beside --table")
    if recording:
        return partial(record, only, each, workers, minutes)
    if sharing:
        return partial(share, only, seed, _SHARE_MINUTES if minutes is None else minutes)
    if showing:
        return partial(table, only, markdown)
    return partial(run, only, sample, each, seed, minutes)


def run(
    only: Sequence[str], sample: int | None, each: int | None, seed: int, minutes: float | None, output: Output
) -> None:
    """Run the mutants of the modules that match, and fail where one survives or an exemption is stale."""
    total = sum(_count(mutated, each) for mutated in matching(*only)) if sample is None else sample
    with _bar(output, total) as (bar, task):
        found = score(*only, sample=sample, each=each, seed=seed, minutes=minutes, progress=lambda _: bar.advance(task))
    _tell(found, output)


def record(only: Sequence[str], each: int | None, workers: int, minutes: float | None, output: Output) -> None:
    """Run the modules that match and have no fresh record of so many mutants, and write down what became of them."""
    known = records.read()
    asked = [mutated for mutated in matching(*only) if not _is_recorded(mutated, known.get(mutated.module), each)]
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
                found = score(mutated.module, each=each, minutes=left, progress=tell, benches=benches)
                if len(found.verdicts) < found.population:  # what the time cut short is no score
                    return
                scores.append(found)
                records.keep(mutated.module, records.recorded(mutated, found.verdicts))

    total = sum(_count(mutated, each) for mutated in asked)
    with _bar(output, total) as (bar, task), ThreadPoolExecutor(workers) as pool:
        waiting = iter(asked)
        working = [pool.submit(work, waiting, lambda _: bar.advance(task)) for _ in range(workers)]
        for ended in as_completed(working):
            ended.result()
    _tell(together(scores), output)


def _is_recorded(mutated: Mutated, record: records.Recorded | None, each: int | None) -> bool:
    return record is not None and standing(mutated, record) is Standing.FRESH and record.suffices(each)


def share(only: Sequence[str], seed: int, minutes: float, output: Output) -> None:
    """Run, for so many minutes, mutants that the record says are noticed, in an order that the seed chooses."""
    known = records.read()
    recorded = [mutated for mutated in matching(*only) if mutated.module in known]
    if not recorded:
        raise InvalidValue("only", ", ".join(only), "modules that have a record", "Run certdp mutants --record")
    random.Random(seed).shuffle(recorded)
    scores, end = [], time.monotonic() + 60 * minutes
    with _bar(output, None) as (bar, task), Benches() as benches:
        for mutated in recorded:
            left = (end - time.monotonic()) / 60
            if left <= 0:
                break
            leaving = records.unnoticed(mutated, known[mutated.module])
            scores.append(
                score(
                    mutated.module,
                    sample=_EACH,
                    seed=seed,
                    minutes=left,
                    leaving=leaving,
                    benches=benches,
                    progress=lambda _: bar.advance(task),
                )
            )
    _tell(together(scores), output)


def table(only: Sequence[str], markdown: Path | None, output: Output) -> None:
    """Tell what is recorded of the modules that match, and what of it is stale."""
    known, asked = records.read(), matching(*only)
    if markdown is not None:
        listed = {m.module: known[m.module] for m in asked if m.module in known}
        missing = {m.module: _count(m) for m in asked if m.module not in known}
        with blamed_on(path="markdown"):
            write_whole(markdown, page(listed, missing, EXCLUDED, exemptions()).encode())
    rows = list(_rows(asked, known))
    output.show({"modules": rows}, lambda console: _print_rows(console, rows))


def _rows(asked: Sequence[Mutated], known: dict[str, records.Recorded]) -> Iterator[dict[str, object]]:
    for mutated in asked:
        found = known.get(mutated.module)
        row: dict[str, object] = {"module": mutated.module}
        row |= {"standing": standing(mutated, found).value, "mutants": _count(mutated)}
        if found is not None:
            exempted, survived = found.split(mutated.module)
            killed = found.mutants - found.timed_out - exempted - survived
            row |= {"killed": killed, "timed_out": found.timed_out, "exempted": exempted, "survived": survived}
            row["source"] = found.source
        yield row


def _print_rows(console: Console, rows: Sequence[dict[str, object]]) -> None:
    columns = ("module", "standing", "mutants", "killed", "timed_out", "exempted", "survived", "source")
    shown = Table(box=None)
    for column in columns:
        shown.add_column(column.replace("_", " "), overflow="fold")
    for row in rows:
        shown.add_row(*(str(row.get(column, "")) for column in columns))
    console.print(shown)


def _count(mutated: Mutated, most: int | None = None) -> int:
    found = sum(1 for _ in mutated.plantings())
    return found if most is None else min(found, most)


@contextmanager
def _bar(output: Output, total: int | None) -> Iterator[tuple[Progress, TaskID]]:
    """A bar of so many mutants on a terminal."""
    terminal = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(
        *columns, console=terminal, transient=True, disable=output.as_json or not terminal.is_terminal
    ) as bar:
        yield bar, bar.add_task("mutants", total=total)


def _tell(found: Score, output: Output) -> None:
    output.show(found.as_json(), lambda console: _print(console, found))
    if not found.passed:
        output.fail()


def _print(console: Console, found: Score) -> None:
    table = Table(box=None)
    for heading in ("", "module", "mutants", *(fate.value for fate in _COLUMNS)):
        table.add_column(heading, justify="left" if heading in ("", "module") else "right", overflow="fold")
    for module in found.modules:
        counts = [found.count(fate, module) for fate in Fate]
        passed = not (found.count(Fate.SURVIVED, module) or found.count(Fate.KILLED_THOUGH_EXEMPTED, module))
        mark = "[green]✓[/green]" if passed else "[red]✗[/red]"
        table.add_row(mark, module, str(sum(counts)), *(str(found.count(fate, module)) for fate in _COLUMNS))
    console.print(table)
    for verdict in found.survivors:
        console.print(f"survived: {verdict.mutant}", markup=False, soft_wrap=True)
    for verdict in found.stale:
        console.print(f"exempted, and killed by {verdict.by}: {verdict.mutant}", markup=False, soft_wrap=True)
    for file in found.unfit:
        console.print(f"takes too long to be a guard: {file}", markup=False, soft_wrap=True)
    for stray in found.strays:
        console.print(
            f"an exemption fits no mutant: {stray.module} {stray.place}, {stray.operator}: "
            f"{stray.before}  →  {stray.after}",
            markup=False,
            soft_wrap=True,
        )
    share = "none judged" if found.noticed is None else f"{found.noticed:.1%}"
    drawn = "all" if found.seed is None else f"seed {found.seed}"
    console.print(f"\nscore {share}: {len(found.verdicts)} of {found.population} mutants run ({drawn})")
