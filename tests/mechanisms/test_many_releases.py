"""Many releases at once have the law of releases made one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from certdp import (
    Coins,
    Count,
    DiscreteGaussian,
    DiscreteLaplace,
    GaussianSum,
    InvalidValue,
    LaplaceSum,
    Lloyd,
    LpSum,
    Public,
    QuantileChoice,
    RandomisedResponse,
)
from certdp.mechanisms.dpis_step import DpisStep
from certdp.plugins.contract import WeightedSample, many_releases
from certdp.selection import AboveThreshold, ReportNoisyMax

P = Public
SUMS = [
    LaplaceSum(scale=P(2)),
    Count(scale=P(2)),
    GaussianSum(scale=P(2)),
    LpSum(scale=P(2)),
    LpSum(scale=P(2), norm=P("inf")),
    DiscreteLaplace(scale=P(2), granularity=P("1/4")),
    DiscreteGaussian(scale=P(2), granularity=P("1/2")),
    DpisStep(noise_multiplier=P(1), clip=P(1), size=P(4), batch=P(2)),
    QuantileChoice(quantile=P("1/3"), scale=P(3)),
    ReportNoisyMax(scale=P(3), signed=P(True)),
    ReportNoisyMax(scale=P(3), noise=P("gumbel"), granularity=P("1/4")),
    ReportNoisyMax(scale=P(3), noise=P("laplace")),
    AboveThreshold(threshold=P(1), threshold_scale=P(2), scale=P(3), signed=P(True), answers=P(2)),
    Lloyd(clusters=P(2), scale_sum=P(1), scale_count=P(1), radius=P(2), iterations=P(2)),
]
CODES = RandomisedResponse(categories=P(3), noise=P("0.5"))
SAMPLE = WeightedSample(np.array([[1.0, -2.0], [0.5, 0.25], [-1.0, 1.0]]), np.array([1.0, 2.0, 4.0]))
RUNS = 1000


def named(mechanism: Any) -> str:
    return str(mechanism.about.name)


def by_hand(mechanism: Any, sample: WeightedSample, coins: Coins) -> Any:
    return np.array([mechanism.release(sample, coins).reshape(-1) for _ in range(RUNS)])


@pytest.mark.parametrize("mechanism", [*SUMS, CODES], ids=named)
def test_entries_have_the_law_of_single_releases(mechanism: Any, stream: int) -> None:
    sample = WeightedSample(np.array([[0.0], [2.0]]), np.ones(2)) if mechanism is CODES else SAMPLE
    coins = Coins.seeded(stream)
    assert hasattr(mechanism, "release_many")
    together, apart = many_releases(mechanism, sample, RUNS, coins), by_hand(mechanism, sample, coins)
    assert together.shape == apart.shape
    mixture = np.random.default_rng(stream).standard_normal(together.shape[1])  # sees dependence between entries
    for one, other in [*zip(together.T, apart.T, strict=True), (together @ mixture, apart @ mixture)]:
        assert float(np.asarray(ks_2samp(one, other, method="asymp"))[1]) > 1e-5
    for lag in (1, 2):  # rows are independent
        assert abs(np.corrcoef(together[lag:, 0], together[:-lag, 0])[0, 1]) < 5 / np.sqrt(RUNS)


@pytest.mark.parametrize("mechanism", SUMS, ids=named)
def test_of_an_empty_sample(mechanism: Any) -> None:
    empty = WeightedSample(np.empty((0, 2)), np.empty(0))
    outputs = many_releases(mechanism, empty, 5, Coins.seeded(1))
    assert len(outputs) == 5
    assert outputs.shape[1] == mechanism.release(empty, Coins.seeded(1)).size


class Growing:
    """Releases of several shapes, or too few at once."""

    about = LaplaceSum.about

    def __init__(self) -> None:
        self.made = 0

    def release(self, sample: WeightedSample, coins: Coins) -> Any:
        self.made += 1
        return np.zeros(self.made)


class Short(Growing):
    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Any:
        return np.zeros((count - 1, 1))


@pytest.mark.parametrize("kind", [Growing, Short])
def test_what_makes_no_rows_is_refused(kind: type[Any]) -> None:
    with pytest.raises(InvalidValue, match="mechanism"):
        many_releases(kind(), SAMPLE, 3, Coins.seeded(1))
