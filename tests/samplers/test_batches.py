"""Fixed and truncated batches: what they cost, what is refused, and the law of what they draw."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy.stats import chi2

from certdp import (
    REPLACE,
    Answer,
    Delta,
    FixedBatches,
    GaussianSum,
    LaplaceSum,
    NormBall,
    Poisson,
    Public,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
    TruncatedPoisson,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import ORDER
from certdp.accounting.norms import Norm
from certdp.accounting.pairs import SampledGaussian
from certdp.accounting.relations import ADD_REMOVE, ZERO_OUT, Change, Direction, User
from certdp.accounting.sampling.losses import RenyiLoss
from certdp.accounting.sampling.records import Features
from certdp.plugins.contract import AnySampler, Coins, draw_from

DELTA = Delta("1e-5")
GAUSSIAN = GaussianSum(noise_multiplier=Public(1))
P = Public


def fixed(batch: int, size: int) -> FixedBatches:
    return FixedBatches(batch_size=P(batch), data_size=P(size))


def truncated(batch: int, size: int = 1000, rate: str = "0.01", *, at_most: bool = False) -> TruncatedPoisson:
    return TruncatedPoisson(rate=P(rate), batch_size=P(batch), data_size=P(size), at_most=P(at_most))


def cost(sampler: AnySampler, relation: Change, steps: int = 1000) -> Answer:
    run = SampledRun(mechanism=GAUSSIAN, sampler=sampler, relation=relation, releases=ResampleEach(steps))
    return run.epsilon(DELTA)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("batch", "relation", "least", "most", "peer"),
    [
        (30, ADD_REMOVE, 1.82823, 1.82865, 1.8285),
        (20, ADD_REMOVE, 1.8277, 3.81865, 3.8340),
        (14, ADD_REMOVE, 1.7919, 6.60590, 6.8420),
        (30, ZERO_OUT, 1.82823, 1.82855, 1.8285),
        (20, ZERO_OUT, 1.8277, 3.82355, 3.8340),
        (14, ZERO_OUT, 1.7919, 6.78650, 6.8420),
        (30, REPLACE, 2.84329, 2.84360, 2.8436),
        (20, REPLACE, 2.8424, 4.20290, 4.2134),
        (14, REPLACE, 2.7852, 7.10400, 7.1589),
    ],
)
def test_truncated_batches_cost_at_most_what_dp_accounting_says(
    batch: int, relation: Change, least: float, most: float, peer: float
) -> None:
    """Its own numbers, by dp_accounting 0.6.0, are rounded up here; they have an error of 10^-4 of their own."""
    found = cost(truncated(batch), relation).epsilon
    assert found.lower is not None
    assert least <= found.lower <= found.upper <= most
    assert found.upper <= peer + 2e-4


@pytest.mark.slow
def test_a_bound_of_the_number_of_records_costs_more_than_the_number() -> None:
    for relation in (ADD_REMOVE, REPLACE, ZERO_OUT):
        least, most = (cost(truncated(20, at_most=bound), relation, 10).epsilon.upper for bound in (False, True))
        assert least < most


def test_one_fixed_batch_is_known_exactly_and_is_no_poisson_sample() -> None:
    found = cost(fixed(10, 1000), REPLACE, 1).epsilon
    assert found.lower is not None
    assert found.upper - found.lower < 1e-12
    poisson = cost(Poisson(rate=P("0.01")), REPLACE, 1).epsilon
    assert poisson.lower is not None
    assert poisson.upper < 0.2094 < 3.0253 < found.lower
    law = SampledGaussian(Enclosure.of(2), Enclosure.of("0.01")).delta
    assert law(Enclosure.of(found.upper), Direction.REMOVE).upper <= Fraction(1, 10**5)


@pytest.mark.slow
def test_many_fixed_batches_have_both_ends() -> None:
    found = cost(fixed(10, 1000), REPLACE).epsilon
    assert found.lower is not None
    assert 13.3608 < found.lower < 13.3609
    assert 14.82 < found.upper < 14.821


def test_a_share_is_as_good_as_two_sizes() -> None:
    share = FixedBatches(rate=P("0.01"))
    assert cost(share, REPLACE, 3).epsilon == cost(fixed(10, 1000), REPLACE, 3).epsilon


def test_releases_on_one_batch_cost_less_than_each_on_its_own_at_a_small_delta() -> None:
    once = SampledRun(mechanism=GAUSSIAN, sampler=fixed(500, 1000), relation=REPLACE, releases=SampleOnce(4))
    assert 0 < once.epsilon(DELTA).epsilon.upper < 40


@pytest.mark.parametrize("relation", [REPLACE, ZERO_OUT])
def test_laplace_sums_have_a_pure_loss_on_batches(relation: Change) -> None:
    run = SampledRun(
        mechanism=LaplaceSum(scale=P(1)),
        sampler=fixed(1, 2),
        relation=relation,
        domain=NormBall(radius=P(1), norm=Norm.L1),
    )
    # two records of opposite sign are 2 apart: log(1 + (e^2 − 1)/2)
    assert abs(float(run.pure().bound.epsilon.midpoint) - 1.4338) < 1e-3


def test_no_truncation_is_poisson_sampling() -> None:
    assert cost(truncated(1000), ADD_REMOVE, 5).epsilon == cost(Poisson(rate=P(0.01)), ADD_REMOVE, 5).epsilon


# What is refused


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: fixed(11, 10), "batch_size"),
        (lambda: fixed(0, 10), "batch_size"),
        (lambda: FixedBatches(batch_size=P(2)), "data_size"),
        (lambda: FixedBatches(data_size=P(2)), "batch_size or rate"),
        (lambda: FixedBatches(rate=P("0.3"), data_size=P(5)), "rate"),
        (lambda: FixedBatches(rate=P(2)), "rate"),
        (lambda: truncated(0), "batch_size"),
        (lambda: truncated(1001), "batch_size"),
        (lambda: truncated(5, rate="0"), "rate"),
        (lambda: truncated(5, rate="1.5"), "rate"),
        (lambda: TruncatedPoisson(rate=P("0.1"), batch_size=P("2.5"), data_size=P(5)), "batch_size"),
    ],
)
def test_sizes_that_cannot_be_are_refused(build: object, parameter: str) -> None:
    assert callable(build)
    with pytest.raises(InvalidValue) as refused:
        build()
    assert refused.value.parameter == parameter


def test_released_sizes_are_refused() -> None:
    released = Released(Fraction(10), cost(Poisson(rate=P("0.1")), ADD_REMOVE, 1).guarantee)
    with pytest.raises(InvalidValue, match="data_size"):
        FixedBatches(batch_size=P(2), data_size=released)
    for name, value in (("rate", Fraction(1, 10)), ("batch_size", Fraction(2)), ("data_size", Fraction(10))):
        given: dict[str, Any] = {name: evolve(released, value=value)}
        with pytest.raises(InvalidValue, match=name):
            evolve(truncated(2, 10), **given)


def test_what_no_theorem_covers_is_refused_by_name() -> None:
    with pytest.raises(InvalidValue, match="fixed-batches") as refused:
        SampledRun(mechanism=GAUSSIAN, sampler=fixed(1, 2), relation=ADD_REMOVE)
    assert refused.value.parameter == "relation"
    with pytest.raises(InvalidValue, match="fixed-batches") as refused:
        SampledRun(mechanism=GAUSSIAN, sampler=fixed(1, 2), unit=User(contributions=2))
    assert refused.value.parameter == "unit"
    with pytest.raises(InvalidValue, match="RenyiLoss") as refused:
        fixed(1, 2).rate_for(RenyiLoss(ORDER * Fraction(1, 2)))
    assert refused.value.parameter == "mechanism"
    run = SampledRun(mechanism=LaplaceSum(scale=P(1)), sampler=fixed(1, 2), domain=NormBall(radius=P(1), norm=Norm.L1))
    with pytest.raises(InvalidValue):
        _ = run.profile


def test_data_of_another_size_are_refused() -> None:
    domain = NormBall(radius=P(1), norm=Norm.L2)
    four = np.eye(4)
    run = SampledRun(mechanism=GaussianSum(scale=P(1)), sampler=fixed(2, 5), domain=domain)
    with pytest.raises(InvalidValue, match="data_size = 5"):
        run.release(four, coins=Coins.seeded(1))
    for relation, size in ((REPLACE, 5), (ADD_REMOVE, 6)):
        run = SampledRun(
            mechanism=GaussianSum(scale=P(1)), sampler=truncated(2, size), domain=domain, relation=relation
        )
        with pytest.raises(InvalidValue, match=f"data_size = {size}"):
            run.release(four, coins=Coins.seeded(1))
    missing = SampledRun(mechanism=GaussianSum(scale=P(1)), sampler=truncated(2, 5), domain=domain, relation=ADD_REMOVE)
    assert len(missing.release(four, coins=Coins.seeded(1))) == 1
    fewer = SampledRun(
        mechanism=GaussianSum(scale=P(1)), sampler=truncated(2, 50, at_most=True), domain=domain, relation=REPLACE
    )
    assert len(fewer.release(four, coins=Coins.seeded(1))) == 1


# What is drawn


def frequencies(sampler: FixedBatches | TruncatedPoisson, size: int, draws: int) -> Counter[tuple[int, ...]]:
    coins = Coins.seeded(7)
    return Counter(tuple(sampler.batches.members(size, coins).tolist()) for _ in range(draws))


def far_off(found: Counter[tuple[int, ...]], law: dict[tuple[int, ...], Fraction]) -> float:
    """The probability that χ² is as large as found, where the law is the true one."""
    assert found.keys() <= law.keys()
    draws = found.total()
    statistic = sum((found[batch] - draws * float(p)) ** 2 / (draws * float(p)) for batch, p in law.items())
    return float(chi2.sf(statistic, len(law) - 1))


@pytest.mark.parametrize(("batch", "size"), [(1, 4), (2, 5), (5, 5)])
def test_every_fixed_batch_is_as_likely(batch: int, size: int) -> None:
    law = {places: Fraction(1, comb(size, batch)) for places in combinations(range(size), batch)}
    if len(law) == 1:
        assert frequencies(fixed(batch, size), size, 10).keys() == law.keys()
    else:
        assert far_off(frequencies(fixed(batch, size), size, 4000), law) > 1e-6


def test_truncated_batches_have_their_law_and_may_be_empty() -> None:
    rate, batch, size = Fraction(1, 2), 2, 4
    law: dict[tuple[int, ...], Fraction] = {}
    for drawn in range(size + 1):
        for places in combinations(range(size), drawn):
            kept = list(combinations(places, min(batch, drawn)))
            for one in kept:
                law[one] = law.get(one, Fraction(0)) + rate**drawn * (1 - rate) ** (size - drawn) / len(kept)
    assert law[()] == Fraction(1, 16)
    found = frequencies(truncated(batch, size, "0.5"), size, 4000)
    assert far_off(found, law) > 1e-6
    assert found[()]


def test_an_empty_batch_is_released_from() -> None:
    run = SampledRun(
        mechanism=GaussianSum(scale=P("1e-9")),
        sampler=truncated(2, 3, "1e-300"),
        domain=NormBall(radius=P(1), norm=Norm.L2),
        relation=REPLACE,
    )
    (release,) = run.release(np.ones((3, 2)) / 2, coins=Coins.seeded(1))
    assert np.all(np.abs(np.asarray(release)) < 1e-6)


def test_probabilities_stated_are_those_of_being_in_the_batch() -> None:
    sampler = truncated(2, 6, "0.5")
    rate = sampler.rate_for(GAUSSIAN.loss)
    features = Features(np.arange(12.0).reshape(6, 2))
    realisation = rate.realise(features)
    exact = sum(
        (Fraction(comb(5, others), 2**6) * min(Fraction(1), Fraction(2, others + 1)) for others in range(6)),
        Fraction(0),
    )
    assert realisation.probability.tolist() == [float(exact)] * 6
    sample = draw_from(features, realisation, Coins.seeded(3))
    assert len(sample) <= 2
    assert np.all(sample.weights == 1)
