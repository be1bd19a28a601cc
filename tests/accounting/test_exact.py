"""Numbers are read without rounding, or refused."""

from __future__ import annotations

import ast
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.exact import exact, float_at_most, naming_rationals, ratio_text, rational

from ..test_layering import library


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_dyadic_rational_it_is(value: float) -> None:
    numerator, denominator = value.as_integer_ratio()
    for number in (exact(value), exact(np.float64(value)), exact(repr(numerator) + "/" + repr(denominator))):
        assert number == Fraction(numerator, denominator)


@given(value=st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_other_floats_too(value: float) -> None:
    short: Any = np.float32(value)
    assert exact(short) == Fraction(value)
    third: Any = np.longdouble(value) / 3
    assert exact(third) == Fraction(*third.as_integer_ratio())


@given(digits=st.integers(), exponent=st.integers(-300, 300))
def test_text_is_an_exact_decimal(digits: int, exponent: int) -> None:
    assert exact(f"{digits}e{exponent}") == digits * Fraction(10) ** exponent


@given(value=st.fractions())
def test_ratios_are_written_and_read(value: Fraction) -> None:
    assert exact(ratio_text(value)) == value
    assert exact(value) is value


@given(value=st.integers())
def test_whole_numbers(value: int) -> None:
    assert exact(value) == value
    assert exact(f" {value} ") == value


@pytest.mark.parametrize("value", [np.int8(-3), np.uint64(2**64 - 1), np.int64(-(2**63))])
def test_numpy_integers(value: Any) -> None:
    assert exact(value) == Fraction(int(value))


@pytest.mark.parametrize(
    "value",
    [
        *("", "x", "1e", "nan", "inf", "1/0", "1 /2", "1/-2", "0x10", "1_000", "--1", "1e5/2"),
        *("1e99999", "1e-9999", "1e9999", "1" * 3000),
        *(float("nan"), float("inf"), -np.inf, np.float32("nan"), np.longdouble("inf")),
    ],
)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValue, match=r"rate: got .*; admissible: a") as caught:
        exact(value, parameter="rate")
    assert len(caught.value.formatted_value) <= 160


@pytest.mark.parametrize("value", [True, np.True_, None, 1j, [1], np.array([1.0]), b"1"])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(InvalidType, match="rate: got"):
        exact(value, parameter="rate")


@pytest.mark.parametrize(("value", "error"), [("x", InvalidValue), (float("nan"), InvalidValue), (None, InvalidType)])
def test_a_field_is_named_by_the_error_about_its_number(value: Any, error: type[Exception]) -> None:
    @frozen(field_transformer=naming_rationals)
    class Noise:
        scale: Fraction = field(converter=rational)
        share: Fraction = field(default=Fraction(1, 2), converter=rational)

    assert Noise("0.1") == Noise(Fraction(1, 10), 0.5)
    for name in ("scale", "share"):
        with pytest.raises(error, match=f"^{name}: got"):
            Noise(**{"scale": 1, name: value})


def readers(source: str) -> dict[str, bool]:
    """The classes whose fields `rational` reads, and whether their errors name the field."""
    classes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    return {
        node.name: any("field_transformer=naming_rationals" in ast.unparse(one) for one in node.decorator_list)
        for node in classes
        if "converter=rational" in ast.unparse(node)
    }


def test_every_class_that_reads_numbers_names_their_fields() -> None:
    found = {
        (path, name): named for path in library().values() for name, named in readers(path.read_text("utf-8")).items()
    }
    assert len(found) > 10
    assert [place for place, named in found.items() if not named] == []


def test_a_class_whose_errors_name_no_field_is_found() -> None:
    assert readers("@frozen\nclass A:\n    x: int = field(converter=rational)") == {"A": False}


@given(
    st.fractions(min_value=0)
    | st.floats(min_value=0, allow_infinity=False).map(Fraction)
    | st.just(Fraction(10) ** 400)
)
def test_a_float_at_most_is_the_largest_one(value: Fraction) -> None:
    found = float_at_most(value)
    above = math.nextafter(found, math.inf)
    assert Fraction(found) <= value
    assert above == math.inf or value < Fraction(above)
