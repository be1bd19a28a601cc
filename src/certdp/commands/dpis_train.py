"""`certdp dpis train`: train a classifier on a file within a budget, and write what may be published apart from what
may not."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..accounting.errors import InvalidValue
from ..accounting.exact import exact
from ..accounting.provenance import Public
from ..dpis.budget import AdaptiveClip, Clip, ExponentialDecay, RunPlan
from ..dpis.checkpoints import Checkpoints
from ..dpis.engine import Proposals, Report, Trained, resume, train
from ..dpis.forecast import dp_sgd
from ..dpis.models.files import LabelledReading, Split, read_labelled
from ..dpis.optimisers import Adam, OptimiserOptions, Sgd
from ..dpis.pictures import plot_history
from ..files import write_whole
from ..plugins.contract import Coins
from . import dpis_plan
from .dpis_models import Classifier, ModelRequest
from .output import Output

_PRIVATE = "private-"  # begins the names of what is for the data's owner alone
_OPTIMISERS: Mapping[str, Callable[[float, float], OptimiserOptions]] = {
    "sgd": lambda rate, momentum: Sgd(rate=rate, momentum=momentum),
    "adam": lambda rate, _: Adam(rate=rate),
}


@frozen(kw_only=True)
class AdaptiveRequest:
    """What the command says about a clipping bound that adapts.

    Attributes:
        quantile: λ, or None for a bound that stays.
        interval: the least and the largest C, with a colon between.
        external: C*, by default the largest C.
        noise: its noise multiplier, by default that of the norm sums.
    """

    quantile: str | None
    interval: str | None
    external: str | None
    noise: str | None

    def clip(self, plan: RunPlan) -> Clip:
        """The rule asked for.

        Raises:
            InvalidValue: for an incomplete one, and for values out of range.
        """
        if self.quantile is None:
            for name, value in (("clip-interval", self.interval), ("clip-external", self.external)):
                if value is not None:
                    raise InvalidValue(name, value, "nothing, without --clip-quantile", "State --clip-quantile too")
            return plan.clip
        lowest, sign, highest = (self.interval or "").partition(":")
        if not sign:
            raise InvalidValue("clip-interval", self.interval or "none", "LOW:HIGH", "State the public bounds of C")
        if self.noise is None and plan.norm_sums is None:
            raise InvalidValue("clip-noise", "none", "a number > 0, in a run of DP-SGD", "State --clip-noise K")
        noise = plan.norm_sums.noise_multiplier if self.noise is None and plan.norm_sums else Public(self.noise or "")
        return AdaptiveClip(
            start=Public(plan.clip.first),
            external=Public(self.external or highest),
            quantile=Public(self.quantile),
            noise_multiplier=noise,
            lowest=Public(lowest),
            highest=Public(highest),
        )


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    data: Path
    reading: LabelledReading
    run: dpis_plan.Request
    adaptive: AdaptiveRequest
    uniform: bool
    decay: str | None
    multiplier: str
    floor: str
    model: ModelRequest
    optimiser: str
    rate: float
    momentum: float
    seed: int | None
    out: Path
    resume: bool
    every: int = field(default=100)

    def plan(self) -> RunPlan:
        """The run asked for.

        Raises:
            InvalidValue: for numbers out of their ranges.
        """
        plan = self.run.plan()
        if self.decay is not None:
            plan = evolve(plan, schedule=ExponentialDecay(base=Public(self.decay)))
        if self.uniform:
            plan = dp_sgd(plan)
        return evolve(plan, clip=self.adaptive.clip(plan))

    def optimiser_options(self) -> OptimiserOptions:
        """The optimiser asked for.

        Raises:
            InvalidValue: for an unknown one.
        """
        if self.optimiser not in _OPTIMISERS:
            raise InvalidValue("optimiser", self.optimiser, " or ".join(_OPTIMISERS))
        return _OPTIMISERS[self.optimiser](self.rate, self.momentum)


def run(request: Request, output: Output) -> None:
    """Plan, read, try, train; then write and print."""
    plan, optimiser = request.plan(), request.optimiser_options()
    request.model.check()
    proposals = Proposals(multiplier=exact(request.multiplier), floor=exact(request.floor))
    coins = Coins() if request.seed is None else Coins.seeded(request.seed)
    _check_folder(request)
    split = read_labelled(request.data, request.reading)
    classifier = request.model.classifier(split, optimiser, coins)
    _make_folder(request)
    checkpoints = Checkpoints(path=request.out / f"{_PRIVATE}checkpoint.npz", every=request.every)
    with _progress(plan, output) as progress:
        begin = resume if request.resume else train
        result = begin(
            classifier.records, plan, checkpoints=checkpoints, proposals=proposals, coins=coins, progress=progress
        )
    data = _statement(request, plan, result)
    private = _private(split, classifier, result)
    _write(request.out, data, private, classifier, result)
    output.show({**data, "private": private}, lambda console: _print(console, data, private))


def _check_folder(request: Request) -> None:
    """Before anything is read; nothing is made yet."""
    out = request.out
    if request.resume and not out.is_dir():
        raise InvalidValue("out", str(out), "the folder of a run, for --resume", "Begin it without --resume")
    if not request.resume and out.is_dir() and any(out.iterdir()):
        raise InvalidValue("out", str(out), "a new or empty folder", "Or go on with its run: --resume")
    if not out.parent.is_dir():
        raise InvalidValue("out", str(out), "a new folder in an existing one", f"Make {out.parent}")


def _make_folder(request: Request) -> None:
    try:
        request.out.mkdir(exist_ok=True)
    except OSError as error:
        raise InvalidValue("out", str(request.out), "a new folder in an existing one", str(error)) from None


@contextmanager
def _progress(plan: RunPlan, output: Output) -> Iterator[Any]:
    """A progress bar where someone watches; what it says of the loss is for the data's owner."""
    terminal = Console(stderr=True)
    if output.as_json or not terminal.is_terminal:
        yield None
        return
    parts = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*parts, console=terminal, transient=True) as bar:
        task = bar.add_task("training", total=plan.epochs * plan.steps_per_epoch)

        def progress(report: Report) -> None:
            epoch = report.epoch
            bar.update(
                task,
                completed=epoch.epoch * report.steps_per_epoch + epoch.steps,
                description=f"epoch {epoch.epoch + 1} of {report.epochs}  ε ≤ {epoch.epsilon:.3f}  "
                f"σ_G {epoch.noise_multiplier:.3f}  K̃/ÑC {epoch.share:.3f}  "
                f"loss (private) {report.private.reveal().loss:.3f}",
            )

        yield progress


