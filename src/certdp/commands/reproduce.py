"""`certdp reproduce`: a figure or table of a paper, on the data given or on what stands in for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

from ..accounting.errors import blamed_on
from ..data import Reading
from ..experiments.catalogue import experiment_named
from ..experiments.experiment import Experiment, ExperimentOptions, Prepared
from ..experiments.findings import Findings
from ..mechanisms.lloyd import Split
from .answer import Answer
from .answering import application
from .options import AnyData, AnyOutput, Array, DivideBy, Seed, Transpose
from .output import Terminal
from .outputs import check_folder
from .page import Page
from .progress import watched


@frozen(kw_only=True)
class Reproduced(Answer):
    """What an experiment comes to.

    Attributes:
        name: of the experiment.
        experiment: what it shows.
        prepared: on which data, and how.
        findings: its summary.
        written: the files with its pictures and tables.
    """

    name: str
    experiment: Experiment
    prepared: Prepared
    findings: Findings
    written: Sequence[Path]

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return {"experiment": self.name, "shows": self.experiment.shows, **self._rest}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.bold(self.name, f": {self.experiment.shows}", indent=0)
        page.copy(json.dumps(self._rest, indent=2, ensure_ascii=False))

    @property
    def _rest(self) -> dict[str, object]:
        return {
            "source": self.prepared.source,
            "notice": self.prepared.notice,
            **self.prepared.settings,
            **self.findings.summary,
            "files": [str(path) for path in self.written],
        }


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="is-fig1 to is-fig7, is-table1 to is-table3, pws-fig1 to pws-fig6, pws-order, dpis-fig1, dpis-paired, "
            "dpis-table3 to -table8, dpis-table3-cnn, dpis-table3-lstm.",
        ),
    ],
    terminal: Terminal,
    output: AnyOutput = None,
    data: AnyData = None,
    array: Array = None,
    transpose: Transpose = False,
    divide_by: DivideBy = "1",
    repetitions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs of each kind; else as many as in the paper.")
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(min=1, metavar="K", help="Expected sample size, else shares of n; repeatable.")
    ] = None,
    epsilon: Annotated[
        list[str] | None, typer.Option(metavar="E", help="ε of training runs, else those of the paper; repeatable.")
    ] = None,
    split: Annotated[
        str, typer.Option(metavar="published|derived", help="Rule for the noise of counts beside that of sums.")
    ] = "published",
    seed: Seed = 0,
) -> Reproduced:
    """A figure or table of a paper, on your data or on synthetic data in their place.

    Pictures, and the CSV behind them, are written to the folder of --output.
    """
    found = experiment_named(experiment)
    if output is not None:
        check_folder(output)
    asked = ExperimentOptions(
        name=experiment,
        data=data,
        reading=Reading(array=array, transpose=transpose, divide_by=divide_by),
        repetitions=repetitions,
        sizes=tuple(size or ()),
        epsilons=tuple(epsilon or ()),
        split=Split.named(split),
        seed=seed,
        out=output,
    )
    columns = TextColumn(experiment), BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeRemainingColumn()
    with blamed_on(out="output"):
        prepared = found.prepare(asked)
        with watched(terminal, 1.0, *columns) as bar:
            findings = prepared.compute((lambda _: None) if bar is None else bar.reach)
        written = [] if output is None else findings.write(output, owners=data is not None)
    return Reproduced(name=experiment, experiment=found, prepared=prepared, findings=findings, written=written)


command = application(reproduce, about_data=True)
