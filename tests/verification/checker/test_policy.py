"""Demands on certificates are compared exactly, with what was proven; nothing is met by what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import certdp
from certdp import (
    RECORD,
    Delta,
    Full,
    GaussianSum,
    LaplaceSum,
    NormBall,
    Public,
    ResampleEach,
    SampledRun,
    User,
)
from certdp.accounting.norms import Norm
from certdp.verification.checker import Artefacts, Claim, Outcome, Verdict, check
from certdp.verification.checker.__main__ import main
from certdp.verification.checker.policy import RELATIONS, UNITS, Policy, exit_status

CLAIM = Claim(
    theorem="none",
    guarantee="none",
    unit="record",
    whom="record",
    together=1,
    relation="add-remove",
    audience="public",
    epsilon=(None, 0.5),
    bound=(Fraction(1, 2), Fraction(1, 10**6)),
    domain=None,
    distributions=("certdp",),
    assumptions=(),
    beside=(),
    notion="approximate",
    parameters=(),
)
HOLDS = Verdict(outcome=Outcome.HOLDS, reason="it does", claim=CLAIM)
ASSUMING = replace(HOLDS, outcome=Outcome.HOLDS_ASSUMING_PROFILE)
REFUSED = Verdict(outcome=Outcome.REFUSED, reason="it does not")
TINY = Fraction(1, 10**400)


def status(verdict: Verdict, **demands: Any) -> int:
    policy = Policy(**demands)
    return exit_status(verdict, policy.demands(verdict))


def about(**changes: Any) -> Verdict:
    return replace(HOLDS, claim=replace(CLAIM, **changes))


def test_without_a_demand_the_outcome_decides() -> None:
    assert [status(verdict) for verdict in (HOLDS, ASSUMING, REFUSED)] == [0, 3, 1]
    assert Policy().demands(HOLDS) == ()


@given(st.fractions(0, 2), st.fractions(0, 2), st.fractions(0, 1), st.fractions(0, 1))
def test_ends_are_compared_exactly(epsilon: Fraction, most: Fraction, delta: Fraction, largest: Fraction) -> None:
    verdict = about(bound=(epsilon, delta))
    met = epsilon <= most and delta <= largest
    assert status(verdict, max_epsilon=most, max_delta=largest) == (0 if met else 1)
    assert status(verdict, max_epsilon=epsilon, max_delta=delta) == 0
    assert status(verdict, max_epsilon=epsilon - TINY, max_delta=delta) == 1
    assert status(verdict, max_epsilon=epsilon, max_delta=delta - TINY) == 1
    assert status(verdict, max_delta=largest) == (0 if delta <= largest else 1)


def test_an_epsilon_alone_is_one_of_pure_privacy() -> None:
    unmet = [demand for demand in Policy(max_epsilon=Fraction(1)).demands(HOLDS) if not demand.met]
    assert [(demand.name, demand.wanted, demand.found) for demand in unmet] == [("max-delta", "at most 0.0", "1e-06")]
    assert status(about(bound=(Fraction(1, 2), Fraction(0))), max_epsilon=Fraction(1, 2)) == 0


def test_what_a_refused_or_boundless_certificate_says_meets_nothing() -> None:
    policies: list[dict[str, Any]] = [
        {"proved": True},
        {"max_epsilon": Fraction(10**9), "max_delta": Fraction(1)},
        {"max_delta": Fraction(1)},
        {"unit": "record"},
        {"min_contributions": 1},
        {"relation": "add-remove"},
        {"distributions": ("certdp",)},
    ]
    for demands in policies:
        assert all(not demand.met for demand in Policy(**demands).demands(REFUSED)), demands
        assert status(REFUSED, **demands) == 1
    assert status(about(bound=None), max_epsilon=Fraction(10**9), max_delta=Fraction(1)) == 1
    assert status(about(bound=None), max_delta=Fraction(1)) == 1


def test_a_proof_is_demanded_of_everything() -> None:
    assert [status(verdict, proved=True) for verdict in (HOLDS, ASSUMING, REFUSED)] == [0, 1, 1]
    owners = about(audience="owner")
    assert status(owners) == 0
    assert status(owners, proved=True) == 1
    assert status(replace(owners, data_compared=True), proved=True) == 0


def test_what_was_found_of_a_proof_is_told_in_full() -> None:
    told = {
        "holds": HOLDS,
        "holds assuming the profile": ASSUMING,
        "refused": REFUSED,
        "holds, without the data of the owner's figures": about(audience="owner"),
    }
    for found, verdict in told.items():
        (demand,) = Policy(proved=True).demands(verdict)
        assert demand.found == found


def test_unit_and_relation_are_those_of_the_claim() -> None:
    for unit, relation in product(UNITS, RELATIONS):
        verdict = about(unit=unit, relation=relation)
        for wanted in UNITS:
            assert status(verdict, unit=wanted) == (0 if wanted == unit else 1)
        for wanted in RELATIONS:
            assert status(verdict, relation=wanted) == (0 if wanted == relation else 1)


def test_every_plugin_is_of_a_distribution_that_is_named() -> None:
    mixed = about(distributions=("certdp", "acme"))
    assert status(mixed, distributions=("certdp",)) == 1
    assert status(mixed, distributions=("acme",)) == 1
    assert status(mixed, distributions=("acme", "certdp", "other")) == 0
    assert status(HOLDS, distributions=("Certdp",)) == 1


# Of the command without the library.


def ball(norm: Any) -> NormBall:
    return NormBall(norm=Norm(norm), radius=Public(1))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Fraction]:
    """A pure certificate, an approximate one, and the ε of the latter."""
    folder = tmp_path_factory.mktemp("certificates")
    pure, approximate = folder / "pure.json", folder / "approximate.json"
    pure.write_bytes(
        certdp.profile_certificate(SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full()).on(ball(1)))
    )
    run = SampledRun(mechanism=GaussianSum(scale=Public(4)), sampler=Full(), releases=ResampleEach(2), domain=ball(2))
    certified = certdp.certificate(run, run.epsilon(Delta("1e-6")))
    approximate.write_bytes(certified.content)
    return pure, approximate, certified.epsilon


def test_the_checker_alone_holds_demands(
    files: tuple[Path, Path, Fraction], capsys: pytest.CaptureFixture[str]
) -> None:
    pure, approximate, epsilon = files
    all_of_it = ["--require", "proved", "--unit", "record", "--relation", "add-remove", "--distribution", "certdp"]
    assert main([str(pure), "--max-epsilon", "0.500000000001", *all_of_it]) == 0
    assert capsys.readouterr().out.count("\nmet: ") == 6
    assert main([str(pure), "--max-epsilon", "1/2"]) == 1  # it is proven in binary64, rounded up
    assert "not met: max-epsilon: wanted at most 0.5, found 0.500000000000001" in capsys.readouterr().out
    assert main([str(approximate), "--max-epsilon", str(epsilon), "--max-delta", "1e-6", *all_of_it]) == 0
    assert main([str(approximate), "--max-epsilon", str(epsilon)]) == 1
    assert main([str(approximate), "--max-epsilon", str(epsilon * (1 - Fraction(1, 10**30))), "--max-delta", "1"]) == 1
    assert main([str(approximate), "--unit", "user", "--min-contributions", "1"]) == 1
    assert main([str(approximate), "--distribution", "acme"]) == 1
    assert main([str(pure.parent / "none.json"), "--max-epsilon", "1"]) == 2


def test_a_claim_about_users_covers_so_many_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One about users of one record each is one about records."""
    users, group = tmp_path / "users.json", tmp_path / "group.json"
    run: SampledRun[Any] = SampledRun(
        mechanism=LaplaceSum(scale=Public(4)), sampler=Full(), domain=ball(1), unit=User(contributions=3)
    )
    users.write_bytes(certdp.certificate(run, run.epsilon(Delta("1e-6"))).content)
    wanted = ["--require", "proved", "--unit", "user"]
    assert [main([str(users), *wanted, "--min-contributions", str(most)]) for most in (1, 3, 4)] == [0, 0, 1]
    assert "not met: min-contributions: wanted at least 4, found 3" in capsys.readouterr().out
    records = attrs.evolve(run, unit=RECORD)
    group.write_bytes(certdp.certificate(records, records.epsilon(Delta("1e-6")), group=2).content)
    assert [main([str(group), "--unit", "record", "--min-contributions", str(most)]) for most in (1, 2, 3)] == [0, 0, 1]


