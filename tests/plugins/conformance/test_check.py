"""The kit as its users see it: what it accepts, what it reports, and its laws as tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.provenance import Public
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.randomised_response import RandomisedResponse
from certdp.plugins import conformance
from certdp.plugins.conformance import LawTest, Verdict, check
from certdp.plugins.registry import Registry, Role
from certdp.samplers.poisson import Poisson

MECHANISMS = [listing.name for listing in Registry().listings(Role.MECHANISM) if listing.built_in]
SLOW = {"discrete-gaussian", "dpis-step", "gaussian-sum"}  # their Rényi divergences on samples are integrals
WIDE = ({"granularity": "1", "scale": "2"}, {"granularity": "1", "dimension": "1", "scale": "3"})  # lattices
STRATA = {"strata": {"rates": "a:1/4,b:1"}, "norm-strata": {"bounds": "1/2", "rates": "1/4,1"}}
SAMPLERS = [listing.name for listing in Registry().listings(Role.SAMPLER) if listing.built_in]


def built_in(role: Role, name: str, **terms: Any) -> None:
    if name in STRATA:
        terms["options"] = (STRATA[name],)
    found = check(name, role=role, registry=Registry(third_party=False), **terms)
    assert found.passed, str(found)
    passed = sum(outcome.verdict is Verdict.PASSED for outcome in found.outcomes)
    others = {
        "random-allocation",
        "shuffled-batches",
        *STRATA,
    }  # the laws of a rate are not about epochs of batches, and strata
    assert passed >= (4 if name in others else 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_built_in_mechanisms_keep_every_law(name: str) -> None:
    options = WIDE if name == "discrete-gaussian" else ()
    built_in(Role.MECHANISM, name, examples=1 if name in SLOW else 2, audit_trials=200, options=options)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLERS)
def test_built_in_samplers_keep_every_law(name: str) -> None:
    built_in(Role.SAMPLER, name, examples=4, audit_trials=1000)


@pytest.mark.soundness
@pytest.mark.parametrize(
    ("role", "name"),
    [(Role.MECHANISM, name) for name in MECHANISMS] + [(Role.SAMPLER, name) for name in SAMPLERS],
)
def test_built_ins_keep_every_law_at_length(role: Role, name: str) -> None:
    built_in(role, name, examples=100, seed=1, audit_trials=2000 if name == "lloyd" else 20_000)


def test_what_is_reported() -> None:
    found = check(Poisson, only="p*", examples=3, seed=5)
    assert found.passed
    assert found.failures == ()
    assert [outcome.law for outcome in found.outcomes] == ["provenance", "probabilities"]
    lines = str(found).splitlines()
    assert lines[0] == "sampler poisson"
    assert lines[-1] == "2 passed, 0 failed, 0 not applicable; seed 5"
    assert lines[1].startswith("constants: rate=1; ")
    assert lines[2].startswith("✓ provenance")
    assert found.constants[0] == {"rate": "1"} == found.as_json()["constants"][0]
    assert json.loads(json.dumps(found.as_json()))["laws"][1]["cases_tried"] == 3


def test_a_law_that_says_nothing_gives_its_reason() -> None:
    (found,) = check(RandomisedResponse, only="order", options={"categories": "3", "noise": "1/2"}).outcomes
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.reason == "its relation replaces records, so that each has a place of its own"
    assert found.details == (f"not applicable: {found.reason}",)


def test_a_mechanism_that_never_releases_says_why() -> None:
    (found,) = check(GaussianSum(noise_multiplier=Public(1)), only="repeats").outcomes
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "noise_multiplier=1 alone" in found.reason


def test_an_instance_is_checked_with_its_own_constants() -> None:
    found = check(LaplaceSum(scale=Public("3/7")), only="*s*", examples=2, audit_trials=100)
    assert found.passed
    with pytest.raises(InvalidValue, match="options: got"):
        check(LaplaceSum(scale=Public(1)), options={"scale": "2"})


def test_records_of_the_author() -> None:
    plugin = RandomisedResponse(categories=Public(3), noise=Public("1/2"))
    found = check(plugin, records=[[2.0], [1.0]], only="audit", audit_trials=200)
    assert found.outcomes[0].verdict is Verdict.PASSED


def test_constants_that_are_not_found_are_asked_for() -> None:
    with pytest.raises(InvalidValue, match=r"public constants that Dpis can be built from.*options={"):
        check("dpis", role=Role.SAMPLER, options={"batch": "1e9"})
    with pytest.raises(InvalidValue, match=r"LaplaceSum\.rate: got 1"):
        check(LaplaceSum, options={"rate": "1"})


@pytest.mark.parametrize("plugin", [3, "no-such-plugin", object()])
def test_what_is_no_plugin(plugin: object) -> None:
    with pytest.raises((InvalidType, InvalidValue)) as caught:
        check(plugin)
    assert caught.value.parameter == "plugin"


@pytest.mark.parametrize(
    "terms", [{"only": "nothing*"}, {"examples": 0}, {"seed": -1}, {"timeout": 0}, {"timeout": "soon"}]
)
def test_terms_are_checked(terms: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        check(Poisson, **{"only": "rep*", **terms})


def test_a_name_of_several_roles_is_the_plugin_that_is_not_claims() -> None:
    assert check("lloyd", only="contract").kind == "mechanism"
    assert check("lloyd", role=Role.CLAIMS, only="words").kind == "claims"


def test_a_time_limit_changes_no_outcome() -> None:
    apart, here = (
        check(Poisson, only="*s", examples=3, timeout=limit, audit_trials=100) for limit in (3600, None)
    )  # never reached
    assert [(one.law, one.verdict) for one in apart.outcomes] == [(one.law, one.verdict) for one in here.outcomes]


HANGING = """
import os, time
from typing import ClassVar
import attrs
from certdp.plugins.conformance import check
from certdp.plugins.contract import (
    CONTRACT_VERSION, About, Evidence, PureLoss, Real, W, named, norm, positive,
)

