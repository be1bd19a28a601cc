"""`certdp dpis train`: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import lzma
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from rich.console import Console
from scipy.stats import norm

import certdp.dpis
from certdp.accounting.display import rounded_up
from certdp.accounting.provenance import Private
from certdp.commands.dpis import progress as dpis_progress
from certdp.commands.dpis import train as dpis_train
from certdp.dpis.budget import RunPlan
from certdp.dpis.engine import Report
from certdp.dpis.history import EpochFigures
from certdp.dpis.plan_options import options_of
from certdp.dpis.step_sums import StepFigures

Command = Callable[..., Any]
RUN = ("--records", 300, "--batch", 20, "--epochs", 2, "--epsilon", 8, "--delta", "1e-5", "--order", 4)
MODEL = ("--model", "logistic", "--classes", 2, "--norm-noise", 6)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes that a line tells apart, in every format."""
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 400)
    features = random.standard_normal((400, 3)) + 2 * np.where(labels, 1.0, -1.0)[:, np.newaxis]
    flags = np.arange(400) >= 300
    arrays = {"X_train": features[:300], "y_train": labels[:300], "X_test": features[300:], "y_test": labels[300:]}
    np.savez(folder / "split.npz", **arrays)
    with lzma.open(folder / "flags.npz.xz", "wb") as stream:
        np.savez(stream, X=features, label=labels, is_test=flags)
    for name, rows in (("all", slice(None)), ("train", ~flags), ("test", flags)):
        table = np.column_stack([features, labels, flags])[rows]
        np.savetxt(folder / f"{name}.csv", table, delimiter=",", header="a,b,c,label,is_test", comments="")
    return folder


def trained(certdp: Command, out: Path, *arguments: object) -> Any:
    ran = certdp("dpis", "train", *RUN, *MODEL, *arguments, "--output", out, "--json")
    assert ran.code == 0, ran
    return ran.json


SOURCES: dict[str, tuple[str, ...]] = {
    "two pairs of arrays": ("split.npz", "--array", "X_train", "--target", "y_train", "--test", "X_test"),
    "an array of flags": ("flags.npz.xz", "--target", "label", "--test", "is_test"),
    "a column of flags": ("all.csv", "--target", "label", "--test", "is_test"),
    "two files": ("train.csv", "--target", "label", "--test", "FOLDER/test.csv"),
}


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_trains_alike(source: tuple[str, ...], files: Path, certdp: Command, tmp_path: Path) -> None:
    name, *options = (part.replace("FOLDER", str(files)) for part in source)
    data = trained(certdp, tmp_path / "out", "--data", files / name, *options)
    assert data["private"]["n"] == 300
    assert data["private"]["test_accuracy"] > 0.85
    assert data["private_coins"]
    assert 0 < data["paid"] <= data["epsilon"][1] <= 8
    assert data["epochs"]["steps"] == [15, 15]


