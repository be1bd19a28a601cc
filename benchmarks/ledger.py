# pyright: reportMissingImports=false
"""What a payment takes from a ledger, by how many entries its log has: it should not grow with them.

    python benchmarks/ledger.py [most entries, by default 100000] [postgresql://…, a database of one's own]

The log is filled in one transaction, by the steps that a payment takes; for PostgreSQL the rows of the file are copied.
Then payments, each a transaction that is on disk, and retries of paid ids are timed one by one, in turn with as many
bare commits of the same disk.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import certdp
from certdp import Guarantee, Ledger
from certdp.filters import PureFilter
from certdp.guarantees import Theorem
from certdp.ledger.requests import Mode, RequestState, Terms
from certdp.ledger.turns import Turn
from certdp.notions import Pure

TIMED = 200
COST = Guarantee(
    bound=Pure(certdp.Enclosure.of("1/10000000")),
    relation=certdp.ADD_REMOVE,
    unit=certdp.RECORD,
    derivation=Theorem("declaration", "a benchmark").conclude(),
)


def filled(folder: Path, entries: int) -> Ledger:
    """A ledger with a log of so many entries."""
    rule = PureFilter(Pure(certdp.Enclosure.of(1)), relation=certdp.ADD_REMOVE, unit=certdp.RECORD)
    ledger = Ledger.create(folder / f"{entries}.ledger", rule, data="a benchmark")
    with ledger._store.writing() as execute:
        turn = Turn(execute, ledger.rule, ledger._clock(), ledger.place)
        for each in range(1, entries):
            terms = Terms(
                request=f"filled {each}", data=ledger.data, mode=Mode.PAY, cost=COST, plan=None, certificate=None
            )
            sums = ledger.rule.after(turn.sums, COST)
            turn.enter(terms, f"{each}", RequestState.BEGUN, "a benchmark", sums=sums, expires=None)
    return ledger


def milliseconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def copied(folder: Path, entries: int, address: str) -> Ledger:
    """The ledger of so many entries, in a schema of a database."""
    import psycopg

    place, rule = f"{address}?options=-csearch_path%3Dof_{entries}", Ledger(folder / f"{entries}.ledger").rule
    tables = ("ledger_entries", "ledger_account", "ledger_requests")
    connected: Any = psycopg.connect(address, autocommit=True)
    with connected as connection, closing(sqlite3.connect(folder / f"{entries}.ledger")) as file:
        connection.execute(f"CREATE SCHEMA of_{entries}")
        Ledger.create(place, rule, data="a benchmark")
        connection.execute(f"SET search_path = of_{entries}")
        connection.execute("ALTER TABLE ledger_entries DISABLE TRIGGER USER")  # which refuse to empty a log
        for table in tables:
            connection.execute(f"DELETE FROM {table}")
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in file.execute(f"SELECT * FROM {table}"):
                    copy.write_row(row)
        connection.execute("ALTER TABLE ledger_entries ENABLE TRIGGER USER")
        connection.execute("ANALYZE")
        connection.execute("CHECKPOINT")
    return Ledger(place)


def bare_file(folder: Path) -> Callable[[], object]:
    """A commit of one row, in a file."""
    bare = sqlite3.connect(folder / "bare", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE numbers (number INTEGER)")
    return partial(bare.execute, "INSERT INTO numbers VALUES (1)")


def bare_server(address: str) -> Callable[[], object]:
    """A commit of one row, in a database."""
    import psycopg

    bare: Any = psycopg.connect(address, autocommit=True)
    bare.execute("CREATE TABLE numbers (number INTEGER)")
    return partial(bare.execute, "INSERT INTO numbers VALUES (1)")


def table(ledgers: Mapping[int, Ledger], commit: Callable[[], object]) -> None:
    """Print a table: medians over payments, retries, and bare commits."""
    print("| entries | payment, ms | retry of a paid id, ms | bare commit, ms |")
    print("|---:|---:|---:|---:|")
    times: dict[int, list[tuple[float, float, float]]] = {size: [] for size in ledgers}
    for each in range(TIMED):
        for size, ledger in ledgers.items():
            pay = partial(ledger.pay, COST, request=f"timed {each}")
            times[size].append((milliseconds(pay), milliseconds(pay), milliseconds(commit)))
    for size in ledgers:
        columns = [f"{statistics.median(column):.2f}" for column in zip(*times[size], strict=True)]
        print(f"| {size:,} | {' | '.join(columns)} |", flush=True)


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000) if size <= most]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        in_files = {size: filled(folder, size) for size in sizes}
        in_database = {size: copied(folder, size, sys.argv[2]) for size in sizes} if len(sys.argv) > 2 else {}
        table(in_files, bare_file(folder))
        print(f"{(folder / f'{sizes[-1]}.ledger').stat().st_size / 1e6:,.0f} MB")
        if in_database:
            print("PostgreSQL")
            table(in_database, bare_server(sys.argv[2]))


if __name__ == "__main__":
    main()
