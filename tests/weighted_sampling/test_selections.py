"""Which keys count: predicates in words, functions and values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.weighted_sampling.selections import Every, Where, coefficients, selection

WORDS = ["new york", "newark", "old town", "", "New", "a.c", "abc", "new\tline", "é new"]


def keys(values: list[Any]) -> Any:
    return pa.array(values, pa.large_string() if all(isinstance(v, str) for v in values) else pa.large_binary())


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("key = new york", lambda w: w == "new york"),
        ("key = é new", lambda w: w == "é new"),
        ("key starts new", lambda w: w.startswith("new")),
        ("key starts new ", lambda w: w.startswith("new ")),
        ("key ends new", lambda w: w.endswith("new")),
        ("key contains .", lambda w: "." in w),
        ("key ~ ^[an]", lambda w: re.search("^[an]", w)),
        ("key ~ a.c", lambda w: re.search("a.c", w)),
        ("key not contains e", lambda w: "e" not in w),
        ("key not not = abc", lambda w: w == "abc"),
        (" key  not  = abc", lambda w: w != "abc"),
    ],
)
def test_predicates_in_words(text: str, holds: Any) -> None:
    told = [bool(holds(word)) for word in WORDS]
    assert selection(text).of(keys(WORDS)).tolist() == told
    encoded = [word.encode() for word in WORDS]
    assert selection(text).of(keys(encoded)).tolist() == told


def test_a_file_of_keys(tmp_path: Path) -> None:
    listed = tmp_path / "some keys.txt"
    listed.write_bytes(b"newark\r\nabc\n\xff\xfe\n")
    assert selection(f"key in {listed}").of(keys(WORDS)).tolist() == [w in ("newark", "abc") for w in WORDS]
    assert selection(f"key in {listed}").of(keys([b"\xff\xfe", b"ab"])).tolist() == [True, False]
    with pytest.raises(InvalidValue, match="readable file"):
        selection(f"key in {tmp_path}/none")


@pytest.mark.parametrize(
    "text", ["", "key", "key =", "key like x", "token = 3", "abc", "key not", "key not x", "key notin f"]
)
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="key starts TEXT"):
        selection(text)


def test_what_is_no_regular_expression() -> None:
    with pytest.raises(InvalidValue, match="regular expression"):
        selection("key ~ (").of(keys(WORDS))


@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_all_forms_say_the_same(flags: list[bool]) -> None:
    names = [f"key {number}" for number in range(len(flags))]
    chosen = {name for name, flag in zip(names, flags, strict=True) if flag}
    forms: list[Where] = [flags, np.array(flags), chosen.__contains__, Every((selection("key starts key"),))]
    for form in forms[:3]:
        found = coefficients(form, keys(names))
        assert (found.values.tolist(), found.selecting) == ([float(flag) for flag in flags], True)
    assert coefficients(forms[3], keys(names)).values.tolist() == [1.0] * len(flags)
    assert coefficients(None, keys(names)).selecting
    assert not coefficients([0.5 * flag for flag in flags], keys(names)).selecting


def test_values_are_checked() -> None:
    names = keys(["a", "b"])
    assert coefficients(lambda key: -2 if key == "b" else 0.5, names).values.tolist() == [0.5, -2]
    with pytest.raises(InvalidValue, match="one for each reported key"):
        coefficients([True], names)
    with pytest.raises(InvalidValue, match="finite"):
        coefficients([1.0, float("nan")], names)
    with pytest.raises(InvalidType, match="flags or numbers"):
        coefficients(lambda key: key, names)
