# pyright: reportMissingImports=false
"""`certdp dpis train` with networks of PyTorch: what it writes, kills that it survives, and what costs nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.dpis.models import ImageShape
from certdp.dpis.torch import ReviewClassifier, small_cnn
from certdp.verification.checker import check

RECORDS, WORDS = 200, 12
RUN = ("--records", RECORDS, "--batch", 20, "--epochs", 2, "--epsilon", 8, "--delta", "1e-5", "--order", 4)
ANY = ("--classes", 2, "--optimiser", "adam")
DPIS, DP_SGD = ("--norm-noise", 6), ("--uniform", "--noise-decay", "0.9")
NOISE = (*DPIS, *ANY)
MODELS: dict[str, tuple[object, ...]] = {
    "cnn": ("--model", "cnn", "--image", "14x15", "--learning-rate", 0.02),
    "lstm": ("--model", "lstm", "--words", WORDS, "--width", 8, "--hidden", 6, "--learning-rate", 0.1),
}


@pytest.fixture(autouse=True)
def _binary32() -> None:
    torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images whose left or right half is bright, and texts of low or high words with gaps at their end."""
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, RECORDS + 100)
    images = random.integers(0, 60, (len(labels), 14, 15), dtype=np.uint8)
    images[labels == 0, :, :7] += 180
    images[labels == 1, :, 8:] += 180
    texts = random.integers(1, 1 + WORDS // 2, (len(labels), 5)) + labels[:, np.newaxis] * (WORDS // 2)
    texts[::3, 4] = 0
    train, test = slice(0, RECORDS), slice(RECORDS, None)
    for name, rows in (("cnn", images), ("lstm", texts.astype(np.uint16))):
        parts: dict[str, Any] = {
            "X_train": rows[train],
            "y_train": labels[train],
            "X_test": rows[test],
            "y_test": labels[test],
        }
        np.savez(folder / f"{name}.npz", **parts)
    return folder


def source(files: Path, model: str) -> tuple[object, ...]:
    arrays = ("--array", "X_train", "--target", "y_train", "--test", "X_test")
    return "--data", files / f"{model}.npz", *arrays, *(("--divide-by", 255) if model == "cnn" else ())


def command(*arguments: object) -> Any:
    """The JSON of a command, with its exit code."""
    result = CliRunner().invoke(app, ["dpis", "train", *map(str, arguments), "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return {"code": result.exit_code, **json.loads(result.stdout)}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", [DPIS, DP_SGD], ids=["dpis", "dp-sgd"])
def test_networks_learn(model: str, method: tuple[object, ...], files: Path, tmp_path: Path) -> None:
    """Two classes, easily told apart; of the LSTM one run in eight ends near chance, hence the median of three."""
    accuracies = []
    for seed in (3, 4, 5):
        seeded = (*RUN, *ANY, *method, "--seed", seed, "--output", tmp_path / f"out{seed}")
        data = command(*source(files, model), *MODELS[model], *seeded)
        assert (data["code"], data["model"], data["epsilon"]) == (0, model, None)
        assert data["epochs"]["steps"] == [10, 10]
        accuracies.append(data["private"]["test_accuracy"])
    assert median(accuracies) > 0.8


@pytest.mark.parametrize("way", [(), ("--exact-sums",)], ids=["batches", "one by one"])
def test_what_is_assumed_is_said(way: tuple[str, ...], files: Path, tmp_path: Path) -> None:
    """Of records that pass one by one, neither real-valued noise nor anything of batches: also in the certificate."""
    written = tmp_path / "certificate.json"
    options = (*RUN, *ANY, *DPIS, "--output", tmp_path / "out", "--certificate", written)
    data = command(*source(files, "cnn"), *MODELS["cnn"], *options, *way)
    of_floats = {"real-valued noise", "contributions independent of the batch"}
    assert of_floats & {assumption["name"] for assumption in data["assumptions"]} == (set() if way else of_floats)
    assert check(written.read_bytes()).outcome.value == "holds"
    assert ("real-valued noise" in written.read_text()) == (not way)
    assert data["options"].get("exact_sums", False) is bool(way)


@pytest.mark.parametrize(
    ("model", "network"),
    [
        ("cnn", lambda: small_cnn(classes=2, shape=ImageShape(1, 14, 15))),
        ("lstm", lambda: ReviewClassifier(words=WORDS + 1, width=8, units=6, classes=2)),
    ],
    ids=list(MODELS),
)
def test_what_was_learned_is_in_the_file_under_the_names_of_pytorch(
    model: str, network: Any, files: Path, tmp_path: Path
) -> None:
    found = command(*source(files, model), *MODELS[model], *RUN, *NOISE, "--output", tmp_path / "out")
    assert found["private_coins"]
    assert 0 < found["paid"] <= found["epsilon"][1] <= 8
    made: nn.Module = network()
    with np.load(tmp_path / "out/model.npz") as stored, np.load(files / f"{model}.npz") as data:
        made.load_state_dict({name: torch.from_numpy(stored[name]).float() for name in stored.files})
        rows, labels = data["X_test"], data["y_test"]
    inputs = torch.from_numpy(rows / 255).float().unsqueeze(1) if model == "cnn" else torch.from_numpy(rows.astype(int))
    with torch.no_grad():
        hits = made(inputs).argmax(1).numpy() == labels
    assert hits.mean() == pytest.approx(found["private"]["test_accuracy"])


def test_a_seeded_run_repeats_and_others_begin_elsewhere(files: Path, tmp_path: Path) -> None:
    def parameters(name: str, *more: object) -> Any:
        command(*source(files, "cnn"), *MODELS["cnn"], *RUN, *NOISE, "--output", tmp_path / name, *more)
        with np.load(tmp_path / name / "model.npz") as stored:
            return stored["0.weight"]

    first, again, other = (parameters(str(n), "--seed", seed) for n, seed in enumerate((1, 1, 2)))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("model", MODELS)
def test_a_killed_run_is_resumed(model: str, files: Path, tmp_path: Path) -> None:
    """Killed by the operating system after some steps: the rest is trained within the same budget."""
    out = tmp_path / "out"
    many = (*RUN, *NOISE, "--steps-per-epoch", 60, "--checkpoint-every", 10)
    arguments = [str(part) for part in (*source(files, model), *MODELS[model], *many, "--output", out)]
    process = subprocess.Popen([sys.executable, "-m", "certdp", "dpis", "train", *arguments], env={**os.environ})
    checkpoint = out / "private-checkpoint.npz"
    changes: set[int] = set()
    while len(changes) < 4:  # the epoch has begun
        assert process.poll() is None
        if checkpoint.exists():
            changes.add(checkpoint.stat().st_mtime_ns)
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (out / "model.npz").exists()
    data = command(*arguments, "--resume")
    assert data["code"] == 0
    assert 120 - 10 <= sum(data["epochs"]["steps"]) <= 120
    assert 0 < data["paid"] <= 8
    assert (out / "model.npz").exists()


@pytest.mark.parametrize(
    ("model", "changed", "parameter"),
    [
        ("cnn", ("--image", "13x13"), "image"),
        ("cnn", ("--image", "2x7x15"), "image"),
        ("cnn", ("--image", "square"), "image"),
        ("cnn", ("--device", "abacus"), "device"),
        ("cnn", ("--classes", 2, "--target", "many"), "data"),
        ("cnn", ("--words", 5), "words"),
        ("cnn", ("--hidden", 5), "hidden"),
        ("lstm", ("--words", WORDS - 1), "words"),
        ("lstm", ("--array", "fractions"), "array"),
        ("lstm", ("--array", "negative"), "words"),
        ("lstm", ("--divide-by", 2), "divide-by"),
        ("lstm", ("--image", "1x5"), "image"),
    ],
)
def test_what_a_network_does_not_take_costs_nothing(
    model: str, changed: tuple[object, ...], parameter: str, files: Path, tmp_path: Path
) -> None:
    out, data = tmp_path / "out", tmp_path / "data.npz"
    with np.load(files / f"{model}.npz") as stored:
        texts = stored["X_train"].astype(float)
        odd = {"many": np.arange(RECORDS) % 3, "fractions": texts - 0.5 * (texts > 1), "negative": texts - 2}
        np.savez(data, **stored, **odd)
    arguments = (*source(files, model), *MODELS[model], *RUN, *NOISE, "--data", data, "--output", out)
    found = command(*(part for part in arguments if part not in ("--test", "X_test")), *changed)
    assert (found["code"], found["error"]["parameter"]) == (2, parameter)
    assert not out.exists()
