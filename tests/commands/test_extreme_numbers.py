"""Numbers of any size on any command line: an answer or an error that names what is wrong, never a traceback."""

from __future__ import annotations

import json
import random
import re
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from typer.models import ArgumentInfo

from certdp.plugins.contract import stated
from certdp.verification.mutation.declared import DECLARED, DeclaredFormula
from tests.support.commands import commands

EXTREME = (
    *("1e-330", "1e-5000", "4.9e-324", "1e-30", "0", "1", "-1", "nan", "inf"),
    *("1e30", "1e308", "1e400"),
)


@frozen
class Command:
    """A command that takes numbers.

    Attributes:
        words: what stays.
        numbers: an ordinary value of each; a name that ends in = is a key within the option before it.
    """

    words: str
    numbers: Mapping[str, str]

    def line(self, folder: Path, extreme: Mapping[str, str]) -> list[str]:
        words = [word.replace("{}", str(folder)) for word in self.words.split()]
        for name, ordinary in self.numbers.items():
            option, _, key = name.partition(" ")
            words += [option, key + extreme.get(name, ordinary)]
        return [*words, "--json"]


SAMPLED = "--resample each"
BUDGET = {"--epsilon": "1", "--delta": "1e-5"}
COMMANDS = {
    "epsilon of the best": Command(
        "epsilon --mechanism gaussian-sum --sampler full --repetitions negative-binomial",
        {"--option noise_multiplier=": "2", "--option mean=": "10", "--option shape=": "1", "--delta": "1e-5"},
    ),
    "epsilon with correlated noise": Command(
        "epsilon --mechanism gaussian-sum --steps 4",
        {"--option noise_multiplier=": "2", "--option groups=": "2", "--option rate=": "0.5", "--strategy": "1"}
        | {"--delta": "1e-5"},
    ),
    "epsilon where few steps are taken part in": Command(
        "epsilon --mechanism gaussian-sum --strategy tree --steps 4",
        {"--option noise_multiplier=": "2", "--option times=": "2", "--option apart=": "2", "--delta": "1e-5"},
    ),
    "psi": Command(
        "psi --mechanism laplace-sum --sampler importance --data {}/records.csv",
        {"--option scale=": "2", "--option rate=": "0.3", "--option floor=": "0.1", "--option radius=": "3"}
        | {"--divide-by": "1"},
    ),
    "psi at a δ": Command(
        "psi --mechanism gaussian-sum --sampler importance",
        {"--option scale=": "2", "--option rate=": "0.3", "--option radius=": "1", "--delta": "1e-5"},
    ),
    "psi at an order": Command(
        "psi --mechanism gaussian-sum --sampler importance",
        {"--option scale=": "2", "--option rate=": "0.3", "--option radius=": "1", "--order": "4"},
    ),
    "psi of keys": Command(
        "psi --mechanism pws-keys --sampler ppswor",
        {"--option epsilon=": "1", "--option delta=": "1e-6", "--option threshold=": "0.1", "--epsilon": "1"},
    ),
    "weights": Command(
        "weights --mechanism laplace-sum --data {}/records.csv --output {}/w.csv",
        {"--option scale=": "10", "--option radius=": "3", "--epsilon": "1", "--divide-by": "1"},
    ),
    "weights at a δ": Command(
        f"weights --mechanism gaussian-sum {SAMPLED} --data {{}}/records.csv --output {{}}/w.csv",
        {"--option scale=": "10", "--option radius=": "3", "--epsilon": "1", "--delta": "1e-5", "--steps": "1"},
    ),
    "weights at an order": Command(
        f"weights --mechanism gaussian-sum {SAMPLED} --data {{}}/records.csv --output {{}}/w.csv",
        {"--option scale=": "10", "--option radius=": "3", "--epsilon": "1", "--order": "4"},
    ),
    "cluster": Command(
        "cluster --data {}/records.csv --output {}/c.csv --clusters 2",
        {"--epsilon": "5", "--option radius=": "3", "--divide-by": "1"},
    ),
    "epsilon": Command(
        f"epsilon --mechanism laplace-sum --sampler poisson {SAMPLED}",
        {"--option scale=": "2", "--option rate=": "0.5", "--option radius=": "1", "--delta": "0", "--steps": "1"},
    ),
    "epsilon of Gaussians": Command(
        f"epsilon --mechanism gaussian-sum --sampler poisson {SAMPLED}",
        {"--option noise_multiplier=": "2", "--option rate=": "0.1", "--delta": "1e-5", "--steps": "3"},
    ),
    "delta": Command(
        f"delta --mechanism gaussian-sum --sampler poisson {SAMPLED}",
        {"--option noise_multiplier=": "2", "--option rate=": "0.1", "--epsilon": "1", "--steps": "3"},
    ),
    "risk": Command(
        f"risk --mechanism gaussian-sum --sampler poisson {SAMPLED}",
        {"--option noise_multiplier=": "2", "--option rate=": "0.1", "--steps": "3"}
        | {"--false-positive-rate": "0.01", "--prior": "0.5"},
    ),
    "calibrate": Command(
        f"calibrate --mechanism gaussian-sum --sampler poisson {SAMPLED} --find noise_multiplier",
        {"--option rate=": "0.1", **BUDGET, "--steps": "3", "--at-least": "0.5", "--at-most": "100"},
    ),
    "calibrate steps": Command(
        f"calibrate --mechanism gaussian-sum --sampler poisson {SAMPLED} --find steps",
        {"--option noise_multiplier=": "2", "--option rate=": "0.1", **BUDGET, "--at-most": "100"},
    ),
    **{
        f"calibrate to {' and '.join(limit)}": Command(
            "calibrate --mechanism gaussian-sum --sampler full --find noise_multiplier", limit
        )
        for limit in (
            {"--advantage": "0.1"},
            {"--true-positive-rate": "0.1", "--false-positive-rate": "0.01"},
            {"--false-negative-rate": "0.9", "--false-positive-rate": "0.01"},
            {"--bayes-risk": "0.4", "--prior": "0.5"},
            {"--order": "4", "--tau": "1"},
            {"--rho": "0.5"},
            {"--mu": "1"},
        )
    },
    "audit": Command(
        "audit --mechanism laplace-sum --trials 200 --seed 1",
        {"--option scale=": "2", "--option radius=": "1", "--confidence": "0.99", "--epsilon": "1", "--delta": "0"},
    ),
    "pws release": Command(
        "pws release {}/counts.csv --overwrite --scheme ppswor --output {}/s.csv",
        {**BUDGET, "--threshold": "0.1", "--power": "1", "--max-frequency": "100", "--user-bound": "1"},
    ),
    "pws release of a size": Command(
        "pws release {}/counts.csv --overwrite --scheme ppswor --output {}/s.csv",
        {**BUDGET, "--size": "3", "--total-epsilon": "1", "--max-frequency": "100"},
    ),
    "pws release of a total": Command(
        "pws release {}/counts.csv --overwrite --scheme ppswor --output {}/s.csv",
        {**BUDGET, "--size": "3", "--total": "100"},
    ),
    "pws release of frequencies": Command(
        "pws release {}/counts.csv --overwrite --frequencies --output {}/s.csv", {**BUDGET, "--max-frequency": "100"}
    ),
    "pws table": Command(
        "pws table", {**BUDGET, "--rows": "20", "--threshold": "0.1", "--power": "1", "--user-bound": "1"}
    ),
    "pws sample": Command(
        "pws sample {}/counts.csv --overwrite --scheme ppswor --output {}/t.csv", {"--threshold": "0.1", "--power": "1"}
    ),
    "pws sample of the lowest seeds": Command(
        "pws sample {}/counts.csv --overwrite --scheme ppswor --output {}/t.csv", {"--bottom": "2", "--power": "1"}
    ),
    "pws sanitise": Command(
        "pws sanitise {}/sampled.csv --overwrite --output {}/s.csv",
        {**BUDGET, "--max-frequency": "100", "--user-bound": "1"},
    ),
    "pws estimate": Command(
        "pws estimate {}/tokens.csv",
        {"--statistic power=": "1", "--population": "100", "--top": "2", "--quantiles": "0.5"},
    ),
    "check": Command(
        "check {}/certificate.json", {"--max-epsilon": "5", "--max-delta": "0", "--min-contributions": "1"}
    ),
    "check of records": Command("check {}/private.json --data {}/records.csv", {"--divide-by": "1"}),
    "verify-peer": Command("verify-peer {}/state.json", BUDGET),
    "verify-peer at an order": Command("verify-peer {}/state.json", {"--order": "4", "--tau": "1"}),
    "verify-peer a ρ": Command("verify-peer {}/state.json", {"--rho": "1"}),
    "verify-peer a μ": Command("verify-peer {}/state.json", {"--mu": "1"}),
    "verify-peer without noise": Command("verify-peer {}/open.json", BUDGET),
    "dpis plan": Command(
        "dpis plan --epochs 2 --steps-per-epoch 3",
        {"--records": "1000", "--batch": "100", "--epsilon": "4", "--delta": "1e-5", "--clip": "1"}
        | {"--norm-noise": "30", "--norm-rate": "1", "--margin": "0.01", "--size-noise": "10", "--divider": "0.8"}
        | {"--order": "8"},
    ),
    "dpis plan by loss distributions": Command(
        "dpis plan --epochs 2 --steps-per-epoch 3",
        {"--records": "1000", "--batch": "100", "--epsilon": "4", "--delta": "1e-5", "--norm-noise": "30"}
        | {"--largest-rate": "0.2"},
    ),
    "dpis train": Command(
        "dpis train --data {}/labelled.npz --target y --model logistic --classes 2 --epochs 1 --steps-per-epoch 3 "
        "--output {}/run",
        {"--records": "40", "--batch": "8", "--epsilon": "8", "--delta": "1e-5", "--clip": "1", "--norm-noise": "6"}
        | {"--order": "4", "--multiplier": "5", "--floor": "0.01", "--noise-decay": "1", "--divide-by": "1"}
        | {"--norm-rate": "1", "--margin": "0.01", "--divider": "0.8", "--size-noise": "10", "--learning-rate": "0.1"}
        | {"--momentum": "0.5"},
    ),
    "dpis train by DP-SGD": Command(
        "dpis train --uniform --data {}/labelled.npz --target y --model logistic --classes 2 --epochs 2 "
        "--steps-per-epoch 3 --output {}/run --clip-interval 0.1:5",
        {"--records": "40", "--batch": "8", "--epsilon": "8", "--delta": "1e-5", "--clip": "1", "--largest-rate": "0.5"}
        | {"--clip-quantile": "2", "--clip-external": "5", "--clip-noise": "30"},
    ),
}
"""Every command that takes numbers as text, with all of them."""


