"""IS Figure 2 (Section 3.3): weights, privacy and error of three samplers for the Laplace sum.

The data are n = 1000 draws from N(0, I/10) in 10 dimensions; the variance-optimal probabilities are an oracle's. The
paper fixes an expected size of 19 and does not say at which ε*. Two readings: the largest loss at weight 1, at the
noise scale that then gives this size; and standard Laplace noise, at the ε* that then gives it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from attrs import frozen

from ..accounting.bulk import arrays as bulk
from ..accounting.exact import Floats
from ..accounting.norms import Norm
from ..accounting.provenance import Private, Public
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.records import Features, Realisation, psi_upper
from ..mechanisms.laplace_sum import LaplaceSum
from ..plugins.contract import draw_from
from ..runs.sampled import SampledRun
from ..samplers.poisson import Poisson
from ..samplers.privacy_constrained import PrivacyConstrained
from ..samplers.variance_optimal import variance_optimal, weighted_sum_variance
from .contenders import coins_at
from .findings import Advance, Findings, Plan, Table
from .noise import noise_for_size, target_for_size, unit_losses
from .pictures import LOOKS, Picture

RECORDS, DIMENSION, SIZE = 1000, 10, 19
SCALES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
_LABELLED = (1.5, 0.4)  # of a logarithmic axis: up to how many decades minor ticks bear labels, all or some
_NAMES = {"opt": "privacy-constrained", "var": "variance-optimal", "unif": "uniform"}


@final
@frozen(eq=False)
class LaplaceContest:
    """The three samplers of Section 3.3 on one data set."""

    features: Features

    @cached_property
    def radius(self) -> float:
        """The largest ℓ1 norm of a record, rounded up."""
        return float(bulk.norms(self.features.records, Norm.L1).max())

    @classmethod
    def drawn(cls, seed: int) -> LaplaceContest:
        """The data of Section 3.3 from a seed."""
        generator = np.random.Generator(np.random.Philox(seed))
        return cls(Features(generator.standard_normal((RECORDS, DIMENSION)) / math.sqrt(DIMENSION)))

    def target(self, scale: float) -> float:
        """ε* = max ε(1, x) at a noise scale, rounded up."""
        return math.nextafter(self.radius / scale, math.inf)

    def scale_for(self, size: float) -> float:
        """The noise scale at which the optimal sample has this expected size."""
        return noise_for_size(self._losses, size, self.target, self.radius / 600).reveal()

    def target_for(self, size: float) -> float:
        """The ε* at which it has, with standard Laplace noise."""
        return target_for_size(self._losses, size, 1.0, self.target(1.0)).reveal()

    @property
    def _losses(self) -> Private[Floats]:
        return unit_losses(LaplaceSum(scale=Public(1)).loss.pure, self.features)

    def realisations(self, scale: float, epsilon: float) -> Mapping[str, Realisation]:
        """Probabilities and weights of all three for an ε*, at the expected size of the optimal one."""
        mechanism = LaplaceSum(scale=Public(scale))
        domain = NormBall(norm=Norm.L1, radius=Public(self.radius))
        sampler = PrivacyConstrained(target=Public(Fraction(epsilon)))
        optimal = SampledRun(mechanism=mechanism, sampler=sampler)
        chosen = optimal.drawing.on(domain).realise(self.features)
        size = math.fsum(chosen.probability)
        uniform = Poisson(rate=Public(size / len(self.features)), weighted=Public(True))
        even = SampledRun(mechanism=mechanism, sampler=uniform).drawing.realise(self.features)
        least = variance_optimal(self.features.records, m=size).map(lambda q: Realisation(q, 1 / q)).reveal()
        return {"opt": chosen, "var": least, "unif": even}

    def psi_max(self, scale: float, realisation: Realisation) -> float:
        """The largest certified ψ over the records."""
        return float(psi_upper(LaplaceSum(scale=Public(scale)).loss.pure, realisation, self.features).max())

    def expected_error(self, scale: float, realisation: Realisation) -> float:
        """The mean squared error per coordinate, from the variance: the weighted sum is unbiased."""
        variance = weighted_sum_variance(self.features.records, Private(realisation.probability), scale=scale)
        return float(variance.reveal().mean())

    def errors(self, scale: float, realisation: Realisation, repetitions: int, place: tuple[int, ...]) -> Floats:
        """The squared error, averaged over coordinates, of repeated runs."""
        mechanism = LaplaceSum(scale=Public(scale))
        truth = self.features.records.sum(axis=0)

        def squares() -> Iterator[float]:
            for repetition in range(repetitions):
                coins = coins_at(*place, repetition)
                answer = mechanism.release(draw_from(self.features, realisation, coins), coins)
                yield float(np.mean((answer - truth) ** 2))

        return np.fromiter(squares(), dtype=np.float64, count=repetitions)


def run(plan: Plan, advance: Advance) -> Findings:
    """Weights at the expected size 19, and error against loss over the noise scales of the paper."""
    picture = Picture.of(1, 3, width=4.8, height=4.0)
    contest = LaplaceContest.drawn(plan.seed)
    size = float(plan.sizes[0]) if plan.sizes else float(SIZE)
    scale = contest.scale_for(size)
    readings = [Reading(contest, scale, contest.target(scale)), Reading(contest, 1.0, contest.target_for(size))]
    errors = _errors(plan, contest, advance)
    _draw(picture, contest, readings, errors, size)
    return Findings(
        {"size": size, "readings": [reading.figures for reading in readings]},
        {f"{plan.name}-weights": _weights(contest, readings), f"{plan.name}-errors": errors},
        {plan.name: picture.titled("Samplers for the Laplace sum")},
    )


@final
@frozen(eq=False)
class Reading:
    """The three samplers at one noise scale and ε*."""

    contest: LaplaceContest
    scale: float
    epsilon: float

    @cached_property
    def chosen(self) -> Mapping[str, Realisation]:
        """The probabilities and weights of the records, by sampler."""
        return self.contest.realisations(self.scale, self.epsilon)

    @property
    def figures(self) -> dict[str, Any]:
        """How far the weights of opt, and of unif, are from the variance-optimal ones."""
        found: dict[str, Any] = {"noise_scale": self.scale, "epsilon": self.epsilon}
        least = self.chosen["var"]
        for name in ("opt", "unif"):
            apart = np.abs(self.chosen[name].weight / least.weight - 1)
            found[f"weights_of_{name}_against_variance_optimal"] = {
                "relative_difference_median": float(np.median(apart)),
                "relative_difference_95_percent": float(np.quantile(apart, 0.95)),
                "relative_difference_largest": float(apart.max()),
                "correlation_of_logarithms": _correlation(self.chosen[name].weight, least.weight),
                "sampling_variance_ratio": self._sampling_variance(name) / self._sampling_variance("var"),
            }
        found["psi_max"] = {name: self.contest.psi_max(self.scale, self.chosen[name]) for name in _NAMES}
        return found

    def _sampling_variance(self, name: str) -> float:
        """The part of the error that sampling causes: that of a sum without noise."""
        return self.contest.expected_error(0.0, self.chosen[name])


def _correlation(one: Floats, other: Floats) -> float | None:
    """Compute the correlation of the logarithms of weights; None where the first are all equal."""
    first, second = np.log(one), np.log(other)
    return None if np.ptp(first) == 0 else float(np.corrcoef(first, second)[0, 1])


def _weights(contest: LaplaceContest, readings: Sequence[Reading]) -> Table:
    """Every record's weights, ordered by ℓ1 norm."""
    norms = bulk.norms(contest.features.records, Norm.L1)
    order = np.argsort(norms, kind="stable")
    rows: list[tuple[Any, ...]] = []
    for reading in readings:
        columns = [norms[order], *(reading.chosen[name].weight[order] for name in _NAMES)]
        ranked = enumerate(zip(*(column.tolist() for column in columns), strict=True))
        rows += [(reading.scale, reading.epsilon, rank, *row) for rank, row in ranked]
    return Table(("noise_scale", "epsilon", "rank", "l1_norm", *(f"weight_{name}" for name in _NAMES)), rows)


