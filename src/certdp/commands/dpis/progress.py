"""How far a training run is: a bar where someone watches, a line for each epoch where nobody does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ...accounting.display import rounded_up
from ...dpis.engine import Progress as OnStep
from ...dpis.engine import Report
from ..output import Terminal


def progress_of(steps: int, terminal: Terminal) -> AbstractContextManager[OnStep | None]:
    """What a run of so many steps tells its progress to; on stderr, nothing beside JSON."""
    if terminal.as_json:
        return nullcontext()
    console = Console(stderr=True, highlight=False)
    return watched(console, steps) if console.is_terminal else _lines(console)


@contextmanager
def watched(console: Console, steps: int) -> Iterator[OnStep]:
    """A bar; what it says of single steps is for the data's owner, who watches."""
    parts = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=16), TimeRemainingColumn())
    with Progress(*parts, console=console, transient=True) as bar:
        task = bar.add_task("training", total=steps)

        def step_done(report: Report) -> None:
            done = report.epoch.epoch * report.steps_per_epoch + report.epoch.steps
            bar.update(task, completed=done, description=f"{_public(report)}\n{_private(report)}")

        yield step_done


@contextmanager
def _lines(console: Console) -> Iterator[OnStep]:
    """Public figures alone: logs are kept."""
    last: Report | None = None

    def step_done(report: Report) -> None:
        nonlocal last
        if last is not None and last.epoch.epoch != report.epoch.epoch:
            _line(console, last)
        last = report

    try:
        yield step_done
    finally:
        if last is not None:
            _line(console, last)


def _line(console: Console, report: Report) -> None:
    console.print(_public(report), markup=False, soft_wrap=True)


def _public(report: Report) -> str:
    epoch = report.epoch
    paid = rounded_up(epoch.epsilon, 4)
    return (
        f"epoch {epoch.epoch + 1} of {report.epochs}  ε ≤ {paid}  σ_G {epoch.noise_multiplier:.3f}  "
        f"K̃/C {epoch.norm_sum / epoch.clip:.5g}"
    )


def _private(report: Report) -> str:
    figures = report.private.reveal()
    return f"private: loss {figures.loss:.3f}, {figures.accepted} of {figures.proposed} records proposed"