def of_a_built_in(formula: DeclaredFormula) -> Command:
    """What a release by a built-in costs, with the options of the example whose formula is mutated."""
    role = "sampler" if formula.attribute == "rate" else "mechanism"
    words = {"mechanism": "laplace-sum", "sampler": "full"} | {role: formula.example.about.name}
    options = {f"{role}.{key}": text for key, text in stated(formula.example).items()}
    if role == "sampler":
        options["mechanism.scale"] = "2"
    domain = {"radius": options.pop("mechanism.radius", "1")}  # which a mechanism with such an option takes too
    numbers = {key: text for key, text in options.items() if re.fullmatch(r"[\d/]+", text)}
    rest = "".join(f" --option {key}={options[key]}" for key in options.keys() - numbers.keys())
    return Command(
        f"epsilon --mechanism {words['mechanism']} --sampler {words['sampler']} {SAMPLED} --steps 1 "
        f"--option dimension=2{rest}",
        {f"--option {key}=": text for key, text in (numbers | domain).items()} | {"--delta": "1e-5"},
    )


LEDGER = "ledger create {}/a.ledger --data-set census"
COMMANDS |= {
    "ledger create": Command(LEDGER, BUDGET | {"--set-aside": "1e-6"}),
    "ledger create for users": Command(f"{LEDGER} --unit user", {"--rho": "1", "--contributions": "3"}),
    "ledger create at a μ": Command(LEDGER, {"--mu": "1", "--radius": "3", "--norm": "2", "--dimension": "4"}),
    "ledger create at an order": Command(LEDGER, {"--order": "4", "--tau": "1"}),
    "ledger pay": Command("ledger pay {}/paid.ledger --request a", BUDGET),
    "ledger pay a ρ": Command("ledger pay {}/rho.ledger --request a", {"--rho": "1"}),
    "ledger pay a μ": Command("ledger pay {}/mu.ledger --request a", {"--mu": "1"}),
    "ledger pay at an order": Command("ledger pay {}/order.ledger --request a", {"--order": "4", "--tau": "1"}),
}
_PAID = {
    "ledger pay": ("paid", ("--epsilon", "1", "--delta", "1e-5")),
    "ledger pay a ρ": ("rho", ("--rho", "1")),
    "ledger pay a μ": ("mu", ("--mu", "1")),
    "ledger pay at an order": ("order", ("--order", "4", "--tau", "1")),
}
"""What is paid from: the ledger's name and its budget."""

