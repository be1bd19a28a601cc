"""`certdp cluster`: centres within ε, a certificate that holds, and refusals before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp.verification.certificates.writing import public_certificate

pytest.importorskip("sklearn")

Command = Callable[..., Any]


@pytest.fixture
def given(table: Path, tmp_path: Path) -> tuple[object, ...]:
    return ("cluster", "--data", table, "--epsilon", "2", "--clusters", 3, "--output", tmp_path / "centres.csv")


@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        ("full", []),
        ("poisson", ["rate=0.5", "weighted=true"]),
        ("coreset", ["m=20", "n=60", "mean_squared_norm=4", "sampler.radius=4"]),
        ("privacy-constrained", ["noise_scale=400"]),
    ],
)
def test_centres_and_a_certificate_that_holds(
    certdp: Command, given: tuple[object, ...], tmp_path: Path, sampler: str, options: list[str]
) -> None:
    stated = [part for option in ["radius=4", "max_iter=3", *options] for part in ("--option", option)]
    ran = certdp(*given, "--sampler", sampler, *stated, "--certificate", tmp_path / "out.json", "--json")
    assert ran.code == 0, ran.err
    data = ran.json
    assert data["epsilon"][0] is None
    assert 1.99 < data["epsilon"][1] <= 2
    assert data["guarantee"]["domain"] == {"norm": "2", "radius": "4", "dimension": 4}
    assert data["private"]["n"] == 60
    assert data["iterations"] == 3
    centres = np.loadtxt(tmp_path / "centres.csv", delimiter=",", skiprows=1)
    assert centres.shape == (3, 4)
    assert np.all(np.linalg.norm(centres, axis=1) <= 4 * (1 + 1e-12))
    checked = certdp("check", tmp_path / "out.json", "--json")
    assert checked.code == 0
    assert certdp(*given, "--sampler", sampler, *stated).out.startswith("3 centres after 3 iterations")


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        ([], "radius"),
        (["--option", "radius=4", "--option", "colour=red"], "option"),
        (["--option", "radius=4", "--option", "radius=5"], "option"),
        (["--option", "radius"], "option"),
        (["--option", "radius=4", "--option", "max_iter=many"], "max_iter"),
        (["--option", "radius=4", "--option", "max_iter=0"], "max_iter"),
        (["--option", "radius=4", "--outside", "keep"], "outside"),
        (["--option", "radius=4", "--sampler", "privacy-constrained"], "noise_scale"),
        (["--option", "radius=4", "--sampler", "poisson"], "rate"),
        (["--option", "radius=4", "--epsilon", "0"], "epsilon"),
        (["--option", "radius=4", "--certificate", "nowhere/out.json"], "certificate"),
    ],
)
def test_refusals_write_nothing(
    refusal: Command, given: tuple[object, ...], tmp_path: Path, more: list[str], parameter: str
) -> None:
    assert refusal(*given, *more)["parameter"] == parameter
    assert not (tmp_path / "centres.csv").exists()


def test_a_constant_that_run_and_sampler_have_is_never_a_default_without_a_word(
    certdp: Command, refusal: Command, given: tuple[object, ...]
) -> None:
    options = ("--sampler", "importance", "--option", "rate=0.5", "--option", "radius=4", "--option", "floor=0.1")
    error = refusal(*given, *options, "--option", "norm=2")
    assert error["parameter"] == "option"
    assert "run.norm=2" in error["remedy"]
    assert "sampler.norm=" in error["remedy"]
    for meant in (("run.norm=2",), ("norm=2", "sampler.norm=2")):
        assert certdp(*given, *options, *(word for option in meant for word in ("--option", option))).code == 0


def test_constants_that_the_checker_does_not_take(refusal: Command, given: tuple[object, ...], tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    long = "4." + 720 * "0" + "1"
    error = refusal(*given, "--option", f"radius={long}", "--certificate", tmp_path / "out.json")
    assert error["parameter"] == "certificate"
    assert "700 digits" in error["remedy"]
    assert sorted(tmp_path.iterdir()) == before


def test_centres_appear_only_with_a_certificate_that_the_checker_proves(
    refusal: Command, given: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from certdp import clustering

    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(
        clustering, "public_certificate", lambda claim: public_certificate(claim).replace(b'"pure"', b'"puer"')
    )
    error = refusal(*given, "--option", "radius=4", "--certificate", tmp_path / "out.json")
    assert error["parameter"] == "certificate"
    assert sorted(tmp_path.iterdir()) == before
