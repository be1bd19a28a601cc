"""`certdp dpis train`: train a classifier on a file within a budget, and write what may be published apart from what
may not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import frozen

from ...accounting.display import rounded_up
from ...accounting.errors import InvalidValue, blamed_on
from ...accounting.exact import exact
from ...dpis.budget import RunPlan
from ...dpis.checkpoints import Checkpoints
from ...dpis.engine import Progress, Report
from ...dpis.engine import resume as resumed
from ...dpis.engine import train as begun
from ...dpis.models.files import LabelledReading, read_labelled
from ...dpis.optimisers import Adam, OptimiserOptions, Sgd
from ...dpis.pictures import plot_history, plot_steps
from ...dpis.plan_options import options_of
from ...dpis.run_account import open_account
from ...durable.files import Publication, Rank, clear_abandoned, made_folder, published
from ...durable.interruption import Stop, stopped_by_signals
from ...plugins.contract import Coins
from ..answer import Answer
from ..answering import application
from ..options import AnySeed, Array, Certificate, Data, DivideBy, Output, refuse_unused
from ..output import Terminal
from ..outputs import check_places
from ..paying import LedgerOptions, Payer, among
from ..run_certificates import write_certified
from .models import ModelRequest
from .progress import progress_of
from .run import TrainingRequest
from .trained import OwnersFigures, Statement, TrainedModel

_INTERRUPTED = 130
_EVERY = 100
_PRIVATE = "private-"  # begins the names of what is for the data's owner alone
_RELEASED = ("model.npz", "run.json", "history.csv")
_PICTURE = "history.png"  # released too where matplotlib is installed
_MOMENTUM = 0.5


@frozen(kw_only=True)
class DataRequest:
    """Where the labelled records are."""

    data: Data
    target: Annotated[str, typer.Option(metavar="NAME", help="Array or column of the labels, numbered from 0.")]
    array: Array = None
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="Test records: a file, a column of flags, or an array of features."),
    ] = None
    test_target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Array of their labels; by default test for train in --target.")
    ] = None
    divide_by: DivideBy = "1"

    @property
    def reading(self) -> LabelledReading:
        """How they are read.

        Raises:
            InvalidValue: for a divider that is no number.
        """
        return LabelledReading(
            target=self.target,
            array=self.array,
            test=self.test,
            test_target=self.test_target,
            divide_by=float(exact(self.divide_by, parameter="divide-by")),
        )


@frozen(kw_only=True)
class OptimiserRequest:
    """What the command is told of the optimiser."""

    optimiser: Annotated[str, typer.Option(metavar="sgd|adam", help="The optimiser.")] = "sgd"
    learning_rate: Annotated[float, typer.Option(metavar="R", help="Learning rate.")] = 0.5
    momentum: Annotated[float | None, typer.Option(metavar="M", help="Momentum of sgd, in [0, 1); by default 0.5.")] = (
        None
    )

    def options(self) -> OptimiserOptions:
        """The optimiser asked for.

        Raises:
            InvalidValue: for an unknown one, numbers out of their ranges, and a momentum that it does not have.
        """
        match self.optimiser:
            case "sgd":
                with blamed_on(rate="learning-rate"):
                    return Sgd(rate=self.learning_rate, momentum=self._momentum)
            case "adam":
                refuse_unused({"momentum": self.momentum}, "for --optimiser adam")
                with blamed_on(rate="learning-rate"):
                    return Adam(rate=self.learning_rate)
            case _:
                raise InvalidValue("optimiser", self.optimiser, "sgd or adam", "Choose one, or train from Python")

    @property
    def stated(self) -> dict[str, str]:
        """What to state for it."""
        of_sgd = {"momentum": str(self._momentum)} if self.optimiser == "sgd" else {}
        return {"optimiser": self.optimiser, "learning-rate": str(self.learning_rate), **of_sgd}

    @property
    def _momentum(self) -> float:
        return _MOMENTUM if self.momentum is None else self.momentum


@frozen(kw_only=True)
class FolderRequest:
    """Where a run writes, and whether it goes on."""

    output: Output
    checkpoint_every: Annotated[
        int | None,
        typer.Option(metavar="STEPS", min=1, help="A killed run loses at most so many steps; by default 100."),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --output.")] = False
    seed: AnySeed = None
    certificate: Certificate = None

    @property
    def coins(self) -> Coins:
        """The operating system's, or seeded ones."""
        return Coins() if self.seed is None else Coins.seeded(self.seed)

    @property
    def checkpoints(self) -> Checkpoints:
        """Where the run writes down how far it is."""
        return Checkpoints(
            path=self.output / f"{_PRIVATE}checkpoint.npz",
            every=_EVERY if self.checkpoint_every is None else self.checkpoint_every,
        )

    def check_paid(self) -> None:
        """Before anything is read, of a run that a ledger pays.

        Raises:
            InvalidValue: for what is about going on: such a run is not resumed.
        """
        stated = {"resume": self.resume or None, "checkpoint-every": self.checkpoint_every}
        remedy = "Leave it out: a run that a ledger pays is not resumed. Interrupted, it stays paid and is lost"
        refuse_unused(stated, "with --ledger", remedy)

    def check(self) -> None:
        """Before anything is read; nothing is made yet.

        Raises:
            InvalidValue: for a folder that the run cannot begin, or go on, in.
        """
        out, checkpoints = self.output, self.checkpoints
        clear_abandoned(out)
        if self.resume and not checkpoints.begun:
            raise InvalidValue("output", str(out), "the folder of a run, for --resume", "Begin it without --resume")
        if not self.resume and out.is_dir() and any(path.name != checkpoints.lock.name for path in out.iterdir()):
            remedy = "Or go on with its run: --resume" if checkpoints.begun else "Name another one"
            raise InvalidValue("output", str(out), "a new or empty folder", remedy)
        if not out.parent.is_dir():
            raise InvalidValue("output", str(out), "a new folder in an existing one", f"Make {out.parent}")

    def check_certificate(self, data: Path) -> None:
        """Before anything is read; a place in the run's own folder is one that can be written.

        Raises:
            InvalidValue: for a run with seeded coins, a place that cannot be written, and the name of one of its files.
        """
        if self.certificate is None:
            return
        if self.seed is not None:
            remedy = "Train without a seed, or leave the certificate out"
            raise InvalidValue("certificate", str(self.certificate), "nothing for a run with --seed", remedy)
        if self.resume and not self.checkpoints.read().is_private:
            admissible = "nothing for a run of which a part was seeded"
            raise InvalidValue("certificate", str(self.certificate), admissible, "Leave it out, or begin anew")
        if self.certificate.parent.resolve() != self.output.resolve():
            check_places(data, {"certificate": self.certificate})
        elif self.certificate.name in (*_RELEASED, _PICTURE) or self.certificate.name.startswith(_PRIVATE):
            admissible = f"a name that no file of the run has: {', '.join((*_RELEASED, _PICTURE))}, {_PRIVATE}…"
            raise InvalidValue("certificate", str(self.certificate), admissible, "Choose another name")


