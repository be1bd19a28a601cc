# pyright: reportMissingImports=false
"""Ledgers in PostgreSQL: the same promises as in a file, and connections and servers that are lost."""

from __future__ import annotations

import os
import pickle
import random
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from certdp import ADD_REMOVE, RECORD, Ledger
from certdp.accounting.errors import InvalidValue
from certdp.accounting.filters import BudgetExceeded, PureFilter
from certdp.accounting.filters.totals import FULL
from certdp.accounting.notions import Pure
from certdp.ledger import LedgerDamaged, LedgerUnavailable, OutputLost, RequestState
from tests.support.children import ended, in_child
from tests.support.ledgers import CASES, Case, cost, number

TENTH = cost(Pure(number("1/10")))
ONE = PureFilter(Pure(number(1)), relation=ADD_REMOVE, unit=RECORD)


def never() -> bytes:
    raise AssertionError("drawn a second time")


def statement(address: str, words: str) -> None:
    import psycopg

    connected: Any = psycopg.connect(address, autocommit=True)
    with connected as connection:
        connection.execute(words)


@pytest.fixture
def ledger(address: str) -> Ledger:
    return Ledger.create(address, ONE, data="census")


@pytest.mark.parametrize("processes", [4, pytest.param(20, marks=pytest.mark.soundness)])
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_processes_together_pay_exactly_what_is_admissible(
    case: Case, processes: int, address: str, tmp_path: Path
) -> None:
    ledger = Ledger.create(address, case.rule(), data="census", anchor=tmp_path / "anchor")

    def pay(name: int) -> Callable[[], None]:
        def until_refused() -> None:
            with suppress(BudgetExceeded):
                for each in count():
                    assert ledger.pay(case.cost, request=f"{name}: {each}").new

        return until_refused

    children = [in_child(pay(name)) for name in range(processes)]
    assert {ended(child) for child in children} == {0}
    assert ledger.number == case.admissible
    assert ledger.verify().sound


