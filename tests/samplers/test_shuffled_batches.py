"""Batches of shuffled data: what is proven from both sides, what is refused, and the law of their order."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from certdp import (
    ADD_REMOVE,
    REPLACE,
    AllocatedRun,
    Full,
    GaussianSum,
    LaplaceSum,
    NormBall,
    Poisson,
    Public,
    Released,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.errors import InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.relations import ZERO_OUT, Change
from certdp.plugins.conformance import check
from certdp.plugins.contract import Coins, Release, WeightedSample
from certdp.sampling import ShuffledBatches

P = Public


def run_of(noise: str, batches: int, *, epochs: int = 1, relation: Change = ZERO_OUT) -> AllocatedRun:
    return AllocatedRun(
        mechanism=GaussianSum(noise_multiplier=P(noise)),
        sampler=ShuffledBatches(batch_size=P(10), data_size=P(10 * batches)),
        epochs=epochs,
        relation=relation,
    )


@pytest.mark.parametrize("relation", [ZERO_OUT, REPLACE], ids=lambda one: one.name)
@pytest.mark.parametrize("epochs", [1, 4])
def test_from_above_it_is_a_release_that_is_not_amplified(relation: Change, epochs: int) -> None:
    found = run_of("2", 4, epochs=epochs, relation=relation).epsilon("1e-5").epsilon
    shift = (2 if relation == REPLACE else 1) / 2 * epochs**0.5
    other = SampledRun(
        mechanism=GaussianSum(noise_multiplier=P(Fraction(1) / Fraction(shift))), sampler=Poisson(rate=P(1))
    )
    assert found.upper == pytest.approx(other.epsilon("1e-5").epsilon.upper, rel=1e-9)
    assert found.lower is not None
    assert 0 < found.lower < found.upper


@pytest.mark.parametrize("name", ["batch_size", "data_size"])
def test_sizes_are_public(name: str) -> None:
    """What an epoch costs is known of sizes that were fixed before the data."""
    paid = SampledRun(
        mechanism=LaplaceSum(scale=P(9)), sampler=Full(), domain=NormBall(radius=P(1), norm=Norm.L1)
    ).pure()
    sizes: dict[str, Any] = {"batch_size": P(2), "data_size": P(8), name: Released(4, paid)}
    with pytest.raises(InvalidValue, match=name):
        ShuffledBatches(**sizes)


@pytest.mark.slow
def test_it_is_above_poisson() -> None:
    """The classical confusion: its lower end is above what Poisson samples at the same rate cost."""
    shuffled = run_of("1", 20).epsilon("1e-5").epsilon
    poisson = SampledRun(
        mechanism=GaussianSum(noise_multiplier=P("1")),
        sampler=Poisson(rate=P("0.05")),
        releases=ResampleEach(20),
        relation=ZERO_OUT,
    )
    assert shuffled.lower is not None
    assert shuffled.lower > poisson.epsilon("1e-5").epsilon.upper


def test_one_batch_is_everything() -> None:
    found = run_of("1", 1).epsilon("1e-5").epsilon
    assert found.lower is not None
    assert found.upper - found.lower < 1e-6


def test_what_is_not_covered_is_refused() -> None:
    with pytest.raises(InvalidValue, match="smaller"):
        ShuffledBatches(batch_size=P(3), data_size=P(10))
    with pytest.raises(InvalidValue):
        ShuffledBatches(batch_size=P(0), data_size=P(10))
    with pytest.raises(InvalidValue, match="batches"):
        ShuffledBatches(batch_size=P(1), data_size=P(2**20 + 1))
    with pytest.raises(InvalidValue, match="zero-out"):
        run_of("1", 10, relation=ADD_REMOVE)
    sampler = ShuffledBatches(batch_size=P(10), data_size=P(100))
    run = AllocatedRun(mechanism=GaussianSum(scale=P(1)), sampler=sampler)
    assert len(run.release(np.ones((100, 1)))[0]) == 10
    with pytest.raises(InvalidValue, match="data_size"):
        run.release(np.ones((99, 1)))


def test_other_noise_has_a_bound_from_above_alone() -> None:
    ball = NormBall(norm=Norm.L1, radius=P(1))
    sampler = ShuffledBatches(batch_size=P(2), data_size=P(8))
    run = AllocatedRun(mechanism=LaplaceSum(scale=P(1)), sampler=sampler, domain=ball)
    assert run.relation == ZERO_OUT
    assert float(run.pure().bound.epsilon.upper) == 1
    assert not run.epsilon("1e-3").epsilon.lower


def test_orders_are_drawn_uniformly(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ways to put four records into two batches of two, in 3,000 epochs."""
    seen: list[tuple[int, ...]] = []

    def keep(self: GaussianSum, sample: WeightedSample, coins: Coins) -> Release:
        seen.append(tuple(int(row[0]) for row in sample.records))
        assert (sample.weights == 1).all()
        return np.zeros(1)

    monkeypatch.setattr(GaussianSum, "release", keep)
    sampler = ShuffledBatches(batch_size=P(2), data_size=P(4))
    run = AllocatedRun(mechanism=GaussianSum(scale=P(1)), sampler=sampler, epochs=3000)
    run.release(np.arange(4.0)[:, None], coins=Coins.seeded(5))
    epochs = [first + second for first, second in zip(seen[::2], seen[1::2], strict=True)]
    assert all(sorted(epoch) == [0, 1, 2, 3] for epoch in epochs)
    counts = Counter(epochs)
    ways = factorial(4)
    statistic = sum((counts[way] - 3000 / ways) ** 2 / (3000 / ways) for way in counts)
    assert len(counts) == ways
    assert statistic < chi2.ppf(1 - 1e-6, ways - 1)


def test_it_keeps_the_laws_of_its_kind() -> None:
    assert check(ShuffledBatches(batch_size=P(2), data_size=P(8))).passed
