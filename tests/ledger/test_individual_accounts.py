"""Individual accounts in files: what one filter would admit, from each version once, whoever holds copies of it."""

from __future__ import annotations

import pickle
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp import ADD_REMOVE, RECORD, Ledger, Order
from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue
from certdp.accounting.filters import BudgetExceeded, RenyiFilter
from certdp.accounting.filters.spending import SecondAccount
from certdp.accounting.notions import Renyi
from certdp.individual import IndividualFilter
from certdp.ledger import IndividualAccount, LedgerDamaged, LedgerUnavailable, SameRequest
from certdp.plugins.forks import can_fork
from tests.support.cases import examples
from tests.support.children import ended, in_child
from tests.support.ledgers import number

pytest.importorskip("pyarrow")

ORDER, BUDGET = Order(8), Fraction(1, 2)
UNITS = [f"person {n}" for n in (7, 3, 5, 1, 9, 2)]


def new_ledger(folder: Path) -> Ledger:
    rule = RenyiFilter(Renyi(ORDER.value, number(1)), relation=ADD_REMOVE, unit=RECORD)
    return Ledger.create(folder / "a.ledger", rule, data="people")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return new_ledger(tmp_path)


def create(folder: Path, ledger: Ledger, shards: int = 1) -> Path:
    place = folder / "accounts"
    IndividualAccount.create(place, UNITS, ledger, "run", order=ORDER, budget=BUDGET, shards=shards)
    return place


@pytest.fixture
def place(tmp_path: Path, ledger: Ledger) -> Path:
    return create(tmp_path, ledger)


RATES = st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.5, 1.0])
STEPS = st.lists(st.lists(st.tuples(RATES, st.floats(0, 2)), min_size=6, max_size=6), min_size=1, max_size=5)


@examples(20)
@given(STEPS, st.integers(1, 6), st.booleans())
def test_shards_admit_what_one_filter_admits(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[float, float]]], shards: int, opened_anew: bool
) -> None:
    folder = tmp_path_factory.mktemp("accounts")
    ledger = new_ledger(folder)
    place = create(folder, ledger, shards)
    own = IndividualFilter(ORDER, BUDGET, len(UNITS))

    def opened() -> list[IndividualAccount]:
        return [IndividualAccount(place, Ledger(ledger.place), "run", shard=shard) for shard in range(shards)]

    accounts = opened()
    order = [sorted(UNITS).index(unit) for one in accounts for unit in one.units]
    assert sorted(order) == list(range(len(UNITS)))
    for step in steps:
        rate, shift = (np.array(column)[order] for column in zip(*step, strict=True))
        ends = np.cumsum([len(one.units) for one in accounts])[:-1]
        parts = zip(accounts, np.split(rate, ends), np.split(shift, ends), strict=True)
        masks: list[NDArray[np.bool_]] = [one.step(rates, shifts).reveal() for one, rates, shifts in parts]
        assert np.array_equal(np.concatenate(masks), own.step(rate, shift).reveal())
        accounts = opened() if opened_anew else accounts
    for name in ("spent", "active"):
        values = np.concatenate([getattr(one, name).reveal() for one in accounts])
        assert np.array_equal(values, getattr(own, name).reveal())
    assert accounts[0].guarantee == own.guarantee
    assert ledger.spent == Renyi(ORDER.value, number(BUDGET))
    assert ledger.verify().sound


def test_from_each_version_one_step_is_admitted(ledger: Ledger, place: Path) -> None:
    first, second, third = (IndividualAccount(place, Ledger(ledger.place), "run") for _ in range(3))
    first.admit(0.3)
    with pytest.raises(SameRequest):
        second.admit(0.3)  # the same step: its output would be drawn twice
    with pytest.raises(SameRequest):
        third.admit(0.1)
    assert (second.steps, third.steps) == (0, 0)
    with pytest.raises(SameRequest):
        second.admit(0.2)
    again = IndividualAccount(place, ledger, "run")
    assert again.steps == 1
    assert not again.admit(0.3).reveal().any()
    assert len(list(place.glob("*-step-000000002-*"))) == 1
    assert ledger.verify().sound


