"""The certified supremum of ψ over a public domain beside the largest float on a grid, as plots and searches use it.

A grid reports a lower bound: what it misses between its points is missing from the ε it states. The grid has the
given number of points in all, spread evenly over the domain's coordinates, ends included, for the declared
probabilities and weights; the certified figure also covers the roundings of those really used. Times are CPU
time, the least of repeated calls that take turns. Run: python benchmarks/supremum.py
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from attrs import frozen
from rich.console import Console
from rich.table import Table

import certdp
from certdp.accounting.expressions import Symbol, evaluate, maximum, minimum, norm, substitute, variables
from certdp.plugins.contract import SamplingRate

_GRIDS = (100, 10**5)
_ROUNDS = 9

Profile = certdp.guarantees.PureProfile[certdp.guarantees.AddRemove, certdp.guarantees.Record]


@frozen
class Case:
    name: str
    profile: Profile
    domain: certdp.NormBall


def sampled(name: str, mechanism: certdp.Mechanism, sampler: certdp.Sampler, dimension: int | None = None) -> Case:
    run = certdp.SampledRun(mechanism=mechanism, sampler=sampler)
    return Case(name, run.profile, certdp.NormBall(norm=run.norm, radius=certdp.Public(5), dimension=dimension))


def cases() -> list[Case]:
    public = certdp.Public
    total, count = certdp.LaplaceSum(scale=public(1)), certdp.Count(scale=public(1))
    tenth, slope, floor = public("0.1"), public("0.3"), public("0.05")
    ball = certdp.NormBall(norm=certdp.Norm.L1, radius=public(5))
    falling = SamplingRate(maximum(0, minimum(1, 1 - norm(1) / 5)), weighted=False)
    beyond = norm(1) - Fraction("1.7")
    distance = maximum(beyond, -beyond)
    by_distance = SamplingRate(minimum(1, maximum(Fraction("0.01"), distance * slope.value)), weighted=True)
    return [
        sampled("laplace-sum × poisson, 0.1", total, certdp.Poisson(rate=tenth)),
        sampled("laplace-sum × weighted poisson, 0.1", total, certdp.Poisson(rate=tenth, weighted=public(True))),
        sampled("laplace-sum × importance, ℓ1", total, certdp.Importance(rate=slope)),
        sampled("laplace-sum × importance, ℓ2, d = 10", total, certdp.Importance(rate=slope, norm=public(2)), 10),
        sampled("count × poisson, 0.1", count, certdp.Poisson(rate=tenth)),
        sampled("count × importance, floor 0.05", count, certdp.Importance(rate=slope, floor=floor)),
        sampled("count × importance, no floor", count, certdp.Importance(rate=slope)),
        Case("laplace-sum × q = 1 − ‖x‖₁/5", certdp.sampling.theorem_6(total.loss, falling), ball),
        Case("laplace-sum × q = max(0.01, 0.3·|‖x‖₁ − 1.7|)", certdp.sampling.theorem_6(total.loss, by_distance), ball),
    ]


def largest_on_grid(case: Case, points: int) -> float:
    """The largest float ψ on a grid over the domain; undefined values are passed over."""
    meaning, box = case.domain.box(variables(case.profile.remove))
    root = substitute(case.profile.remove, meaning)
    norms = [v for v in box if v.symbol is not Symbol.ROUNDING]
    side = round(points ** (1 / max(len(norms), 1)))
    ends = [(float(box[v].lower or 0), float(box[v].upper or 0)) for v in norms]
    axes = np.meshgrid(*(np.linspace(low, high, side) for low, high in ends), sparse=True)
    values = dict(zip(norms, axes, strict=True))
    declared = {v: np.zeros(()) for v in box if v.symbol is Symbol.ROUNDING}
    with np.errstate(all="ignore"):
        return float(np.nanmax(evaluate(root, {**values, **declared})))


def certified(case: Case) -> float:
    """The certified ε, inf where none is finite."""
    try:
        return case.profile.supremum(case.domain)[1].enclosure.upper_float
    except certdp.sampling.NoFiniteSupremum:
        return math.inf


def least_cpu_seconds(contenders: Sequence[Callable[[], object]]) -> list[float]:
    """The least CPU time of each contender, called in turn."""
    best = [math.inf] * len(contenders)
    for _ in range(_ROUNDS):
        for i, contender in enumerate(contenders):
            start = time.process_time()
            contender()
            best[i] = min(best[i], time.process_time() - start)
    return best


def main() -> None:
    table = Table(title="the certified supremum of ψ over ‖x‖ ≤ 5, and what a float grid misses of it; CPU time in ms")
    table.add_column("mechanism × sampler")
    for heading in ("certified ε", "time"):
        table.add_column(heading, justify="right")
    for points in _GRIDS:
        for heading in (f"{points} points", "misses", "time"):
            table.add_column(heading, justify="right")
    for case in cases():
        contenders = [partial(certified, case), *(partial(largest_on_grid, case, points) for points in _GRIDS)]
        proven, *found = (contender() for contender in contenders)
        own_time, *grid_times = (f"{seconds * 1e3:.2f}" for seconds in least_cpu_seconds(contenders))
        cells = ["none is finite" if proven == math.inf else f"{proven:.9g}", own_time]
        for value, grid_time in zip(found, grid_times, strict=True):
            missed = "–" if proven == math.inf else f"{1 - value / proven:.0e}"
            cells += [f"{value:.9g}", missed, grid_time]
        table.add_row(case.name, *cells)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
