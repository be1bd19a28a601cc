"""A bar that says how far long work is, where someone watches: on stderr, at a terminal, and not beside JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TaskID, TextColumn, TimeRemainingColumn

from .output import Terminal


@frozen
class Bar:
    """Work that is being done."""

    _progress: Progress
    _task: TaskID

    def reach(self, done: float) -> None:
        """Show that so much is done."""
        self._progress.update(self._task, completed=done)

    def add(self, more: float) -> None:
        """Show that so much more is done."""
        self._progress.advance(self._task, more)


@contextmanager
def watched(terminal: Terminal, total: float | None, *columns: ProgressColumn) -> Iterator[Bar | None]:
    """A bar over so much work; None where nobody watches."""
    console = Console(stderr=True)
    if terminal.as_json or not console.is_terminal:
        yield None
        return
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress, progress.add_task("", total=total))


def counting(doing: str, what: str) -> tuple[ProgressColumn, ...]:
    """The columns of work that is counted."""
    done = TextColumn(f"{{task.completed:,}} {what}")
    return TextColumn(doing), BarColumn(), done, TimeRemainingColumn()
