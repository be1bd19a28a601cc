# pyright: reportMissingImports=false
"""What certdp adds to an engine's own reading and grouping: `python benchmarks/engines.py dask|spark|stages [ROWS]`.

Events of users in Parquet files, 20 a user. Own: the engine reads them and sums by user. Shuffled: it reads them and
brings the rows of each user together, which is what a release begins with in Dask. Release: `release_sum` of the same
files, payment and ledger included; `release_keys` of the same users as keys. Counted: what Spark alone takes to hand
the shuffled rows to Python; lists: to bring those of each user into one row without Python. Two workers or cores, turn
by turn; seconds on the clock, and of the processor by all processes. The first turn, in which workers load and compile
what they need, is told apart: at the first release in it workers are cold. Stages: what the tasks compute, in this
process, in time of the processor.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil
import pyarrow
import pyarrow.parquet

import certdp
from certdp import ADD_REMOVE, ELEMENT, RECORD, Enclosure, Ledger, PrivateWeightedSampling, Public
from certdp.accounting.draws.by_name import NamedCoins
from certdp.accounting.sampling.clipping import Outside
from certdp.engines.batches import KeyDraws, UnitSums, kept_counts
from certdp.filters import ApproximateFilter, PureFilter
from certdp.notions import Approximate, Pure

ROWS, FILES, PER_USER, TURNS = 2_000_000, 8, 20, 4
RUN = certdp.SampledRun(
    mechanism=certdp.LaplaceSum(scale=Public(1000)),
    sampler=certdp.Full(),
    domain=certdp.NormBall(norm=certdp.Norm.L1, radius=Public(100)),
)
SAMPLED = certdp.SampledRun(
    mechanism=RUN.mechanism, sampler=certdp.Importance(rate=Public("0.01"), norm=Public(1)), domain=RUN.domain
)
KEYS = PrivateWeightedSampling.within(epsilon=1, delta="1e-6")


def written(folder: Path, rows: int) -> None:
    generator = np.random.default_rng(1)
    for file in range(FILES):
        users = generator.integers(0, rows // PER_USER, rows // FILES)
        columns = {
            "user_id": [f"user {user:08}" for user in users.tolist()],
            "minutes": generator.exponential(size=len(users)),
            "clicks": generator.integers(0, 9, len(users)).astype(np.float64),
            "count": np.ones(len(users), dtype=np.int64),
        }
        pyarrow.parquet.write_table(pyarrow.table(columns), folder / f"{file}.parquet")


@contextmanager
def dask_tasks(folder: Path) -> Iterator[dict[str, Callable[[], Any]]]:
    import dask.dataframe
    from dask.distributed import Client, LocalCluster

    from certdp.engines import dask as engine

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster),
    ):

        def read(*columns: str) -> Any:
            return dask.dataframe.read_parquet(folder, columns=list(columns))

        yield {
            "own": lambda: len(read("user_id", "minutes", "clicks").groupby("user_id").sum(split_out=FILES)),
            "shuffled": lambda: (
                read("user_id", "minutes", "clicks")
                .shuffle("user_id")
                .map_partitions(len, meta=("n", int))
                .sum()
                .compute()
            ),
            **releases(engine, read),
        }


@contextmanager
def spark_tasks(folder: Path) -> Iterator[dict[str, Callable[[], Any]]]:
    import os

    from pyspark.sql import SparkSession, functions

    from certdp.engines import spark as engine

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", str(FILES))
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")

    def read(*columns: str) -> Any:
        return session.read.parquet(str(folder)).select(*columns)

    def own() -> Any:
        sums = read("user_id", "minutes", "clicks").groupBy("user_id").sum()
        return sums.agg(*(functions.sum(f"sum({name})") for name in ("minutes", "clicks"))).collect()

    def shuffled() -> Any:
        return (
            read("user_id", "minutes", "clicks")
            .repartition(FILES, "user_id")
            .write.format("noop")
            .mode("overwrite")
            .save()
        )

    def counted(batches: Iterator[Any]) -> Iterator[Any]:
        rows = pyarrow.array([sum(batch.num_rows for batch in batches)])
        yield pyarrow.RecordBatch.from_arrays([rows], names=["rows"])

    def counted_in_python() -> Any:
        return (
            read("user_id", "minutes", "clicks")
            .repartition(FILES, "user_id")
            .mapInArrow(counted, "rows bigint")
            .collect()
        )

    def lists() -> Any:
        rows = functions.collect_list(functions.struct("minutes", "clicks"))
        grouped = read("user_id", "minutes", "clicks").groupBy("user_id").agg(rows)
        return grouped.write.format("noop").mode("overwrite").save()

    further = {"rows counted": counted_in_python, "lists of rows": lists}
    try:
        yield {"own": own, "shuffled": shuffled, **releases(engine, read), **further}
    finally:
        session.stop()


def releases(engine: Any, read: Callable[..., Any]) -> dict[str, Callable[[], Any]]:
    places = Path(tempfile.mkdtemp())
    pure = PureFilter(Pure(Enclosure.of(100)), relation=ADD_REMOVE, unit=RECORD, domain=RUN.domain)
    of_keys = ApproximateFilter(Approximate(Enclosure.of(100), Enclosure.of("0.1")), relation=ADD_REMOVE, unit=ELEMENT)
    sums = Ledger.create(places / "sums.ledger", pure, data="events")
    keys = Ledger.create(places / "keys.ledger", of_keys, data="events")

    def summed(run: Any) -> Callable[[], Any]:
        return lambda: engine.release_sum(run, read("user_id", "minutes", "clicks"), pay=sums)

    return {
        "release of all": summed(RUN),
        "release of a sample": summed(SAMPLED),
        "release of keys": lambda: engine.release_keys(KEYS, read("user_id", "count"), key="user_id", pay=keys),
    }


def stages(rows: int) -> None:
    """Print what each function of a task takes, for each row, unit or key."""
    folder = Path(tempfile.mkdtemp())
    written(folder, rows)
    table = pyarrow.parquet.read_table(folder)
    shutil.rmtree(folder)
    sums = {
        "all": UnitSums.of(RUN, table.column_names, "user_id", ["minutes", "clicks"], None, Outside.CLIP),
        "most=10": UnitSums.of(RUN, table.column_names, "user_id", ["minutes", "clicks"], Public(10), Outside.CLIP),
        "a sample": UnitSums.of(SAMPLED, table.column_names, "user_id", ["minutes", "clicks"], None, Outside.CLIP),
    }
    draws = KeyDraws(sampling=KEYS, key="user_id", count="count")
    counted, coins = table.select(["user_id", "count"]), NamedCoins.fresh()
    for _ in range(2):
        taken = dict[str, tuple[float, int]]()

        def timed(name: str, call: Callable[[], Any], per: int, taken: dict[str, tuple[float, int]] = taken) -> Any:
            start = time.process_time()
            found = call()
            taken[name] = time.process_time() - start, per
            return found

        for name, made in sums.items():
            totals = timed(f"rows added up by unit, {name}", lambda made=made: made.totals(table), rows)
            records = timed(f"  records of units, {name}", lambda made=made, t=totals: made.records(t), len(totals))
            part = timed(f"  draw and add up, {name}", lambda made=made, r=records: made.part(r, coins), len(records))
        counts = timed("rows to counts of keys", lambda: draws.counts(counted), rows)
        kept = timed("  which keys are kept", lambda c=counts: draws.kept(c, coins), len(counts))
        held = kept_counts(kept)
        timed("  report what was kept", lambda held=held: KEYS.release_kept([held], coins), max(1, len(held)))
    print(f"{rows:,} rows, {len(records):,} units or keys; a part of a sum has {len(part):,} bytes")
    for name, (seconds, per) in taken.items():
        print(f"{name:40}{1e6 * seconds / per:8.2f} µs for each of {per:,}")


ENGINES = {"dask": dask_tasks, "spark": spark_tasks}


def main(name: str, rows: int) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        written(folder, rows)
        with ENGINES[name](folder) as tasks:
            taken: dict[str, list[tuple[float, float]]] = {task: [] for task in tasks}
            for _ in range(TURNS):
                for task, call in tasks.items():
                    start, used = time.perf_counter(), processor()
                    call()
                    taken[task].append((time.perf_counter() - start, processor() - used))
    finally:
        shutil.rmtree(folder)
    print(f"{name}, {rows:,} events of {rows // PER_USER:,} users, {FILES} files, 2 workers; seconds")
    print(f"{'':22}{'first turn':>12}{'warm':>9}{'processor, first':>18}{'warm':>9}{'less shuffled, / own':>26}")
    warm = {task: [median(column) for column in zip(*times[1:], strict=True)] for task, times in taken.items()}
    for task, ((first, used), *_) in taken.items():
        cold, part = ((each - warm["shuffled"][1]) / warm["own"][1] for each in (used, warm[task][1]))
        shown = f"{cold:18.2f}{part:8.2f}" if task not in ("own", "shuffled") else ""
        print(f"{task:22}{first:12.1f}{warm[task][0]:9.1f}{used:18.1f}{warm[task][1]:9.1f}{shown}")


def processor() -> float:
    """Seconds of the processor that this process and all below it have used."""
    own = psutil.Process()
    return float(sum(sum(each.cpu_times()[:4]) for each in (own, *own.children(recursive=True))))


if __name__ == "__main__":
    asked = int(sys.argv[2]) if len(sys.argv) > 2 else ROWS
    if sys.argv[1] == "stages":
        stages(asked)
    else:
        main(sys.argv[1], asked)
