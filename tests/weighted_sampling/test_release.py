"""Private weighted sampling as a workflow: what comes out, what it says of itself, what it refuses."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pytest
from attrs import evolve
from scipy.stats import beta

from certdp import (
    ELEMENT,
    Coins,
    EveryKey,
    InvalidValue,
    KeyCounts,
    ListedRates,
    Pps,
    Ppswor,
    PrivateSample,
    PrivateWeightedSampling,
    Public,
    PwsFrequencies,
    PwsKeys,
    User,
    check,
)
from certdp.accounting.relations import Unit
from certdp.plugins.contract import KeySampler
from certdp.weighted_sampling.sample_files import CoinKind
from certdp.weighted_sampling.sizes import TotalSize, threshold_of_size
from certdp.weighted_sampling.threshold_samples import KeyHash, bottom_k_sample, threshold_sample

SAMPLERS: list[KeySampler] = [
    EveryKey(),
    Ppswor(threshold=Public("0.05")),
    Pps(threshold=Public("0.05")),
    Ppswor(threshold=Public("0.3"), power=Public("0.5")),
    ListedRates(rates=Public(",".join(str(Fraction(i, 100)) for i in range(1, 61)))),
]
FREQUENCIES = [1, 2, 5, 9, 14, 20, 31, 60]
EACH = 400


def data(seed: int = 0) -> KeyCounts:
    """Many keys of few frequencies, in a random order."""
    names = [f"{frequency}-{number}" for frequency in FREQUENCIES for number in range(EACH)]
    counts = np.repeat(np.array(FREQUENCIES, dtype=np.uint64), EACH)
    order = np.random.default_rng(seed).permutation(len(names))
    return KeyCounts(pa.array([names[i] for i in order], pa.large_string()), counts[order])


def sampling(sampler: KeySampler, frequencies: bool) -> PrivateWeightedSampling:
    return PrivateWeightedSampling.within(epsilon="0.5", delta="1e-2", sampler=sampler, frequencies=frequencies)


def reported_by_frequency(sample: PrivateSample) -> list[int]:
    found = [int(key.partition("-")[0]) for key in sample.keys.to_pylist()]
    return [found.count(frequency) for frequency in FREQUENCIES]


def plausible(hits: int, draws: int, probability: Fraction) -> bool:
    """Whether a binomial number of hits is within an exact interval that fails once in 10^9."""
    low = beta.ppf(5e-10, hits, draws - hits + 1) if hits else 0.0
    high = beta.ppf(1 - 5e-10, hits + 1, draws - hits) if hits < draws else 1.0
    return bool(low <= float(probability) <= high)


@pytest.mark.parametrize("frequencies", [False, True])
@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_keys_are_reported_as_the_table_says(sampler: KeySampler, frequencies: bool, stream: int) -> None:
    one = sampling(sampler, frequencies)
    exact = {row.frequency: row.reported for row in one.table(60).rows}
    direct = one.release(data(), Coins.seeded(stream))
    sampled = threshold_sample([data()], sampler)  # with private coins: seeded ones cannot be sanitised
    two_stage = one.sanitise(sampled, Coins.seeded(stream))
    for sample in (direct, two_stage):
        assert (sample.tokens is not None) == frequencies
        for frequency, hits in zip(FREQUENCIES, reported_by_frequency(sample), strict=True):
            assert plausible(hits, EACH, exact[frequency])


@pytest.mark.parametrize("sampler", SAMPLERS[:3], ids=str)
def test_tokens_are_of_frequencies_not_above_the_true_one(sampler: KeySampler) -> None:
    sample = sampling(sampler, True).release(data(), Coins.seeded(3))
    assert sample.tokens is not None
    assert sample.tokens.dtype == np.uint64
    for key, token in zip(sample.keys.to_pylist(), sample.tokens.tolist(), strict=True):
        assert 0 <= token < int(key.partition("-")[0]) << 32


def test_the_order_tells_nothing() -> None:
    """The same keys in another order: the release lies in the order of the keys' bytes, whatever came first."""
    everything = PrivateWeightedSampling.within(epsilon=1, delta=1)
    first, second = (everything.release(data(seed)).keys.to_pylist() for seed in (1, 2))
    assert first == second == sorted(first, key=str.encode)


def test_the_type_tells_nothing_of_keys_that_are_left_out() -> None:
    rare = {b"\xff": 1, b"plain": 10**6}
    sample = PrivateWeightedSampling.within(epsilon="0.1", delta="1e-30").release(rare)
    assert sample.keys.type == pa.large_string()
    assert sample.keys.to_pylist() == ["plain"]
    assert PrivateWeightedSampling.within(epsilon=1, delta=1).release(rare).keys.type == pa.large_binary()


