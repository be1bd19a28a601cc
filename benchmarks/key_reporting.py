"""Tables and releases of private weighted sampling against transcriptions of the paper, side by side in one process.

The transcription of Algorithm 4 is in two forms: loops with running sums, as the paper writes it, and whole rows in
NumPy, where the running sums of lower limits are a running maximum; so is that of Equation 9.
Run: python benchmarks/key_reporting.py
"""

from __future__ import annotations

import math
import resource
import time
from collections.abc import Callable
from itertools import islice

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from certdp.accounting.keyed.estimates import Total, likeliest_estimates
from certdp.accounting.keyed.reporting import (
    EveryKey,
    FrequencyNoise,
    FrequencyTable,
    Inclusion,
    KeyTable,
    PoissonPps,
    Ppswor,
    Reporting,
)
from certdp.accounting.units import Delta, Epsilon
from certdp.plugins.contract import Coins
from certdp.weighted_sampling.drawing import ReportDrawer, draw_reports

ROUNDS = 5
ROWS = 1000


def fastest(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The shortest processor time in seconds."""
    best = math.inf
    for _ in range(rounds):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def algorithm_4_in_loops(epsilon: float, delta: float, last: int) -> list[list[float]]:
    """PWS Algorithm 4 at q ≡ 1, row by row and token by token, with running sums."""
    up, down = math.exp(epsilon), math.exp(-epsilon)
    rows, before = [[1.0]], 0.0
    for i in range(1, last + 1):
        total = min(1.0, up * before + delta, 1 + down * (before + delta - 1))
        old, new = rows[-1], [1 - total] + [0.0] * i
        gap = max(down * old[0] - new[0], 0.0)
        below = lower = 0.0
        for j in range(1, i):
            below += old[j]
            new[j] = max(down * (below - delta) - lower + gap, 0.0)
            lower += new[j]
        rest, above, upper = total - lower, 0.0, 0.0
        for j in range(i, 0, -1):
            if rest <= 0:
                break
            above += old[j] if j < i else 0.0
            room = up * above + delta - upper - new[j]
            added = min(room, rest)
            new[j] += added
            rest -= added
            upper += new[j]
        rows.append(new)
        before = total
    return rows


def algorithm_4_in_rows(epsilon: float, delta: float, last: int) -> list[np.ndarray]:
    """The same with whole rows in NumPy."""
    up, down = math.exp(epsilon), math.exp(-epsilon)
    rows, before = [np.array([1.0])], 0.0
    for i in range(1, last + 1):
        total = min(1.0, up * before + delta, 1 + down * (before + delta - 1))
        old = np.append(rows[-1][1:], 0.0)
        gap = max(down * rows[-1][0] - (1 - total), 0.0)
        least = np.maximum.accumulate(np.maximum(down * (np.cumsum(old) - delta) + gap, 0.0))
        least[-1] = least[-2] if i > 1 else 0.0
        most = up * np.cumsum(old[::-1])[::-1] + delta
        # from above: as much as the upper limits allow until what is left is the lower limits of the rest
        above = np.minimum(most, total - np.concatenate([[0.0], least[:-1]]))
        above = np.append(np.maximum.accumulate(above[::-1])[::-1], 0.0)
        rows.append(np.concatenate([[1 - total], above[:-1] - above[1:]]))
        before = total
    return rows


def equation_9_in_loops(epsilon: float, delta: float, tokens: int, last: int) -> list[float]:
    """PWS Equation 9 over the rows of Algorithm 4 up to `last`, where none of these tokens is reported any more."""
    best = [(0.0, 0.0)] * tokens
    for frequency, row in enumerate(algorithm_4_in_loops(epsilon, delta, last)[1:], start=1):
        reported = 1 - row[0]
        for token, probability in enumerate(row[1 : tokens + 1]):
            if probability > best[token][0]:
                best[token] = probability, frequency / reported
    return [value for _, value in best]


def equation_9_in_rows(epsilon: float, delta: float, tokens: int, last: int) -> list[float]:
    """The same with whole rows in NumPy."""
    best, values = np.zeros(tokens), np.zeros(tokens)
    for frequency, row in enumerate(algorithm_4_in_rows(epsilon, delta, last)[1:], start=1):
        told = row[1 : tokens + 1]
        better = np.flatnonzero(told > best[: len(told)])
        best[better], values[better] = told[better], frequency / (1 - row[0])
    return list(values)


def noise(epsilon: str, delta: str, subdivision: int = 0) -> FrequencyNoise:
    """The table at q ≡ 1."""
    return FrequencyNoise(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=subdivision)


def table_of(inclusion: Inclusion, epsilon: str, delta: str) -> KeyTable:
    """The keys' table."""
    return KeyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), inclusion=inclusion)