@pytest.mark.parametrize("steps_since", [1, 2])
def test_an_older_copy_is_refused(ledger: Ledger, place: Path, tmp_path: Path, steps_since: int) -> None:
    account = IndividualAccount(place, ledger, "run")
    account.admit(0.1)
    shutil.copytree(place, tmp_path / "backup")
    for _ in range(steps_since):
        account.admit(0.1)
    for restored in (tmp_path / "backup", place):
        if restored is place:
            shutil.rmtree(place)
            shutil.copytree(tmp_path / "backup", place)
        with pytest.raises(LedgerDamaged, match="older copy"):
            IndividualAccount(restored, ledger, "run")


@pytest.mark.parametrize("meanwhile", [(IndividualAccount, "_files"), (Ledger, "state"), (Ledger, "plan")])
def test_an_account_is_opened_while_another_process_steps(
    ledger: Ledger, place: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: tuple[type, str]
) -> None:
    other, stepped = IndividualAccount(place, Ledger(ledger.place), "run"), list[bool]()
    asked = getattr(*meanwhile)

    def answered(*given: Any) -> Any:
        before = asked(*given)
        if not stepped and given[-1] != "run":
            stepped.append(True)
            other.admit(0.1)
            return before if meanwhile[1] == "_files" else asked(*given)
        return before

    other.admit(0.1)
    monkeypatch.setattr(*meanwhile, answered)
    assert IndividualAccount(place, ledger, "run").steps == other.steps == 2


