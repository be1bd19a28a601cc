"""The mutation score: operators, mutants, planting, fates, exemptions, and a sample of mutants that must be noticed."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import attrs
import pytest
from attrs import evolve

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import W, minimum, norm
from certdp.accounting.sampling.losses import LaplaceLoss
from certdp.accounting.sampling.rate import SamplingRate
from certdp.verification.mutation import guarded as table
from certdp.verification.mutation import mutants as source
from certdp.verification.mutation import recorded as records
from certdp.verification.mutation.exemptions import exemptions
from certdp.verification.mutation.expressions import declared_mutants, expression_mutants
from certdp.verification.mutation.guarded import EXCLUDED, RULES, guarded, modules, unplaced
from certdp.verification.mutation.killing import holding_claims
from certdp.verification.mutation.mutants import mutants_of, mutated
from certdp.verification.mutation.recorded import Freshness, Recorded, freshness
from certdp.verification.mutation.score_page import page
from certdp.verification.mutation.scoring import everything, population, score
from certdp.verification.running.runner import select

pytestmark = pytest.mark.xdist_group("mutation")  # one worker makes all mutants

BLOCK = """
LIMIT = 2 * 3

def psi(rate: Enclosure, epsilon: float, delta: float) -> Enclosure:
    if rate < 0:
        raise ValueError("below 0")
    if rate.upper <= delta:
        return -rate
    whole("steps", steps, 1)
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
        (
            "one more",
            [
                "if rate < 1:",
                LAST.replace("2 - 1", "3 - 1"),
                LAST.replace("2 - 1", "1 - 1"),
                LAST.replace("2 - 1", "2 - 2"),
                LAST.replace("2 - 1", "2 - 0"),
                LAST.replace("rate, 1)", "rate, 2)"),
                LAST.replace("rate, 1)", "rate, 0)"),
                "LIMIT = 3 * 3",
                "LIMIT = 1 * 3",
                "LIMIT = 2 * 4",
                "LIMIT = 2 * 2",
                "whole('steps', steps, 2)",
                "whole('steps', steps, 0)",
            ],
        ),
        ("dropped term", [LAST.replace("(epsilon ** 2 - 1)", "epsilon ** 2")]),
        ("dropped check", ["pass", "pass"]),
        ("flipped comparison", []),
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
            [
                "if not rate < 0:",
                "if not rate.upper <= delta:",
                "return min(rate, 1) if epsilon else (epsilon ** 2 - 1) * rate",
            ],
        ),
        ("loosened comparison", ["if rate <= 0:", "if rate.upper < delta:"]),
    ],
)
def test_each_operator_makes_its_faults_in_refusals_too(block: str, operator: str, expected: list[str]) -> None:
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


PLANTS_A_CONSTANT = """
from certdp.verification.checker import constrained as module
from certdp.verification.mutation.mutants import mutants_of
from certdp.verification.mutation.planting import plant
before = module._BODY, module.VARYING
plant(next(mutant for mutant in mutants_of("verification.checker.constrained") if mutant.place == "MOST_RELEASES"))
assert module.MOST_RELEASES != 2**53
assert module._BODY is not before[0]
assert module.VARYING is before[1]
"""


def test_what_is_made_of_a_constant_has_its_mutant() -> None:
    subprocess.run([sys.executable, "-c", PLANTS_A_CONSTANT], check=True)


CALLS_A_TEXT = """
import certdp.verification.checker.options
from certdp.verification.mutation.mutants import mutants_of
from certdp.verification.mutation.planting import plant
called = [m for m in mutants_of("verification.checker.options") if m.after == "'split'(options)"]
plant(*called)
"""


def test_what_python_warns_of_is_planted() -> None:
    """Where pytest makes errors of warnings, too."""
    subprocess.run([sys.executable, "-W", "error::SyntaxWarning", "-c", CALLS_A_TEXT], check=True)


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


CONDITIONS = """
def admitted(lower: int, upper: int, values: list[int]) -> bool:
    if lower > upper or not values:
        raise ValueError("a range")
    return lower in values and all(value != upper for value in values)
"""


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (
            "dropped condition",
            [
                "if not values:",
                "if lower > upper:",
                "if lower > upper and (not values):",
                "return all((value != upper for value in values))",
                "return lower in values",
                "return lower in values or all((value != upper for value in values))",
            ],
        ),
        (
            "flipped comparison",
            [
                "if lower <= upper or not values:",
                "return lower not in values and all((value != upper for value in values))",
                "return lower in values and all((value == upper for value in values))",
            ],
        ),
        ("swapped direction", ["return lower in values and any((value != upper for value in values))"]),
        ("dropped check", ["pass"]),
    ],
)
def test_conditions_lose_their_parts(operator: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "source_of", lambda _: CONDITIONS)
    mutants_of.cache_clear()
    assert sorted(planted("a.block", operator)) == sorted(expected)


def test_every_module_is_scored_or_left_out_for_a_reason() -> None:
    assert not unplaced(), f"name tests or claims in RULES, mirror them, or give a reason in EXCLUDED: {unplaced()}"
    assert len(modules()) > 300
    for pattern in (*EXCLUDED, *(rule.modules for rule in RULES)):
        assert any(fnmatchcase(module, pattern) for module in modules()), f"{pattern} names no module"