COMMANDS |= {f"epsilon by {formula.example.about.name}": of_a_built_in(formula) for formula in DECLARED}

NO_NUMBERS = {
    *("mechanism", "sampler", "resample", "outside", "accountant", "array", "find", "scheme", "key", "count", "split"),
    *("where", "rank", "target", "test", "test_target", "model", "activation", "features", "image", "device"),
    *("optimiser", "coordinated", "name", "kind", "role", "clip_interval", "require", "relation", "unit"),
    *("distribution", "only", "allow", "timeout", "minutes", "data", "data_set", "by", "request", "ledger"),
    *("curator", "description", "intended_use", "region", "author", "repetitions", "strategy"),
}
"""Options with other texts."""


def test_no_option_that_takes_a_number_is_forgotten() -> None:
    forgotten = set()
    for name, function in commands():
        if name == "reproduce":  # it reads data as the others do, and takes minutes
            continue
        plain, told_of = typing.get_type_hints(function), typing.get_type_hints(function, include_extras=True)
        known = {option for words, command in COMMANDS.items() if words.startswith(name) for option in command.numbers}
        for option, kind in plain.items():
            is_text = {str, float} & {kind, *typing.get_args(kind)} and hasattr(told_of[option], "__metadata__")
            if not is_text or option in NO_NUMBERS or isinstance(told_of[option].__metadata__[0], ArgumentInfo):
                continue
            flags = told_of[option].__metadata__[0].param_decls or (f"--{option.replace('_', '-')}",)
            if not any(flag in known or flag == one.split()[0] for flag in flags for one in known):
                forgotten.add((name, option))
    assert not forgotten


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    source = np.random.default_rng(0)
    np.savetxt(folder / "records.csv", source.standard_normal((5, 2)), delimiter=",", header="a,b", comments="")
    np.savez(folder / "labelled.npz", X=source.standard_normal((40, 2)), y=source.integers(0, 2, 40))
    (folder / "counts.csv").write_text("key,count\na,100\nb,200\nc,1\n")
    for name, noise in (("state", 1.0), ("open", 0.0)):
        (folder / f"{name}.json").write_text(json.dumps({"history": [[noise, 0.1, 3]], "mechanism": "rdp"}))
    return folder


