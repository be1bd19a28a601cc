"""Estimates from sanitised samples: reference values, definitions, simulations of nothing but the tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue, OutsideDomain
from certdp.accounting.frequency_estimates import (
    KeyGroup,
    Moments,
    TokenEstimates,
    concordance,
    estimated_sum,
    expected_kendall,
    inverse_probability,
    inverse_probability_moments,
    maximum_likelihood,
    moments,
    sum_error,
    unbiased,
)
from certdp.accounting.frequency_reporting import FrequencyNoise, FrequencyTable, ListedRates, Ppswor
from certdp.accounting.units import Delta, Epsilon, Probability


def identity(frequency: int) -> int:
    return frequency


def table(epsilon: str = "0.1", delta: str = "0.01", subdivision: int = 0) -> FrequencyTable:
    return FrequencyTable(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=subdivision)


def test_reference_estimates() -> None:
    estimates = maximum_likelihood(table().rows(), identity, 50)
    told = {1: 35.27290371, 10: 32.22623552, 20: 38, 50: 68}
    for token, value in told.items():
        assert estimates.value(token - 1) == pytest.approx(value, abs=5e-9)
    found = moments(table().stored(20)[-1], estimates, identity)
    assert found.bias == pytest.approx(-0.36816852, abs=5e-9)
    assert found.mean_squared_error == pytest.approx(267.5729146, abs=5e-8)
    assert found.variance == pytest.approx(found.mean_squared_error - found.bias**2, rel=1e-12)


def test_the_likeliest_frequency_may_lie_beyond_those_observed() -> None:
    """Cutting the rows off at the largest observed frequency changes the estimates."""
    cut = maximum_likelihood(table().stored(20), identity, 20)
    assert cut.value(19) != maximum_likelihood(table().rows(), identity, 20).value(19)
    with pytest.raises(InvalidValue, match="highest"):
        maximum_likelihood(table().stored(20), identity, 21)


@pytest.mark.parametrize("delta", ["0.01", "0.2"])
def test_subdivided_tokens_have_estimates(delta: str) -> None:
    noise = FrequencyNoise(epsilon=Epsilon("0.5"), delta=Delta(delta), subdivision=3)
    estimates = maximum_likelihood(noise.rows(), identity, 12)
    rows = list(islice(noise.rows(), 12 + noise.band))
    for token in range(12 * 8):
        likelihood = [row.units_from(token) - row.units_from(token + 1) for row in rows]
        best = rows[likelihood.index(max(likelihood))]
        assert estimates.value(token) == float(best.frequency / best.probability)


def test_unbiased_estimates_are_unbiased_and_go_below_0() -> None:
    rows = table("0.5", "0.05").stored(14)
    estimates = unbiased(rows, identity)
    for row in rows:
        found = moments(row, estimates, identity)
        assert found.bias == pytest.approx(0, abs=1e-6)
    first = moments(rows[0], estimates, identity)
    assert first.variance >= (1 / 0.05 - 1) * (1 - 1e-9)
    assert estimates.least < 0
    with pytest.raises(InvalidValue, match="one token"):
        unbiased(table(subdivision=1).stored(3), identity)


def test_without_privacy() -> None:
    sampler = Ppswor(threshold="0.1")
    rate = float(sampler.rate(7, precision=90).midpoint)
    assert inverse_probability(sampler, lambda i: i * i, 7) == pytest.approx(49 / rate, rel=1e-14)
    found = inverse_probability_moments(sampler, identity, 7)
    assert (found.bias, found.expectation) == (0, 7)
    assert found.variance == found.mean_squared_error == pytest.approx(49 * (1 / rate - 1), rel=1e-14)
    with pytest.raises(InvalidValue, match="positive probability"):
        inverse_probability(ListedRates((Probability(0),)), identity, 1)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 2), st.fractions(Fraction(1, 100), Fraction(1, 2), max_denominator=100), st.integers(1, 25))
def test_moments_of_likely_estimates(epsilon: float, delta: Fraction, frequency: int) -> None:
    rows = FrequencyTable(epsilon=Epsilon(epsilon), delta=Delta(delta))
    estimates = maximum_likelihood(rows.rows(), identity, frequency)
    row = rows.stored(frequency)[-1]
    found = moments(row, estimates, identity)
    chances = np.array([row.unreported] + [row.units_from(t) - row.units_from(t + 1) for t in range(frequency)])
    chances = chances.astype(float) / 2.0**row.bits
    values = np.array([0.0] + [estimates.value(t) for t in range(frequency)])
    mean = chances @ values
    assert found.expectation == pytest.approx(mean, rel=1e-12)
    assert found.variance == pytest.approx(chances @ (values - mean) ** 2, rel=1e-9)
    assert found.mean_squared_error == pytest.approx(chances @ (values - frequency) ** 2, rel=1e-9)
    assert estimates.least >= 0


def test_the_error_of_a_sum() -> None:
    estimates = maximum_likelihood(table().rows(), identity, 40)
    errors = {row.frequency: moments(row, estimates, identity) for row in table().stored(40)}
    keys = [KeyGroup(5, 1.0, 300), KeyGroup(40, 2.0, 10)]
    found = sum_error(keys, errors, identity)
    bias = 300 * errors[5].bias + 20 * errors[40].bias
    variance = 300 * errors[5].variance + 40 * errors[40].variance
    assert found.truth == 300 * 5 + 20 * 40
    assert found.bias == pytest.approx(bias, rel=1e-14)
    assert found.variance == pytest.approx(variance, rel=1e-14)
    error = (variance + bias**2) ** 0.5 / found.truth
    assert found.normalised_root_mean_squared_error == pytest.approx(error, rel=1e-14)
    with pytest.raises(InvalidValue, match="every frequency"):
        sum_error([KeyGroup(41, 1.0, 1)], errors, identity)
    with pytest.raises(InvalidValue, match="not 0"):
        sum_error([KeyGroup(5, 1.0, 1), KeyGroup(5, -1.0, 1)], errors, identity)


def test_the_estimate_of_a_sample() -> None:
    estimates = TokenEstimates(edges=(0, 2, 3), values=(1.5, 4.0))
    assert estimated_sum([(2.0, 0), (1.0, 1), (-1.0, 2)], estimates) == 3 + 1.5 - 4
    for token in (-1, 3):
        with pytest.raises(OutsideDomain, match="estimate more"):
            estimates.value(token)


def test_concordance_by_enumeration() -> None:
    low, high = FrequencyTable(epsilon=Epsilon(1), delta=Delta("0.1"), subdivision=2).stored(5)[2::2]

    def units(row: object) -> list[int]:
        assert row in (low, high)
        held = low if row is low else high
        return [held.unreported, *(held.units_from(t) - held.units_from(t + 1) for t in range(20))]

    twice = sum(a * b * (2 if j > i else i == j) for i, a in enumerate(units(low)) for j, b in enumerate(units(high)))
    assert concordance(low, high) == Fraction(twice, 2 << 2 * low.bits)
    with pytest.raises(InvalidValue, match="below 3"):
        concordance(high, low)
    other = FrequencyTable(epsilon=Epsilon(1), delta=Delta("0.1")).stored(9)[-1]
    with pytest.raises(InvalidValue, match="same table"):
        concordance(low, other)


def test_expected_kendall() -> None:
    rows = table("1", "0.1").stored(6)
    pairs = {(a, b): float(2 * concordance(rows[a], rows[b]) - 1) for a in range(6) for b in range(a + 1, 6)}
    counts = [3, 0, 2, 1, 0, 4]
    weights = {pair: counts[pair[0]] * counts[pair[1]] for pair in pairs}
    expected = sum(weights[p] * pairs[p] for p in pairs) / sum(weights.values())
    assert expected_kendall(rows, counts) == pytest.approx(expected, rel=1e-14)
    assert expected_kendall(table("30", "1").stored(6), counts) == pytest.approx(1)
    with pytest.raises(InvalidValue, match="one per row"):
        expected_kendall(rows, [1, 2])
    with pytest.raises(InvalidValue, match="at least two"):
        expected_kendall(rows, [5, 0, 0, 0, 0, 0])


def test_moments_need_estimates_of_every_token() -> None:
    estimates = maximum_likelihood(table().rows(), identity, 3)
    with pytest.raises(OutsideDomain):
        moments(table().stored(9)[-1], estimates, identity)
    assert isinstance(moments(table().stored(3)[-1], estimates, identity), Moments)
