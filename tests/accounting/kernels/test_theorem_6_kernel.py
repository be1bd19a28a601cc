"""ψ of Theorem 6 against Arb: never below, never above the stated margin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from certdp.accounting.bulk import arrays as bulk

Floats = NDArray[np.float64]
DRAWS = 100_000
DIRECTIONS = {"remove": bulk.psi_remove, "add": bulk.psi_add}


def draws(stream: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([2, stream])
    quarter = DRAWS // 4
    bits = rng.integers(0, 2**64, (2, 4 * quarter), dtype=np.uint64).view(np.float64)
    wild = np.abs(np.where(np.isfinite(bits), bits, 1.0))
    loss = np.concatenate(
        [
            np.exp2(rng.uniform(-1074, 20, quarter)),
            np.exp2(rng.uniform(-30, 8, quarter)),
            rng.uniform(300, 1600, quarter),
            wild[0, :quarter],
        ]
    )
    rate = np.concatenate(
        [
            np.exp2(rng.uniform(-1074, 0, quarter)),
            rng.uniform(0, 1, quarter),
            np.exp2(-(rng.uniform(0, 1, quarter) ** 3) * 1074),
            np.where(wild[1, :quarter] <= 1.0, wild[1, :quarter], 1.0 / np.maximum(wild[1, :quarter], 1.0)),
        ]
    )
    near_one = rng.integers(0, len(rate), DRAWS // 10)
    rate[near_one] = 1.0 - rng.integers(1, 2**20, DRAWS // 10) * 2.0**-53
    losses = [
        5e-324,
        2.0**-1022,
        1e-300,
        1e-16,
        0.34657359,
        0.5,
        10.0,
        699.9,
        700.0,
        700.1,
        745.0,
        1400.0,
        1401.0,
    ]
    rates = [5e-324, 2.0**-1022, 1e-300, 1e-12, 0.5, 1.0 - 2.0**-53, 2.0**-960, 0.3, 1.0]
    corners = np.array([(e, q) for e in [*losses, 1401.0, 1e6, 1e300, 1.797e308] for q in rates])
    return np.concatenate([loss, corners[:, 0]]), np.concatenate([rate, corners[:, 1]])


def remove(loss: arb, rate: arb) -> arb:
    if loss > 10_000:
        return loss + rate.log() + ((1 - rate) / rate * (-loss).exp()).log1p()
    return (rate * loss.expm1()).log1p()


def add(loss: arb, rate: arb) -> arb:
    if rate == 1:
        return loss
    rest = (-loss).exp() if loss < 10_000 else arb(0, arb(2) ** -10_000)
    if rate > 2.0**-50 and loss > 1:  # without cancellation at 1 − q
        return -((1 - rate) + rate * rest).log()
    drawn = -(-loss).expm1() if loss < 10_000 else 1 - rest
    return -(-rate * drawn).log1p()


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_upper_bounds_within_the_margin(direction: str, stream: int) -> None:
    losses, rates = draws(stream)
    values = DIRECTIONS[direction](losses, rates)
    oracle = remove if direction == "remove" else add
    ctx.prec = 300
    relative = 1 + arb(bulk.PSI_RELATIVE_ERROR.numerator) / bulk.PSI_RELATIVE_ERROR.denominator
    absolute = 1 / arb(bulk.PSI_ABSOLUTE_ERROR.denominator)
    largest = arb(2) ** 1024
    for e, q, value in zip(losses.tolist(), rates.tolist(), values.tolist(), strict=True):
        true = oracle(arb(e), arb(q))
        assert value <= e
        if value == e:  # the bound ψ ≤ ε, exact where q = 1
            assert q == 1.0 or not true > e
        else:
            assert true <= value, (e, q, value)
        assert value <= true * relative + absolute or true * relative > largest or q == 1.0, (e, q, value)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_exact_ends(direction: str) -> None:
    psi = DIRECTIONS[direction]
    losses = np.array([0.0, 5e-324, 1e-300, 0.7, 700.0, 701.0, 1e308, math.inf])
    assert psi(losses, 0.0).tolist() == [0.0] * len(losses)
    assert psi(losses, 1.0).tolist() == losses.tolist()
    assert psi(0.0, [0.0, 5e-324, 0.3, 1.0]).tolist() == [0.0] * 4


def test_infinite_loss() -> None:
    assert bulk.psi_remove(math.inf, [5e-324, 0.5]).tolist() == [math.inf, math.inf]
    value = float(bulk.psi_add(math.inf, 0.5))
    assert math.log(2.0) <= value <= math.log(2.0) * (1 + 2.0**-47)


def test_constant_loss_keeps_its_digits_at_a_tiny_rate() -> None:
    value = float(bulk.psi_remove(10.0, 1e-12))
    assert abs(value / math.log1p(1e-12 * math.expm1(10.0)) - 1) < 2.0**-46
