"""`certdp dpis train`: train a classifier on a file within a budget, and write what may be published apart from what
may not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import typer
from attrs import frozen
from rich.console import Console
from rich.table import Table

from ...accounting.errors import InvalidValue, blamed_on
from ...dpis.budget import RunPlan
from ...dpis.checkpoints import Checkpoints
from ...dpis.engine import Progress, Proposals, Report, Trained, resume, train
from ...dpis.models.files import LabelledReading, Split, read_labelled
from ...dpis.optimisers import Adam, OptimiserOptions, Sgd
from ...dpis.pictures import plot_history, plot_steps
from ...dpis.run_account import open_account
from ...durable.files import Publication, Rank, clear_abandoned, made_folder, published
from ...durable.interruption import Stop, stopped_by_signals
from ...plugins.contract import Coins
from ..options import refuse_unused
from ..output import Output
from ..outputs import check_places
from ..run_certificates import print_proven, write_certified
from .models import Classifier, ModelRequest
from .plan import theorems
from .progress import progress_of
from .run import RunRequest, options_of

_INTERRUPTED = 130
_SEEDED = "coins were seeded, noise can be undone: every file is for the data's owner, not for publication"
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
                return Sgd(rate=self.rate, momentum=self._momentum)
            case "adam":
                refuse_unused({"momentum": self.momentum}, "for --optimiser adam")
                return Adam(rate=self.rate)
            case _:
                raise InvalidValue("optimiser", self.name, "sgd or adam", "Choose one, or train from Python")

    @property
    def stated(self) -> dict[str, str]:
        """What to state for it."""
        of_sgd = {"momentum": str(self._momentum)} if self.name == "sgd" else {}
        return {"optimiser": self.name, "rate": str(self.rate), **of_sgd}

    @property
    def _momentum(self) -> float:
        return _MOMENTUM if self.momentum is None else self.momentum


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    data: Path
    reading: LabelledReading
    run: RunRequest
    model: ModelRequest
    optimiser: OptimiserRequest
    seed: int | None
    out: Path
    certificate: Path | None
    resume: bool
    every: int


def run(request: Request, output: Output) -> None:
    """Plan, read, try, train; then write and print."""
    plan, proposals, optimiser = request.run.plan(), request.run.proposals(), request.optimiser.options()
    request.model.check()
    coins = Coins() if request.seed is None else Coins.seeded(request.seed)
    checkpoints = Checkpoints(path=request.out / f"{_PRIVATE}checkpoint.npz", every=request.every)
    _check_folder(request, checkpoints)
    with blamed_on(checkpoints="out"):
        _check_certificate(request, checkpoints)
    open_account(plan)  # a budget that is exceeded shows before anything is read
    with blamed_on(divide_by="divide-by"):
        with blamed_on(features="data", labels="target"):
            split = read_labelled(request.data, request.reading)
        classifier = request.model.classifier(split, optimiser, coins)
    _make_folder(request)
    with (
        stopped_by_signals() as stop,
        _told_where_it_stands(checkpoints, plan),
        progress_of(plan.epochs * plan.steps_per_epoch, output) as progress,
        blamed_on(state="resume", proposals="resume", checkpoints="out"),
    ):
        begin = resume if request.resume else train
        result = begin(
            classifier.records,
            plan,
            checkpoints=checkpoints,
            proposals=proposals,
            coins=coins,
            progress=_stopping(progress, stop),
        )
    data = _statement(request, plan, proposals, result)
    private = _private(request, split, classifier, result)
    with published() as files:
        _write(files, request.out, data, private, classifier, result)
        certified = write_certified(files, request.certificate, result.certificate)
    told = {
        **data,
        "certificate": None if request.certificate is None else str(request.certificate),
        "certified": certified,
        "private": private,
    }
    output.show(told, lambda console: _print(console, told, private))


def _check_folder(request: Request, checkpoints: Checkpoints) -> None:
    """Before anything is read; nothing is made yet."""
    out = request.out
    clear_abandoned(out)
    if request.resume and not checkpoints.begun:
        raise InvalidValue("out", str(out), "the folder of a run, for --resume", "Begin it without --resume")
    if not request.resume and out.is_dir() and any(path.name != checkpoints.lock.name for path in out.iterdir()):
        remedy = "Or go on with its run: --resume" if checkpoints.begun else "Name another one"
        raise InvalidValue("out", str(out), "a new or empty folder", remedy)
    if not out.parent.is_dir():
        raise InvalidValue("out", str(out), "a new folder in an existing one", f"Make {out.parent}")


def _check_certificate(request: Request, checkpoints: Checkpoints) -> None:
    """Before anything is read; a place in the run's own folder is one that can be written."""
    if request.certificate is None:
        return
    if request.seed is not None:
        remedy = "Train without a seed, or leave the certificate out"
        raise InvalidValue("certificate", str(request.certificate), "nothing for a run with --seed", remedy)
    if request.resume and not checkpoints.read().is_private:
        admissible = "nothing for a run of which a part was seeded"
        raise InvalidValue("certificate", str(request.certificate), admissible, "Leave it out, or begin anew")
    if request.certificate.parent.resolve() != request.out.resolve():
        check_places(request.data, {"certificate": request.certificate})


def _make_folder(request: Request) -> None:
    try:
        made_folder(request.out)
    except OSError as error:
        raise InvalidValue("out", str(request.out), "a new folder in an existing one", str(error)) from None


