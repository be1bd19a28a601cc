"""Without Arrow keys in memory are sampled as with it: the same draws, estimates and refusals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import Coins, KeyCounts, Ppswor, PrivateSample, PrivateWeightedSampling, Public
from certdp.accounting.errors import CertdpError
from certdp.weighted_sampling.estimation import SampleEstimates
from certdp.weighted_sampling.keys import Distinct, buffers, order
from certdp.weighted_sampling.plain_keys import PlainKeys
from certdp.weighted_sampling.selections import selection
from certdp.weighted_sampling.threshold_samples import (
    KeyHash,
    ThresholdSample,
    bottom_k_sample,
    merge,
    threshold_sample,
)
from tests.support.cases import examples

SAMPLING = PrivateWeightedSampling.within(
    epsilon=1, delta="1e-2", frequencies=True, sampler=Ppswor(threshold=Public("0.05"))
)
WORDS = {f"{word} {number}": 3 * number + 1 for number in range(40) for word in ("new", "old", "näive")}


@contextmanager
def without_arrow() -> Iterator[None]:
    modules: dict[str, Any] = sys.modules  # of which None is one that cannot be imported
    modules["pyarrow"] = None
    try:
        yield
    finally:
        modules["pyarrow"] = pyarrow


def both(make: Callable[[], Any]) -> tuple[Any, Any]:
    with without_arrow():
        plain = make()
    return plain, make()


def rows(sample: PrivateSample) -> tuple[list[Any], list[int]]:
    assert sample.tokens is not None
    return sample.keys.to_pylist(), sample.tokens.tolist()


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.binary(max_size=3)


@examples(100)
@given(counts=st.dictionaries(texts, st.integers(1, 2**31), max_size=12), seed=st.integers(0, 9))
def test_a_mapping_is_released_as_with_arrow(counts: dict[str | bytes, int], seed: int) -> None:
    alike = len({key.encode() if isinstance(key, str) else key for key in counts}) < len(counts)

    def make() -> Any:
        try:
            return rows(SAMPLING.release(counts, Coins.seeded(seed)))
        except CertdpError as error:
            return str(error)

    plain, arrow = both(make)
    assert plain == arrow
    assert isinstance(plain, str) == alike  # text and the bytes of it are one key


FORMS: dict[str, Any] = {
    "pair": (list(WORDS), list(WORDS.values())),
    "pair of arrays": (np.array(list(WORDS)), np.array(list(WORDS.values()), dtype=np.float64)),
    "list": ["a", "b", "a", "c", "a"] * 100,
    "bytes": [b"\xff", b"a", b"\xff"] * 100,
    "empty": {},
}


@pytest.mark.parametrize("form", FORMS)
def test_other_forms_are_read_as_with_arrow(form: str) -> None:
    counts = both(lambda: KeyCounts.of(FORMS[form]))
    assert [found.keys.to_pylist() for found in counts] == [counts[1].keys.to_pylist()] * 2
    assert counts[0].counts.tolist() == counts[1].counts.tolist()
    assert isinstance(counts[0].keys, PlainKeys)
    samples = both(lambda: SAMPLING.release(FORMS[form], Coins.seeded(3)))
    assert rows(samples[0]) == rows(samples[1])


def test_value_counts_need_no_arrow() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(["a", "b", "a", "c", "a"], dtype=object)
    counts = both(lambda: KeyCounts.of(series.value_counts()))
    assert sorted(zip(counts[0].keys.to_pylist(), counts[0].counts.tolist(), strict=True)) == [
        ("a", 3),
        ("b", 1),
        ("c", 1),
    ]


def test_counts_of_one_key_are_summed() -> None:
    pair = (["a", "b", "a"], [2**52, 1, 2**52])
    plain, arrow = both(lambda: KeyCounts.of(pair, aggregate=True))
    assert plain.keys.to_pylist() == arrow.keys.to_pylist() == ["a", "b"]
    assert plain.counts.tolist() == arrow.counts.tolist() == [2**53, 1]


REFUSED: dict[str, Any] = {
    "twice": (["a", "b", "a"], [1, 2, 3]),
    "number": {3: 1},
    "surrogate": {"\ud800": 1},
    "zero": {"a": 0},
    "fraction": (["a"], np.array([1.5])),
    "matrix": (["a"], np.ones((1, 1)) * 0.5),
    "text": "abc",
    "nothing": 3,
}


@pytest.mark.parametrize("data", REFUSED)
def test_what_is_refused_is_refused_alike(data: str) -> None:
    def message() -> str:
        with pytest.raises(CertdpError) as caught:
            KeyCounts.of(REFUSED[data])
        return str(caught.value)

    plain, arrow = both(message)
    assert plain == arrow


def test_a_sum_beyond_the_largest_count_is_refused() -> None:
    def message() -> str:
        with pytest.raises(CertdpError, match="beyond 2\\^53") as caught:
            KeyCounts.of((["a", "a"], [2**53, 1]), aggregate=True)
        return str(caught.value)

    plain, arrow = both(message)
    assert plain == arrow


def test_estimates_and_reports_are_those_with_arrow() -> None:
    def answers() -> list[Any]:
        sample = SAMPLING.release(WORDS, Coins.seeded(1))
        first = sample.keys.to_pylist()[0]
        return [
            sample.to_dict(),
            [str(sample.estimate(selection(f"key {words} new "))) for words in ("starts", "ends", "contains", "=")],
            str(sample.estimate(lambda key: "3" in key)),
            sample.estimates.top(3),
            sample.estimates.rank(first),
            str(SAMPLING.report(WORDS, sample).reveal()),
            str(sample),
        ]

    plain, arrow = both(answers)
    assert plain == arrow
    with without_arrow():
        sample = SAMPLING.release(WORDS, Coins.seeded(1))
        assert sample == SAMPLING.release(WORDS, Coins.seeded(1))
        assert sample != SAMPLING.release(WORDS, Coins.seeded(2))
        assert isinstance(sample.estimates, SampleEstimates)


@pytest.mark.parametrize("draw", ["threshold", "bottom-k"])
def test_samples_with_true_frequencies_need_no_arrow(draw: str) -> None:
    halves = [dict(list(WORDS.items())[:60]), dict(list(WORDS.items())[60:])]

    def drawn(data: Any) -> ThresholdSample:
        chunks = [KeyCounts.of(data)]
        if draw == "threshold":
            return threshold_sample(chunks, Ppswor(threshold=Public("0.05")), KeyHash(b"salt"))
        return bottom_k_sample(chunks, 20, coins=KeyHash(b"salt"))

    def contents() -> list[Any]:
        return [
            [sample.keys.to_pylist(), sample.counts.tolist()] for sample in (drawn(WORDS), merge(*map(drawn, halves)))
        ]

    plain, arrow = both(contents)
    assert plain == arrow


@examples(100)
@given(items=st.lists(st.binary(max_size=12), max_size=20))
def test_bytes_lie_where_the_offsets_say_and_are_put_in_order(items: list[bytes]) -> None:
    keys = PlainKeys(items, text=False)
    offsets, data = buffers(keys)
    assert [bytes(data[a:b]) for a, b in pairwise(offsets)] == items
    assert keys.take(order(keys)).to_pylist() == sorted(items)
    distinct = Distinct()
    distinct.add(keys)
    assert (distinct.repeated(lambda: [keys]) is None) == (len(set(items)) == len(items))


def test_keys_have_the_methods_of_an_arrow_array() -> None:
    keys = PlainKeys([b"a", "ä".encode(), b"c"], text=True)
    assert list(keys) == keys.to_pylist() == ["a", "ä", "c"]
    assert keys.slice(1, 5).to_pylist() == ["ä", "c"]
    assert keys.filter(np.array([True, False, True])).to_pylist() == ["a", "c"]
    assert keys.equals(PlainKeys(keys.items, text=True))
    assert not keys.equals(keys.as_bytes())
    assert PlainKeys([b"\xff"], text=False).as_text().to_pylist() == [b"\xff"]
    assert repr(keys) == "3 keys"


NEEDS: dict[str, Callable[[PrivateSample, Path], Any]] = {
    "file": lambda sample, folder: SAMPLING.release(folder / "counts.csv"),
    "table": lambda sample, folder: sample.to_arrow(),
    "write": lambda sample, folder: sample.write(folder / "sample.csv"),
    "pattern": lambda sample, folder: sample.estimate(selection("key ~ ^new")),
}


@pytest.mark.parametrize("what", NEEDS)
def test_what_needs_arrow_says_what_to_install(what: str, tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("key,count\na,3\n")
    with without_arrow():
        sample = SAMPLING.release(WORDS, Coins.seeded(1))
        with pytest.raises(CertdpError, match=r"pip install 'certdp\[parquet\]'"):
            NEEDS[what](sample, tmp_path)
