"""`--certificate` of `certdp epsilon`, `delta` and `calibrate`, and what `certdp check` says of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.commands.run_certificates import Certificate

Command = Callable[..., Any]

GAUSSIAN = (
    *("--mechanism", "gaussian-sum", "--sampler", "poisson"),
    *("--option", "scale=2", "--option", "rate=0.1", "--option", "radius=1"),
)
LAPLACE = (
    *("--mechanism", "laplace-sum", "--sampler", "poisson"),
    *("--option", "scale=2", "--option", "rate=0.1", "--option", "radius=1"),
)


@pytest.mark.slow
def test_an_epsilon_with_its_certificate(certdp: Command, tmp_path: Path) -> None:
    place = tmp_path / "certificate.json"
    run = ("epsilon", *GAUSSIAN, "--resample", "once", "--steps", "3", "--delta", "1e-5", "--certificate", place)
    data = certdp(*run, "--json").json
    assert data["certificate"] == str(place)
    certified = data["certified"]
    assert (certified["delta"], certified["method"]) == (data["delta"][1], "hockey-stick")
    assert data["epsilon"][1] <= certified["epsilon"] <= math.nextafter(data["epsilon"][1], math.inf)
    asked = ("--require", "proved", "--max-epsilon", certified["epsilon"], "--max-delta", certified["delta"])
    assert certdp("check", place, *asked).code == 0
    checked = certdp("check", place, "--json")
    assert (checked.code, checked.json["verdict"]) == (0, "holds")
    assert checked.json["epsilon"] == [None, data["epsilon"][1]]
    assert checked.json["domain"] == "norm(2) <= 1"
    out = certdp(*run).out
    assert "proves (" in out
    assert "more than above" not in out


@given(st.fractions(min_value=0, max_value=1), st.integers(-300, 300))
def test_what_is_certified_is_safe_as_the_decimals_that_are_written(part: Fraction, exponent: int) -> None:
    """They are what a shell hands to `certdp check --max-epsilon`."""
    value = part * Fraction(10) ** exponent
    page = json.dumps(Certificate(parameters={"epsilon": value, "bayes-risk": value}, method="").as_json())
    numbers = json.loads(page, parse_float=Decimal)
    above, below = Fraction(numbers["epsilon"]), Fraction(numbers["bayes_risk"])
    assert below <= value <= above
    assert value < Fraction(1, 10**290) or above - below <= value * Fraction(1, 2**50)


@pytest.mark.slow
def test_a_certificate_that_proves_less_says_so(certdp: Command, tmp_path: Path) -> None:
    place = tmp_path / "certificate.json"
    run = ("delta", *LAPLACE, "--resample", "once", "--steps", "50", "--epsilon", "1", "--certificate", place)
    data = certdp(*run, "--json").json
    assert data["certified"]["method"] == "renyi"
    assert data["certified"]["delta"] > data["delta"][1]
    assert "more than above" in certdp(*run).out
    assert certdp("check", place).code == 0


def test_a_difference_that_no_digit_shows_is_not_spoken_of(certdp: Command, tmp_path: Path) -> None:
    options = ("--mechanism", "gaussian-sum", "--sampler", "poisson", "--option", "noise_multiplier=1")
    run = ("epsilon", *options, "--option", "rate=0.1", "--resample", "each", "--steps", "10", "--delta", "1e-5")
    asked = (*run, "--certificate", tmp_path / "certificate.json")
    data = certdp(*asked, "--json").json
    assert data["epsilon"][1] < data["certified"]["epsilon"] < data["epsilon"][1] * (1 + 1e-7)
    out = certdp(*asked).out
    assert "proves (" in out
    assert "more than above" not in out
    assert "more than above" in certdp(*asked, "--full").out


def test_a_calibrated_value_with_its_certificate(certdp: Command, tmp_path: Path) -> None:
    place = tmp_path / "certificate.json"
    data = certdp(
        *("calibrate", "--mechanism", "gaussian-sum", "--sampler", "full", "--find", "scale"),
        *("--option", "radius=1", "--epsilon", "1", "--delta", "1e-5", "--certificate", place, "--json"),
    ).json
    assert data["certificate"] == str(place)
    assert data["certified"]["method"] == "hockey-stick"
    assert data["certified"]["epsilon"] == data["epsilon"][1] <= 1
    assert certdp("check", place).code == 0


@pytest.mark.slow
def test_a_calibrated_value_is_certified_within_its_budget(certdp: Command, tmp_path: Path) -> None:
    asked = (
        *("calibrate", "--mechanism", "laplace-sum", "--sampler", "full", "--find", "scale", "--option", "radius=1"),
        *("--steps", "10", "--resample", "once", "--epsilon", "1", "--delta", "1e-5", "--json"),
    )
    place = tmp_path / "certificate.json"
    bare, certified = certdp(*asked).json, certdp(*asked, "--certificate", place).json
    assert certified["certified"]["epsilon"] <= 1
    assert certified["certified"]["delta"] <= 1e-5
    assert bare["value"] < certified["value"] < bare["value"] * 1.0001
    assert certified["refused"] == bare["refused"]
    assert certdp("check", place).code == 0


def test_a_certificate_far_above_the_budget_says_so(certdp: Command, tmp_path: Path) -> None:
    place = tmp_path / "certificate.json"
    run = (
        *("calibrate", "--mechanism", "laplace-sum", "--sampler", "poisson", "--option", "rate=0.1"),
        *("--option", "radius=1", "--find", "scale", "--steps", "50", "--resample", "each"),
        *("--epsilon", "1", "--delta", "1e-5", "--accountant", "renyi", "--certificate", place),
    )
    assert "which is more than the budget" in certdp(*run).out
    assert certdp("check", place).code == 0


def test_without_the_option_there_is_none(certdp: Command) -> None:
    data = certdp("epsilon", *LAPLACE, "--json").json
    assert data["certificate"] is data["certified"] is None


@pytest.mark.parametrize("place", ["missing/certificate.json", "."])
def test_a_place_that_cannot_be_written(refusal: Callable[..., dict[str, str]], tmp_path: Path, place: str) -> None:
    error = refusal("epsilon", *LAPLACE, "--certificate", tmp_path / place)
    assert error["parameter"] == "certificate"
