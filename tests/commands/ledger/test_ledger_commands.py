"""`certdp ledger`: what each command says, in which code it ends, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certdp import Ledger
from certdp.ledger import Anchor

Run = Callable[..., Any]
Refusal = Callable[..., dict[str, str]]


@pytest.fixture
def ledger(certdp: Run, tmp_path: Path) -> Path:
    made = tmp_path / "a.ledger"
    told = ("--data-set", "census", "--by", "ann", "--anchor", tmp_path / "anchor")
    assert certdp("ledger", "create", made, "--epsilon", 1, *told).code == 0
    return made


def test_a_script_draws_once(certdp: Run, ledger: Path, tmp_path: Path) -> None:
    line = ("ledger", "pay", ledger, "--epsilon", "1/3", "--request", "ages", "--anchor", tmp_path / "anchor")
    assert certdp(*line).code == 0
    again = certdp(*line, "--json")
    assert again.code == 1
    assert (again.json["new"], again.json["state"]) == (False, "begun")
    assert Anchor.read(tmp_path / "anchor").number == 1


def test_what_the_budget_does_not_cover_is_not_paid(certdp: Run, ledger: Path) -> None:
    ran = certdp("ledger", "pay", ledger, "--epsilon", "1.5", "--request", "a")
    assert ran.code == 1
    assert "nothing was spent" in " ".join(ran.out.split())
    assert certdp("ledger", "pay", ledger, "--epsilon", 1, "--request", "a").code == 0


def test_what_is_left_can_be_paid_as_it_is_told(certdp: Run, ledger: Path) -> None:
    paid = certdp("ledger", "pay", ledger, "--epsilon", "1/3", "--request", "a", "--json")
    left = paid.json["left"]["epsilon"]
    assert certdp("ledger", "status", ledger, "--json").json["left"]["epsilon"] == left
    assert certdp("ledger", "statement", ledger, "--json").json["left"]["epsilon"] == left
    assert certdp("ledger", "pay", ledger, "--epsilon", left, "--request", "b").code == 0


def test_what_is_left_is_read_rounded_down_and_stands_exactly_in_json(certdp: Run, ledger: Path) -> None:
    line = ("ledger", "pay", ledger, "--epsilon", "2/3", "--request", "a")
    assert "left: ε ≤ 0.3333333333333333\n" in certdp(*line).out
    left = certdp("ledger", "status", ledger, "--json").json["left"]
    assert left == {"notion": "pure", "epsilon": 0.3333333333333333, "exact": {"epsilon": "1/3"}}
    assert "left: ε ≤ 0.3333333333333333\n" in certdp("ledger", "status", ledger, "--full").out
    assert certdp("ledger", "pay", ledger, "--epsilon", left["exact"]["epsilon"], "--request", "b").code == 0


def test_the_same_id_with_another_cost_is_refused(certdp: Run, refusal: Refusal, ledger: Path) -> None:
    assert certdp("ledger", "pay", ledger, "--epsilon", "1/3", "--request", "a").code == 0
    error = refusal("ledger", "pay", ledger, "--epsilon", "1/4", "--request", "a")
    assert error["parameter"] == "request"
    assert "Choose another id" in error["remedy"]


def test_certificates_are_kept(certdp: Run, refusal: Refusal, ledger: Path, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{}")
    line = ("ledger", "pay", ledger, "--epsilon", "1/3", "--request", "a", "--proof")
    assert certdp(*line, tmp_path / "c.json").code == 0
    assert '"certificate":"sha256:' in list(Ledger(ledger).export())[1]
    assert Ledger(ledger).verify().sound
    assert refusal(*line, tmp_path / "none")["parameter"] == "proof"


def test_status_and_statement_tell_the_same(certdp: Run, ledger: Path, tmp_path: Path) -> None:
    for request in "ab":
        certdp("ledger", "pay", ledger, "--epsilon", "1/4", "--request", request, "--by", "bob")
    status = certdp("ledger", "status", ledger, "--request", "a", "--json").json
    assert (status["number"], status["state"], status["spent"]["epsilon"]) == (2, "begun", 0.5)
    assert certdp("ledger", "status", ledger, "--request", "none", "--json").json["state"] is None
    stated = certdp("ledger", "statement", ledger, "--plot", tmp_path / "p.png", "--json").json
    assert [(row["request"], row["by"]) for row in stated["requests"]] == [("a", "bob"), ("b", "bob")]
    assert (stated["spent"], stated["left"], stated["share"]) == (status["spent"], status["left"], 0.5)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    shown = certdp("ledger", "statement", ledger).out
    assert "bob" in shown
    assert "census" in shown
    assert "left: ε ≤ 0.5" in certdp("ledger", "status", ledger).out


def test_logs_are_gone_through(certdp: Run, refusal: Refusal, ledger: Path, tmp_path: Path) -> None:
    certdp("ledger", "pay", ledger, "--epsilon", "1/4", "--request", "a")
    log, head = tmp_path / "log.jsonl", tmp_path / "head"
    assert certdp("ledger", "export", ledger, "--output", log, "--json").json["entries"] == 2
    found = certdp("ledger", "verify", ledger, "--anchor", tmp_path / "anchor", "--write-anchor", head)
    assert found.code == 0
    assert Anchor.read(head) == Ledger(ledger).head
    assert certdp("ledger", "verify", log, "--anchor", head, "--json").json["sound"]
    log.write_text(log.read_text().replace('"1/4"', '"1/8"'))
    ran = certdp("ledger", "verify", log, "--write-anchor", tmp_path / "no")
    assert ran.code == 1
    assert "not as certdp left it" in ran.out
    assert not (tmp_path / "no").exists()
    log.write_text(log.read_text()[:-1])
    assert certdp("ledger", "verify", log, "--json").json["problems"]
    ledger.write_bytes(b"no database" * 1000)
    assert certdp("ledger", "verify", ledger).code == 1
    assert refusal("ledger", "status", ledger)["parameter"] == "ledger"


@pytest.mark.parametrize(
    ("budget", "cost"),
    [
        (("--epsilon", 1), ("--epsilon", "0.1")),
        (("--epsilon", 1, "--delta", "1e-5"), ("--epsilon", "0.1", "--delta", "1e-7")),
        (("--epsilon", 1, "--delta", "1e-5", "--set-aside", "1e-6"), ("--epsilon", "0.1")),
        (("--rho", "0.5"), ("--rho", "0.1")),
        (("--mu", 1), ("--mu", "0.1")),
        (("--order", 4, "--tau", 1), ("--order", 4, "--tau", "0.1")),
        (("--rho", "0.5", "--unit", "user", "--contributions", 3), ("--rho", "0.1")),
        (("--mu", 1, "--radius", "3", "--norm", "3/2", "--dimension", 7), ("--mu", "0.1")),
        (("--rho", "0.5", "--unit", "element", "--relation", "replace"), ("--rho", "0.1")),
    ],
)
def test_budgets_of_every_notion(certdp: Run, tmp_path: Path, budget: Any, cost: Any) -> None:
    made = tmp_path / "a.ledger"
    assert certdp("ledger", "create", made, "--data-set", "census", *budget).code == 0
    assert certdp("ledger", "pay", made, "--request", "a", *cost).code == 0
    assert certdp("ledger", "verify", made).code == 0


@pytest.mark.parametrize(
    ("words", "parameter"),
    [
        ((), "bound"),
        (("--epsilon", 1, "--rho", 1), "bound"),
        (("--delta", 1), "bound"),
        (("--epsilon", -1), "epsilon"),
        (("--epsilon", 1, "--set-aside", "1e-6"), "set-aside"),
        (("--epsilon", 1, "--unit", "house"), "unit"),
        (("--epsilon", 1, "--unit", "user"), "contributions"),
        (("--epsilon", 1, "--contributions", 3), "contributions"),
        (("--epsilon", 1, "--relation", "swap"), "relation"),
        (("--epsilon", 1, "--radius", 3), "norm"),
        (("--epsilon", 1, "--norm", 2), "norm"),
    ],
)
def test_what_is_no_budget_is_refused(refusal: Refusal, tmp_path: Path, words: Any, parameter: str) -> None:
    made = tmp_path / "a.ledger"
    assert refusal("ledger", "create", made, "--data-set", "census", *words)["parameter"] == parameter
    assert not made.exists()


def test_costs_of_another_notion_are_refused(refusal: Refusal, ledger: Path) -> None:
    error = refusal("ledger", "pay", ledger, "--request", "a", "--rho", 1)
    assert (error["parameter"], error["admissible"]) == ("bound", "--epsilon, as the ledger's budget")


def test_a_missing_or_taken_ledger_is_refused(refusal: Refusal, ledger: Path, tmp_path: Path) -> None:
    assert "certdp ledger create" in refusal("ledger", "status", tmp_path / "none")["remedy"]
    assert refusal("ledger", "create", ledger, "--data-set", "x", "--epsilon", 1)["admissible"] == "a name that is free"
