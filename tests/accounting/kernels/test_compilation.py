"""Kernels are compiled ahead or at their first call, once; the operations that Python lacks are the processor's."""

from __future__ import annotations

import gc
import io
import math
import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting._kernels import ahead, elementary, loss_transforms, machine, operations, types
from certdp.accounting._kernels import compile as compile_
from certdp.accounting._kernels.compile import (
    READ,
    WRITE,
    Floats,
    bits,
    fma,
    from_bits,
    high_product,
    kernel,
    leading_zeros,
)

Integers: TypeAlias = NDArray[np.int64]

WORDS = types.array(types.int64, 1, "C")


@kernel(types.void, READ, READ, READ, WRITE)
def fma_each(x: Floats, y: Floats, z: Floats, out: Floats) -> None:
    for i in range(out.size):
        out[i] = fma(x[i], y[i], z[i])


@kernel(types.void, READ, WRITE, WORDS, WORDS, WORDS)
def words_each(values: Floats, same: Floats, pattern: Integers, zeros: Integers, high: Integers) -> None:
    for i in range(values.size):
        pattern[i] = bits(values[i])
        same[i] = from_bits(bits(values[i]))
        zeros[i] = leading_zeros(bits(values[i]))
        high[i] = high_product(bits(values[i]), bits(values[values.size - 1 - i]))


@kernel(types.tuple_of(types.float64, 3), types.array(types.float64, 2, "A", readonly=True), types.int64)
def row(matrix: Floats, at: int) -> tuple[float, float, float]:
    entries, reversed_ = np.empty(matrix.shape[1]), np.zeros(matrix.shape[1])
    for j in range(matrix.shape[1]):
        entries[j] = reversed_[matrix.shape[1] - 1 - j] = matrix[at, j]
    return entries.sum(), entries[0], reversed_[0]


@kernel(types.boolean, types.array(types.boolean, 1, "C"), types.uint64, types.boolean)
def flip(truths: NDArray[np.bool_], at: int, value: bool) -> bool:
    before = truths[at]
    truths[at] = value
    return bool(before)


def number(rng: np.random.Generator) -> float:
    return float(rng.choice([-1.0, 1.0])) * float(np.exp2(rng.uniform(-600, 600))) * float(rng.random() > 0.02)


def test_products_with_one_rounding_are_those_of_the_processor() -> None:
    rng = np.random.default_rng(1)
    rows = [(number(rng), number(rng), number(rng)) for _ in range(2000)]
    rows += [(x, y, -(x * y)) for x, y, _ in rows[:500]]
    rows += [
        (math.inf, 1.0, 2.0),
        (math.inf, 0.0, 1.0),
        (1.0, 2.0, -math.inf),
        (-0.0, 1.0, -0.0),
        (1e308, 10.0, -1e308),
    ]
    rows += [(2.0**-540, 2.0**-540, 0.0), (2.0**-540, -(2.0**-540), 0.0), (2.0**-540, 2.0**-540, 2.0**-1074)]
    x, y, z = (np.array(column) for column in zip(*rows, strict=True))
    out = np.empty(len(rows))
    fma_each(x, y, z, out)
    said = np.array([operations.fma(*row) for row in rows])
    same = (out.view(np.int64) == said.view(np.int64)) | (np.isnan(out) & np.isnan(said))
    assert same.all(), [rows[i] for i in np.flatnonzero(~same)]


def test_words_are_those_of_the_processor() -> None:
    rng = np.random.default_rng(2)
    values = np.array([*(number(rng) for _ in range(500)), 0.0, -0.0, math.inf, -math.inf, 5e-324])
    same, found = np.empty(values.size), [np.empty(values.size, dtype=np.int64) for _ in range(3)]
    words_each(values, same, *found)
    patterns = [operations.bits(value) for value in values.tolist()]
    assert same.tobytes() == values.tobytes()
    assert [operations.from_bits(pattern) for pattern in patterns] == values.tolist()
    assert found[0].tolist() == patterns
    assert found[1].tolist() == [operations.leading_zeros(pattern) for pattern in patterns]
    assert found[2].tolist() == [operations.high_product(*pair) for pair in zip(patterns, patterns[::-1], strict=True)]


def declaration(of: Any) -> types.Declaration:
    found = of.declaration
    assert isinstance(found, types.Declaration)
    return found


