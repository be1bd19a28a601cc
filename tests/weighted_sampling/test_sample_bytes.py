"""The bytes of a sample that was not drawn: refused in one word, or a sample that is what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp import Ppswor, Public
from certdp.accounting.private import InvalidData
from certdp.accounting.stored import packed, unpacked
from certdp.weighted_sampling import KeyCounts, ThresholdSample, bottom_k_sample, threshold_sample
from certdp.weighted_sampling.threshold_samples import KeyHash
from tests.support.cases import examples
from tests.weighted_sampling.test_plain_keys import without_arrow

FORM = "certdp-sample-part/1"
COUNTS = KeyCounts.of({"a": 9000, "bb": 20000, "c": 500})
DRAWN = {
    "threshold": threshold_sample([COUNTS], Ppswor(threshold=Public("1e9")), KeyHash(b"s")),
    "bottom-k": bottom_k_sample([COUNTS], 2, coins=KeyHash(b"s")),
    "fewer": bottom_k_sample([COUNTS], 5),
}
FAR = (200_000, 10**12, 10**13, 2**62)
"""Lengths with which the memory beside the bytes would be read."""

NUMBERS = st.one_of(st.integers(-2, 5), st.sampled_from([*FAR, -(2**63), 2**63 - 1]))
LENGTHS = st.lists(NUMBERS, max_size=5).map(lambda found: np.array(found, dtype=np.int64))
BYTES = st.binary(max_size=6).map(lambda found: np.frombuffer(found, dtype=np.uint8))
WORDS = st.lists(st.integers(0, 2**64 - 1), max_size=4).map(lambda found: np.array(found, dtype=np.uint64))
FLOATS = st.lists(st.floats(), max_size=4).map(lambda found: np.array(found, dtype=np.float64))
ANY = st.one_of(LENGTHS, BYTES, WORDS, FLOATS, LENGTHS.map(lambda found: found.reshape(1, -1)))
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "lengths": LENGTHS | ANY,
        "keys": BYTES | ANY,
        "count": WORDS | ANY,
        "seed": FLOATS | ANY,
        "more": ANY,
    },
)


def forged(kind: str, stated: dict[str, Any] | None = None, left_out: str = "", **changed: Any) -> bytes:
    """The bytes of a sample with other arrays or another statement, and their own digest."""
    said, arrays = unpacked(FORM, DRAWN[kind].to_bytes())
    arrays = {name: array for name, array in {**arrays, **changed}.items() if name != left_out}
    return packed(FORM, {**said, **(stated or {})}, arrays)


def lengths(*found: int) -> Any:
    return np.array(found, dtype=np.int64)


def split(arrays: dict[str, Any]) -> list[bytes]:
    """The keys, by Python alone."""
    rest, keys = arrays["keys"].tobytes(), []
    for length in arrays["lengths"].tolist():
        keys.append(rest[:length])
        rest = rest[length:]
    assert not rest
    return keys


def refused(content: bytes) -> None:
    with pytest.raises(InvalidData) as caught:
        ThresholdSample.from_bytes(content)
    assert str(caught.value).startswith("content: got bytes that are not whole;")
    assert caught.value.found is None


def check(content: bytes) -> bool:
    """Refused, or all that its bytes say; whether it was taken."""
    try:
        sample = ThresholdSample.from_bytes(content)
    except InvalidData:
        refused(content)
        return False
    _, arrays = unpacked(FORM, content)
    keys = [key.encode() if isinstance(key, str) else key for key in sample.keys.to_pylist()]
    assert keys == split(arrays)
    assert keys == sorted(set(keys))
    assert min(arrays["lengths"].tolist(), default=0) >= 0
    assert sample.counts.tolist() == arrays["count"].tolist()
    assert len(sample.counts) == len(keys)
    assert min(sample.counts.tolist(), default=1) >= 1
    assert ("seed" in arrays) == (sample.seeds is not None)
    if sample.seeds is not None:
        assert len(sample.seeds) == len(keys)
        assert all(0 < seed < float("inf") for seed in sample.seeds.tolist())
    assert sample.to_bytes() == content
    return True


@examples(300)
@given(st.sampled_from([*DRAWN]), CHANGES, st.sampled_from(["", "", "", "lengths", "keys", "count", "seed"]))
@example("threshold", {"lengths": lengths(64, -61, 1)}, "")
@example("threshold", {"lengths": lengths(2**63 - 1, 2**63 - 1, 6)}, "")
@example("threshold", {"lengths": lengths(*(2**62,) * 4, 4)}, "")
@example("threshold", {"keys": np.frombuffer(b"aaaa", dtype=np.uint8), "lengths": lengths(1, 1, 2)}, "")
def test_arrays_that_were_not_drawn(kind: str, changed: dict[str, Any], left_out: str) -> None:
    content = forged(kind, left_out=left_out, **changed)
    check(content)
    with without_arrow():
        check(content)


@examples(200)
@given(st.dictionaries(st.binary(max_size=4), st.integers(1, 2**64 - 1), max_size=5), st.booleans())
def test_keys_in_order_are_taken(rows: dict[bytes, int], in_order: bool) -> None:
    keys = sorted(rows, reverse=not in_order)
    content = forged(
        "threshold",
        lengths=lengths(*map(len, keys)),
        keys=np.frombuffer(b"".join(keys), dtype=np.uint8),
        count=np.array([rows[key] for key in keys], dtype=np.uint64),
    )
    assert check(content) == (in_order or len(rows) < 2)


@pytest.mark.parametrize("far", FAR)
def test_lengths_that_reach_beyond_the_bytes(far: int) -> None:
    for found in (lengths(far, 3 - far, 1), lengths(1, 2, far), lengths(far, -far, 4), lengths(-far, far, 4)):
        refused(forged("threshold", lengths=found))


@pytest.mark.parametrize(
    "changed",
    [
        {"lengths": lengths(1, 3)},
        {"lengths": lengths(1, 2, 1, 0)},
        {"lengths": lengths(1, 2, 1).astype(np.uint64)},
        {"lengths": lengths(1, 2, 1).reshape(3, 1)},
        {"keys": np.frombuffer(b"cbba", dtype=np.uint8)},
        {"keys": np.frombuffer(b"abbc", dtype=np.uint8).reshape(2, 2)},
        {"keys": lengths(97, 98, 98, 99)},
        {"count": np.zeros(3, dtype=np.uint64)},
        {"count": lengths(1, 2, 3)},
        {"count": np.ones((3, 1), dtype=np.uint64)},
        {"seed": np.ones(3)},
        {"more": np.ones(3)},
        *({"left_out": name} for name in ("keys", "lengths", "count")),
    ],
)
def test_other_arrays(changed: dict[str, Any]) -> None:
    assert check(forged("threshold"))
    refused(forged("threshold", **changed))


@pytest.mark.parametrize("kind", ["bottom-k", "fewer"])
def test_other_seeds(kind: str) -> None:
    assert check(forged(kind))
    drawn = unpacked(FORM, DRAWN[kind].to_bytes())[1]["seed"]
    for first in (0.0, -1.0, np.nan, np.inf, -np.inf):
        refused(forged(kind, seed=np.array([first, *drawn[1:]])))
    refused(forged(kind, seed=drawn[1:]))
    refused(forged(kind, left_out="seed"))
    if kind == "bottom-k":
        refused(forged(kind, seed=drawn + 1e9))  # above the realised threshold


@pytest.mark.parametrize(
    "stated",
    [
        {"private": True},
        {"private": 0},
        {"contributions": 3},
        {"coins": "seeded"},
        {"coins": "dice"},
        {"mechanism": {"name": "pws-frequencies", "options": {}}},
        {"sampler": {"name": "ppswor", "options": {"threshold": "text"}}},
        {"sampler": {"name": "ppswor", "options": {}}},
        {"rule": {"name": "threshold", "options": {}}},
        {"rule": {"name": "threshold", "options": {"salt": "zz"}}},
        {"rule": {"name": "threshold", "options": {"salt": "7 3"}}},
        {"rule": {"name": "threshold", "options": {"salt": "00" * 65}}},
        {"rule": {"name": "bottom-k", "options": {"size": "x", "order": "ppswor", "power": "1"}}},
        {"rule": {"name": "bottom-k", "options": {"size": "1", "order": "none", "power": "1"}}},
        {"rule": "the lightest"},
        {"format": 2},
        {"more": 1},
    ],
)
def test_other_statements(stated: dict[str, Any]) -> None:
    refused(forged("threshold", stated))
