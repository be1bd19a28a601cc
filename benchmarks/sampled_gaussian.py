"""What the sampled Gaussian costs: kernels per element, ten thousand different ones, and enclosures.

Run: python benchmarks/sampled_gaussian.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from certdp.accounting.bulk.sampled_gaussian import delta_upper, epsilon_upper, renyi_upper
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs.sampled_gaussian_renyi import sampled_gaussian_renyi, sampled_gaussian_renyi_add

MANY = 10_000
STEPS, DELTA = 1000, 1e-5


def fastest(contender: Callable[[], object], seconds: float = 1.0) -> float:
    """The shortest time of repeated calls, after a first one."""
    contender()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        contender()
        best = min(best, time.perf_counter() - start)
    return best


def many() -> tuple[np.ndarray, np.ndarray]:
    """Ten thousand rates from 1e-4 to 0.3 and noise multipliers from 0.5 to 20, log-uniform."""
    rng = np.random.default_rng(0)
    return 10 ** rng.uniform(-4, np.log10(0.3), MANY), 1 / 10 ** rng.uniform(np.log10(0.5), np.log10(20), MANY)


def main() -> None:
    table = Table(title="sampled Gaussian; least time of repeated calls")
    table.add_column("figure")
    table.add_column("ms", justify="right")
    rate, shift = many()
    one, half = Enclosure.of("0.01"), Enclosure.of(1)
    cases: list[tuple[str, Callable[[], object]]] = [
        ("renyi_upper, order 8", partial(renyi_upper, 0.01, 1.0, 8.0)),
        ("epsilon_upper, one", partial(epsilon_upper, 0.01, 1.0, STEPS, DELTA)),
        ("delta_upper, one", partial(delta_upper, 0.01, 1.0, STEPS, 2.0)),
        ("epsilon_upper, 10,000 different, 1 thread", partial(epsilon_upper, rate, shift, STEPS, DELTA)),
        ("epsilon_upper, 10,000 different, 2 threads", partial(epsilon_upper, rate, shift, STEPS, DELTA, threads=2)),
    ]
    for order in (Fraction(8), Fraction(5, 2)):
        for name, law in (("remove", sampled_gaussian_renyi), ("add", sampled_gaussian_renyi_add)):
            cases.append((f"enclosure at order {order}, 128 bits, {name}", partial(law, one, half, order)))
    for name, contender in cases:
        table.add_row(name, f"{fastest(contender) * 1e3:.4g}")
    Console().print(table)


if __name__ == "__main__":
    main()