def _statement(request: Request, plan: RunPlan, result: Trained) -> dict[str, Any]:
    """What may be published."""
    guarantee = result.guarantee
    return {
        "model": request.model.model,
        "features": request.model.features,
        "method": "dp-sgd" if plan.norm_sums is None else "dpis",
        "private_coins": result.is_private,
        "epsilon": None if guarantee is None else [None, guarantee.bound.epsilon.upper_float],
        "delta": None if guarantee is None else [None, guarantee.bound.delta.upper_float],
        "unit": "record",
        "relation": "add-remove",
        "theorem": None if guarantee is None else str(result.account.guarantee.derivation.theorem),
        "assumptions": []
        if guarantee is None
        else [{"name": assumed.name, "value": assumed.value} for assumed in guarantee.assumptions],
        "paid": result.epsilon,
        "epochs": result.history.columns(),
    }


def _private(split: Split, model: Classifier, result: Trained) -> dict[str, Any]:
    steps = result.history.private_columns().reveal()
    return {
        "notice": "computed from the records: for the data's owner, not for publication",
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


def _write(out: Path, data: Mapping[str, Any], private: Mapping[str, Any], model: Classifier, result: Trained) -> None:
    stream, arrays = io.BytesIO(), dict[str, Any](model.parameters())
    np.savez(stream, **arrays)
    write_whole(out / "model.npz", stream.getvalue(), secret=not result.is_private)
    write_whole(out / "run.json", _json(data))
    write_whole(out / "history.csv", _table(result.history.columns()))
    owners = {
        "figures.json": _json(private),
        "steps.csv": _table(result.history.private_columns().reveal()),
    }
    with suppress(InvalidValue):  # without matplotlib the tables say the same
        owners["history.png"] = plot_history(result.history)
    for name, content in owners.items():
        write_whole(out / f"{_PRIVATE}{name}", content, secret=True)


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False).encode()


def _table(columns: Mapping[str, list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode()


def _print(console: Console, data: Mapping[str, Any], private: Mapping[str, Any]) -> None:
    if data["epsilon"] is None:
        console.print("[bold]not private[/bold]: whoever knows the seed can undo the noise")
    else:
        epsilon, delta = data["epsilon"][1], data["delta"][1]
        console.print(f"[bold]({epsilon!r}, {delta!r})-DP[/bold] per record, under add/remove", highlight=False)
        console.print(f"  by {data['theorem']}; this run has paid ε = {data['paid']:.6g}", markup=False)
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
