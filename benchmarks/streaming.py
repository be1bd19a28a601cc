"""Weights of ten million records of a file, beside reading the file: time and the largest memory of the process.

Rows: the bytes alone, in blocks of 8 MiB; the records, checked; their weights within a target ε, over a public domain
outside of which some are clipped; the same with the weights written. Cold: the file is not in the system's cache
before. Ratios are to the bytes alone. Run: python benchmarks/streaming.py [RECORDS] [FOLDER]; the folder needs 64 bytes
per record and as much again.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from certdp import LaplaceSum, NormBall, Public, SampledMechanism
from certdp.data import open_records
from certdp.samplers.privacy_constrained import PrivacyConstrained
from certdp.weighting import weigh, weights_file

COLUMNS, BLOCK, ROUNDS = 8, 1 << 23, 3
RUN = SampledMechanism(mechanism=LaplaceSum(scale=Public(20)), sampler=PrivacyConstrained(target=Public(1)))
DOMAIN = NormBall(norm=RUN.norm, radius=Public(10))


def write(path: Path, records: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (records, COLUMNS)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, records, 10**6):
            rng.normal(size=(min(10**6, records - start), COLUMNS)).tofile(file)
        file.flush()
        os.fsync(file.fileno())


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


def weights(path: Path) -> None:
    with open_records(path) as records:
        weigh(RUN, records, DOMAIN)


def weights_to(suffix: str) -> Callable[[Path], None]:
    def write_them(path: Path) -> None:
        with open_records(path) as records, weights_file(path.with_suffix(suffix)) as into:
            weigh(RUN, records, DOMAIN, into=into)

    return write_them


def timed(work: Callable[[Path], None], path: Path) -> tuple[float, float]:
    """Elapsed time and CPU time, each in seconds."""
    start, used = time.perf_counter(), time.process_time()
    work(path)
    return time.perf_counter() - start, time.process_time() - used


def peak() -> float:
    """The largest resident memory so far, in MB."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return float(found[1]) / 1024 if found else float("nan")


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    table = Table(title=f"{records:,} records of {COLUMNS} numbers in an npy file; least of {ROUNDS} rounds")
    for name in ("work", "cold s", "ratio", "warm s", "ratio", "CPU s", "million/s", "peak MB"):
        table.add_column(name, justify="left" if name == "work" else "right")
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) > 2 else None) as folder:
        path = Path(folder, "records.npy")
        small = Path(folder, "small.npy")
        write(small, 1000)
        weights(small)  # compiles the kernels
        write(path, records)
        bytes_alone = (float("nan"), float("nan"))
        for name, work in (
            ("bytes", read_bytes),
            ("records", read),
            ("weights", weights),
            ("… to parquet", weights_to(".parquet")),
            ("… to csv", weights_to(".csv")),
        ):
            cold, warm, used = float("inf"), float("inf"), float("inf")
            for _ in range(ROUNDS):
                forget(path)
                cold = min(cold, timed(work, path)[0])
                elapsed, cpu = timed(work, path)
                warm, used = min(warm, elapsed), min(used, cpu)
            if work is read_bytes:
                bytes_alone = (cold, warm)
            cells = [f"{cold:.2f}", f"{cold / bytes_alone[0]:.2f}", f"{warm:.2f}", f"{warm / bytes_alone[1]:.2f}"]
            cells += [f"{used:.2f}", f"{records / warm / 1e6:.1f}", f"{peak():.0f}"]
            table.add_row(name, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
