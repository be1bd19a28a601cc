"""Arrays are shared among threads so that each element is computed once, as by one thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.bulk.parts import common_shape, each, flat, part, shared
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.exact import Floats


@given(st.integers(0, 40), st.integers(1, 12), st.integers(1, 5))
def test_parts_cover_each_element_once_and_are_large_enough(size: int, share: int, threads: int) -> None:
    parts: list[tuple[int, int]] = []

    def run(start: int, stop: int) -> bool:
        parts.append((start, stop))
        return True

    assert shared(run, size, share, threads)
    assert sorted(i for start, stop in parts for i in range(start, stop)) == list(range(size))
    assert len(parts) == (max(1, min(threads, size // share)) if size else 0)


@pytest.mark.parametrize("threads", [1, 3])
def test_one_part_that_fails_fails_all(threads: int) -> None:
    assert not shared(lambda start, stop: stop != 9, 9, 3, threads)


@pytest.mark.parametrize("threads", [1, 4])
def test_a_kernel_sees_arrays_broadcast_against_one_another(threads: int) -> None:
    def add(one: Floats, other: Floats, constant: Floats, out: Floats) -> None:
        out[:] = one + other + constant

    row, column = np.arange(3.0), np.arange(4.0)[:, np.newaxis]
    found = each(add, 2, threads, row=row, column=column, constant=np.array(7.0))
    assert np.array_equal(found, row + column + 7)


def test_what_is_constant_stays_one_entry() -> None:
    assert flat(np.array([5.0]), (2, 3)).shape == part(flat(np.array(5.0), (9,)), 2, 4).shape == (1,)
    assert flat(np.arange(3.0), (2, 3)).tolist() == [0, 1, 2, 0, 1, 2]
    assert part(flat(np.arange(3.0), (3,)), 1, 3).tolist() == [1, 2]


def test_shapes_that_do_not_fit_are_named() -> None:
    assert common_shape(rate=np.zeros((2, 1)), shift=np.zeros(3)) == (2, 3)
    with pytest.raises(InvalidValue, match=r"rate: got rate \(2,\), shift \(3,\)"):
        common_shape(rate=np.zeros(2), shift=np.zeros(3))


@pytest.mark.parametrize(("threads", "error"), [(0, InvalidValue), (True, InvalidType), (1.0, InvalidType)])
def test_threads_are_a_whole_number(threads: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="threads: got"):
        shared(lambda start, stop: True, 1, 1, threads)
