"""Norms against exact rational arithmetic and Arb, and their independence of memory order and threads."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from certdp.accounting.bulk import arrays as bulk
from certdp.accounting.norms import Norm
from tests.support.arb_numbers import arb_of

Floats = NDArray[np.float64]
LARGEST = Fraction(sys.float_info.max)
COMMON = [Norm.L1, Norm.L2, Norm.LINF]
POWERS = [Norm("3/2"), Norm(3), Norm("1.0001"), Norm(17), Norm(Fraction(10**30 + 1, 10**30)), Norm(10**30)]


def matrices() -> list[Floats]:
    rng = np.random.default_rng(3)
    found: list[Floats] = []
    for columns in (1, 2, 3, 7, 15, 16, 17, 33, 100, 1000, 5000):
        rows = max(2, 3000 // columns)
        normal = rng.standard_normal((rows, columns))
        spread = normal * np.exp2(rng.uniform(-300, 300, (rows, columns)))
        scaled = normal * np.exp2(rng.uniform(-1074, 1010, (rows, 1)))
        bits = rng.integers(0, 2**64, (rows, columns), dtype=np.uint64).view(np.float64)
        wild = np.where(np.isfinite(bits), bits, 0.0)
        integers = rng.integers(-3, 4, (rows, columns)).astype(np.float64)
        sparse = np.where(rng.uniform(size=(rows, columns)) < 2 / columns, normal, 0.0)
        subnormal = integers * 5e-324
        equal = np.broadcast_to(normal[:, :1], (rows, columns))
        found += [normal, spread, scaled, wild, integers, sparse, subnormal, np.ascontiguousarray(equal)]
    return found


def check(row: list[float], value: float, norm: Norm) -> None:
    exact = [abs(Fraction(x)) for x in row]
    margin, slack = 1 + bulk.norm_relative_error(norm), bulk.NORM_ABSOLUTE_ERROR
    if norm == Norm.LINF:
        assert value == max(exact)
    elif norm == Norm.L1:
        total = sum(exact, Fraction(0))
        if math.isinf(value):
            assert total * margin > LARGEST
        else:
            assert total <= Fraction(value) <= total * margin + slack
    else:
        square = sum((x * x for x in exact), Fraction(0))
        if math.isinf(value):
            assert square * margin**2 > LARGEST**2
        else:
            v = Fraction(value)
            assert square <= v * v
            below = v - slack
            assert below <= 0 or below * below <= square * margin**2


@pytest.mark.slow
@pytest.mark.parametrize("norm", COMMON)
def test_within_the_margin_and_never_below(norm: Norm) -> None:
    for matrix in matrices():
        for row, value in zip(matrix.tolist(), bulk.norms(matrix, norm).tolist(), strict=True):
            check(row, value, norm)


def check_power(row: list[float], value: float, norm: Norm) -> None:
    """In Arb, (Σ t^p)^(1/p) with t = |x_j| over the largest."""
    sizes = [Fraction(abs(x)) for x in row if x]
    if len(sizes) < 2:
        assert value == max(sizes, default=0)
        return
    largest, order = max(sizes), norm.order
    assert order is not None
    powers = ((arb_of(size / largest).log() * arb_of(order)).exp() for size in sizes)
    true = arb_of(largest) * (sum(powers, flint.arb(0)).log() / arb_of(order)).exp()
    most = true * arb_of(1 + bulk.norm_relative_error(norm)) + arb_of(bulk.NORM_ABSOLUTE_ERROR)
    if math.isinf(value):
        assert most > arb_of(LARGEST)
    else:
        assert true <= arb_of(value) <= most


@pytest.mark.slow
@pytest.mark.parametrize("norm", POWERS, ids=lambda norm: norm.value[:8])
def test_norms_of_other_orders_are_within_their_margin_and_never_below(norm: Norm) -> None:
    before, flint.ctx.prec = flint.ctx.prec, 160
    try:
        for matrix in matrices():
            few = matrix[: max(2, 400 // matrix.shape[1])]
            for row, value in zip(few.tolist(), bulk.norms(few, norm).tolist(), strict=True):
                check_power(row, value, norm)
    finally:
        flint.ctx.prec = before


def test_a_margin_shrinks_with_its_order() -> None:
    assert [bulk.norm_relative_error(norm) / bulk.UNIT for norm in COMMON] == [3, 3, 3]
    assert bulk.norm_relative_error(Norm(4)) == 76 * bulk.UNIT
    errors = [bulk.norm_relative_error(Norm(p)) for p in ("1.01", "3/2", 3, 100)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("norm", [*COMMON, *POWERS[:3]])
def test_same_bits_in_any_memory_order_and_share(norm: Norm) -> None:
    rng = np.random.default_rng(4)
    for rows, columns in ((1, 5000), (10_007, 13), (131, 257), (64, 16)):
        matrix = rng.standard_normal((rows, columns)) * np.exp2(rng.uniform(-40, 40, (rows, columns)))
        expected = bulk.norms(matrix, norm).tobytes()
        wide = np.full((2 * rows, 3 * columns), np.nan)
        wide[::2, ::3] = matrix
        backwards = np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1]
        for view in (np.asfortranarray(matrix), wide[::2, ::3], backwards):
            assert bulk.norms(view, norm).tobytes() == expected
            assert bulk.norms(view, norm, threads=3).tobytes() == expected
        alone = np.concatenate([bulk.norms(matrix[i : i + 1], norm) for i in range(min(rows, 200))])
        assert alone.tobytes() == expected[: alone.nbytes]
        read_only = matrix.copy()
        read_only.flags.writeable = False
        assert bulk.norms(read_only, norm).tobytes() == expected


def test_exact_values() -> None:
    assert bulk.norms([[3.0, 4.0], [0.0, 0.0], [5e-324, 0.0]], Norm.L2).tolist() == [5.0, 0.0, 5e-324]
    assert bulk.norms([[3.0, -4.0], [0.5, 0.25]], Norm.L1).tolist() == [7.0, 0.75]
    assert bulk.norms([[0.1], [-1e-320], [1.7e308]], Norm.L2).tolist() == [0.1, 1e-320, 1.7e308]
    tiny = np.full((1, 4), 5e-324)
    assert bulk.norms(tiny, Norm.L2).tolist() == [1e-323]
    assert bulk.norms(np.full((1, 4), 1.7e308), Norm.L2).tolist() == [math.inf]
    assert bulk.norms(np.full((1, 4), 2.0**1022), Norm.L2).tolist() == [2.0**1023]


@pytest.mark.parametrize("norm", [*COMMON, *POWERS[:2]])
def test_empty_shapes(norm: Norm) -> None:
    assert bulk.norms(np.empty((0, 3)), norm).shape == (0,)
    assert bulk.norms(np.empty((2, 0)), norm).tolist() == [0.0, 0.0]


@pytest.mark.slow
def test_longest_row() -> None:
    rng = np.random.default_rng(5)
    row = np.ldexp(rng.integers(2**52, 2**53, bulk.LONGEST_ROW), -53)[np.newaxis]
    units = [int(x) for x in np.ldexp(row[0], 53)]
    unit, margin = Fraction(1, 2**53), 1 + bulk.norm_relative_error(Norm.L1)
    total, square = sum(units) * unit, sum(x * x for x in units) * unit**2
    assert total <= Fraction(float(bulk.norms(row, Norm.L1)[0])) <= total * margin
    assert square <= Fraction(float(bulk.norms(row, Norm.L2)[0])) ** 2 <= square * margin**2


@pytest.mark.slow
@pytest.mark.parametrize("norm", [Norm("1.0001"), Norm("3/2"), Norm(2**20)])
def test_longest_rows_of_equal_and_of_two_entries(norm: Norm) -> None:
    """d copies of x have norm d^(1/p)·x; the margin is proven for the longest row, where it is needed most."""
    order = norm.order
    assert order is not None
    count = bulk.LONGEST_ROW
    # the smaller entries weigh most where their powers add up to about ln d
    small = 2.0 ** -float(17 / order)
    row = np.full((1, count), small)
    equal = float(bulk.norms(row, norm)[0])
    row[0, count // 2] = 1.0
    mixed = float(bulk.norms(row, norm)[0])
    before, flint.ctx.prec = flint.ctx.prec, 160
    try:
        power = (arb_of(small).log() * arb_of(order)).exp()
        for value, total in ((equal, count * power), (mixed, (count - 1) * power + 1)):
            true = (total.log() / arb_of(order)).exp()
            assert true <= arb_of(value) <= true * arb_of(1 + bulk.norm_relative_error(norm))
    finally:
        flint.ctx.prec = before
