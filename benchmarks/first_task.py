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
import time
from importlib.util import find_spec
from pathlib import Path

TURNS = 3
TASK = "task"


def task() -> None:
    """Print what this process takes, imports first; they are part of what is measured."""
    start = time.process_time()
    import pyarrow as pa

    import certdp
    from certdp import Public
    from certdp.accounting.draws.by_name import NamedCoins
    from certdp.accounting.sampling.clipping import Outside
    from certdp.engines.batches import KeyDraws, UnitSums

    times = [time.process_time() - start]
    run = certdp.SampledRun(
        mechanism=certdp.LaplaceSum(scale=Public(1000)),
        sampler=certdp.Importance(rate=Public("0.01"), norm=Public(1)),
        domain=certdp.NormBall(norm=certdp.Norm.L1, radius=Public(100)),
    )
    size, users, coins = 100_000, 5_000, NamedCoins.fresh()
    names = [f"user {place % users}" for place in range(size)]
    rows = pa.table({"user_id": names, "x": [2 * place / size - 1 for place in range(size)], "count": [1] * size})
    sums = UnitSums.of(run, rows.column_names, "user_id", ["x"], None, Outside.CLIP)
    keys = KeyDraws(
        sampling=certdp.PrivateWeightedSampling.within(epsilon=1, delta="1e-6"), key="user_id", count="count"
    )

    def add_up() -> None:
        sums.part(sums.records(sums.totals(rows)), coins)

    def keep() -> None:
        keys.kept(keys.counts(rows.select(["user_id", "count"])), coins)

    for call in (add_up, keep) * 2:
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    print(*times)


def main() -> None:
    place = find_spec("certdp.accounting")
    assert place is not None
    brought = (Path(str(place.origin)).parent / "_kernels/ahead.zip").exists()
    print("with the kernels of a wheel" if brought else "without the kernels of a wheel")
    print(f"{'imports':>10}{'sums: first':>14}{'second':>10}{'keys: first':>14}{'second':>10}")
    for _ in range(TURNS):
        with tempfile.TemporaryDirectory() as folder:
            told = {**os.environ, "NUMBA_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}
            found = subprocess.run(
                [sys.executable, __file__, TASK], env=told, stdout=subprocess.PIPE, text=True, check=True
            )
        imports, sums, keys, sums_again, keys_again = map(float, found.stdout.split())
        print(f"{imports:10.2f}{sums:14.2f}{sums_again:10.2f}{keys:14.2f}{keys_again:10.2f}")


if __name__ == "__main__":
    if TASK in sys.argv:
        task()
    else:
        main()
