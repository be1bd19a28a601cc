"""What exact noise costs beside NumPy's floats and OpenDP: nanoseconds of CPU time a draw on one core, in one process.

Contenders take turns; each figure is the least of its rounds. What is certified includes its random words and the
words that the kernel leaves to the exact routine; exact sums stand beside products in binary64. OpenDP comes with the
extra bench.

Run: python benchmarks/noise.py [DRAWS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from certdp.accounting.draws.source import KeyedStream, OperatingSystem
from certdp.accounting.norms import Norm
from certdp.mechanisms.lattice import lattice_sum
from certdp.mechanisms.lp_sum import lp_noise
from certdp.plugins.contract import Coins, WeightedSample

ROUNDS = 15
WHOLE = (10, 1000, 10**6)
PEER = 4096  # entries of a vector for the peer
SCALES = {"2^-30": Fraction(2**30), "2^-40": Fraction(2**40)}


def least(contenders: dict[str, Callable[[], object]], draws: int, *, rounds: int = ROUNDS) -> dict[str, float]:
    """Nanoseconds a draw of each contender, after a first call of each."""
    for contender in contenders.values():
        contender()
    found = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, contender in contenders.items():
            start = time.process_time()
            contender()
            found[name] = min(found[name], (time.process_time() - start) / draws * 1e9)
    return found


def peer(draws: int) -> None:
    """Vectors with noise at equal grids and scales, beside OpenDP's vector mechanisms, where that is installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        print("OpenDP is not installed: no comparison")
        return
    dp.enable_features("contrib")
    coins, values = Coins(KeyedStream()), {float: [0.0] * PEER, int: [0] * PEER}

    def theirs(make: Callable[..., Any], distance: Any, of: type, **options: Any) -> Callable[[], object]:
        atoms = dp.atom_domain(T=float, nan=False) if of is float else dp.atom_domain(T=int)
        return partial(make(dp.vector_domain(atoms, size=PEER), distance(T=of), **options), values[of])

    table = Table("noise", "OpenDP's, ns", "certdp's, ns", "times as fast", title="beside OpenDP's vector mechanisms")
    for law, make, distance, real, whole in (
        ("Laplace", dp.m.make_laplace, dp.l1_distance, coins.laplace_cells, coins.discrete_laplace_cells),
        ("Gaussian", dp.m.make_gaussian, dp.l2_distance, coins.gaussian_cells, coins.discrete_gaussian_cells),
    ):
        rows = [(f"{law}, grid 2^{k}", {"scale": 1.0, "k": k}, float, real, Fraction(2**-k)) for k in (-30, -40)]
        rows += [(f"discrete {law}, scale {s}", {"scale": float(s)}, int, whole, Fraction(s)) for s in WHOLE]
        for name, options, of, ours, scale in rows:
            other = least({"OpenDP": theirs(make, distance, of, **options)}, PEER)["OpenDP"]
            own = least({"certdp": partial(ours, scale, draws)}, draws)["certdp"]
            table.add_row(name, f"{other:.0f}", f"{own:.2f}", f"{other / own:.0f}")
    Console(width=100).print(table)


def vectors(draws: int) -> None:
    """Vectors of density ∝ e^(−‖ζ‖_p), nanoseconds a coordinate, beside the same law in binary64."""
    coins = Coins(KeyedStream())
    table = Table("order", "coordinates", "binary64, ns", "correctly rounded, ns", title="lp noise at a grid of 2^-30")
    for order in ("2", "3/2", "inf"):
        for size in (2, 10, 100):
            count = draws // size
            contenders: dict[str, Callable[[], object]] = {
                "floats": partial(lp_noise, Norm(order), Fraction(1), (count, size), coins),
                "cells": partial(coins.lp_cells, Norm(order), SCALES["2^-30"], count, size),
            }
            found = least(contenders, count * size, rounds=3)
            table.add_row(order, str(size), f"{found['floats']:.0f}", f"{found['cells']:.0f}")
    Console(width=100).print(table)


def sums() -> None:
    """Weighted sums in whole units of a grid beside the product of matrices in binary64, nanoseconds an entry."""
    random = np.random.default_rng(1)
    table = Table("rows", "columns", "exact, ns", "product, ns", "ratio", title="sums on a grid of 2^-30")
    for rows, columns in ((10**6, 1), (10**6, 2), (10**6, 3), (10**6, 10), (10**5, 100)):
        records, weights = random.normal(size=(rows, columns)), random.uniform(1, 5, rows)
        contenders: dict[str, Callable[[], object]] = {
            "exact": partial(lattice_sum, WeightedSample(records, weights), Fraction(1, 2**30)),
            "product": partial(np.matmul, weights, records),
        }
        found = least(contenders, rows * columns)
        exact, product = found["exact"], found["product"]
        table.add_row(f"{rows:,}", str(columns), f"{exact:.2f}", f"{product:.2f}", f"{exact / product:.1f}")
    Console(width=100).print(table)


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
    sums()
    vectors(draws // 8)
    peer(draws)


if __name__ == "__main__":
    main()
