"""The fixture `assert_private`, in sessions of pytest of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from certdp import (
    Delta,
    Epsilon,
    FixedBatches,
    Full,
    GaussianSum,
    LaplaceSum,
    Norm,
    NormBall,
    Plan,
    Poisson,
    Public,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Change
from certdp.interoperation import Composed, Finding, Gaussian, Laplace, NonPrivate, PoissonSampled, SelfComposed
from certdp.interoperation.proven_claims import Claimed, proven
from certdp.runs.as_declared import AS_DECLARED
from certdp.runs.run import Run
from certdp.testing.plugin import OPTION
from certdp.verification.checker import check
from certdp.weighted_sampling.release import PrivateWeightedSampling

TRAINING = SampledRun(
    mechanism=GaussianSum(noise_multiplier=Public(2)), sampler=Poisson(rate=Public("0.01")), releases=ResampleEach(100)
)
SUMS = SampledRun(
    mechanism=LaplaceSum(scale=Public(2)),
    sampler=Poisson(rate=Public("0.5")),
    domain=NormBall(norm=Norm.L1, radius=Public(1)),
)
EVENT = SelfComposed(PoissonSampled(0.01, Gaussian(2)), 100)
BOTH = Plan([TRAINING, SUMS])
KEYS = PrivateWeightedSampling.within(epsilon=1, delta="1e-3").accounted

TESTS = """
from certdp import GaussianSum, Poisson, Public, ResampleEach, SampledRun
from certdp.interoperation import Laplace, NonPrivate

RUN = SampledRun(
    mechanism=GaussianSum(noise_multiplier=Public(2)), sampler=Poisson(rate=Public("0.01")), releases=ResampleEach(100)
)

def test_holds(assert_private):
    assert assert_private(RUN, epsilon="0.4", delta="1e-6").epsilon.upper < 0.4
    assert_private(Laplace(1), epsilon=1)

def test_refuted(assert_private):
    assert_private(RUN, epsilon="0.1", delta="1e-6")

def test_not_private(assert_private):
    assert_private(NonPrivate(), epsilon=100, delta="0.5")

def test_without(tmp_path):
    import sys
    assert True
