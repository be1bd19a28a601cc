"""`certdp mutants --share` runs what its record covers, and nothing else; `--table` counts what was run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.verification.mutation import recorded as records
from certdp.verification.mutation.guarded import guards_of
from certdp.verification.mutation.killing import Ending, Outcome
from certdp.verification.mutation.recorded import Recorded
from certdp.verification.mutation.score import Fate, Verdict
from certdp.verification.mutation.scoring import Benches

pytestmark = pytest.mark.xdist_group("mutation")  # one worker makes all mutants

MODULE = "accounting.amplification.psi"
MUTATED = guards_of(MODULE)
SAMPLE = sorted((mutant for mutant, _ in MUTATED.plantings()), key=lambda mutant: mutant.digest)[:4]
"""The mutants that a record of four covers; the first of them was not noticed."""


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Recorded:
    monkeypatch.setattr(records, "RECORD", tmp_path / "recorded.json")
    fates = [Fate.SURVIVED, Fate.KILLED, Fate.KILLED, Fate.KILLED]
    verdicts = tuple(Verdict(mutant, fate, "", 0.0) for mutant, fate in zip(SAMPLE, fates, strict=True))
    found = records.recorded(MUTATED, verdicts)
    records.write({MODULE: found})
    return found


def answered(*arguments: str) -> dict[str, Any]:
    answer = CliRunner().invoke(app, ["mutants", "--only", MODULE, "--json", *arguments])
    return {"exit_code": answer.exit_code, **json.loads(answer.stdout)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("outcome", [Outcome.KILLED, Outcome.SURVIVED])
def test_a_share_runs_what_is_recorded_as_noticed(
    record: Recorded, monkeypatch: pytest.MonkeyPatch, seed: int, outcome: Outcome
) -> None:
    records.write({MODULE: evolve(record, guards="those of another day")})
    monkeypatch.setattr(Benches, "attempt", lambda *_: Ending(outcome, "a guard", 1, 0.0))
    found = answered("--share", "--seed", str(seed))
    run = {(each["place"], each["operator"], each["before"], each["after"]) for each in found["mutants"]}
    assert run == {mutant.key[1:5] for mutant in SAMPLE[1:]}
    assert found["exit_code"] == (0 if outcome is Outcome.KILLED else 1)


def test_a_share_has_nothing_of_a_module_that_is_another_since(record: Recorded) -> None:
    records.write({MODULE: evolve(record, source="that of another day")})
    found = answered("--share")
    assert found["exit_code"] == 2
    assert "--record" in found["error"]["remedy"]


def test_the_table_counts_what_was_run(record: Recorded) -> None:
    (row,) = answered("--table")["modules"]
    assert (row["mutants"], row["run"], row["killed"], row["survived"]) == (record.mutants, 4, 3, 1)
