"""Brent's search tries the places that SciPy's does, and ends at a minimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from certdp.accounting.conversions.minimum import least_place

ENDS = st.floats(-50, 50)
SHAPES: dict[str, Callable[[float], Callable[[float], float]]] = {
    "quartic": lambda at: lambda x: (x - at) ** 4 + 0.1 * x,
    "kink": lambda at: lambda x: abs(x - at),
    "waves": lambda at: lambda x: math.cos(x + at) + 0.01 * x * x,
    "exponentials": lambda at: lambda x: math.exp(0.3 * (x - at)) + math.exp(at - x),
    "steps": lambda at: lambda x: float(round(x - at) ** 2),
    "level": lambda at: lambda x: at,
    "unusable": lambda at: lambda x: 1e100 if x > at else -x,
}


@pytest.mark.parametrize("shape", SHAPES)
@given(at=ENDS, low=ENDS, width=st.floats(1e-9, 60), tolerance=st.sampled_from([1e-6, 1e-3]), most=st.integers(2, 40))
def test_the_places_are_those_of_scipy(
    shape: str, at: float, low: float, width: float, tolerance: float, most: int
) -> None:
    function = SHAPES[shape](at)
    own, others = list[float](), list[float]()

    def recorded(places: list[float]) -> Callable[[float], float]:
        def value(x: float) -> float:
            places.append(float(x))
            return function(float(x))

        return value

    found = least_place(recorded(own), low, low + width, tolerance=tolerance, evaluations=most)
    options = {"maxiter": most, "xatol": tolerance}
    said: Any = minimize_scalar(recorded(others), bounds=(low, low + width), method="bounded", options=options)
    assert own == others
    assert found == said.x


@given(at=ENDS, below=st.floats(0.1, 20), above=st.floats(0.1, 20))
def test_a_single_minimum_is_found(at: float, below: float, above: float) -> None:
    found = least_place(lambda x: (x - at) ** 2, at - below, at + above, tolerance=1e-6, evaluations=100)
    assert abs(found - at) < 1e-5