@pytest.mark.parametrize(
    "words",
    [
        ["--max-epsilon", "-1"],
        ["--max-delta", "nan"],
        ["--max-epsilon", "1/0"],
        ["--unit", "x"],
        ["--require", "x"],
        ["--unit", "user"],
        ["--min-contributions", "0"],
    ],
)
def test_what_is_no_demand_is_bad_input(words: list[str], files: tuple[Path, Path, Fraction]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(files[0]), *words])
    assert ended.value.code == 2


def test_a_certificate_holds_without_the_flags(files: tuple[Path, Path, Fraction]) -> None:
    for path in files[:2]:
        verdict = check(path.read_bytes())
        assert verdict.outcome is Outcome.HOLDS
        assert verdict.claim is not None
        assert verdict.claim.bound is not None
        assert verdict.claim.epsilon is not None
        assert float(verdict.claim.bound[0]) <= verdict.claim.epsilon[1]


def test_artefacts_are_compared_by_their_digests() -> None:
    stated = Artefacts(
        coins="operating system", files=(("model.npz", "sha256:" + "a" * 64), ("run", "sha256:" + "b" * 64))
    )
    bound = replace(HOLDS, artefacts=stated)
    for digit, met in (("a", True), ("b", True), ("c", False)):
        assert status(bound, artefacts=(("another name", "sha256:" + digit * 64),)) == (0 if met else 1)
        assert status(HOLDS, artefacts=(("another name", "sha256:" + digit * 64),)) == 1


def test_what_was_released_is_found_beside_what_was_wanted() -> None:
    released = Artefacts(coins="operating system", files=(("a", "sha256:1"), ("b", "sha256:2")))
    policy = Policy(artefacts=(("b", "sha256:2"), ("b", "sha256:3")))
    met, not_met = policy.demands(replace(HOLDS, artefacts=released))
    assert (met.met, met.found) == (True, "sha256:1, sha256:2")
    assert (not_met.met, not_met.found) == (False, "sha256:1, sha256:2")
    assert [demand.found for demand in policy.demands(HOLDS)] == [None, None]
