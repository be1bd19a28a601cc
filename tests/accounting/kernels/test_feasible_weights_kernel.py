"""The compiled kernel does, bit for bit, what its source says when every operation is rounded exactly once."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from certdp.accounting import _kernels
from certdp.accounting._kernels import feasible_weights as compiled
from certdp.accounting._kernels import types
from certdp.accounting.feasible_weights.linear import _Given
from tests.support.bits import bits, from_bits

NAME = "interpreted_feasible_weights"


def fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return exact.numerator / exact.denominator  # correctly rounded
    except OverflowError:
        return math.copysign(math.inf, exact)


def unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@pytest.fixture(scope="module")
def interpreted() -> Iterator[Any]:
    """The kernel's module, executed without a compiler."""
    package, stub = ModuleType(NAME), ModuleType(f"{NAME}.compile")
    package.__path__ = []
    package.__dict__["types"] = types
    stub.__dict__.update(fma=fma, bits=bits, from_bits=from_bits, inlined=unchanged, READ=None, WRITE=None, Floats=Any)
    stub.__dict__["kernel"] = lambda *signature: unchanged
    modules: dict[str, Any] = {NAME: package, stub.__name__: stub}
    sys.modules.update(modules)
    try:
        for name in ("elementary", "feasible_weights"):
            module = ModuleType(f"{NAME}.{name}")
            module.__package__ = NAME
            sys.modules[module.__name__] = modules[module.__name__] = module
            path = Path(_kernels.__path__[0], f"{name}.py")
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        yield modules[f"{NAME}.feasible_weights"]
    finally:
        for name in modules:
            sys.modules.pop(name, None)


@pytest.mark.parametrize("target", ["1e-8", "0.3", "1", "600"])
@pytest.mark.parametrize("largest", [None, 7.0])
def test_weights(interpreted: Any, target: str, largest: float | None) -> None:
    given = _Given.of(Fraction(target), largest)
    rng = np.random.default_rng(12)
    shares = [
        np.exp2(-rng.uniform(0, 30, 60)),
        1 - np.exp2(-rng.uniform(1, 52, 40)),
        np.exp2(-rng.uniform(0, 1000, 40)),
    ]
    losses = np.minimum(given.top * np.concatenate(shares), given.top)
    constants = given.high, given.low, given.level, given.top, given.cap
    expected = np.empty((2, losses.size))
    found = np.empty((2, losses.size))
    with np.errstate(all="ignore"):
        worst = interpreted.linear(losses, *constants, expected[0], expected[1])
    assert compiled.linear(losses, *constants, found[0], found[1]) == worst
    assert found.tobytes() == expected.tobytes()
    assert not np.isnan(found).any()


@pytest.mark.parametrize("bad", [math.nan, -1.0, -5e-324, 1.0000000000000002, math.inf])
def test_invalid_losses_are_refused(bad: float) -> None:
    given = _Given.of(Fraction(1), None)
    losses, out = np.full(700, 0.5), np.empty((2, 700))
    losses[613] = bad
    constants = given.high, given.low, given.level, given.top, given.cap
    assert compiled.linear(losses, *constants, out[0], out[1]) == compiled.INVALID
