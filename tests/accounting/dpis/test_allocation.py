"""The least noise of a DPIS epoch: a search whose answer is known here, and numbers rounded up."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from certdp.accounting.dpis.allocation import _least_noise, upwards
from certdp.accounting.filters import BudgetExceeded

LEFT = Fraction(3, 7)
Cost = Callable[[float], Fraction]


def power(root: float, exponent: int) -> Cost:
    """Costs what is left at `root`, and straight on logarithms."""
    return lambda noise: LEFT * (Fraction(root) / Fraction(noise)) ** exponent


def bent(root: float) -> Cost:
    """As the sampled Gaussian: much for little noise, then a rate squared."""

    def cost(noise: float) -> Fraction:
        return Fraction(math.log1p(math.expm1(noise**-2.0) / 1000))

    most = cost(root)
    return lambda noise: LEFT * cost(noise) / most


def step(root: float) -> Cost:
    """Far too much below `root`, and nothing from there on."""
    return lambda noise: Fraction(0) if noise >= root else 10 * LEFT


SEARCHES: dict[str, tuple[Cost, int]] = {
    "straight, below 1": (power(1e-3, 1), 13),
    "straight, above 1": (power(700.0, 2), 13),
    "straight, far below": (power(1.1 * 2.0**-40, 6), 43),
    "straight, far above": (power(1.3 * 2.0**40, 2), 44),
    "bent, below 1": (bent(0.3), 11),
    "bent, near 1": (bent(0.7), 9),
    "bent, above 1": (bent(5.0), 9),
    "met at 1": (power(1.0, 2), 3),
    "a step below 1": (step(0.6), 78),
    "a step above 1": (step(1.7), 59),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_the_least_noise_is_found(name: str) -> None:
    """It is affordable, and noise that is smaller by 2^-20 is not; costs are asked for hardly more often than today."""
    cost, most = SEARCHES[name]
    asked: list[float] = []

    def counted(noise: float) -> Fraction:
        asked.append(noise)
        return cost(noise)

    found = _least_noise(counted, LEFT)
    assert cost(found) <= LEFT < cost(found / (1 + 2.0**-20))
    assert len(asked) <= most


@pytest.mark.parametrize("root", [0.25, 1.0, 4.0])
def test_noise_that_costs_all_that_is_left_is_affordable(root: float) -> None:
    assert _least_noise(power(root, 2), LEFT) == root


@pytest.mark.parametrize("cost", [2 * LEFT, LEFT / 2], ids=["too much", "too little"])
def test_costs_that_noise_does_not_change(cost: Fraction) -> None:
    with pytest.raises(BudgetExceeded, match="Stop here"):
        _least_noise(lambda _: cost, LEFT)


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 2), Fraction(1, 10**300), Fraction(7)])
def test_numbers_are_rounded_up_to_the_next_float(value: Fraction) -> None:
    found = upwards(value)
    assert math.nextafter(found, 0.0) < value <= found
