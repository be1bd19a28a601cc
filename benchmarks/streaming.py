"""Weights of ten million records of a file, beside reading the file: time and the largest memory of the process.

For npy, Parquet and CSV (a twentieth of the records): the bytes alone, in blocks of 8 MiB; the records, checked; a
norm, an exponential and a logarithm of each in plain floats; their weights within a target ε, over a public domain
outside of which some are clipped. For npy also with the weights written. Cold: the file is not in the system's cache
before. "Of reading": elapsed time, warm, relative to reading the records.
Run: python benchmarks/streaming.py [RECORDS] [FOLDER]; the folder needs 64 bytes per record and as much again.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow.parquet import ParquetWriter
from rich.console import Console
from rich.table import Table

from certdp import LaplaceSum, NormBall, Public, SampledRun
from certdp.data import open_records
from certdp.records.weights import record_weights, weights_file
from certdp.samplers.privacy_constrained import PrivacyConstrained

Floats = NDArray[np.float64]
COLUMNS, BLOCK, ROUNDS = 8, 1 << 23, 3
RUN = SampledRun(mechanism=LaplaceSum(scale=Public(20)), sampler=PrivacyConstrained(target=Public(1)))
DOMAIN = NormBall(norm=RUN.norm, radius=Public(10))


def blocks(records: int) -> Iterator[Floats]:
    rng = np.random.default_rng(0)
    for start in range(0, records, 10**6):
        yield rng.normal(size=(min(10**6, records - start), COLUMNS))


def write_npy(path: Path, records: int) -> None:
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (records, COLUMNS)}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks(records):
            block.tofile(file)


def write_parquet(path: Path, records: int) -> None:
    schema = pyarrow.schema([(f"x{column}", pyarrow.float64()) for column in range(COLUMNS)])
    with ParquetWriter(path, schema, use_dictionary=False) as file:
        for block in blocks(records):
            file.write_table(pyarrow.table(list(block.T), schema=schema), row_group_size=1 << 17)


def write_csv(path: Path, records: int) -> None:
    with path.open("w") as file:
        file.write(",".join(f"x{column}" for column in range(COLUMNS)) + "\n")
        for block in blocks(records):
            np.savetxt(file, block, fmt="%.17g", delimiter=",")


def forget(path: Path) -> None:
    """Take the file out of the system's cache."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_bytes(path: Path) -> None:
    block = bytearray(BLOCK)
    with path.open("rb", buffering=0) as file:
        while file.readinto(block):
            pass


def read(path: Path) -> None:
    with open_records(path) as records:
        for _ in records.chunks():
            pass


def plain(path: Path) -> None:
    """What NumPy takes for the functions alone, nothing proven: a norm, an exponential and a logarithm a record."""
    with open_records(path) as records:
        for some in records.chunks():
            np.log1p(np.expm1(np.abs(some).sum(axis=1) * 0.05) * 0.5)


def weights(path: Path, threads: int = 1) -> None:
    with open_records(path) as records:
        record_weights(RUN.on(DOMAIN), records, threads=threads)


def weights_to(suffix: str) -> Callable[[Path], None]:
    def write_them(path: Path) -> None:
        with open_records(path) as records, weights_file(path.with_suffix(suffix)) as into:
            record_weights(RUN.on(DOMAIN), records, into=into)

    return write_them


def timed(work: Callable[[Path], None], path: Path) -> tuple[float, float]:
    """Elapsed time and CPU time, each in seconds."""
    start, used = time.perf_counter(), time.process_time()
    work(path)
    return time.perf_counter() - start, time.process_time() - used


def peak() -> float:
    """The largest resident memory since `forget_peak`, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return float(found[1]) / 1024 if found else float("nan")


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def measured(path: Path, records: int, works: dict[str, Callable[[Path], None]]) -> Table:
    table = Table(title=f"{records:,} records of {COLUMNS} numbers, {path.suffix}; least of {ROUNDS} rounds")
    for name in ("work", "cold s", "warm s", "of reading", "CPU s", "of reading", "10⁶/s", "peak MB"):
        table.add_column(name, justify="left" if name == "work" else "right")
    best: dict[str, tuple[float, float, float]] = {}
    memory: dict[str, float] = {}
    for name, work in works.items():
        cold, warm, used = float("inf"), float("inf"), float("inf")
        forget_peak()
        for _ in range(ROUNDS):
            forget(path)
            cold = min(cold, timed(work, path)[0])
            elapsed, cpu = timed(work, path)
            warm, used = min(warm, elapsed), min(used, cpu)
        best[name], memory[name] = (cold, warm, used), peak()
    _, reading, reading_used = best["records"]
    for name, (cold, warm, used) in best.items():
        cells = [f"{cold:.2f}", f"{warm:.2f}", f"{warm / reading:.2f}", f"{used:.2f}", f"{used / reading_used:.2f}"]
        table.add_row(name, *cells, f"{records / warm / 1e6:.1f}", f"{memory[name]:.0f}")
    return table


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    reading = {
        "bytes": read_bytes,
        "records": read,
        "plain floats": plain,
        "weights": weights,
        "… on 2 threads": partial(weights, threads=2),
    }
    writing = {"… to parquet": weights_to(".out.parquet"), "… to csv": weights_to(".out.csv")}
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        small = Path(folder, "small.npy")
        write_npy(small, 1000)
        weights(small)  # compiles the kernels
        for suffix, write, share, works in (
            (".npy", write_npy, 1, reading | writing),
            (".parquet", write_parquet, 1, reading),
            (".csv", write_csv, 20, reading),
        ):
            path = Path(folder, "records" + suffix)
            write(path, records // share)
            os.sync()
            Console().print(measured(path, records // share, works))
            path.unlink()


if __name__ == "__main__":
    main()
