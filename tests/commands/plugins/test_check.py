"""`certdp plugins check`: exit codes, both forms of the result, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from certdp.plugins.registry import Registry, Role
from certdp.samplers.poisson import Poisson

Run = Callable[..., Any]
QUICK = ("plugins", "check", "poisson", "--only", "re*", "--examples", "2")


@pytest.mark.slow
def test_a_plugin_that_keeps_its_laws(certdp: Run) -> None:
    ran = certdp(*QUICK, "--json")
    assert ran.code == 0
    assert (ran.json["plugin"], ran.json["kind"], ran.json["passed"]) == ("poisson", "sampler", True)
    assert [(law["law"], law["verdict"], law["cases_tried"]) for law in ran.json["laws"]] == [("repeats", "passed", 2)]
    text = certdp(*QUICK)
    assert text.code == 0
    assert text.out.splitlines()[1].startswith("constants: rate=1")
    assert {"rate": "1"} in ran.json["constants"]
    assert text.out.splitlines()[-1] == "1 passed, 0 failed, 0 not applicable; seed 0"


def test_a_plugin_that_breaks_one(certdp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(_: Registry, __: Role, ___: str) -> type:
        return type("Unfrozen", (), {"about": Poisson.about, "rate": None})

    monkeypatch.setattr(Registry, "get", get)
    ran = certdp("plugins", "check", "poisson", "--json")
    assert ran.code == 1
    assert ran.json["passed"] is False
    (failed,) = [law for law in ran.json["laws"] if law["verdict"] == "failed"]
    assert failed["law"] == "contract"
    assert "no frozen attrs class" in failed["reason"]


@pytest.mark.parametrize(
    ("arguments", "parameter", "admissible"),
    [
        (("nobody",), "plugin", "one of: "),
        (("poisson", "--only", "x*"), "only", "a glob that matches a law"),
        (("poisson", "--role", "oracle"), "role", "one of mechanism, sampler, claims"),
        (("poisson", "--option", "rate"), "option", "KEY=VALUE"),
        (("poisson", "--option", "rate=1", "--option", "rate=1/2"), "option", "one value for rate"),
        (("poisson", "--option", "rate=7"), "rate", "a probability: 0 ≤ q ≤ 1"),
        (("poisson", "--array", "X"), "array", "nothing, where no file is read"),
        (("poisson", "--timeout", "0"), "timeout", "a number of seconds above 0"),
    ],
)
def test_refusals(refusal: Run, arguments: tuple[str, ...], parameter: str, admissible: str) -> None:
    error = refusal("plugins", "check", *arguments)
    assert error["parameter"] == parameter
    assert error["admissible"].startswith(admissible)
    assert "None" not in error["admissible"]
    assert "what is admissible" not in error["remedy"]  # the word for errors that do not say what to do


def test_an_option_of_the_listing_belongs_after_the_command(certdp: Run) -> None:
    ran = certdp("plugins", "--no-third-party", "check", "poisson")
    assert ran.code == 2
    assert "got --no-third-party; admissible: nothing, before check. Write it after check" in ran.err
    assert certdp("plugins", "--json", "check", "poisson").json["error"]["parameter"] == "json"
