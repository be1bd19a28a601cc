"""Claims that are run as `certdp verify` is asked to, with a progress bar where someone watches."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..plugins.contract import Claim
from ..plugins.forks import can_fork
from ..verification.reports.foreign_words import harmless
from ..verification.running.runner import Report, Result
from ..verification.running.runner import run as run_claims
from .options import Examples, Jobs, Only, Seed, Timeout
from .output import Terminal
from .page import Page
from .requests import Admission

TIMEOUT = 600.0
"""Seconds that a claim may take where nothing else is asked for."""


@frozen(kw_only=True)
class Request:
    """What `verify` is asked."""

    only: Only = None
    examples: Examples = 100
    seed: Seed = 0
    timeout: Timeout = None
    jobs: Jobs = 1
    admission: Admission

    @property
    def globs(self) -> Sequence[str]:
        """Which claims, by name."""
        return self.only or ()

    @property
    def command(self) -> str:
        """What repeats the run."""
        words = ["certdp", "verify"]
        for glob in self.globs:
            words += ["--only", glob]
        words += ["--seed", str(self.seed), "--examples", str(self.examples)]
        if self.timeout is not None:
            words += ["--timeout", f"{self.timeout:g}"]
        if not self.admission.third_party:
            words.append("--no-third-party")
        for name in self.admission.allow or ():
            words += ["--allow", name]
        return shlex.join(words)


def checked(request: Request, claims: Sequence[Claim], terminal: Terminal) -> Report:
    """Check claims as asked for, with a progress bar where someone watches."""
    timeout = request.timeout
    if timeout is None and can_fork():
        timeout = TIMEOUT
    with _watching(len(claims), terminal) as (tick, progress):
        return run_claims(
            claims,
            examples=request.examples,
            seed=request.seed,
            timeout=timeout,
            jobs=request.jobs,
            tick=tick,
            progress=progress,
        )


@contextmanager
def _watching(
    total: int, terminal: Terminal
) -> Iterator[tuple[Callable[[Sequence[Claim]], None], Callable[[Result], None]]]:
    """A progress bar where someone watches. It has no thread of its own, because processes are forked beside it."""
    console = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("claims"),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    hidden = terminal.as_json or not console.is_terminal
    with Progress(*columns, console=console, transient=True, auto_refresh=False, disable=hidden) as bar:
        task = bar.add_task("", total=total)

        def tick(running: Sequence[Claim]) -> None:
            bar.update(task, description=harmless(", ".join(claim.id for claim in running)), refresh=True)

        def progress(result: Result) -> None:
            bar.advance(task)
            if not result.passed and not hidden:
                Page(bar.console, terminal.page.numbers).print(harmless(f"{result.claim.id}: {result.outcome.value}"))

        yield tick, progress
