"""Numbers for people: to a few digits, and always rounded to the safe side."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.commands.digits import Numbers

FEW, ALL = Numbers(), Numbers(full=True)
finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-300, max_value=1e300)


def digits(text: str) -> int:
    return len(Decimal(text).normalize().as_tuple().digits)


@given(finite)
@example(5.0000000000000115)
@example(5e-324)
@example(-5e-324)
@example(math.nextafter(math.inf, 0))
@example(0.0)
def test_bounds_are_rounded_outward(value: float) -> None:
    least, most = FEW.least(value), FEW.most(value)
    assert Fraction(least) <= Fraction(value) <= Fraction(most)
    assert max(digits(least), digits(most)) <= 6


@given(positive)
def test_they_stay_near(value: float) -> None:
    exact = Fraction(value)
    assert exact * Fraction(99_999, 100_000) <= Fraction(FEW.least(value))
    assert Fraction(FEW.most(value)) <= exact * Fraction(100_001, 100_000)


@given(finite)
def test_all_digits_name_the_float(value: float) -> None:
    for text in (ALL.least(value), ALL.most(value), ALL.about(value)):
        assert float(text) == value


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
@example(Fraction(1, 100_000))
def test_ratios_are_rounded_up(value: Fraction) -> None:
    for numbers in (FEW, ALL):
        assert Fraction(numbers.most(value)) >= value or numbers.full
    assert float(ALL.most(value)) >= float(value)


@pytest.mark.parametrize(
    ("stated", "written"), [("1e-5", "1e-05"), ("0.1", "0.1"), ("2", "2"), ("1/3", "1/3"), ("1e39", "1e+39")]
)
def test_what_was_stated_is_written_exactly(stated: str, written: str) -> None:
    assert FEW.stated(stated) == ALL.stated(stated) == written


@pytest.mark.parametrize(
    ("stated", "written", "exactly"),
    [("1e400", "1e+400", f"1{'0' * 400}"), ("3e-2000", "3e-2000", f"3/1{'0' * 2000}")],
)
def test_a_number_of_many_digits_is_written_short_unless_all_are_asked_for(
    stated: str, written: str, exactly: str
) -> None:
    assert FEW.stated(stated) == written
    assert ALL.stated(stated) == exactly


def test_an_upper_end_that_is_the_number_asked_about_is_written_so() -> None:
    assert FEW.most_or_stated(1.0000000000000001e-05, "1e-5") == "1e-05"
    assert FEW.most_or_stated(0.012345678, "1e-5") == "0.0123457"


def test_what_binary64_does_not_hold_is_said() -> None:
    assert FEW.most(None) == FEW.most(math.inf) == ALL.most(None) == "none within binary64"