def test_outputs_are_drawn_once_and_come_back(ledger: Ledger, address: str) -> None:
    first = ledger.release(TENTH, lambda: b"\x00seven", request="a", certificate=b"{}")
    again = pickle.loads(pickle.dumps(ledger)).release(TENTH, never, request="a", certificate=b"{}")
    assert (first.content, again.content, again.new) == (b"\x00seven", b"\x00seven", False)
    with pytest.raises(ZeroDivisionError):
        ledger.release(TENTH, lambda: bytes(1 // 0), request="b")
    with pytest.raises(OutputLost):
        Ledger(address).release(TENTH, never, request="b")
    assert ledger.statement().rows[0].state is RequestState.COMMITTED
    assert ledger.verify().sound


def test_a_database_has_one_ledger_and_says_where_there_is_none(ledger: Ledger, address: str, server: Any) -> None:
    with pytest.raises(InvalidValue, match="a database without a ledger"):
        Ledger.create(address, ONE, data="census")
    with pytest.raises(InvalidValue, match="certdp ledger create"):
        Ledger(server.database("empty"))
    with pytest.raises(LedgerUnavailable, match="can be reached"):
        Ledger(f"{address}_that_is_not_there")


def test_the_database_refuses_what_a_ledger_never_does(ledger: Ledger, address: str) -> None:
    import psycopg

    ledger.release(TENTH, lambda: b"x", request="a")
    for words in (
        f"UPDATE ledger_account SET share = {FULL + 1}",
        "UPDATE ledger_entries SET body = ''",
        "DELETE FROM ledger_contents",
        "TRUNCATE ledger_entries",
    ):
        with pytest.raises(psycopg.IntegrityError):
            statement(address, words)
    assert ledger.verify().sound


def test_an_altered_log_is_found(ledger: Ledger, address: str) -> None:
    ledger.pay(TENTH, request="a")
    statement(address, "DROP TRIGGER ledger_entries_refused ON ledger_entries")
    statement(address, "UPDATE ledger_entries SET body = replace(body, '1/10', '1/20') WHERE number = 1")
    assert not ledger.verify().sound
    with pytest.raises(LedgerDamaged):
        ledger.statement()


CUT = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE pid <> pg_backend_pid() AND datname = current_database()"
)


def test_a_connection_that_is_cut_is_told_and_the_next_call_goes_through(ledger: Ledger, address: str) -> None:
    ledger.pay(TENTH, request="a")
    statement(address, CUT)
    with pytest.raises(LedgerUnavailable, match="ask again with the same id"):
        ledger.pay(TENTH, request="b")
    assert ledger.pay(TENTH, request="b").new
    statement(address, CUT)
    with pytest.raises(LedgerUnavailable):
        ledger.release(TENTH, never, request="c")
    assert ledger.release(TENTH, lambda: b"c", request="c").content == b"c"
    assert ledger.number == 3
    assert ledger.verify().sound


def test_a_writer_that_vanished_gives_up_its_turn(
    ledger: Ledger, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that begins and is never heard of again: the server ends what it began."""
    monkeypatch.setattr("certdp.ledger.postgres_store._WAIT", "1 s")
    turn = ledger._store.writing()
    turn.__enter__()
    for _ in range(100):
        with suppress(LedgerUnavailable):
            assert Ledger(address).pay(TENTH, request="a").new
            break
    with pytest.raises(LedgerUnavailable, match="idle-in-transaction"):
        turn.__exit__(None, None, None)
    assert ledger.number == 1
    assert ledger.verify().sound


def test_a_writer_that_others_keep_waiting_is_told(
    ledger: Ledger, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr("certdp.ledger.postgres_store._WAIT", "100 ms")
    waiting = Ledger(address)
    held: Any = psycopg.connect(address)
    with held as connection:
        connection.execute("LOCK TABLE ledger_account IN EXCLUSIVE MODE")
        with pytest.raises(LedgerUnavailable, match=r"Other writers had it for 100 ms\. .*ask again with the same id"):
            waiting.pay(TENTH, request="a")
    assert waiting.pay(TENTH, request="a").new


def test_a_connection_cut_while_the_output_is_drawn_loses_nothing(ledger: Ledger, address: str) -> None:
    def draw() -> bytes:
        statement(address, CUT)
        return b"drawn"

    assert ledger.release(TENTH, draw, request="a").content == b"drawn"
    assert ledger.output("a").content == b"drawn"


def test_an_answer_to_a_commit_that_is_lost_is_looked_up(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    store: Any = ledger._store
    connection = store.connections.get()
    execute: Any = connection.execute
    cut = list[str]()

    def lose_the_answer(words: str, *rest: Any) -> Any:
        found = execute(words, *rest)
        if words == "COMMIT" and not cut:
            cut.append(words)
            import psycopg

            raise psycopg.OperationalError("the answer is lost")
        return found

    monkeypatch.setattr(connection, "execute", lose_the_answer)
    assert ledger.release(TENTH, lambda: b"once", request="a").new
    assert cut
    assert ledger.number == 1
    store.connections.drop()  # which the patch has made a circle of


def test_a_server_that_is_killed_loses_no_payment(ledger: Ledger, server: Any, tmp_path: Path) -> None:
    ledger.release(TENTH, lambda: b"a", request="a")

    def draw() -> bytes:
        server.kill()
        return b"never handed in"

    with pytest.raises(LedgerUnavailable):
        ledger.release(TENTH, draw, request="b")
    with pytest.raises(LedgerUnavailable):
        ledger.pay(TENTH, request="c")
    server.start()
    with pytest.raises(OutputLost):
        ledger.release(TENTH, never, request="b")
    assert ledger.release(TENTH, never, request="a").content == b"a"
    assert ledger.number == 2
    assert ledger.verify().sound


@pytest.mark.soundness
def test_clients_that_are_killed_lose_no_payment(address: str, tmp_path: Path) -> None:
    rule = PureFilter(Pure(number(1)), relation=ADD_REMOVE, unit=RECORD)
    ledger = Ledger.create(address, rule, data="census")
    drawn = tmp_path / "drawn"
    drawn.touch()
    part = cost(Pure(number("1/60")))

    def noted(request: str) -> bytes:
        with drawn.open("a") as file:
            file.write(f"{request}\n")
        return request.encode()

    def released(points: int, request: str) -> None:
        store: Any = ledger._store
        connection = store.connections.get()
        execute, left = connection.execute, [points]

        def counted(*words: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return execute(*words)

        connection.execute = counted
        ledger.release(part, lambda: noted(request), request=request)

    requests = [f"killed at {points}" for points in range(1, 45)]
    for points, request in enumerate(requests, 1):
        ended(in_child(partial(released, points, request)))
    for request in requests:
        with suppress(OutputLost):
            output = ledger.release(part, partial(noted, request), request=request)
            assert output.content.decode() == request
    draws = drawn.read_text().split("\n")[:-1]
    assert len(set(draws)) == len(draws)
    assert ledger.number == len(requests)
    assert ledger.verify().sound


@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.soundness)])
def test_a_server_killed_at_random_times_loses_no_payment(
    kills: int, address: str, server: Any, tmp_path: Path
) -> None:
    """Two clients release all the time; whatever the server was doing, each id is drawn once and paid."""
    ledger = Ledger.create(address, ONE, data="census", anchor=tmp_path / "anchor")
    parts, coins = 40 + 2 * kills, random.Random(kills)
    part = cost(Pure(number(f"1/{parts}")))
    drawn, given = tmp_path / "drawn", tmp_path / "given"
    for file in (drawn, given):
        file.touch()

    def release(request: str) -> bytes:
        def draw() -> bytes:
            with drawn.open("a") as file:
                file.write(f"{request}\n")
            return f"output of {request}".encode()

        return ledger.release(part, draw, request=request).content

    def work(names: list[str]) -> None:
        for name in names:
            with suppress(OutputLost, BudgetExceeded):
                content = release(name)
                with given.open("a") as file:
                    file.write(f"{name}\t{content.decode()}\n")

    every = [f"request {each}" for each in range(2 * parts)]
    for _ in range(kills):
        clients = [in_child(partial(work, coins.sample(every, len(every)))) for _ in range(2)]
        time.sleep(coins.uniform(0.01, 0.5))
        server.kill()
        assert all(ended(client) in (0, 1) for client in clients)  # done, or told that the server is away
        server.start()
    ledger = Ledger(address, anchor=tmp_path / "anchor")
    assert ledger.verify().sound
    draws = drawn.read_text().splitlines()
    assert len(set(draws)) == len(draws), "drawn twice"
    assert {name for name in every if ledger.state(name)} >= set(draws), "drawn and not paid"
    for name, output in (line.split("\t") for line in given.read_text().splitlines()):
        assert ledger.output(name).content.decode() == output, "given out and not kept"
    work(every)
    assert ledger.number == parts
    assert ledger.verify().sound
