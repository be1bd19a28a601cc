# pyright: reportMissingImports=false
"""Loaders of a run's batches: their form, empty ones among them, and that each batch is used once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from scipy.stats import chi2

from certdp import (
    AllocatedRun,
    FixedBatches,
    GaussianSum,
    Poisson,
    Public,
    RandomAllocation,
    ResampleEach,
    SampledRun,
    TruncatedPoisson,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.plugins.contract import Coins
from certdp.sampling import ShuffledBatches, Strata, StratifiedRun

torch = pytest.importorskip("torch")

from torch.utils.data import TensorDataset  # noqa: E402  # PyTorch may be missing

from certdp.dpis.torch import RunBatches, run_loader  # noqa: E402

P = Public
MECHANISM = GaussianSum(noise_multiplier=P(1))
SIZE = 12
RECORDS = TensorDataset(torch.arange(SIZE * 3, dtype=torch.float64).reshape(SIZE, 3), torch.arange(SIZE))


def sampled(sampler: Any, steps: int) -> SampledRun:
    return SampledRun(mechanism=MECHANISM, sampler=sampler, releases=ResampleEach(steps))


RUNS: dict[str, SampledRun | AllocatedRun | StratifiedRun] = {
    "poisson": sampled(Poisson(rate=P("1/8")), 40),
    "fixed": sampled(FixedBatches(batch_size=P(3), data_size=P(SIZE)), 40),
    "truncated": sampled(TruncatedPoisson(rate=P("1/4"), batch_size=P(3), data_size=P(SIZE)), 40),
    "allocation": AllocatedRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=P(20)), epochs=2),
    "allocation, several": AllocatedRun(
        mechanism=MECHANISM, sampler=RandomAllocation(batches=P(40), participations=P(2)), epochs=1
    ),
    "shuffled": AllocatedRun(
        mechanism=MECHANISM, sampler=ShuffledBatches(batch_size=P(4), data_size=P(SIZE)), epochs=2
    ),
    "strata": StratifiedRun(mechanism=MECHANISM, sampler=Strata(rates=P("a:1/8,b:1")), releases=ResampleEach(40)),
}
LABELS = {"strata": ["a"] * (SIZE - 1) + ["b"]}


@pytest.mark.parametrize("scheme", RUNS)
@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_hands_out_the_records_of_each_batch(scheme: str, workers: int) -> None:
    run, labels = RUNS[scheme], LABELS.get(scheme)
    expected = list(RunBatches(run, SIZE, labels=labels, coins=Coins.seeded(3)))
    loader = run_loader(run, RECORDS, labels=labels, coins=Coins.seeded(3), num_workers=workers)
    assert len(loader) == run.steps == len(expected)
    batches = [(inputs, targets) for inputs, targets in loader]
    assert [targets.tolist() for _, targets in batches] == expected
    for inputs, targets in batches:
        assert inputs.shape == (len(targets), 3)
        assert inputs.dtype == torch.float64
        assert targets.dtype == torch.int64
        assert (inputs[:, 0] == 3 * targets).all()
    empty = sum(not len(targets) for _, targets in batches)
    assert empty > 0 if scheme in ("poisson", "truncated", "allocation", "allocation, several") else empty == 0


def test_batches_of_a_loader_have_the_law_of_the_run() -> None:
    """All eight samples of three records at rate ½, in 2,000 batches."""
    data = TensorDataset(torch.arange(3))
    loader = run_loader(sampled(Poisson(rate=P("1/2")), 2000), data, coins=Coins.seeded(9))
    counts = Counter(tuple(records.tolist()) for (records,) in loader)
    assert len(counts) == 8
    assert sum((count - 250) ** 2 / 250 for count in counts.values()) < chi2.ppf(1 - 1e-6, 7)


def test_batches_are_handed_out_once() -> None:
    loader = run_loader(RUNS["poisson"], RECORDS)
    assert len(list(loader)) == 40
    with pytest.raises(InvalidValue, match="once"):
        next(iter(loader))
    begun = RunBatches(RUNS["poisson"], SIZE)
    assert len(next(iter(begun))) <= SIZE
    with pytest.raises(InvalidValue, match="once"):
        next(iter(begun))


@pytest.mark.parametrize(
    "options", [{"batch_size": 4}, {"shuffle": True}, {"sampler": None}, {"drop_last": True}, {"batch_sampler": None}]
)
def test_options_that_draw_otherwise_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match="how batches are drawn"):
        run_loader(RUNS["poisson"], RECORDS, **options)


def test_data_that_the_run_is_not_declared_for_are_refused() -> None:
    with pytest.raises(InvalidValue, match="data_size"):
        run_loader(RUNS["fixed"], TensorDataset(torch.arange(SIZE + 1)))
    with pytest.raises(InvalidValue, match="without weights"):
        run_loader(sampled(Poisson(rate=P("1/2"), weighted=P(True)), 1), RECORDS)
    with pytest.raises(InvalidType, match="labels"):
        run_loader(RUNS["strata"], RECORDS)


def test_samples_that_are_no_tensors_have_no_empty_batch() -> None:
    loader = run_loader(sampled(Poisson(rate=P(0)), 1), ["text", "more"])
    with pytest.raises(InvalidType, match="records"):
        next(iter(loader))
    own = run_loader(sampled(Poisson(rate=P(0)), 1), ["text"], collate_fn=lambda texts: torch.zeros(len(texts), 2))
    (batch,) = own
    assert batch.shape == (0, 2)
