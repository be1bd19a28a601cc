"""What released samples tell: by enumeration of every token, by the data, by exact binomial intervals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from certdp.accounting.errors import InvalidValue
from certdp.accounting.keyed.estimates import (
    Cap,
    Count,
    KeyGroup,
    Power,
    Statistic,
    Total,
    concordance,
    likeliest_estimates,
    moments,
    sum_error,
)
from certdp.accounting.keyed.reporting import (
    EveryKey,
    FrequencyNoise,
    FrequencyTable,
    Inclusion,
    KeyTable,
    PoissonPps,
    Ppswor,
    Reporting,
)
from certdp.accounting.provenance import Private
from certdp.accounting.units import Delta, Epsilon
from certdp.plugins.contract import Coins
from certdp.weighted_sampling.counts import KeyCounts
from certdp.weighted_sampling.drawing import draw_reports
from certdp.weighted_sampling.estimation import (
    SampleEstimates,
    estimate_count,
    estimate_sum,
    estimate_unsanitised_sum,
    expected_error,
)
from certdp.weighted_sampling.pictures import plot_estimates
from certdp.weighted_sampling.release import PrivateWeightedSampling
from certdp.weighted_sampling.threshold_samples import ThresholdSample
from tests.support.cases import examples

LARGEST = 70
_CONFIDENCE = 1 - 1e-9


def noise(subdivision: int = 3) -> FrequencyNoise:
    return FrequencyNoise(epsilon=Epsilon("0.6"), delta=Delta("0.01"), subdivision=subdivision)


def sampled(inclusion: Inclusion, subdivision: int = 2, largest: int | None = None) -> FrequencyTable:
    return FrequencyTable(
        epsilon=Epsilon("0.6"), delta=Delta("0.01"), inclusion=inclusion, subdivision=subdivision, largest=largest
    )


SCHEMES: dict[str, Reporting] = {
    "every key": noise(),
    "ppswor": sampled(Ppswor(threshold="0.2")),
    "pps": sampled(PoissonPps(threshold="0.05")),
    "capped": sampled(EveryKey(), 1, largest=LARGEST),
}
SCHEME = pytest.mark.parametrize("reporting", SCHEMES.values(), ids=SCHEMES)


def named(count: int) -> Any:
    return pa.array([f"key {number:05d}" for number in range(count)], pa.large_string())


def released(reporting: Reporting, counts: Sequence[int], seed: int) -> tuple[SampleEstimates, np.ndarray]:
    """Estimates from a release, and the true frequencies of the keys that were reported."""
    held = np.array(counts, dtype=np.uint64)
    drawn = draw_reports(reporting, held, Coins.seeded(seed))
    keys = named(len(counts)).filter(pa.array(drawn.kept))
    tokens = drawn.tokens if reporting.with_frequencies else None
    return SampleEstimates(keys, tokens, reporting), held[drawn.kept].astype(np.int64)


def of_tokens(reporting: Reporting, tokens: Sequence[int]) -> SampleEstimates:
    return SampleEstimates(named(len(tokens)), np.array(tokens, dtype=np.uint64), reporting)


@SCHEME
@pytest.mark.parametrize("statistic", [Total(), Power("0.5")], ids=str)
def test_a_sum_adds_the_estimates_of_its_tokens(reporting: Reporting, statistic: Statistic) -> None:
    """By Equation 8; and its bias and variance are what the likeliest frequencies would have, each for 1/π keys."""
    tokens = [0, 1, 17, 17, 60, 88, 120]
    factors = [1.0, -2.0, 0.5, 0.0, 3.0, 1.0, 0.25]
    found = of_tokens(reporting, tokens).sum(factors, statistic)
    a = likeliest_estimates(reporting, statistic, LARGEST)
    told = sum(factor * a.value(token) for factor, token in zip(factors, tokens, strict=True))
    assert found.estimate == pytest.approx(told, rel=1e-13)
    assert found.keys == 6
    assert (found.at_least, found.at_most) == (None, None)
    rows = {row.frequency: row for row in reporting.at(range(1, LARGEST + 1))}
    frequency = of_tokens(reporting, tokens).top(len(tokens))
    likeliest = {key.token: key.likeliest for key in frequency}
    bias = variance = 0.0
    for factor, token in zip(factors, tokens, strict=True):
        row = rows[likeliest[token]]
        error = moments(row, a, statistic)
        bias += factor * error.bias / float(row.probability)
        variance += factor**2 * error.variance / float(row.probability)
    assert found.bias == pytest.approx(bias, rel=1e-9, abs=1e-9)
    assert found.standard_error == pytest.approx(sqrt(variance), rel=1e-10)


@SCHEME
@examples(12)
@given(st.lists(st.integers(1, 2 * LARGEST), max_size=40), st.integers(0, 2**32))
def test_what_is_certain_holds_in_every_release(reporting: Reporting, counts: list[int], seed: int) -> None:
    found, true = released(reporting, counts, seed)
    for statistic in (Total(), Count(), Power("1.5"), Cap(5), lambda i: i * i):
        held = (count if reporting.largest is None else min(count, reporting.largest) for count in counts)
        told = sum(float(Fraction(statistic(count))) for count in held)
        estimate = found.sum(statistic=statistic, population=len(counts))
        assert estimate.at_least is not None
        assert estimate.at_least <= told
        assert estimate.at_most is None or told <= estimate.at_most
    if true.size:
        for key in found.top(len(true)):
            held = true[found.keys.index(key.key).as_py()]
            assert key.least <= held
            assert key.most is None or held <= key.most
        for one, other in combinations(range(min(6, len(true))), 2):
            names = [found.keys[place].as_py() for place in (one, other)]
            order = found.order(*names)
            if order.certain:
                assert (order.higher == names[0]) == (true[one] > true[other])
                assert order.probability > 0.99
        rank = found.rank(found.keys[0].as_py())
        assert rank.best <= 1 + int((true > true[0]).sum())
        assert rank.worst >= len(true) - int((true < true[0]).sum())


@SCHEME
@pytest.mark.parametrize("statistic", [Total(), Count(), Power("0.5")], ids=str)
def test_what_is_counted_of_a_key_is_what_the_rows_say(reporting: Reporting, statistic: Statistic) -> None:
    """The expectation of the estimate of one key over its g, for every frequency told; rare keys are lost the most."""
    found = of_tokens(reporting, [0, 60, 88]).sum(statistic=statistic).counted
    a = likeliest_estimates(reporting, statistic, LARGEST)
    rows = {row.frequency: row for row in reporting.at(range(1, LARGEST + 1))}
    assert list(found) == [2**power for power in range(len(found))]
    for frequency, part in found.items():
        told = moments(rows[frequency], a, statistic).expectation / float(Fraction(statistic(frequency)))
        assert part == pytest.approx(told, rel=1e-9)
    assert found[1] == min(found.values()) < 0.5


def test_certain_bounds_are_reached() -> None:
    """No token of frequency i lies beyond its block: the lowest reporter is the bound, and the last one too."""
    reporting = noise(0)
    rows = list(reporting.at(range(1, 120)))
    for key in of_tokens(reporting, range(40)).top(40):
        there = [row.frequency for row in rows if row.units_from(key.token) - row.units_from(key.token + 1)]
        assert (key.least, key.most) == (there[0], there[-1])
    found = of_tokens(reporting, [3, 9]).sum(population=5)
    withheld = max(row.frequency for row in rows if row.unreported)
    assert found.at_least == 4 + 10
    assert found.at_most == (3 + reporting.band) + (9 + reporting.band) + 3 * withheld
    with pytest.raises(InvalidValue, match="at least 2"):
        of_tokens(reporting, [3, 9]).sum(population=1)


@SCHEME
def test_the_expected_error_is_that_of_the_paper(reporting: Reporting) -> None:
    counts = [1, 3, 3, 9, 30, 30, 30, 55, 69, 69]
    data = KeyCounts(named(len(counts)), np.array(counts, dtype=np.uint64))
    factors = [float(1 + number % 3) for number in range(len(counts))]
    a = likeliest_estimates(reporting, Total(), LARGEST)
    errors = {row.frequency: moments(row, a, Total()) for row in reporting.at(sorted(set(counts)))}
    told = sum_error([KeyGroup(i, c, 1) for i, c in zip(counts, factors, strict=True)], errors, Total())
    found = expected_error(reporting, data, factors)
    assert isinstance(found, Private)
    assert attrs.astuple(found.reveal()) == pytest.approx(attrs.astuple(told), rel=1e-10)
    with pytest.raises(InvalidValue, match="no keys"):
        expected_error(reporting, KeyCounts(named(0), np.zeros(0, dtype=np.uint64)))


def binomial_interval(successes: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's."""
    tail = (1 - _CONFIDENCE) / 2
    low = beta.ppf(tail, successes, trials - successes + 1) if successes else 0.0
    high = beta.ppf(1 - tail, successes + 1, trials - successes) if successes < trials else 1.0
    return float(low), float(high)


