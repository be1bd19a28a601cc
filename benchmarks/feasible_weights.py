"""Largest feasible weights in bulk, beside bisection in Numba and beside the norms they are computed from.

The opponent is Algorithm 1 of IS, corrected (squared A in μ, the bracket of Proposition 12's proof, the feasible end
returned), bisected to a relative 10^-12, in two forms: record by record as one writes it, and at its best, many records
side by side with the library's vectorised expm1. Neither proves anything. Run: python benchmarks/feasible_weights.py
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from bulk_psi import fastest
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from certdp.accounting._kernels import types
from certdp.accounting._kernels.compile import READ, WRITE, kernel
from certdp.accounting._kernels.elementary import expm1_between
from certdp.accounting.bulk import arrays as bulk
from certdp.accounting.expressions import W, log1p, sqrt
from certdp.accounting.feasible_weights import (
    ApproximateTarget,
    RenyiTarget,
    constrained_weight,
    gaussian_weights,
    largest_weights,
)
from certdp.accounting.norms import Norm
from certdp.accounting.sampling.losses import PureLoss
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce

Floats = NDArray[np.float64]
RECORDS, COLUMNS = 566_486, 54
ACCURACY = 1e-12
LANES = 256


@kernel(types.void, READ, types.float64, WRITE)
def bisected(losses: Floats, target: float, out: Floats) -> None:
    """Record by record."""
    odds = math.expm1(target)
    for i in range(losses.size):
        a = losses[i]
        factor = math.exp(a)
        modulus = a * a * factor
        least = min(factor + modulus / 2.0, a * factor + 1.0)
        low, high = 1.0, 2.0 * ((odds + 1.0 - least) / modulus + 1.0)
        while high - low > ACCURACY * high:
            middle = 0.5 * (low + high)
            if math.expm1(a * middle) <= odds * middle:
                low = middle
            else:
                high = middle
        out[i] = low


@kernel(types.void, READ, types.float64, WRITE)
def bisected_side_by_side(losses: Floats, target: float, out: Floats) -> None:
    """In lanes of a vector, without branches."""
    odds = math.expm1(target)
    low, high = np.empty(LANES), np.empty(LANES)
    for start in range(0, losses.size, LANES):
        part = losses[start : start + LANES]
        for i in range(part.size):
            factor = expm1_between(part[i]) + 1.0
            modulus = part[i] * part[i] * factor
            least = min(factor + modulus / 2.0, part[i] * factor + 1.0)
            low[i] = 1.0
            high[i] = min(2.0 * ((odds + 1.0 - least) / modulus + 1.0), 690.0 / part[i])
        wide = True
        while wide:
            wide = False
            for i in range(part.size):
                middle = 0.5 * (low[i] + high[i])
                feasible = expm1_between(part[i] * middle) <= odds * middle
                low[i] = middle if feasible else low[i]
                high[i] = high[i] if feasible else middle
                wide |= high[i] - low[i] > ACCURACY * high[i]
        out[start : start + part.size] = low[: part.size]


def bulk_table() -> Table:
    table = Table(title=f"{RECORDS} records on one core, ms; in brackets how many times slower than certified")
    for name in ("target", "losses", "certified", "gap", "bisection", "side by side", "ℓ1 norms"):
        table.add_column(name, justify="right")
    rng = np.random.default_rng(0)
    records = rng.standard_normal((RECORDS, COLUMNS))
    out = np.empty(RECORDS)
    for opponent in (bisected, bisected_side_by_side):
        opponent(np.full(1, 0.1), 1.0, out[:1])  # compiled before the clock runs
    largest_weights(np.full(1, 0.1), Fraction(1))
    bulk.norms(records[:1], Norm.L1)
    for target, lowest in ((1.0, 1e-3), (1.0, 1e-9), (0.01, 1e-3), (10.0, 1e-3)):
        losses = target * np.exp(rng.uniform(math.log(lowest), math.log(0.9), RECORDS))
        exact = Fraction(target)
        times = fastest(
            [
                lambda losses=losses, exact=exact: largest_weights(losses, exact),  # type: ignore[misc]
                lambda losses=losses, target=target: bisected(losses, target, out),  # type: ignore[misc]
                lambda losses=losses, target=target: bisected_side_by_side(losses, target, out),  # type: ignore[misc]
                lambda: bulk.norms(records, Norm.L1),
            ],
            seconds=2.0,
        )
        own = times[0]
        cells = [f"{t * 1e3:.1f} ({t / own:.1f})" for t in times[1:]]
        gap = largest_weights(losses, exact).gap
        table.add_row(f"{target:g}", f"{lowest:g}·ε* …", f"{own * 1e3:.1f}", f"{gap:.1e}", *cells)
    return table


def gaussian_table() -> Table:
    table = Table(title=f"Gaussian sum, {RECORDS} records on one core, s")
    for name in ("releases", "target", "seconds", "gap"):
        table.add_column(name, justify="right")
    shifts = np.exp(np.random.default_rng(1).normal(-3.0, 0.7, RECORDS)).clip(0.0, 0.25)
    small = ApproximateTarget(epsilon=Fraction(1), delta=Fraction(1, 10**5))
    plans = (
        ("1", "(1, 1e-5)", SampleOnce(1), small, 10),
        ("4 on one sample", "(2, 1e-5)", SampleOnce(4), ApproximateTarget(epsilon=Fraction(2), delta=small.delta), 10),
        ("1", "(8, 1) Rényi", SampleOnce(1), RenyiTarget(order=Fraction(8), tau=Fraction(1)), 10),
        ("10, resampled", "(8, 5) Rényi", ResampleEach(10), RenyiTarget(order=Fraction(8), tau=Fraction(5)), 10),
        (
            "10, resampled",
            "(5, 1e-5), grid 2^-6",
            ResampleEach(10),
            ApproximateTarget(epsilon=Fraction(5), delta=small.delta),
            6,
        ),
    )
    for name, goal, releases, target, bits in plans:
        run = lambda: gaussian_weights(shifts, releases, target, grid_bits=bits)  # noqa: B023, E731 (run at once)
        (seconds,) = fastest([run], seconds=1.0)
        table.add_row(name, goal, f"{seconds:.2f}", f"{run().gap:.1e}")
    return table


def profile_table() -> Table:
    table = Table(title="one record with a profile given as an expression, ms")
    for name in ("ε(w)", "target", "weight", "ms"):
        table.add_column(name, justify="right")
    profiles = (("w/10", W / 10, "1"), ("log(1 + w²)", log1p(W * W), "2"), ("1.2·√w", Fraction("1.2") * sqrt(W), "1.2"))
    for name, loss, target in profiles:
        run = lambda: constrained_weight(PureLoss(loss), {}, Fraction(target))  # noqa: B023, E731 (run at once)
        (seconds,) = fastest([run], seconds=1.0)
        table.add_row(name, target, f"{run().weight!r}", f"{seconds * 1e3:.1f}")
    return table


def main() -> None:
    console = Console()
    for table in (bulk_table, gaussian_table, profile_table):
        console.print(table())


if __name__ == "__main__":
    main()
