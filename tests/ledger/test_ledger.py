"""The ledger: each call under an id once, what it refuses and says, and what is found in what was changed."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from certdp import ADD_REMOVE, RECORD, REPLACE, Enclosure, Ledger
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.filters import BudgetExceeded, PureFilter
from certdp.accounting.filters.approximate import _most_rho
from certdp.accounting.filters.totals import FULL
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Pure
from certdp.ledger import (
    Anchor,
    ClockSetBack,
    LedgerDamaged,
    LedgerUnavailable,
    Output,
    OutputLost,
    RequestState,
    ReservationExpired,
    SameRequest,
    UsedBefore,
    verify_export,
)
from certdp.ledger import anchors as anchor_files
from certdp.ledger import ledger as ledgers
from tests.support.ledgers import CASES, Case, cost, number

ONE = PureFilter(Pure(number(1)), relation=ADD_REMOVE, unit=RECORD)
THIRD = cost(Pure(number("1/3")))
TENTH = cost(Pure(number("1/10")))


class Clock:
    """A clock that tests set."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ledger"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger.create(path, ONE, data="census", by="ann")


@pytest.fixture
def clock(ledger: Ledger) -> Clock:
    ledger._clock = made = Clock(ledger.statement().opened)
    return made


def never() -> bytes:
    raise AssertionError("drawn a second time")


def as_version_1(path: Path) -> None:
    """Make the tables those of the first version."""
    change(path, "DROP TABLE ledger_uses")
    change(path, "UPDATE ledger_version SET version = 1")


