"""`certdp epsilon` and `certdp delta`: figures, keys, words and refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.accountants import ALL

GAUSSIAN = ("--mechanism", "gaussian-sum", "--sampler", "poisson", "--option", "noise_multiplier=1")
REFERENCE = (*GAUSSIAN, "--option", "rate=0.01", "--resample", "each", "--steps", 1000)
LAPLACE = ("--mechanism", "laplace-sum", "--option", "scale=1", "--option", "radius=1")

Command = Callable[..., Any]


def test_the_reference_value(certdp: Command) -> None:
    ran = certdp("epsilon", *REFERENCE, "--delta", "1e-5", "--accountant", "renyi", "--json")
    assert ran.code == 0
    data = ran.json
    lower, upper = data["epsilon"]
    assert lower is None
    assert 1.8282 < upper < 2.1014
    assert data["delta"][0] <= 1e-5 <= data["delta"][1]
    assert data["order"] == pytest.approx(7.776, abs=0.01)
    assert (data["notion"], data["composed_in"], data["accountant"]) == ("approximate", "Rényi", "renyi")
    assert data["accountants"] == [{"name": "renyi", "bounds": [None, upper], "order": data["order"]}]
    assert data["guarantee"]["statement"] == f"({upper!r}, 1e-05)-DP"
    assert (data["guarantee"]["unit"], data["guarantee"]["relation"]) == ("record", "add-remove")
    assert {"name": "mechanism.noise_multiplier", "value": "1"} in data["assumptions"]
    assert "real-valued noise" not in {item["name"] for item in data["assumptions"]}
    assert (data["resample"], data["steps"], data["certificate"]) == ("each", 1000, None)


@pytest.mark.slow
def test_the_best_accountant_lists_all(certdp: Command) -> None:
    data = certdp("epsilon", *REFERENCE, "--delta", "1e-5", "--json").json
    assert data["accountant"] == "loss-distribution"
    assert data["epsilon"] == pytest.approx([1.8282367, 1.8282367], abs=1e-7)
    names = [row["name"] for row in data["accountants"]]
    assert names == ["basic", "advanced", "optimal", "zcdp", "gdp", "renyi", "loss-distribution"]
    assert min(row["bounds"][1] for row in data["accountants"]) == data["epsilon"][1]


@pytest.mark.parametrize("accountant", ["basic", "advanced", "optimal", "zcdp", "gdp", "renyi", "loss-distribution"])
def test_each_accountant_can_be_asked_for(certdp: Command, accountant: str) -> None:
    few = (*LAPLACE, "--sampler", "full", "--resample", "each", "--steps", 5, "--accountant", accountant, "--json")
    for question in (("epsilon", "--delta", "1e-3"), ("delta", "--epsilon", "2")):
        data = certdp(question[0], *few, *question[1:]).json
        assert data["accountant"] == accountant
        assert 0 < data[question[0]][1] < 12


def test_discrete_noise_by_rounded_normal_noise(certdp: Command) -> None:
    """What normal noise costs, within a thousandth; other noise has no such answer."""
    lattice = ("--option", "scale=10", "--option", "granularity=1/100", "--option", "mechanism.dimension=3")
    run = ("--sampler", "full", "--option", "radius=5", "--delta", "1e-5", "--json")
    normal = certdp("epsilon", "--mechanism", "gaussian-sum", "--option", "scale=10", *run).json["epsilon"][1]
    discrete = ("epsilon", "--mechanism", "discrete-gaussian", *lattice, "--accountant", "rounded-normal", *run)
    assert normal <= certdp(*discrete).json["epsilon"][1] <= normal * 1.001
    refused = certdp("epsilon", *LAPLACE, "--sampler", "full", "--delta", "1e-5", "--accountant", "rounded-normal")
    assert (refused.code, "accountant" in refused.err) == (2, True)


def test_the_help_names_every_accountant(certdp: Command) -> None:
    text = re.sub(r"\s", "", certdp("epsilon", "--help").out)
    assert all(accountant.name in text for accountant in ALL)


@pytest.mark.slow
def test_delta_undoes_epsilon(certdp: Command) -> None:
    upper = certdp("epsilon", *REFERENCE, "--delta", "1e-5", "--json").json["epsilon"][1]
    data = certdp("delta", *REFERENCE, "--epsilon", repr(upper), "--json").json
    assert data["delta"] == pytest.approx([1e-5, 1e-5], rel=1e-5)


@pytest.mark.slow
def test_a_plot_of_all_accountants(certdp: Command, tmp_path: Path) -> None:
    picture = tmp_path / "accounting.png"
    few = (*LAPLACE, "--sampler", "poisson", "--option", "rate=0.5", "--resample", "each", "--steps", 3)
    data = certdp("epsilon", *few, "--delta", "1e-3", "--plot", picture, "--json").json
    assert data["plot"] == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_both_ends_where_both_are_proven(certdp: Command) -> None:
    data = certdp("epsilon", *LAPLACE, "--sampler", "full", "--json").json
    assert data["epsilon"] == [1.0, 1.0]
    assert (data["delta"], data["order"], data["composed_in"]) == ([0.0, 0.0], None, "pure")
    assert data["guarantee"]["domain"] == {"norm": "1", "radius": "1", "dimension": None}
    lower, upper = certdp("epsilon", *LAPLACE, "--sampler", "full", "--delta", "0.1", "--json").json["epsilon"]
    assert 0 < upper - lower < 1e-10


@pytest.mark.slow
def test_in_words(certdp: Command) -> None:
    out = certdp("epsilon", *REFERENCE, "--delta", "1e-5").out
    assert "1,000 releases, sampled afresh for each" in out
    assert ", 1e-05)-DP" in out
    assert "the true ε lies in [1.82823" in out
    assert "by loss-distribution accounting, in the approximate notion" in out
    assert "--full shows what each accountant proves" in out
    assert "\n    renyi              2.1008" in certdp("epsilon", *REFERENCE, "--delta", "1e-5", "--full").out
    alone = certdp("epsilon", *REFERENCE, "--delta", "1e-5", "--accountant", "renyi").out
    assert "an upper bound of ε; no lower bound is proven" in alone
    assert "by renyi accounting, in the Rényi notion at order 7.77" in alone
    assert "for every record with ‖x‖₁ ≤ 1" in certdp("delta", *LAPLACE, "--sampler", "full", "--epsilon", "0.5").out
    assert "the true δ lies in [" in certdp("delta", *LAPLACE, "--sampler", "full", "--epsilon", "0.5").out


def test_once_and_each_are_two_answers(certdp: Command) -> None:
    def epsilon(resample: str) -> float:
        options = ("--sampler", "poisson", "--option", "rate=0.5", "--resample", resample, "--steps", 5, "--json")
        upper: float = certdp("epsilon", *LAPLACE, *options).json["epsilon"][1]
        return upper

    assert epsilon("each") < epsilon("once")


@pytest.mark.parametrize(
    ("arguments", "parameter", "words"),
    [
        ((*REFERENCE[:-4], "--steps", 10), "resample", "once or each"),
        ((*REFERENCE[:-4], "--resample", "twice"), "resample", "once or each"),
        ((*REFERENCE, "--delta", "2"), "delta", "0 ≤ δ ≤ 1"),
        ((*REFERENCE, "--delta", "nan"), "delta", "number"),
        ((*REFERENCE,), "delta", "state a δ above 0"),
        (("--mechanism", "laplace-sum", "--sampler", "full", "--option", "scale=1"), "radius", "public bound"),
        (
            ("--mechanism", "count", "--sampler", "full", "--option", "scale=1", "--option", "dimension=2"),
            "dimension",
            "",
        ),
        ((*LAPLACE, "--sampler", "full", "--option", "dimension=two"), "dimension", "whole number"),
        (
            (*GAUSSIAN[:2], "--sampler", "importance", "--option", "noise_multiplier=1", "--option", "rate=0.1"),
            "sampler",
            "constant rate",
        ),
        (
            (
                *("--mechanism", "randomised-response", "--sampler", "poisson"),
                *("--option", "categories=2", "--option", "noise=0.5", "--option", "rate=0.5"),
            ),
            "sampler",
            "use the sampler full",
        ),
        (("--mechanism", "gauss", "--sampler", "full"), "mechanism", ""),
        ((*REFERENCE, "--delta", "1e-5", "--accountant", "rdp"), "accountant", "loss-distribution"),
        ((*REFERENCE, "--delta", "1e-5", "--plot", "/nowhere/plot.png"), "plot", "Create the folder /nowhere"),
    ],
)
def test_refusals(refusal: Command, arguments: tuple[object, ...], parameter: str, words: str) -> None:
    error = refusal("epsilon", *arguments)
    assert error["parameter"] == parameter
    assert words in error["admissible"] + error["remedy"]


def test_delta_refuses_a_negative_epsilon(refusal: Command) -> None:
    assert refusal("delta", *REFERENCE, "--epsilon=-1")["parameter"] == "epsilon"


@pytest.mark.parametrize(
    ("mechanism", "sampler", "options"),
    [
        ("count", "full", ["scale=2"]),
        ("lp-sum", "poisson", ["scale=2", "norm=3/2", "rate=0.1", "radius=1"]),
        ("discrete-laplace", "poisson", ["scale=2", "rate=0.1", "radius=1"]),
        ("discrete-gaussian", "full", ["scale=2", "radius=1"]),
        ("discrete-gaussian", "poisson", ["scale=2", "radius=1", "rate=0.1"]),
        ("randomised-response", "full", ["categories=3", "epsilon=1"]),
        ("laplace-sum", "importance", ["scale=2", "rate=0.2", "floor=0.05", "radius=1"]),
        ("gaussian-sum", "importance", ["scale=2", "rate=0.2", "norm=2", "floor=0.05", "radius=1"]),
    ],
)
def test_every_mechanism_has_an_answer(certdp: Command, mechanism: str, sampler: str, options: list[str]) -> None:
    stated = [part for option in options for part in ("--option", option)]
    plan = ("--resample", "each", "--steps", 3, "--delta", "1e-6", "--json")
    data = certdp("epsilon", "--mechanism", mechanism, "--sampler", sampler, *stated, *plan).json
    lower, upper = data["epsilon"]
    assert 0 < upper < 30
    assert lower is None or 0 <= lower <= upper


@pytest.mark.slow
def test_another_change_of_the_data(certdp: Command) -> None:
    """Replace costs more than add/remove, zero-out as much; a user with two records more than one record."""
    asked = (*REFERENCE, "--delta", "1e-5", "--accountant", "loss-distribution", "--json")
    found = {name: certdp("epsilon", *asked, "--relation", name).json for name in ("add-remove", "replace", "zero-out")}
    assert {name: data["guarantee"]["relation"] for name, data in found.items()} == {name: name for name in found}
    assert found["zero-out"]["epsilon"] == found["add-remove"]["epsilon"]
    assert 2.84344 <= found["replace"]["epsilon"][0] <= found["replace"]["epsilon"][1] <= 2.84345
    once = (*GAUSSIAN, "--option", "rate=0.01", "--delta", "1e-5", "--json")
    assert certdp("epsilon", *once, "--relation", "replace").json["epsilon"] == pytest.approx([0.209371556] * 2)
    users = certdp("epsilon", *once[:-1], "--resample", "each", "--steps", 100, "--contributions", 2, "--json").json
    assert users["guarantee"]["unit"] == "user"
    assert 1.5290 <= users["epsilon"][0] <= users["epsilon"][1] <= 1.5306


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "relation", "unit"),
    [
        (("--relation", "replace"), "replace", "record"),
        (("--relation", "zero-out"), "zero-out", "record"),
        (("--contributions", "2"), "add-remove", "user"),
        (("--relation", "replace", "--contributions", "2"), "replace", "user"),
    ],
)
def test_other_changes_are_certified(
    words: tuple[str, ...], relation: str, unit: str, certdp: Command, tmp_path: Path
) -> None:
    path = tmp_path / "one.json"
    once = ("epsilon", *GAUSSIAN, "--option", "rate=0.01", "--delta", "1e-5", *words, "--json")
    found = certdp(*once, "--certificate", path).json
    assert found["certified"]["epsilon"] <= found["epsilon"][1] * (1 + 1e-9)
    users = ("--min-contributions", "2") if unit == "user" else ()
    demands = ("--require", "proved", "--unit", unit, "--relation", relation, *users)
    assert certdp("check", path, *demands).code == 0
    for option, other in (
        ("--relation", "add-remove" if relation != "add-remove" else "replace"),
        ("--unit", "element"),
    ):
        assert certdp("check", path, option, other).code == 1


def test_changes_that_no_theorem_covers(certdp: Command) -> None:
    once = ("epsilon", *GAUSSIAN, "--option", "rate=0.01", "--delta", "1e-5")
    for words, refused in (
        (("--relation", "swap"), "relation: got swap; admissible: add-remove or replace or zero-out"),
        (("--contributions", "65"), "unit: got User(contributions=65)"),
    ):
        ran = certdp(*once, *words)
        assert ran.code == 2
        assert refused in ran.err
    answers = ("--mechanism", "randomised-response", "--option", "categories=2", "--option", "noise=1/2")
    ran = certdp("epsilon", *answers, "--sampler", "full", "--relation", "zero-out")
    assert ran.code == 2
    assert "replace per record, which randomised-response covers" in ran.err
