"""How long the first task of a worker takes that has no compiled kernels of its own: `python benchmarks/first_task.py`.

Each in a process of its own, with an empty folder for compiled kernels: imports, and the first call of what tasks
compute of 5,000 users' rows and of 5,000 keys, beside a second call. Seconds of the processor. A wheel brings compiled
kernels along (`make kernels` in a checkout); without them a first call compiles what it needs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import certdp.accounting

PROGRAM = """
import time
start = time.process_time()
import numpy as np
import pyarrow as pa
import certdp
from certdp import Public
from certdp.accounting.draws.by_name import NamedCoins
from certdp.accounting.sampling.clipping import Outside
from certdp.engines.batches import KeyDraws, UnitSums
imported = time.process_time()
run = certdp.SampledRun(
    mechanism=certdp.LaplaceSum(scale=Public(1000)),
    sampler=certdp.Importance(rate=Public("0.01"), norm=Public(1)),
    domain=certdp.NormBall(norm=certdp.Norm.L1, radius=Public(100)),
)
size, users, coins = 100_000, 5_000, NamedCoins.fresh()
names = [f"user {place % users}" for place in range(size)]
rows = pa.table({"user_id": names, "x": np.linspace(-1, 1, size), "count": np.ones(size, np.int64)})
sums = UnitSums.of(run, rows.column_names, "user_id", ["x"], None, Outside.CLIP)
keys = KeyDraws(
    sampling=certdp.PrivateWeightedSampling.within(epsilon=1, delta="1e-6"), key="user_id", count="count"
)
times = [imported - start]
for _ in range(2):
    for call in (
        lambda: sums.part(sums.records(rows), coins),
        lambda: keys.kept(keys.counts(rows.select(["user_id", "count"])), coins),
    ):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
print(*times)
"""
TURNS = 3


def main() -> None:
    brought = (Path(certdp.accounting.__file__).parent / "_kernels/ahead.zip").exists()
    print("with the kernels of a wheel" if brought else "without the kernels of a wheel")
    print(f"{'imports':>10}{'sums: first':>14}{'second':>10}{'keys: first':>14}{'second':>10}")
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as folder:
            told = {**os.environ, "NUMBA_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}
            found = subprocess.run(
                [sys.executable, "-c", PROGRAM], env=told, stdout=subprocess.PIPE, text=True, check=True
            )
        imports, sums, keys, sums_again, keys_again = map(float, found.stdout.split())
        print(f"{imports:10.2f}{sums:14.2f}{sums_again:10.2f}{keys:14.2f}{keys_again:10.2f}")


if __name__ == "__main__":
    main()