def train(
    data: DataRequest,
    model: ModelRequest,
    run: TrainingRequest,
    optimiser: OptimiserRequest,
    folder: FolderRequest,
    terminal: Terminal,
    paid_from: LedgerOptions,
) -> Answer:
    """Train a classifier by DPIS or DP-SGD within (ε, δ) per record.

    The model, its history and what is the data owner's alone are written to --output, a new folder.
    """

    def trained(payer: Payer) -> TrainedModel:
        reading, plan, proposals, options = data.reading, run.plan(), run.proposals(), optimiser.options()
        model.check()
        coins = folder.coins
        checkpoints = folder.checkpoints if payer.request is None else None
        if payer.request is not None:
            folder.check_paid()
        if not payer.is_done:
            folder.check()
        with blamed_on(checkpoints="output"):
            folder.check_certificate(data.data)
        open_account(plan)  # a budget that is exceeded shows before anything is read
        with blamed_on(divide_by="divide-by"):
            with blamed_on(features="data", labels="target"):
                split = read_labelled(data.data, reading)
            classifier = model.classifier(split, options, coins)
        _make_folder(folder.output)
        with (
            stopped_by_signals() as stop,
            _reporting_progress_when_stopped(checkpoints, plan),
            progress_of(plan.epochs * plan.steps_per_epoch, terminal) as progress,
            blamed_on(state="resume", proposals="resume", checkpoints="output"),
        ):
            begin = partial(begun, checkpoints=checkpoints, ledger=payer.request)
            if folder.resume and checkpoints is not None:
                begin = partial(resumed, checkpoints=checkpoints)
            result = begin(
                classifier.records,
                plan,
                proposals=proposals,
                coins=coins,
                progress=_stopping(progress, stop),
            )
        of_dpis = {"multiplier": str(proposals.multiplier), "floor": str(proposals.floor)}
        statement = Statement(
            plan=plan,
            model=model.model,
            features=model.features,
            result=result,
            options={
                **options_of(plan),
                **(of_dpis if plan.norm_sums is not None else {}),
                **model.stated,
                **optimiser.stated,
                "divide-by": str(reading.divide_by),
            },
        )
        owners = OwnersFigures.of(folder.seed, split, classifier, result)
        with published() as files:
            _write(files, folder.output, statement, owners)
            certified = write_certified(files, folder.certificate, result.certificate, released=True)
            payer.hand_in(files)
        return TrainedModel(statement=statement, owners=owners, certificate=folder.certificate, certified=certified)

    written = [*_RELEASED, *([_PICTURE] if (folder.output / _PICTURE).exists() else [])]
    return paid_from.released(trained, among([*(folder.output / name for name in written), folder.certificate]))


