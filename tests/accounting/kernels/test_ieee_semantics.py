"""The compiled kernels do, bit for bit, what their source says when every operation is rounded exactly once.

The same source files run as plain Python, with fma from rational arithmetic: a compiler that contracted, reordered or
approximated an operation, or a platform that flushed subnormal numbers, would differ here.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from certdp.accounting import _kernels, bulk
from certdp.accounting._kernels import amplification_rows, error_function, sampled_gaussian
from certdp.accounting._kernels import norms as norm_kernels
from certdp.accounting.norms import Norm

NAME = "interpreted_kernels"
KERNELS = ("elementary", "theorem_6", "norms", "error_function", "amplification_rows", "sampled_gaussian")


def fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return exact.numerator / exact.denominator  # correctly rounded
    except OverflowError:
        return math.copysign(math.inf, exact)


def bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def from_bits(pattern: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", int(pattern) % 2**64))[0])


def unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@pytest.fixture(scope="module")
def interpreted() -> Iterator[dict[str, Any]]:
    """The kernel modules, executed without a compiler."""
    package, stub = ModuleType(NAME), ModuleType(f"{NAME}.compile")
    package.__path__ = []
    contents = {"fma": fma, "bits": bits, "from_bits": from_bits, "inlined": unchanged}
    stub.__dict__.update(contents, READ=None, WRITE=None, READ_ROWS=None, Floats=Any)
    stub.__dict__["kernel"] = lambda *signature: unchanged
    modules: dict[str, Any] = {NAME: package, stub.__name__: stub}
    sys.modules.update(modules)
    try:
        for name in KERNELS:
            module = ModuleType(f"{NAME}.{name}")
            module.__package__ = NAME
            sys.modules[module.__name__] = modules[module.__name__] = module
            path = Path(_kernels.__path__[0], f"{name}.py")
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        yield {name: modules[f"{NAME}.{name}"] for name in KERNELS}
    finally:
        for name in modules:
            sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_elementary(interpreted: dict[str, Any], name: str) -> None:
    rng = np.random.default_rng(8)
    values = np.exp2(rng.uniform(-60, 10, 1500))
    values = np.concatenate([values, np.exp2(rng.uniform(-1074, 1023, 500))])
    if name in ("exp", "expm1"):
        values = np.concatenate([values, -values])
    compiled = getattr(bulk, name)(values).tolist()
    function = getattr(interpreted["elementary"], name)
    assert compiled == [function(value) for value in values.tolist()]


@pytest.mark.parametrize("add", [False, True])
def test_psi(interpreted: dict[str, Any], add: bool) -> None:
    rng = np.random.default_rng(9)
    loss = np.concatenate([np.exp2(rng.uniform(-40, 9.4, 1500)), np.exp2(rng.uniform(-1074, 1023, 500))])
    rate = np.exp2(-rng.exponential(20, 2000).clip(0, 1074))
    compiled = (bulk.psi_add if add else bulk.psi_remove)(loss, rate).tolist()
    kernel = interpreted["theorem_6"]
    for e, q, value in zip(loss.tolist(), rate.tolist(), compiled, strict=True):
        y = kernel._odds(e, q, add) if e <= 700.0 else math.nan
        if kernel._is_rare(e, q, y):
            assert value == kernel._rare(e, q, add)
        else:
            assert value == min(kernel.log1p_between(y) * kernel._MARGIN, e)


@pytest.mark.parametrize(("norm", "order"), [(Norm.L1, 1), (Norm.L2, 2), (Norm.LINF, 0)])
def test_norms(interpreted: dict[str, Any], norm: Norm, order: int) -> None:
    rng = np.random.default_rng(10)
    matrix = rng.standard_normal((5, 70)) * np.exp2(rng.uniform(-1000, 1000, (5, 1)))
    matrix[0] *= np.exp2(rng.uniform(-60, 0, 70))
    with np.errstate(all="ignore"):
        out = np.empty(5)
        kernel = interpreted["norms"]
        kernel._ROWS = 5  # fewer idle lanes: rows do not influence one another
        assert kernel.norms(matrix, order, out) == -1
    assert bulk.norms(matrix, norm).tobytes() == out.tobytes()


@pytest.mark.parametrize("order", [1.5, 3.0, 1.0, 2.0**64])
def test_norms_of_other_orders(interpreted: dict[str, Any], order: float) -> None:
    rng = np.random.default_rng(11)
    matrix = rng.standard_normal((5, 70)) * np.exp2(rng.uniform(-1000, 1000, (5, 1)))
    matrix[0] *= np.exp2(rng.uniform(-60, 0, 70))
    matrix[1] = 0.0
    matrix[2, 3:] = 0.0
    matrix[3] *= np.exp2(rng.uniform(-1000, 0, 70))
    with np.errstate(all="ignore"):
        out = np.empty(5)
        kernel = interpreted["norms"]
        kernel._ROWS = 5
        assert kernel.power_norms(matrix, order, out) == -1
    compiled = np.empty(5)
    assert norm_kernels.power_norms(matrix, order, compiled) == -1
    assert compiled.tobytes() == out.tobytes()


def agreeing(compiled: Callable[..., None], source: Callable[..., None], *arguments: Any, outputs: int = 1) -> None:
    """The compiled kernel writes the same bits as its source."""
    size = len(next(a for a in arguments if isinstance(a, np.ndarray)))
    results = []
    for kernel in (compiled, source):
        out = [np.full(size, -7.0) for _ in range(outputs)]
        with np.errstate(all="ignore"):
            kernel(*arguments, *out)
        results.append(np.concatenate(out))
    assert results[0].tobytes() == results[1].tobytes()
    assert not np.any(results[0] == -7.0)


def test_the_error_function(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(11)
    values = np.concatenate([rng.uniform(0, 40, 400), np.exp2(rng.uniform(-1000, 1000, 100))])
    for name in ("mills_each", "slope_each", "bell_each"):
        agreeing(getattr(error_function, name), getattr(interpreted["error_function"], name), values)


def test_amplification_rows(interpreted: dict[str, Any]) -> None:
    rng = np.random.default_rng(12)
    rate, shift = np.exp2(-rng.exponential(4, 60)), np.exp2(rng.uniform(-20, 4, 60))
    level = rng.exponential(1, 60)
    source = interpreted["amplification_rows"]
    for add in (False, True):
        for laplace in (False, True):
            agreeing(amplification_rows.delta, source.delta, rate, shift, level, add, laplace)
    small = np.exp2(rng.uniform(-60, -1, 60))
    agreeing(amplification_rows.gaussian_level, source.gaussian_level, rate[:8], shift[:8], small[:8])
    agreeing(amplification_rows.pure_level, source.pure_level, rate, shift, small, True)
    agreeing(amplification_rows.laplace_moments, source.laplace_moments, shift, 7.0)
    agreeing(amplification_rows.response_moments, source.response_moments, shift, 7.0)
    moments = np.cumsum(rng.exponential(0.1, (20, 7)), axis=1)
    binomials = np.array([float(math.comb(8, k)) for k in range(2, 9)])
    agreeing(amplification_rows.sampled_moments, source.sampled_moments, moments, binomials, rate[:20])


def test_the_sampled_gaussian(interpreted: dict[str, Any]) -> None:
    rate, shift = np.array([0.01, 0.3, 1e-8, 0.9]), np.array([1.0, 0.2, 0.02, 3.0])
    source = interpreted["sampled_gaussian"]
    for order in (1.5, 8.0):
        agreeing(sampled_gaussian.renyi, source.renyi, rate, shift, np.full(4, order))
    steps, delta = np.array([1000.0]), np.array([1e-5])
    agreeing(sampled_gaussian.epsilon, source.epsilon, rate[:1], shift[:1], steps, delta, outputs=2)
