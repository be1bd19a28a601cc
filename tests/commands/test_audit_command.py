"""`certdp audit`: exit codes, keys, words and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

LAPLACE = ("audit", "--mechanism", "laplace-sum", "--option", "scale=1", "--option", "radius=1", "--seed", 1)
GAUSSIAN = ("audit", "--mechanism", "gaussian-sum", "--sampler", "poisson", "--option", "noise_multiplier=1")
KEYS = ("audit", "--mechanism", "pws-keys", "--option", "epsilon=0.5", "--option", "delta=0.01", "--seed", 1)
FEW = ("--trials", 20_000)

Command = Callable[..., Any]


def test_a_claim_that_holds(certdp: Command) -> None:
    ran = certdp(*LAPLACE, *FEW, "--epsilon", "1", "--json")
    assert ran.code == 0
    data = ran.json
    assert data["claim"] == {"epsilon": 1.0, "delta": 0.0, "source": "given"}
    assert not data["refuted"]
    assert 0.6 < data["epsilon_lower"] < 1
    assert (data["sampler"], data["steps"], data["trials"], data["confidence"]) == ("full", 1, 20_000, 0.999)
    assert data["inputs"] == "a record (1, 0), present and absent"
    assert {count["trials"] for count in data["counts"].values()} == {8000}
    assert data["search"] == {"tried": 4, "runs": 4000}
    assert data["power"]["runs"] == 16_000
    assert set(data["counts"]) == {"first", "second"}
    assert set(data["event"]) == {"statistic", "threshold", "above"}
    assert "the output" in data["event"]["statistic"]
    assert set(data["power"]) == {"runs", "epsilon_lower_most", "epsilon_refutable"}
    assert data["epsilon_lower"] < 1 < data["power"]["epsilon_refutable"] < data["power"]["epsilon_lower_most"]


def test_a_claim_that_is_refuted_ends_with_1(certdp: Command) -> None:
    ran = certdp(*LAPLACE, *FEW, "--epsilon", "0.5", "--delta", "0")
    assert ran.code == 1
    assert "ε = 0.5 at δ = 0, as claimed: refuted" in ran.out
    assert "runs on the first input" in ran.out


@pytest.mark.slow
def test_without_a_claim_it_is_what_certdp_proves(certdp: Command) -> None:
    ran = certdp(*GAUSSIAN, "--option", "rate=0.3", "--steps", 4, "--resample", "each", *FEW, "--delta", "1e-2")
    assert ran.code == 0
    assert "gaussian-sum on a sample drawn by poisson, 4 releases" in ran.out
    assert "at δ = 0.01, what certdp proves: not refuted" in ran.out
    assert "power: 16,000 runs on each input can show ε ≥ " in ran.out
    assert "never confirm one" in ran.out


@pytest.mark.slow
def test_a_seed_repeats_it_and_the_system_does_not(certdp: Command) -> None:
    first, again, other = (certdp(*LAPLACE[:-1], seed, *FEW, "--json").json["counts"] for seed in (1, 1, 2))
    assert first == again != other
    assert certdp(*LAPLACE[:-2], *FEW, "--json").json["seed"] is None


def test_sampled_keys(certdp: Command) -> None:
    data = certdp(*KEYS, *FEW, "--json").json
    assert data["sampler"] == "every-key"
    assert data["claim"]["delta"] == 0.01
    assert data["claim"]["source"] == "proven by certdp"
    assert not data["refuted"]
    assert certdp(*KEYS, "--sampler", "ppswor", "--option", "threshold=0.1", *FEW, "--epsilon", "0.2").code == 1


def test_weights_that_are_solved_for(certdp: Command) -> None:
    options = ("--sampler", "privacy-constrained", "--option", "target=0.5")
    data = certdp(*LAPLACE[:3], "--option", "scale=4", *LAPLACE[5:], *options, *FEW, "--json").json
    assert data["claim"]["epsilon"] == 0.5
    assert not data["refuted"]


def test_records_of_ones_own(certdp: Command, tmp_path: Path) -> None:
    file = tmp_path / "records.npy"
    np.save(file, np.array([[0.2], [0.5]]))
    data = certdp(*LAPLACE, *FEW, "--neighbours", file, "--epsilon", "1", "--json").json
    assert data["inputs"] == "the last record, present and absent"
    assert 0.2 < data["epsilon_lower"] < 0.5


def test_one_release_at_a_time(certdp: Command) -> None:
    assert certdp(*LAPLACE, "--trials", 2000, "--one-by-one", "--json").json["epsilon_lower"] < 1


@pytest.mark.parametrize(
    ("arguments", "parameter", "admissible"),
    [
        ((*LAPLACE, "--trials", 20, "--epsilon", "3"), "trials", "at least 313 runs on each input"),
        ((*LAPLACE, "--epsilon", "-1"), "epsilon", "≥ 0"),
        ((*LAPLACE, "--epsilon", "x"), "epsilon", "a number"),
        ((*LAPLACE, "--delta", "1"), "delta", "below 1"),
        ((*LAPLACE, "--delta", "2"), "delta", "≤ 1"),
        ((*LAPLACE, "--confidence", "1"), "confidence", "between 0 and 1"),
        ((*LAPLACE, "--confidence", "much"), "confidence", "a number"),
        ((*LAPLACE[:3], "--option", "scale=0"), "scale", "a number > 0"),
        ((*LAPLACE[:5], "--option", "radius=-1"), "radius", "a number > 0"),
        ((*LAPLACE, "--option", "dimension=two"), "dimension", "a whole number"),
        ((*LAPLACE, "--steps", 3), "resample", "once or each"),
        ((*LAPLACE[:5], "--seed", 1), "radius", "public bound"),
        ((*GAUSSIAN, "--option", "rate=0.3"), "delta", "a finite ε"),
        ((*KEYS, "--sampler", "poisson", "--option", "rate=0.1"), "sampler", "keyed data"),
        ((*KEYS, "--one-by-one"), "one_by_one", "for keyed data"),
        ((*LAPLACE, "--neighbours", "absent.npy"), "data", "file"),
        (("audit", "--mechanism", "laplace-sums"), "mechanism", "laplace-sum"),
    ],
)
def test_bad_input(refusal: Callable[..., dict[str, str]], arguments: Any, parameter: str, admissible: str) -> None:
    error = refusal(*arguments)
    assert error["parameter"] == parameter
    assert admissible in error["admissible"]
    assert "what is admissible" not in error["remedy"]  # the word for errors that do not say what to do
