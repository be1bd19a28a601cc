"""`certdp dpis train`: train a classifier on a file within a budget, and write what may be published apart from what
may not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from attrs import frozen

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
from ...dpis.run_account import open_account
from ...durable.files import Publication, Rank, clear_abandoned, made_folder, published
from ...durable.interruption import Stop, stopped_by_signals
from ...plugins.contract import Coins
from ..answering import application
from ..options import AnySeed, Array, Certificate, Data, DivideBy, Epsilon, Output, refuse_unused
from ..output import Terminal
from ..outputs import check_places
from ..run_certificates import write_certified
from .models import Classifier, ModelRequest
from .options import (
    Batch,
    Clip,
    Delta,
    Divider,
    Epochs,
    LargestRate,
    Margin,
    NormNoise,
    NormRate,
    Order,
    Records,
    SizeNoise,
    StepsPerEpoch,
)
from .progress import progress_of
from .run import AdaptiveRequest, RunRequest, options_of
from .trained import OwnersFigures, Statement, TrainedModel

_INTERRUPTED = 130
_PRIVATE = "private-"  # begins the names of what is for the data's owner alone
_MOMENTUM = 0.5


@frozen(kw_only=True)
class OptimiserRequest:
    """What the command says about the optimiser."""

    name: str
    rate: float
    momentum: float | None

    def options(self) -> OptimiserOptions:
        """The optimiser asked for.

        Raises:
            InvalidValue: for an unknown one, numbers out of their ranges, and a momentum that it does not have.
        """
        match self.name:
            case "sgd":
                with blamed_on(rate="learning-rate"):
                    return Sgd(rate=self.rate, momentum=self._momentum)
            case "adam":
                refuse_unused({"momentum": self.momentum}, "for --optimiser adam")
                with blamed_on(rate="learning-rate"):
                    return Adam(rate=self.rate)
            case _:
                raise InvalidValue("optimiser", self.name, "sgd or adam", "Choose one, or train from Python")

    @property
    def stated(self) -> dict[str, str]:
        """What to state for it."""
        of_sgd = {"momentum": str(self._momentum)} if self.name == "sgd" else {}
        return {"optimiser": self.name, "learning-rate": str(self.rate), **of_sgd}

    @property
    def _momentum(self) -> float:
        return _MOMENTUM if self.momentum is None else self.momentum


@frozen(kw_only=True)
class _Request:
    """What the command asks: where a run reads and writes, and whether it goes on."""

    data: Path
    seed: int | None
    output: Path
    certificate: Path | None
    resume: bool


def train(
    data: Data,
    target: Annotated[str, typer.Option(metavar="NAME", help="Array or column of the labels, numbered from 0.")],
    model: Annotated[
        str, typer.Option(metavar="logistic|mlp|cnn|lstm", help="What to train; cnn and lstm need PyTorch.")
    ],
    classes: Annotated[int, typer.Option(metavar="N", min=2, help="Number of classes; public.")],
    records: Records,
    batch: Batch,
    epochs: Epochs,
    epsilon: Epsilon,
    delta: Delta,
    output: Output,
    terminal: Terminal,
    array: Array = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE|NAME", help="Test records: a file, a column of flags, or an array of features."),
    ] = None,
    test_target: Annotated[
        str | None, typer.Option(metavar="NAME", help="Array of their labels; by default test for train in --target.")
    ] = None,
    divide_by: DivideBy = "1",
    uniform: Annotated[bool, typer.Option("--uniform", help="DP-SGD: every record with probability b/N.")] = False,
    steps_per_epoch: StepsPerEpoch = None,
    clip: Clip = "1",
    clip_quantile: Annotated[
        str | None, typer.Option(metavar="L", help="λ: after each epoch C becomes λ times the mean norm (Section 3.5).")
    ] = None,
    clip_interval: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH", help="Public interval in which C stays as it adapts.")
    ] = None,
    clip_external: Annotated[
        str | None, typer.Option(metavar="C*", help="Bound on norms where C adapts; by default HIGH.")
    ] = None,
    clip_noise: Annotated[
        str | None, typer.Option(metavar="K", help="Its noise multiplier, over C*; by default --norm-noise.")
    ] = None,
    size_noise: SizeNoise = None,
    norm_noise: NormNoise = None,
    norm_rate: NormRate = None,
    margin: Margin = None,
    divider: Divider = None,
    noise_decay: Annotated[
        str | None, typer.Option(metavar="K", help="Let the noise multiplier fall by this factor an epoch; in (0, 1].")
    ] = None,
    order: Order = None,
    largest_rate: LargestRate = None,
    multiplier: Annotated[
        str | None,
        typer.Option(metavar="K", help="k ≥ 1: how far a norm may grow within an epoch unclipped; by default 5."),
    ] = None,
    floor: Annotated[
        str | None, typer.Option(metavar="G", help="g_L/C in (0, 1]: where bounds on norms start; by default 0.01.")
    ] = None,
    hidden: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Hidden units: by default 64 of an mlp, 32 of an lstm.")
    ] = None,
    activation: Annotated[
        str | None,
        typer.Option(
            metavar="relu|tanh|tempered-sigmoid", help="What hidden units do: by default tanh, in an lstm relu."
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="scattering", help="Train on fixed features of images, which cost no budget."),
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(metavar="[CHANNELSx]HEIGHTxWIDTH", help="Shape of images in rows; by default grey and square."),
    ] = None,
    words: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Words of an lstm are numbered 1 to N, 0 is none; public.")
    ] = None,
    width: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Entries of the fixed word vectors; by default 100.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="cpu|cuda", help="Where PyTorch computes; by default on the CPU.")
    ] = None,
    optimiser: Annotated[str, typer.Option(metavar="sgd|adam", help="The optimiser.")] = "sgd",
    learning_rate: Annotated[float, typer.Option(metavar="R", help="Learning rate.")] = 0.5,
    momentum: Annotated[
        float | None, typer.Option(metavar="M", help="Momentum of sgd, in [0, 1); by default 0.5.")
    ] = None,
    checkpoint_every: Annotated[
        int, typer.Option(metavar="STEPS", min=1, help="A killed run loses at most as many steps.")
    ] = 100,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --output.")] = False,
    seed: AnySeed = None,
    certificate: Certificate = None,
) -> TrainedModel:
    """Train a classifier by DPIS or DP-SGD within (ε, δ) per record.

    The model, its history and what is the data owner's alone are written to --output, a new folder.
    """
    reading = LabelledReading(
        target=target,
        array=array,
        test=test,
        test_target=test_target,
        divide_by=float(exact(divide_by, parameter="divide-by")),
    )
    run = RunRequest(
        records=records,
        batch=batch,
        epochs=epochs,
        epsilon=epsilon,
        delta=delta,
        steps_per_epoch=steps_per_epoch,
        clip=clip,
        size_noise=size_noise,
        norm_noise=norm_noise,
        norm_rate=norm_rate,
        margin=margin,
        divider=divider,
        order=order,
        largest_rate=largest_rate,
        uniform=uniform,
        adaptive=AdaptiveRequest(
            quantile=clip_quantile, interval=clip_interval, external=clip_external, noise=clip_noise
        ),
        decay=noise_decay,
        multiplier=multiplier,
        floor=floor,
    )
    stated_model = ModelRequest(
        model=model,
        classes=classes,
        hidden=hidden,
        activation=activation,
        features=features,
        image=image,
        words=words,
        width=width,
        device=device,
    )
    stated_optimiser = OptimiserRequest(name=optimiser, rate=learning_rate, momentum=momentum)
    asked = _Request(data=data, seed=seed, output=output, certificate=certificate, resume=resume)
    plan, proposals, options = run.plan(), run.proposals(), stated_optimiser.options()
    stated_model.check()
    coins = Coins() if seed is None else Coins.seeded(seed)
    checkpoints = Checkpoints(path=output / f"{_PRIVATE}checkpoint.npz", every=checkpoint_every)
    _check_folder(asked, checkpoints)
    with blamed_on(checkpoints="output"):
        _check_certificate(asked, checkpoints)
    open_account(plan)  # a budget that is exceeded shows before anything is read
    with blamed_on(divide_by="divide-by"):
        with blamed_on(features="data", labels="target"):
            split = read_labelled(data, reading)
        classifier = stated_model.classifier(split, options, coins)
    _make_folder(output)
    with (
        stopped_by_signals() as stop,
        _reporting_progress_when_stopped(checkpoints, plan),
        progress_of(plan.epochs * plan.steps_per_epoch, terminal) as progress,
        blamed_on(state="resume", proposals="resume", checkpoints="output"),
    ):
        begin = resumed if resume else begun
        result = begin(
            classifier.records,
            plan,
            checkpoints=checkpoints,
            proposals=proposals,
            coins=coins,
            progress=_stopping(progress, stop),
        )
    of_dpis = {"multiplier": str(proposals.multiplier), "floor": str(proposals.floor)}
    statement = Statement(
        plan=plan,
        model=stated_model.model,
        features=stated_model.features,
        result=result,
        options={
            **options_of(plan),
            **(of_dpis if plan.norm_sums is not None else {}),
            **stated_model.stated,
            **stated_optimiser.stated,
            "divide-by": str(reading.divide_by),
        },
    )
    owners = OwnersFigures.of(seed, split, classifier, result)
    with published() as files:
        _write(files, output, statement, owners, classifier)
        certified = write_certified(files, certificate, result.certificate)
    return TrainedModel(statement=statement, owners=owners, certificate=certificate, certified=certified)


def _check_folder(request: _Request, checkpoints: Checkpoints) -> None:
    """Before anything is read; nothing is made yet."""
    out = request.output
    clear_abandoned(out)
    if request.resume and not checkpoints.begun:
        raise InvalidValue("output", str(out), "the folder of a run, for --resume", "Begin it without --resume")
    if not request.resume and out.is_dir() and any(path.name != checkpoints.lock.name for path in out.iterdir()):
        remedy = "Or go on with its run: --resume" if checkpoints.begun else "Name another one"
        raise InvalidValue("output", str(out), "a new or empty folder", remedy)
    if not out.parent.is_dir():
        raise InvalidValue("output", str(out), "a new folder in an existing one", f"Make {out.parent}")


def _check_certificate(request: _Request, checkpoints: Checkpoints) -> None:
    """Before anything is read; a place in the run's own folder is one that can be written."""
    if request.certificate is None:
        return
    if request.seed is not None:
        remedy = "Train without a seed, or leave the certificate out"
        raise InvalidValue("certificate", str(request.certificate), "nothing for a run with --seed", remedy)
    if request.resume and not checkpoints.read().is_private:
        admissible = "nothing for a run of which a part was seeded"
        raise InvalidValue("certificate", str(request.certificate), admissible, "Leave it out, or begin anew")
    if request.certificate.parent.resolve() != request.output.resolve():
        check_places(request.data, {"certificate": request.certificate})


