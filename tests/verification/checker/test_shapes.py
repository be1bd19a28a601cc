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


ADMITTED: list[tuple[shapes.Shape, list[Any], list[Any]]] = [
    (shapes.integer(2, 5), [2, 5], [1, 6, 2.0, "2", None]),
    (shapes.integer(0, 1), [0, 1], [False, True]),
    (shapes.flag, [False, True], [0, 1, "true", None]),
    (shapes.not_negative, ["0", "1/3"], ["-1/3", 0, None]),
    (shapes.positive, ["1/3"], ["0", "-1/3", 1, None]),
    (shapes.a_rational, ["0", "-1/3", "9" * 700], ["2/4", "9" * 701, "0.5", "", 1, None]),
    (shapes.an_order, ["1", "3/2", "inf"], ["1/2", 2, None, ["1"]]),
    (shapes.hexadecimal(4), ["0af9"], ["0af", "0af91", "0AF9", "0ag9", 1234, None, b"0af9"]),
    (shapes.digest, ["sha256:" + "0" * 64], ["0" * 64, "sha256:" + "0" * 63, "sha256:" + "0" * 65, 1, None]),
    (shapes.optional(shapes.flag), [None, True], [0]),
    (shapes.sequence(shapes.flag), [[], [True], [True, False]], [[1], [True, 1], (True,), None, {}]),
    (shapes.sequence(shapes.flag, 2), [[True, False]], [[], [True], [True] * 3]),
    (shapes.mapping(shapes.flag), [{}, {"a": True}], [{"a": 1}, {"a": True, "b": 1}, {"\ud800": True}, {1: True}, []]),
    (shapes.record(a=shapes.flag), [{"a": True}], [{}, {"a": 1}, {"a": True, "b": True}, {"b": True}, [], None]),
]


@pytest.mark.parametrize(("shape", "admitted", "refused"), ADMITTED)
def test_a_shape_admits_its_values_alone(shape: shapes.Shape, admitted: list[Any], refused: list[Any]) -> None:
    for value in admitted:
        shape(value, "here")
    for value in refused:
        with pytest.raises(Refused, match="here"):
            shape(value, "here")


def test_the_place_of_a_wrong_value_is_told() -> None:
    shape = shapes.record(a=shapes.sequence(shapes.mapping(shapes.flag)))
    with pytest.raises(Refused, match=r"^here\.a\[1\]\['b'\] must be a boolean$"):
        shape({"a": [{"b": True}, {"b": 1}]}, "here")