def test_keys_come_in_their_order_as_often_as_said(stream: int) -> None:
    """Two keys, drawn many times: concordant, not reported below all tokens, ties by a coin."""
    reporting, trials = noise(1), 20_000
    for low, high in ((8, 11), (20, 22)):
        ranks = []
        for place, frequency in enumerate((low, high)):
            drawn = draw_reports(
                reporting, np.full(trials, frequency, dtype=np.uint64), Coins.seeded(2 * stream + place)
            )
            values = np.full(trials, -1, dtype=np.int64)
            values[drawn.kept] = drawn.tokens
            ranks.append(values)
        ties = np.random.default_rng(stream).random(trials) < 0.5
        right = (ranks[0] < ranks[1]) | ((ranks[0] == ranks[1]) & ties)
        least, most = binomial_interval(int(right.sum()), trials)
        assert least <= float(concordance(reporting.row(low), reporting.row(high))) <= most


def test_order_and_rank_follow_the_tokens() -> None:
    reporting = noise(2)
    found = of_tokens(reporting, [40, 200, 203, 203, 300])
    keys = found.keys.to_pylist()
    likeliest = {key.key: key.likeliest for key in found.top(5)}
    near = found.order(keys[1], keys[2])
    assert (near.higher, near.certain) == (keys[2], False)
    rows = [reporting.row(likeliest[key]) for key in keys[1:3]]
    told = concordance(*rows) if rows[0].frequency < rows[1].frequency else Fraction(1, 2)
    assert near.probability == pytest.approx(float(told), abs=1e-13)
    tied = found.order(keys[3], keys[2])
    assert (tied.higher, tied.probability, tied.certain) == (keys[3], 0.5, False)
    far = found.order(keys[4], keys[0])
    assert (far.higher, far.certain) == (keys[4], True)
    probability = {key: float(reporting.row(likeliest[key]).probability) for key in keys}
    rank = found.rank(keys[2])
    assert rank.rank == pytest.approx(1 + 1 / probability[keys[4]] + 0.5 / probability[keys[3]])
    assert (rank.best, rank.worst) == (2, 4)
    assert 0.5 < rank.standard_error < 1  # a coin for the tied key, and nearly one for the other
    assert found.rank(keys[4]).standard_error < 0.01
    assert [key.key for key in found.top(3)] == [keys[4], keys[2], keys[3]]
    for missing in ("key", b"\xff"):
        with pytest.raises(InvalidValue, match="not in the sample"):
            found.rank(missing)


