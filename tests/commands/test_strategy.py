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
        ((*MECHANISM, "--strategy", "tree", "--option", "times=1", "--relation", "replace"), "relation"),
        ((*LAPLACE, "--strategy", "tree", *TIMES), "mechanism"),
        ((*KEYED, "--strategy", "tree", *TIMES), "sampler"),
        ((*MECHANISM, "--sampler", "full", "--option", "participation.times=2"), "option"),
    ],
)
def test_what_does_not_belong_together_is_refused(certdp: Any, words: tuple[object, ...], parameter: str) -> None:
    ran = certdp("epsilon", *words, *DELTA)
    assert ran.code == 2
    assert ran.json["error"]["parameter"] == parameter


def test_a_certificate_states_the_strategy(certdp: Any, tmp_path: Path) -> None:
    words = (*MECHANISM, "--strategy", "1,0.5", "--steps", 4, *TIMES, *DELTA)
    data = certdp("epsilon", *words, "--certificate", tmp_path / "c.json").json
    assert data["certified"]["epsilon"] == data["epsilon"][1]
    assert certdp("check", tmp_path / "c.json", "--require", "proved").code == 0
    stated = json.loads((tmp_path / "c.json").read_text())["parts"][0]["strategy"]
    assert stated == {"form": "toeplitz", "coefficients": ["1", "1/2"], "participation": {"times": 2, "apart": 1}}
