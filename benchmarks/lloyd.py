"""DPKMeans against scikit-learn's KMeans: ten iterations, side by side in one process, on the same threads.

KMeans starts from given centres, so that its iterations alone are timed, and once as it comes (k-means++). The whole
fit of DPKMeans is timed: proof of ε, certificate, clipping, drawing, iterations, and the owner's labels.
Run: python benchmarks/lloyd.py [rows columns clusters]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from certdp.accounting.provenance import Public
from certdp.clustering import DPKMeans
from certdp.samplers.importance import Importance

ROUNDS = 5
ITERATIONS = 10


def fastest(contenders: dict[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """The shortest wall and processor time of each contender, called in turn."""
    best = dict.fromkeys(contenders, (float("inf"), float("inf")))
    for _ in range(ROUNDS):
        for name, contender in contenders.items():
            start = time.perf_counter(), time.process_time()
            contender()
            taken = time.perf_counter() - start[0], time.process_time() - start[1]
            best[name] = min(best[name][0], taken[0]), min(best[name][1], taken[1])
    return best


def records_in_a_ball(rows: int, columns: int) -> Any:
    generator = np.random.default_rng(0)
    directions = generator.standard_normal((rows, columns))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True) * generator.uniform(0, 1, (rows, 1))


def main(rows: int = 142_107, columns: int = 74, clusters: int = 25) -> None:
    warnings.simplefilter("ignore")  # KMeans warns that ten iterations are few
    records = records_in_a_ball(rows, columns)
    given: dict[str, Any] = {"n_clusters": clusters, "max_iter": ITERATIONS, "n_init": 1, "tol": 0}
    floor = Importance(rate=Public("0.1"), norm=Public(2), floor=Public("0.02"))

    def private(jobs: int, **options: Any) -> Callable[[], object]:
        return lambda: DPKMeans(clusters, epsilon=1, radius=1, max_iter=ITERATIONS, n_jobs=jobs, **options).fit(records)

    table = Table(title=f"{rows} × {columns}, {clusters} clusters, {ITERATIONS} iterations: seconds, ratio to KMeans")
    for name in ("threads", "contender", "seconds", "ratio", "processor seconds", "ratio"):
        table.add_column(name, justify="right")
    for threads in (1, 2):
        with threadpool_limits(threads):
            times = fastest(
                {
                    "KMeans, given centres": lambda: KMeans(init=records[:clusters].copy(), **given).fit(records),
                    "KMeans, k-means++": lambda: KMeans(**given).fit(records),
                    "DPKMeans, every record": private(threads),
                    "DPKMeans, uniform sample of 1/10": private(threads, sample_size=1, population=10),
                    "DPKMeans, importance sample": private(threads, sampler=floor),
                }
            )
        peer = times["KMeans, given centres"]
        for name, taken in times.items():
            cells = [cell for a, b in zip(taken, peer, strict=True) for cell in (f"{a:.3f}", f"{a / b:.2f}")]
            table.add_row(str(threads), name, *cells)
    Console().print(table)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