def tables(console: Console) -> None:
    """Algorithm 4 and Equation 9."""
    shown = Table(title="Tables: processor milliseconds, and the transcription's over ours")
    for name in ("what", "ours", "loops", "ratio", "rows in NumPy", "ratio"):
        shown.add_column(name, justify="left" if name == "what" else "right")
    loops = fastest(lambda: algorithm_4_in_loops(0.1, 0.01, ROWS), 2)
    whole = fastest(lambda: algorithm_4_in_rows(0.1, 0.01, ROWS))
    general = FrequencyTable(epsilon=Epsilon("0.1"), delta=Delta("0.01"))
    for name, ours in (
        ("Algorithm 4, 1000 rows, (0.1, 0.01), q ≡ 1: every row at once, proven", lambda: noise("0.1", "0.01")),
        ("the same, 1000 rows written out", lambda: list(noise("0.1", "0.01").at(range(1, ROWS + 1)))),
        ("the same by the recursion for any q, each row proven", lambda: list(islice(general.rows(), ROWS))),
    ):
        taken = fastest(ours)
        cells = (taken * 1e3, loops * 1e3, loops / taken, whole * 1e3, whole / taken)
        shown.add_row(name, *(f"{cell:.3g}" for cell in cells))
    tokens = 2000
    last = tokens + noise("0.01", "1e-6").band
    loops = fastest(lambda: equation_9_in_loops(0.01, 1e-6, tokens, last), 1)
    whole = fastest(lambda: equation_9_in_rows(0.01, 1e-6, tokens, last), 1)
    taken = fastest(lambda: likeliest_estimates(noise("0.01", "1e-6", 32), Total(), tokens))
    shown.add_row(
        f"Equation 9 for {tokens} frequencies, (0.01, 1e-6), with the table",
        *(f"{cell:.3g}" for cell in (taken * 1e3, loops * 1e3, loops / taken, whole * 1e3, whole / taken)),
    )
    console.print(shown)


def releases(console: Console) -> None:
    """π and drawing for a million frequencies, and ten million keys."""
    shown = Table(title="Release: processor seconds, keys a second, largest memory so far")
    for name in ("what", "table and draw", "keys a second", "GB"):
        shown.add_column(name, justify="left" if name == "what" else "right")
    coins = Coins()
    frequencies = np.arange(1, 1_000_001, dtype=np.uint64)
    generator = np.random.default_rng(0)
    many = np.minimum(generator.zipf(1.5, 10_000_000), 1_000_000).astype(np.uint64)
    kinds: dict[str, Inclusion] = {
        "every key": EveryKey(),
        "ppswor, τ = 1e-3": Ppswor(threshold="0.001"),
        "PPS, τ = 1e-5": PoissonPps(threshold="0.00001"),
    }
    cases: list[tuple[str, Callable[[], Reporting], np.ndarray]] = [
        (f"each frequency to 1,000,000, keys, {name}", lambda kind=kind: table_of(kind, "0.01", "1e-6"), frequencies)
        for name, kind in kinds.items()
    ]
    cases += [
        (f"10,000,000 keys, Zipf, {name}", lambda kind=kind: table_of(kind, "0.1", "1e-6"), many)
        for name, kind in kinds.items()
    ]
    cases.append(("10,000,000 keys with frequencies, Zipf, every key", lambda: noise("0.1", "1e-6", 32), many))
    for name, make, counts in cases:
        taken = fastest(lambda make=make, counts=counts: draw_reports(make(), counts, coins), 1)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        shown.add_row(name, f"{taken:.2f}", f"{len(counts) / taken:,.0f}", f"{memory:.2f}")
    console.print(shown)


def chunks(console: Console) -> None:
    """Keys in 16 chunks against the same keys in one: rows are computed once for all of them."""
    shown = Table(title="Frequencies by ppswor, Zipf, (ε, 1e-6): processor seconds in one chunk and in 16")
    for name in ("ε, τ, keys", "one chunk", "16 chunks", "ratio"):
        shown.add_column(name, justify="left" if name.startswith("ε") else "right")
    for epsilon, threshold, keys in (("1", "0.01", 1_600_000), ("0.1", "0.01", 1_600_000), ("1", "0.001", 16_000_000)):
        counts = np.minimum(np.random.default_rng(0).zipf(1.5, keys), 1_000_000).astype(np.uint64)

        def draw(pieces: int, epsilon: str = epsilon, threshold: str = threshold, counts: np.ndarray = counts) -> None:
            inclusion = Ppswor(threshold=threshold)
            drawer = ReportDrawer(FrequencyTable(epsilon=Epsilon(epsilon), delta=Delta("1e-6"), inclusion=inclusion))
            for piece in np.array_split(counts, pieces):
                drawer.draw(piece, Coins())

        one, many = (fastest(lambda pieces=pieces: draw(pieces), 2) for pieces in (1, 16))
        shown.add_row(f"{epsilon}, {threshold}, {keys:,}", f"{one:.2f}", f"{many:.2f}", f"{many / one:.2f}")
    console.print(shown)


if __name__ == "__main__":
    pa.set_cpu_count(1)
    terminal = Console(width=160)
    tables(terminal)
    releases(terminal)
    chunks(terminal)