def test_kendall_of_a_sample() -> None:
    """Two kinds of keys: by definition."""
    reporting = noise(2)
    tokens = [80, 80, 80, 100]
    found = of_tokens(reporting, tokens)
    low, high = sorted({key.likeliest for key in found.top(4)})
    told = 2 * float(concordance(reporting.row(low), reporting.row(high))) - 1
    assert found.kendall() == pytest.approx(told, rel=1e-12)
    with pytest.raises(InvalidValue, match="two frequencies"):
        of_tokens(reporting, [80, 80]).kendall()


def test_quantiles_weight_keys_by_how_often_they_are_reported() -> None:
    reporting = sampled(PoissonPps(threshold="0.05"))
    found = of_tokens(reporting, [9, 30, 90, 91, 200])
    likely = sorted(found.top(5), key=lambda key: key.likeliest)
    weights = [1 / float(reporting.row(key.likeliest).probability) for key in likely]
    for level in (0.0, 0.3, 0.5, 0.77, 1.0):
        (told,) = found.quantiles([level])
        below = sum(w for key, w in zip(likely, weights, strict=True) if key.likeliest <= told.frequency)
        less = sum(w for key, w in zip(likely, weights, strict=True) if key.likeliest < told.frequency)
        assert less <= level * sum(weights) <= below * (1 + 1e-12)
        assert told.low <= told.frequency <= told.high
    assert found.quantiles(["0.5"])[0].low < found.quantiles(["0.5"])[0].high
    only = found.quantiles(["0.5"], lambda key: key == "key 00004")
    assert only[0].frequency == likely[-1].likeliest
    for wrong in (-1, "1.5"):
        with pytest.raises(InvalidValue, match="level"):
            found.quantiles([wrong])
    with pytest.raises(InvalidValue, match="reported keys"):
        found.quantiles([1], lambda key: False)


def test_quantiles_of_keys_that_are_reported_for_certain_are_exact() -> None:
    sample = PrivateWeightedSampling.within(epsilon="0.6", delta="0.01", frequencies=True).release(
        {f"key {count}": count for count in range(80, 120)}
    )
    assert len(sample) == 40
    for told in SampleEstimates.of(sample).quantiles([0, "0.25", "0.5", 1]):
        assert told.low == told.frequency == told.high


def test_keys_alone_are_counted() -> None:
    reporting = KeyTable(epsilon=Epsilon(1), delta=Delta("0.1"))
    found, true = released(reporting, [30] * 40 + [1] * 5, 1)
    counted = found.count()
    assert (counted.keys, counted.estimate, counted.at_least) == (len(true), len(true), len(true))
    assert counted.bias is None
    assert counted.standard_error == sqrt(len(true))
    assert "number of keys reported" in str(counted)
    for ask in (found.sum, found.kendall, lambda: found.top(1), lambda: found.quantiles([0.5])):
        with pytest.raises(InvalidValue, match="frequencies"):
            ask()
    with pytest.raises(InvalidValue, match="tokens"):
        SampleEstimates(found.keys, np.zeros(len(true), dtype=np.uint64), reporting)
    with pytest.raises(InvalidValue, match="one for each"):
        SampleEstimates(found.keys, np.zeros(1, dtype=np.uint64), noise())


