"""Estimates from sanitised samples: reference values, definitions, simulations of nothing but the tables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, islice

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue, OutsideDomain
from certdp.accounting.keyed.estimates import (
    Cap,
    Count,
    KeyGroup,
    Likelihood,
    Moments,
    Power,
    Statistic,
    TokenEstimates,
    Total,
    concordance,
    concordances,
    estimated_sum,
    expected_kendall,
    inverse_probability,
    inverse_probability_moments,
    likeliest_estimates,
    likelihood,
    likely_kendall,
    maximum_likelihood,
    moment_curve,
    moments,
    order,
    sizes,
    sum_error,
    sum_error_of,
    unbiased,
)
from certdp.accounting.keyed.reporting import (
    EveryKey,
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    Inclusion,
    KeyTable,
    ListedRates,
    PoissonPps,
    Ppswor,
    Reporting,
)
from certdp.accounting.units import Delta, Epsilon, Probability
from tests.support.cases import examples

RATES: tuple[Inclusion, ...] = (EveryKey(), PoissonPps(threshold="0.04"), Ppswor(threshold="0.9"))
"""Their tables come to repeat: the first two with q = 1, the last one with q as near to 1 as units are."""


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


@examples(30)
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


def sampled(inclusion: Inclusion, subdivision: int, largest: int | None = None) -> FrequencyTable:
    return FrequencyTable(
        epsilon=Epsilon("0.4"), delta=Delta("0.01"), inclusion=inclusion, subdivision=subdivision, largest=largest
    )


def noise(subdivision: int = 3, largest: int | None = None) -> FrequencyNoise:
    return FrequencyNoise(epsilon=Epsilon("0.4"), delta=Delta("0.01"), subdivision=subdivision, largest=largest)


def units(row: FrequencyRow, token: int) -> int:
    return row.units_from(token) - row.units_from(token + 1)


def reporters(rows: Sequence[FrequencyRow], token: int) -> tuple[int, int, int]:
    """By definition: the least frequency with the most units, the least and the largest with any."""
    held = [units(row, token) for row in rows]
    there = [row.frequency for row, unit in zip(rows, held, strict=True) if unit]
    return rows[held.index(max(held))].frequency, there[0], there[-1]


def agree_with_rows(read: Likelihood, rows: Sequence[FrequencyRow], tokens: Sequence[int]) -> None:
    asked = np.array(tokens, dtype=np.uint64)
    reach = read.reach(asked)
    found = zip(read.likeliest(asked).tolist(), reach.least.tolist(), reach.most.tolist(), strict=True)
    for token, told in zip(tokens, found, strict=True):
        assert told == reporters(rows, token), token


def named(reporting: Reporting) -> str:
    kind = type(reporting.inclusion).__name__
    return f"{type(reporting).__name__}-{kind}-{reporting.budget.subdivision}-{reporting.largest}"


REPORTING: tuple[Reporting, ...] = (
    noise(0),
    noise(3),
    *(sampled(rates, r) for rates in RATES for r in (0, 3)),
    noise(2, largest=95),
    sampled(PoissonPps(threshold="0.04"), 2, largest=95),
)


@pytest.mark.parametrize("reporting", REPORTING, ids=named)
def test_likelihoods_are_those_of_the_rows(reporting: Reporting) -> None:
    """Near, in the middle, and where a table repeats; the rows go on until none of these tokens is reported."""
    last = 95 if reporting.largest is not None else 140
    rows = list(reporting.at(range(1, last + 1)))
    read = likelihood(reporting, 90)
    tokens = 90 << reporting.budget.subdivision
    agree_with_rows(read, rows, [*range(0, tokens, 13), tokens - 1])
    frequencies = np.arange(1, last + 1)
    assert read.reported(frequencies).tolist() == [float(row.probability) for row in rows]
    assert [read.probability(i) for i in (1, 7, 80)] == [rows[i - 1].probability for i in (1, 7, 80)]
    assert all(row.probability == 1 for row in rows[(read.last_withheld or last) :])


@pytest.mark.parametrize("reporting", REPORTING, ids=named)
def test_estimates_without_reading_rows_are_those_with(reporting: Reporting) -> None:
    last = 95 if reporting.largest is not None else 200
    found = likeliest_estimates(reporting, identity, 90)
    told = maximum_likelihood(reporting.at(range(1, last + 1)), identity, 90)
    assert all(found.value(t) == told.value(t) for t in range(0, 90 << reporting.budget.subdivision, 3))


@pytest.mark.slow
def test_tokens_by_the_billion() -> None:
    """r = 32: pieces, each with tokens that are looked up in the rows."""
    fine = FrequencyNoise(epsilon=Epsilon("0.5"), delta=Delta("0.001"))
    rows = [fine.row(i) for i in range(1, 60)]
    found = likeliest_estimates(fine, identity, 20)
    assert 20 < len(found.values) < 100
    for first, end in zip(found.edges, found.edges[1:], strict=False):
        for token in (first, (first + end) // 2, end - 1):
            best = rows[reporters(rows, token)[0] - 1]
            assert found.value(token) == float(best.frequency / best.probability)
    agree_with_rows(likelihood(fine, 20), rows, found.edges[:-1])


def test_what_likelihoods_refuse() -> None:
    with pytest.raises(InvalidValue, match="keys alone"):
        likelihood(KeyTable(epsilon=Epsilon(1), delta=Delta("0.1")), 3)
    rates = ListedRates(tuple(Probability(rate) for rate in ("0.1", "0.2", "0.3", "0.3")))
    read = likelihood(sampled(rates, 0), 3)
    agree_with_rows(read, sampled(rates, 0).stored(4), [0, 1, 2])
    with pytest.raises(OutsideDomain, match="estimate more"):
        likelihood(sampled(Ppswor(threshold="1e-3"), 0), 3).likeliest(np.array([200], dtype=np.uint64))
    with pytest.raises(OutsideDomain):
        read.reported(np.array([9]))


@pytest.mark.parametrize("statistic", [Total(), Count(), Power("0.5"), Power(2), Cap(4)], ids=str)
def test_named_statistics_are_functions_like_others(statistic: Statistic) -> None:
    frequencies = np.array([0, 7, 1, 3, 4, 5, 5])
    assert sizes(statistic, frequencies).tolist() == sizes(lambda i: statistic(i), frequencies).tolist()
    assert statistic(0) == 0
    assert {Power("0.5"): 4.0, Power(2): 256.0, Total(): 16, Count(): 1.0, Cap(4): 4}[statistic] == statistic(16)  # type: ignore[index]


def test_statistics_are_checked() -> None:
    def falling(i: int) -> int:
        return i if i < 5 else 4

    fair = np.array([9, 2, 4])
    assert sizes(falling, fair).tolist() == [4, 2, 4]  # nothing falls between 2, 4 and 9
    for wrong, told in (
        (lambda i: i + 1, r"g\(0\) = 1"),
        (lambda i: -i, r"g\(2\) = -2.0; .*g\(0\)"),
        (lambda i: i % 7, r"g\(9\) = 2.0; .*g\(4\) = 4.0"),
    ):
        with pytest.raises(InvalidValue, match=told):
            sizes(wrong, fair)
    with pytest.raises(InvalidValue, match=r"g\(0\)"):
        maximum_likelihood(table().rows(), lambda i: 1, 9)
    with pytest.raises(InvalidValue, match="non-decreasing"):
        likeliest_estimates(noise(), lambda i: i % 9, 9)
    with pytest.raises(InvalidValue, match="non-decreasing"):
        unbiased(table().stored(9), lambda i: i % 7)
    with pytest.raises(InvalidValue, match="p ≥ 0"):
        Power(-1)
    for large in (Power(500), lambda i: i**500):
        with pytest.raises(InvalidValue, match="binary64"):
            sizes(large, fair)
    with pytest.raises(InvalidValue, match="largest"):
        Cap(0)


@pytest.mark.parametrize("reporting", REPORTING, ids=named)
@pytest.mark.parametrize("statistic", [identity, Power("0.5")], ids=["identity", "root"])
def test_curves_are_exact_expectations(reporting: Reporting, statistic: Statistic) -> None:
    """Against sums of Fractions over every token of the rows, with estimates of rows that were read."""
    frequencies = [1, 2, 9, 17, 33, 60, 61, 88]
    read = likelihood(reporting, 90)
    curve = moment_curve(read, statistic, frequencies)
    last = 95 if reporting.largest is not None else 200
    estimates = maximum_likelihood(reporting.at(range(1, last + 1)), statistic, 90)
    for place, row in enumerate(reporting.at(frequencies)):
        chances = [(Fraction(mass, 1 << row.bits), Fraction(value)) for mass, value in estimates.pieces(row)]
        mean = sum((chance * value for chance, value in chances), Fraction(0))
        missed = 1 - row.probability
        variance = sum((c * (v - mean) ** 2 for c, v in chances), missed * mean**2)
        size = Fraction(statistic(row.frequency))
        assert curve.bias[place] == pytest.approx(float(mean - size), rel=1e-11, abs=1e-12 * float(size))
        assert curve.variance[place] == pytest.approx(float(variance), rel=1e-11)
        told = float(variance + (mean - size) ** 2)
        assert curve.mean_squared_error[place] == pytest.approx(told, rel=1e-11)
        assert curve.reported[place] == pytest.approx(float(row.probability), rel=1e-15, abs=1e-16)
    with pytest.raises(InvalidValue, match="increasing"):
        moment_curve(read, statistic, [3, 3])


@examples(20)
@given(st.lists(st.tuples(st.integers(1, 80), st.floats(0, 10)), min_size=1, max_size=6), st.integers(1, 40))
def test_the_worst_relative_bias_bounds_that_of_sums(keys: list[tuple[int, float]], least: int) -> None:
    curve = CURVE
    chosen = [(i, weight) for i, weight in keys if i >= least]
    bias = sum(weight * curve.bias[i - 1] for i, weight in chosen)
    truth = sum(weight * curve.sizes[i - 1] for i, weight in chosen)
    assert abs(bias) <= curve.worst_relative_bias(least) * truth * (1 + 1e-12)


CURVE = moment_curve(likelihood(noise(), 80), Total(), range(1, 81))


def test_the_worst_relative_bias_is_reached() -> None:
    part = np.abs(CURVE.bias) / CURVE.sizes
    assert CURVE.worst_relative_bias() == part.max() > 0.8
    assert CURVE.worst_relative_bias(60) == part[59:].max() < 1e-3
    with pytest.raises(InvalidValue, match="least"):
        CURVE.worst_relative_bias(81)


def test_the_error_of_a_sum_by_its_curve() -> None:
    groups = [KeyGroup(5, 1.0, 300), KeyGroup(5, 3.0, 2), KeyGroup(40, 2.0, 10)]
    read = likelihood(noise(), 40)
    estimates = likeliest_estimates(noise(), Total(), 40)
    errors = {i: moments(noise().row(i), estimates, Total()) for i in (5, 40)}
    told = sum_error(groups, errors, Total())
    curve = moment_curve(read, Total(), [5, 40])
    found = sum_error_of(curve, np.array([306.0, 20.0]), np.array([318.0, 40.0]))
    assert attrs.astuple(found) == pytest.approx(attrs.astuple(told), rel=1e-11)


@pytest.mark.parametrize("reporting", [noise(0), noise(3), sampled(Ppswor(threshold="0.05"), 2)], ids=named)
def test_concordance_of_many(reporting: Reporting, monkeypatch: pytest.MonkeyPatch) -> None:
    frequencies = [1, 2, 7, 20, 21, 26, 60, 61, 400]
    rows = list(reporting.at(frequencies))
    for cells in (5, 1 << 12):
        monkeypatch.setattr(order, "_CELLS", cells)
        found = concordances(reporting, frequencies)
        for low, high in combinations(range(len(rows)), 2):
            told = float(concordance(rows[low], rows[high]))
            assert found[low, high] == found[high, low] == pytest.approx(told, abs=1e-13)
        assert found.diagonal().tolist() == [0.5] * len(rows)
    counts = np.array([5, 0, 3, 8, 1, 1, 2, 9, 4])
    told = expected_kendall(rows, counts.tolist())
    for together in (1, 2, 4, 100):
        monkeypatch.setattr(order, "_ROWS", together)
        assert likely_kendall(reporting, frequencies, counts.astype(float)) == pytest.approx(told, abs=1e-12)
    for wrong in ([], [1 << 62]):
        with pytest.raises(InvalidValue, match="2\\^64"):
            concordances(noise(3), wrong)
    with pytest.raises(InvalidValue, match="at least two"):
        likely_kendall(reporting, [4], np.ones(1))
