"""`certdp reproduce`: a figure or table of a paper, on the data given or on synthetic data in their place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..accounting.errors import InvalidValue
from ..data import Reading, read_records, refuse_without_file
from ..experiments.catalogue import Experiment, experiment_named
from ..experiments.data_sets import DataSet, preprocess, stand_ins
from ..experiments.findings import Advance, Plan
from ..mechanisms.lloyd import Split
from .output import Output

_PRIVATE = (
    "computed from the records, with r, n and x̃ read from them and seeded coins: for the data's owner, not for "
    "publication"
)
_SYNTHETIC = "synthetic data with seeded coins: nobody's records"
_STAND_INS = "synthetic stand-ins with the paper's d, r and x̃ and a tenth of its n, for want of --data"
_OWN_DATA = "drawn by the experiment, as in the paper"


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    experiment: str
    data: Path | None
    reading: Reading
    repetitions: int | None
    sizes: tuple[int, ...]
    split: str
    seed: int
    out: Path | None


def run(request: Request, output: Output) -> None:
    """Compute, write, print."""
    experiment = experiment_named(request.experiment)
    if request.out is not None and not request.out.absolute().parent.is_dir():
        raise InvalidValue("out", str(request.out), "a folder, or a new name in an existing one", "Create its parent")
    plan = Plan(
        name=request.experiment,
        data=_data(request, experiment),
        repetitions=request.repetitions or experiment.repetitions,
        seed=request.seed,
        sizes=request.sizes,
        split=Split.named(request.split),
    )
    with _progress(request.experiment, output) as advance:
        findings = experiment.run(plan, advance)
    written = [] if request.out is None else findings.write(request.out, secret=request.data is not None)
    result = {
        "experiment": request.experiment,
        "shows": experiment.shows,
        "source": _source(request, experiment),
        "notice": _SYNTHETIC if request.data is None else _PRIVATE,
        "seed": request.seed,
        "repetitions": plan.repetitions,
        **findings.summary,
        "files": [str(path) for path in written],
    }

    def for_people(console: Console) -> None:
        import json

        shown = {key: value for key, value in result.items() if key not in ("experiment", "shows")}
        console.print(f"[bold]{request.experiment}[/bold]: {experiment.shows}")
        console.print(json.dumps(shown, indent=2, ensure_ascii=False), markup=False, soft_wrap=True)

    output.show(result, for_people)


def _source(request: Request, experiment: Experiment) -> str:
    if request.data is not None:
        return "the file given"
    return _STAND_INS if experiment.published else _OWN_DATA


def _data(request: Request, experiment: Experiment) -> tuple[DataSet, ...]:
    if request.data is None:
        refuse_without_file(request.reading)
        return stand_ins(experiment.published, request.seed)
    if not experiment.published:
        raise InvalidValue("data", str(request.data), f"nothing, for {request.experiment}", "It draws its own data")
    name = request.data.name.partition(".")[0]
    return (preprocess(read_records(request.data, request.reading), name).reveal(),)


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
