"""`--certificate` of `certdp dpis plan` and `train`, and what `certdp check` says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Command = Callable[..., Any]
RUN = (
    *("--records", 300, "--batch", 20, "--epochs", 2, "--steps-per-epoch", 3, "--norm-noise", 60),
    *("--epsilon", "1.5", "--delta", "1e-5"),
)
MODEL = ("--model", "logistic", "--classes", 2, "--target", "y")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "records.npz"
    random = np.random.default_rng(0)
    np.savez(path, X=random.standard_normal((300, 2)), y=random.integers(0, 2, 300))
    return path


@pytest.mark.slow
def test_the_plan_of_a_run_with_its_certificate(certdp: Command, tmp_path: Path) -> None:
    place = tmp_path / "certificate.json"
    found = certdp("dpis", "plan", *RUN, "--size-noise", 30, "--certificate", place, "--json").json
    assert found["certificate"] == str(place)
    assert found["certified"] == {"epsilon": 1.5, "delta": 1e-5, "method": "renyi-filter"}
    checked = certdp("check", place, "--json")
    assert (checked.code, checked.json["verdict"]) == (0, "holds")
    assert checked.json["epsilon"] == [None, 1.5]


@pytest.mark.parametrize("name", ["model.npz", "run.json", "history.csv", "history.png", "private-steps.csv"])
def test_a_certificate_takes_no_place_of_the_run(name: str, data: Path, refusal: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    error = refusal("dpis", "train", "--data", data, *MODEL, *RUN, "--output", out, "--certificate", out / name)
    assert error["parameter"] == "certificate"
    assert "a name that no file of the run has" in error["admissible"]
    assert not out.exists()


@pytest.mark.slow
def test_a_trained_model_with_its_certificate(data: Path, certdp: Command, tmp_path: Path) -> None:
    out = tmp_path / "out"
    place = out / "certificate.json"
    train = ("dpis", "train", "--data", data, *MODEL, *RUN, "--output", out)
    found = certdp(*train, "--certificate", place, "--json").json
    assert found["certified"]["method"] == "renyi-filter"
    assert found["certified"]["epsilon"] == 1.5
    assert certdp("check", place).code == 0
    steps = [part for part in json.loads(place.read_text("utf-8"))["parts"] if part["steps"] == 3]
    stated = {float(Fraction(part["sampler"]["options"]["rate"])) for part in steps}
    assert stated == set(found["epochs"]["rate"])
    content = place.read_bytes()
    place.unlink()
    shown = certdp(*train, "--certificate", place, "--resume").out
    assert "proves (1.5, 1e-05)-DP by renyi-filter" in shown
    assert place.read_bytes() == content


@pytest.mark.parametrize(
    ("more", "parameter"),
    [(("--seed", 1), "certificate"), (("--certificate", "/nowhere/at/all.json"), "certificate")],
    ids=["seeded", "no folder"],
)
def test_what_has_no_certificate_costs_nothing(
    more: tuple[object, ...], parameter: str, data: Path, refusal: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    place = () if "--certificate" in more else ("--certificate", tmp_path / "certificate.json")
    error = refusal("dpis", "train", "--data", data, *MODEL, *RUN, "--output", out, *place, *more)
    assert error["parameter"] == parameter
    assert not out.exists()
