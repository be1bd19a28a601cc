"""The certified ψ kernel against the plain NumPy expression, side by side in one process, on one core.

Compared are fresh outputs (the plain expression, the public function) and reused ones (NumPy with `out=`, the kernel
on a given array); NumPy computes the remove direction in both rows. Run: python benchmarks/bulk_psi.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from certdp.accounting._kernels import theorem_6
from certdp.accounting.bulk import arrays as bulk

Floats = NDArray[np.float64]


def fastest(contenders: list[Callable[[], object]], seconds: float = 1.0) -> list[float]:
    """The shortest time of each contender, called in turn for the given time."""
    best = [float("inf")] * len(contenders)
    end = time.perf_counter() + seconds * len(contenders)
    while time.perf_counter() < end:
        for i, contender in enumerate(contenders):
            start = time.perf_counter()
            contender()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def numpy_in_place(loss: Floats, rate: Floats | float, out: Floats) -> None:
    np.expm1(loss, out=out)
    np.multiply(out, rate, out=out)
    np.log1p(out, out=out)


def main() -> None:
    table = Table(title="million records per second on one core; ratios above 1: certified is faster")
    for name in ("records", "rate", "direction", "certified", "NumPy", "ratio", "reused", "NumPy", "ratio"):
        table.add_column(name, justify="right")
    rng = np.random.default_rng(0)
    for size in (10**4, 10**6, 10**7):
        loss = rng.uniform(0.0, 5.0, size)
        out = np.empty(size)
        each = rng.uniform(0.0, 1.0, size)
        for label, rate in (("each", each), ("one", np.array([0.01]))):
            times = fastest(
                [
                    lambda loss=loss, rate=rate: bulk.psi_remove(loss, rate),  # type: ignore[misc]
                    lambda loss=loss, rate=rate, out=out: theorem_6.psi(loss, rate, False, out),  # type: ignore[misc]
                    lambda loss=loss, rate=rate: bulk.psi_add(loss, rate),  # type: ignore[misc]
                    lambda loss=loss, rate=rate, out=out: theorem_6.psi(loss, rate, True, out),  # type: ignore[misc]
                    lambda loss=loss, rate=rate: np.log1p(rate * np.expm1(loss)),  # type: ignore[misc]
                    lambda loss=loss, rate=rate, out=out: numpy_in_place(loss, rate, out),  # type: ignore[misc]
                ]
            )
            speeds = [size / t / 1e6 for t in times]
            fresh, reused = speeds[4:]
            for direction, own, own_reused in zip(("remove", "add"), speeds[0:4:2], speeds[1:4:2], strict=True):
                cells = [f"{own:.0f}", f"{fresh:.0f}", f"{own / fresh:.2f}"]
                cells += [f"{own_reused:.0f}", f"{reused:.0f}", f"{own_reused / reused:.2f}"]
                table.add_row(f"{size:.0e}", label, direction, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