def _errors(plan: Plan, contest: LaplaceContest, advance: Advance) -> Table:
    """Largest ψ and error of each sampler at each noise scale, with ε* = max ε(1, x)."""
    rows = []
    for line, noise in enumerate(SCALES):
        realised = contest.realisations(noise, contest.target(noise))
        for column, (name, realisation) in enumerate(realised.items()):
            squares = contest.errors(noise, realisation, plan.repetitions, (plan.seed, line, column))
            rows.append(
                (
                    *(name, noise, math.fsum(realisation.probability), contest.psi_max(noise, realisation)),
                    *(float(squares.mean()), float(squares.std() / math.sqrt(len(squares)))),
                    *(contest.expected_error(noise, realisation), len(squares)),
                )
            )
            advance((line * len(_NAMES) + column + 1) / (len(SCALES) * len(_NAMES)))
    columns = ("sampler", "noise_scale", "size", "psi_max", "mse", "mse_standard_error", "mse_expected", "repetitions")
    return Table(columns, rows)


def _draw(picture: Picture, contest: LaplaceContest, readings: Sequence[Reading], errors: Table, size: float) -> None:
    """Weights at both readings, then error against loss."""
    from matplotlib.ticker import LogFormatter

    order = np.argsort(bulk.norms(contest.features.records, Norm.L1), kind="stable")
    for panel, reading in zip(picture.axes[0], readings, strict=False):
        for name, mark in (("unif", "-"), ("var", "."), ("opt", ".")):  # a thousand points: no room for marks
            weights = reading.chosen[name].weight[order]
            panel.plot(weights, mark, markersize=3, color=LOOKS[name]["color"], label=_NAMES[name], alpha=0.6)
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter(LogFormatter())
        panel.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=_LABELLED))  # the labels that one decade needs
        panel.set_xlabel("record, ordered by ℓ1 norm")
        panel.set_ylabel("importance weight")
        how = f"m = {size:g}, noise scale {reading.scale:.4g}, ε* = {reading.epsilon:.4g}"
        panel.set_title(how, fontsize="small")
        panel.legend(fontsize="small")
    right = picture.axes[0, 2]
    for name in _NAMES:
        of_one = [row for row in errors.dictionaries if row["sampler"] == name]
        places, heights = [row["psi_max"] for row in of_one], [row["mse"] for row in of_one]
        right.plot(places, heights, label=_NAMES[name], **LOOKS[name])
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_xlabel("largest certified ψ over the data (nats)")
    right.set_ylabel("mean squared error per coordinate")
    right.set_title("noise scales from 3 to 3000, ε* = max ε(1, x)", fontsize="small")
    right.legend(fontsize="small")
