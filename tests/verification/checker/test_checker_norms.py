"""Norms of rows as the checker encloses them, against Arb; which texts are orders."""

import random
from fractions import Fraction
from typing import Any

import flint
import pytest

from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.norms import is_order, norm_of_sizes, reciprocal, whole_root
from tests.support.arb_numbers import arb_of


def exactly(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = value
    exact: Fraction = (-1) ** int(sign) * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return exact


def rows() -> list[list[float]]:
    source = random.Random(5)
    found = [
        [0.0] * 3,
        [5e-324, 5e-324],
        [1.7e308, 1.7e308, 5e-324],
        [1.0] * 70,
        [0.75, 0.0],
        [2.0**-60, 1.0],
        [1e-300, 0.0],
    ]
    for count in (1, 2, 5, 40):
        found += [[abs(source.gauss(0, 1)) * 2.0 ** source.randint(-a, a) for _ in range(count)] for a in (0, 40, 900)]
    return found


@pytest.mark.parametrize("p", ["3", "3/2", "4/3", "101/100", "7/5", "128", "1001/1000", "10001/3", str(10**40)])
def test_norms_of_rows_are_enclosed(p: str) -> None:
    order = Fraction(p)
    flint.ctx.prec = 400
    try:
        for sizes in rows():
            found = norm_of_sizes(sizes, p, Arithmetic(96))
            low, high = exactly(found.lo), exactly(found.hi)
            exact = [Fraction(size) for size in sizes if size]
            if not exact:
                assert low == high == 0
                continue
            total = sum((arb_of(size / max(exact)) ** arb_of(order) for size in exact), flint.arb(0))
            true = arb_of(max(exact)) * total ** arb_of(1 / order)
            assert not arb_of(low) > true
            assert not arb_of(high) < true
            assert high - low <= low / 2**48
    finally:
        flint.ctx.prec = 53


def test_whole_roots() -> None:
    source = random.Random(6)
    for _ in range(2000):
        degree, value = source.randint(1, 130), source.getrandbits(source.randint(1, 9000))
        root = whole_root(value, degree)
        assert root**degree <= value < (root + 1) ** degree
        exact: int = source.getrandbits(60) ** degree
        assert whole_root(exact, degree) ** degree == exact


def test_whole_roots_of_small_numbers() -> None:
    for degree in range(1, 7):
        for value in range(70):
            root = whole_root(value, degree)
            assert root**degree <= value < (root + 1) ** degree


@pytest.mark.parametrize("p", ["3", "3/2", "5/2", "4/3", "101/100", "7/5", "127/50", "128/3"])
@pytest.mark.parametrize("count", [1, 3, 63, 1023])
def test_norms_are_as_sharp_as_64_bits_of_the_largest_power(p: str, count: int) -> None:
    """In rows of one large number and many small ones, each of which is off by as much as the large one."""
    for largest in (0.5 + 2.0**-30, 1.0, 3e-300):
        found = norm_of_sizes([largest] + [largest * 2.0**-60] * (count - 1), p, Arithmetic(96))
        low, high = exactly(found.lo), exactly(found.hi)
        assert 0 < high - low <= low * (1 / (Fraction(2) ** 64 * Fraction(p)) + Fraction(1, 2**90))


@pytest.mark.parametrize("text", ["1", "2", "inf", "3/2", "1001/1000", "1" + "0" * 599])
def test_orders(text: str) -> None:
    assert is_order(text)
    assert reciprocal(text) == (0 if text == "inf" else 1 / Fraction(text))


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "-1",
        "1/2",
        "6/4",
        "2/1",
        "1.5",
        "1e3",
        " 1",
        "1\n",
        "01",
        "3/02",
        "",
        "nan",
        "Inf",
        "+2",
        "\u0663",
        "1" * 601,
        "1/0",
    ],
)
def test_what_is_no_order(text: str) -> None:
    assert not is_order(text)
