"""`certdp pws table`: exact probabilities by frequency, without data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

BASE = ("pws", "table", "--epsilon", "0.5", "--delta", "1e-3", "--rows", "30")


@pytest.mark.parametrize(
    "more", [[], ["--frequencies"], ["--threshold", "0.1"], ["--scheme", "pps", "--threshold", "0.1"]]
)
def test_every_frequency_from_nothing_on(certdp: Command, more: list[str]) -> None:
    ran = certdp(*BASE, *more, "--json")
    assert ran.code == 0, ran.err
    data = ran.json
    assert data["unit"] == "element"
    assert data["epsilon"] == [None, 0.5]
    assert data["pi"][0] == [0.0, 0.0]
    assert len(data["pi"]) == len(data["pi_exact"]) == len(data["loss"]) == len(data["q"]) == 31
    exact = [Fraction(text) for text in data["pi_exact"]]
    for (lower, upper), value in zip(data["pi"], exact, strict=True):
        assert Fraction(lower) <= value <= Fraction(upper)
        assert upper <= lower + 1e-15
    for before, after, (lower, upper) in zip(exact[:-1], exact[1:], data["q"][1:], strict=True):
        assert after <= Fraction(upper)
        assert float(after) <= exp(0.5) * float(before) + 1e-3 + 1e-12
        assert 1 - float(before) <= exp(0.5) * (1 - float(after)) + 1e-3 + 1e-12
        assert lower <= upper
    assert all(0 <= lower <= upper < 2**-32 for lower, upper in data["loss"])


def test_the_crossover_of_the_paper(certdp: Command) -> None:
    """At (0.5, 1e-3) and τ = 0.1 a key is reported whenever it is sampled from frequency 13 on."""
    data = certdp(*BASE, "--threshold", "0.1", "--json").json
    attached = [i for i in range(1, 31) if abs(data["pi"][i][0] - data["q"][i][0]) < 1e-15]
    assert attached == list(range(13, 31))


def test_for_people(certdp: Command) -> None:
    ran = certdp(*BASE, "--scheme", "ppswor", "--threshold", "0.1")
    assert ran.code == 0
    assert ran.out.startswith("pws-keys on keys sampled by ppswor")
    assert "(0.5, 0.001)-DP for one element, add-remove" in ran.out
    assert "optimum less reported" in ran.out


def test_for_users(certdp: Command) -> None:
    ran = certdp(*BASE, "--user-bound", "3", "--json")
    data = ran.json
    assert (data["unit"], data["contributions"]) == ("user", 3)
    assert 0.499999 < data["epsilon"][1] <= 0.5
    assert 0.999999e-3 < data["delta"][1] <= 1e-3
    assert float(Fraction(data["mechanism"]["options"]["epsilon"])) == pytest.approx(0.5 / 3)
    assert "for one user with at most 3 elements" in certdp(*BASE, "--user-bound", "3").out


def test_epsilon_0_grows_by_delta_alone(certdp: Command) -> None:
    data = certdp("pws", "table", "--epsilon", "0", "--delta", "0.125", "--rows", "9", "--json").json
    assert data["pi_exact"] == ["0", "1/8", "1/4", "3/8", "1/2", "5/8", "3/4", "7/8", "1", "1"]


def test_delta_1_reports_everything(certdp: Command) -> None:
    data = certdp("pws", "table", "--epsilon", "1", "--delta", "1", "--rows", "2", "--json").json
    assert data["pi_exact"] == ["0", "1", "1"]


@pytest.mark.slow
def test_a_picture(certdp: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    place = tmp_path / "table.png"
    ran = certdp(*BASE, "--threshold", "0.1", "--plot", place)
    assert ran.code == 0
    assert place.read_bytes().startswith(b"\x89PNG")
    assert str(place) in ran.out.replace("\n", "")


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        (["--delta", "0"], "delta"),
        (["--delta", "-0.1"], "delta"),
        (["--epsilon", "-1"], "epsilon"),
        (["--epsilon", "nan"], "epsilon"),
        (["--epsilon", "1e3000"], "epsilon"),
        (["--epsilon", "1e9999"], "epsilon"),
        (["--delta", "1e-9999"], "delta"),
        (["--rows", "0"], "rows"),
        (["--rows", "1.5"], "rows"),
        (["--rows", "10000000"], "rows"),
        (["--scheme", "ppswor"], "threshold"),
        (["--scheme", "none", "--threshold", "0.1"], "threshold"),
        (["--scheme", "none", "--power", "1"], "power"),
        (["--scheme", "priority", "--threshold", "0.1"], "scheme"),
        (["--threshold", "0"], "threshold"),
        (["--threshold", "0.1", "--power", "-1"], "power"),
        (["--user-bound", "0"], "user-bound"),
        (["--user-bound", "many"], "user-bound"),
    ],
)
def test_refusals(refusal: Callable[..., dict[str, str]], more: list[str], parameter: str) -> None:
    assert refusal(*BASE, *more)["parameter"] == parameter


def test_nothing_can_be_reported_at_delta_0(refusal: Callable[..., dict[str, str]]) -> None:
    assert "no key may ever be reported" in " ".join(refusal(*BASE, "--delta", "0").values())


def test_a_picture_that_exists(refusal: Callable[..., dict[str, str]], tmp_path: Path) -> None:
    place = tmp_path / "table.png"
    place.write_bytes(b"mine")
    assert refusal(*BASE, "--plot", place)["parameter"] == "plot"
    assert place.read_bytes() == b"mine"
