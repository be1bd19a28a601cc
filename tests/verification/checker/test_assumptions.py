"""Every assumption that a certificate states is used by the proof, or told apart; none reads like another one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.derivation import CLIPPED_RECORDS, REAL_VALUED_NOISE, Assumption
from certdp.verification.checker import Verdict, check
from tests.support.forgeries import seal

ANSWERS = Path(__file__).parents[2] / "answers/certificates"


def counted(*further: tuple[str, str], radius: str = "5") -> Any:
    """A count of records that all enter, which loses 1/2 whatever the domain."""
    loss = ["divide", ["weight"], ["constant", "2"]]
    spent = ["divide", ["constant", "1"], ["constant", "2"]]
    nothing = ["constant", "0"]

    def sampled(exponent: Any) -> Any:
        return ["log1p", ["multiply", ["constant", "1"], ["expm1", exponent]]]

    def plugin(name: str, **options: str) -> Any:
        stated = {"name": name, "version": "1", "distribution": "certdp", "evidence": "proved", "citation": "none"}
        return stated | {"options": options}

    needed = {
        "evidence of mechanism count": "proved",
        "evidence of sampler full": "proved",
        "mechanism.scale": "2",
        "norm": "1",
        "radius": radius,
        "real-valued noise": "noise and the noisy result are rounded to binary64",
    }
    return {
        "format": "certdp-certificate/1",
        "kind": "sampled-pure-profile",
        "audience": "public",
        "theorem": "IS Theorem 6",
        "claim": {
            "unit": "record",
            "relation": "add-remove",
            "notion": "pure",
            "profile": {
                "remove": sampled(spent),
                "add": ["subtract", nothing, sampled(["subtract", nothing, spent])],
            },
            "supremum": {
                "domain": {"norm": "1", "radius": radius, "dimension": None},
                "lower": None,
                "upper": 0.5000000001,
                "maximiser": None,
            },
        },
        "inputs": {
            "loss": loss,
            "rate": ["constant", "1"],
            "weighted": False,
            "rounding": "0",
            "released_cost": "0",
        },
        "mechanism": plugin("count", scale="2"),
        "sampler": plugin("full"),
        "assumptions": [{"name": name, "value": value} for name, value in (*needed.items(), *further)],
        "precision": 64,
        "versions": {},
        "data": None,
    }


def verdict(*further: tuple[str, str], radius: str = "5") -> Verdict:
    return check(seal(counted(*further, radius=radius)))


def test_assumptions_that_are_not_used_are_told_apart() -> None:
    advertised = (("certified by the highest authority", "ε = 0 for everybody"), ("largest radius", "7"))
    found = verdict(*advertised)
    assert found.accepted, found.reason
    assert found.claim is not None
    assert found.claim.beside == advertised
    assert found.claim.assumptions == verdict().claim.assumptions  # type: ignore[union-attr]
    used, beside = str(found).split("assuming:\n")[1].split("stated beside that, unchecked and not used by the proof:")
    assert "  radius = 5\n" in used
    assert beside.splitlines()[1:] == [
        "  certified by the highest authority = \\u03b5 = 0 for everybody",
        "  largest radius = 7",
    ]


@pytest.mark.parametrize(
    "name",
    ["Radius", "radius ", "rad1us", "RADIUS.", "mechanism scale", "mechanism.sca1e", "real valued noise", "Norm"],
)
def test_no_assumption_contradicts_one_that_is_used(name: str) -> None:
    assert "reads like" in verdict((name, "1000")).reason


def test_no_two_assumptions_read_alike() -> None:
    assert "reads like" in verdict(("largest radius", "7"), ("largest-radius", "8")).reason
    assert "named twice" in verdict(("radius", "5")).reason
    assert "named twice" in verdict(("radius", "6")).reason


@pytest.mark.parametrize("name", ["r\u0430dius", "radius\u200b", "radius\n", "\x1b[2J", "x" * 1001])
def test_names_that_are_not_used_are_plain(name: str) -> None:
    assert "must have a name in printable ASCII" in verdict((name, "5")).reason


OF_PROOFS = {
    "parameters of later releases": "chosen from earlier ones; before the run the order and (epsilon, delta) were "
    "fixed, and each release was paid at that order before it was drawn",
    "how often the run is repeated is drawn apart from everything, and not told": "Poisson(10)",
    "the score of an output": "a function of that output alone",
    "norm": "7/5",
    "radius": "1/1000",
    "dimension": "1/1000",
    "records": "those that lose at most 1/10 at weight 1",
    "number of records": "10",
    "part 1: number of records": "10",
    "Part 2 : largest number of records": "10",
    "least number of records": "10",
    "least share of answers that are clones": "1/2",
    "part 9: releases": "1000000, each on a fresh sample",
    "releases, each on a fresh sample with coins of its own": "1000000",
    "released cost": "0.001",
    "released delta": "0.001",
    "relative rounding of probability and weight": "1/10",
    "strata": "labels and bounds are public and fixed beforehand",
    "part 1: part 2: strategy": "Toeplitz",
    "participation of a record": "at most 4 steps",
    "group size": "64",
    "Group-size": "64",
    "most records of one user": "64",
    "each record of the matrix is one element": "one occurrence of a key",
    "each user contributes at most so many elements in all": "64",
    "unit is an element": "all occurrences of a key",
    "coins of each key": "shared",
    "largest frequency": "1",
    "a key of more occurrences counts as having": "1",
    "evidence of mechanism gaussian-sum of version 9": "proved",
    "part 3: Evidence of Samp1er norm-strata of version 9": "proved",
    "mechanism.noise": "1/2",
    "part 7: sampler.rate": "1/1000",
    "sampler.none was released": "any value",
    "the rate was released": "any value",
    "the rate Was re1eased": "any value",
    "real-valued noise": "none",
    "clipping": "none",
}


@pytest.mark.parametrize("certificate", sorted(json.loads((ANSWERS / "verdicts.json").read_text("utf-8"))))
def test_a_name_that_proofs_use_stands_nowhere_else(certificate: str) -> None:
    """Whoever reads the file takes it for part of the proof, as of a run whose parameters were chosen on the way."""
    genuine = json.loads((ANSWERS / f"{certificate}.json").read_text("utf-8"))
    del genuine["digest"]
    assert check(seal(genuine)).accepted
    stated = {item["name"] for item in genuine["assumptions"]}
    for name, value in OF_PROOFS.items():
        if name not in stated:
            altered = genuine | {"assumptions": [*genuine["assumptions"], {"name": name, "value": value}]}
            assert re.search("name that proofs use|reads like|no parameter", check(seal(altered)).reason), name


@pytest.mark.parametrize("condition", [REAL_VALUED_NOISE, CLIPPED_RECORDS])
def test_conditions_of_mechanisms_are_assumed_by_whoever_states_them(condition: Assumption) -> None:
    stated = (condition.name, condition.value)
    body = counted()
    body["mechanism"]["version"] = "2"
    body["assumptions"] = [item for item in body["assumptions"] if item["name"] != condition.name]
    plain = check(seal(body))
    body["assumptions"].append({"name": condition.name, "value": condition.value})
    found = check(seal(body))
    assert plain.claim is not None
    assert found.claim is not None
    assert found.claim.assumptions == (*plain.claim.assumptions, stated)
    assert found.claim.beside == ()


def test_what_the_releases_of_parameters_rest_on_has_its_own_names() -> None:
    found = verdict(("released parameter 1: radius", "7"))
    assert found.claim is not None
    assert found.claim.beside == (("released parameter 1: radius", "7"),)


@pytest.mark.parametrize("radius", ["0", "-1", "-1/3"])
def test_a_domain_has_a_radius_above_0(radius: str) -> None:
    assert verdict(radius=radius).reason == "certificate.claim.supremum.domain.radius must be above 0"


@pytest.mark.parametrize("name", ["laplace-importance", "count-weighted", "lp-sum-full"])
def test_releases_in_binary64_need_their_assumption(name: str) -> None:
    """Noise is correctly rounded from version 2 on."""
    body = json.loads((ANSWERS / f"{name}.json").read_text("utf-8"))
    del body["digest"]
    assert body["mechanism"]["version"] == "1"
    assert check(seal(body)).accepted
    body["assumptions"] = [item for item in body["assumptions"] if item["name"] != "real-valued noise"]
    refused = check(seal(body))
    assert not refused.accepted
    assert "real-valued noise" in refused.reason
    body["mechanism"]["version"] = "2"
    assert check(seal(body)).accepted


@pytest.mark.parametrize("version", ["0", "3", "", "-1", "1e400", "\uff11", "1 ", "01", "2/1"])
@pytest.mark.parametrize("role", ["mechanism", "sampler"])
def test_a_plugin_of_certdp_has_a_version_that_there_was(role: str, version: str) -> None:
    body = json.loads((ANSWERS / "laplace-importance.json").read_text("utf-8"))
    del body["digest"]
    body[role]["version"] = version
    refused = check(seal(body))
    assert not refused.accepted
    assert f"certdp has no {role}" in refused.reason
    assert "of version" in refused.reason
