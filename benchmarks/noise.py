"""What correctly rounded noise costs beside NumPy's floats: nanoseconds of CPU time a draw on one core, in one process.

Contenders take turns; each figure is the least of its rounds. What is certified includes its random words and the
words that the kernel leaves to the exact routine. Run: python benchmarks/noise.py [DRAWS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from certdp.accounting.draws.source import KeyedStream, OperatingSystem
from certdp.plugins.contract import Coins

ROUNDS = 15
SCALES = {"2^-30": Fraction(2**30), "2^-40": Fraction(2**40)}


def least(contenders: dict[str, Callable[[], object]], draws: int) -> dict[str, float]:
    """Nanoseconds a draw of each contender, after a first call of each."""
    for contender in contenders.values():
        contender()
    found = dict.fromkeys(contenders, float("inf"))
    for _ in range(ROUNDS):
        for name, contender in contenders.items():
            start = time.process_time()
            contender()
            found[name] = min(found[name], (time.process_time() - start) / draws * 1e9)
    return found


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 20
    coins, system, generator = Coins(KeyedStream()), Coins(OperatingSystem()), np.random.default_rng()
    table = Table("noise", "grid over scale", "coins", "ns a draw", "NumPy's generator, ns", "times as fast")
    laws = (("Laplace", Coins.laplace_cells, generator.laplace), ("Gaussian", Coins.gaussian_cells, generator.normal))
    for law, cells, floats in laws:
        kinds = [("2^-30", coins, "AES-256"), ("2^-40", coins, "AES-256"), ("2^-30", system, "operating system")]
        contenders: dict[str, Callable[[], object]] = {"NumPy": partial(floats, 0.0, 1.0, draws)}
        contenders |= {f"{grid} {words}": partial(cells, used, SCALES[grid], draws) for grid, used, words in kinds}
        found = least(contenders, draws)
        for grid, _, words in kinds:
            plain, spent = found["NumPy"], found[f"{grid} {words}"]
            table.add_row(law, grid, words, f"{spent:.2f}", f"{plain:.2f}", f"{plain / spent:.2f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
