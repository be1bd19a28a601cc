"""Readers of JSON values refuse other types, and text that is none."""

from __future__ import annotations

from typing import Any

import pytest

from certdp.verification.checker import shapes
from certdp.verification.checker.verdict import Refused


@pytest.mark.parametrize("value", ["\ud800", "é\udfff", "a\udc00b", 5, None, ["text"]])
def test_half_a_surrogate_pair_is_no_text(value: Any) -> None:
    with pytest.raises(Refused):
        shapes.text(value, "here")


@pytest.mark.parametrize("value", ["", "text", "größe", "\U0001f600", "\ud7ff\ue000"])
def test_text_of_any_characters_is(value: str) -> None:
    shapes.text(value, "here")


@pytest.mark.parametrize("value", ["third", "firs", "", 1, True, None, ["first"], {"first": 1}])
def test_one_of_some_words_is_one_of_them(value: Any) -> None:
    shapes.one_of("first", "second")("second", "here")
    with pytest.raises(Refused, match="here must be one of first, second"):
        shapes.one_of("first", "second")(value, "here")


@pytest.mark.parametrize("value", [0, -1, 2**53, -(2**53), 0.5, -0.0, 1.7e308, 5e-324])
def test_a_number_is_one_that_binary64_holds(value: Any) -> None:
    shapes.number(value, "here")


@pytest.mark.parametrize(
    "value", [2**53 + 1, -(2**53) - 1, 2**64, float("inf"), float("-inf"), float("nan"), True, "1", None]
)
def test_what_binary64_may_not_hold_is_no_number(value: Any) -> None:
    with pytest.raises(Refused, match="here must be a finite binary64 number"):
        shapes.number(value, "here")
