"""The networks of the paper in the tables of training: every method, on a few images and texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.accounting.errors import InvalidValue
from certdp.data import Reading
from certdp.experiments import networks, training_runs
from certdp.experiments.catalogue import EXPERIMENTS
from certdp.experiments.experiment import ExperimentOptions
from certdp.mechanisms.lloyd import Split


def options(name: str, data: Path, out: Path) -> ExperimentOptions:
    return ExperimentOptions(
        name=name,
        data=data,
        reading=Reading(divide_by="1"),
        repetitions=1,
        sizes=(),
        epsilons=("8",),
        split=Split.PUBLISHED,
        seed=0,
        out=out,
    )


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    words = generator.integers(0, 20, (80, 6)).astype(np.uint16)
    path = tmp_path / "texts.npz"
    flags, vocabulary = np.arange(80) % 4 == 0, np.array([str(number) for number in range(20)])
    np.savez(path, X=words, label=np.arange(80) % 2, is_test=flags, vocab=vocabulary)
    return path


@pytest.fixture
def images(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    pixels, labels = generator.random((80, 256)), np.arange(80) % 2
    path = tmp_path / "images.npz"
    np.savez(path, X_train=pixels, y_train=labels, X_test=pixels[:20], y_test=labels[:20])
    return path


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_runs, "EPOCHS", 1)
    for kind in (networks.Convolutional, networks.Recurrent):
        monkeypatch.setattr(kind, "rates", (0.1,))


def rows(name: str, data: Path, out: Path) -> list[dict[str, Any]]:
    out.mkdir(exist_ok=True)
    found: list[dict[str, Any]] = (
        EXPERIMENTS[name].prepare(options(name, data, out)).compute(lambda _: None).summary["rows"]
    )
    return found


def test_recurrent_networks_on_texts(texts: Path, tmp_path: Path) -> None:
    found = rows("dpis-table3-lstm", texts, tmp_path / "out")
    assert [row["method"] for row in found] == ["dpis", "dp-sgd", "dp-sgd-decay", "dp-sgd-ts"]
    assert all(0 < row["epsilon_paid"] <= 8 and 0 <= row["private_test_accuracy"] <= 1 for row in found)


def test_convolutional_networks_on_images(images: Path, tmp_path: Path) -> None:
    pytest.importorskip("kymatio.numpy", reason="features need kymatio", exc_type=ImportError)
    found = rows("dpis-table3-cnn", images, tmp_path / "out")
    names = ["dpis-hf", "dp-sgd-hf", "dpis", "dp-sgd", "dp-sgd-decay", "dp-sgd-ts"]
    assert [row["method"] for row in found] == names
    assert all(0 < row["epsilon_paid"] <= 8 for row in found)


def test_pictures_are_no_texts(images: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="numbers of words"):
        rows("dpis-table3-lstm", images, tmp_path / "out")
