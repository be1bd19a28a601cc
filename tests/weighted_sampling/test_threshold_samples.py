"""Samples with true frequencies: their exact law, what they merge to, and which of them can be made private."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta

from certdp import Coins, Delta, Epsilon, InvalidType, InvalidValue, Public
from certdp.accounting.keyed.reporting import KeyTable
from certdp.parts import merged
from certdp.plugins.contract import KeySampler
from certdp.samplers.every_key import EveryKey
from certdp.samplers.listed_rates import ListedRates
from certdp.samplers.pps import Pps
from certdp.samplers.ppswor import Ppswor
from certdp.weighted_sampling import (
    KeyCounts,
    KeyHash,
    SeedOrder,
    ThresholdSample,
    bottom_k_sample,
    merge,
    threshold_sample,
)
from certdp.weighted_sampling.drawing import sanitise_reports
from certdp.weighted_sampling.keys import packed_keys, unpacked_keys
from certdp.weighted_sampling.plain_keys import PlainKeys
from certdp.weighted_sampling.sample_files import CoinKind
from tests.support.cases import examples

WORD = 1 << 64
RARE = 1e-9

SAMPLERS: list[KeySampler] = [
    EveryKey(),
    Ppswor(threshold=Public("0.02")),
    Ppswor(threshold=Public("1e-4"), power=Public("0.5")),
    Pps(threshold=Public("0.01")),
    Pps(threshold=Public("1/3"), power=Public(0)),
    ListedRates(rates=Public(",".join(["0", "1/4", "0.5", *["1"] * 9997]))),
]


Draw: TypeAlias = Callable[[list[KeyCounts]], ThresholdSample]


class Listed:
    """A source of random bits that gives what it was told to."""

    private = False

    def __init__(self, words: Iterable[int]) -> None:
        self._words = iter(words)

    def bits(self, count: int) -> NDArray[np.uint64]:
        return np.array([next(self._words, 0) for _ in range(count)], dtype=np.uint64)


def data(counts: Iterable[int], first: int = 0) -> KeyCounts:
    return KeyCounts.of({f"key {place}": count for place, count in enumerate(counts, first)})


def pairs(sample: ThresholdSample) -> dict[str, int]:
    keys = sample.keys.to_pylist()
    assert keys == sorted(keys, key=str.encode)
    assert sample.counts.dtype == np.uint64
    return dict(zip(keys, sample.counts.tolist(), strict=True))


def hashed(salt: bytes, key: str) -> int:
    """BLAKE2b by hand: the first 256 bits."""
    return int(hashlib.blake2b(key.encode(), digest_size=32, key=salt, person=b"certdp-sample").hexdigest(), 16)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.about.name)
@examples(20)
@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=20), st.data())
def test_a_key_is_kept_by_its_leading_bits(sampler: KeySampler, counts: list[int], data_: st.DataObject) -> None:
    words = []
    for count in counts:
        lead = sampler.inclusion.drawn(count) >> 192
        near = [word for word in (0, lead - 1, lead + 1, WORD - 1) if 0 <= word < WORD and word != lead]
        words.append(data_.draw(st.sampled_from(near) | st.integers(0, WORD - 1)))
        words[-1] -= words[-1] == lead and lead > 0  # ties have a test of their own
    sample = threshold_sample([data(counts)], sampler, Coins(Listed(words)))
    expected = {
        f"key {place}": count
        for place, (count, word) in enumerate(zip(counts, words, strict=True))
        if word << 192 < sampler.inclusion.drawn(count)
    }
    assert pairs(sample) == expected


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.about.name)
@pytest.mark.parametrize("frequency", [1, 2, 33, 777])
def test_every_bit_decides(monkeypatch: pytest.MonkeyPatch, sampler: KeySampler, frequency: int) -> None:
    drawn = sampler.inclusion.drawn(frequency)
    for value in (0, drawn - (1 << 192), drawn - 1, drawn, drawn + 1, drawn + (1 << 192), (1 << 256) - 1):
        if 0 <= value < 1 << 256:
            monkeypatch.setattr(KeyHash, "number", lambda *_, value=value: value)
            sample = threshold_sample([data([frequency])], sampler, KeyHash(b""))
            assert len(sample) == (value < drawn)


@pytest.mark.parametrize("high", [0, 1, (1 << 64) - 1])
def test_ties_are_decided_by_further_random_bits(high: int) -> None:
    """Half of the numbers that begin like q are below it, where its other bits are 1000…"""
    sampler = ListedRates(rates=Public([Fraction(2 * high + 1, 1 << 65)]))
    kept = 0
    for number in range(256):
        words = [(number << 56) | (number << 28) | number] * 8  # whichever of their bits are used first
        kept += len(threshold_sample([data([1])], sampler, Coins(Listed([high, *words]))))
    assert kept == 128


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.about.name)
def test_coins_from_keys_follow_every_bit(sampler: KeySampler) -> None:
    """Many frequencies at once: whatever is left out early is left out rightly."""
    counts = [n * n % 9973 + 1 for n in range(3000)]
    sample = threshold_sample([data(counts)], sampler, KeyHash(b"salt"))
    keys = {f"key {place}": count for place, count in enumerate(counts)}
    expected = {key: count for key, count in keys.items() if hashed(b"salt", key) < sampler.inclusion.drawn(count)}
    assert pairs(sample) == expected
    assert (sample.coins, sample.salt) == (CoinKind.KEY_HASH, b"salt")


def test_samples_with_one_salt_agree() -> None:
    """A key that is kept in one data set is kept in every one in which it is more frequent."""
    less, more = (threshold_sample([data([n] * 500)], SAMPLERS[1], KeyHash(b"")) for n in (20, 40))
    assert 0 < len(less) < len(more) < 500
    assert set(pairs(less)) < set(pairs(more))
    other = threshold_sample([data([20] * 500)], SAMPLERS[1], KeyHash(b"other"))
    assert set(pairs(other)) != set(pairs(less))


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS[1:5], ids=lambda sampler: sampler.about.name)
def test_many_draws(sampler: KeySampler, stream: int) -> None:
    for frequency in (1, 10, 100, 3_000):
        kept = len(threshold_sample([data([frequency] * 20_000)], sampler, Coins.seeded(stream + frequency)))
        assert consistent(kept, 20_000, Fraction(sampler.inclusion.drawn(frequency), 1 << 256))


@pytest.mark.slow
def test_sampled_then_sanitised_is_as_released(stream: int) -> None:
    """End to end, the probability is that of the table."""
    sampler = Ppswor(threshold=Public("0.05"))
    reporting = KeyTable(epsilon=Epsilon("0.5"), delta=Delta("1e-2"), inclusion=sampler.inclusion)
    coins = Coins.seeded(stream + 11)
    for frequency in (3, 10, 40):
        sample = threshold_sample([data([frequency] * 30_000)], sampler, coins)
        reported = int(sanitise_reports(reporting, sample.counts, coins).kept.sum())
        assert consistent(reported, 30_000, reporting.row(frequency).probability)


def consistent(hits: int, trials: int, probability: Fraction) -> bool:
    """Whether the exact interval of Clopper and Pearson (1934) holds the probability."""
    low = beta.ppf(RARE / 2, hits, trials - hits + 1) if hits else 0.0
    high = beta.ppf(1 - RARE / 2, hits + 1, trials - hits) if hits < trials else 1.0
    return bool(low <= float(probability) <= high)


def brute(
    keys: dict[str, int], size: int, order: SeedOrder, power: float, salt: bytes
) -> tuple[list[str], float | None]:
    """The k smallest seeds, and the next one."""
    seeds = {}
    for key, count in keys.items():
        uniform = ((hashed(salt, key) >> 204) + 0.5) / 2**52
        drawn = -math.log(uniform) if order is SeedOrder.PPSWOR else uniform
        seeds[key] = drawn / count**power
    ranked = sorted(seeds, key=lambda key: seeds[key])
    return sorted(ranked[:size]), seeds[ranked[size]] if len(ranked) > size else None


@pytest.mark.parametrize("order", SeedOrder)
@pytest.mark.parametrize("power", [0, "0.5", 1, 2])
@pytest.mark.parametrize("size", [1, 7, 59, 60, 100])
def test_bottom_k(order: SeedOrder, power: Any, size: int) -> None:
    counts = [n * n + 1 for n in range(60)]
    expected, threshold = brute(data_of(counts), size, order, float(Fraction(power)), b"s")
    for cut in (1, 7, 60):
        chunks = [data(counts[start : start + cut], start) for start in range(0, 60, cut)]
        sample = bottom_k_sample(chunks, size, order=order, power=power, coins=KeyHash(b"s"))
        assert sorted(pairs(sample)) == expected
        assert all(counts[int(key.split()[1])] == count for key, count in pairs(sample).items())
        found: Any = sample.rule
        assert (found.threshold is None) == (threshold is None)
        if threshold is not None:
            assert found.threshold == pytest.approx(threshold, rel=1e-12)
            assert sample.seeds is not None
            assert sample.seeds.max() <= found.threshold
            assert sample.inclusion.rate(5, precision=64).midpoint == pytest.approx(
                _rate(order, threshold * 5 ** float(Fraction(power))), rel=1e-9
            )
        else:
            assert sample.inclusion.drawn(1) == 1 << 256


def data_of(counts: list[int]) -> dict[str, int]:
    return {f"key {place}": count for place, count in enumerate(counts)}


def _rate(order: SeedOrder, size: float) -> float:
    return -math.expm1(-size) if order is SeedOrder.PPSWOR else min(1.0, size)


def test_equal_seeds_are_told_apart_by_key() -> None:
    chunks = [data([5] * 4), data([5] * 4, 4)]
    for order in (chunks, chunks[::-1]):
        sample = bottom_k_sample(order, 3, coins=Coins(Listed([7 << 40] * 8)))
        assert list(pairs(sample)) == ["key 0", "key 1", "key 2"]


@pytest.mark.parametrize("word", [0, WORD - 1])
@pytest.mark.parametrize("order", SeedOrder)
def test_extreme_seeds_are_thresholds(order: SeedOrder, word: int) -> None:
    sample = bottom_k_sample([data([5] * 3)], 2, order=order, coins=Coins(Listed([word] * 3)))
    assert len(sample) == 2
    assert 0 < sample.inclusion.drawn(5) <= 1 << 256


@pytest.mark.parametrize("cut", [0, 1, 30, 60])
def test_merged_samples_are_samples_of_all(cut: int) -> None:
    counts = [n * n + 1 for n in range(60)]
    parts = [data(counts[:cut]), data(counts[cut:], cut)]
    draws: list[Draw] = [
        lambda chunks: threshold_sample(chunks, SAMPLERS[1], KeyHash(b"s")),
        lambda chunks: bottom_k_sample(chunks, 9, coins=KeyHash(b"s")),
        lambda chunks: bottom_k_sample(chunks, 45, order=SeedOrder.PRIORITY, coins=KeyHash(b"s")),
    ]
    for draw in draws:
        whole = draw(parts)
        for first, second in (parts, parts[::-1]):
            both = merge(draw([first]), draw([second]))
            assert pairs(both) == pairs(whole)
            assert (both.rule, both.coins, both.salt) == (whole.rule, whole.coins, whole.salt)
            assert both.seeds is None or whole.seeds is None or both.seeds.tolist() == whole.seeds.tolist()


def test_a_merged_sample_can_be_sanitised_where_its_parts_can() -> None:
    parts = [threshold_sample([data([50] * 99, 100 * place)], SAMPLERS[1]) for place in range(2)]
    both = merge(*parts)
    both.require_sanitisable()
    assert pairs(both) == pairs(parts[0]) | pairs(parts[1])


@pytest.mark.parametrize(
    ("first", "second", "parameter"),
    [
        (threshold_sample([], SAMPLERS[1]), threshold_sample([], SAMPLERS[3]), "rule"),
        (threshold_sample([], SAMPLERS[1]), threshold_sample([], Ppswor(threshold=Public("0.03"))), "rule"),
        (threshold_sample([], SAMPLERS[1]), bottom_k_sample([], 5), "rule"),
        (bottom_k_sample([], 5), bottom_k_sample([], 6), "rule"),
        (bottom_k_sample([], 5), bottom_k_sample([], 5, order=SeedOrder.PRIORITY), "rule"),
        (bottom_k_sample([], 5), bottom_k_sample([], 5, power=2), "rule"),
        (threshold_sample([], SAMPLERS[1]), threshold_sample([], SAMPLERS[1], Coins.seeded(1)), "coins"),
        (threshold_sample([], SAMPLERS[1], KeyHash(b"a")), threshold_sample([], SAMPLERS[1], KeyHash(b"b")), "salt"),
    ],
)
def test_different_schemes_do_not_merge(first: ThresholdSample, second: ThresholdSample, parameter: str) -> None:
    for one, other in ((first, second), (second, first)):
        with pytest.raises(InvalidValue) as caught:
            merge(one, other)
        assert caught.value.parameter == parameter


def test_a_key_in_both_samples_is_refused() -> None:
    draws: list[Draw] = [lambda chunks: threshold_sample(chunks, EveryKey()), lambda chunks: bottom_k_sample(chunks, 5)]
    for draw in draws:
        with pytest.raises(InvalidValue, match="the same one in both samples"):
            merge(draw([data([1, 2, 3])]), draw([data([4], 2)]))


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (bottom_k_sample([], 5), "Its threshold was realised from the data"),
        (bottom_k_sample([], 5, coins=KeyHash(b"")), "Its threshold was realised from the data"),
        (threshold_sample([], SAMPLERS[1], KeyHash(b"")), "Whoever knows the salt"),
        (threshold_sample([], SAMPLERS[1], Coins.seeded(3)), "Whoever knows the seed"),
    ],
)
def test_samples_that_nothing_makes_private(sample: ThresholdSample, reason: str) -> None:
    with pytest.raises(InvalidValue, match=reason) as caught:
        sample.require_sanitisable()
    assert caught.value.parameter == "sample"
    threshold_sample([], SAMPLERS[1]).require_sanitisable()


def test_a_sample_states_that_it_is_not_private() -> None:
    for sample in (threshold_sample([], SAMPLERS[1]), bottom_k_sample([], 3)):
        assert not sample.statement.private
        assert sample.statement.guarantee is None


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv"])
@pytest.mark.parametrize("number", range(5))
def test_a_file_gives_the_sample_back(tmp_path: Path, ending: str, number: int) -> None:
    counts = [data([3, 50, 1 << 53, 700])]
    sample = [
        threshold_sample(counts, SAMPLERS[2]),
        threshold_sample(counts, SAMPLERS[4], KeyHash(b"\xff\0")),
        bottom_k_sample(counts, 3, order=SeedOrder.PRIORITY, power="1/3"),
        bottom_k_sample(counts, 30, coins=Coins.seeded(7)),
        threshold_sample([], ListedRates(rates=Public("0.1,0.7"))),
    ][number]
    path = tmp_path / f"sample.{ending}"
    sample.write(path)
    assert path.stat().st_mode & 0o077 == 0  # true frequencies
    again = ThresholdSample.read(path)
    assert pairs(again) == pairs(sample)
    assert (again.rule, again.coins, again.salt) == (sample.rule, sample.coins, sample.salt)
    assert (again.inclusion, again.statement) == (sample.inclusion, sample.statement)
    assert again.seeds is None or sample.seeds is None or again.seeds.tolist() == sample.seeds.tolist()
    assert merge(again, threshold_like(sample)).statement.rule == sample.statement.rule


def threshold_like(sample: ThresholdSample) -> ThresholdSample:
    """An empty sample by the same scheme."""
    empty = sample.keys.slice(0, 0)
    seeds = None if sample.seeds is None else sample.seeds[:0]
    return ThresholdSample(
        keys=empty, counts=sample.counts[:0], rule=sample.rule, coins=sample.coins, salt=sample.salt, seeds=seeds
    )


def test_keys_may_be_bytes() -> None:
    counts = KeyCounts.of({b"\xff": 50, b"a": 60})
    for sample in (threshold_sample([counts], EveryKey()), bottom_k_sample([counts], 2)):
        assert sample.keys.type == pa.large_binary()
        assert sample.keys.to_pylist() == [b"a", b"\xff"]
        assert sample.counts.tolist() == [60, 50]


def test_bad_arguments() -> None:
    with pytest.raises(InvalidValue, match="at most 2, the last that has a rate"):
        threshold_sample([data([1, 3])], ListedRates(rates=Public("0.1,0.7")))
    for size in (0, -1, 1.5, True):
        with pytest.raises(InvalidValue, match="size"):
            bottom_k_sample([], size)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="power"):
        bottom_k_sample([], 3, power=-1)
    with pytest.raises(InvalidType, match="order"):
        bottom_k_sample([], 3, order="ppswor")  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="salt"):
        KeyHash("text")  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="at most 64 bytes"):
        KeyHash(bytes(65))


@pytest.mark.parametrize("power", ["16", "1e30", "1e308", "1e400"])
def test_a_power_at_which_seeds_are_no_floats_is_refused(power: str) -> None:
    """2^(53·16) has a float, 2^(64·16) has none: what counts is the largest count that occurs."""
    small, large = data([1, 1, 1]), data([1, 2**53, 2**40])
    assert len(bottom_k_sample([small], 2, power=power)) == 2
    if power == "16":
        assert len(bottom_k_sample([large], 2, power=power)) == 2
        return
    with pytest.raises(InvalidValue, match="power"):
        bottom_k_sample([large], 2, power=power)


class TestParts:
    @pytest.mark.parametrize("kind", ["text", "bytes", "mixed"])
    @pytest.mark.parametrize("coins", [KeyHash(b"s"), None], ids=["key hash", "operating system"])
    def test_a_sample_comes_back_from_its_bytes(self, kind: str, coins: KeyHash | None) -> None:
        listed = {
            "text": ["", "a", "ü", "a" * 70],
            "bytes": [b"\xff", b"\xff\x00", b"", b"\x80" * 9],
            "mixed": [b"\xff", b"a", b"", b"\xfe"],
        }[kind]
        chunk = KeyCounts.of((pa.array(listed, pa.large_string() if kind == "text" else pa.large_binary()), [9] * 4))
        for sample in (
            threshold_sample([chunk], EveryKey(), coins),
            threshold_sample([chunk], ListedRates(rates=Public(",".join(["0"] * 9 + ["1"]))), coins),
            bottom_k_sample([chunk], 2, power="1/2", coins=coins),
            bottom_k_sample([], 2, coins=coins),
            threshold_sample([], SAMPLERS[1], coins),
        ):
            for again in (ThresholdSample.from_bytes(sample.to_bytes()), pickle.loads(pickle.dumps(sample))):
                assert again.to_bytes() == sample.to_bytes()
                assert again.keys.equals(sample.keys)
                assert again.statement == sample.statement
                assert (again.rule, again.salt) == (sample.rule, sample.salt)
                assert again.counts.tolist() == sample.counts.tolist()

    @pytest.mark.parametrize("listed", [[], [b""], [b"", b"a", "ü".encode()], [b"\xff", b"z"]], ids=len)
    def test_keys_without_arrow_come_back(self, monkeypatch: pytest.MonkeyPatch, listed: list[bytes]) -> None:
        monkeypatch.setattr("certdp.weighted_sampling.keys.arrow_if_installed", lambda: None)
        keys = PlainKeys(listed, text=False).as_text()
        again = unpacked_keys(packed_keys(keys))
        assert again.equals(keys)

    @examples(100)
    @given(st.lists(st.integers(0, 59), max_size=8), st.lists(st.booleans(), min_size=9, max_size=9))
    def test_samples_by_coins_of_keys_do_not_depend_on_the_parts(self, cuts: list[int], sent: list[bool]) -> None:
        counts = [n * n + 1 for n in range(60)]
        draws: list[Draw] = [
            lambda chunks: threshold_sample(chunks, SAMPLERS[1], KeyHash(b"s")),
            lambda chunks: bottom_k_sample(chunks, 9, coins=KeyHash(b"s")),
        ]
        for draw in draws:
            parts = [draw([data(counts[a:b], a)]) for a, b in pairwise([0, *sorted(cuts), 60])]
            travelled = [
                pickle.loads(pickle.dumps(part)) if far else part for part, far in zip(parts, sent, strict=False)
            ]
            assert merged(travelled).to_bytes() == draw([data(counts)]).to_bytes()

    def test_a_key_in_two_parts_is_refused(self) -> None:
        parts = [threshold_sample([data([1, 2, 3], 3 * place)], EveryKey()) for place in (0, 1, 2, 3, 0)]
        with pytest.raises(InvalidValue, match="the same one in both samples"):
            merged(parts)

    def test_damaged_bytes(self) -> None:
        content = threshold_sample([data([1, 2])], EveryKey()).to_bytes()
        for place in range(len(content)):
            with pytest.raises(InvalidValue, match="not whole"):
                ThresholdSample.from_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])

    @pytest.mark.slow
    @pytest.mark.parametrize("parts", [1, 8])
    def test_the_law_of_a_sample_does_not_depend_on_the_parts(self, parts: int) -> None:
        """χ² of how often each key was kept in 1,000 samples, against its probability; seeds are fixed."""
        sampler, rounds = SAMPLERS[1], 1_000
        counts = [1 + place * 7 for place in range(40)]
        rates = np.array([float(Fraction(sampler.inclusion.drawn(count), 1 << 256)) for count in counts])
        kept = np.zeros(40)
        names = {key: place for place, key in enumerate(data(counts).keys.to_pylist())}
        for seed in range(rounds):
            sample = merged(
                threshold_sample([data(counts[places[0] : places[-1] + 1], int(places[0]))], sampler, Coins.seeded(s))
                for s, places in enumerate(np.array_split(np.arange(40), parts), start=100 * seed)
            )
            for key in sample.keys.to_pylist():
                kept[names[key]] += 1
        statistic = float(((kept - rounds * rates) ** 2 / (rounds * rates * (1 - rates))).sum())
        assert 40 - 2 * np.sqrt(40 * 13.9) < statistic < 40 + 2 * np.sqrt(40 * 13.9) + 2 * 13.9  # Laurent, Massart 2000