def _make_folder(output: Path) -> None:
    try:
        made_folder(output)
    except OSError as error:
        raise InvalidValue("output", str(output), "a new folder in an existing one", str(error)) from None


def _stopping(progress: Progress | None, stop: Stop) -> Progress:
    """Ends a run between two steps, where nothing that was paid is lost."""

    def step_done(report: Report) -> None:
        if progress is not None:
            progress(report)
        if stop.asked is not None:
            raise KeyboardInterrupt

    return step_done


@contextmanager
def _reporting_progress_when_stopped(checkpoints: Checkpoints, plan: RunPlan) -> Iterator[None]:
    """Whoever interrupts a run is told how far it is, and how it goes on."""
    try:
        yield
    except KeyboardInterrupt:
        if not checkpoints.begun:
            raise
        epochs, where = checkpoints.read().history.epochs, "before its first step"
        if epochs:
            last = epochs[-1]
            where = f"in epoch {last.epoch + 1} of {plan.epochs}, {last.steps} of {plan.steps_per_epoch} steps taken"
            where += f", ε ≤ {last.epsilon:.6g} paid"
        typer.echo(f"interrupted {where}; the same command with --resume goes on from there", err=True)
        raise typer.Exit(_INTERRUPTED) from None


def _write(
    files: Publication,
    out: Path,
    statement: Statement,
    owners: OwnersFigures,
    model: Classifier,
) -> None:
    result = statement.result
    stream, arrays = io.BytesIO(), dict[str, Any](model.parameters())
    np.savez(stream, **arrays)
    released = {
        "model.npz": (stream.getvalue(), Rank.RELEASE),
        "run.json": (_json(statement.as_json()), Rank.STATEMENT),
        "history.csv": (_table(result.history.columns()), Rank.STATEMENT),
    }
    pictures: dict[str, bytes] = {}
    with suppress(InvalidValue):  # without matplotlib the tables say the same
        released["history.png"] = (plot_history(result.history), Rank.STATEMENT)
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
