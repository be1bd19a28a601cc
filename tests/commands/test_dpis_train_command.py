"""`certdp dpis train`: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import csv
import json
import lzma
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import certdp.dpis

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
    ran = certdp("dpis", "train", *RUN, *MODEL, *arguments, "--out", out, "--json")
    assert ran.code == 0, ran
    return ran.json


SOURCES: dict[str, tuple[str, ...]] = {
    "two pairs of arrays": ("split.npz", "--array", "X_train", "--target", "y_train", "--test", "X_test"),
    "an array of flags": ("flags.npz.xz", "--target", "label", "--test", "is_test"),
    "a column of flags": ("all.csv", "--target", "label", "--test", "is_test"),
    "two files": ("train.csv", "--target", "label", "--test", "FOLDER/test.csv"),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_source_trains_alike(source: tuple[str, ...], files: Path, certdp: Command, tmp_path: Path) -> None:
    name, *options = (part.replace("FOLDER", str(files)) for part in source)
    data = trained(certdp, tmp_path / "out", "--data", files / name, *options)
    assert data["private"]["n"] == 300
    assert data["private"]["test_accuracy"] > 0.85
    assert data["private_coins"]
    assert 0 < data["paid"] <= data["epsilon"][1] <= 8
    assert data["epochs"]["steps"] == [15, 15]


def test_what_may_be_published_lies_apart_from_what_may_not(files: Path, certdp: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    data = trained(certdp, out, "--data", files / "all.csv", "--target", "label", "--test", "is_test")
    public = json.loads((out / "run.json").read_text("utf-8"))
    assert public == {name: value for name, value in data.items() if name != "private"}
    assert {"records apart", "real-valued noise"} <= {assumed["name"] for assumed in public["assumptions"]}
    with (out / "history.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["noise_multiplier"]) for row in rows] == data["epochs"]["noise_multiplier"]
    with np.load(out / "model.npz") as model:
        assert model["parameters"].shape == (2 * 4,)
    names = {path.name for path in out.iterdir()}
    private = {name for name in names if name.startswith("private-")}
    assert names - private == {"run.json", "history.csv", "model.npz"}
    assert {"private-checkpoint.npz", "private-figures.json", "private-steps.csv"} <= private
    assert all((out / name).stat().st_mode & 0o077 == 0 for name in private)


def test_options_reach_the_run(files: Path, certdp: Command, tmp_path: Path) -> None:
    source = ("--data", files / "train.csv", "--target", "label")
    mlp = ("--model", "mlp", "--hidden", 5, "--activation", "tempered-sigmoid", "--optimiser", "adam", "--rate", 0.05)
    adaptive = ("--clip-quantile", 1, "--clip-interval", "0.1:2", "--clip-noise", 30, "--size-noise", 10)
    data = trained(certdp, tmp_path / "out", *source, *mlp, *adaptive, "--seed", 3)
    assert (data["private_coins"], data["epsilon"], data["model"], data["method"]) == (False, None, "mlp", "dpis")
    assert data["epochs"]["clip"][0] == 1 != data["epochs"]["clip"][1]
    assert data["epochs"]["size"][0] != 300
    uniform = trained(certdp, tmp_path / "other", *source, "--uniform", "--noise-decay", 0.5)
    first, second = uniform["epochs"]["noise_multiplier"]
    assert uniform["method"] == "dp-sgd"
    assert second == pytest.approx(first / 2, rel=1e-3)
    assert uniform["epochs"]["rate"] == pytest.approx([20 / 300] * 2)


def test_a_run_is_resumed_and_not_overwritten(files: Path, certdp: Command, refusal: Command, tmp_path: Path) -> None:
    command = ("--data", files / "train.csv", "--target", "label")
    first = trained(certdp, tmp_path / "out", *command)
    arguments = ("dpis", "train", *command, *RUN, *MODEL, "--out", tmp_path / "out")
    assert refusal(*arguments)["parameter"] == "out"
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
        (("--rate", 0), "rate"),
        (("--batch", 301), "batch"),
        (("--clip", 0), "bound"),
        (("--norm-noise", "0.01"), "budget"),
        (("--clip-interval", "1:2"), "clip-interval"),
        (("--clip-quantile", 1), "clip-interval"),
        (("--multiplier", "0.5"), "multiplier"),
        (("--divide-by", 0), "divide_by"),
        (("--out", "/nowhere/at/all"), "out"),
        (("--resume",), "out"),
    ],
)
def test_what_cannot_be_is_refused(
    changed: tuple[object, ...], parameter: str, files: Path, refusal: Command, tmp_path: Path
) -> None:
    arguments = ("--data", files / "train.csv", "--target", "label", *RUN, *MODEL, "--out", tmp_path / "out", *changed)
    assert refusal("dpis", "train", *arguments)["parameter"] == parameter


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
    error = refusal("dpis", "train", *source, *RUN, *MODEL, *changed, "--out", tmp_path / "out")
    assert f"pip install '{extra}'" in error["remedy"]
    assert not (tmp_path / "out").exists()


def test_test_records_of_another_width_are_refused_before_the_run(
    files: Path, refusal: Command, tmp_path: Path
) -> None:
    with np.load(files / "split.npz") as arrays:
        np.savez(tmp_path / "odd.npz", **{**arrays, "X_test": arrays["X_test"][:, :2]})
    source = ("--data", tmp_path / "odd.npz", "--array", "X_train", "--target", "y_train", "--test", "X_test")
    assert refusal("dpis", "train", *source, *RUN, *MODEL, "--out", tmp_path / "out")["parameter"] == "test"


@pytest.mark.soundness
@pytest.mark.skipif("CERTDP_DATA" not in os.environ, reason="no real data")
@pytest.mark.parametrize("method", [(), ("--uniform",)], ids=["dpis", "dp-sgd"])
def test_digits_are_told_apart(method: tuple[str, ...], certdp: Command, tmp_path: Path) -> None:
    data = Path(os.environ["CERTDP_DATA"]) / "mnist.npz.xz"
    arrays = ("--array", "X_train", "--target", "y_train", "--test", "X_test", "--divide-by", 255)
    run = ("--records", 60000, "--batch", 512, "--epochs", 3, "--epsilon", 2, "--delta", "1e-5")
    model = ("--model", "logistic", "--classes", 10, *method)
    found = certdp("dpis", "train", "--data", data, *arrays, *run, *model, "--out", tmp_path / "out", "--json").json
    assert found["private"]["test_accuracy"] > 0.87
    assert found["epsilon"][1] <= 2