def hold(name: str, number: str, text: str, files: Path, tmp_path: Path, certdp: Callable[..., Any]) -> None:
    for source in files.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    if name.startswith("check"):
        made = ("--certificate", tmp_path / "certificate.json", "--owner-certificate", tmp_path / "private.json")
        words = COMMANDS["psi"].line(tmp_path, {})
        assert certdp(*words, *made).code == 0
    if name in _PAID:
        ledger, budget = _PAID[name]
        assert certdp("ledger", "create", tmp_path / f"{ledger}.ledger", "--data-set", "census", *budget).code == 0
    if name == "pws estimate":
        released = (*("--epsilon", 1, "--delta", "1e-6"), "--frequencies", "--output", tmp_path / "tokens.csv")
        assert certdp("pws", "release", tmp_path / "counts.csv", *released).code == 0
    if name == "pws sanitise":
        sampled = ("--scheme", "ppswor", "--threshold", "0.1", "--output", tmp_path / "sampled.csv")
        assert certdp("pws", "sample", tmp_path / "counts.csv", *sampled).code == 0
    ran = certdp(*COMMANDS[name].line(tmp_path, {number: text}))  # which raises what the command lets through
    assert ran.code in (0, 1, 2, 3), (number, text)
    if ran.code == 2:
        assert set(ran.json["error"]) == {"parameter", "value", "admissible", "remedy"}
        assert all(ran.json["error"].values()), ran.out
    else:
        json.loads(ran.out, parse_constant=pytest.fail)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.startswith("epsilon by ")])