def _stopping(progress: Progress | None, stop: Stop) -> Progress:
    """Ends a run between two steps, where nothing that was paid is lost."""

    def told(report: Report) -> None:
        if progress is not None:
            progress(report)
        if stop.asked is not None:
            raise KeyboardInterrupt

    return told


@contextmanager
def _told_where_it_stands(checkpoints: Checkpoints, plan: RunPlan) -> Iterator[None]:
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


def _statement(request: Request, plan: RunPlan, proposals: Proposals, result: Trained) -> dict[str, Any]:
    """What may be published; not where the data lie, and not a seed, from which noise can be undone."""
    guarantee = result.guarantee
    return {
        "version": version("certdp"),
        "model": request.model.model,
        "features": request.model.features,
        "method": "dp-sgd" if plan.norm_sums is None else "dpis",
        "private_coins": result.is_private,
        "notice": None if result.is_private else _SEEDED,
        "epsilon": None if guarantee is None else [None, guarantee.bound.epsilon.upper_float],
        "delta": None if guarantee is None else [None, guarantee.bound.delta.upper_float],
        "unit": "record",
        "relation": "add-remove",
        "theorem": None if guarantee is None else theorems(result.account.guarantee),
        "assumptions": []
        if guarantee is None
        else [{"name": assumed.name, "value": assumed.value} for assumed in guarantee.assumptions],
        "paid": result.epsilon,
        "options": _options(request, plan, proposals),
        "epochs": result.history.columns(),
    }


def _options(request: Request, plan: RunPlan, proposals: Proposals) -> dict[str, str | bool]:
    """What to state for such a run, beside the data, a seed and the folder."""
    of_dpis = {"multiplier": str(proposals.multiplier), "floor": str(proposals.floor)}
    return {
        **options_of(plan),
        **(of_dpis if plan.norm_sums is not None else {}),
        **request.model.stated,
        **request.optimiser.stated,
        "divide-by": str(request.reading.divide_by),
    }


def _private(request: Request, split: Split, model: Classifier, result: Trained) -> dict[str, Any]:
    steps = result.history.private_columns().reveal()
    return {
        "notice": "computed from the records: for the data's owner, not for publication",
        "seed": request.seed,
        "n": len(split.train),
        "train_accuracy": model.train_accuracy(),
        "test_accuracy": model.test_accuracy(),
        "mean_accepted": _mean(steps["accepted"]),
        "mean_proposed": _mean(steps["proposed"]),
        "dropped": int(sum(steps["dropped"])),
        "stale_bias": _mean(steps["stale_bias"]),
    }


def _mean(values: list[Any]) -> float | None:
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else None


def _write(
    files: Publication,
    out: Path,
    data: Mapping[str, Any],
    private: Mapping[str, Any],
    model: Classifier,
    result: Trained,
) -> None:
    stream, arrays = io.BytesIO(), dict[str, Any](model.parameters())
    np.savez(stream, **arrays)
    released = {
        "model.npz": (stream.getvalue(), Rank.RELEASE),
        "run.json": (_json(data), Rank.STATEMENT),
        "history.csv": (_table(result.history.columns()), Rank.STATEMENT),
    }
    pictures: dict[str, bytes] = {}
    with suppress(InvalidValue):  # without matplotlib the tables say the same
        released["history.png"] = (plot_history(result.history), Rank.STATEMENT)
        pictures["steps.png"] = plot_steps(result.history).reveal()
    for name, (content, rank) in released.items():
        files.write(out / name, content, rank, secret=not result.is_private)
    owners = {
        "figures.json": _json(private),
        "steps.csv": _table(result.history.private_columns().reveal()),
        **pictures,
    }
    for name, content in owners.items():
        files.write(out / f"{_PRIVATE}{name}", content, Rank.RECORD, secret=True)


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False).encode()


def _table(columns: Mapping[str, list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _print(console: Console, data: dict[str, Any], private: Mapping[str, Any]) -> None:
    if data["epsilon"] is None:
        console.print(f"[bold]not private[/bold]: {data['notice']}")
    else:
        epsilon, delta = data["epsilon"][1], data["delta"][1]
        console.print(f"[bold]({epsilon!r}, {delta!r})-DP[/bold] per record, under add/remove", highlight=False)
        console.print(f"  by {data['theorem']}; this run has paid ε = {data['paid']:.6g}", markup=False)
        console.print("  what other runs on the same records cost, as to tune options, adds to this", markup=False)
        console.print("  assumptions")
        for assumed in data["assumptions"]:
            value = f" = {assumed['value']}" if assumed["value"] else ""
            console.print(f"    {assumed['name']}{value}", markup=False, soft_wrap=True)
        print_proven(console, data)
    columns = ("epoch", "noise_multiplier", "clip", "norm_sum", "rate", "steps", "epsilon")
    table = Table("epoch", "σ_G", "C", "K̃", "rate", "steps", "ε paid", box=None)
    for row in zip(*(data["epochs"][name] for name in columns), strict=True):
        table.add_row(str(row[0] + 1), *(f"{value:.6g}" for value in row[1:]))
    console.print(table)
    figures = Table(box=None, show_header=False)
    for name in ("train_accuracy", "test_accuracy", "mean_proposed", "mean_accepted", "dropped", "stale_bias"):
        if private[name] is not None:
            figures.add_row(name.replace("_", " "), f"{private[name]:.6g}")
    console.print("\n[bold]for the data's owner only, not for publication[/bold]")
    console.print(figures)
