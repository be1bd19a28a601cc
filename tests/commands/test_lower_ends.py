"""Whatever command prints a lower end says what it is about, to people and to programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certdp.runs.as_declared import AS_DECLARED

Command = Callable[..., Any]
NORMAL = ("--mechanism", "gaussian-sum", "--option", "noise_multiplier=2", "--sampler", "full")
RESPONSE = (
    "--mechanism",
    "randomised-response",
    "--option",
    "epsilon=1",
    "--option",
    "categories=2",
    "--sampler",
    "full",
)
ASKED = {
    "epsilon": ("--delta", "1e-5"),
    "delta": ("--epsilon", "1/2"),
    "risk": (),
    "psi": ("--delta", "1e-5"),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_a_lower_end_is_about_stands_beside_it(name: str, certdp: Command) -> None:
    for words, about in ((NORMAL, AS_DECLARED), (RESPONSE, None)):
        assert certdp(name, *words, *ASKED[name], "--json").json["lower_end"] == about
        assert ("lower ends are of" in certdp(name, *words, *ASKED[name]).out) is (about is not None)


@pytest.mark.parametrize("limit", [("--epsilon", "1", "--delta", "1e-5"), ("--advantage", "1/10")])
def test_a_value_that_is_proven_to_exceed_the_budget_does_so_as_declared(
    limit: tuple[str, ...], certdp: Command
) -> None:
    words = ("calibrate", "--mechanism", "gaussian-sum", "--sampler", "full", "--find", "noise_multiplier", *limit)
    ran = certdp(*words, "--json")
    assert ran.json["refuted"]
    assert ran.json["lower_end"] == AS_DECLARED
    assert "lower ends are of" in certdp(*words).out


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (("--epsilon", "5", "--delta", "1e-5"), "holds"),
        (("--epsilon", "4", "--delta", "1e-5"), "refuted"),
        (("--order", "4", "--tau", "2"), "holds"),
        (("--rho", "1/10"), "refuted"),
    ],
)
def test_so_does_a_verdict(claim: tuple[str, ...], verdict: str, certdp: Command, tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text('{"type": "GaussianDpEvent", "noise_multiplier": 1}')
    ran = certdp("verify-peer", file, *claim, "--json")
    assert (ran.json["verdict"], ran.json["lower_end"]) == (verdict, AS_DECLARED)
    assert "lower ends are of" in certdp("verify-peer", file, *claim).out


def test_a_verdict_without_a_lower_end_says_nothing_of_one(certdp: Command, tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text('{"type": "GaussianDpEvent", "noise_multiplier": 1}')
    assert certdp("verify-peer", file, "--rho", "2", "--json").json["lower_end"] is None
    file.write_text('{"type": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 2}')
    ran = certdp("verify-peer", file, "--epsilon", "1/2", "--relation", "replace", "--json")
    assert (ran.json["verdict"], ran.json["lower_end"]) == ("refuted", None)