@pytest.mark.slow
def test_what_may_be_published_lies_apart_from_what_may_not(files: Path, certdp: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    data = trained(certdp, out, "--data", files / "all.csv", "--target", "label", "--test", "is_test")
    public = json.loads((out / "run.json").read_text("utf-8"))
    assert data.keys() - public.keys() == {"private", "certificate", "certified"}
    assert public == {name: data[name] for name in public}
    stated = {assumed["name"] for assumed in public["assumptions"]}
    assert "options fixed beforehand" in stated
    assert not {"records apart", "contributions independent of the batch", "real-valued noise"} & stated
    with (out / "history.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["noise_multiplier"]) for row in rows] == data["epochs"]["noise_multiplier"]
    with np.load(out / "model.npz") as model:
        assert model["parameters"].shape == (2 * 4,)
    names = {path.name for path in out.iterdir()}
    private = {name for name in names if name.startswith("private-")}
    assert names - private - {"history.png"} == {"run.json", "history.csv", "model.npz"}
    assert ("history.png" in names) == ("private-steps.png" in names)  # without matplotlib neither
    assert {"private-checkpoint.npz", "private-figures.json", "private-steps.csv"} <= private
    assert all((out / name).stat().st_mode & 0o077 == 0 for name in private)


@pytest.mark.slow
def test_options_reach_the_run(files: Path, certdp: Command, tmp_path: Path) -> None:
    source = ("--data", files / "train.csv", "--target", "label")
    adam = ("--optimiser", "adam", "--learning-rate", 0.05)
    mlp = ("--model", "mlp", "--hidden", 5, "--activation", "tempered-sigmoid", *adam)
    adaptive = ("--clip-quantile", 1, "--clip-interval", "0.1:2", "--clip-noise", 30, "--size-noise", 10)
    data = trained(certdp, tmp_path / "out", *source, *mlp, *adaptive, "--seed", 3)
    assert (data["private_coins"], data["epsilon"], data["model"], data["method"]) == (False, None, "mlp", "dpis")
    assert data["epochs"]["clip"][0] == 1 != data["epochs"]["clip"][1]
    assert data["epochs"]["size"][0] != 300
    logistic = ("dpis", "train", *source, "--model", "logistic", "--classes", 2)
    uniform = certdp(*logistic, *RUN, "--uniform", "--noise-decay", 0.5, "--output", tmp_path / "other", "--json").json
    first, second = uniform["epochs"]["noise_multiplier"]
    assert uniform["method"] == "dp-sgd"
    assert second == pytest.approx(first / 2, rel=1e-3)
    assert uniform["epochs"]["rate"] == pytest.approx([20 / 300] * 2)


@pytest.mark.slow
def test_dp_sgd_is_accounted_by_its_loss_distribution_where_a_rate_is_declared(
    files: Path, certdp: Command, tmp_path: Path
) -> None:
    """One step, whose δ has a closed form: it takes as much noise as that needs."""
    source = ("--data", files / "train.csv", "--target", "label", "--model", "logistic", "--classes", 2)
    step = ("--records", 300, "--batch", 20, "--epochs", 1, "--steps-per-epoch", 1, "--epsilon", 1, "--delta", "1e-5")
    options = ("--uniform", "--largest-rate", "1/15", "--output", tmp_path / "out", "--json")
    (noise,) = certdp("dpis", "train", *source, *step, *options).json["epochs"]["noise_multiplier"]

    def delta(noise: float) -> float:
        """q·δ(ε') of the Gaussian, at e^ε' = 1 + (e^ε − 1)/q."""
        rate = 1 / 15
        inner = math.log1p(math.expm1(1) / rate)
        first, second = (norm.cdf(sign / (2 * noise) - inner * noise) for sign in (1, -1))
        return float(rate * (first - math.exp(inner) * second))

    assert delta(noise) <= 1e-5 < delta(0.999 * noise)


@pytest.mark.slow
def test_what_a_run_states_is_a_command_that_repeats_it(files: Path, certdp: Command, tmp_path: Path) -> None:
    source = ("--data", files / "train.csv", "--target", "label", "--seed", 5)
    first = trained(certdp, tmp_path / "out", *source, "--margin", "1/7", "--multiplier", 3, "--size-noise", 2.5)
    assert first["options"]["margin"] == "1/7"
    assert first["private"]["seed"] == 5
    public = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert "seed" not in {*public, *public["options"]}
    stated = [part for name, value in first["options"].items() for part in (f"--{name}", value)]
    again = certdp("dpis", "train", *source, *stated, "--output", tmp_path / "again", "--json").json
    assert again == first


@pytest.mark.parametrize(
    "options",
    [
        ("--uniform", "--noise-decay", "0.9"),
        ("--largest-rate", "1/3", "--norm-rate", "0.3"),
        ("--clip-quantile", 1, "--clip-interval", "0.1:2", "--clip-external", 3, "--clip-noise", 70, "--clip", 2),
    ],
)
def test_every_plan_can_be_stated_again(
    options: tuple[object, ...], files: Path, certdp: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[RunPlan] = []

    def noted(records: Any, plan: RunPlan, **_: Any) -> Any:
        plans.append(plan)
        raise typer.Exit(7)

    monkeypatch.setattr(dpis_train, "begun", noted)
    source = ("dpis", "train", "--data", files / "train.csv", "--target", "label", *MODEL[:4])
    assert certdp(*source, *RUN[:-2], *options, "--output", tmp_path / "out").code == 7
    stated: list[object] = []
    for name, value in options_of(plans[0]).items():
        stated += [f"--{name}"] if value is True else [f"--{name}", value]
    assert certdp(*source, *stated, "--output", tmp_path / "again").code == 7
    assert plans[0] == plans[1]


@pytest.mark.slow
def test_a_line_of_public_figures_for_each_epoch_where_nobody_watches(
    files: Path, certdp: Command, tmp_path: Path
) -> None:
    arguments = ("--data", files / "train.csv", "--target", "label", *RUN, *MODEL)
    ran = certdp("dpis", "train", *arguments, "--output", tmp_path / "out")
    with (tmp_path / "out" / "history.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert ran.err.splitlines() == [
        f"epoch {number} of 2  ε ≤ {rounded_up(float(row['epsilon']), 4)}  σ_G {float(row['noise_multiplier']):.3f}  "
        f"K̃/C {float(row['norm_sum']):.5g}"
        for number, row in enumerate(rows, 1)
    ]
    assert certdp("dpis", "train", *arguments, "--output", tmp_path / "quiet", "--json").err == ""
    public = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    for assumed in public["assumptions"]:
        assert f"    {assumed['name']} = {assumed['value']}\n" in ran.out
    assert "number of records is public = 300" in ran.out
    assert "other runs on the same records" in ran.out


def test_who_watches_sees_private_figures_marked_as_such() -> None:
    terminal = io.StringIO()
    figures = StepFigures(
        proposed=25, accepted=20, expected_proposed=25.0, expected_accepted=20.0, dropped=0, loss=0.5, stale_bias=0.0
    )
    epoch = EpochFigures(
        epoch=1, size=300.0, clip=0.5, norm_sum=75.0, noise_multiplier=0.8, rate=0.1, steps=3, epsilon=1.25
    )
    with dpis_progress.watched(Console(file=terminal, force_terminal=True, width=80), 30) as told:
        told(Report(epoch=epoch, epochs=2, steps_per_epoch=15, private=Private(figures)))
    shown = terminal.getvalue()
    assert "epoch 2 of 2  ε ≤ 1.25  σ_G 0.800  K̃/C 150" in shown
    assert "private: loss 0.500, 20 of 25 records proposed" in shown


@pytest.mark.slow
def test_a_run_is_resumed_and_not_overwritten(files: Path, certdp: Command, refusal: Command, tmp_path: Path) -> None:
    command = ("--data", files / "train.csv", "--target", "label")
    first = trained(certdp, tmp_path / "out", *command)
    arguments = ("dpis", "train", *command, *RUN, *MODEL, "--output", tmp_path / "out")
    assert refusal(*arguments)["parameter"] == "output"
    again = certdp(*arguments, "--resume", "--json").json
    assert again == first
    shown = certdp(*arguments, "--resume").out
    assert "-DP per record" in shown
    assert "not for publication" in shown


@pytest.mark.parametrize(
    ("changed", "parameter"),
    [
        (("--target", "nothing"), "target"),
        (("--target", "a"), "target"),
        (("--test", "nowhere"), "test"),
        (("--model", "forest"), "model"),
        (("--hidden", 5), "hidden"),
        (("--model", "mlp", "--words", 5), "words"),
        (("--image", "1x3"), "image"),
        (("--device", "cpu"), "device"),
        (("--model", "lstm"), "words"),
        (("--model", "lstm", "--words", 5, "--features", "scattering"), "features"),
        (("--features", "wavelets"), "features"),
        (("--features", "scattering"), "image"),
        (("--features", "scattering", "--image", "2x2"), "image"),
        (("--model", "mlp", "--activation", "sine"), "activation"),
        (("--optimiser", "newton"), "optimiser"),
        (("--learning-rate", 0), "learning-rate"),
        (("--batch", 301), "batch"),
        (("--clip", 0), "clip"),
        (("--norm-noise", "0.01"), "budget"),
        (("--norm-noise", 0), "norm-noise"),
        (("--norm-rate", 2), "norm-rate"),
        (("--noise-decay", 2), "noise-decay"),
        (("--clip-interval", "1:2"), "clip-interval"),
        (("--clip-noise", 3), "clip-noise"),
        (("--clip-quantile", 1), "clip-interval"),
        (("--clip-quantile", 1, "--clip-interval", "2:3"), "clip"),
        (("--clip-quantile", 1, "--clip-interval", "0:3"), "clip-interval"),
        (("--clip-quantile", 1, "--clip-interval", "0.1:3", "--clip-external", 0), "clip-external"),
        (("--clip-quantile", 0, "--clip-interval", "0.1:3"), "clip-quantile"),
        (("--clip-quantile", 1, "--clip-interval", "0.1:3", "--clip-noise", 0), "clip-noise"),
        (("--multiplier", "0.5"), "multiplier"),
        (("--multiplier", "many"), "multiplier"),
        (("--floor", 0), "floor"),
        (("--uniform",), "norm-noise"),
        (("--optimiser", "adam", "--momentum", 0.5), "momentum"),
        (("--divide-by", 0), "divide-by"),
        (("--output", "/nowhere/at/all"), "output"),
        (("--resume",), "output"),
    ],
)
def test_what_cannot_be_is_refused(
    changed: tuple[object, ...], parameter: str, files: Path, refusal: Command, tmp_path: Path
) -> None:
    arguments = (
        "--data",
        files / "train.csv",
        "--target",
        "label",
        *RUN,
        *MODEL,
        "--output",
        tmp_path / "out",
        *changed,
    )
    assert refusal("dpis", "train", *arguments)["parameter"] == parameter
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "option",
    [("--norm-rate", 1), ("--margin", "0.01"), ("--divider", "0.8"), ("--multiplier", 5), ("--floor", "0.01")],
    ids=lambda option: option[0],
)
def test_what_is_of_dpis_alone_is_refused_in_dp_sgd(
    option: tuple[object, ...], files: Path, refusal: Command, tmp_path: Path
) -> None:
    source = ("--data", files / "train.csv", "--target", "label", "--model", "logistic", "--classes", 2)
    error = refusal("dpis", "train", *source, *RUN, "--uniform", *option, "--output", tmp_path / "out")
    assert f"--{error['parameter']}" == option[0]
    assert "--uniform" in error["remedy"]


@pytest.mark.parametrize(
    ("changed", "parameter"),
    [(("--norm-noise", "0.01"), "budget"), (("--multiplier", "0.5"), "multiplier"), (("--floor", 2), "floor")],
)
def test_what_needs_no_data_is_checked_before_they_are_read(
    changed: tuple[object, ...], parameter: str, refusal: Command, tmp_path: Path
) -> None:
    source = ("--data", tmp_path / "no such file.npz", "--target", "label")
    error = refusal("dpis", "train", *source, *RUN, *MODEL, *changed, "--output", tmp_path / "out")
    assert error["parameter"] == parameter


@pytest.mark.parametrize(
    ("changed", "missing", "extra"),
    [
        (("--model", "cnn"), "torch", "certdp[torch]"),
        (("--model", "lstm", "--words", 5), "torch", "certdp[torch]"),
        (("--features", "scattering", "--image", "12x16"), "kymatio", "certdp[scattering]"),
    ],
)
def test_a_missing_extra_is_named_and_costs_nothing(
    changed: tuple[object, ...],
    missing: str,
    extra: str,
    refusal: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in [name for name in sys.modules if name.startswith(("certdp.dpis.torch", missing))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delattr(certdp.dpis, "torch", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)  # what the interpreter takes for a package that is not there
    np.savez(tmp_path / "images.npz", X=np.ones((300, 12 * 16)), y=np.arange(300) % 2)
    source = ("--data", tmp_path / "images.npz", "--target", "y")
    error = refusal("dpis", "train", *source, *RUN, *MODEL, *changed, "--output", tmp_path / "out")
    assert f"pip install '{extra}'" in error["remedy"]
    assert not (tmp_path / "out").exists()


def test_test_records_of_another_width_are_refused_before_the_run(
    files: Path, refusal: Command, tmp_path: Path
) -> None:
    with np.load(files / "split.npz") as arrays:
        np.savez(tmp_path / "odd.npz", **{**arrays, "X_test": arrays["X_test"][:, :2]})
    source = ("--data", tmp_path / "odd.npz", "--array", "X_train", "--target", "y_train", "--test", "X_test")
    assert refusal("dpis", "train", *source, *RUN, *MODEL, "--output", tmp_path / "out")["parameter"] == "test"


@pytest.mark.soundness
@pytest.mark.skipif("CERTDP_DATA" not in os.environ, reason="no real data")
@pytest.mark.parametrize("method", [(), ("--uniform",)], ids=["dpis", "dp-sgd"])
def test_digits_are_told_apart(method: tuple[str, ...], certdp: Command, tmp_path: Path) -> None:
    data = Path(os.environ["CERTDP_DATA"]) / "mnist.npz.xz"
    arrays = ("--array", "X_train", "--target", "y_train", "--test", "X_test", "--divide-by", 255)
    run = ("--records", 60000, "--batch", 512, "--epochs", 3, "--epsilon", 2, "--delta", "1e-5")
    model = ("--model", "logistic", "--classes", 10, *method)
    found = certdp("dpis", "train", "--data", data, *arrays, *run, *model, "--output", tmp_path / "out", "--json").json
    assert found["private"]["test_accuracy"] > 0.87
    assert found["epsilon"][1] <= 2