def test_what_may_be_given() -> None:
    everything = PrivateWeightedSampling.within(epsilon=1, delta=1)
    keys, counts = ["b", "a", ""], [3, 1, 2]
    given: list[Any] = [
        dict(zip(keys, counts, strict=True)),
        (keys, counts),
        pa.table({"key": keys, "count": counts}),
        KeyCounts.of((keys, np.array(counts))),
    ]
    for one in given:
        assert everything.release(one).keys.to_pylist() == ["", "a", "b"]


def test_a_file_is_read_in_chunks(tmp_path: Path) -> None:
    """As on the command line; a key that comes twice is found before anything is released."""
    everything, file = PrivateWeightedSampling.within(epsilon=1, delta=1), tmp_path / "counts.csv"
    file.write_bytes(b"key,count\nb,3\na,1\n")
    assert everything.release(file).keys.to_pylist() == ["a", "b"]
    file.write_bytes(b"key,count\nb,3\nb,1\n")
    with pytest.raises(InvalidValue, match="aggregate=True, on the command line --aggregate"):
        everything.release(file)


def test_data_frames() -> None:
    everything = PrivateWeightedSampling.within(epsilon=1, delta=1, frequencies=True)
    sample = everything.release(pandas.DataFrame({"key": ["b", "a"], "count": [3, 1]}))
    assert list(sample.to_pandas().columns) == ["key", "token"]
    assert sample.to_pandas()["key"].tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_missing_library_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    sample = PrivateWeightedSampling.within(epsilon=1, delta=1).release({"a": 1})
    with pytest.raises(InvalidValue, match=f"pip install {name}"):
        getattr(sample, f"to_{name}")()


def test_no_keys_give_an_empty_sample(tmp_path: Path) -> None:
    for frequencies in (False, True):
        sample = sampling(EveryKey(), frequencies).release({})
        assert len(sample) == 0
        assert sample.to_dict() == {}
        sample.write(tmp_path / f"{frequencies}.parquet")
        again = PrivateSample.read(tmp_path / f"{frequencies}.parquet")
        assert len(again) == 0
        assert (again.tokens is None) != frequencies


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv"])
@pytest.mark.parametrize("frequencies", [False, True])
@pytest.mark.parametrize("sampler", [SAMPLERS[0], SAMPLERS[1], SAMPLERS[4]], ids=str)
def test_files_bring_samples_back(suffix: str, frequencies: bool, sampler: KeySampler, tmp_path: Path) -> None:
    sample = sampling(sampler, frequencies).release(data())
    sample.write(tmp_path / f"sample{suffix}")
    again = PrivateSample.read(tmp_path / f"sample{suffix}")
    assert again.to_arrow() == sample.to_arrow()
    assert again.statement == sample.statement
    drawn_with = sampling(sampler, frequencies)
    assert (again.sampling.mechanism, again.sampling.sampler) == (drawn_with.mechanism, drawn_with.sampler)
    assert again.sampling.reporting.row(7) == drawn_with.reporting.row(7)


def test_a_sample_with_true_frequencies_is_not_read_as_private(tmp_path: Path) -> None:
    threshold_sample([data()], SAMPLERS[1]).write(tmp_path / "true.csv")
    with pytest.raises(InvalidValue, match="sanitise it first"):
        PrivateSample.read(tmp_path / "true.csv")


def test_nothing_of_the_data_is_in_a_file_beside_the_sample(tmp_path: Path) -> None:
    """Two data sets that give the same keys give the same bytes."""
    contents = []
    for number, counts in enumerate(({"x": 1000, "y": 2000}, {"y": 2999, "x": 1777})):
        PrivateWeightedSampling.within(epsilon=1, delta="1e-3").release(counts).write(tmp_path / f"{number}.csv")
        contents.append((tmp_path / f"{number}.csv").read_bytes() + (tmp_path / f"{number}.csv.json").read_bytes())
    assert contents[0] == contents[1]


# What it guarantees


