"""Shifts of records, rounded up."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.individual.steps import record_shifts
from tests.support.cases import examples

FINITE = st.floats(0, 2.0**300)


@examples(200)
@given(FINITE, FINITE, st.fractions(Fraction(1, 10**9), 10**9))
@example(5e-324, 0.25, Fraction(3))
@example(1e-323, 1.7, Fraction(1))  # 3.4 times the smallest number
@example(1e-200, 1e-200, Fraction(1, 3))
@example(0.1, 0.1, Fraction(1, 10))
@example(3.0, 0.0, Fraction(1))
def test_shifts_are_just_above_the_quotient(weight: float, sensitivity: float, deviation: Fraction) -> None:
    found = Fraction(float(record_shifts([weight], sensitivity, deviation)[0]))
    true = Fraction(weight) * Fraction(sensitivity) / deviation
    least = Fraction(1, 2**1072)
    assert true <= found <= true * (1 + Fraction(1, 2**48)) + max(least, least / deviation) * (true > 0)


def test_a_shift_beyond_the_range_is_infinite() -> None:
    assert record_shifts([1e300, 1.0], [1e300, 1.0], 1).tolist()[0] == np.inf


@pytest.mark.parametrize(
    ("weight", "sensitivity", "deviation", "name"),
    [
        (np.inf, 1.0, 1, "weight"),
        (-1.0, 1.0, 1, "weight"),
        (1.0, np.nan, 1, "sensitivity"),
        (1.0, 1.0, 0, "standard_deviation"),
        (1.0, 1.0, "x", "standard_deviation"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], 1, "weight"),
    ],
)
def test_bad_shifts(weight: Any, sensitivity: Any, deviation: Any, name: str) -> None:
    with pytest.raises(InvalidValue, match=name):
        record_shifts(weight, sensitivity, deviation)
