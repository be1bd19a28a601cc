"""`certdp verify`: run the claims, print the witnesses and write the reports."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from attrs import evolve, frozen
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..accounting.errors import blamed_on
from ..durable.files import Rank, published, writing
from ..plugins.contract import Claim
from ..plugins.forks import can_fork
from ..plugins.registry import Registry, Role, Status
from ..verification.reports.foreign_words import harmless
from ..verification.running.runner import Report, Result, select
from ..verification.running.runner import run as run_claims
from .absent_claims import absent_as_json, mentioning, unusable
from .output import Output
from .outputs import check_places
from .verify_table import print_report, say

TIMEOUT = 600.0
"""Seconds that a claim may take where nothing else is asked for."""

_Writer: TypeAlias = Callable[[Report, Sequence[Status]], bytes]


@frozen(kw_only=True)
class Request:
    """What `verify` was asked for."""

    only: Sequence[str]
    examples: int
    seed: int
    timeout: float | None
    jobs: int
    html: Path | None
    junit: Path | None
    third_party: bool
    allow: list[str] | None

    @property
    def command(self) -> str:
        """What repeats the run."""
        words = ["certdp", "verify"]
        for glob in self.only:
            words += ["--only", glob]
        words += ["--seed", str(self.seed), "--examples", str(self.examples)]
        if self.timeout is not None:
            words += ["--timeout", f"{self.timeout:g}"]
        if not self.third_party:
            words.append("--no-third-party")
        for name in self.allow or ():
            words += ["--allow", name]
        return shlex.join(words)


def run(request: Request, output: Output) -> None:
    """Run the claims that match, and fail where one fails or a claims plugin cannot be used."""
    places = {"html": request.html, "junit": request.junit}
    check_places(None, places)
    writers = _writers(request)
    registry = Registry(third_party=request.third_party, allow=request.allow)
    claims, problems = registry.claims()
    with mentioning(problems):
        chosen = select(claims, *request.only)
    written = {name: path for name, path in places.items() if path is not None}
    with published() as files:  # open before the run, so that what cannot be written is refused now
        streams = {name: files.stream(path, Rank.RELEASE, parameter=name) for name, path in written.items()}
        report = checked(request, chosen, output)
        report = evolve(report, versions={**report.versions, **_third_parties(registry, problems)})
        for name, write in writers.items():
            content = write(report, problems)
            with blamed_on(path=name), writing(written[name]):
                streams[name].write(content)
    told = {name: str(path) for name, path in written.items()}
    output.show(
        {**report.as_json(), **absent_as_json(problems), **told},
        lambda console: print_report(console, report, problems, told),
    )
    if not report.passed or unusable(problems):
        output.fail()


def _writers(request: Request) -> Mapping[str, _Writer]:
    """What makes each file that is asked for, by its option; what it needs is known to be installed."""
    writers: dict[str, _Writer] = {}
    if request.html is not None:
        from ..plots.claims import drawings, require_plots
        from ..verification.reports.page import page, require_pages

        require_pages()
        require_plots()
        writers["html"] = lambda report, problems: page(report, problems, drawings(report), request.command)
    if request.junit is not None:
        from ..verification.reports.junit import junit

        writers["junit"] = junit
    return writers


def checked(request: Request, claims: Sequence[Claim], output: Output) -> Report:
    """Check claims as asked for, with a progress bar where someone watches."""
    timeout = request.timeout
    if timeout is None and can_fork():
        timeout = TIMEOUT
    with _watching(len(claims), output) as (tick, progress):
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
    total: int, output: Output
) -> Iterator[tuple[Callable[[Sequence[Claim]], None], Callable[[Result], None]]]:
    """A progress bar where someone watches. It has no thread of its own, because processes are forked beside it."""
    terminal = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("claims"),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    hidden = output.as_json or not terminal.is_terminal
    with Progress(*columns, console=terminal, transient=True, auto_refresh=False, disable=hidden) as bar:
        task = bar.add_task("", total=total)

        def tick(running: Sequence[Claim]) -> None:
            bar.update(task, description=harmless(", ".join(claim.id for claim in running)), refresh=True)

        def progress(result: Result) -> None:
            bar.advance(task)
            if not result.passed and not hidden:
                say(bar.console, f"{result.claim.id}: {result.outcome.value}")

        yield tick, progress


def _third_parties(registry: Registry, problems: Sequence[Status]) -> dict[str, str]:
    """The versions of other distributions whose claims took part."""
    absent = {problem.listing for problem in problems}
    found = [listing for listing in registry.listings(Role.CLAIMS) if not listing.built_in and listing not in absent]
    return {listing.distribution: listing.version for listing in found}
