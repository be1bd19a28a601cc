"""IS Figures 3, 4, 6 and 7: the k-means cost against ε at fixed sample sizes, and against the size at fixed ε.

Figures 6 and 7 are 3 and 4 for the data sets of the appendix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from attrs import astuple, fields, frozen

from ..mechanisms.lloyd import Lloyd
from ..runs.sampled import SampledRun
from .contenders import CONTENDERS, EPSILONS, Contest
from .data_sets import DataSet
from .findings import Advance, Findings, Plan, Table
from .pictures import LOOKS, Picture

SHARES_AGAINST_EPSILON = (0.02, 0.05, 0.1)
SHARES_AGAINST_SIZE = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1)
EPSILONS_AGAINST_SIZE = (3.0, 100.0)

_LEARNS = 0.99
_WIDE = 5  # costs that differ by this factor are drawn on a logarithmic axis


@final
@frozen
class Cell:
    """One contender at one ε and size on one data set.

    Attributes:
        data: name of the data set.
        sampler: opt, core, unif or full.
        epsilon: the ε that all contenders were calibrated to; inf for the reference without noise.
        epsilon_certified: the proven upper end for all records of norm at most r; inf as above.
        size: the expected sample size asked for.
        expected_size: the one had, Σ q: less than asked where no admissible noise of opt needs as many.
        noise_scale_sum: β_sum, in units of the data.
        noise_scale_count: β_count, in records.
        cost_q25, cost_median, cost_q75: quartiles of the cost over all records, divided by n.
        repetitions: how many runs.
    """

    data: str
    sampler: str
    epsilon: float
    epsilon_certified: float
    size: int
    expected_size: float
    noise_scale_sum: float
    noise_scale_count: float
    cost_q25: float
    cost_median: float
    cost_q75: float
    repetitions: int


_COLUMNS = tuple(attribute.name for attribute in fields(Cell))


def against_epsilon(plan: Plan, advance: Advance) -> Findings:
    """Figures 3 and 6: columns are data sets, rows are sample sizes."""
    cells: list[Cell] = []
    sizes = [plan.sizes_for(data, SHARES_AGAINST_EPSILON) for data in plan.data]
    grid = _Grid.of(plan, max(len(some) for some in sizes))
    whole = sum(len(some) for some in sizes) * (len(EPSILONS) + 1)
    done = 0
    for place, (data, some) in enumerate(zip(plan.data, sizes, strict=True)):
        contest = Contest.on(data, plan.split)
        for row, size in enumerate(some):
            for step, epsilon in enumerate((*EPSILONS, math.inf)):
                cells += _cells(plan, contest, epsilon, size, (plan.seed, place, row, step))
                done += 1
                advance(done / whole)
    for place, (data, some) in enumerate(zip(plan.data, sizes, strict=True)):
        for row, size in enumerate(some):
            panel = grid.panel(place, row, f"{data.name}, m = {size}")
            of_one = [cell for cell in cells if (cell.data, cell.size) == (data.name, size)]
            _draw(panel, data, of_one, _draw_epsilons)
    return _findings(plan, cells, grid.titled("privacy loss ε (nats)", "Cost of DP k-means against ε", plan))


def against_size(plan: Plan, advance: Advance) -> Findings:
    """Figures 4 and 7: columns are data sets, rows are values of ε; the cost without sampling for reference."""
    cells: list[Cell] = []
    grid = _Grid.of(plan, len(EPSILONS_AGAINST_SIZE))
    whole = len(plan.data) * len(EPSILONS_AGAINST_SIZE)
    for place, data in enumerate(plan.data):
        contest = Contest.on(data, plan.split)
        sizes = plan.sizes_for(data, SHARES_AGAINST_SIZE)
        for row, epsilon in enumerate(EPSILONS_AGAINST_SIZE):
            at = (plan.seed, place, row)
            full = contest.full(epsilon)
            cells.append(_cell(plan, contest, "full", full, (epsilon, len(data.records)), (*at, len(sizes))))
            for step, size in enumerate(sizes):
                cells += _cells(plan, contest, epsilon, size, (*at, step))
                advance((place * len(EPSILONS_AGAINST_SIZE) + row + (step + 1) / len(sizes)) / whole)
    for place, data in enumerate(plan.data):
        for row, epsilon in enumerate(EPSILONS_AGAINST_SIZE):
            panel = grid.panel(place, row, f"{data.name}, ε = {epsilon:g}")
            of_one = [cell for cell in cells if (cell.data, cell.epsilon) == (data.name, epsilon)]
            _draw(panel, data, of_one, _draw_sizes)
    return _findings(plan, cells, grid.titled("expected sample size m (records)", "Cost of DP k-means against m", plan))


def _cells(plan: Plan, contest: Contest, epsilon: float, size: int, place: tuple[int, ...]) -> list[Cell]:
    """All contenders at one ε and size; without noise, those for which that means something."""
    contenders: Mapping[str, SampledRun]
    if math.isinf(epsilon):
        contenders = {"core": contest.core_without_noise(size), "unif": contest.unif_without_noise(size)}
    else:
        contenders = {name: contender(contest, epsilon, size) for name, contender in CONTENDERS.items()}
    return [
        _cell(plan, contest, name, contender, (epsilon, size), (*place, number))
        for number, (name, contender) in enumerate(contenders.items())
    ]


def _cell(
    plan: Plan,
    contest: Contest,
    name: str,
    contender: SampledRun,
    at: tuple[float, int],
    place: tuple[int, ...],
) -> Cell:
    epsilon, size = at
    runs = contest.run(contender, plan.repetitions, place)
    proven = epsilon if math.isinf(epsilon) else contender.on(contest.domain).pure().bound.epsilon.upper_float
    noise = contender.mechanism
    assert isinstance(noise, Lloyd)
    scales = float(noise.scale_sum.value), float(noise.count_scale)
    return Cell(
        contest.data.name, name, epsilon, proven, size, runs.expected_size, *scales, *runs.quartiles, plan.repetitions
    )


def _findings(plan: Plan, cells: Sequence[Cell], picture: Picture) -> Findings:
    table = Table(_COLUMNS, [astuple(cell) for cell in cells])
    summary = {
        "data": [{"name": data.name, **data.figures} for data in plan.data],
        "split": plan.split.value,
        "repetitions": plan.repetitions,
        **{f"{name}_against_unif": _against_uniform(plan, cells, name) for name in ("opt", "core")},
    }
    return Findings(summary, {plan.name: table}, {plan.name: picture})


def _against_uniform(plan: Plan, cells: Sequence[Cell], name: str) -> dict[str, Any]:
    """How a sampler's costs compare with uniform sampling's at the same data, ε and size.

    Where noise drowns everything, all medians are near x̃, the cost of centres at 0, and their order is chance: the
    comparison is made of all cells and of those where either median is at least 1 % below x̃.
    """
    uniforms = {(cell.data, cell.epsilon, cell.size): cell for cell in cells if cell.sampler == "unif"}
    idle = {data.name: data.mean_squared_norm for data in plan.data}
    pairs = [
        (cell, uniforms[cell.data, cell.epsilon, cell.size])
        for cell in cells
        if cell.sampler == name and not math.isinf(cell.epsilon)
    ]
    learning = [
        (one, uniform)
        for one, uniform in pairs
        if min(one.cost_median, uniform.cost_median) <= _LEARNS * idle[one.data]
    ]
    return {"all": _compared(pairs), "where_either_learns": _compared(learning)}


def _compared(pairs: Sequence[tuple[Cell, Cell]]) -> dict[str, Any]:
    """Counts of cells; lowest, middle and highest ratio of the sampler's median cost to that of uniform sampling."""
    ratios = sorted(one.cost_median / uniform.cost_median for one, uniform in pairs)
    return {
        "compared": len(pairs),
        "median_no_higher": sum(one.cost_median <= uniform.cost_median for one, uniform in pairs),
        "quartiles_all_lower": sum(one.cost_q75 < uniform.cost_q25 for one, uniform in pairs),
        "quartiles_all_higher": sum(one.cost_q25 > uniform.cost_q75 for one, uniform in pairs),
        "ratio_of_medians": [ratios[0], ratios[len(ratios) // 2], ratios[-1]] if ratios else None,
    }


def _draw(panel: Any, data: DataSet, cells: Sequence[Cell], draw: Callable[[Any, Sequence[Cell]], None]) -> None:
    draw(panel, cells)
    panel.axhline(data.mean_squared_norm, color="grey", linestyle="-.", linewidth=1, label="all centres 0")
    costs = [data.mean_squared_norm, *(cost for cell in cells for cost in (cell.cost_q25, cell.cost_q75))]
    if max(costs) > _WIDE * min(costs):
        panel.set_yscale("log")


def _draw_epsilons(panel: Any, cells: Sequence[Cell]) -> None:
    for name in CONTENDERS:
        of_one = [cell for cell in cells if cell.sampler == name and not math.isinf(cell.epsilon)]
        _band(panel, [cell.epsilon for cell in of_one], of_one, name)
    for cell in cells:
        if math.isinf(cell.epsilon):
            label = f"{cell.sampler}, ε = ∞"
            drawn = {**LOOKS[cell.sampler], "marker": ""}
            panel.axhline(cell.cost_median, linewidth=0.8, label=label, **drawn)
    panel.set_xscale("log")


def _draw_sizes(panel: Any, cells: Sequence[Cell]) -> None:
    for name in CONTENDERS:
        of_one = sorted((cell for cell in cells if cell.sampler == name), key=lambda cell: cell.expected_size)
        _band(panel, [cell.expected_size for cell in of_one], of_one, name)
    (full,) = (cell for cell in cells if cell.sampler == "full")
    panel.axhline(full.cost_median, linewidth=1, label="full", **{**LOOKS["full"], "marker": ""})


def _band(panel: Any, places: Sequence[float], cells: Sequence[Cell], name: str) -> None:
    """The median, and the quartiles as a band."""
    panel.plot(places, [cell.cost_median for cell in cells], label=name, **LOOKS[name])
    low, high = [cell.cost_q25 for cell in cells], [cell.cost_q75 for cell in cells]
    panel.fill_between(places, low, high, color=LOOKS[name]["color"], alpha=0.2, linewidth=0)


@final
@frozen
class _Grid:
    """Panels in rows, a column for each data set; in one line where there is only one data set."""

    picture: Picture
    turned: bool

    @classmethod
    def of(cls, plan: Plan, rows: int) -> _Grid:
        turned = len(plan.data) == 1
        return cls(Picture.of(1, rows) if turned else Picture.of(rows, len(plan.data)), turned)

    def panel(self, column: int, row: int, title: str) -> Any:
        panel = self.picture.axes[(column, row) if self.turned else (row, column)]
        panel.set_title(title, fontsize="small")
        return panel

    def titled(self, horizontal: str, title: str, plan: Plan) -> Picture:
        for panel in self.picture.axes[-1]:
            panel.set_xlabel(horizontal)
        for panel in self.picture.axes[:, 0]:
            panel.set_ylabel("cost / n (squared units of the data)")
        keys, names = self.picture.axes[0, 0].get_legend_handles_labels()
        across = min(len(names), 3 * self.picture.axes.shape[1])  # three fit below a panel
        self.picture.figure.legend(keys, names, loc="outside lower center", ncols=across, fontsize="small")
        return self.picture.titled(f"{title}\nmedian, quartiles of {plan.repetitions} runs, {plan.split.value} split")
