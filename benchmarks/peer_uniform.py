"""Uniform Poisson sampling of the Laplace mechanism: the certified ε beside dp-accounting's loss distribution at δ = 0.

The closed form is log(1 + q(e^ε − 1)). dp-accounting rounds losses up to multiples of an interval; its figure is an
upper bound that approaches the closed form as the interval shrinks. It needs an older attrs than certdp, so it runs
in an interpreter of its own; the two take their turns one after the other. Times are CPU time, the
least of repeated calls. Run: python benchmarks/peer_uniform.py PYTHON, PYTHON being an
interpreter that has dp-accounting.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

_CASES = [(epsilon, rate) for epsilon in (0.5, 1.0, 5.0) for rate in (0.01, 0.5)]
_INTERVALS = (1e-4, 1e-5)


def timed(contender: Callable[[], float], seconds: float = 2.0) -> tuple[float, float]:
    """What a contender returns, and its least CPU time in ms after a first call."""
    value = contender()
    best, now = float("inf"), time.process_time()
    end = now + seconds
    while now < end:
        start = now
        contender()
        now = time.process_time()
        best = min(best, now - start)
    return value, best * 1e3


def peer(epsilon: float, rate: float, interval: float) -> float:
    """dp-accounting's ε."""
    from dp_accounting.pld import privacy_loss_distribution

    distribution = privacy_loss_distribution.from_laplace_mechanism(
        1 / epsilon, sampling_prob=rate, value_discretization_interval=interval
    )
    return float(distribution.get_epsilon_for_delta(0))


def own(epsilon: float, rate: float) -> float:
    """The certified ε of a count with scale 1/ε."""
    import certdp

    run = certdp.SampledRun(
        mechanism=certdp.Count(scale=certdp.Public(1 / epsilon)), sampler=certdp.Poisson(rate=certdp.Public(rate))
    )
    domain = certdp.NormBall(norm=run.norm, radius=certdp.Public(1))
    return run.on(domain).pure().bound.epsilon.upper_float


def peer_figures() -> None:
    figures = [[timed(partial(peer, *case, interval)) for interval in _INTERVALS] for case in _CASES]
    json.dump(figures, sys.stdout)


def main(interpreter: str) -> None:
    from rich.console import Console
    from rich.table import Table

    answer = subprocess.run([interpreter, __file__, "--figures"], stdout=subprocess.PIPE, check=True)
    table = Table(title="ε of the sampled Laplace mechanism; CPU ms per figure; ratios above 1: certdp is faster")
    for heading in ("ε", "q", "certified", "ms"):
        table.add_column(heading, justify="right")
    for interval in _INTERVALS:
        for heading in (f"dp-accounting {interval:.0e}", "above", "ms", "ratio"):
            table.add_column(heading, justify="right")
    for case, figures in zip(_CASES, json.loads(answer.stdout), strict=True):
        bound, milliseconds = timed(partial(own, *case))
        cells = [*map(str, case), f"{bound:.12g}", f"{milliseconds:.2f}"]
        for value, peer_milliseconds in figures:
            cells += [f"{value:.6g}", f"{value / bound - 1:.0e}"]
            cells += [f"{peer_milliseconds:.1f}", f"{peer_milliseconds / milliseconds:.1f}"]
        table.add_row(*cells)
    Console(width=150).print(table)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--figures"]:
            peer_figures()
        case [interpreter]:
            main(interpreter)
        case _:
            raise SystemExit("Usage: python benchmarks/peer_uniform.py PYTHON (an interpreter that has dp-accounting)")
