"""The mutation score: operators, mutants, planting, fates, exemptions, and a sample of mutants that must be noticed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import W, minimum, norm
from certdp.accounting.losses import LaplaceLoss
from certdp.accounting.sampling import SamplingRate
from certdp.verification.mutation import mutants as source
from certdp.verification.mutation.exemptions import exemptions
from certdp.verification.mutation.expressions import declared_mutants, expression_mutants
from certdp.verification.mutation.killing import holding_claims
from certdp.verification.mutation.mutants import mutants_of, mutated
from certdp.verification.mutation.scoring import EVERYTHING, population, score
from certdp.verification.runner import select

BLOCK = """
LIMIT = 2 * 3

def psi(rate: Enclosure, epsilon: float, delta: float) -> Enclosure:
    if rate < 0:
        raise ValueError("below 0")
    if rate.upper <= delta:
        return -rate
    return (epsilon**2 - 1) * rate if epsilon else min(rate, 1)
"""


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(source, "source_of", lambda _: BLOCK)
    mutants_of.cache_clear()
    return "a.block"


def planted(module: str, operator: str) -> list[str]:
    return [mutant.after for mutant in mutants_of(module) if mutant.operator == operator]


LAST = "return (epsilon ** 2 - 1) * rate if epsilon else min(rate, 1)"


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("sign", ["return rate", LAST.replace("2 - 1", "2 + 1")]),
        (
            "dropped factor",
            [
                "LIMIT = 2",
                "LIMIT = 3",
                LAST.replace("(epsilon ** 2 - 1) * rate", "epsilon ** 2 - 1"),
                LAST.replace("(epsilon ** 2 - 1) * ", ""),
            ],
        ),
        (
            "doubled factor",
            ["LIMIT = 2 * (2 * 3)", LAST.replace("(epsilon ** 2 - 1) * rate", "2 * ((epsilon ** 2 - 1) * rate)")],
        ),
        ("missing square", [LAST.replace(" ** 2", "")]),
        ("swapped direction", ["if rate.lower <= delta:", LAST.replace("min", "max")]),
        (
            "swapped branch",
            ["if not rate.upper <= delta:", "return min(rate, 1) if epsilon else (epsilon ** 2 - 1) * rate"],
        ),
        ("loosened comparison", ["if rate.upper < delta:"]),
    ],
)
def test_each_operator_makes_its_faults_and_leaves_refusals_alone(
    block: str, operator: str, expected: list[str]
) -> None:
    assert sorted(planted(block, operator)) == sorted(expected)


def test_epsilon_and_delta_are_exchanged_where_both_are_known(block: str) -> None:
    assert "if rate.upper <= epsilon:" in planted(block, "ε for δ")
    assert LAST.replace("(epsilon", "(delta") in planted(block, "ε for δ")


def test_a_computed_enclosure_is_returned_as_a_float(block: str) -> None:
    assert all("upper_float" in after for after in planted(block, "float for enclosure"))


def test_every_mutant_is_one_change_and_has_a_key_of_its_own() -> None:
    found = mutants_of("accounting.amplification.psi")
    assert len({mutant.key for mutant in found}) == len(found) > 10
    for mutant in found:
        text = ast.unparse(mutated(mutant))
        assert text != ast.unparse(ast.parse(source.source_of(mutant.module)))
        assert mutant.after.splitlines()[0].strip() in text


def test_a_mutant_of_yesterday_is_refused() -> None:
    mutant = mutants_of("accounting.amplification.psi")[0]
    gone = type(mutant)(mutant.module, mutant.place, mutant.operator, "return 0", "return 1", 1, 1)
    with pytest.raises(InvalidValue, match="today's source"):
        mutated(gone)


def test_slips_of_an_expression_are_each_another_expression() -> None:
    tree = W**2 * norm(1) / 5
    slips = [(mutant.operator, str(mutant.expression)) for mutant in expression_mutants(tree)]
    assert len(set(slips)) == len(slips)
    for expected in (
        ("missing square", "W·‖x‖₁ / 5"),
        ("another norm", "W^2·‖x‖₂ / 5"),
        ("dropped factor", "W^2·‖x‖₁"),
        ("no weight", "1^2·‖x‖₁ / 5"),
        ("one more", "W^2·‖x‖₁ / 6"),
    ):
        assert expected in slips, slips


def test_only_what_can_be_declared_is_planted() -> None:
    rate = SamplingRate(minimum(1, norm(1) / 5), weighted=True)
    loss = LaplaceLoss(W * norm(1) / 5)
    assert not [mutant for _, mutant, _ in declared_mutants(rate) if mutant.operator == "doubled factor"]
    for field, mutant, planting in declared_mutants(loss):
        assert field == "shift"
        assert planting(loss) == LaplaceLoss(mutant.expression)


def test_every_guard_exists() -> None:
    tests = Path(__file__).parents[1]
    for guarded in EVERYTHING:
        assert guarded.claims or guarded.tests
        for pattern in guarded.claims:
            assert select(holding_claims(), pattern)
        for test in guarded.tests:
            file, _, name = test.partition("::")
            text = (tests / file).read_text("utf-8")
            assert f"def {name}(" in text or f"class {name}:" in text or not name


def test_exemptions_fit_today_s_mutants_and_say_why() -> None:
    known = {mutant.key for mutant in population()}
    for exemption in exemptions():
        assert exemption.key in known
        assert len(exemption.argument) > 20
    assert len({exemption.key for exemption in exemptions()}) == len(exemptions())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"sample": 0}, "sample"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_requests_are_refused(arguments: dict[str, int], complaint: str) -> None:
    with pytest.raises(InvalidValue, match=complaint):
        score(**arguments)  # type: ignore[arg-type]


def test_globs_choose_modules_together() -> None:
    names = ("declared.laplace-sum", "accounting.notions.pure")
    both = {mutant.module for mutant in population(*names)}
    assert both == set(names)
    with pytest.raises(InvalidValue, match=r"Did you mean declared\.laplace-sum"):
        score("declared.laplace-sum", "declared.laplace-sun")


def test_a_sample_is_a_whole_number() -> None:
    with pytest.raises(InvalidType, match="sample"):
        score(sample=True)


def mutants(*arguments: str) -> dict[str, object]:
    """`certdp mutants` in a process of its own: forks of a process that runs tests have its threads to fear."""
    command = [sys.executable, "-m", "certdp", "mutants", "--json", *arguments]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ, check=False)
    found: dict[str, object] = json.loads(ended.stdout)
    assert (ended.returncode == 0) is found["passed"], found
    return found


def test_a_sample_of_mutants_is_noticed_or_exempted() -> None:
    found = mutants("--sample", "4", "--seed", "1")
    assert found["passed"], found
    assert found["run"] == 4


@pytest.mark.soundness
def test_every_mutant_is_noticed_or_exempted() -> None:
    found = mutants()
    assert found["passed"], found
    assert found["run"] == found["population"]
