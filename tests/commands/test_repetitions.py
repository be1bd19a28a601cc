"""`--repetitions`: the best of several runs on the command line, in plans and in calibration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from certdp import Full, GaussianSum, Plan, Public, SampledRun
from certdp.selection import NegativeBinomialRepetitions, PoissonRepetitions, SelectedRun

ONE = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(5)), sampler=Full())
BEST = SelectedRun(base=ONE, repetitions=NegativeBinomialRepetitions(mean=Public(10)))
GAUSSIAN = ("--mechanism", "gaussian-sum", "--sampler", "full")
WORDS = (*GAUSSIAN, "--option", "noise_multiplier=5")
LAW = ("--repetitions", "negative-binomial", "--option", "mean=10")


def test_the_answer_is_that_of_the_run(certdp: Any) -> None:
    data = certdp("epsilon", *WORDS, *LAW, "--delta", "1e-6", "--json").json
    assert data["epsilon"] == [None, BEST.epsilon("1e-6").epsilon.upper]
    assert data["repetitions"] == "negative binomial repetitions of mean 10, shape 1"
    told = certdp("delta", *WORDS, *LAW, "--option", "repetitions.shape=0", "--epsilon", 1).out
    assert "repeated, and the best output told: negative binomial repetitions of mean 10, shape 0" in told
    assert "not told" in told


def test_it_is_under_the_relation_stated(certdp: Any) -> None:
    data = certdp("epsilon", *WORDS, *LAW, "--delta", "1e-6", "--relation", "replace", "--json").json
    assert data["guarantee"]["relation"] == "replace"
    assert data["epsilon"][1] > BEST.epsilon("1e-6").epsilon.upper


def test_a_plan_has_a_selection_among_its_parts(certdp: Any, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    release = '[[release]]\nmechanism = "gaussian-sum"\nsampler = "full"\noption = {noise_multiplier = 5}\n'
    file.write_text(release + 'repetitions = {law = "poisson", mean = 2}\n' + release)
    data = certdp("epsilon", "--plan", file, "--delta", "1e-6", "--json").json
    best = SelectedRun(base=ONE, repetitions=PoissonRepetitions(mean=Public(2)))
    assert data["epsilon"][1] == Plan([best, ONE]).epsilon("1e-6").epsilon.upper
    file.write_text(release + "repetitions = {mean = 2}\n")
    error = certdp("epsilon", "--plan", file, "--delta", "1e-6", "--json").json["error"]
    assert error["parameter"] == "release[1].repetitions.law"


def test_noise_and_repetitions_are_looked_for(certdp: Any) -> None:
    budget = ("--epsilon", "1", "--delta", "1e-6", "--json")
    noise = certdp("calibrate", *GAUSSIAN, *LAW, "--find", "noise_multiplier", *budget).json
    assert 5 < float(noise["value"]) < 10
    assert noise["epsilon"][1] <= 1 or noise["delta"][1] <= 1e-6
    words = ("calibrate", *WORDS, "--repetitions", "poisson", "--find", "repetitions.mean", "--at-most", "1000")
    repetitions = certdp(*words, *budget).json
    assert 1 < float(repetitions["value"]) < 10


def test_a_certificate_is_written_and_checked(certdp: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    data = certdp("epsilon", *WORDS, *LAW, "--delta", "1e-6", "--certificate", path, "--json").json
    assert data["certified"]["method"] == "selection"
    assert certdp("check", path, "--require", "proved", "--max-delta", "1e-6", "--max-epsilon", "1.2302").code == 0


def test_what_is_no_law_is_refused(certdp: Any, tmp_path: Path) -> None:
    def parameter(*words: object) -> str:
        ran = certdp("epsilon", *words, "--json")
        assert ran.code == 2
        return str(ran.json["error"]["parameter"])

    assert parameter(*WORDS, "--repetitions", "often", "--delta", "1e-6") == "repetitions"
    assert parameter(*WORDS, "--repetitions", "poisson", "--delta", "1e-6") == "mean"
    assert parameter(*WORDS, *LAW, "--option", "repetitions.stop=1", "--delta", "1e-6") == "option"
    keyed = ("--mechanism", "pws-keys", "--sampler", "every-key", "--option", "epsilon=1", "--option", "delta=1e-6")
    assert parameter(*keyed, "--repetitions", "poisson", "--delta", "1e-5") == "repetitions"
    assert not list(tmp_path.iterdir())
