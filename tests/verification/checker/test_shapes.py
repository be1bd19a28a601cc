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
