"""`certdp risk`: figures, keys, words, picture and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

NORMAL = NormalDist()
GAUSSIAN = ("--mechanism", "gaussian-sum", "--sampler", "full", "--option", "noise_multiplier=1")
LAPLACE = ("--mechanism", "laplace-sum", "--sampler", "full", "--option", "scale=1", "--option", "radius=1")

Command = Callable[..., Any]


def test_the_rates_for_programs(certdp: Command) -> None:
    data = certdp("risk", *GAUSSIAN, "--false-positive-rate", "1/10", "--prior", "0.25", "--json").json
    assert list(data)[:6] == ["mechanism", "sampler", "resample", "steps", "repetitions", "strategy"]
    assert (data["false_positive_rate"], data["prior"], data["accountant"]) == (0.1, 0.25, "loss-distribution")
    assert (data["guarantee"]["unit"], data["guarantee"]["relation"]) == ("record", "add-remove")
    assert {"name": "mechanism.noise_multiplier", "value": "1"} in data["assumptions"]
    shift = -1.0986122886681098  # log(1/3)
    wrong = 0.25 * NORMAL.cdf(-0.5 - shift) + 0.75 * NORMAL.cdf(-0.5 + shift)
    truths = {
        "advantage": 2 * NORMAL.cdf(0.5) - 1,
        "true_positive_rate": 1 - NORMAL.cdf(NORMAL.inv_cdf(0.9) - 1),
        "bayes_risk": wrong,
    }
    for name, truth in truths.items():
        lower, upper = data[name]
        assert lower - 1e-12 <= truth <= upper + 1e-12
        assert upper - lower < 1e-6


def test_the_rates_for_people(certdp: Command) -> None:
    page = certdp("risk", *LAPLACE).out
    for words in (
        "laplace-sum on a sample drawn by full",
        "membership advantage ≤ 0.39347",
        "true-positive rate ≤ 0.0271829 at false-positive rate 0.01",
        "Bayes risk ≥ 0.303265 at prior 0.5",
        "unit record, relation add-remove",
        "Dong, Roth, Su 2022",
    ):
        assert words in page
    assert len(certdp("risk", *LAPLACE, "--full").out) > len(page)


def test_the_certificate_states_the_rates(certdp: Command, tmp_path: Path) -> None:
    path = tmp_path / "risk.json"
    words = ("risk", *GAUSSIAN, "--false-positive-rate", "1/1000", "--prior", "1/3", "--certificate", path)
    data = certdp(*words, "--json").json
    found = data["certified"]
    assert data["certificate"] == str(path)
    assert data["advantage"][0] <= found["membership_advantage"] <= data["advantage"][1] * (1 + 1e-6)
    assert data["true_positive_rate"][0] <= found["true_positive_rate"] <= data["true_positive_rate"][1] * (1 + 1e-6)
    assert data["bayes_risk"][1] >= found["bayes_risk"] >= data["bayes_risk"][0] * (1 - 1e-6)
    assert "proves membership advantage " in certdp(*words).out
    checked = certdp("check", path, "--require", "proved", "--json").json
    assert checked["verdict"] == "holds"
    assert checked["parameters"].keys() == {"membership-advantage", "true-positive-rate", "bayes-risk"}
    assert certdp("check", path, "--max-epsilon", "100").code == 1  # it bounds no ε


@pytest.mark.slow
def test_several_runs_and_a_picture(certdp: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    plan, picture = tmp_path / "plan.toml", tmp_path / "risk.png"
    one = '[[release]]\nmechanism = "laplace-sum"\nsampler = "full"\noption = {scale = 2}\n'
    plan.write_text("[domain]\nradius = 1\n" + 2 * one)
    data = certdp("risk", "--plan", plan, "--plot", picture, "--json").json
    assert len(data["plan"]["releases"]) == 2
    assert data["plot"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_one_accountant(certdp: Command) -> None:
    data = certdp("risk", *LAPLACE, "--accountant", "renyi", "--json").json
    assert data["accountant"] == "renyi"
    assert data["advantage"][0] == 0


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        (("--prior", "2"), "prior"),
        (("--false-positive-rate", "-1"), "false-positive-rate"),
        (("--accountant", "nobody"), "accountant"),
        (("--plan", "plan.toml"), "mechanism"),
    ],
)
def test_refusals(certdp: Command, options: tuple[str, ...], parameter: str) -> None:
    ran = certdp("risk", *LAPLACE, *options, "--json")
    assert ran.code == 2
    assert ran.json["error"]["parameter"] == parameter
