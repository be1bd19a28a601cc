"""What accounting costs: ε by each accountant, calibration of noise, many different steps.

CPU time of one call, the least of repeated ones where they are short. Kernels are loaded before.
Run: python benchmarks/accountants.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

import certdp
from certdp import Delta, Epsilon, Public
from certdp.accounting.accountants import ALL, BEST, Accountant
from certdp.runs.calibration import Budget, Continuous
from certdp.runs.run import Interval

STEPS, DELTA = 1000, Delta("1e-5")
MANY = 10**6


def training(noise: Fraction | str = "1") -> certdp.SampledRun:
    """1,000 steps of the sampled Gaussian mechanism at the rate 0.01."""
    return certdp.SampledRun(
        mechanism=certdp.GaussianSum(noise_multiplier=Public(noise)),
        sampler=certdp.Poisson(rate=Public("0.01")),
        releases=certdp.ResampleEach(STEPS),
    )


def least(contender: Callable[[], object], seconds: float = 2.0) -> float:
    """The least CPU time of repeated calls, after a first one."""
    contender()
    used, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.process_time()
        contender()
        used = min(used, time.process_time() - start)
    return used


def answer_of_fresh_run(accountant: Accountant) -> certdp.Answer:
    """Of a fresh run, in which nothing is kept."""
    return training().epsilon(DELTA, accountant=accountant)


def calibrated() -> certdp.Calibration[certdp.SampledRun]:
    """The least noise for ε = 1."""
    return certdp.calibrate(training, Budget(epsilon=Epsilon(1), delta=DELTA), Continuous())


def of_many_steps(*, scattered: bool) -> tuple[float, Interval]:
    """CPU time and ε of different steps: on two schedules, or each with a rate and noise at random."""
    rates, noise = np.linspace(1e-4, 1e-3, MANY), np.linspace(1.0, 4.0, MANY)
    if scattered:
        rng = np.random.default_rng(0)
        rates, noise = rng.permutation(rates), rng.permutation(noise)
    start = time.process_time()
    run = certdp.GaussianSteps(rates=Public(rates), noise_multipliers=Public(noise))
    found = run.epsilon(Delta("1e-6")).epsilon
    return time.process_time() - start, found


def main() -> None:
    console = Console()
    table = Table(title=f"{STEPS:,} steps at the rate 0.01, noise multiplier 1, δ = 1e-5; CPU ms")
    for name in ("accountant", "ε", "CPU"):
        table.add_column(name, justify="left" if name == "accountant" else "right")
    for accountant in (*ALL, BEST):
        used = least(partial(answer_of_fresh_run, accountant))
        table.add_row(accountant.name, f"{answer_of_fresh_run(accountant).epsilon.upper:.6g}", f"{used * 1e3:.3g}")
    with_rows = least(lambda: answer_of_fresh_run(BEST).compared.rows)
    table.add_row("best, and all others looked at", "", f"{with_rows * 1e3:.3g}")
    console.print(table)
    used = least(calibrated, 4.0)
    console.print(f"calibration of σ for ε = 1: {used:.3g} s, σ = {float(calibrated().value):.9g}")
    for scattered in (False, True):
        used, found = of_many_steps(scattered=scattered)
        console.print(
            f"{MANY:,} different steps {'at random' if scattered else 'on a schedule'}: "
            f"{used:.3g} s, {found.lower} ≤ ε ≤ {found.upper}"
        )


if __name__ == "__main__":
    main()
