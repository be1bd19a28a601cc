"""`certdp mutants`: plant faults in the formulas, and tell which of them the verification suite did not notice."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..verification.mutation.score import Fate, Score
from ..verification.mutation.scoring import population, score
from .output import Output

_COLUMNS = (Fate.KILLED, Fate.TIMED_OUT, Fate.EXEMPTED, Fate.SURVIVED)


def run(only: Sequence[str], sample: int | None, seed: int, output: Output) -> None:
    """Run the mutants of the modules that match, and fail where one survives or an exemption is stale."""
    terminal = Console(stderr=True)
    every = len(population(*only))
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(
        *columns, console=terminal, transient=True, disable=output.as_json or not terminal.is_terminal
    ) as bar:
        task = bar.add_task("mutants", total=every if sample is None else min(sample, every))
        found = score(*only, sample=sample, seed=seed, progress=lambda _: bar.advance(task))
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
