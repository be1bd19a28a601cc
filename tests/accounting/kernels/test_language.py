"""What kernels can say means what it means in Python; what they cannot say is refused; machine code is kept safely."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting._kernels import native
from certdp.accounting._kernels.compile import READ, READ_ROWS, WRITE, Array, Floats, Kernel, Tuple, kernel, types
from certdp.accounting._kernels.types import Source
from certdp.accounting._kernels.values import NotInLanguage

PAIR = Tuple((types.int64, types.int64))
WHOLE = Array(types.int64, 1, "C")
NUMBERS = st.floats(allow_nan=True, allow_subnormal=True)
INTEGERS = st.integers(-(2**62), 2**62)


@kernel(PAIR, types.int64, types.int64)
def divided(a: int, b: int) -> tuple[int, int]:
    return a // b, a % b


@kernel(types.float64, types.float64, types.float64, types.float64)
def extremes(a: float, b: float, c: float) -> float:
    return min(a, b, c) if a != b else max(a, b, c)


@kernel(PAIR, types.int64, types.int64)
def together(a: int, b: int) -> tuple[int, int]:
    return ((a & b) | (a >> 3)) ^ -b, ~a if a < b <= 5 or not (a >= b) else abs(float(b)) > 1e3 and a > 0


@kernel(types.float64, READ, types.int64, types.int64, types.int64)
def chosen(values: Floats, at: int, start: int, stop: int) -> float:
    part = values[start:stop]
    total: float = 100.0 * part.size + values[-1] + values[at]
    for i in range(part.size - 1, -1, -1):
        total += part[i] * i
    for i in range(0, len(values), 3):
        if i == 6:
            continue
        if i > 10:
            break
        total *= 1.0 + values[i]
    return total


@kernel(types.int64, READ)
def leading(values: Floats) -> int:
    i = 0
    while i < values.size and values[i] > 0.0:
        i += 1
    return i


@kernel(types.float64, types.int64)
def widened(count: int) -> float:
    total: float = 0
    half: float = 1
    for i in range(count):
        half, last = half / 2, half
        total += half if i % 2 else last
    return total


@kernel(types.void, READ_ROWS, WHOLE, WRITE)
def filled(rows: Floats, counts: NDArray[np.int64], out: Floats) -> None:
    tile = np.zeros((3, 4))
    tile[1:, :2] = 2.0
    tile[0, 1:3] = rows[1, 0]
    for i in range(3):
        room = np.full(4, 1.0)
        for j in range(4):
            tile[i, j] += rows[i, j] * room[j] + counts[i] ** 3
    total = np.empty(4, dtype=np.int64)
    total[:] = 0
    for j in range(4):
        for i in range(3):
            total[j] += int(tile[i, j])
        out[j] = total[j]


def in_python(compiled: Kernel[Any, Any]) -> Callable[..., Any]:
    return cast(Callable[..., Any], compiled.source.function)


def same(found: object, expected: object) -> bool:
    return found == expected or (found != found and expected != expected)


@given(INTEGERS, INTEGERS.filter(bool))
def test_integers_are_divided_as_in_python(a: int, b: int) -> None:
    assert divided(a, b) == in_python(divided)(a, b)
    assert divided(a, 0) == (0, 0)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_the_extremes_of_numbers_are_those_of_python(a: float, b: float, c: float) -> None:
    assert same(extremes(a, b, c), in_python(extremes)(a, b, c))


@given(INTEGERS, INTEGERS)
def test_bits_and_truths_are_those_of_python(a: int, b: int) -> None:
    assert together(a, b) == in_python(together)(a, b)


@given(
    st.lists(st.floats(-4, 4), min_size=1, max_size=20),
    st.integers(-20, 19),
    st.integers(-25, 25),
    st.integers(-25, 25),
)
def test_indices_and_slices_are_those_of_python(values: list[float], at: int, start: int, stop: int) -> None:
    array = np.array(values)
    at %= array.size
    for index in (at, at - array.size):
        assert chosen(array, index, start, stop) == in_python(chosen)(array, index, start, stop)


def test_conditions_are_not_read_beyond_what_decides_them() -> None:
    assert [leading(np.array(values)) for values in ([1.0, 2.0], [1.0, -1.0], [-1.0])] == [2, 1, 0]
    assert leading(np.empty(0)) == 0


def test_a_variable_has_one_type() -> None:
    assert [widened(count) for count in range(6)] == [in_python(widened)(count) for count in range(6)]


def test_parts_of_arrays_are_filled() -> None:
    rows = np.arange(24.0).reshape(4, 6).T[:3, ::-1]  # strides of either sign
    counts = np.array([1, 2, 3])
    expected, found = np.empty(4), np.empty(4)
    in_python(filled)(rows, counts, expected)
    filled(rows, counts, found)
    assert found.tolist() == expected.tolist()


def listed(a: float) -> float:
    return sum([a, a])


def signed_and_unsigned(a: np.uint64, b: int) -> int:
    return b if a < b else 0


def unknown(a: float) -> float:
    return math.gamma(a)


def real_power(a: float, b: float) -> float:
    return a**b  # type: ignore[no-any-return]


@pytest.mark.parametrize("function", [listed, signed_and_unsigned, unknown, real_power])
def test_what_is_not_in_the_language_is_refused(function: FunctionType) -> None:
    arguments = [types.uint64 if "uint64" in str(each) else types.float64 for each in function.__annotations__.values()]
    with pytest.raises(NotInLanguage):
        native.compiled(Source(function, types.float64, tuple(arguments[:-1])))


def readonly() -> Floats:
    array = np.zeros(2)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "arguments",
    [
        (np.zeros((3, 4)), np.zeros(3, int), readonly()),
        (np.zeros((3, 4)), np.zeros(3), np.zeros(4)),
        (np.zeros(4), np.zeros(3, int), np.zeros(4)),
        (np.zeros((3, 4)), np.zeros(6, int)[::2], np.zeros(4)),
        (np.zeros((3, 4)), np.zeros(3, int)),
        ([[0.0] * 4] * 3, np.zeros(3, int), np.zeros(4)),
    ],
)
def test_other_arguments_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="take"):
        filled(*arguments)


def test_damaged_machine_code_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    assert native.compiled(divided.source)(7, -2) == (-4, -1)
    (kept,) = tmp_path.rglob("*.o")
    whole = kept.read_bytes()
    for damaged in (whole[:-1], b"", whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]):
        kept.write_bytes(damaged)
        assert native.compiled(divided.source)(7, -2) == (-4, -1)
        assert kept.read_bytes() == whole