@attrs.frozen(kw_only=True, field_transformer=named)
class Odd:
    about: ClassVar[About] = About(
        name="odd", version="1", contract=CONTRACT_VERSION, evidence=Evidence.PROVED, citation="nowhere"
    )
    scale: Real = attrs.field(converter=positive)

    @property
    def loss(self):
        return PureLoss(W * norm(1) / self.scale.value)

    def release(self, sample, coins):
        return MISCHIEF

if __name__ == "__main__":
    found = check(Odd, options={"scale": "1"}, only="[cr]*s", examples=2, timeout=LIMIT)
    for outcome in found.outcomes:
        print(outcome.law, outcome.verdict.value, outcome.reason, sep=": ")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mischief", "limit", "reason"),
    [
        ("time.sleep(60)", "0.5", "stopped: it took longer than 0.5 s"),
        ("os._exit(0)", "60.0", "its process ended with code 0"),
        ("os.abort()", "60.0", "its process ended with code -6"),
    ],
)
def test_a_plugin_that_does_not_return(tmp_path: Path, mischief: str, limit: str, reason: str) -> None:
    program = tmp_path / "hanging.py"
    program.write_text(HANGING.replace("MISCHIEF", mischief).replace("LIMIT", limit), encoding="utf-8")
    ran = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stderr
    outcomes = dict(line.split(": ", 1) for line in ran.stdout.splitlines())
    assert outcomes == dict.fromkeys(("curves", "releases", "repeats"), f"failed: {reason}")


# As tests


@conformance.parametrize(Poisson, only="re*", examples=2)
def test_laws_as_tests(law: LawTest) -> None:
    law()


def test_a_law_that_fails_is_a_test_that_fails() -> None:
    class Loose:
        about = LaplaceSum.about
        loss = None

    tests = conformance.parametrize(Loose)
    laws = [parameter.values[0] for parameter in tests.args[1]]  # type: ignore[attr-defined]
    with pytest.raises(AssertionError, match="is no frozen attrs class"):
        laws[0]()
    with pytest.raises(pytest.skip.Exception, match="does not keep the contract"):
        laws[1]()
