"""`certdp reproduce`: a figure or table of a paper, on the data given or on what stands in for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..accounting.errors import InvalidValue
from ..data import Reading
from ..experiments.catalogue import experiment_named
from ..experiments.experiment import Asked
from ..experiments.findings import Advance
from ..mechanisms.lloyd import Split
from .output import Output


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    experiment: str
    data: Path | None
    reading: Reading
    repetitions: int | None
    sizes: tuple[int, ...]
    epsilons: tuple[str, ...]
    split: str
    seed: int
    out: Path | None


def run(request: Request, output: Output) -> None:
    """Compute, write, print."""
    experiment = experiment_named(request.experiment)
    if request.out is not None and not request.out.absolute().parent.is_dir():
        raise InvalidValue("out", str(request.out), "a folder, or a new name in an existing one", "Create its parent")
    prepared = experiment.prepare(
        Asked(
            name=request.experiment,
            data=request.data,
            reading=request.reading,
            repetitions=request.repetitions,
            sizes=request.sizes,
            epsilons=request.epsilons,
            split=Split.named(request.split),
            seed=request.seed,
            out=request.out,
        )
    )
    with _progress(request.experiment, output) as advance:
        findings = prepared.compute(advance)
    written = [] if request.out is None else findings.write(request.out, secret=request.data is not None)
    result = {
        "experiment": request.experiment,
        "shows": experiment.shows,
        "source": prepared.source,
        "notice": prepared.notice,
        **prepared.settings,
        **findings.summary,
        "files": [str(path) for path in written],
    }

    def for_people(console: Console) -> None:
        import json

        shown = {key: value for key, value in result.items() if key not in ("experiment", "shows")}
        console.print(f"[bold]{request.experiment}[/bold]: {experiment.shows}")
        console.print(json.dumps(shown, indent=2, ensure_ascii=False), markup=False, soft_wrap=True)

    output.show(result, for_people)


@contextmanager
def _progress(name: str, output: Output) -> Iterator[Advance]:
    """A progress bar where someone watches."""
    terminal = Console(stderr=True)
    if output.as_json or not terminal.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn(name), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        yield lambda share: bar.update(task, completed=share)
