"""`certdp psi --sampler privacy-constrained`, and `certdp check` of what it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]

BASE = (
    *("psi", "--mechanism", "laplace-sum", "--sampler", "privacy-constrained"),
    *("--option", "scale=5", "--option", "target=1"),
)
BOUNDED = (*BASE, "--option", "radius=5")


@pytest.fixture
def pair(certdp: Run, table: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A public and an owner's certificate of the same run."""
    public, owner = tmp_path / "public.json", tmp_path / "owner.json"
    ran = certdp(*BOUNDED, "--data", table, "--certificate", public, "--owner-certificate", owner)
    assert (ran.code, ran.err) == (0, "")
    assert "ε ≤ 1 for every record" in ran.out
    assert "ψ(x) ≤ 1 for every record that may be drawn" in ran.out
    return public, owner


def test_a_public_certificate_holds(certdp: Run, pair: tuple[Path, Path]) -> None:
    ran = certdp("check", pair[0], "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json == {
        "certificate": str(pair[0]),
        "verdict": "holds",
        "reason": ran.json["reason"],
        "data_compared": False,
        "theorem": "IS Problem 7 and Theorem 6",
        "guarantee": "pure differential privacy per record under add-remove",
        "unit": "record",
        "relation": "add-remove",
        "audience": "public",
        "epsilon": [None, 1.0],
        "delta": 0.0,
        "notion": "pure",
        "parameters": {"epsilon": "1", "delta": "0"},
        "domain": "norm(1) <= 5",
        "distributions": ["certdp"],
        "assumptions": ran.json["assumptions"],
        "not_used": [],
        "artefacts": None,
        "demands": [],
    }
    assert {"name": "sampler.target", "value": "1"} in ran.json["assumptions"]
    assert certdp("check", pair[0]).out.startswith("holds: ")


def test_an_owners_certificate_is_compared_with_its_data(certdp: Run, pair: tuple[Path, Path], table: Path) -> None:
    ran = certdp("check", pair[1], "--data", table, "--json")
    assert (ran.code, ran.json["verdict"], ran.json["data_compared"]) == (0, "holds", True)
    other = certdp("check", pair[1], "--data", table, "--divide-by", "2", "--json")
    assert (other.code, other.json["verdict"]) == (1, "refused")


def test_json_states_the_target_as_a_bound(certdp: Run, table: Path) -> None:
    found = certdp(*BOUNDED, "--data", table, "--option", "largest_weight=40", "--json").json
    assert found["epsilon"] == [None, 1.0]
    assert found["guarantee"]["theorem"] == "IS Problem 7 and Theorem 6"
    assert found["guarantee"]["psi"] == "1"
    assert found["guarantee"]["maximiser"] is None
    assert found["private"]["psi_max"] <= 1.0
    assert 60 / 40 <= found["private"]["expected_sample_size"][1] <= 60


def test_without_a_domain_there_is_no_epsilon(certdp: Run, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    ran = certdp(*BASE, "--certificate", path, "--json")
    assert (ran.code, ran.json["epsilon"]) == (0, None)
    assert {"name": "records", "value": "those that lose at most 1 at weight 1"} in ran.json["assumptions"]
    assert certdp("check", path).code == 0
    assert json.loads(path.read_bytes())["kind"] == "constrained-pure-profile"


def test_a_plot(certdp: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "psi.png"
    assert certdp(*BOUNDED, "--plot", path).code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_target_below_what_the_domain_loses(refusal: Refusal) -> None:
    error = refusal(*BASE, "--option", "radius=6")
    assert error["parameter"] == "target"
    assert error["admissible"].startswith("at least 1.2")


def test_a_target_answers_at_a_delta_and_at_an_order(certdp: Run, refusal: Refusal, tmp_path: Path) -> None:
    """What is within a target is dominated by randomised response, in every notion."""
    target = certdp(*BOUNDED, "--json").json["epsilon"][1]
    for more, name in ((("--delta", "1e-2"), "epsilon"), (("--order", "2"), "tau")):
        found = certdp(*BOUNDED, *more, "--json").json
        assert 0 < found[name][1] < target
        assert found["private"]["psi_max"] <= found[name][1]
    epsilon = ("epsilon", *BOUNDED[1:], "--delta", "1e-2")
    assert (
        certdp(*epsilon, "--json").json["epsilon"][1]
        == certdp(*BOUNDED, "--delta", "1e-2", "--json").json["epsilon"][1]
    )
    assert refusal(*epsilon, "--certificate", tmp_path / "none.json")["parameter"] == "sampler"


def test_a_mechanism_without_a_pure_loss(refusal: Refusal) -> None:
    error = refusal("psi", "--mechanism", "gaussian-sum", *BASE[3:])
    assert error["parameter"] == "mechanism"
    assert "pure" in error["value"]
