"""exp, expm1, log and log1p against Arb, over the whole range of binary64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from certdp.accounting._kernels import elementary
from certdp.accounting.bulk import arrays as bulk

Floats = NDArray[np.float64]
DRAWS = 100_000
SQUARE_ROOTS = np.array([0.5**0.5, 2.0**0.5])  # where the mantissa wraps


def signed(rng: np.random.Generator, size: int, low: float, high: float) -> Floats:
    """Log-uniform magnitudes in [2^low, 2^high] with random signs."""
    values: Floats = np.exp2(rng.uniform(low, high, size)) * rng.choice([-1.0, 1.0], size)
    return values


def patterns(rng: np.random.Generator, size: int) -> Floats:
    """Finite numbers of random bits."""
    values = np.frombuffer(rng.bytes(16 * size), np.float64)
    return values[np.isfinite(values)][:size]


def arguments(name: str, stream: int) -> Floats:
    rng = np.random.default_rng([1, stream])
    near_half = rng.choice(np.arange(-999.5, 1000.0), DRAWS // 10) * math.log(2.0)
    spread: Floats = np.concatenate(
        [
            signed(rng, DRAWS // 2, -60, 10),
            signed(rng, DRAWS // 4, -1074, 10),
            patterns(rng, DRAWS // 4),
            near_half,
        ]
    )
    ends = np.array([0.0, 5e-324, -5e-324, 2.0**-1022, 709.78, -708.39, -745.13, 1.0, -1.0, 0.5 * math.log(2.0)])
    match name:
        case "exp" | "expm1":
            return np.concatenate([spread, ends])
        case "log":
            near_one: Floats = 1.0 + signed(rng, DRAWS // 4, -53, -2)
            positive = np.abs(np.concatenate([spread, patterns(rng, DRAWS // 2), ends]))
            return np.concatenate([positive[positive > 0], near_one, SQUARE_ROOTS])
        case _:
            near_minus_one: Floats = -1.0 + np.exp2(rng.uniform(-53, 0, DRAWS // 4))
            return np.concatenate([spread[spread > -1], near_minus_one, np.array([2.0**1023 * 1.9, 0.0])])


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("exp", elementary.EXP_UNITS),
        ("expm1", elementary.EXPM1_UNITS),
        ("log", elementary.LOG_UNITS),
        ("log1p", elementary.LOG1P_UNITS),
    ],
)
def test_errors_stay_within_the_proven_units(name: str, units: int, stream: int) -> None:
    kernel: Callable[[Floats], Floats] = getattr(bulk, name)
    xs = arguments(name, stream)
    assert len(xs) >= DRAWS
    values = kernel(xs)
    truth: Callable[[arb], arb] = getattr(arb, name)
    largest, tiny = arb(2) ** 1024, arb(2) ** -1022
    relative, absolute = units * arb(2) ** -53, arb(2) ** -1074
    ctx.prec = 200
    for x, value in zip(xs.tolist(), values.tolist(), strict=True):
        if name in ("exp", "expm1") and x > 1e4:  # beyond what the oracle writes down
            assert value == math.inf
            continue
        true = truth(arb(x))
        if math.isinf(value):
            assert true * (1 + relative) > largest, (x, value)
            continue
        slack = abs(true) * relative if not abs(true) < tiny else abs(true) * relative + absolute
        assert abs(value - true) <= slack, (x, value)


def test_limits() -> None:
    inf = math.inf
    assert bulk.exp([-inf, -746.0, 0.0, 710.0, inf]).tolist() == [0.0, 0.0, 1.0, inf, inf]
    assert bulk.expm1([-inf, -1e300, 0.0, 710.0, inf]).tolist() == [-1.0, -1.0, 0.0, inf, inf]
    assert bulk.log([0.0, 1.0, inf]).tolist() == [-inf, 0.0, inf]
    assert bulk.log1p([-1.0, 0.0, inf]).tolist() == [-inf, 0.0, inf]


def test_tiny_arguments_are_their_own_values() -> None:
    tiny = np.array([5e-324, 1e-310, 2.0**-1022, 1e-300, -1e-300, -5e-324])
    assert bulk.expm1(tiny).tolist() == tiny.tolist()
    assert bulk.log1p(tiny).tolist() == tiny.tolist()
