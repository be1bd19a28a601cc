"""Variance-optimal probabilities against a numerical optimiser, and that they stay private."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.provenance import Private, PrivateValue, Public
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import Sampler
from certdp.plugins.contract.coins import Coins
from certdp.plugins.contract.draw import draw
from certdp.runs.sampled import SampledRun
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson
from certdp.samplers.variance_optimal import probabilities, variance_optimal, weighted_sum_variance
from tests.support.cases import examples


def total_variance(squares: Any, q: Any) -> float:
    return float(np.sum((1 / q - 1) * squares))


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # older SciPy, of its own steps
@examples(25)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 8), share=st.floats(0.05, 1))
def test_no_optimiser_does_better(seed: int, size: int, share: float) -> None:
    records = np.random.default_rng(seed).normal(size=(size, 3)) * np.exp(np.arange(size))[:, np.newaxis]
    squares, m = np.sum(records**2, axis=1), share * size
    q = variance_optimal(records, m=m).reveal()
    assert abs(q.sum() - m) < 1e-12 * size
    assert np.all((q > 0) & (q <= 1))
    found = minimize(
        lambda p: total_variance(squares / squares.max(), p),
        np.full(size, share),
        bounds=[(1e-9, 1)] * size,
        constraints={"type": "eq", "fun": lambda p: p.sum() - m},
        method="SLSQP",
    )
    feasible = np.clip(found.x, 1e-12, 1)
    if abs(feasible.sum() - m) < 1e-9:
        assert total_variance(squares, q) <= total_variance(squares, feasible) * (1 + 1e-7) + 1e-9 * squares.max()


def test_optimality_conditions() -> None:
    records = np.random.default_rng(1).pareto(1.2, size=(1000, 4)) + 0.01
    norms = np.linalg.norm(records, axis=1)
    q = variance_optimal(records, m=300).reveal()
    below = q < 1
    assert 0 < below.sum() < 1000
    levels = norms[below] / q[below]
    assert np.ptp(levels) < 1e-9 * levels.mean()  # one level τ where q < 1
    assert norms[~below].min() >= levels.mean() * (1 - 1e-9)  # and at least that where q = 1
    assert abs(q.sum() - 300) < 1e-9


def test_records_of_norm_0_are_not_drawn() -> None:
    q = variance_optimal([[0.0], [3.0], [0.0], [1.0]], m=2).reveal()
    assert q.tolist() == [0, 1, 0, 1]
    assert variance_optimal([[0.0], [3.0], [1.0]], m=1).reveal().tolist() == [0, 0.75, 0.25]


@pytest.mark.parametrize("m", [0, -1, 3, float("nan")])
def test_other_sizes_are_refused(m: float) -> None:
    with pytest.raises(InvalidValue, match="m: got"):
        variance_optimal([[0.0], [3.0], [1.0]], m=m)


@pytest.mark.slow
def test_variance_of_a_simulated_sum() -> None:
    random = np.random.default_rng(7)
    records = random.normal(size=(60, 2))
    sampler = Importance(rate=Public("0.4"))
    expected = weighted_sum_variance(records, probabilities(sampler, records), scale=2).reveal()
    mechanism, coins = LaplaceSum(scale=Public(2)), Coins.seeded(11)
    sums = np.array([mechanism.release(draw(sampler, records, coins), coins) for _ in range(4000)])
    assert np.all(abs(sums.mean(axis=0) - records.sum(axis=0)) < 5 * np.sqrt(expected / 4000))
    assert np.all(abs(sums.var(axis=0) / expected - 1) < 0.15)


def test_it_is_the_least_variance_among_samplers_of_its_size() -> None:
    records = np.random.default_rng(3).normal(size=(500, 5))
    others: list[Sampler] = [Importance(rate=Public("0.02")), Poisson(rate=Public("0.1"), weighted=Public(True))]
    for sampler in others:
        drawn = probabilities(sampler, records)
        best = variance_optimal(records, m=float(drawn.reveal().sum()))
        least, theirs = (weighted_sum_variance(records, q, scale=1).reveal().sum() for q in (best, drawn))
        assert least <= theirs


@pytest.mark.parametrize(
    ("q", "message"),
    [([0.5], "one per record"), ([0.5, 1.5], "one per record"), ([0.5, 0.0], "0 for a record other than 0")],
)
def test_other_probabilities_are_refused(q: list[float], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        weighted_sum_variance([[1.0], [2.0]], Private(np.array(q)), scale=1)


def test_it_supports_no_guarantee() -> None:
    drawn: Any = variance_optimal([[1.0], [2.0]], m=1)
    assert not isinstance(drawn, Sampler)
    assert "0.3" not in repr(drawn)
    with pytest.raises(InvalidType, match="sampler"):
        SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=drawn)
    with pytest.raises(PrivateValue, match="rate"):
        Importance(rate=drawn.map(lambda q: float(q[0])))
