"""Addresses of databases: what is shown of them, and what pickles hold."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from certdp import ADD_REMOVE, RECORD, Ledger
from certdp.accounting.errors import InvalidValue
from certdp.accounting.filters import PureFilter
from certdp.accounting.notions import Pure
from certdp.ledger.postgres_store import PostgresStore
from tests.support.ledgers import number

SHOWN = {
    "postgresql://h/d": "postgresql://h/d",
    "postgresql://u@h:5432/d?options=-csearch_path=a&sslmode=require": "postgresql://u@h:5432/d?options=-csearch_path=a"
    "&sslmode=require",
    "postgresql://u:hunter2@h/d": "postgresql://u@h/d",
    "postgresql://:hunter2@h/d": "postgresql://@h/d",
    "postgresql://u:hunt:er2@h/d": "postgresql://u@h/d",
    "postgresql://u@h/d?password=hunter2": "postgresql://u@h/d",
    "postgresql://u@h/d?sslpassword=hunter2&sslmode=require": "postgresql://u@h/d?sslmode=require",
    "postgresql://h/d?user=u&PassWord=hunter2": "postgresql://h/d?user=u",
    "postgresql://h/d?p%61ssword=hunter2": "postgresql://h/d",
    "postgresql://h/d?oauth_client_secret=hunter2": "postgresql://h/d",
    "postgresql://h/d?scram_client_key=hunter2": "postgresql://h/d",
    "postgresql://u:hunt?er2@h/d": "postgresql://…",
    "postgresql://u:hunt/er2@h/d": "postgresql://…",
    "postgresql://u:hunt@er2@h/d": "postgresql://…",
    "postgresql://h/d?password=hunter2@h": "postgresql://…",
}


@pytest.mark.parametrize("address", SHOWN)
def test_no_password_is_shown(address: str) -> None:
    store = PostgresStore(address)
    assert store.place == SHOWN[address]
    assert not any(part in store.place for part in ("hunt", "er2"))
    assert store.secret == (store.place != address)


@pytest.mark.parametrize("address", [one for one, shown in SHOWN.items() if one != shown])
def test_a_ledger_whose_address_holds_a_password_is_not_pickled(address: str, tmp_path: Path) -> None:
    rule: Any = PureFilter(Pure(number(1)), relation=ADD_REMOVE, unit=RECORD)
    ledger = Ledger.create(tmp_path / "a.ledger", rule, data="people")
    assert pickle.loads(pickle.dumps(ledger)).place == ledger.place
    ledger._store = PostgresStore(address)
    with pytest.raises(InvalidValue, match="PGPASSWORD") as refusal:
        pickle.dumps(ledger)
    assert "hunt" not in str(refusal.value)
