"""Arrays are the numbers they state, or they are refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.bulk import exact_floats as reading
from certdp.accounting.errors import InvalidType, InvalidValue

WHOLE = 2**53


@given(st.lists(st.integers(-WHOLE, WHOLE) | st.floats(), max_size=5))
def test_every_number_is_kept(values: list[float]) -> None:
    for given_ in (values, np.array(values, dtype=object).tolist()):
        found = reading.exact_floats("values", given_)
        assert found.dtype == np.float64
        assert np.array_equal(found, np.array(values, dtype=np.float64), equal_nan=True)


@pytest.mark.parametrize("beyond", [WHOLE + 1, -WHOLE - 1, 2**60 + 1])
@pytest.mark.parametrize("kind", [np.int64, np.longdouble])
def test_what_would_be_rounded_is_refused_by_its_place(beyond: int, kind: Any) -> None:
    array = np.array([1, beyond]).astype(kind)
    assert Fraction(int(array[1])) != Fraction(float(array[1]))
    with pytest.raises(InvalidValue, match="values: got another value at index 1"):
        reading.exact_floats("values", array)
    with pytest.raises(InvalidValue, match="values: got"):
        reading.exact_floats("values", array[1])
    assert reading.exact_floats("values", np.array([np.nan, 1], dtype=np.longdouble))[1] == 1


@pytest.mark.parametrize("values", [["1"], [None], [[1.0], [1.0, 2.0]], [1j], [True], np.ma.array([1.0], mask=[True])])
def test_what_is_no_array_of_real_numbers_is_refused(values: Any) -> None:
    with pytest.raises(InvalidType, match="values: got"):
        reading.exact_floats("values", values)


def test_flags_are_numbers_where_they_are_admitted() -> None:
    assert reading.exact_floats("values", [True, False], flags=True).tolist() == [1, 0]


READERS: list[tuple[Callable[..., Any], list[float], list[float]]] = [
    (reading.probabilities, [0, 0.5, 1], [-5e-324, 1 + 2**-52, np.nan, np.inf]),
    (reading.non_negative, [0, 5e-324, np.inf], [-5e-324, np.nan, -np.inf]),
    (reading.finite_non_negative, [0, 1e308], [-5e-324, np.nan, np.inf]),
]


@pytest.mark.parametrize(("read", "valid", "wrong"), READERS)
def test_ranges_end_where_they_say(read: Callable[..., Any], valid: list[float], wrong: list[float]) -> None:
    assert read("values", valid).tolist() == valid
    for value in wrong:
        with pytest.raises(InvalidValue, match=f"values: got another value at index {len(valid)};"):
            read("values", [*valid, value])
        with pytest.raises(InvalidValue, match="values: got"):
            read("values", value)


def test_the_first_is_the_first_in_c_order() -> None:
    condition = np.zeros((2, 3), dtype=bool)
    condition[1, 0] = condition[0, 2] = True
    assert reading.first_of(condition) == (0, 2)