@cache
def compiled_ahead(of: Any) -> Any:
    return ahead.callable_from(declaration(of), machine.bitcode(declaration(of)))


@given(st.integers(0, 2**32), st.integers(0, 300), st.sampled_from([elementary.exp_each, elementary.log1p_each]))
def test_code_compiled_ahead_gives_the_same_bits(seed: int, size: int, each: Any) -> None:
    values = np.random.default_rng(seed).normal(size=size) * 10.0 ** np.random.default_rng(seed).integers(-9, 9, size)
    one, other = np.empty(size), np.empty(size)
    each(np.abs(values), one)
    compiled_ahead(each)(np.abs(values), other)
    assert one.tobytes() == other.tobytes()


@given(st.integers(0, 2**32), st.booleans())
def test_every_kind_of_argument_and_result_passes(seed: int, value: bool) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(5, 7))
    matrix.flags.writeable = value
    for form in (matrix, matrix.T, matrix[::2, ::-3], np.asfortranarray(matrix)):
        at = int(rng.integers(len(form)))
        assert compiled_ahead(row)(form, np.int64(at)) == row(form, at)
    truths = rng.random(9) < 0.5
    same, at = truths.copy(), int(rng.integers(9))
    assert compiled_ahead(flip)(truths, np.uint64(at), np.bool_(value)) is flip(same, at, value)
    assert truths.tolist() == same.tolist()
    values = rng.normal(size=40)
    found = []
    for words in (words_each, compiled_ahead(words_each)):
        out: list[Any] = [np.empty(40), *(np.empty(40, dtype=np.int64) for _ in range(3))]
        assert words(values, *out) is None
        found.append([each.tobytes() for each in out])
    assert found[0] == found[1]


def test_code_compiled_ahead_lives_as_long_as_its_function() -> None:
    for each in (elementary.exp_each, elementary.log_each):
        code = ahead.callable_from(declaration(each), machine.bitcode(declaration(each)))
        del code
        gc.collect()
    out = np.empty(1)
    compiled_ahead(elementary.exp_each)(np.zeros(1), out)
    assert out[0] == 1.0


VECTOR, FROZEN = np.zeros(4), np.zeros(4)
FROZEN.flags.writeable = False


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((VECTOR,), TypeError),
        ((VECTOR, VECTOR, VECTOR), TypeError),
        ((VECTOR, FROZEN), TypeError),
        ((VECTOR.astype(np.float32), VECTOR), TypeError),
        ((VECTOR.astype(">f8"), VECTOR), TypeError),
        ((VECTOR[::2], VECTOR), TypeError),
        ((VECTOR.reshape(2, 2), VECTOR), TypeError),
        ((VECTOR.view(np.uint8)[1:25].view(np.float64), VECTOR), TypeError),
        ((VECTOR, [0.0] * 4), TypeError),
        ((VECTOR, None), TypeError),
    ],
)
def test_code_compiled_ahead_meets_no_arrays_that_it_does_not_know(arguments: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        compiled_ahead(elementary.exp_each)(*arguments)


@pytest.mark.parametrize("at", [2**63, -(2**63) - 1, 1.0, "1"])
def test_code_compiled_ahead_meets_no_numbers_that_it_does_not_know(at: Any) -> None:
    with pytest.raises((OverflowError, TypeError)):
        compiled_ahead(row)(np.zeros((1, 1)), at)
    with pytest.raises(OverflowError):
        compiled_ahead(flip)(np.zeros(1, dtype=bool), -1, True)


def test_an_archive_of_other_sources_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    machine.write_archive(tmp_path / "ahead.zip", [declaration(elementary.exp_each)])
    monkeypatch.setattr(ahead, "ARCHIVE", tmp_path / "ahead.zip")
    ahead.opened.cache_clear()
    try:
        assert ahead.machine_code(declaration(elementary.exp_each)) is not None
        assert ahead.machine_code(declaration(elementary.log_each)) is None
        monkeypatch.setattr(ahead, "DIGEST", "of other sources")
        assert ahead.machine_code(declaration(elementary.exp_each)) is None
    finally:
        ahead.opened.cache_clear()


def test_a_kernel_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(elementary.exp_each)) is elementary.exp_each


