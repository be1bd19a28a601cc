"""Arrays of keys: order by bytes, types, and whether one comes twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.private import InvalidData
from certdp.weighted_sampling.keys import Distinct, as_bytes, as_keys, as_text, gathered, order

BYTES = st.lists(st.binary(max_size=20) | st.sampled_from([b"", b"\0", b"common prefix", b"common prefix\0"]))


def array(keys: list[bytes], first: int = 0) -> Any:
    """The keys, in an array that begins within its buffers."""
    return pa.array([b"left out"] * first + keys, pa.large_binary()).slice(first)


@given(BYTES, st.integers(0, 3))
def test_order_is_that_of_the_bytes(keys: list[bytes], first: int) -> None:
    places = order(array(keys, first))
    assert [keys[place] for place in places] == sorted(keys)
    assert sorted(places.tolist()) == list(range(len(keys)))


@given(BYTES, st.binary(max_size=20), st.integers(0, 3))
def test_order_of_keys_that_begin_alike(keys: list[bytes], start: bytes, first: int) -> None:
    alike = [start + key for key in keys]
    assert [alike[place] for place in order(array(alike, first))] == sorted(alike)


@given(st.lists(st.text(max_size=5)))
def test_order_of_text_is_that_of_its_bytes(keys: list[str]) -> None:
    places = order(pa.array(keys, pa.large_string()))
    assert [keys[place] for place in places] == sorted(keys, key=str.encode)


@given(BYTES, st.integers(0, 3), st.integers(1, 4))
def test_keys_that_come_twice(keys: list[bytes], first: int, parts: int) -> None:
    chunks = [array(list(part), first) for part in np.array_split(np.array(keys, dtype=object), parts)]
    distinct = Distinct()
    for chunk in chunks:
        distinct.add(chunk)
    found = distinct.repeated(lambda: chunks)
    assert (found is None) == (len(set(keys)) == len(keys))
    if found is not None:
        assert found.first < found.second
        assert keys[found.first - 1] == keys[found.second - 1] == found.key


@given(BYTES)
def test_equal_hashes_of_different_keys_are_told_apart(keys: list[bytes]) -> None:
    class Colliding(Distinct):  # type: ignore[misc] # final: a stand-in for a hash that happens to collide
        def _hashed(self, keys: Any) -> Any:
            return np.full(len(keys), 7, dtype=np.uint64)

    distinct, chunk = Colliding(), array(keys)
    distinct.add(chunk)
    found = distinct.repeated(lambda: [chunk])
    assert (found is None) == (len(set(keys)) == len(keys))


def test_hashes_depend_on_every_byte_and_the_length() -> None:
    keys = [bytes(n) for n in range(40)]
    for place in range(40):
        keys += [bytes(place) + bytes([value]) + bytes(39 - place) for value in range(1, 256)]
    distinct = Distinct()
    distinct.add(array(keys))
    assert distinct._agreeing().size == 0


def test_a_key_that_comes_twice_is_named() -> None:
    distinct = Distinct()
    distinct.add(array([b"a", b"\xff", b"b", b"\xff"]))
    with pytest.raises(InvalidData, match=r"rows 2 and 4; admissible: each key once\. Sum their counts") as caught:
        distinct.require(lambda: [array([b"a", b"\xff", b"b", b"\xff"])])
    assert "xff" in str(caught.value.formatted_finding)
    assert "xff" not in str(caught.value)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
)
def test_columns_of_text_and_bytes(kind: Any) -> None:
    column = pa.chunked_array([pa.array(["a", ""], pa.string()), pa.array(["b\0"], pa.string())]).cast(kind)
    for given_column in (column, column.combine_chunks(), column.slice(0), pa.chunked_array([], kind)):
        keys = as_keys(given_column)
        assert keys.type == (pa.large_string() if "string" in str(kind) else pa.large_binary())
        assert as_bytes(keys).to_pylist() == ([b"a", b"", b"b\0"] if len(given_column) else [])
    coded = pa.array(["x", "y", "x"]).dictionary_encode()
    assert as_keys(coded).to_pylist() == ["x", "y", "x"]
    views = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.uint32()), pa.array(["x", "y"], pa.string_view()))
    assert as_keys(pa.chunked_array([views, views])).to_pylist() == ["y", "x", "y", "x"]
    assert as_keys(pa.array([b"ab", b"cd"], pa.binary(2))).to_pylist() == [b"ab", b"cd"]
    assert as_keys(pa.array([], pa.null())).type == pa.large_string()


def test_other_columns_are_refused() -> None:
    for column in (pa.array([1, 2]), pa.array([1.5]), pa.array([True])):
        with pytest.raises(InvalidType, match="key: got a column of type"):
            as_keys(column)
    for column in (
        pa.array(["a", None]),
        pa.chunked_array([["a"], [None]]),
        pa.array([b"a", None]),
        pa.array(["a", None]).dictionary_encode(),
    ):
        with pytest.raises(InvalidValue, match="a missing value in row 12"):
            as_keys(column, first=10)
    with pytest.raises(InvalidValue, match="a missing value in row 1"):
        as_keys(pa.array([None, None]))


@given(st.lists(BYTES, max_size=4))
def test_the_type_of_gathered_keys_is_a_function_of_them(parts: list[list[bytes]]) -> None:
    keys = [key for part in parts for key in part]
    text = all(_decodes(key) for key in keys)
    found = gathered([as_text(array(part)) for part in parts])
    assert found.type == (pa.large_string() if text else pa.large_binary())
    assert as_bytes(found).to_pylist() == keys


def _decodes(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True
