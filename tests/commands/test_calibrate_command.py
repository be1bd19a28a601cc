"""`certdp calibrate`: values found, keys, words and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

Command = Callable[..., Any]

GAUSSIAN = ("calibrate", "--mechanism", "gaussian-sum", "--sampler", "poisson", "--option", "rate=0.01")
LAPLACE = ("calibrate", "--mechanism", "laplace-sum", "--sampler", "full", "--option", "radius=1")
CORRELATED = (
    *("calibrate", "--mechanism", "gaussian-sum", "--strategy", "1,0.5,0.375,0.3125", "--steps", 100),
    *("--option", "participation.times=4", "--option", "apart=25", "--epsilon", "1.315", "--delta", "1e-6"),
)


@pytest.mark.slow
def test_the_noise_of_the_reference(certdp: Command) -> None:
    steps = ("--steps", 1000, "--resample", "each")
    ran = certdp(*GAUSSIAN, *steps, "--find", "noise_multiplier", "--epsilon", 1, "--delta", "1e-5", "--json")
    data = ran.json
    assert ran.code == 0
    assert data["value"] == pytest.approx(1.41462, abs=1e-5)
    assert (data["refuted"], data["gap"] < 1e-6) == (True, True)
    assert data["delta"][1] <= 1e-5
    assert data["accountant"] == "loss-distribution"
    assert {"name": "mechanism.noise_multiplier", "value": data["exact"]} in data["assumptions"]


def test_laplace_noise(certdp: Command) -> None:
    data = certdp(*LAPLACE, "--find", "scale", "--epsilon", "0.5", "--json").json
    assert data["value"] == pytest.approx(2.0, rel=1e-6)
    assert data["value"] >= 2.0
    assert data["epsilon"][1] <= 0.5
    assert (data["refuted"], data["find"]) == (True, "scale")


def test_steps_in_words(certdp: Command) -> None:
    out = certdp(*LAPLACE, "--option", "scale=10", "--resample", "each", "--find", "steps", "--epsilon", "0.75").out
    assert "steps = 7\n" in out
    assert "steps = 8 is proven to exceed the budget" in out
    assert "0.7" in out


def test_a_rate_within_its_range(certdp: Command) -> None:
    common = ("calibrate", "--mechanism", "count", "--option", "scale=1", "--sampler", "poisson", "--find", "rate")
    data = certdp(*common, "--epsilon", "2", "--json").json
    assert (data["value"], data["refused"], data["gap"]) == (1.0, None, 0.0)
    assert "the end of the range" in certdp(*common, "--epsilon", "2").out
    assert certdp(*common, "--epsilon", "2", "--at-most", "0.25", "--json").json["value"] == 0.25


@pytest.mark.parametrize("find", ["noise_multiplier", "scale"])
def test_correlated_noise_is_as_many_times_larger_as_a_record_moves_farther(
    find: str, certdp: Command, tmp_path: Path
) -> None:
    """Beside one Gaussian sum: four columns 25 steps apart do not overlap, each as long as the coefficients."""
    one = ("calibrate", "--mechanism", "gaussian-sum", "--sampler", "full", "--epsilon", "1.315", "--delta", "1e-6")
    radius = ("--option", "radius=3")
    path = tmp_path / "certificate.json"
    ran = certdp(*CORRELATED, *radius, "--find", find, "--certificate", path, "--json")
    data, plain = ran.json, certdp(*one, *radius, "--find", find, "--json").json
    times = math.sqrt(4 * (1 + 0.5**2 + 0.375**2 + 0.3125**2))
    assert data["value"] == pytest.approx(plain["value"] * times, rel=1e-6)
    assert data["refuted"]
    assert data["delta"][1] <= 1e-6
    assert certdp("check", path, "--require", "proved", "--max-epsilon", "1.315", "--max-delta", "1e-6").code == 0


def test_correlated_noise_in_words(certdp: Command) -> None:
    out = certdp(*CORRELATED, "--find", "noise_multiplier").out
    assert "gaussian-sum, correlated noise by Toeplitz, 4 of 100 diagonals" in out
    assert "each record in at most 4 of them, at least 25 apart" in out
    assert "noise_multiplier = 7.9999" in out


ALLOCATED = (
    *("calibrate", "--mechanism", "gaussian-sum", "--sampler", "random-allocation"),
    *("--option", "noise_multiplier=1", "--epsilon", 1, "--delta", "1e-5"),
)


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (("calibrate", "--mechanism", "laplace-sum", "--find", "scale", "--epsilon", 1), "sampler"),
        ((*CORRELATED, "--option", "noise_multiplier=1", "--find", "steps"), "find"),
        ((*CORRELATED, "--option", "noise_multiplier=1", "--find", "participation.times"), "find"),
        ((*CORRELATED, "--find", "nothing"), "find"),
        ((*CORRELATED, "--find", "noise_multiplier", "--sampler", "full"), "sampler"),
        ((*CORRELATED, "--find", "noise_multiplier", "--resample", "each"), "resample"),
        ((*CORRELATED, "--find", "noise_multiplier", "--contributions", 2), "contributions"),
        ((*ALLOCATED, "--find", "batches"), "find"),
        ((*ALLOCATED, "--option", "batches=8", "--find", "sampler.participations"), "find"),
        ((*LAPLACE, "--find", "radius", "--epsilon", 1), "find"),
        ((*LAPLACE, "--find", "nothing", "--epsilon", 1), "find"),
        ((*LAPLACE, "--option", "scale=1", "--find", "scale", "--epsilon", 1), "find"),
        ((*LAPLACE, "--option", "scale=1", "--find", "steps", "--epsilon", 1), "resample"),
        ((*LAPLACE, "--find", "scale", "--epsilon", "0"), "budget"),
        ((*LAPLACE, "--find", "scale", "--epsilon", "1", "--accountant", "nobody"), "accountant"),
        ((*LAPLACE, "--find", "scale", "--epsilon", "-1"), "epsilon"),
    ],
)
def test_refusals_name_the_parameter(certdp: Command, arguments: tuple[object, ...], parameter: str) -> None:
    ran = certdp(*arguments, "--json")
    assert ran.code == 2
    assert ran.json["error"]["parameter"] == parameter


KEYS = ("--mechanism", "pws-keys", "--option", "epsilon=0.1", "--option", "delta=1e-6", "--sampler", "ppswor")


@pytest.mark.slow
def test_how_many_releases_of_keys(certdp: Command) -> None:
    common = ("calibrate", *KEYS, "--option", "threshold=0.01", "--resample", "each", "--find", "steps")
    data = certdp(*common, "--epsilon", "1", "--delta", "1e-5", "--json").json
    assert (data["value"], data["refused"], data["refuted"]) == (10, 11, True)  # ten times the declared ε, and δ


def test_of_keys_nothing_else_is_looked_for(certdp: Command) -> None:
    ran = certdp("calibrate", *KEYS, "--find", "threshold", "--epsilon", "1", "--delta", "1e-5", "--json")
    assert (ran.code, ran.json["error"]["parameter"]) == (2, "find")


def test_a_picture_is_written(certdp: Command, tmp_path: Path) -> None:
    picture = tmp_path / "noise.png"
    data = certdp(*LAPLACE, "--find", "scale", "--epsilon", "0.5", "--plot", picture, "--json").json
    assert data["plot"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


NOISE = ("calibrate", "--mechanism", "gaussian-sum", "--sampler", "full", "--find", "noise_multiplier")


@pytest.mark.parametrize(
    "limit",
    [
        # of normal noise alone: α/(2σ²), 1/(2σ²), 1/σ, and the advantage 2Φ(1/2σ) − 1
        ("--tau", "1/2", "--order", "4"),
        ("--rho", "1/8"),
        ("--mu", "1/2"),
        ("--advantage", repr(2 * NormalDist().cdf(1 / 4) - 1)),
        ("--bayes-risk", repr(NormalDist().cdf(-1 / 4)), "--prior", "1/2"),
        # Φ(Φ⁻¹(f) + 1/σ) of members are found
        ("--true-positive-rate", repr(NormalDist().cdf(-1)), "--false-positive-rate", repr(NormalDist().cdf(-1.5))),
        ("--false-negative-rate", repr(NormalDist().cdf(1)), "--false-positive-rate", repr(NormalDist().cdf(-1.5))),
    ],
)
def test_noise_of_two_keeps_every_limit_that_it_should(certdp: Command, limit: tuple[str, ...]) -> None:
    data = certdp(*NOISE, *limit, "--json").json
    assert data["value"] == pytest.approx(2, rel=1e-5)
    assert data["budget"].keys() == {"limit"}
    assert "  keeps " in certdp(*NOISE, *limit).out


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ((), "epsilon"),
        (("--epsilon", "1", "--rho", "1"), "epsilon"),
        (("--tau", "1"), "order"),
        (("--true-positive-rate", "1/2"), "false-positive-rate"),
        (("--bayes-risk", "1/3"), "prior"),
        (("--rho", "1", "--delta", "1e-5"), "delta"),
        (("--mu", "1", "--prior", "1/2"), "prior"),
        (("--bayes-risk", "1/2", "--prior", "1/2"), "bayes-risk"),
        (("--advantage", "0"), "advantage"),
        (("--advantage", "no"), "advantage"),
        (("--tau", "1", "--order", "1"), "order"),
        (("--true-positive-rate", "1/3", "--false-positive-rate", "1/2"), "true-positive-rate"),
        (("--rho", "1", "--accountant", "renyi"), "accountant"),
        (("--rho", "1", "--plot", "p.png"), "plot"),
    ],
)
def test_a_limit_is_one_with_all_that_it_needs(certdp: Command, arguments: tuple[str, ...], parameter: str) -> None:
    ran = certdp(*NOISE, *arguments, "--json")
    assert ran.code == 2
    assert ran.json["error"]["parameter"] == parameter
