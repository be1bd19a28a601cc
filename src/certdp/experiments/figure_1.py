"""IS Figure 1: which records each sampler draws, in the plane of the first two principal components."""

from __future__ import annotations

import numpy as np

from ..sampled import SampledMechanism
from ..samplers.full import Full
from .contenders import CONTENDERS, Contest, coins_at
from .findings import Advance, Findings, Plan, Table
from .pictures import Picture

EPSILON, SHARES = 3.0, (0.04,)
_TITLES = {"opt": "opt: privacy-constrained", "core": "core: coreset", "unif": "unif: uniform"}


def run(plan: Plan, advance: Advance) -> Findings:
    """One sample per sampler, with the weights and the certified losses before sampling."""
    rows: list[tuple[object, ...]] = []
    picture = Picture.of(len(plan.data), len(CONTENDERS), width=4.4, height=4.0, shared=True)
    summary = []
    for line, data in enumerate(plan.data):
        contest = Contest.on(data, plan.split)
        (size, *_) = plan.sizes_for(data, SHARES)
        _, axes = np.linalg.eigh(data.records.T @ data.records)
        plane = data.records @ axes[:, :-3:-1]
        # one mechanism for all three, so that colours mean the same: the one that opt is calibrated to
        before = SampledMechanism(mechanism=contest.opt(EPSILON, size).mechanism, sampler=Full())
        losses = before.measure(data.records, contest.domain).reveal().psi
        for column, (name, contender) in enumerate(CONTENDERS.items()):
            rate = contender(contest, EPSILON, size).drawing.on(contest.domain)
            realisation = rate.realise(contest.features)
            chosen = np.flatnonzero(coins_at(plan.seed, line, column).bernoulli(realisation.probability))
            weights = realisation.weight[chosen]
            points = plane[chosen] if plane.shape[1] > 1 else np.column_stack([plane[chosen, 0], 0 * chosen])
            rows += [
                (data.name, name, *point, weight, loss)
                for point, weight, loss in zip(points.tolist(), weights.tolist(), losses[chosen].tolist(), strict=True)
            ]
            panel = picture.axes[line, column]
            dots = panel.scatter(
                *points.T,
                s=60 * weights / max(weights.max(initial=1.0), 1.0),
                c=losses[chosen],
                cmap="viridis",
                vmin=losses.min(),
                vmax=losses.max(),
                alpha=0.7,
                linewidths=0,
            )
            panel.set_title(f"{_TITLES[name]}, {len(chosen)} records", fontsize="small")
            panel.set_xlabel("first principal component")
            panel.set_ylabel(f"{data.name}\nsecond principal component" if column == 0 else "")
            advance((line * len(CONTENDERS) + column + 1) / (len(plan.data) * len(CONTENDERS)))
        picture.figure.colorbar(dots, ax=picture.axes[line].tolist(), label="certified ε(1, x) before sampling (nats)")
        summary.append({"data": data.name, **data.figures, "epsilon": EPSILON, "size": size})
    table = Table(("data", "sampler", "component_1", "component_2", "weight", "loss_before_sampling"), rows)
    title = f"Samples at ε = {EPSILON:g}; the area of a mark is proportional to the record's weight"
    return Findings({"rows": summary}, {f"{plan.name}.csv": table.csv, f"{plan.name}.png": picture.png(title)})
