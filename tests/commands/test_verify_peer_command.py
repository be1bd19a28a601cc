"""`certdp verify-peer`: verdicts with exit codes, and certificates of claims that hold."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.verification.checker import check

STATE = {"history": [[1.0, 0.01, 1000]], "mechanism": "rdp"}
ANSWERS = '{"type": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 2}'


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(STATE), "utf-8")
    return path


def answered(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["verify-peer", *map(str, arguments)])


@pytest.mark.parametrize(
    ("claimed", "verdict", "code"), [("1.9", "holds", 0), ("1.5", "refuted", 1), ("1.82823666651669", "undecided", 3)]
)
def test_verdicts(state: Path, claimed: str, verdict: str, code: int) -> None:
    found = answered(state, "--epsilon", claimed, "--delta", "1e-5")
    assert (found.exit_code, f"-DP: {verdict}" in found.output) == (code, True)
    told = json.loads(answered(state, "--epsilon", claimed, "--delta", "1e-5", "--json").output)
    assert told["verdict"] == verdict
    assert (told["source"], told["releases"], told["certificate"]) == ("Opacus", 1000, None)
    assert told["epsilon"][0] <= 1.8282366665168 <= told["epsilon"][1]
    assert "poisson_sampling=True" in str(told["assumptions"])


def test_the_certificate_is_of_the_claim_and_names_the_file(state: Path, tmp_path: Path) -> None:
    out = tmp_path / "claim.json"
    found = answered(state, "--epsilon", "1.9", "--delta", "1e-5", "--certificate", out)
    assert found.exit_code == 0, found.output
    verdict = check(out.read_bytes())
    assert verdict.accepted, verdict
    body = json.loads(out.read_bytes())
    assert float(verdict.claim.epsilon[1]) <= 1.9  # type: ignore[union-attr, index]
    told = {one["name"]: one["value"] for one in body["assumptions"]}
    assert hashlib.sha256(state.read_bytes()).hexdigest() in told["described by a file"]


@pytest.mark.parametrize(
    ("words", "claimed", "name", "code"),
    [
        (("--order", "4", "--tau", "0.37"), "(4, 0.37)-Rényi DP: holds", "tau", 0),
        (("--order", "4", "--tau", "0.36"), "(4, 0.36)-Rényi DP: refuted", "tau", 1),
        (("--rho", "500"), "500-zCDP: holds", "rho", 0),
        (("--rho", "499"), "499-zCDP: undecided", "rho", 3),
        (("--mu", "32"), "32-Gaussian DP: holds", "mu", 0),
        (("--mu", "0.001"), "0.001-Gaussian DP: refuted", "mu", 1),
    ],
)
def test_claims_in_other_notions(
    state: Path, tmp_path: Path, words: tuple[str, ...], claimed: str, name: str, code: int
) -> None:
    out = tmp_path / "claim.json"
    found = answered(state, *words, "--certificate", out)
    assert (found.exit_code, claimed in found.output) == (code, True), found.output
    told = json.loads(answered(state, *words, "--json").output)
    assert told["claimed"][name] == str(Fraction(words[-1]))
    assert told[name][1] >= 0.36
    assert out.exists() is (code == 0)
    if code == 0:
        claim = check(out.read_bytes()).claim
        assert claim is not None
        assert dict(claim.parameters)[name] <= Fraction(words[-1])


@pytest.mark.parametrize(
    "words",
    [(), ("--tau", "1"), ("--order", "2"), ("--delta", "0.1"), ("--rho", "1", "--mu", "1"), ("--mu", "-1")],
    ids=str,
)
def test_a_claim_is_one_and_whole(state: Path, words: tuple[str, ...]) -> None:
    found = answered(state, *words)
    assert found.exit_code == 2
    assert "admissible: " in found.output


def test_no_certificate_of_what_does_not_hold(state: Path, tmp_path: Path) -> None:
    found = answered(state, "--epsilon", "1.5", "--delta", "1e-5", "--certificate", tmp_path / "claim.json")
    assert found.exit_code == 1
    assert not (tmp_path / "claim.json").exists()


@pytest.mark.parametrize(
    ("scale", "claimed", "verdict"),
    [("0.99999995", "1.0000001", "holds"), ("1", "0.9999999999999999999", "refuted"), ("1", "0.9999999", "refuted")],
)
def test_the_claim_is_written_as_it_was_stated(tmp_path: Path, scale: str, claimed: str, verdict: str) -> None:
    """Rounded, the sentence would be about another claim, which may be false."""
    path = tmp_path / "laplace.json"
    path.write_text(json.dumps({"type": "LaplaceDpEvent", "noise_multiplier": scale}), "utf-8")
    assert f"({claimed}, 0)-DP: {verdict}" in answered(path, "--epsilon", claimed).output


@pytest.mark.parametrize(
    "event",
    ['{"type": "ZCDpEvent", "rho": 0.001, "xi": 0}', '{"type": "ComposedDpEvent", "events": []}'],
    ids=["zCDP", "nothing"],
)
def test_a_claim_that_has_no_certificate_keeps_its_verdict(tmp_path: Path, event: str) -> None:
    path, out = tmp_path / "event.json", tmp_path / "claim.json"
    path.write_text(event, "utf-8")
    found = answered(path, "--epsilon", "1", "--delta", "1e-5", "--certificate", out)
    assert found.exit_code == 0
    assert "-DP: holds" in found.output
    assert "no certificate: " in found.output
    assert not out.exists()
    told = json.loads(answered(path, "--epsilon", "1", "--delta", "1e-5", "--certificate", out, "--json").output)
    assert (told["verdict"], told["certificate"]) == ("holds", None)
    assert told["refused"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "relation", "claimed"),
    [
        (
            {
                "type": "SampledWithoutReplacementDpEvent",
                "source_dataset_size": 100,
                "sample_size": 10,
                "event": {"type": "GaussianDpEvent", "noise_multiplier": 4},
            },
            "replace",
            "1",
        ),
        ({"type": "SingleEpochTreeAggregationDpEvent", "noise_multiplier": 9, "step_counts": [3, 8]}, "zero-out", "2"),
    ],
)
def test_claims_about_other_changes_are_certified(tmp_path: Path, event: object, relation: str, claimed: str) -> None:
    path, out = tmp_path / "event.json", tmp_path / "claim.json"
    path.write_text(json.dumps(event), "utf-8")
    found = answered(path, "--epsilon", claimed, "--delta", "1e-5", "--relation", relation, "--certificate", out)
    assert found.exit_code == 0, found.output
    claim = json.loads(out.read_bytes())["claim"]
    assert claim["relation"] == relation
    assert Fraction(claim["epsilon"]) <= Fraction(claimed)
    assert check(out.read_bytes()).accepted


def test_a_fault_of_a_peer_is_refuted(tmp_path: Path) -> None:
    """dp-accounting 0.6.0 composes randomised response once, however often it ran: 1.0987 for ten."""
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"type": "SelfComposedDpEvent", "count": 10, "event": json.loads(ANSWERS)}), "utf-8")
    asked = (path, "--epsilon", "1.0987", "--delta", "1e-5")
    assert answered(*asked, "--relation", "replace").exit_code == 1
    path.write_text(ANSWERS, "utf-8")
    assert answered(*asked, "--relation", "replace").exit_code == 0
    refused = answered(*asked)
    assert refused.exit_code == 2
    assert "relation" in refused.output


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--epsilon", "1", "--relation", "zero"), "relation"),
        (("--epsilon", "-1"), "epsilon"),
        (("--epsilon", "1", "--delta", "2"), "delta"),
        ((), "--epsilon"),
    ],
)
def test_bad_input(state: Path, arguments: tuple[str, ...], named: str) -> None:
    found = answered(state, *arguments)
    assert found.exit_code == 2
    assert named in found.output


PLAN = """
[[release]]
mechanism = "gaussian-sum"
sampler = "poisson"
resample = "each"
steps = 1000
option = {noise_multiplier = 1, rate = 0.01}
"""
COUNTS = '[[release]]\nmechanism="count"\nsampler="full"\noption.scale=4\n'
REPLACED = ("--relation", "replace")
ELEMENTS = f'unit = "element"\n{COUNTS}'


class TestPlans:
    """A plan's file, NAME.toml, as `certdp epsilon --plan` takes it."""

    @pytest.fixture
    def plan(self, tmp_path: Path) -> Path:
        path = tmp_path / "plan.toml"
        path.write_text(PLAN, "utf-8")
        return path

    @pytest.mark.parametrize(
        ("claimed", "verdict", "code"),
        [("1.9", "holds", 0), ("1.5", "refuted", 1), ("1.82823666651669", "undecided", 3)],
    )
    def test_verdicts_are_those_of_the_same_run_of_opacus(
        self, plan: Path, state: Path, claimed: str, verdict: str, code: int
    ) -> None:
        asked = ("--epsilon", claimed, "--delta", "1e-5", "--json")
        found = answered(plan, *asked)
        mine, theirs = (json.loads(one.output) for one in (found, answered(state, *asked)))
        assert (found.exit_code, mine["verdict"]) == (code, verdict)
        same = ("releases", "unit", "relation", "accountant")
        assert [mine[name] for name in same] == [theirs[name] for name in same]
        assert mine["epsilon"] == pytest.approx(theirs["epsilon"], rel=1e-12)  # 0.01 is binary64 in the state alone
        assert mine["source"] == "a plan"
        assert mine["digest"] == f"sha256:{hashlib.sha256(plan.read_bytes()).hexdigest()}"

    def test_the_certificate_is_of_the_claim_and_names_the_file(self, plan: Path, tmp_path: Path) -> None:
        out = tmp_path / "claim.json"
        assert answered(plan, "--epsilon", "1.9", "--delta", "1e-5", "--certificate", out).exit_code == 0
        verdict = check(out.read_bytes())
        assert verdict.accepted, verdict
        assert float(verdict.claim.epsilon[1]) <= 1.9  # type: ignore[union-attr, index]
        told = {one["name"]: one["value"] for one in json.loads(out.read_bytes())["assumptions"]}
        assert hashlib.sha256(plan.read_bytes()).hexdigest() in told["described by a file"]

    @pytest.mark.parametrize(("claimed", "code"), [("2.84345", 0), ("1.9", 1)])
    def test_a_plan_is_asked_about_replaced_records(self, plan: Path, tmp_path: Path, claimed: str, code: int) -> None:
        out = tmp_path / "claim.json"
        asked = ("--epsilon", claimed, "--delta", "1e-5", *REPLACED, "--certificate", out)
        assert answered(plan, *asked).exit_code == code
        assert out.exists() == (code == 0)
        if out.exists():
            claim = check(out.read_bytes()).claim
            assert claim is not None
            assert claim.relation == "replace"

    @pytest.mark.parametrize(("claimed", "code"), [("0.5", 0), ("0.4999999", 1)])
    def test_several_releases(self, plan: Path, claimed: str, code: int) -> None:
        plan.write_text(COUNTS * 2, "utf-8")
        assert answered(plan, "--epsilon", claimed).exit_code == code

    def test_the_unit_is_the_plans(self, plan: Path, tmp_path: Path) -> None:
        plan.write_text(ELEMENTS, "utf-8")
        out = tmp_path / "claim.json"
        found = answered(plan, "--epsilon", "0.25", "--certificate", out, "--json")
        told = json.loads(found.output)
        assert (told["verdict"], told["unit"]) == ("holds", "element")
        claim = check(out.read_bytes()).claim
        assert claim is not None
        assert claim.unit == "element"

    @pytest.mark.parametrize(
        ("text", "arguments", "named"),
        [
            (PLAN.replace("poisson", "random-allocation").replace("rate = 0.01", "batches = 4"), REPLACED, "relation"),
            (f"{COUNTS}steps=0\n", (), "release[1].steps"),
            (json.dumps(STATE), (), "syntax"),
            (COUNTS.replace("count", "os:system"), (), "release[1].mechanism"),
        ],
    )
    def test_refusals(self, plan: Path, text: str, arguments: tuple[str, ...], named: str) -> None:
        plan.write_text(text, "utf-8")
        found = answered(plan, "--epsilon", "1", *arguments)
        assert (found.exit_code, named in found.output) == (2, True), found.output
