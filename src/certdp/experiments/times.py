"""IS Figure 5 and Tables 2 and 3: what computing weights, sampling and DP-Lloyd take, beside DP-Lloyd on all data.

All of it runs in one thread; times are those of the processor, which other programs disturb less than those of a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Any, final

import numpy as np
from attrs import astuple, fields, frozen

from ..accounting.sampling.records import Features
from ..plugins.contract import Coins, draw_from
from ..runs.sampled import SampledRun
from .contenders import CONTENDERS, Contest, coins_at
from .findings import Advance, Findings, Plan, Table
from .pictures import LOOKS, Picture

EPSILON = 3.0
SHARES = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1)


@final
@frozen
class Timing:
    """Processor seconds of one contender at one size: medians over the repetitions.

    Attributes:
        data: name of the data set.
        sampler: opt, core, unif or full.
        size: the expected sample size asked for; n for full.
        weights: to compute probabilities and weights of all records, their norms included.
        sampling: to draw.
        lloyd: for DP-Lloyd on the sample.
        total: of the three.
        relative_total: total as a share of that of full, in percent.
        relative_size: size as a share of n, in percent.
        repetitions: how many runs.
    """

    data: str
    sampler: str
    size: int
    weights: float
    sampling: float
    lloyd: float
    total: float
    relative_total: float
    relative_size: float
    repetitions: int


_COLUMNS = tuple(attribute.name for attribute in fields(Timing))


def tables(plan: Plan, advance: Advance) -> Findings:
    """Measure PWS Tables 2 and 3."""
    table = _table(_measured(plan, advance))
    return Findings({"rows": table.dictionaries}, {plan.name: table})


def figure(plan: Plan, advance: Advance) -> Findings:
    """Figure 5: relative times against the size; and their parts at the largest size of the last data set."""
    picture = Picture.of(1, 2, width=5.4, height=4.6)
    timings = _measured(plan, advance)
    table = _table(timings)
    left, right = picture.axes[0]
    _draw_totals(left, plan, timings)
    last = [timing for timing in timings if timing.data == plan.data[-1].name and timing.sampler != "full"]
    _draw_parts(right, [timing for timing in last if timing.size == max(each.size for each in last)])
    title = f"Time relative to DP-Lloyd on all data, ε = {EPSILON:g}; medians of {plan.repetitions} runs"
    return Findings({"rows": table.dictionaries}, {plan.name: table}, {plan.name: picture.titled(title)})


def _table(timings: Sequence[Timing]) -> Table:
    return Table(_COLUMNS, [astuple(timing) for timing in timings])


def _measured(plan: Plan, advance: Advance) -> list[Timing]:
    timings: list[Timing] = []
    for place, data in enumerate(plan.data):
        contest, rows = Contest.on(data, plan.split), len(data.records)
        sizes = plan.sizes_for(data, SHARES)
        runs = [("full", rows, contest.full(EPSILON))]
        for size in sizes:
            runs += [(name, size, contender(contest, EPSILON, size)) for name, contender in CONTENDERS.items()]
        reference = 0.0
        for step, (name, size, contender) in enumerate(runs):
            weights, sampling, lloyd = _parts(contest, contender, plan, (plan.seed, place, step))
            total = weights + sampling + lloyd
            reference = reference or total
            relative = 100 * total / reference, 100 * size / rows
            timings.append(Timing(data.name, name, size, weights, sampling, lloyd, total, *relative, plan.repetitions))
            advance((place + (step + 1) / len(runs)) / len(plan.data))
    return timings


def _parts(contest: Contest, contender: SampledRun, plan: Plan, place: tuple[int, ...]) -> tuple[float, float, float]:
    """Median processor seconds of the three parts."""
    _once(contest, contender, coins_at(*place, 0))  # compiles, where nothing has before
    seconds = [_once(contest, contender, coins_at(*place, repetition)) for repetition in range(plan.repetitions)]
    weights, sampling, lloyd = np.median(seconds, axis=0).tolist()
    return weights, sampling, lloyd


def _once(contest: Contest, contender: SampledRun, coins: Coins) -> tuple[float, float, float]:
    rate = contender.drawing.on(contest.domain)
    features = Features(contest.data.records)  # anew: computing the norms is part of computing the weights
    start = process_time()
    realisation = rate.realise(features)
    weighted = process_time()
    sample = draw_from(features, realisation, coins)
    drawn = process_time()
    contender.mechanism.release(sample, coins)
    return weighted - start, drawn - weighted, process_time() - drawn


def _draw_totals(panel: Any, plan: Plan, timings: Sequence[Timing]) -> None:
    """Colours are samplers, styles are data sets; both axes are shares, so that one line stands for m/n."""
    from matplotlib.lines import Line2D

    styles: dict[str, Any] = dict(zip((data.name for data in plan.data), ("-", "--", "-.", ":"), strict=False))
    for data, style in styles.items():
        for name in CONTENDERS:
            of_one = [timing for timing in timings if (timing.data, timing.sampler) == (data, name)]
            places = [timing.relative_size for timing in of_one]
            shares = [timing.relative_total for timing in of_one]
            panel.plot(places, shares, **{**LOOKS[name], "linestyle": style})
    largest = max(timing.relative_size for timing in timings if timing.sampler != "full")
    panel.plot([0, largest], [0, largest], color="black", linewidth=1)
    panel.set_xlim(left=0)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("expected sample size, share of the records (%)")
    panel.set_ylabel("share of the time of DP-Lloyd on all data (%)")
    keys = [Line2D([], [], label=name, **{**LOOKS[name], "linestyle": ""}) for name in CONTENDERS]
    keys.append(Line2D([], [], color="black", linewidth=1, label="equal shares"))
    keys += [Line2D([], [], color="grey", linestyle=style, label=data) for data, style in styles.items()]
    panel.legend(handles=keys, fontsize="small", ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _draw_parts(panel: Any, timings: Sequence[Timing]) -> None:
    names = [timing.sampler for timing in timings]
    base = np.zeros(len(timings))
    parts = (("weights", "#3b6fb6"), ("sampling", "#8a4fb0"), ("lloyd", "#2e8b57"))
    for part, colour in parts:
        shares = np.array([getattr(timing, part) / timing.total * timing.relative_total for timing in timings])
        panel.bar(names, shares, bottom=base, color=colour, label="DP-Lloyd" if part == "lloyd" else part)
        base += shares
    panel.set_ylabel("share of the time of DP-Lloyd on all data (%)")
    panel.set_title(f"{timings[0].data}, m = {timings[0].size}", fontsize="small")
    panel.set_ylim(top=1.2 * base.max())  # room for the legend above the bars
    panel.legend(fontsize="small", ncols=len(parts), loc="upper center")