def change(path: str | Path, statement: str, *values: Any) -> None:
    """Change a ledger as certdp never would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement, values)


class TestPaying:
    def test_three_thirds_are_one(self, ledger: Ledger) -> None:
        for request in "abc":
            assert ledger.pay(THIRD, request=request).new
        with pytest.raises(BudgetExceeded, match="nothing was spent"):
            ledger.pay(cost(Pure(number("1e-300"))), request="d")
        assert ledger.state("d") is None
        assert ledger.spent == Pure(number(1))
        assert ledger.number == 3
        assert ledger.verify().sound

    @pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
    def test_each_rule_admits_what_its_filter_does(self, path: Path, case: Case) -> None:
        ledger = Ledger.create(path, case.rule(), data="census")
        count = case.admissible
        for request in range(count):
            Ledger(path).pay(case.cost, request=str(request))
        with pytest.raises(BudgetExceeded):
            ledger.pay(case.cost, request="more")
        assert ledger.verify().sound
        own = case.rule()
        for _ in range(count):
            own.spend(case.cost)
        assert (ledger.spent, ledger.remaining()) == (own.spent, own.remaining())
        assert ledger.guarantee == own.guarantee

    def test_an_id_is_paid_once(self, ledger: Ledger) -> None:
        first = ledger.pay(THIRD, request="a")
        again = Ledger(ledger.place).pay(THIRD, request="a")
        assert (first.new, again.new) == (True, False)
        assert (first.entry, first.time) == (again.entry, again.time)
        assert ledger.number == 1

    def test_an_id_stands_for_one_cost(self, ledger: Ledger) -> None:
        ledger.pay(THIRD, request="a", plan="p")
        for other in (
            lambda: ledger.pay(cost(Pure(number("1/4"))), request="a", plan="p"),
            lambda: ledger.pay(THIRD, request="a"),
            lambda: ledger.pay(THIRD, request="a", plan="p", certificate=b"{}"),
            lambda: ledger.release(THIRD, never, request="a", plan="p"),
        ):
            with pytest.raises(SameRequest, match="Nothing was spent"):
                other()
        assert ledger.number == 1

    def test_other_protections_are_refused(self, ledger: Ledger) -> None:
        other = Guarantee(bound=THIRD.bound, relation=REPLACE, unit=RECORD, derivation=THIRD.derivation)
        with pytest.raises(InvalidValue, match=r"cost\.relation"):
            ledger.pay(other, request="a")
        with pytest.raises(InvalidType, match="a Guarantee"):
            ledger.pay(THIRD.bound, request="a")

    @pytest.mark.parametrize("request_id", ["", "x" * 201, "a\nb", 7])
    def test_ids_are_short_printable_text(self, ledger: Ledger, request_id: Any) -> None:
        with pytest.raises(InvalidValue, match="request"):
            ledger.pay(THIRD, request=request_id)

    def test_who_and_for_what_is_in_the_log(self, ledger: Ledger) -> None:
        ledger.pay(THIRD, request="a", plan="sha256:7", certificate=b"{}", by="bob")
        text = list(ledger.export())[1]
        for part in (
            '"by":"bob"',
            '"plan":"sha256:7"',
            '"data":"census"',
            '"unit":{"name":"record"}',
            '"certificate":"sha',
        ):
            assert part in text


class TestReleasing:
    def test_a_retry_has_the_same_bytes(self, ledger: Ledger) -> None:
        first = ledger.release(THIRD, lambda: b"seven", request="a")
        again = Ledger(ledger.place).release(THIRD, never, request="a")
        assert (first.content, first.new) == (b"seven", True)
        assert (again.content, again.digest, again.new) == (b"seven", first.digest, False)
        assert ledger.output("a") == again
        assert ledger.number == 1

    def test_what_was_begun_without_output_is_lost_and_stays_paid(self, ledger: Ledger) -> None:
        with pytest.raises(ZeroDivisionError):
            ledger.release(THIRD, lambda: bytes(1 // 0), request="a")
        for _ in range(2):
            with pytest.raises(OutputLost, match="stays paid"):
                ledger.release(THIRD, never, request="a")
        with pytest.raises(OutputLost):
            ledger.output("a")
        assert ledger.number == 1
        assert ledger.verify().sound

    def test_a_second_caller_does_not_draw_while_the_first_does(self, ledger: Ledger) -> None:
        def draw() -> bytes:
            with pytest.raises(OutputLost, match="still drawing"):
                Ledger(ledger.place).release(THIRD, never, request="a")
            return b"first"

        assert ledger.release(THIRD, draw, request="a").content == b"first"
        assert Ledger(ledger.place).release(THIRD, never, request="a").content == b"first"

    def test_only_bytes_are_an_output(self, ledger: Ledger) -> None:
        with pytest.raises(InvalidType, match="bytes"):
            ledger.release(THIRD, lambda: "text", request="a")  # type: ignore[arg-type, return-value]
        assert ledger.state("a") is RequestState.BEGUN

    def test_what_was_drawn_elsewhere_is_handed_in_by_who_paid(self, ledger: Ledger) -> None:
        payment = ledger.pay(THIRD, request="a")
        with pytest.raises(SameRequest, match="Only who paid"):
            ledger.commit(ledger.pay(THIRD, request="a"), b"other")
        assert ledger.commit(payment, b"mine").new
        assert not ledger.commit(payment, b"mine").new
        with pytest.raises(SameRequest, match="handed in first"):
            ledger.commit(payment, b"another")
        assert ledger.output("a").content == b"mine"

    def test_no_output_is_handed_out_that_was_not_written(self, ledger: Ledger) -> None:
        def draw() -> bytes:
            fill_the_disk(ledger)
            return bytes(10**6)

        with pytest.raises(LedgerUnavailable, match="full"):
            ledger.release(THIRD, draw, request="a")
        with pytest.raises(OutputLost):
            Ledger(ledger.place).release(THIRD, never, request="a")


class TestReservations:
    def test_what_is_not_begun_in_time_is_given_back(self, ledger: Ledger, clock: Clock) -> None:
        for request in "abc":
            ledger.reserve(THIRD, request=request, expires=timedelta(hours=1))
        with pytest.raises(BudgetExceeded):
            ledger.pay(THIRD, request="d")
        clock.now += timedelta(hours=2)
        assert ledger.pay(THIRD, request="d").new
        assert ledger.number == 1
        assert ledger.spent == Pure(Enclosure.of("1/3", precision=256))
        assert ledger.state("a") is RequestState.EXPIRED
        with pytest.raises(ReservationExpired, match="reserve again"):
            ledger.reserve(THIRD, request="a", expires=timedelta(hours=1))

    def test_what_is_begun_stays(self, ledger: Ledger, clock: Clock) -> None:
        reserved = ledger.reserve(THIRD, request="a", expires=timedelta(hours=1))
        assert not ledger.reserve(THIRD, request="a", expires=timedelta(hours=1)).new
        assert ledger.begin(reserved).new
        assert not ledger.begin(reserved).new
        clock.now += timedelta(hours=2)
        ledger.pay(THIRD, request="b")
        assert ledger.number == 2
        assert ledger.commit(reserved, b"late").new

    def test_a_reservation_that_expired_is_not_begun(self, ledger: Ledger, clock: Clock) -> None:
        reserved = ledger.reserve(THIRD, request="a", expires=timedelta(hours=1))
        clock.now += timedelta(hours=2)
        with pytest.raises(ReservationExpired):
            ledger.begin(reserved)
        with pytest.raises(OutputLost):
            ledger.commit(reserved, b"drawn too early")

    def test_nobody_begins_for_another(self, ledger: Ledger) -> None:
        ledger.reserve(THIRD, request="a", expires=timedelta(hours=1))
        with pytest.raises(SameRequest, match="Only who paid"):
            ledger.begin(ledger.reserve(THIRD, request="a", expires=timedelta(hours=1)))

    @pytest.mark.parametrize("expires", [timedelta(0), timedelta(-1), 60])
    def test_a_time_is_above_zero(self, ledger: Ledger, expires: Any) -> None:
        with pytest.raises(InvalidValue, match="expires"):
            ledger.reserve(THIRD, request="a", expires=expires)

    def test_a_clock_set_back_is_refused_and_nothing_is_lost(self, ledger: Ledger, clock: Clock) -> None:
        ledger.reserve(THIRD, request="a", expires=timedelta(hours=1))
        clock.now -= timedelta(seconds=30)  # another machine's clock
        ledger.pay(THIRD, request="b")
        clock.now -= timedelta(days=1)
        with pytest.raises(ClockSetBack, match="set the clock"):
            ledger.pay(THIRD, request="c")
        assert ledger.number == 2
        clock.now += timedelta(days=1)
        assert ledger.pay(THIRD, request="c").new


class TestMaking:
    def test_a_name_that_is_taken_is_refused(self, ledger: Ledger, path: Path) -> None:
        ledger.pay(THIRD, request="a")
        with pytest.raises(InvalidValue, match="a name that is free"):
            Ledger.create(path, ONE, data="other")
        assert ledger.number == 1
        assert sorted(one.name for one in path.parent.iterdir() if "certdp" in one.name) == []

    def test_a_missing_one_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValue, match="certdp ledger create"):
            Ledger(tmp_path / "none")
        with pytest.raises(InvalidValue, match="folder"):
            Ledger.create(tmp_path / "no" / "where", ONE, data="census")

    def test_randomness_is_used_by_one_request(self, ledger: Ledger, clock: Clock) -> None:
        assert ledger.pay(TENTH, request="a", uses=["draw 2", "draw 1", "draw 2"]).new
        assert not ledger.pay(TENTH, request="a", uses=["draw 1", "draw 2"]).new
        for uses in (["draw 1"], ["draw 3", "draw 2"]):
            with pytest.raises(UsedBefore, match="request a has used it"):
                ledger.pay(TENTH, request="b", uses=uses)
            with pytest.raises(UsedBefore, match="Nothing was spent"):
                ledger.release(TENTH, never, request="b", uses=uses)
            with pytest.raises(UsedBefore):
                ledger.reserve(TENTH, request="b", expires=timedelta(hours=1), uses=uses)
        assert ledger.state("b") is None
        with pytest.raises(SameRequest):
            ledger.pay(TENTH, request="a", uses=["draw 1"])
        assert ledger.release(TENTH, lambda: b"1", request="b", uses=["draw 3"]).new
        assert not ledger.release(TENTH, never, request="b", uses=["draw 3"]).new
        ledger.reserve(TENTH, request="late", expires=timedelta(hours=1), uses=["draw 4"])
        clock.now += timedelta(hours=2)
        assert ledger.pay(TENTH, request="c", uses=["draw 4"]).new  # nothing was drawn with it
        assert ledger.verify().sound
        assert ledger.number == 3

    @pytest.mark.parametrize("uses", [[""], ["a\n"], [1], ["x" * 201]])
    def test_randomness_has_a_name(self, ledger: Ledger, uses: Any) -> None:
        with pytest.raises((InvalidValue, InvalidType), match="uses"):
            ledger.pay(TENTH, request="a", uses=uses)

    def test_a_filter_that_has_paid_is_refused(self, path: Path) -> None:
        rule = PureFilter(Pure(number(1)), relation=ADD_REMOVE, unit=RECORD)
        rule.spend(THIRD)
        with pytest.raises(InvalidValue, match="paid nothing"):
            Ledger.create(path, rule, data="census")
        with pytest.raises(InvalidType, match="a Filter"):
            Ledger.create(path, Pure(number(1)), data="census")  # type: ignore[arg-type]

    def test_another_file_is_refused(self, path: Path) -> None:
        path.write_bytes(b"no database" * 1000)
        with pytest.raises(LedgerDamaged, match="a ledger that certdp made"):
            Ledger(path)

    def test_a_later_version_is_refused(self, ledger: Ledger, path: Path) -> None:
        change(path, "UPDATE ledger_version SET version = 1000")
        with pytest.raises(InvalidValue, match="version: got 1000"):
            Ledger(path)
        change(path, "DELETE FROM ledger_version")
        with pytest.raises(InvalidValue, match="version: got None"):
            Ledger(path)

    def test_an_older_version_is_brought_to_this_one(self, ledger: Ledger, path: Path) -> None:
        ledger.pay(THIRD, request="a")
        before, log = ledger.statement(), list(ledger.export())
        as_version_1(path)
        opened = Ledger(path)
        assert (opened.statement(), list(opened.export())) == (before, log)
        assert opened.verify().sound
        assert not opened.pay(THIRD, request="a").new
        opened.pay(THIRD, request="b", uses=["draw 1"])
        assert Ledger(path).verify().sound

    def test_several_may_bring_it_there_at_once(self, ledger: Ledger, path: Path) -> None:
        as_version_1(path)
        with ThreadPoolExecutor(8) as pool:
            opened = list(pool.map(lambda _: Ledger(path), range(16)))
        assert all(one.verify().sound for one in opened)

    def test_a_copy_is_the_same_ledger(self, ledger: Ledger) -> None:
        pickle.loads(pickle.dumps(ledger)).pay(THIRD, request="a")
        assert ledger.number == 1


def fill_the_disk(ledger: Ledger) -> None:
    connection = ledger._store.connections.get()  # type: ignore[attr-defined]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


class TestFailures:
    def test_a_full_disk_loses_nothing(self, ledger: Ledger) -> None:
        ledger.pay(THIRD, request="a")
        fill_the_disk(ledger)
        with pytest.raises(LedgerUnavailable, match="full"):
            ledger.pay(THIRD, request="b", certificate=bytes(10**6))
        again = Ledger(ledger.place)
        assert again.state("b") is None
        assert again.verify().sound
        assert again.pay(THIRD, request="b", certificate=bytes(10**6)).new

    def test_a_second_name_of_the_file_is_refused_under_both(self, ledger: Ledger, path: Path, tmp_path: Path) -> None:
        ledger.pay(THIRD, request="a")
        other = tmp_path / "other.ledger"
        other.hardlink_to(path)
        with pytest.raises(LedgerUnavailable, match="one name"):
            ledger.pay(THIRD, request="b")
        for name in (path, other):
            with pytest.raises(LedgerUnavailable, match="one name"):
                Ledger(name)
        other.unlink()
        assert ledger.pay(THIRD, request="b").new
        assert ledger.number == 2

    @pytest.mark.parametrize("then", ["moved", "removed", "replaced"])
    def test_a_file_that_is_no_longer_there_pays_nothing(
        self, ledger: Ledger, path: Path, tmp_path: Path, then: str
    ) -> None:
        ledger.pay(THIRD, request="a")
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "copy")) as copy:
            source.backup(copy)
        match then:
            case "moved":
                path.rename(tmp_path / "elsewhere")
            case "removed":
                path.unlink()
            case _:
                (tmp_path / "copy").replace(path)
        for use in (
            lambda: ledger.pay(THIRD, request="b"),
            ledger.remaining,
            lambda: ThreadPoolExecutor(1).submit(ledger.pay, THIRD, request="b").result(),
        ):
            with pytest.raises(LedgerUnavailable, match="moved, removed or replaced"):
                use()

    def test_another_folder_of_the_process_changes_nothing(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Ledger.create(Path(path.name), ONE, data="census", anchor=Path("anchor"))
        ledger = Ledger(Path(path.name), anchor=Path("anchor"))
        (tmp_path / "other").mkdir()
        monkeypatch.chdir("other")
        assert ledger.place == path.name
        assert ledger.pay(THIRD, request="a").new
        assert ThreadPoolExecutor(1).submit(ledger.pay, THIRD, request="b").result().new
        assert pickle.loads(pickle.dumps(ledger)).pay(THIRD, request="c").new
        assert Ledger(path).number == 3

    def test_a_lock_that_is_never_given_back_is_told(self, ledger: Ledger) -> None:
        ledger._store.connections.get().execute("PRAGMA busy_timeout = 50")  # type: ignore[attr-defined]
        with closing(sqlite3.connect(ledger.place, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(LedgerUnavailable, match="locked"):
                ledger.pay(THIRD, request="a")
        assert ledger.pay(THIRD, request="a").new

    def test_the_database_itself_refuses_more_than_the_budget(self, ledger: Ledger) -> None:
        with closing(sqlite3.connect(ledger.place)) as connection, pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            connection.execute("UPDATE ledger_account SET share = ?", (FULL + 1,))

    @pytest.mark.parametrize(
        "statement",
        ["UPDATE ledger_entries SET body = ''", "DELETE FROM ledger_entries", "DELETE FROM ledger_contents"],
    )
    def test_the_database_itself_only_grows(self, ledger: Ledger, statement: str) -> None:
        ledger.release(THIRD, lambda: b"x", request="a")
        with closing(sqlite3.connect(ledger.place)) as connection, pytest.raises(sqlite3.IntegrityError, match="grows"):
            connection.execute(statement)

    def test_a_rule_that_admits_too_much_meets_the_databases_check(
        self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from certdp.accounting.enclosures import Truth
        from certdp.accounting.filters.totals import Comparisons

        monkeypatch.setattr(Comparisons, "within", Truth.TRUE)
        for request in "abc":
            ledger.pay(THIRD, request=request)
        with pytest.raises(LedgerDamaged, match="CHECK"):
            ledger.pay(THIRD, request="d")
        assert ledger.number == 3


class TestVerifying:
    @pytest.fixture
    def full(self, ledger: Ledger, clock: Clock) -> Ledger:
        """One of each: paid, committed, expired, begun after it was reserved."""
        ledger.reserve(cost(Pure(number("1/5"))), request="expired", expires=timedelta(hours=1))
        begun = ledger.reserve(cost(Pure(number("1/7"))), request="begun", expires=timedelta(hours=1))
        ledger.begin(begun)
        clock.now += timedelta(hours=2)
        ledger.pay(cost(Pure(Enclosure.between("1/9", "1/8"))), request="paid", certificate=b'{"kind":"x"}', plan="p")
        ledger.pay(cost(Pure(number("1/100"))), request="used", uses=["draw 1", "draw 2"])
        ledger.release(cost(Pure(number("1/11"))), lambda: b"the output", request="released")
        return ledger

    @staticmethod
    def cells(path: str) -> Iterator[tuple[str, int, str, Any]]:
        """Every value of every row, by table, row and column."""
        with closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                found = connection.execute(f"SELECT rowid, * FROM {table}")
                columns = [one[0] for one in found.description]
                for row in found.fetchall():
                    for column, value in zip(columns[1:], row[1:], strict=True):
                        yield table, row[0], column, value

    def test_every_value_of_every_row_that_changes_is_found(self, full: Ledger) -> None:
        assert full.verify().sound
        tried = 0
        for table, row, column, value in list(self.cells(full.place)):
            if table == "ledger_version" or column == "one" or (table, column) == ("ledger_entries", "number"):
                continue  # opening refuses another version; entries that move are tried below
            other = value + 1 if isinstance(value, int) else (b"?" if isinstance(value, bytes) else "?")
            where = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
            change(full.place, where, other, row)
            assert not full.verify().sound, (table, row, column)
            change(full.place, where, value, row)
            tried += 1
        assert full.verify().sound
        assert tried > 30

    def changed(self, text: bytes) -> Iterator[bytes]:
        """The text with each byte changed in turn, in one of four ways."""
        for place, letter in enumerate(text):
            other = [bytes([letter ^ 1]), b" " if letter != 32 else b"0", b"", bytes([letter, letter])][place % 4]
            yield text[:place] + other + text[place + 1 :]

    @pytest.mark.slow
    def test_every_byte_of_an_exported_log_that_changes_is_found(self, full: Ledger, tmp_path: Path) -> None:
        log = tmp_path / "log.jsonl"
        lines = list(full.export())
        log.write_text("".join(lines), "ascii")
        assert verify_export(log).head == full.head
        text = log.read_bytes()
        for other in islice(self.changed(text), 0, None, 5):
            log.write_bytes(other)
            assert not verify_export(log, full.head).sound, other

    @pytest.mark.soundness
    def test_every_byte_of_the_log_that_changes_is_found(self, full: Ledger) -> None:
        with closing(sqlite3.connect(full.place)) as connection:
            rows = connection.execute("SELECT number, body FROM ledger_entries").fetchall()
        for number_, body in rows:
            for other in self.changed(body.encode("ascii")):
                change(
                    full.place, "UPDATE ledger_entries SET body = ? WHERE number = ?", other.decode("latin-1"), number_
                )
                assert not full.verify().sound
            change(full.place, "UPDATE ledger_entries SET body = ? WHERE number = ?", body, number_)
        assert full.verify().sound

    def test_a_cut_log_is_found(self, full: Ledger) -> None:
        for number_ in range(8):
            change(full.place, "DELETE FROM ledger_entries WHERE number = ?", 7 - number_)
            assert not full.verify().sound

    def test_rows_that_no_entry_speaks_of_are_found(self, full: Ledger) -> None:
        change(full.place, "INSERT INTO ledger_contents VALUES ('sha256:7', x'00')")
        change(full.place, "INSERT INTO ledger_requests VALUES ('new', 'begun', '', '', 1, 1, NULL)")
        assert len(full.verify().problems) == 2

    def test_a_lost_output_is_found(self, full: Ledger) -> None:
        change(full.place, "DELETE FROM ledger_contents WHERE content = ?", b"the output")
        (problem,) = full.verify().problems
        assert "missing" in problem
        with pytest.raises(LedgerDamaged, match="missing or altered"):
            full.release(cost(Pure(number("1/11"))), never, request="released")


class TestAnchors:
    @pytest.fixture
    def anchored(self, path: Path, tmp_path: Path) -> Ledger:
        return Ledger.create(path, ONE, data="census", anchor=tmp_path / "anchor")

    def test_a_restored_backup_is_found_before_it_pays(self, anchored: Ledger, path: Path, tmp_path: Path) -> None:
        anchored.pay(THIRD, request="a")
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "backup")) as backup:
            source.backup(backup)
        anchored.pay(THIRD, request="b")
        restored = Ledger(tmp_path / "backup", anchor=tmp_path / "anchor")
        with pytest.raises(LedgerDamaged, match="older copy"):
            restored.pay(THIRD, request="c")
        assert "older copy" in str(restored.verify())
        assert Ledger(tmp_path / "backup").verify().sound  # without an anchor nothing tells

    def test_a_log_written_anew_is_found(self, anchored: Ledger, tmp_path: Path) -> None:
        anchored.pay(THIRD, request="a")
        other = Ledger.create(tmp_path / "b.ledger", ONE, data="census")
        for request in "xy":
            other.pay(THIRD, request=request)
        forged = Ledger(tmp_path / "b.ledger", anchor=tmp_path / "anchor")
        with pytest.raises(LedgerDamaged, match="written anew"):
            forged.pay(THIRD, request="b")
        assert not forged.verify().sound
        assert not other.verify(anchored.head).sound

    def test_it_is_the_head_after_each_payment_and_never_an_earlier_one(self, anchored: Ledger, tmp_path: Path) -> None:
        before = anchored.head
        anchored.pay(THIRD, request="a")
        assert Anchor.read(tmp_path / "anchor") == anchored.head
        before.write(tmp_path / "anchor")
        assert Anchor.read(tmp_path / "anchor") == anchored.head
        anchored.pay(THIRD, request="a")
        assert Anchor.parse(str(anchored.head)) == anchored.head

    def test_one_that_is_not_written_leaves_a_payment_that_the_next_call_goes_on_from(
        self, anchored: Ledger, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        drawn = list[bytes]()

        def draw() -> bytes:
            drawn.append(b"output")
            return drawn[-1]

        def release(ledger: Ledger) -> Output:
            return ledger.release(THIRD, draw, request="a")

        with FileLock(tmp_path / "anchor.lock"), monkeypatch.context() as patch:
            patch.setattr(anchor_files, "_WAIT", 0)
            for _ in range(2):
                with pytest.raises(LedgerUnavailable, match="with the same id in this process"):
                    release(anchored)
        assert (anchored.number, anchored.state("a"), drawn) == (1, RequestState.BEGUN, [])
        with pytest.raises(OutputLost):
            release(Ledger(path))  # another one cannot know that nothing was drawn
        with pytest.raises(SameRequest):
            anchored.pay(THIRD, request="a")
        with monkeypatch.context() as patch:
            patch.setattr(ledgers, "this_process", lambda: (0, 0))
            with pytest.raises(OutputLost):
                release(anchored)  # nor can a fork
        with ThreadPoolExecutor(4) as threads:
            answers = [one.exception() for one in [threads.submit(release, anchored) for _ in range(4)]]
        assert drawn == [b"output"]
        assert {type(one) for one in answers} <= {type(None), OutputLost}
        assert release(anchored).content == b"output"
        assert drawn == [b"output"]
        assert anchored.number == 1
        assert Anchor.read(tmp_path / "anchor") == anchored.head
        assert anchored.verify().sound

    def test_a_missing_or_damaged_one_is_refused(self, anchored: Ledger, tmp_path: Path) -> None:
        (tmp_path / "anchor").write_text("17")
        with pytest.raises(InvalidValue, match="17:sha256"):
            anchored.pay(THIRD, request="a")
        (tmp_path / "anchor").unlink()
        with pytest.raises(InvalidValue, match="the head of the log"):
            anchored.pay(THIRD, request="a")
        assert anchored.number == 0


def test_a_statement_says_who_paid_what_and_what_is_left(ledger: Ledger) -> None:
    ledger.pay(THIRD, request="a", by="bob")
    ledger.release(THIRD, lambda: b"", request="b", by="cleo")
    statement = ledger.statement()
    assert [(row.request, row.by, row.state.value) for row in statement.rows] == [
        ("a", "bob", "begun"),
        ("b", "cleo", "committed"),
    ]
    assert statement.opened_by == "ann"
    assert statement.left == ledger.remaining()
    assert str(ledger.remaining()) in str(statement)
    assert [round(row.share, 6) for row in statement.rows] == [0.333333, 0.666667]
    assert statement.share >= 2 / 3
    assert "census" in str(statement)
    assert "cleo" in statement._repr_html_()


def test_requests_cost_the_same_however_long_the_log_is(path: Path) -> None:
    """Statements, not seconds: a request reads and writes rows that it finds by key."""
    ledger = Ledger.create(path, ONE, data="census")

    def steps(request: str) -> int:
        count = 0

        def one_more() -> int:
            nonlocal count
            count += 1
            return 0

        connection = ledger._store.connections.get()  # type: ignore[attr-defined]
        connection.set_progress_handler(one_more, 1)
        ledger.pay(cost(Pure(number("1/1000"))), request=request)
        connection.set_progress_handler(None, 0)
        return count

    early = max(steps(f"early {number_}") for number_ in range(5))
    for number_ in range(300):
        ledger.pay(cost(Pure(number("1/1000"))), request=str(number_))
    assert max(steps(f"late {number_}") for number_ in range(5)) <= 1.5 * early


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_first_payment_of_a_process_does_no_more_than_the_next(
    case: Case, path: Path, counted: Callable[[Callable[[], Any]], tuple[Any, int]]
) -> None:
    """Others wait meanwhile: what a rule has to solve for, it has solved when its ledger was opened."""
    Ledger.create(path, case.rule(), data="census").pay(case.cost, request="before")
    _most_rho.cache_clear()
    ledger = Ledger(path)
    first, second = (counted(lambda n=n: ledger.pay(case.cost, request=f"{n}"))[1] for n in range(2))  # type: ignore[misc]
    assert first <= 1.5 * second
