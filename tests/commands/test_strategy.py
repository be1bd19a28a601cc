"""`--strategy`: correlated noise on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp import GaussianSum, Public
from certdp.correlated_noise import (
    CorrelatedRun,
    CyclicPoisson,
    MatrixStrategy,
    Participation,
    Strategy,
    ToeplitzStrategy,
    TreeStrategy,
)

MECHANISM = ("--mechanism", "gaussian-sum", "--option", "noise_multiplier=8")
DELTA = ("--delta", "1e-6", "--json")
BANDS = [1, 0.5, 0.375]


def epsilon(strategy: Strategy, participation: Participation | CyclicPoisson) -> list[float | None]:
    mechanism = GaussianSum(noise_multiplier=Public(8))
    run = CorrelatedRun(mechanism=mechanism, strategy=strategy, participation=participation)
    answer = run.epsilon("1e-6").epsilon
    return [answer.lower, answer.upper]


def test_the_answer_is_that_of_the_run(certdp: Any) -> None:
    apart = ("--option", "participation.times=3", "--option", "apart=4", "--steps", 12)
    few = Participation(times=3, apart=4)
    data = certdp("epsilon", *MECHANISM, "--strategy", "1,0.5,0.375", *apart, *DELTA).json
    assert data["epsilon"] == epsilon(ToeplitzStrategy(BANDS, 12), few)
    assert (data["strategy"], data["sampler"], data["steps"]) == ("Toeplitz, 3 of 12 diagonals", None, 12)
    assert certdp("epsilon", *MECHANISM, "--strategy", "tree", *apart, *DELTA).json["epsilon"] == epsilon(
        TreeStrategy(12), few
    )
    told = certdp("delta", *MECHANISM, "--strategy", "tree", *apart, "--epsilon", 1).out
    assert "each record in at most 3 of them, at least 4 apart" in told


def test_groups_take_turns(certdp: Any) -> None:
    turns = ("--option", "participation.groups=4", "--option", "participation.rate=0.25", "--steps", 12)
    data = certdp("epsilon", *MECHANISM, "--strategy", "1,0.5,0.375", *turns, *DELTA).json
    assert data["epsilon"] == epsilon(ToeplitzStrategy(BANDS, 12), CyclicPoisson(groups=4, rate=0.25))


def test_a_strategy_is_read_from_a_file(certdp: Any, tmp_path: Path) -> None:
    matrix = np.tril(np.full((6, 6), 0.5)) + np.eye(6)
    np.save(tmp_path / "matrix.npy", matrix)
    np.save(tmp_path / "bands.npy", np.array(BANDS))
    times = ("--option", "times=2")
    found = certdp("epsilon", *MECHANISM, "--strategy", tmp_path / "matrix.npy", *times, *DELTA).json
    assert found["epsilon"] == epsilon(MatrixStrategy(matrix), Participation(times=2))
    found = certdp("epsilon", *MECHANISM, "--strategy", tmp_path / "bands.npy", *times, "--steps", 5, *DELTA).json
    assert found["epsilon"] == epsilon(ToeplitzStrategy(BANDS, 5), Participation(times=2))


LAPLACE = ("--mechanism", "laplace-sum", "--option", "scale=8", "--option", "radius=1")
KEYED = ("--mechanism", "pws-keys", "--option", "mechanism.epsilon=1", "--option", "mechanism.delta=1e-6")
TIMES = ("--option", "participation.times=2")


@pytest.mark.parametrize(
    ("words", "parameter"),
    [
        ((*MECHANISM, "--strategy", "fir", *TIMES), "strategy"),
        ((*MECHANISM, "--strategy", "0,1", *TIMES), "coefficients"),
        ((*MECHANISM, "--strategy", "1,inf", *TIMES), "coefficients"),
        ((*MECHANISM, "--strategy", "tree"), "participation.times"),
        ((*MECHANISM, "--strategy", "tree", "--option", "participation.times=0"), "participation.times"),
        ((*MECHANISM, "--strategy", "tree", "--option", "participation.times=a"), "participation.times"),
        ((*MECHANISM, "--strategy", "tree", "--steps", 4, "--option", "groups=2"), "participation.rate"),
        ((*MECHANISM, "--strategy", "1", "--option", "groups=2", "--option", "rate=2"), "rate"),
        ((*MECHANISM, "--strategy", "1", "--option", "groups=2", "--option", "rate=.1", *TIMES), "participation.times"),
        ((*MECHANISM, "--strategy", "1,1,1", "--option", "groups=2", "--option", "rate=.1"), "groups"),
        ((*MECHANISM, "--strategy", "tree", "--steps", 4, "--option", "participation.times=5"), "times"),
        ((*MECHANISM, "--strategy", "tree", "--option", "times=1", "--sampler", "full"), "sampler"),
        ((*MECHANISM, "--strategy", "tree", "--option", "times=1", "--resample", "each"), "resample"),
        ((*MECHANISM, "--strategy", "tree", "--option", "times=1", "--repetitions", "fixed"), "repetitions"),
        ((*MECHANISM, "--strategy", "tree", "--option", "times=1", "--contributions", 2), "contributions"),
        ((*LAPLACE, "--strategy", "tree", *TIMES), "mechanism"),
        ((*KEYED, "--strategy", "tree", *TIMES), "sampler"),
        ((*MECHANISM, "--sampler", "full", "--option", "participation.times=2"), "option"),
    ],
)
def test_what_does_not_belong_together_is_refused(certdp: Any, words: tuple[object, ...], parameter: str) -> None:
    ran = certdp("epsilon", *words, *DELTA)
    assert ran.code == 2
    assert ran.json["error"]["parameter"] == parameter


def test_the_change_of_the_data_is_stated(certdp: Any, tmp_path: Path) -> None:
    words = ("--strategy", "1,0.5", "--steps", 4, *TIMES, *DELTA)
    removed = certdp("epsilon", *MECHANISM, *words).json["epsilon"]
    assert certdp("epsilon", *MECHANISM, *words, "--relation", "zero-out").json["epsilon"] == removed
    stated = (*MECHANISM, *words, "--relation", "replace", "--certificate", tmp_path / "c.json")
    replaced = certdp("epsilon", *stated).json
    assert replaced["guarantee"]["relation"] == "replace"
    assert replaced["epsilon"][0] > removed[1]
    assert certdp("check", tmp_path / "c.json", "--relation", "replace").code == 0


def test_a_certificate_states_the_strategy(certdp: Any, tmp_path: Path) -> None:
    words = (*MECHANISM, "--strategy", "1,0.5", "--steps", 4, *TIMES, *DELTA)
    data = certdp("epsilon", *words, "--certificate", tmp_path / "c.json").json
    assert data["certified"]["epsilon"] == data["epsilon"][1]
    assert certdp("check", tmp_path / "c.json", "--require", "proved").code == 0
    stated = json.loads((tmp_path / "c.json").read_text())["parts"][0]["strategy"]
    assert stated == {"form": "toeplitz", "coefficients": ["1", "1/2"], "participation": {"times": 2, "apart": 1}}


PLAN = """
[[release]]
mechanism = "gaussian-sum"
steps = 12
option = {noise_multiplier = 8}
strategy = "1,0.5,0.375"
participation = {times = 3, apart = 4}
"""
SAMPLED = """
[[release]]
mechanism = "gaussian-sum"
sampler = "poisson"
resample = "each"
steps = 4
option = {noise_multiplier = 4, rate = 0.1}
"""


def test_a_plan_has_parts_with_correlated_noise(certdp: Any, tmp_path: Path) -> None:
    path, certificate = tmp_path / "plan.toml", tmp_path / "c.json"
    path.write_text(PLAN)
    alone = certdp("epsilon", "--plan", path, *DELTA).json
    assert alone["epsilon"] == epsilon(ToeplitzStrategy(BANDS, 12), Participation(times=3, apart=4))
    path.write_text(PLAN + SAMPLED)
    both = certdp("epsilon", "--plan", path, *DELTA, "--certificate", certificate).json
    assert both["epsilon"][0] > alone["epsilon"][1]
    assert [part["sampler"] for part in both["plan"]["releases"]] == ["full", "poisson"]
    assert certdp("check", certificate, "--require", "proved").code == 0


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        (PLAN + 'sampler = "full"', "release[1].sampler"),
        (PLAN + 'resample = "each"', "release[1].resample"),
        (PLAN + 'repetitions = {law = "fixed", times = 2}', "release[1].repetitions"),
        (PLAN.replace("times = 3, ", "many = 3, "), "release[1].participation.many"),
        (PLAN.replace("times = 3, ", ""), "release[1].participation.times"),
        (PLAN.replace("times = 3", "times = 4"), "release[1].times"),
        (PLAN.replace("participation = {times = 3, apart = 4}", ""), "release[1].participation.times"),
        (PLAN.replace('"1,0.5,0.375"', "1"), "release[1].strategy"),
        (PLAN.replace("gaussian-sum", "count").replace("noise_multiplier", "scale"), "release[1].mechanism"),
        (SAMPLED + "participation = {times = 3}", "release[1].participation"),
        (SAMPLED.replace("rate = 0.1", "rate = 0.1, times = 3"), "release[1].option"),
    ],
)
def test_a_strategy_in_a_plan_has_its_own_entries(certdp: Any, tmp_path: Path, text: str, parameter: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    ran = certdp("epsilon", "--plan", path, *DELTA)
    assert ran.code == 2
    assert ran.json["error"]["parameter"] == parameter
