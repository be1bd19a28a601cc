"""Arrays are shared among threads so that each element is computed once, as by one thread."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.bulk.parts import common_shape, each, flat, part, require_default_arithmetic, shared
from certdp.accounting.errors import CertdpError, InvalidType, InvalidValue
from certdp.accounting.exact import Floats


@given(st.integers(0, 40), st.integers(1, 12), st.integers(1, 5))
@example(3, 12, 5)
@example(11, 12, 1)
def test_parts_cover_each_element_once_and_are_large_enough(size: int, share: int, threads: int) -> None:
    parts: list[tuple[int, int]] = []

    def run(start: int, stop: int) -> bool:
        parts.append((start, stop))
        return True

    assert shared(run, size, share, threads)
    assert sorted(i for start, stop in parts for i in range(start, stop)) == list(range(size))
    assert len(parts) == (max(1, min(threads, size // share)) if size else 0)


@pytest.mark.parametrize(("threads", "size", "here"), [(1, 9, True), (3, 5, True), (3, 9, False)])
def test_what_is_not_shared_is_computed_in_this_thread(threads: int, size: int, here: bool) -> None:
    """Whose state of arithmetic was looked at."""
    found: list[bool] = []

    def run(start: int, stop: int) -> bool:
        found.append(get_ident() == own)
        return True

    own = get_ident()
    assert shared(run, size, 3, threads)
    assert set(found) == {here}


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


DAZ, DOWN, UP, TOWARDS_ZERO, FTZ = 0x40, 0x2000, 0x4000, 0x6000, 0x8000
"""Bits of the control register of SSE: subnormal operands are zero, directions of rounding, subnormal results are."""


@contextmanager
def control_register(bits: int) -> Iterator[None]:
    """Set bits of the control register of this thread, which are the last four bytes of what the C library keeps."""
    library, before = ctypes.CDLL("libm.so.6"), (ctypes.c_uint32 * 8)()
    library.fegetenv(before)
    changed = (ctypes.c_uint32 * 8)(*before)
    changed[7] |= bits
    library.fesetenv(changed)
    try:
        yield
    finally:
        library.fesetenv(before)


@pytest.mark.skipif(
    not (sys.platform == "linux" and platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"),
    reason="the register is that of x86-64, as glibc keeps it",
)
@pytest.mark.parametrize("bits", [DAZ, FTZ, DOWN, UP, TOWARDS_ZERO], ids=["daz", "ftz", "down", "up", "towards zero"])
def test_no_other_state_of_arithmetic_is_computed_in(bits: int) -> None:
    def never(start: int, stop: int) -> bool:
        raise AssertionError

    for attempt in (require_default_arithmetic, lambda: shared(never, 9, 3, 1), lambda: shared(never, 0, 3, 1)):
        with pytest.raises(CertdpError, match="not the IEEE 754 default"), control_register(bits):
            attempt()
        require_default_arithmetic()
    assert shared(lambda start, stop: True, 9, 3, 1)
