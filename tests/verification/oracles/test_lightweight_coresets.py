"""Coreset errors against the definition, the closed form for one centre, the search, and the proven sizes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.exact import Floats
from certdp.accounting.provenance import Private, Public
from certdp.plugins.contract import WeightedSample, draw
from certdp.plugins.contract.coins import Coins
from certdp.samplers.coreset import Coreset
from certdp.verification.oracles import lightweight_coresets
from certdp.verification.oracles.lightweight_coresets import (
    WeightedPoints,
    coreset_error,
    is_coreset,
    largest_error_of_one_centre,
    search_largest_error,
    sensitivity,
    size_for_all_sets,
    size_for_sets,
    stated_size,
)
from tests.support.cases import examples


def centred(seed: int, size: int, columns: int) -> Floats:
    records = np.random.default_rng(seed).standard_t(3, size=(size, columns))
    return np.asarray(records - records.mean(axis=0))


def sampler_for(records: Floats, size: float) -> Coreset:
    squares = np.sum(records**2, axis=1)
    return Coreset(
        m=Public(size),
        n=Public(len(records)),
        mean_squared_norm=Public(float(squares.mean())),
        radius=Public(float(np.sqrt(squares.max()) * (1 + 1e-12))),
    )


def replacing(records: Floats, size: int, seed: int) -> WeightedPoints:
    """The sample of Bachem, Lucic and Krause: m draws with replacement, weight 1/(m·q)."""
    distances = np.sum((records - records.mean(axis=0)) ** 2, axis=1)
    q = 0.5 / len(records) + 0.5 * distances / distances.sum()
    chosen = np.random.default_rng(seed).choice(len(records), size=size, p=q)
    return WeightedPoints(records[chosen], 1 / (size * q[chosen]))


def directly(records: Floats, sample: WeightedSample | WeightedPoints, centres: Floats) -> float:
    """The definition, by a table of all distances."""

    def cost(points: Floats, weights: Floats) -> float:
        table = ((points[:, np.newaxis, :] - centres[np.newaxis]) ** 2).sum(axis=2)
        return float(weights @ table.min(axis=1))

    full, spread = cost(records, np.ones(len(records))), float(((records - records.mean(axis=0)) ** 2).sum())
    return 2 * abs(full - cost(sample.records, sample.weights)) / (full + spread)


@examples(30)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4), columns=st.integers(1, 4), offset=st.integers(-50, 50))
def test_error_is_its_definition(seed: int, k: int, columns: int, offset: int) -> None:
    random = np.random.default_rng(seed)
    records = random.normal(size=(12, columns)) + offset
    sample = WeightedSample(records[:5], 1 + 3 * random.random(5))
    centres = records[:k] + random.normal(size=(k, columns))
    expected = directly(records, sample, centres)
    assert coreset_error(records, sample, centres).reveal() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert is_coreset(records, sample, [centres], expected * 1.001 + 1e-9).reveal()
    assert not is_coreset(records, sample, [centres], expected * 0.999 - 1e-9 if expected > 1e-6 else -1).reveal()


def test_the_data_themselves_have_no_error() -> None:
    records = centred(1, 20, 3)
    sample = WeightedSample(records, np.ones(20))
    assert search_largest_error(records, sample, 3).reveal().error < 1e-12


@examples(30)
@given(seed=st.integers(0, 10**6), columns=st.integers(1, 4), size=st.integers(0, 8))
def test_no_single_centre_is_worse_than_the_closed_form(seed: int, columns: int, size: int) -> None:
    random = np.random.default_rng(seed)
    records = random.normal(size=(15, columns)) * random.exponential(size=columns)
    sample = WeightedPoints(records[:size], 3 * random.random(size))
    worst = largest_error_of_one_centre(records, sample).reveal()
    for scale in (0.1, 1, 10, 1000):
        for centre in scale * random.normal(size=(30, 1, columns)):
            assert directly(records, sample, centre) <= worst.error * (1 + 1e-9)
    if np.isfinite(worst.centres).all():
        assert directly(records, sample, worst.centres) == pytest.approx(worst.error, rel=1e-6, abs=1e-12)


def test_an_empty_sample_is_worst_far_away() -> None:
    records, nothing = centred(1, 6, 2), WeightedPoints(np.empty((0, 2)), np.empty(0))
    assert largest_error_of_one_centre(records, nothing).reveal().error == pytest.approx(2)
    assert coreset_error(records, nothing, [[1e9, 0.0]]).reveal() == pytest.approx(2)


def test_the_search_finds_worse_centres_than_chance_and_keeps_its_witness() -> None:
    records = centred(3, 400, 2)
    sample = draw(sampler_for(records, 30), records, Coins.seeded(1))
    found = search_largest_error(records, sample, 3, seed=5).reveal()
    random = np.random.default_rng(9)
    by_chance = [coreset_error(records, sample, records[random.integers(400, size=3)]).reveal() for _ in range(50)]
    assert found.error > max(by_chance)
    assert directly(records, sample, found.centres) == pytest.approx(found.error, rel=1e-6)
    assert found.error >= largest_error_of_one_centre(records, sample).reveal().error


@pytest.mark.parametrize("size", [200, 400])
def test_errors_of_both_kinds_of_samples_have_their_variance(size: int) -> None:
    random = np.random.default_rng(2)
    records = random.normal(size=(3000, 3))
    records -= records.mean(axis=0)
    sampler = sampler_for(records, size)
    centres = records[random.integers(len(records), size=4)]
    ours = [coreset_error(records, draw(sampler, records, Coins.seeded(i)), centres).reveal() for i in range(60)]
    theirs = [coreset_error(records, replacing(records, size, i), centres).reveal() for i in range(60)]
    squares = np.sum(records**2, axis=1)
    share = 0.5 / len(records) + 0.5 * squares / squares.sum()
    nearest = ((records[:, np.newaxis] - centres) ** 2).sum(axis=2).min(axis=1)
    g = 2 * nearest / (nearest.sum() + squares.sum())
    poisson = math.sqrt(np.sum((1 / (size * share) - 1) * g**2))
    with_replacement = math.sqrt((np.sum(g**2 / share) - g.sum() ** 2) / size)
    assert poisson > with_replacement  # the size of a Poisson sample is random too
    for errors, deviation in ((ours, poisson), (theirs, with_replacement)):
        assert 0.7 < math.sqrt(np.mean(np.square(errors))) / deviation < 1.4
    # the proven size for one set at this ε and Δ = ½: half of the samples must keep to it
    bound = math.sqrt(2 * 16 * 2.4 * math.log(4) / size)
    assert size_for_sets(1, bound, "1/2") <= size
    assert np.mean(np.array(ours) <= bound) >= 0.5


def test_sensitivity_is_least_at_two_thirds() -> None:
    assert sensitivity() == 16
    assert sensitivity("2/3") == 12
    assert all(sensitivity(Fraction(i, 60)) >= 12 for i in range(1, 60))


def test_sizes_satisfy_their_inequalities_and_no_smaller_ones_do() -> None:
    def deviation(m: int, k: int, d: int, risk: float, factor: float) -> float:
        mean = 2 * factor * math.sqrt(2 * (math.log(2) + k * (d + 2) * math.log(m + 1)) / m)
        first, doubt = factor * math.log(1 / risk) / 3, math.log(1 / risk)
        return mean + (first + math.sqrt(first**2 + 2 * m * factor**2 * doubt)) / m

    for k, d, epsilon, mixing in ((1, 1, 0.5, "1/2"), (25, 74, 1.0, "2/3"), (4, 2, 0.01, "9/10")):
        m = size_for_all_sets(k, d, epsilon, "0.05", mixing=mixing)
        factor = float(sensitivity(mixing))
        assert deviation(m, k, d, 0.05, factor) <= epsilon * (1 + 1e-12)
        assert deviation(m - 1, k, d, 0.05, factor) > epsilon * (1 - 1e-12)
    m = size_for_sets(10, "0.1", "0.05")
    assert m == math.ceil(2 * 16 * (2 + 0.1 / 3) * math.log(400) / 0.01)
    assert size_for_sets(1, "0.1", "0.05") < m < size_for_all_sets(1, 1, "0.1", "0.05")


def test_the_stated_size_needs_its_constant() -> None:
    assert stated_size(3, 5, "0.1", "0.01", constant=2) == math.ceil(200 * (15 * math.log(3) + math.log(100)))
    # with one centre the stated size does not grow with the dimension
    assert stated_size(1, 5, "0.1", "0.01", constant=1) == stated_size(1, 500, "0.1", "0.01", constant=1)


def test_everything_is_private() -> None:
    records = centred(1, 9, 2)
    sample = WeightedSample(records[:3], np.full(3, 3.0))
    found = [
        coreset_error(records, sample, records[:2]),
        is_coreset(records, sample, [records[:2]], 1),
        largest_error_of_one_centre(records, sample),
        search_largest_error(records, sample, 2, restarts=1, steps=1),
    ]
    assert all(isinstance(value, Private) for value in found)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("size_for_sets", (0, 1, "1/2"), "count: got 0"),
        ("size_for_sets", (1, 0, "1/2"), "epsilon: got 0"),
        ("size_for_sets", (1, 1, 1), "failure: got 1"),
        ("size_for_all_sets", (0, 1, 1, "1/2"), "k: got 0"),
        ("size_for_all_sets", (1, 0, 1, "1/2"), "dimension: got 0"),
        ("size_for_all_sets", (1, 1, 1e-40, "1/2"), "epsilon: got"),
        ("sensitivity", (1,), "mixing: got 1"),
        ("sensitivity", (0,), "mixing: got 0"),
    ],
)
def test_inadmissible_accuracies_are_named(name: str, arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        getattr(lightweight_coresets, name)(*arguments)


def test_inadmissible_data_are_named() -> None:
    same, sample = np.ones((4, 2)), WeightedSample(np.ones((1, 2)), [4.0])
    with pytest.raises(InvalidValue, match="records: got none that differ"):
        coreset_error(same, sample, same)
    records = centred(1, 4, 2)
    with pytest.raises(InvalidValue, match="centres: got"):
        coreset_error(records, sample, np.empty((0, 2)))
    with pytest.raises(InvalidValue, match="sample: got 3 columns"):
        coreset_error(records, WeightedSample(np.ones((1, 3)), [4.0]), records)
    with pytest.raises(InvalidValue, match="weights: got"):
        WeightedPoints(records, [-1.0, 1, 1, 1])
    with pytest.raises(InvalidValue, match="constant"):
        stated_size(1, 1, 1, "1/2", constant=0)
