"""ε of the sampled Gaussian beside the Rényi accountants of dp-accounting and Opacus, in one process, in turns.

Each is asked for ε at δ = 1e-5 after 1000 steps, with its own default orders (that is how it is used), and with the
single best order, which somebody has to find first. Of Opacus only the module with the formulas is loaded, which needs
no torch.

Run: python benchmarks/peer_sampled_gaussian.py PYTHON, PYTHON being an interpreter with dp-accounting, Opacus
(`pip install --no-deps opacus` is enough) and what certdp depends on; certdp is imported from this checkout.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

STEPS, DELTA = 1000, 1e-5
CASES = [(0.01, 1.0), (0.001, 0.8), (0.1, 4.0), (0.004, 0.6)]
SAMPLE = 20  # of the ten thousand, for the peers
OPACUS_ORDERS = [1 + x / 10.0 for x in range(1, 100)] + list(range(12, 64))  # its RDPAccountant.DEFAULT_ALPHAS


def timed(contenders: list[Callable[[], float]], seconds: float = 2.0) -> list[tuple[float, float]]:
    """What each contender returns, and its least CPU time in ms; they take turns."""
    values = [contender() for contender in contenders]
    best = [float("inf")] * len(contenders)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, contender in enumerate(contenders):
            start = time.process_time()
            contender()
            best[i] = min(best[i], time.process_time() - start)
    return [(value, spent * 1e3) for value, spent in zip(values, best, strict=True)]


def google(rate: float, noise: float, orders: list[float] | None = None) -> float:
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(orders)
    accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise)), STEPS)
    return float(accountant.get_epsilon(DELTA))


def opacus_formulas() -> Any:
    """opacus.accountants.analysis.rdp without the rest of opacus, or None."""
    found = importlib.util.find_spec("opacus")
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(found.submodule_search_locations[0], "accountants/analysis/rdp.py")
    spec = importlib.util.spec_from_file_location("opacus_rdp", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def opacus(formulas: Any, rate: float, noise: float, orders: list[float]) -> float:
    rdp = formulas.compute_rdp(q=rate, noise_multiplier=noise, steps=STEPS, orders=orders)
    return float(formulas.get_privacy_spent(orders=orders, rdp=rdp, delta=DELTA)[0])


def own(rate: float, noise: float) -> float:
    from certdp.accounting.bulk.sampled_gaussian import epsilon_upper

    return float(
        epsilon_upper(rate, 1 / noise, STEPS, DELTA)[0]
    )  # all noises here have reciprocals rounded up or exact


def figures() -> None:
    import numpy as np
    from rich.console import Console
    from rich.table import Table

    from certdp.accounting.bulk.sampled_gaussian import epsilon_upper

    warnings.simplefilter("ignore")
    formulas = opacus_formulas()
    peers: dict[str, Callable[..., float]] = {"dp-accounting": google}
    if formulas is not None:
        peers["opacus"] = lambda q, noise, orders=None: opacus(formulas, q, noise, orders or OPACUS_ORDERS)
    table = Table(title="ε at δ = 1e-5, 1000 steps; CPU ms; ratios above 1: certdp is faster")
    for heading in ("q", "σ", "certified", "ms"):
        table.add_column(heading, justify="right")
    for name in peers:
        for heading in (name, "above", "ratio", "one order", "ratio"):
            table.add_column(heading, justify="right")
    for rate, noise in CASES:
        order = float(epsilon_upper(rate, 1 / noise, STEPS, DELTA)[1])
        contenders: list[Callable[[], float]] = [partial(own, rate, noise)]
        for peer in peers.values():
            contenders += [partial(peer, rate, noise), partial(peer, rate, noise, [order])]
        (bound, spent), *others = timed(contenders)
        cells = [f"{rate:g}", f"{noise:g}", f"{bound:.8g}", f"{spent:.3f}"]
        for (value, all_orders), (_, one_order) in zip(others[::2], others[1::2], strict=True):
            cells += [f"{value:.8g}", f"{value / bound - 1:.0e}", f"{all_orders / spent:.0f}"]
            cells += [f"{one_order:.2f} ms", f"{one_order / spent:.1f}"]
        table.add_row(*cells)
    console = Console(width=150)
    console.print(table)

    rng = np.random.default_rng(0)
    rates = 10 ** rng.uniform(-4, np.log10(0.3), 10_000)
    noises = 10 ** rng.uniform(np.log10(0.5), np.log10(20), 10_000)
    shifts = np.nextafter(1 / noises, np.inf)
    start = time.perf_counter()
    bounds, _ = epsilon_upper(rates, shifts, STEPS, DELTA, threads=2)
    whole = time.perf_counter() - start
    console.print(f"10,000 different (q, σ), 2 threads: {whole:.3f} s")
    for name, peer in peers.items():
        start = time.perf_counter()
        found = [peer(float(q), float(noise)) for q, noise in zip(rates[:SAMPLE], noises[:SAMPLE], strict=True)]
        spent = (time.perf_counter() - start) / SAMPLE * len(rates)
        above = sum(value > bound for value, bound in zip(found, bounds[:SAMPLE], strict=True))
        console.print(
            f"  {name}: {spent:.0f} s at the pace of the first {SAMPLE}, {spent / whole:.0f} times as long; "
            f"ε above the certified one in {above}, below it in {sum(np.array(found) < bounds[:SAMPLE])}"
        )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--figures"]:
            figures()
        case [interpreter]:
            source = str(Path(__file__).parents[1] / "src")
            subprocess.run([interpreter, __file__, "--figures"], env={**os.environ, "PYTHONPATH": source}, check=True)
        case _:
            raise SystemExit(
                "Usage: python benchmarks/peer_sampled_gaussian.py PYTHON (it has dp-accounting and opacus)"
            )