"""


def session(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_claims.py").write_text(TESTS, "utf-8")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={folder}", "-c", os.devnull, *options]
    return subprocess.run(
        [sys.executable, *words, "test_claims.py"], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )


@pytest.mark.slow
def test_claims_that_are_not_proven_fail_and_the_others_leave_certificates(tmp_path: Path) -> None:
    done = session(tmp_path, "--certdp-certificates", str(tmp_path / "proofs"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 2 passed" in done.stdout
    about = "(unit record, relation add-remove)"
    assert f"(1/10, 1/1000000)-DP {about} is refuted: the true ε is at least 0.22" in done.stdout
    assert "2 privacy claims proven, unit record, relation add-remove" in done.stdout
    found = sorted((tmp_path / "proofs").iterdir())
    assert [path.name for path in found] == ["test_claims.py_test_holds-1.json", "test_claims.py_test_holds-2.json"]
    for path in found:
        assert check(path.read_bytes()).accepted
    assert not list(session(tmp_path).stdout.split("certificate")[1:])


@pytest.mark.slow
def test_pytest_loads_nothing_of_the_library_for_tests_that_do_not_ask(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_it():\n    assert not {'certdp.runs', 'numba', 'scipy'} & set(sys.modules)\n"
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tmp_path}", "-c", os.devnull]
    done = subprocess.run([*words, "test_other.py"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("run", "asked"),
    [
        (TRAINING, TRAINING),
        (SUMS, SUMS),
        (BOTH, BOTH),
        (EVENT, EVENT.run()),
        (KEYS, KEYS),
    ],
    ids=["training", "sums", "plan", "event", "keys"],
)
def test_what_is_proven_has_a_certificate_that_proves_it(run: Claimed, asked: Run[Any]) -> None:
    delta = Delta("1e-3")
    least = asked.epsilon(delta).epsilon.upper
    found = proven(run, str(2 * least), delta)
    assert (found.verdict.finding, found.refusal, found.reason) == (Finding.HOLDS, None, None)
    assert found.certificate is not None
    verdict = check(found.certificate)
    assert verdict.accepted
    assert verdict.claim is not None
    assert verdict.claim.bound is not None
    assert verdict.claim.bound[1] <= delta.value
    assert proven(run, str(2 * least), delta, with_certificate=False).certificate is None
    refuted = proven(run, str(least / 4), delta)
    assert refuted.refusal is not None
    assert refuted.certificate is None


def test_words_tell_refuted_from_unproven() -> None:
    assert "is refuted: the true ε is at least" in str(proven(EVENT, Epsilon("0.01"), "1e-6").refusal)
    assert proven(NonPrivate(), 1, "0.5").refusal == "(1, 1/2)-DP (unit record, relation add-remove) is refuted"
    exact = proven(Composed([Laplace(1), Laplace(1)]), 2)
    assert exact.refusal is None
    with pytest.raises(InvalidType, match="a run of certdp"):
        proven(3, 1)  # type: ignore[arg-type]


BATCHES = FixedBatches(batch_size=Public(10), data_size=Public(100))
RUNS = [
    SampledRun(mechanism=GaussianSum(noise_multiplier=Public(2)), sampler=sampler, relation=relation)
    for relation, sampler in ((ADD_REMOVE, Full()), (REPLACE, BATCHES), (ZERO_OUT, BATCHES))
]


@pytest.mark.parametrize("wrapped", [lambda run: run, lambda run: Plan([run])], ids=["run", "plan"])
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE, ZERO_OUT], ids=str)
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.relation.name)
def test_a_claim_is_about_one_relation(run: SampledRun[Any], relation: Change, wrapped: Any) -> None:
    """A run about another one says nothing of it: batches of a fixed size have no ε under add/remove."""
    asked = wrapped(run)
    if relation == run.relation:
        found = proven(asked, 5, "1e-5", relation=relation, with_certificate=False)
        assert found.refusal is None
        assert found.about == f"unit record, relation {relation.name}"
    else:
        with pytest.raises(InvalidValue, match=f"a run about {relation.name}"):
            proven(asked, 5, "1e-5", relation=relation, with_certificate=False)
    if run.relation != ADD_REMOVE:
        with pytest.raises(InvalidValue, match="a run about add-remove"):
            proven(asked, 5, "1e-5")


def test_an_event_is_asked_about_under_the_relation_of_the_claim() -> None:
    least = EVENT.run(REPLACE).epsilon(Delta("1e-6")).epsilon
    assert least.lower is not None
    claimed = str(least.lower * 0.999)
    assert proven(EVENT, claimed, "1e-6").refusal is None
    found = proven(EVENT, claimed, "1e-6", relation=REPLACE)
    assert "relation replace) is refuted" in str(found.refusal)
    held = proven(EVENT, str(2 * least.upper), "1e-6", relation=REPLACE)
    assert held.certificate is not None
    claim = check(held.certificate).claim
    assert claim is not None
    assert claim.relation == "replace"


def test_a_run_that_is_released_on_a_grid_is_refuted_as_declared() -> None:
    """Records of at most 2^-32 are cut to 0 by the grid of noise of scale 1: what is released keeps any ε."""
    small = SampledRun(
        mechanism=LaplaceSum(scale=Public(1)),
        sampler=Full(),
        domain=NormBall(norm=Norm.L1, radius=Public(Fraction(1, 2**32))),
    )
    for run in (small, Plan([small])):
        found = proven(run, "1e-12", 0)
        assert found.verdict.finding is Finding.REFUTED
        assert str(found.refusal).endswith(AS_DECLARED)
    assert str(proven(EVENT, "0.01", "1e-6").refusal).endswith(AS_DECLARED)  # floats, for all that is known


def test_the_action_installs_checks_and_keeps() -> None:
    """Its steps are shell: nothing that a caller states is part of a script."""
    action = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text("utf-8"))
    steps = action["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert not [script for script in scripts if "${{" in script]
    assert any(OPTION in script for script in scripts)
    assert any("certdp check" in script for script in scripts)
    assert all(step["shell"] == "bash" for step in steps if "run" in step)
    stated = {name for name in action["inputs"] if f"inputs.{name}" in str(steps)}
    assert stated == set(action["inputs"])
