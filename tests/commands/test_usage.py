"""Command lines that cannot be read are refused like any other bad input, in words and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("words", "parameter", "value"),
    [
        (("verify", "--examples", "0"), "examples", "0"),
        (("verify", "--examples=many"), "examples", "many"),
        (("verify", "--seed", "-1"), "seed", "-1"),
        (("verify", "--jobs", "0"), "jobs", "0"),
        (("verify", "--timeout", "abc"), "timeout", "abc"),
        (("audit", "--mechanism", "count", "--trials", "5"), "trials", "5"),
        (("reproduce", "is-fig1", "--size", "5", "--size", "0"), "size", "5, 0"),
        (("dpis", "plan", "--epochs", "few"), "epochs", "few"),
    ],
)
def test_a_value_that_an_option_does_not_take(
    refusal: Refusal, words: tuple[str, ...], parameter: str, value: str
) -> None:
    error = refusal(*words)
    assert (error["parameter"], error["value"]) == (parameter, value)
    assert f"--{parameter}" in error["remedy"]
    assert "--help`" in error["remedy"]


def test_what_is_admissible_is_told(refusal: Refusal) -> None:
    assert "20" in refusal("audit", "--mechanism", "count", "--trials", "5")["admissible"]


def test_a_missing_option(refusal: Refusal) -> None:
    error = refusal("delta")
    assert (error["parameter"], error["value"]) == ("epsilon", "nothing")
    assert error["remedy"] == "Give --epsilon; `certdp delta --help` tells what it takes"


def test_an_option_without_its_value(certdp: Run) -> None:
    ran = certdp("verify", "--json", "--only")
    assert (ran.code, ran.err) == (2, "")
    assert ran.json["error"]["parameter"] == "only"


def test_an_unknown_option_is_told_its_neighbour(refusal: Refusal) -> None:
    error = refusal("verify", "--exmples", "3")
    assert (error["parameter"], error["value"]) == ("option", "--exmples")
    assert "--examples" in error["remedy"]


@pytest.mark.parametrize("words", [("verfy",), ("verify", "everything"), ("dpis", "everything")])
def test_words_that_no_command_takes(refusal: Refusal, words: tuple[str, ...]) -> None:
    error = refusal(*words)
    assert error["parameter"] == "command"
    assert words[-1] in error["remedy"]


@pytest.mark.parametrize("words", [(), ("dpis",)])
def test_a_group_without_a_command_shows_its_help(certdp: Run, words: tuple[str, ...]) -> None:
    ran = certdp(*words)
    assert "Usage:" in ran.err
    assert "error:" not in ran.err


def test_an_error_does_nothing_to_the_terminal(certdp: Run) -> None:
    ran = certdp("verify", "--only", "\x1b[31m")
    assert ran.code == 2
    assert "\x1b" not in ran.err
    assert "only: got \\x1b[31m; admissible" in ran.err


CORESET = ("psi", "--mechanism", "laplace-sum", "--sampler", "coreset", "--option", "scale=1", "--option", "n=100")
CORESET_RUN = (*CORESET, "--option", "m=10", "--option", "mean_squared_norm=1", "--option", "run.radius=1")


def test_an_option_of_two_owners_is_named_with_its_own(refusal: Refusal) -> None:
    """As it has to be written: run and sampler both have a radius."""
    wrong = refusal(*CORESET_RUN, "--option", "sampler.radius=-1")
    assert (wrong["parameter"], wrong["value"]) == ("sampler.radius", "-1")
    missing = refusal(*CORESET_RUN)
    assert missing["parameter"] == "sampler.radius"
    assert missing["remedy"].endswith("--option sampler.radius=…")
    alone = refusal("psi", "--mechanism", "laplace-sum", "--sampler", "poisson", "--option", "scale=1")
    assert (alone["parameter"], alone["remedy"][-15:]) == ("rate", "--option rate=…")
