"""What individual accounting costs: a step for a million records at sixteen orders, ε of each, a filter, nodes.

Elapsed and CPU time of one call, the least of repeated ones; looseness of the table. The kernels are loaded before.
Run: python benchmarks/individual.py [RECORDS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from certdp.accounting.individual.composed import epsilon_of_steps
from certdp.accounting.individual.filter import IndividualFilter
from certdp.accounting.individual.losses import IndividualLosses
from certdp.accounting.individual.nodes import NodeTable
from certdp.accounting.individual.orders import WHOLE_ORDERS, Orders
from certdp.accounting.provenance import Public
from certdp.accounting.units import Delta, Order

GIVEN = Public("rates and shifts of the benchmark")
REAL_ORDERS = Orders(Order(1 + 2.0 ** (k / 2 - 2) // 2**-10 * 2**-10) for k in range(16))
NODE_STEPS, NODE_RECORDS = 1000, 100_000


def least(contender: Callable[[], object], seconds: float = 2.0) -> tuple[float, float]:
    """The least elapsed time and the least CPU time of repeated calls, after a first one."""
    contender()
    elapsed = used = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start, start_used = time.perf_counter(), time.process_time()
        contender()
        elapsed, used = min(elapsed, time.perf_counter() - start), min(used, time.process_time() - start_used)
    return elapsed, used


def losses_of(records: int, threads: int, orders: Orders = WHOLE_ORDERS) -> IndividualLosses:
    return IndividualLosses(records, orders, threads=threads)


def looseness(rate: np.ndarray, shift: float) -> float:
    """The largest relative excess of a bound read from a table over the one computed for the record."""
    tables, each = losses_of(len(rate), 2), losses_of(len(rate), 2)
    tables.step(rate, shift, given=GIVEN)
    each.step(rate, np.full(len(rate), shift), given=GIVEN)
    return max(
        float(np.max(tables.renyi(order).reveal() / each.renyi(order).reveal())) - 1 for order in WHOLE_ORDERS.given
    )


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10**6
    rng = np.random.default_rng(0)
    rate, shift = 10 ** rng.uniform(-4, -0.5, records), 1 / 10 ** rng.uniform(-0.3, 1.3, records)
    table = Table(title=f"{records:,} records, each with its own rate; ms")
    for name in ("work", "threads", "elapsed", "CPU"):
        table.add_column(name, justify="left" if name == "work" else "right")

    def row(name: str, threads: int, contender: Callable[[], object]) -> None:
        elapsed, used = least(contender)
        table.add_row(name, str(threads), f"{elapsed * 1e3:.4g}", f"{used * 1e3:.4g}")

    for threads in (1, 2):
        losses = losses_of(records, threads)
        row("a step, orders 2 … 17, one noise multiplier", threads, partial(losses.step, rate, 1.0, given=GIVEN))
        row("a step, orders 2 … 17, its own each", threads, partial(losses.step, rate, shift, given=GIVEN))
    real = losses_of(records, 2, REAL_ORDERS)
    row("a step, 16 real orders, one noise multiplier", 2, partial(real.step, rate, 1.0, given=GIVEN))
    row("ε of each record at δ = 1e-5", 1, partial(losses.epsilon, Delta("1e-5")))
    account = IndividualFilter(Order(8), 1, records, threads=2)
    row("a step of the filter, its own noise each", 2, partial(account.step, rate, shift))
    console = Console()
    console.print(table)
    start = time.perf_counter()
    losses_of(1, 1).step(0.5, 1.0, given=GIVEN)
    every_octave = np.concatenate([[2.0**-60], rate[:1], [1.0]])
    losses_of(3, 1).step(every_octave, 1.1, given=GIVEN)
    console.print(f"a table of all octaves, orders 2 … 17: {(time.perf_counter() - start) * 1e3:.3g} ms")
    console.print(
        f"looseness of tables, noise multiplier 1: {looseness(rate, 1.0):.2g}, 0.5: {looseness(rate, 2.0):.2g}"
    )
    for digits in (2, 4):
        start = time.perf_counter()
        nodes = NodeTable(epsilon_of_steps(NODE_STEPS, Delta("1e-5")), rate_digits=digits)
        found = nodes.figures(rate[:NODE_RECORDS], 1.0).reveal()
        elapsed = time.perf_counter() - start
        console.print(
            f"ε of {NODE_STEPS} steps by loss distributions, {NODE_RECORDS:,} records, {digits} digits: "
            f"{elapsed:.3g} s, {nodes.nodes.reveal()} nodes, looseness {found.looseness:.2g}"
        )


if __name__ == "__main__":
    main()
