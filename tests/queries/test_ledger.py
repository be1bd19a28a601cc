"""Tables whose account a ledger holds: processes share it, and it admits what its rule does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from certdp import RECORD, BudgetExceeded, Ledger, User
from certdp import queries as q
from certdp.accounting.errors import InvalidType, InvalidValue

DATA = {"age": [31, 44, 59, 20] * 50, "who": list(range(100)) * 2}
AGE = q.Column("age", 0, 120)


def made(folder: Path, epsilon: Any = 1, delta: Any = 0, unit: Any = RECORD) -> Ledger:
    return Ledger.create(folder / "people.ledger", q.Account.of(epsilon, delta, unit).filter, data="people")


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_tables_of_several_processes_share_a_budget(tmp_path: Path, delta: Any) -> None:
    ledger = made(tmp_path, delta=delta)
    first = q.table(DATA, [AGE], epsilon=1, delta=delta, ledger=ledger)
    second = q.table(DATA, [AGE], epsilon=1, delta=delta, ledger=Ledger(ledger.place))
    first.release(q.count(), epsilon="0.5")
    second.release(q.mean("age"), epsilon="0.25")
    assert first.account.number == second.account.number == ledger.number == 2
    assert first.account.filter.number == 0
    second.release(q.count())  # all that is left
    with pytest.raises(BudgetExceeded):
        first.release(q.count(), epsilon="0.1")
    assert ledger.verify().sound
    assert "% spent in 3 payments" in str(first)


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_guarantee_is_that_of_an_account_in_memory(tmp_path: Path, delta: Any) -> None:
    shared = q.table(DATA, [AGE], epsilon=1, delta=delta, ledger=made(tmp_path, delta=delta))
    alone = q.table(DATA, [AGE], epsilon=1, delta=delta)
    for table in (shared, alone):
        table.release(q.count(), q.mean("age"), epsilon="0.5")
    assert shared.guarantee == alone.guarantee
    assert shared.account.spent == alone.account.spent


def test_a_budget_within_the_stated_one_will_do(tmp_path: Path) -> None:
    table = q.table(DATA, [AGE], epsilon=2, ledger=made(tmp_path, epsilon=1))
    with pytest.raises(BudgetExceeded):
        table.release(q.count(), epsilon="1.5")
    table.release(q.count(), epsilon="0.75")


def test_other_ledgers_are_refused(tmp_path: Path) -> None:
    ledger = made(tmp_path)
    with pytest.raises(InvalidValue, match=r"ledger\.budget"):
        q.table(DATA, [AGE], epsilon="0.5", ledger=ledger)
    with pytest.raises(InvalidValue, match=r"ledger\.budget"):
        q.table(DATA, [AGE], epsilon=1, delta="1e-6", ledger=ledger)
    with pytest.raises(InvalidValue, match=r"ledger\.unit"):
        q.table(DATA, [AGE], epsilon=1, user="who", rows_per_user=2, ledger=ledger)
    with pytest.raises(InvalidType, match="a Ledger"):
        q.table(DATA, [AGE], epsilon=1, ledger=ledger.place)  # type: ignore[arg-type]
    other = q.table(DATA, [AGE], epsilon=1)
    with pytest.raises(InvalidValue, match="The account has its own"):
        q.table(DATA, [AGE], account=other.account, ledger=ledger)
    other.release(q.count(), epsilon="0.5")
    with pytest.raises(InvalidValue, match="paid nothing"):
        other.account.kept_in(ledger)
    assert ledger.number == 0


def test_users_are_protected_too(tmp_path: Path) -> None:
    ledger = made(tmp_path, unit=User(contributions=2))
    table = q.table(DATA, [AGE], epsilon=1, user="who", rows_per_user=2, ledger=ledger)
    table.release(q.count(), epsilon="0.5")
    assert ledger.number == 1
