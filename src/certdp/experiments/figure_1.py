"""IS Figure 1: which records each sampler draws, in the plane of the first two principal components."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from attrs import frozen

from ..accounting.exact import Floats
from ..records.losses import record_losses
from ..runs.sampled import SampledRun
from ..samplers.full import Full
from .contenders import CONTENDERS, Contest, coins_at
from .data_sets import DataSet
from .findings import Advance, Findings, Plan, Table
from .pictures import Picture

EPSILON, SHARES = 3.0, (0.04,)
_TITLES = {"opt": "opt: privacy-constrained", "core": "core: coreset", "unif": "unif: uniform"}
_AREA, _INK = 15.0, 20_000.0  # of the mark of a record with the weight of uniform sampling, and of all: square points


@final
@frozen(eq=False)
class Sample:
    """The records that one sampler drew.

    Attributes:
        points: their first two principal components.
        weights: their weights.
        losses: certified ε(1, x) of each, before sampling.
    """

    points: Floats
    weights: Floats
    losses: Floats


def run(plan: Plan, advance: Advance) -> Findings:
    """Draw one sample per sampler, with the weights and the certified losses before sampling."""
    rows: list[tuple[Any, ...]] = []
    summary = []
    picture = Picture.of(len(plan.data), len(CONTENDERS), width=4.4, height=4.0, shared=True)
    for line, data in enumerate(plan.data):
        (size, *_) = plan.sizes_for(data, SHARES)
        samples = _samples(Contest.on(data, plan.split), size, (plan.seed, line))
        for name, sample in samples.items():
            columns = (*sample.points.T, sample.weights, sample.losses)
            rows += [(data.name, name, *row) for row in zip(*(each.tolist() for each in columns), strict=True)]
        _draw(picture, line, data, samples, size)
        summary.append({"data": data.name, **data.figures, "epsilon": EPSILON, "size": size})
        advance((line + 1) / len(plan.data))
    table = Table(("data", "sampler", "component_1", "component_2", "weight", "loss_before_sampling"), rows)
    title = f"Samples at ε = {EPSILON:g}; the area of a mark is proportional to the record's weight"
    return Findings({"rows": summary}, {plan.name: table}, {plan.name: picture.titled(title)})


def _samples(contest: Contest, size: int, place: tuple[int, int]) -> dict[str, Sample]:
    plane = _first_two_components(contest.data.records)
    # one mechanism for all three, so that colours mean the same: the one that opt is calibrated to
    unsampled = contest.opt(EPSILON, size).mechanism
    before = SampledRun(mechanism=unsampled, sampler=Full(), domain=contest.domain)
    losses = record_losses(before, contest.data.records).reveal().values
    samples = {}
    for number, (name, contender) in enumerate(CONTENDERS.items()):
        drawn = contender(contest, EPSILON, size).drawing.on(contest.domain).realise(contest.features)
        chosen = np.flatnonzero(coins_at(*place, number).bernoulli(drawn.probability))
        samples[name] = Sample(plane[chosen], drawn.weight[chosen], losses[chosen])
    return samples


def _first_two_components(records: Floats) -> Floats:
    """Of centred records; the second is 0 where there is one column."""
    _, axes = np.linalg.eigh(records.T @ records)
    plane = records @ axes[:, :-3:-1]
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))


def _draw(picture: Picture, line: int, data: DataSet, samples: dict[str, Sample], size: int) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    losses = np.concatenate([sample.losses for sample in samples.values()])
    colours = ScalarMappable(Normalize(losses.min(initial=0.0), losses.max(initial=0.0)), "viridis")
    for panel, (name, sample) in zip(picture.axes[line], samples.items(), strict=True):
        areas = min(_AREA, _INK / size) * sample.weights * size / len(data.records)
        panel.scatter(*sample.points.T, s=areas, c=colours.to_rgba(sample.losses), alpha=0.7, linewidths=0)
        panel.set_title(f"{_TITLES[name]}, {len(sample.weights)} records", fontsize="small")
        panel.set_xlabel("first principal component")
    picture.axes[line, 0].set_ylabel(f"{data.name}\nsecond principal component")
    picture.figure.colorbar(colours, ax=picture.axes[line].tolist(), label="certified ε(1, x) before sampling (nats)")
