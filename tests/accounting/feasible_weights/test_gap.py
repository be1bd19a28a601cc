"""The distance to a weight that is refuted: only a bound that lies above the limit by 2^-24 of it refutes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from certdp.accounting.exact import Floats
from certdp.accounting.feasible_weights.gaussian import _gap


def gap(above: float, weight: float = 4.0, cap: float = 100.0) -> float:
    """Where the law is above its limit by that share, from the first weight beyond on."""

    def law(rate: Floats, shift: Floats) -> Floats:
        return np.full(rate.shape, 0.125 * (1.0 + above))

    return _gap(np.array([0.5]), np.array([weight]), law, 0.125, cap, 20)


@pytest.mark.parametrize("above", [0.0, 0.75 * 2.0**-24, 2.0**-24])
def test_a_bound_that_is_not_clearly_above_the_limit_refutes_no_weight(above: float) -> None:
    assert gap(above) == math.inf


@pytest.mark.parametrize("above", [1.5 * 2.0**-24, 0.5])
def test_a_bound_that_is_clearly_above_the_limit_refutes_the_nearest_weight(above: float) -> None:
    assert gap(above) == 1.0 - 4.0 / (4.0 * (1.0 + 2.0**-38))


def test_weights_that_a_cap_limits_have_no_gap() -> None:
    assert gap(0.0, weight=100.0) == 0.0
