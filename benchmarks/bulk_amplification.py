"""Certified amplification per record against plain NumPy and SciPy expressions of the same formulas, on one core.

SciPy's δ and ε lose all digits where δ is far below 2^-53; here no case is chosen for that. The plain ε is found by 60
bisections of the plain δ, all records at once. Run: python benchmarks/bulk_amplification.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from scipy.special import gammaln, logsumexp, ndtr

from certdp.accounting.bulk import amplification as amplification

Floats = NDArray[np.float64]


def fastest(contenders: list[Callable[[], object]], seconds: float = 1.5) -> list[float]:
    """The shortest time of each contender, called in turn for the given time."""
    best = [float("inf")] * len(contenders)
    end = time.perf_counter() + seconds * len(contenders)
    while time.perf_counter() < end:
        for i, contender in enumerate(contenders):
            start = time.perf_counter()
            contender()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def plain_gaussian_delta(rate: Floats, shift: Floats, epsilon: Floats | float) -> Floats:
    level = np.log1p(np.expm1(epsilon) / rate)
    ratio = level / shift
    below: Floats = ndtr(shift / 2 - ratio) - np.exp(level) * ndtr(-shift / 2 - ratio)
    return rate * below


def plain_gaussian_epsilon(rate: Floats, shift: Floats, delta: float) -> Floats:
    low, high = np.zeros_like(rate), np.full_like(rate, 60.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        private = plain_gaussian_delta(rate, shift, middle) <= delta
        low, high = np.where(private, low, middle), np.where(private, middle, high)
    return high


def plain_laplace_delta(rate: Floats, shift: Floats, epsilon: float) -> Floats:
    level = np.log1p(np.expm1(epsilon) / rate)
    return -rate * np.expm1(np.minimum(level - shift, 0.0) / 2)


def plain_sampled_moments(moments: Floats, rate: Floats) -> Floats:
    order = moments.shape[1] + 1
    k = np.arange(order + 1)
    binomials = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    known = np.concatenate([np.zeros((len(moments), 2)), moments], axis=1)
    powers = binomials + np.outer(np.log(rate), k) + np.outer(np.log1p(-rate), order - k) + known
    total: Floats = logsumexp(powers, axis=1)
    return total


def main() -> None:
    rng = np.random.default_rng(0)
    size = 10**5
    rate, shift = 10.0 ** rng.uniform(-3, -0.1, size), rng.uniform(0.05, 3.0, size)
    rows: dict[str, tuple[int, Callable[[], object], Callable[[], object]]] = {
        "Gaussian δ at ε = 1": (
            size,
            lambda: amplification.gaussian_delta(rate, shift, 1.0),
            lambda: plain_gaussian_delta(rate, shift, 1.0),
        ),
        "Laplace δ at ε = 0.5": (
            size,
            lambda: amplification.laplace_delta(rate, shift, 0.5),
            lambda: plain_laplace_delta(rate, shift, 0.5),
        ),
        "Gaussian ε at δ = 1e-6": (
            size,
            lambda: amplification.gaussian_epsilon(rate, shift, 1e-6),
            lambda: plain_gaussian_epsilon(rate, shift, 1e-6),
        ),
    }
    for order in (8, 32):
        fewer = size // 10
        moments = np.stack([amplification.laplace_moments(shift[:fewer], k) for k in range(2, order + 1)], axis=1)
        rows[f"log-moments at order {order}"] = (
            fewer,
            lambda moments=moments, q=rate[:fewer]: amplification.sampled_moments(moments, q),  # type: ignore[misc]
            lambda moments=moments, q=rate[:fewer]: plain_sampled_moments(moments, q),  # type: ignore[misc]
        )
    table = Table(title="nanoseconds per record on one core; ratios above 1: certified is faster")
    for name in ("", "certified", "NumPy and SciPy", "ratio"):
        table.add_column(name, justify="right")
    for name, (count, certified, plain) in rows.items():
        own, other = fastest([certified, plain])
        table.add_row(name, f"{own / count * 1e9:.0f}", f"{other / count * 1e9:.0f}", f"{other / own:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
