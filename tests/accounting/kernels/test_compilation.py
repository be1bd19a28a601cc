"""Kernels are compiled at their first call, once, and the operations that Python lacks are what the processor does."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from certdp.accounting._kernels import elementary, operations, types
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


def test_a_kernel_is_pickled_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(elementary.exp_each)) is elementary.exp_each


REPORT = """
import atexit, sys
def report():
    codes = getattr(sys.modules.get("certdp.accounting._kernels.compile"), "COMPILED", [])
    print("compiled:", *sorted(codes), "| numba" if "numba" in sys.modules else "|", file=sys.stderr)
atexit.register(report)
"""
FIRST_ANSWER = """
import certdp
from certdp import Delta, Public
certdp.SampledRun(
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
    """The kernels that a fresh process without a cache compiles, and whether it loads Numba."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT + code, *arguments],
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


def test_importing_every_kernel_loads_no_compiler(tmp_path: Path) -> None:
    modules = "amplification_rows discrete_noise elementary error_function exact_sums feasible_weights fft individual "
    modules += "lattice lloyd loss_transforms lp_noise noise norms record_rows sampled_gaussian theorem_6"
    code = f"from certdp.accounting._kernels import {', '.join(modules.split())}"
    assert compiled_by(code, tmp_path) == ([], False)
