"""What a payment takes from a ledger in a file, by how many entries its log has: it should not grow with them.

    python benchmarks/ledger.py [most entries, by default 100000]

The log is filled in one transaction, by the steps that a payment takes; then payments, each a transaction that is on
disk, and retries of paid ids are timed one by one, in turn with as many bare commits of the same disk.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

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


def main() -> None:
    """Print a table: medians over payments, retries, and bare commits."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print("| entries | payment, ms | retry of a paid id, ms | bare commit, ms | file, MB |")
    print("|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder, sizes = Path(name), [size for size in (1_000, 10_000, 100_000, 1_000_000) if size <= most]
        bare = sqlite3.connect(folder / "bare", isolation_level=None)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("CREATE TABLE numbers (number INTEGER)")
        ledgers = [filled(folder, size) for size in sizes]
        times: dict[int, list[tuple[float, float, float]]] = {size: [] for size in sizes}
        for each in range(TIMED):
            for size, ledger in zip(sizes, ledgers, strict=True):
                pay = partial(ledger.pay, COST, request=f"timed {each}")
                commit = partial(bare.execute, "INSERT INTO numbers VALUES (1)")
                times[size].append((milliseconds(pay), milliseconds(pay), milliseconds(commit)))
        for size in sizes:
            columns = [f"{statistics.median(column):.2f}" for column in zip(*times[size], strict=True)]
            megabytes = (folder / f"{size}.ledger").stat().st_size / 1e6
            print(f"| {size:,} | {' | '.join(columns)} | {megabytes:,.0f} |")


if __name__ == "__main__":
    main()
