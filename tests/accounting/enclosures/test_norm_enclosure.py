"""Enclosures of norms against exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, norm_enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm

coordinates = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.fractions(max_denominator=1000))


@given(st.lists(coordinates, min_size=1, max_size=6), st.integers(4, 200))
@example([5e-324, -5e-324], 96)
@example([1.7976931348623157e308] * 3, 24)
@example([3.0, 1e-200], 53)
@example([0.0, -0.0], 96)
def test_norms_are_enclosed_tightly(record: list[float | Fraction], precision: int) -> None:
    sizes = [abs(Fraction(coordinate)) for coordinate in record]
    for norm, exact in ((Norm.L1, sum(sizes)), (Norm.LINF, max(sizes))):
        assert norm_enclosure(record, norm, precision=precision) == Enclosure.of(exact, precision=precision)
    made = norm_enclosure(record, Norm.L2, precision=precision)
    assert made.lower**2 <= sum(size * size for size in sizes) <= made.upper**2
    assert made.relative_width is not None
    assert made.relative_width <= Fraction(4, 2**precision)
    assert made.precision == precision


def test_exact_norms_are_points() -> None:
    assert norm_enclosure([3.0, -4.0], Norm.L2) == Enclosure.of(5)
    assert norm_enclosure([Fraction(3, 8), "0.5"], Norm.L2, precision=4) == Enclosure.of(Fraction(5, 8))
    assert norm_enclosure(np.array([[3.0, 0.0], [4.0, 1.0]])[:, 0], Norm.L1) == Enclosure.of(7)


@pytest.mark.parametrize("norm", Norm)
def test_bad_records_are_refused(norm: Norm) -> None:
    for record in ([], [math.nan], [1.0, math.inf]):
        with pytest.raises(InvalidValue, match="record"):
            norm_enclosure(record, norm)
    with pytest.raises(InvalidType, match="record"):
        norm_enclosure([None], norm)  # type: ignore[list-item]
    with pytest.raises(InvalidValue, match="precision"):
        norm_enclosure([1.0], norm, precision=1)
