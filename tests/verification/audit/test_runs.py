"""Runs of sampled mechanisms, many at a time: their samples have the law of the plan."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import frozen
from numpy.typing import NDArray
from scipy.stats import binom

from certdp import Coins, Public, ResampleEach, SampleOnce
from certdp.accounting.expressions import W, norm
from certdp.accounting.sampling.records import Features, realise
from certdp.guarantees import Evidence
from certdp.pairs import LaplaceLoss
from certdp.plugins.contract import About, WeightedSample
from certdp.samplers.fixed_batches import FixedBatches
from certdp.samplers.poisson import Poisson
from certdp.samplers.truncated_poisson import TruncatedPoisson
from certdp.verification.audit import audited_releases

Floats = NDArray[np.float64]
RUNS = 4000


@frozen
class Bare:
    """The weighted sum itself: what was drawn can be read from it."""

    about: ClassVar[About] = About(name="bare", version="1", contract=1, evidence=Evidence.HEURISTIC, citation="none")

    @property
    def loss(self) -> LaplaceLoss:
        return LaplaceLoss(W * norm(1))

    def release(self, sample: WeightedSample, coins: Coins) -> Floats:
        return sample.weighted_sum()


def drawn(records: Any, plan: Any, **options: Any) -> Floats:
    matrix = np.asarray(records, dtype=np.float64)
    realisation = realise(Poisson(rate=Public("0.25"), weighted=Public(True)).rate, Features(matrix))
    return audited_releases(Bare(), matrix, realisation, plan, Coins.seeded(3), **options)(RUNS)


def test_each_record_is_drawn_by_itself_with_its_rate_and_weight() -> None:
    outputs = drawn([[1.0], [10.0]], ResampleEach(1))[:, 0]
    for value, chance in ((0.0, 9 / 16), (4.0, 3 / 16), (40.0, 3 / 16), (44.0, 1 / 16)):
        hits = np.count_nonzero(outputs == value)
        assert binom.ppf(1e-6, RUNS, chance) <= hits <= binom.ppf(1 - 1e-6, RUNS, chance)


def test_one_sample_serves_all_releases_or_each_has_its_own() -> None:
    once, each = drawn([[1.0]], SampleOnce(3)), drawn([[1.0]], ResampleEach(3))
    assert once.shape == each.shape == (RUNS, 3)
    assert np.all(once == once[:, :1])
    agree = np.count_nonzero((each[:, 0] == each[:, 1]) & (each[:, 1] == each[:, 2]))
    chance = 0.25**3 + 0.75**3
    assert binom.ppf(1e-6, RUNS, chance) <= agree <= binom.ppf(1 - 1e-6, RUNS, chance)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_without_records_there_is_one_empty_sample(one_by_one: bool) -> None:
    outputs = drawn(np.empty((0, 2)), ResampleEach(2), one_by_one=one_by_one)
    assert outputs.shape == (RUNS, 4)
    assert not outputs.any()


def test_progress_counts_runs() -> None:
    done: list[int] = []
    drawn([[1.0]], ResampleEach(2), progress=done.append)
    assert sum(done) == RUNS


def test_batches_are_drawn_as_they_are_in_a_release() -> None:
    matrix = np.array([[1.0], [10.0], [100.0]])
    for sampler, laws in (
        (FixedBatches(batch_size=Public(2), data_size=Public(3)), {11.0: 1 / 3, 101.0: 1 / 3, 110.0: 1 / 3}),
        (
            TruncatedPoisson(rate=Public("0.5"), batch_size=Public(1), data_size=Public(3)),
            {0.0: 1 / 8, 1.0: 7 / 24, 10.0: 7 / 24, 100.0: 7 / 24},
        ),
    ):
        realisation = sampler.rate_for(Bare().loss).realise(Features(matrix))
        outputs = audited_releases(Bare(), matrix, realisation, ResampleEach(1), Coins.seeded(5))(RUNS)[:, 0]
        assert set(outputs) <= set(laws)
        for value, chance in laws.items():
            hits = np.count_nonzero(outputs == value)
            assert binom.ppf(1e-6, RUNS, chance) <= hits <= binom.ppf(1 - 1e-6, RUNS, chance)