def test_the_ordinary_numbers_of_a_built_in_have_an_answer(
    name: str, tmp_path: Path, certdp: Callable[..., Any]
) -> None:
    answer = certdp(*COMMANDS[name].line(tmp_path, {}))
    assert answer.code == 0, answer.out
    lower, upper = answer.json["epsilon"]
    assert 0 <= upper < 50
    assert lower is None or 0 <= lower <= upper


@pytest.mark.parametrize("name", COMMANDS)
def test_some_extreme_numbers(name: str, files: Path, tmp_path: Path, certdp: Callable[..., Any]) -> None:
    source = random.Random(f"extremes of {name}")
    hold(name, source.choice(list(COMMANDS[name].numbers)), source.choice(EXTREME), files, tmp_path, certdp)


@pytest.mark.soundness
@pytest.mark.parametrize("text", EXTREME)
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, command in COMMANDS.items() for number in command.numbers]
)
def test_every_extreme_number(
    name: str, number: str, text: str, files: Path, tmp_path: Path, certdp: Callable[..., Any]
) -> None:
    hold(name, number, text, files, tmp_path, certdp)


@pytest.mark.slow
def test_a_budget_below_the_floats_is_proven_and_one_beyond_them_refused(
    certdp: Callable[..., Any], refusal: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    run = ("dpis", "plan", "--records", 60_000, "--batch", 600, "--epochs", 1, "--steps-per-epoch", 2)
    certificate = tmp_path / "c.json"
    ran = certdp(*run, "--epsilon", 30, "--delta", "1e-330", "--certificate", certificate, "--json")
    assert (ran.code, ran.json["delta"]) == (0, [None, 5e-324])
    assert "claim: (30.0, 1E-330)-differential privacy" in certdp("check", certificate).out
    for name, text, told in (
        ("epsilon", "1e400", "1e+400"),
        ("epsilon", "1e-330", "1e-330"),
        ("delta", "1e-5000", "1e-5000"),
        ("delta", "0", "0.0"),
    ):
        budget = {"epsilon": "30", "delta": "1e-5"} | {name: text}
        error = refusal(*run, "--epsilon", budget["epsilon"], "--delta", budget["delta"])
        assert (error["parameter"], error["value"]) == (name, told)
