"""Whole numbers of several words against Python's, with words at which carries go through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import SupportsInt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting._kernels import frequency_rows as kernels
from tests.support.cases import examples

LARGEST = (1 << 64) - 1
WORDS = st.sampled_from([0, 1, 2, LARGEST - 1, LARGEST]) | st.integers(0, LARGEST)


def numbers(words: int) -> st.SearchStrategy[int]:
    return st.lists(WORDS, min_size=words, max_size=words).map(number)


def number(words: Iterable[SupportsInt]) -> int:
    return sum(int(word) << 64 * place for place, word in enumerate(words))


def pair(value: int) -> kernels.Pair:
    return np.uint64(value & LARGEST), np.uint64(value >> 64)


def quad(value: int) -> kernels.Quad:
    return *pair(value & (1 << 128) - 1), *pair(value >> 128)


@pytest.fixture(autouse=True)
def wrapping() -> Iterator[None]:
    """Words wrap around, as in compiled code."""
    with np.errstate(over="ignore"):
        yield


@examples(400)
@given(numbers(2), numbers(2), WORDS)
@example((1 << 128) - 1, (1 << 128) - 1, LARGEST)
@example((1 << 64) - 1, 1, 1)
def test_numbers_of_two_words(x: int, y: int, count: int) -> None:
    cut = 1 << 128
    assert number(kernels._plus(pair(x), pair(y))) == (x + y) % cut
    assert number(kernels._minus(pair(x), pair(y))) == (x - y) % cut
    assert number(kernels._times(pair(x), np.uint64(count))) == x * count % cut
    assert number(kernels._product(pair(x), pair(y))) == x * y
    assert kernels._less(pair(x), pair(y)) == (x < y)


@examples(400)
@given(numbers(4), numbers(4), WORDS)
@example((1 << 256) - 1, 1, LARGEST)
@example(1 << 192, 1, 2)
@example(1 << 128, 1 << 64, 2)
@example((1 << 192) - 1, (1 << 64) + 1, 2)
def test_numbers_of_four_words(x: int, y: int, count: int) -> None:
    cut = 1 << 256
    assert number(kernels._plus_wide(quad(x), quad(y))) == (x + y) % cut
    assert number(kernels._minus_wide(quad(x), quad(y))) == (x - y) % cut
    assert number(kernels._times_wide(quad(x), np.uint64(count))) == x * count % cut
    assert kernels._less_wide(quad(x), quad(y)) == (x < y)
    assert not kernels._less_wide(quad(x), quad(x))


@examples(200)
@given(numbers(2), numbers(4), st.integers(0, 127))
@example(LARGEST, LARGEST << 64, 0)
@example(LARGEST, LARGEST << 64, 64)
def test_shifts(x: int, y: int, bits: int) -> None:
    assert number(kernels._up(pair(x), np.uint64(bits))) == x << bits
    narrow = y & (1 << 128 + bits) - 1
    assert number(kernels._down(quad(narrow), np.uint64(bits))) == narrow >> bits


@examples(300)
@given(st.integers(52, 125), st.fractions(0, 1), st.fractions(0, 1))
def test_quotients(bits: int, growing: float, part: float) -> None:
    growth = (1 << bits) + int(growing * ((1 << 126) - (1 << bits) - 1))
    whole = int(part * (1 << 2 * bits))
    for value in (whole, whole // growth * growth, min(whole // growth * growth + 1, 1 << 2 * bits), 1 << 2 * bits):
        found = kernels._shrunk(quad(value), pair(growth), pair((1 << 2 * bits) // growth), np.uint64(bits))
        assert number(found) == -(-value // growth)


@examples(200)
@given(st.integers(1, 1 << 126), st.integers(0, (1 << 63) - 1), st.fractions(0, 1))
def test_whole_quotients(divisor: int, quotient: int, part: float) -> None:
    quotient = min(quotient, (1 << 126) // divisor)
    for rest in (0, int(part * (divisor - 1)), divisor - 1):
        dividend = quotient * divisor + rest
        if dividend < 1 << 126:
            assert int(kernels._quotient(pair(dividend), pair(divisor))) == quotient


@pytest.mark.parametrize("off", [-1, 0, 1])
def test_what_does_not_add_up_to_one_is_seen(off: int) -> None:
    certain, widths = 1 << 100, np.array([3, 1 << 40], dtype=np.int64)
    units = [(1 << 90) + 7, (1 << 50) + 3]
    unreported = certain - 3 * units[0] - units[1] * (1 << 40) + off
    words = np.array([pair(unit) for unit in units], dtype=np.uint64)
    assert kernels._whole(pair(certain), pair(unreported), 0, 2, widths, words) == (off == 0)
