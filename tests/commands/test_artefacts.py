"""Certificates of what commands release: `certdp check --artefact` tells the files released from all others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]

BUDGET = ("--epsilon", "1", "--delta", "1e-3")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "counts.csv").write_text("key,count\n" + "".join(f"k{n},{1 + n % 20}\n" for n in range(400)))
    source = np.random.default_rng(0)
    np.save(folder / "points.npy", source.standard_normal((50, 2)))
    np.savez(folder / "labelled.npz", X=source.standard_normal((40, 2)), y=source.integers(0, 2, 40))
    return folder


def released_keys(certdp: Run, inputs: Path, out: Path, place: str) -> list[Path]:
    words = ("pws", "release", inputs / "counts.csv", *BUDGET, "--scheme", "ppswor", "--threshold", "0.1")
    assert certdp(*words, "--output", out / place, "--certificate", out / "c").code == 0
    return [out / place]


def sanitised_keys(certdp: Run, inputs: Path, out: Path) -> list[Path]:
    words = ("pws", "sample", inputs / "counts.csv", "--scheme", "ppswor", "--threshold", "0.1")
    assert certdp(*words, "--output", out / "drawn.csv").code == 0
    sanitise = ("pws", "sanitise", out / "drawn.csv", *BUDGET, "--output", out / "s.csv")
    assert certdp(*sanitise, "--certificate", out / "c").code == 0
    return [out / "s.csv"]


def centres(certdp: Run, inputs: Path, out: Path) -> list[Path]:
    words = ("cluster", "--data", inputs / "points.npy", "--epsilon", "1", "--clusters", "2", "--option", "radius=1")
    assert certdp(*words, "--output", out / "centres.csv", "--certificate", out / "c").code == 0
    return [out / "centres.csv"]


def model(certdp: Run, inputs: Path, out: Path) -> list[Path]:
    words = (
        *("dpis", "train", "--data", inputs / "labelled.npz", "--target", "y", "--model", "logistic", "--classes", "2"),
        *("--records", "40", "--batch", "8", "--epochs", "1", "--epsilon", "8", "--delta", "1e-5", "--norm-noise", "6"),
    )
    assert certdp(*words, "--output", out / "run", "--certificate", out / "c").code == 0
    return [out / "run" / name for name in ("model.npz", "history.csv", "run.json")]


RELEASES: dict[str, Callable[[Run, Path, Path], list[Path]]] = {
    "pws release, text": lambda certdp, inputs, out: released_keys(certdp, inputs, out, "s.csv"),
    "pws release, parquet": lambda certdp, inputs, out: released_keys(certdp, inputs, out, "s.parquet"),
    "pws sanitise": sanitised_keys,
    "cluster": centres,
    "dpis train": model,
}


@pytest.mark.parametrize("name", RELEASES)
def test_right_altered_and_swapped_outputs(name: str, certdp: Run, inputs: Path, tmp_path: Path) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    first, second = (RELEASES[name](certdp, inputs, folder) for folder in folders)
    certificate = folders[0] / "c"
    assert certdp("check", certificate, *(word for file in first for word in ("--artefact", file))).code == 0
    said = certdp("check", certificate, "--json").json
    assert said["artefacts"]["coins"] == "operating system"
    assert set(said["artefacts"]["files"]) >= {file.name for file in first}
    assert not any("private" in file for file in said["artefacts"]["files"])
    swapped = certdp("check", certificate, "--artefact", second[0])
    assert swapped.code == 1
    assert f"not met: artefact {second[0].name}" in swapped.out
    first[0].write_bytes(first[0].read_bytes() + b" ")
    assert certdp("check", certificate, "--artefact", first[0]).code == 1


def test_a_file_that_cannot_be_read(
    refusal: Callable[..., dict[str, str]], certdp: Run, inputs: Path, tmp_path: Path
) -> None:
    released_keys(certdp, inputs, tmp_path, "s.csv")
    assert refusal("check", tmp_path / "c", "--artefact", tmp_path / "absent")["parameter"] == "artefact"
