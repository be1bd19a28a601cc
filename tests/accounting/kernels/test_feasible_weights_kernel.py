"""The compiled kernel does, bit for bit, what its source says when every operation is rounded exactly once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting._kernels import feasible_weights as compiled
from certdp.accounting.feasible_weights.linear import _Given
from tests.support.interpreted import interpreted_kernels


@pytest.fixture(scope="module")
def interpreted() -> Iterator[Any]:
    """The kernel's module, executed without a compiler."""
    with interpreted_kernels("elementary", "feasible_weights") as modules:
        yield modules["feasible_weights"]


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
