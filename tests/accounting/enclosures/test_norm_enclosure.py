"""Enclosures of norms against exact rationals, and against Arb where the order is not 1, 2 or ∞."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, norm_enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from tests.support.arb_numbers import arb_of

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


ORDERS = [Fraction(n, m) for n, m in ((3, 2), (3, 1), (10, 1), (11, 10), (10**6 + 1, 10**6), (10**12, 7), (10**40, 3))]


@given(st.lists(coordinates, min_size=1, max_size=6), st.sampled_from(ORDERS), st.integers(4, 200))
@example([5e-324, 1.7976931348623157e308], ORDERS[0], 96)
@example([0.0, -0.0], ORDERS[0], 96)
@example([1.0] * 300, ORDERS[3], 24)
def test_every_other_norm_is_enclosed_tightly(record: list[float | Fraction], order: Fraction, precision: int) -> None:
    """In Arb, (Σ t^p)^(1/p) with t = |x_j| over the largest, whose own power is 1."""
    made = norm_enclosure(record, Norm(order), precision=precision)
    sizes = [abs(Fraction(coordinate)) for coordinate in record if coordinate]
    if not sizes:
        assert made == Enclosure.of(0)
        return
    flint.ctx.prec = 500
    try:
        largest = max(sizes)
        total = sum((arb_of(size / largest) ** arb_of(order) for size in sizes), flint.arb(0))
        true = arb_of(largest) * total ** arb_of(1 / order)
        assert not arb_of(made.lower) > true
        assert not arb_of(made.upper) < true
    finally:
        flint.ctx.prec = 53
    assert made.relative_width is not None
    assert made.relative_width <= Fraction(4, 2**precision)
    assert made.precision == precision


@pytest.mark.parametrize("order", ORDERS)
def test_every_norm_of_one_coordinate_is_its_size(order: Fraction) -> None:
    assert norm_enclosure([0.0, "-0.625", 0], Norm(order), precision=8) == Enclosure.of(Fraction(5, 8))


@pytest.mark.parametrize("norm", [Norm.L1, Norm.L2, Norm.LINF, Norm("3/2")])
def test_bad_records_are_refused(norm: Norm) -> None:
    for record in ([], [math.nan], [1.0, math.inf]):
        with pytest.raises(InvalidValue, match="record"):
            norm_enclosure(record, norm)
    with pytest.raises(InvalidType, match="record"):
        norm_enclosure([None], norm)  # type: ignore[list-item]
    with pytest.raises(InvalidValue, match="precision"):
        norm_enclosure([1.0], norm, precision=1)