def test_files_that_are_altered_are_refused(ledger: Ledger, place: Path) -> None:
    IndividualAccount(place, ledger, "run").admit(0.1)
    for path in sorted(place.iterdir()):
        content = path.read_bytes()
        for at in range(0, len(content), 1 + len(content) // 40):
            path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
            if path.name == "account.json" or "step-000000001" in path.name:
                with pytest.raises(LedgerDamaged):
                    IndividualAccount(place, ledger, "run")
        path.write_bytes(content)
    assert IndividualAccount(place, ledger, "run").steps == 1
    with pytest.raises(LedgerDamaged, match="paid under request"):
        IndividualAccount(place, ledger, "another run")
    for path in place.glob("*.parquet"):
        path.unlink()
    with pytest.raises(LedgerDamaged):
        IndividualAccount(place, ledger, "run")


def test_a_step_that_was_not_paid_is_not_taken(ledger: Ledger, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = IndividualAccount(place, ledger, "run")

    def unavailable(*_: Any, **__: Any) -> Any:
        raise LedgerUnavailable("ledger", "a server", "one that is there")

    with monkeypatch.context() as cut:
        cut.setattr(Ledger, "pay", unavailable)
        with pytest.raises(LedgerUnavailable):
            account.admit(0.4)
    opened = IndividualAccount(place, ledger, "run")
    assert (account.steps, opened.steps) == (0, 0)
    assert not opened.spent.reveal().any()
    assert opened.admit(0.2).reveal().all()
    assert IndividualAccount(place, ledger, "run").steps == 1


def test_a_step_that_was_paid_is_charged_though_its_process_ended(
    ledger: Ledger, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = IndividualAccount(place, ledger, "run")
    pay = Ledger.pay

    def paid_and_gone(*given: Any, **named: Any) -> Any:
        pay(*given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr(Ledger, "pay", paid_and_gone)
        with pytest.raises(KeyboardInterrupt):
            account.admit(0.4)
    opened = IndividualAccount(place, ledger, "run")
    assert opened.steps == 1
    assert not opened.admit(0.2).reveal().any()


def test_what_cannot_be_made_leaves_nothing(ledger: Ledger, tmp_path: Path) -> None:
    place = tmp_path / "accounts"
    wrong: list[dict[str, Any]] = [
        {"units": ["a", "b", "a"]},
        {"units": ["a", 1]},
        {"units": [1.5]},
        {"units": [True, False]},
        {"units": [2**63]},
        {"units": [-(2**63) - 1]},
        {"units": ["\ud800"]},
        {"shards": 0},
        {"budget": -1},
        {"request": "x" * 151},
        {"order": Order(4)},
    ]
    usual: dict[str, Any] = {"units": UNITS, "request": "run", "order": ORDER, "budget": BUDGET}
    for one in wrong:
        with pytest.raises(CertdpError):
            IndividualAccount.create(place, ledger=ledger, **{**usual, **one})
    with pytest.raises(BudgetExceeded):
        IndividualAccount.create(place, ledger=ledger, **{**usual, "budget": 2})
    assert ledger.number == 0
    assert not [path for path in tmp_path.iterdir() if not path.name.startswith("a.ledger")]
    create(tmp_path, ledger)
    place.rename(tmp_path / "kept")
    with pytest.raises(SameRequest):
        create(tmp_path, ledger)  # under that id there are accounts
    assert ledger.number == 1
    assert not place.exists()
    (tmp_path / "kept").rename(place)
    with pytest.raises(InvalidValue, match="a name that is free"):
        create(tmp_path, ledger)
    with pytest.raises(InvalidValue, match="numbered from 0"):
        IndividualAccount(place, ledger, "run", shard=1)
    with pytest.raises(InvalidValue, match=r"IndividualAccount.create"):
        IndividualAccount(tmp_path / "nothing", ledger, "run")


def test_an_account_is_not_copied_and_tells_nothing(ledger: Ledger, place: Path) -> None:
    account = IndividualAccount(place, ledger, "run")
    assert "person" not in repr(account)
    with pytest.raises(InvalidType):
        pickle.dumps(account)
    if can_fork():

        def refused() -> None:
            with pytest.raises(SecondAccount):
                account.admit(0.1)

        assert ended(in_child(refused)) == 0


@pytest.mark.parametrize(
    "given", [[2**63 - 1, -(2**63), 7], np.array([2**40, -3, 7]), np.array(["é", "b"]), np.arange(3, dtype=np.uint8)]
)
def test_units_as_columns_have_them(ledger: Ledger, tmp_path: Path, given: Any) -> None:
    IndividualAccount.create(tmp_path / "accounts", given, ledger, "run", order=ORDER, budget="0.5")
    account = IndividualAccount(tmp_path / "accounts", ledger, "run")
    assert list(account.units) == sorted(given)
    losses = np.linspace(0.1, 0.6, len(account.units))
    assert account.admit(losses).reveal().tolist() == [loss <= 0.5 for loss in losses]


def test_a_record_less_moves_no_other_one(ledger: Ledger, tmp_path: Path) -> None:
    def shards(name: str, units: list[str]) -> dict[str, int]:
        rule = RenyiFilter(Renyi(ORDER.value, number(1)), relation=ADD_REMOVE, unit=RECORD)
        own = Ledger.create(tmp_path / f"{name}.ledger", rule, data="people")
        IndividualAccount.create(tmp_path / name, units, own, "run", order=ORDER, budget=BUDGET, shards=3)
        accounts = [IndividualAccount(tmp_path / name, own, "run", shard=shard) for shard in range(3)]
        return {unit: shard for shard, one in enumerate(accounts) for unit in one.units}

    whole = shards("whole", UNITS)
    assert len(set(whole.values())) > 1
    for place, left_out in enumerate(UNITS):
        rest = shards(f"without {place}", [unit for unit in UNITS if unit != left_out])
        assert rest == {unit: shard for unit, shard in whole.items() if unit != left_out}


def test_the_ledger_does_not_tell_who_has_an_account(tmp_path: Path) -> None:
    plans: list[list[str | None]] = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        own = new_ledger(tmp_path / name)
        account = IndividualAccount(create(tmp_path / name, own), own, "run")
        account.admit(0.1)
        plans.append([own.plan("run"), own.plan("run: shard 0, step 1")])
    assert not set(plans[0]) & set(plans[1])
