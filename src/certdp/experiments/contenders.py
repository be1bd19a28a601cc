"""The samplers that IS Section 5 compares for DP k-means, each calibrated to the same ε and expected sample size.

Legend: k is the number of clusters, T that of iterations, λ the uniform share of coreset sampling. r, n and x̃ come from
the records and are declared public here, as the paper does; that is admissible in an experiment and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from ..accounting.bulk.clusters import nearest_centres, squared_distances
from ..accounting.exact import Floats, Number
from ..accounting.norms import Norm
from ..accounting.provenance import Public
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.records import Features
from ..mechanisms.lloyd import Lloyd, Split
from ..plugins.contract import Coins, Sampler, draw_from
from ..runs.least_scale import least_scale
from ..runs.sampled import SampledRun
from ..samplers.coreset import Coreset
from ..samplers.full import Full
from ..samplers.poisson import Poisson
from ..samplers.privacy_constrained import PrivacyConstrained
from .data_sets import DataSet
from .noise import noise_for_size, unit_losses

CLUSTERS, ITERATIONS = 25, 10
EPSILONS = (0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
"""The ε of the paper."""

_NEGLIGIBLE = Fraction(1, 2**30)
_ABOVE = 1 + 2.0**-30


@final
@frozen(eq=False)
class Contest:
    """DP k-means on one data set.

    Attributes:
        data: the records.
        split: rule for the noise of counts.
        features: norms of the records, computed once.
    """

    data: DataSet
    split: Split
    features: Features

    @classmethod
    def on(cls, data: DataSet, split: Split) -> Contest:
        """Make the contest on a data set."""
        return cls(data, split, Features(data.records))

    @property
    def domain(self) -> NormBall:
        """All records of ℓ2 norm at most r."""
        return NormBall(norm=Norm.L2, radius=Public(self.data.radius), dimension=self.data.records.shape[1])

    def mechanism(self, scale: Number) -> Lloyd:
        """DP-Lloyd with noise of this scale in the sums."""
        return Lloyd(
            clusters=Public(CLUSTERS),
            scale_sum=Public(scale),
            split=Public(self.split),
            radius=Public(self.data.radius),
            iterations=Public(ITERATIONS),
            dimension=Public(self.data.records.shape[1]),
        )

    def opt(self, epsilon: float, size: int) -> SampledRun:
        """Privacy-constrained sampling; smaller than asked where no admissible noise needs as many records."""
        unit = self.mechanism(1)
        losses = unit_losses(unit.loss, self.features)
        # what a record of norm r loses; the margin covers the roundings of these floats
        most = ITERATIONS * (1 / float(unit.count_scale) + self.data.radius) * _ABOVE
        scale = noise_for_size(losses, size, lambda _: epsilon, most / epsilon).reveal()
        return SampledRun(mechanism=self.mechanism(scale), sampler=PrivacyConstrained(target=Public(Fraction(epsilon))))

    def core(self, epsilon: float, size: int) -> SampledRun:
        """Return the run with coreset sampling at λ = ½, calibrated to ε."""
        return self._calibrated(self._coreset(size), epsilon)

    def unif(self, epsilon: float, size: int) -> SampledRun:
        """Return the run with weighted uniform sampling, calibrated to ε."""
        return self._calibrated(self._uniform(size), epsilon)

    def full(self, epsilon: float) -> SampledRun:
        """Return the run without sampling, calibrated to ε."""
        return self._calibrated(Full(), epsilon)

    def core_without_noise(self, size: int) -> SampledRun:
        """The reference ε = ∞: noise of scale 2^-30·r, which no digit of a picture shows."""
        return self._without_noise(self._coreset(size))

    def unif_without_noise(self, size: int) -> SampledRun:
        """Return the run with weighted uniform sampling and without noise."""
        return self._without_noise(self._uniform(size))

    def _coreset(self, size: int) -> Coreset:
        return Coreset(
            m=Public(size),
            n=Public(len(self.data.records)),
            mean_squared_norm=Public(self.data.mean_squared_norm),
            radius=Public(self.data.radius),
        )

    def _uniform(self, size: int) -> Poisson:
        return Poisson(rate=Public(Fraction(size, len(self.data.records))), weighted=Public(True))

    def _calibrated(self, sampler: Sampler, epsilon: float) -> SampledRun:
        found = least_scale(self.mechanism, sampler, self.domain, Fraction(epsilon))
        return SampledRun(mechanism=found.mechanism, sampler=sampler)

    def _without_noise(self, sampler: Sampler) -> SampledRun:
        scale = Fraction(self.data.radius) * _NEGLIGIBLE
        return SampledRun(mechanism=self.mechanism(scale), sampler=sampler)

    def run(self, contender: SampledRun, repetitions: int, place: tuple[int, ...]) -> Runs:
        """Draw, cluster and evaluate again and again.

        Args:
            contender: mechanism and sampler.
            repetitions: how often.
            place: seed of the experiment and position within it, from which the coins of each repetition follow.
        """
        realisation = contender.drawing.on(self.domain).realise(self.features)
        costs = np.empty(repetitions)
        for repetition in range(repetitions):
            coins = coins_at(*place, repetition)
            centres = contender.mechanism.release(draw_from(self.features, realisation, coins), coins)
            costs[repetition] = self._cost(centres)
        return Runs(costs, math.fsum(realisation.probability))

    def _cost(self, centres: Floats) -> float:
        labels = nearest_centres(self.data.records, centres)
        return math.fsum(squared_distances(self.data.records, centres, labels)) / len(labels)


@final
@frozen(eq=False)
class Runs:
    """Repeated runs of one contender, computed from the records.

    Attributes:
        costs: the k-means cost over all records, divided by their number, of each run.
        expected_size: of the sample.
    """

    costs: Floats
    expected_size: float

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """25 %, median and 75 % of the costs."""
        low, middle, high = np.quantile(self.costs, (0.25, 0.5, 0.75))
        return float(low), float(middle), float(high)


Contender: TypeAlias = Callable[[Contest, float, int], SampledRun]

CONTENDERS: Mapping[str, Contender] = MappingProxyType({"opt": Contest.opt, "core": Contest.core, "unif": Contest.unif})
"""The three samplers by the paper's names: mechanism and sampler for an ε and an expected size."""


def coins_at(*place: int) -> Coins:
    """Reproducible coins of one run, independent of those at every other place."""
    first, *rest = place
    return Coins.seeded(int(np.random.SeedSequence(first, spawn_key=rest).generate_state(1, np.uint64)[0]))