@SCHEME
def test_an_empty_sample(reporting: Reporting) -> None:
    found = of_tokens(reporting, [])
    told = found.sum()
    assert (told.keys, told.estimate, told.bias, told.standard_error, told.at_least) == (0, 0.0, 0.0, 0.0, 0.0)
    assert found.top(3) == []
    assert "from 0 keys" in str(told)


def test_functions_take_samples() -> None:
    sampling = PrivateWeightedSampling.within(epsilon="0.6", delta="0.01", frequencies=True)
    sample = sampling.release({"a": 80, "b": 90, "c": 91})  # all of them are reported, for certain
    told = SampleEstimates.of(sample)
    assert estimate_sum(sample, statistic=Cap(9)) == told.sum(None, Cap(9))
    assert estimate_count(sample, lambda key: key > "a") == told.count([key > "a" for key in sample.keys.to_pylist()])
    assert estimate_sum(sample).statistic == "sum of frequencies"
    printed = str(estimate_sum(sample, population=9))
    assert printed.count("\n") == 3
    assert "bias 0: estimated, and blind" in printed  # a rounding of 1e-13 says nothing
    assert not estimate_sum(sample).unbiased


def test_certainties_are_about_what_is_named_and_rounded_outward() -> None:
    """A frequency above a declared largest one counts as that: the sum of 1,000,007 was told to be at most 17."""
    generous: dict[str, Any] = {"epsilon": 50, "delta": "0.9", "frequencies": True}
    capped = PrivateWeightedSampling.within(**generous, largest=10).release({"a": 1_000_000, "b": 7})
    told = estimate_sum(capped, population=2)
    assert told.statistic == "sum of frequencies, those above 10 counted as 10"
    assert told.at_least is not None
    assert told.at_most is not None
    assert told.at_least <= 17 <= told.at_most <= 2 * 10  # nothing that is drawn tells more than the cap of each key
    assert estimate_count(capped, population=2).statistic == "number of keys"
    assert estimate_sum(capped, statistic=Cap(9)).statistic == "sum of frequencies, each at most 9"
    assert "those above 10" in estimate_sum(capped, statistic=Cap(11)).statistic
    root = estimate_sum(PrivateWeightedSampling.within(**generous).release({"a": 6}), statistic=Power("0.5"))
    (least,) = re.findall(r"for certain at least ([0-9.]+)", str(root))
    assert Fraction(least) ** 2 <= 6


class _Unsanitised:
    """What estimates read of a sample with true frequencies."""

    def __init__(self, counts: list[int], inclusion: Inclusion) -> None:
        self.keys, self.counts, self.inclusion = named(len(counts)), np.array(counts, dtype=np.uint64), inclusion


def unsanitised(counts: list[int], inclusion: Inclusion) -> ThresholdSample:
    made: Any = _Unsanitised(counts, inclusion)
    held: ThresholdSample = made
    return held


def test_inverse_probabilities_are_unbiased_by_enumeration() -> None:
    """Every subset of five keys, with its exact probability: the mean estimate is the sum, the mean squared error is
    the variance, and the mean of the estimated variance is it too."""
    counts, inclusion = [1, 2, 2, 5, 9], PoissonPps(threshold="0.1")
    rates = [Fraction(count, 10) for count in counts]
    mean = variance = spread = 0.0
    for chosen in range(1 << len(counts)):
        inside = [bool(chosen >> place & 1) for place in range(len(counts))]
        chance = Fraction(1)
        for rate, held in zip(rates, inside, strict=True):
            chance *= rate if held else 1 - rate
        kept = [count for count, held in zip(counts, inside, strict=True) if held]
        found = estimate_unsanitised_sum(unsanitised(kept, inclusion), statistic=lambda i: i * i).reveal()
        assert found.unbiased
        assert "estimated; unbiased" in str(found)
        mean += float(chance) * found.estimate
        spread += float(chance) * (found.estimate - sum(c * c for c in counts)) ** 2
        variance += float(chance) * found.standard_error**2
        assert found.at_least is not None
        assert found.at_least <= sum(c * c for c in counts)
    assert mean == pytest.approx(sum(c * c for c in counts), rel=1e-12)
    assert variance == pytest.approx(spread, rel=1e-10)


@pytest.mark.slow
def test_the_picture() -> None:
    assert plot_estimates(of_tokens(noise(), [4, 90, 300])).startswith(b"\x89PNG")
    assert plot_estimates(of_tokens(noise(), []), Power("0.5")).startswith(b"\x89PNG")