REPORT = """
import atexit, pathlib, sys
from certdp.accounting._kernels import ahead
ahead.ARCHIVE = pathlib.Path({archive!r})
def report():
    codes = getattr(sys.modules.get("certdp.accounting._kernels.compile"), "COMPILED", [])
    print("compiled:", *sorted(codes), "| numba" if "numba" in sys.modules else "|", file=sys.stderr)
atexit.register(report)
"""
FIRST_ANSWER = """
import certdp
from certdp import Delta, Public
answer = certdp.SampledRun(
    mechanism=certdp.GaussianSum(noise_multiplier=Public(1)),
    sampler=certdp.Poisson(rate=Public("0.01")),
    releases=certdp.ResampleEach(1000),
).epsilon(Delta("1e-5"))
"""
COMMAND = """
from certdp.__main__ import main
main()
"""
ON_A_LINE = [
    "add_logarithms",
    "contour_sum",
    "covered",
    "deviation",
    "estimate",
    "fill",
    "log_moment",
    "plan",
    "rounding",
    "rule",
    "variation",
]


def compiled_by(code: str, folder: Path, *arguments: str) -> tuple[list[str], bool]:
    """The kernels that a fresh process compiles which finds in that folder alone what was compiled before.

    Also whether it loads Numba.
    """
    report = REPORT.replace("{archive!r}", repr(str(folder / "ahead.zip")))
    done = subprocess.run(
        [sys.executable, "-c", report + code, *arguments],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")},
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(line for line in done.stderr.splitlines() if line.startswith("compiled:"))
    names, _, numba = line.removeprefix("compiled:").partition("|")
    return [name.rpartition(".")[2] for name in names.split()], bool(numba.strip())


@pytest.mark.slow
def test_a_first_answer_compiles_what_it_runs_and_no_more(tmp_path: Path) -> None:
    assert compiled_by(FIRST_ANSWER, tmp_path) == (ON_A_LINE, True)


@pytest.mark.slow
def test_commands_compile_what_they_run_and_no_more(tmp_path: Path) -> None:
    options = ("--option", "noise_multiplier=1", "--option", "rate=0.01", "--steps", "1000", "--resample", "each")
    question = ("epsilon", "--mechanism", "gaussian-sum", "--sampler", "poisson", *options, "--delta", "1e-5")
    certificate = str(tmp_path / "proof.json")
    assert compiled_by(COMMAND, tmp_path, *question, "--certificate", certificate) == (ON_A_LINE, True)
    assert compiled_by(COMMAND, tmp_path, "check", certificate) == ([], False)


@pytest.mark.slow
def test_what_was_compiled_ahead_needs_no_compiler_and_gives_the_same(tmp_path: Path) -> None:
    shown = FIRST_ANSWER + "open(sys.argv[1], 'w').write(f'{answer.epsilon.lower!r} {answer.compared}')"
    compiled_by(shown, tmp_path, str(tmp_path / "compiled"))
    kernels = [declaration(vars(loss_transforms)[name]) for name in ON_A_LINE]
    machine.write_archive(tmp_path / "ahead.zip", kernels)
    for run in ("ahead", "kept"):  # machine code is made from the archive, then read from the cache
        assert compiled_by(shown, tmp_path, str(tmp_path / run)) == ([], False)
        assert (tmp_path / run).read_text("utf-8") == (tmp_path / "compiled").read_text("utf-8")


@pytest.mark.parametrize("terminal", [True, False])
def test_who_watches_a_terminal_is_told_once_what_takes_long(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(compile_, "EXPLAINED", Event())
    monkeypatch.setattr(compile_, "PATIENCE", 0.0)
    for _ in range(2):
        with compile_.waiting_explained():
            assert compile_.EXPLAINED.wait(60.0 if terminal else 0.1) is terminal
    assert stream.getvalue().count("\n") == terminal


def test_importing_every_kernel_loads_no_compiler(tmp_path: Path) -> None:
    modules = "amplification_rows discrete_noise elementary error_function exact_sums feasible_weights fft individual "
    modules += (
        "lattice lloyd loss_transforms lp_noise mixture_moments noise norms record_rows sampled_gaussian theorem_6"
    )
    code = f"from certdp.accounting._kernels import {', '.join(modules.split())}"
    assert compiled_by(code, tmp_path) == ([], False)