@pytest.mark.slow
def test_a_module_without_guards_is_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "RULES", ())
    monkeypatch.setattr(table, "tests_folder", lambda: None)
    guarded.cache_clear()
    try:
        assert "accounting.amplification.psi" in unplaced()
    finally:
        monkeypatch.undo()
        guarded.cache_clear()


def test_every_guard_exists() -> None:
    folder = table.tests_folder()
    assert folder is not None
    assert folder == Path(__file__).parents[2]
    for entry in everything():
        assert entry.claims or entry.tests
        for pattern in entry.claims:
            assert select(holding_claims(), pattern)
        for test in entry.tests:
            assert (folder / test).exists(), f"{entry.module} is guarded by {test}, which is not there"


def test_a_record_is_fresh_until_source_or_guards_change() -> None:
    (entry,) = (each for each in everything() if each.module == "accounting.amplification.psi")
    record = records.recorded(entry, ())
    assert freshness(entry, None) is Freshness.MISSING
    assert freshness(entry, record) is Freshness.FRESH
    assert not record.suffices(8)
    assert evolve(record, run=8).suffices(8)
    assert not evolve(record, run=8).suffices(None)
    for changed in (evolve(record, source="another"), evolve(record, guards="another")):
        assert freshness(entry, changed) is Freshness.STALE


def test_records_are_kept_as_they_were_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(records, "RECORD", tmp_path / "recorded.json")
    assert records.read() == {}
    mutant = mutants_of("accounting.amplification.psi")[0]
    kept = Recorded(source="a", guards="b", mutants=30, run=3, timed_out=1, unnoticed=[mutant.key[1:]])
    records.write({"accounting.amplification.psi": kept, "gone": kept})
    assert records.read() == {"accounting.amplification.psi": kept}
    assert kept.split("accounting.amplification.psi") == (0, 1)
    text = page({"accounting.amplification.psi": kept}, {"a.b": 5}, {"c.*": "a reason"}, exemptions()[:1])
    assert "| `accounting.amplification.psi` | 30 | 3 | 1 | 1 | 0 | 1 | 66 % (9 to 100 %) | a |" in text
    assert f"| `accounting.amplification.psi` {mutant.place} | {mutant.operator} |" in text
    assert "- `a.b`: 5" in text
    assert exemptions()[0].argument in text


@pytest.mark.slow
def test_a_module_that_moves_keeps_its_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(records, "RECORD", tmp_path / "recorded.json")
    psi = next(each for each in everything() if each.module == "accounting.amplification.psi")
    record = records.recorded(psi, ())
    other = evolve(record, source="another", run=3)
    entries = {"where.it.was": attrs.asdict(record), "declared.count": attrs.asdict(other), "gone": attrs.asdict(other)}
    records.RECORD.write_text(json.dumps(entries), "utf-8")
    found = records.read()
    assert found[psi.module] == record
    assert "where.it.was" not in found
    assert found["declared.count"] == other


def test_the_page_shows_what_is_recorded() -> None:
    def without_the_missing(text: str) -> tuple[str, str]:
        """They are those of the day on which it was written."""
        before, _, after = text.partition("\n## Survivors")
        return before.partition("\n## Not yet scored")[0], after

    written = (Path(__file__).parents[3] / "docs/mutation_score.md").read_text("utf-8")
    shown = page(records.read(), {}, EXCLUDED, exemptions())
    assert without_the_missing(written) == without_the_missing(shown), (
        "write it anew: certdp mutants --table --markdown docs/mutation_score.md"
    )


@pytest.mark.slow
def test_exemptions_fit_today_s_mutants_and_say_why() -> None:
    known = {mutant.key for mutant in population()}
    for exemption in exemptions():
        assert exemption.key in known
        assert len(exemption.argument) > 20
        assert not re.search(r"\b(none|no|not) .*\bfound\b", exemption.argument), "that none was found is no argument"
    assert len({exemption.key for exemption in exemptions()}) == len(exemptions())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"sample": 0}, "sample"),
        ({"each": 0}, "each"),
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
    assert (ended.returncode == 0) is found.get("passed", True), found
    return found


@pytest.mark.slow
def test_a_sample_of_mutants_is_noticed_or_exempted() -> None:
    found = mutants("--only", "declared.laplace-sum", "--only", "accounting.amplification.psi", "--sample", "6")
    assert found["passed"], found
    assert found["run"] == 6


@pytest.mark.slow
def test_options_that_do_not_go_together_are_refused() -> None:
    for arguments in (
        ["--record", "--table"],
        ["--share", "--sample", "3"],
        ["--table", "--each", "3"],
        ["--jobs", "2"],
        ["--markdown", "page.md"],
    ):
        ended = subprocess.run(
            [sys.executable, "-m", "certdp", "mutants", "--json", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert ended.returncode == 2
        assert json.loads(ended.stdout)["error"]["parameter"] in ("table", "sample", "each", "jobs", "markdown")


@pytest.mark.soundness
def test_every_mutant_is_noticed_or_exempted() -> None:
    """Modules whose record is fresh are not run again: their mutants, source and guards are what they were."""
    mutants("--record")
    rows = mutants("--table")["modules"]
    assert isinstance(rows, list)
    survived = {row["module"]: row["survived"] for row in rows if row["survived"]}
    assert not survived