def test_the_guarantee_is_for_elements_or_for_users() -> None:
    alone = PrivateWeightedSampling.within(epsilon="0.5", delta="1e-6")
    users = PrivateWeightedSampling.within(epsilon="0.5", delta="1e-6", contributions=4)
    found: list[tuple[Unit, float, float]] = [
        (g.unit, g.bound.epsilon.upper_float, g.bound.delta.upper_float) for g in (alone.guarantee, users.guarantee)
    ]
    assert found[0][0] == ELEMENT
    assert found[1][0] == User(contributions=4)
    for _, epsilon, delta in found:
        assert epsilon == 0.5
        assert 0.99999999e-6 < delta <= float(np.nextafter(1e-6, 1))
    assert users.reporting.epsilon.value == Fraction(1, 8)
    assert any(a.value == "4" for a in users.guarantee.assumptions)


def test_one_contribution_is_a_user_all_the_same() -> None:
    users = PrivateWeightedSampling.within(epsilon="0.5", delta="1e-6", contributions=1)
    assert users.guarantee.unit == User(contributions=1)
    assert users.reporting.epsilon.value == Fraction(1, 2)


@pytest.mark.parametrize("contributions", [0, -2])
def test_contributions_that_are_refused(contributions: int) -> None:
    with pytest.raises(InvalidValue, match="contributions"):
        PrivateWeightedSampling.within(epsilon=1, delta="0.1", contributions=contributions)
    with pytest.raises(InvalidValue, match="contributions"):
        PrivateWeightedSampling(
            mechanism=PwsKeys(epsilon=Public(1), delta=Public("0.1")), sampler=EveryKey(), contributions=contributions
        )


@pytest.mark.parametrize("contributions", [None, 3])
def test_a_released_threshold_is_paid_for(contributions: int | None) -> None:
    """The total is (E + E1, D), for elements and for users alike."""
    spent = Fraction(1, 10) / (contributions or 1)
    threshold = threshold_of_size(50, TotalSize().released(5000, spent, Coins()))
    one = PrivateWeightedSampling.within(
        epsilon="0.5", delta="1e-3", sampler=Ppswor(threshold=threshold), contributions=contributions
    )
    bound = one.guarantee.bound
    assert Fraction("0.6") - Fraction(1, 10**12) < bound.epsilon.upper < Fraction("0.6") + Fraction(1, 10**30)
    assert Fraction("1e-3") * (1 - Fraction(1, 10**12)) < bound.delta.upper
    assert bound.delta.upper < Fraction("1e-3") * (1 + Fraction(1, 10**30))
    assert any("released parameter" in assumed.name for assumed in one.guarantee.assumptions)
    stated = one.release({"a": 5}).statement.guarantee
    assert stated is not None
    assert 0.6 <= float(stated.epsilon) < 0.6 + 1e-12


def test_delta_0_reports_nothing_and_says_so() -> None:
    for frequencies in (False, True):
        with pytest.raises(InvalidValue, match="no key may ever be reported"):
            PrivateWeightedSampling.within(epsilon=1, delta=0, frequencies=frequencies)


def test_a_largest_frequency() -> None:
    capped = PrivateWeightedSampling.within(epsilon="0.5", delta="1e-2", frequencies=True, largest=20)
    sample = capped.release(data(), Coins.seeded(0))
    assert sample.tokens is not None
    assert sample.tokens.max() < 20 << 32
    assert capped.reporting.row(31) == capped.reporting.row(20)
    assert sample.statement.mechanism is not None
    assert sample.statement.mechanism.options["largest"] == "20"


@pytest.mark.slow
@pytest.mark.parametrize("frequencies", [False, True])
@pytest.mark.parametrize("contributions", [None, 2])
def test_certificates(frequencies: bool, contributions: int | None) -> None:
    one = PrivateWeightedSampling.within(
        epsilon=1, delta="1e-2", sampler=SAMPLERS[1], frequencies=frequencies, contributions=contributions
    )
    assert check(one.certificate()).accepted


# Coins


def test_seeded_coins_are_reproducible_and_not_private(tmp_path: Path) -> None:
    one = sampling(SAMPLERS[1], True)
    samples = [one.release(data(), Coins.seeded(seed)) for seed in (5, 5, 6)]
    assert samples[0].to_arrow() == samples[1].to_arrow() != samples[2].to_arrow()
    statement = samples[0].statement
    assert (statement.private, statement.coins, statement.guarantee) == (False, CoinKind.SEEDED, None)
    assert "not private, seeded coins" in repr(samples[0])
    samples[0].write(tmp_path / "seeded.csv")
    assert not PrivateSample.read(tmp_path / "seeded.csv").statement.private


