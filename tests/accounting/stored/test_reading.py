"""What is read of stored JSON: exactly what was written, one text for each value, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.stored.reading import (
    canonical,
    entries,
    parsed,
    read_ratio,
    read_text,
    read_whole,
    require_written,
    written,
)
from tests.support.cases import examples

ENDS = [Fraction(2**13000 - 1), Fraction(1, 2**13000 - 1), Fraction(-(2**13000) + 1, 2**12999)]


@examples(100)
@given(value=st.one_of(st.fractions(), st.sampled_from(ENDS)))
def test_a_ratio_is_read_as_it_was_written(value: Fraction) -> None:
    assert read_ratio("share", written("share", value)) == value


def test_a_ratio_is_written_up_to_13000_bits() -> None:
    for value in (*ENDS, Fraction(2**12999)):
        assert read_ratio("share", written("share", value)) == value
    for value in (Fraction(2**13000), Fraction(1, 2**13000)):
        with pytest.raises(InvalidValue, match="3,900 digits") as caught:
            written("share", value)
        assert caught.value.parameter == "share"


@pytest.mark.parametrize(
    "text", ["", "1.5", "2/4", "4/2", "1/0", "0/0", "01", "+1", " 1", "1\n", "-0", "1/-2", "\u0661", "1e3"]
)
def test_no_other_text_is_a_ratio(text: str) -> None:
    with pytest.raises(InvalidValue, match="lowest terms"):
        read_ratio("share", text)


@pytest.mark.parametrize("value", [True, False, 1.0, 1.5, "1", None, [1], Fraction(1)])
def test_a_whole_number_is_none_of_these(value: Any) -> None:
    with pytest.raises(InvalidType, match="a whole number"):
        read_whole("number", value)
    assert [read_whole("number", number) for number in (0, -3, 2**70)] == [0, -3, 2**70]


def test_text_is_text() -> None:
    assert read_text("name", "") == ""
    for value in (b"a", 1, None):
        with pytest.raises(InvalidType, match="text"):
            read_text("name", value)
        with pytest.raises(InvalidType, match="text"):
            parsed(value, "name")  # type: ignore[arg-type]


def test_an_object_has_exactly_the_entries_asked_for() -> None:
    assert entries("rule", {"b": 2, "a": 1}, "a", "b") == [1, 2]
    for value, found in (({"a": 1}, "a"), ({"a": 1, "b": 2, "c": 3}, "a, b, c"), ([1, 2], "1, 2"), (None, "None")):
        with pytest.raises(InvalidValue, match="the entries a, b") as caught:
            entries("rule", value, "a", "b")
        assert found in str(caught.value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@examples(100)
@given(value=json_values)
def test_a_value_has_one_text(value: Any) -> None:
    text = canonical(value)
    assert canonical(parsed(text, "state")) == text
    assert text.isascii()
    for other in (" " + text, text + "\n"):
        with pytest.raises(InvalidValue, match="canonical JSON"):
            parsed(other, "state")
    require_written("state", text, text)
    with pytest.raises(InvalidValue, match="what certdp writes"):
        require_written("state", text, text + " ")


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", '{"a":1,"a":1}', "[" * 10**5, '{"b":1,"a":2}', '"\u00e9"', "1.0e3"]
)
def test_no_other_json_is_read(text: str) -> None:
    with pytest.raises(InvalidValue, match="canonical JSON"):
        parsed(text, "state")