def _make_folder(output: Path) -> None:
    try:
        made_folder(output)
    except OSError as error:
        raise InvalidValue("output", str(output), "a new folder in an existing one", str(error)) from None


def _stopping(progress: Progress | None, stop: Stop) -> Progress:
    """Ends a run between two steps, where nothing that was paid without a ledger is lost."""

    def step_done(report: Report) -> None:
        if progress is not None:
            progress(report)
        if stop.asked is not None:
            raise KeyboardInterrupt

    return step_done


@contextmanager
def _reporting_progress_when_stopped(checkpoints: Checkpoints | None, plan: RunPlan) -> Iterator[None]:
    """Whoever interrupts a run is told how far it is, and how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoints is None:
            typer.echo("interrupted: what the ledger paid stays paid, and the run is lost", err=True)
            raise typer.Exit(_INTERRUPTED) from None
        if not checkpoints.begun:
            raise
        epochs, where = checkpoints.read().history.epochs, "before its first step"
        if epochs:
            last = epochs[-1]
            where = f"in epoch {last.epoch + 1} of {plan.epochs}, {last.steps} of {plan.steps_per_epoch} steps taken"
            where += f", ε ≤ {rounded_up(last.epsilon, 6)} paid"
        typer.echo(f"interrupted {where}; the same command with --resume goes on from there", err=True)
        raise typer.Exit(_INTERRUPTED) from None


def _write(files: Publication, out: Path, statement: Statement, owners: OwnersFigures) -> None:
    result = statement.result
    model, run, history = _RELEASED
    released = {
        model: (result.content, Rank.RELEASE),
        run: (_json(statement.as_json()), Rank.STATEMENT),
        history: (_table(result.history.columns()), Rank.STATEMENT),
    }
    pictures: dict[str, bytes] = {}
    with suppress(InvalidValue):  # without matplotlib the tables say the same
        released[_PICTURE] = (plot_history(result.history), Rank.STATEMENT)
        pictures["steps.png"] = plot_steps(result.history).reveal()
    for name, (content, rank) in released.items():
        files.write(out / name, content, rank, secret=not result.is_private)
    private = {
        "figures.json": _json(owners.as_json()),
        "steps.csv": _table(result.history.private_columns().reveal()),
        **pictures,
    }
    for name, content in private.items():
        files.write(out / f"{_PRIVATE}{name}", content, Rank.RECORD, secret=True)


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False).encode()


def _table(columns: Mapping[str, list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


command = application(train, about_data=True)