def test_it_prints_well() -> None:
    sample = sampling(SAMPLERS[1], True).release(data())
    assert str(sample) == repr(sample)
    assert str(sample).startswith(f"{len(sample):,} keys with tokens: (0.5, 0.01)-DP for one element, add-remove; ")
    assert str(sample).endswith("pws-frequencies on a sample by ppswor (threshold = 0.05, power = 1)")
    users = PrivateWeightedSampling.within(epsilon=1, delta="0.5", contributions=2).release({"a": 5})
    assert "for one user with at most 2 elements" in str(users)
    assert "a sample by listed-rates (rates = " in str(sampling(SAMPLERS[4], False).release({}))


# Samples of true frequencies


def test_samples_that_no_sanitiser_makes_private() -> None:
    one = sampling(SAMPLERS[1], False)
    for sample in (
        bottom_k_sample([data()], 10),
        threshold_sample([data()], SAMPLERS[1], KeyHash(b"salt")),
        threshold_sample([data()], SAMPLERS[1], Coins.seeded(1)),
    ):
        with pytest.raises(InvalidValue, match="no guarantee follows"):
            one.sanitise(sample)


def test_a_sample_by_another_sampler() -> None:
    with pytest.raises(InvalidValue, match="the sample's own"):
        sampling(SAMPLERS[1], False).sanitise(threshold_sample([data()], SAMPLERS[2]))


# The private report


def test_the_report_counts_keys_and_reports() -> None:
    one = sampling(SAMPLERS[1], False)
    counts = data()
    sample = one.release(counts)
    private = one.report(counts, sample)
    assert "Private(" in repr(private)
    report = private.reveal()
    assert report.keys == len(FREQUENCIES) * EACH
    assert report.reported == len(sample)
    by_frequency = dict(zip(FREQUENCIES, reported_by_frequency(sample), strict=True))
    exact = {row.frequency: float(row.reported) for row in one.table(60).rows}
    for band in report.bands:
        inside = [frequency for frequency in FREQUENCIES if band.first <= frequency <= band.last]
        assert (band.first & (band.first - 1), band.last) == (0, 2 * band.first - 1)
        assert band.keys == EACH * len(inside)
        assert band.reported == sum(by_frequency[frequency] for frequency in inside)
        assert band.expected == pytest.approx(EACH * sum(exact[frequency] for frequency in inside), rel=1e-12)
    assert report.baseline is not None
    assert report.baseline < report.expected
    text = str(report)
    assert text.startswith("for the data's owner only, not for publication")
    assert "16–31" in text
    assert "not for publication" in report.as_json()["notice"]


def test_reports_of_other_schemes_have_no_baseline() -> None:
    one = sampling(SAMPLERS[3], False)
    report = one.report(data(), one.release(data())).reveal()
    assert report.baseline is None
    assert "none" in str(report)


def test_reports_of_parts_are_those_of_the_whole() -> None:
    from certdp.weighted_sampling.report import BandTally

    counts, one = data(), sampling(SAMPLERS[2], True)
    sample = one.release(counts)
    parts = BandTally(one.reporting)
    released = set(sample.keys.to_pylist())
    for start in range(0, len(counts), 700):
        keys = counts.keys.slice(start, 700).to_pylist()
        parts.add(counts.counts[start : start + 700], np.array([key in released for key in keys]))
    assert parts.report().reveal() == one.report(counts, sample).reveal()


def test_an_empty_report() -> None:
    one = sampling(EveryKey(), False)
    report = one.report({}, one.release({})).reveal()
    assert (report.keys, report.reported, report.expected) == (0, 0, 0)


# Weight


@pytest.mark.slow
def test_importing_it_is_light() -> None:
    program = (
        "import sys, certdp; certdp.PrivateWeightedSampling; "
        "print([name for name in ('numba', 'scipy.stats', 'matplotlib', 'pyarrow', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_plugin_instances_and_the_helper_agree() -> None:
    made = PrivateWeightedSampling(
        mechanism=PwsFrequencies(epsilon=Public("0.5"), delta=Public("1e-2")), sampler=SAMPLERS[1]
    )
    assert made == sampling(SAMPLERS[1], True)


def test_samples_are_equal_where_all_that_was_released_is() -> None:
    counts = {"a": 80, "b": 90}
    bare = PrivateWeightedSampling.within(epsilon="0.6", delta="0.01").release(counts)
    full = PrivateWeightedSampling.within(epsilon="0.6", delta="0.01", frequencies=True).release(counts)
    for sample in (bare, full):
        assert sample == evolve(sample)
        assert sample != "something else"
    assert full.tokens is not None
    assert evolve(full, tokens=full.tokens.copy()) == full
    assert evolve(full, tokens=full.tokens + np.uint64(1)) != full
    assert evolve(full, tokens=None) != full
    assert bare != full
