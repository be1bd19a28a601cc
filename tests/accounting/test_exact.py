"""Numbers are read without rounding, or refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.exact import exact, ratio_text


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
