# pyright: reportMissingImports=false
"""Keys released of events that DuckDB groups, beside its own work: `python benchmarks/grouped_keys.py [EVENTS]`.

Events in a Parquet file, some keys 10,000 times as frequent as others. DuckDB reads and groups them on two threads;
certdp takes its Arrow table and releases keys, or keys with frequencies, in one chunk and in 16. Least processor time
of three turns, in seconds; "cold" is the first turn, in which loops are loaded and rows of probabilities are computed.
DuckDB is no dependency of certdp: pip install duckdb.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console
from rich.table import Table

from certdp import Ppswor, PrivateWeightedSampling, Public
from certdp.weighted_sampling import KeyCounts

EVENTS, PER_KEY, TURNS, CHUNKS = 50_000_000, 20, 3, 16


def written(path: Path, events: int) -> Path:
    key = f"'key-' || CAST(floor({events // PER_KEY} * pow(random(), 3)) AS BIGINT)"
    duckdb.sql(f"COPY (SELECT {key} AS key FROM range({events})) TO '{path}' (FORMAT parquet)")
    return path


def grouped(path: Path) -> Any:
    return duckdb.sql(f"SELECT key, count(*) AS count FROM '{path}' GROUP BY key").to_arrow_table()


def released(table: Any, frequencies: bool, chunks: int) -> int:
    sampling = PrivateWeightedSampling.within(
        epsilon=1, delta="1e-6", sampler=Ppswor(threshold=Public("0.001")), frequencies=frequencies
    )
    rows = -(-len(table) // chunks)
    parts = (KeyCounts.of(table.slice(start, rows)) for start in range(0, len(table), rows))
    return len(sampling.release_chunks(parts))


def timed(work: Callable[[], object]) -> list[float]:
    found = []
    for _ in range(TURNS):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return found


def main() -> None:
    events = int(float(sys.argv[1])) if len(sys.argv) > 1 else EVENTS
    duckdb.sql("SET threads = 2")
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder, "events.parquet"), events)
        own = min(timed(lambda: grouped(path)))
        table = grouped(path)
    title = f"{events:,} events of {len(table):,} keys; DuckDB {duckdb.__version__} reads and groups in {own:.2f} s"
    shown = Table("release", "chunks", "keys", "cold s", "s", "of DuckDB's", "of one chunk", title=title)
    for frequencies in (False, True):
        one = 0.0
        for chunks in (1, CHUNKS):
            keys = released(table, frequencies, chunks) if chunks > 1 else 0
            cold, *warm = timed(lambda f=frequencies, c=chunks: released(table, f, c))
            best = min(warm)
            one = one or best
            name = "keys and frequencies" if frequencies else "keys"
            cells = (f"{cold:.2f}", f"{best:.2f}", f"{best / own:.2f}", f"{best / one:.2f}")
            shown.add_row(name, str(chunks), f"{keys:,}" if keys else "", *cells)
    Console(width=120).print(shown)


if __name__ == "__main__":
    main()
