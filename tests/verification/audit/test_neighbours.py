"""The record that an audit adds is one about which the declared loss is as large as about any of the domain."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from certdp import (
    Coreset,
    Full,
    GaussianSum,
    Importance,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Poisson,
    Public,
)
from certdp.accounting.expressions import ORDER, W, norm
from certdp.accounting.sampling.drawing import StatedRate
from certdp.pairs import RenyiLoss
from certdp.plugins.contract import Neighbours
from certdp.runs.declared import drawing_of
from certdp.verification.audit import worst_neighbours

HALF = Fraction(1, 2)


def ball(order: Norm, radius: str, dimension: int) -> NormBall:
    return NormBall(norm=order, radius=Public(radius), dimension=dimension)


def test_with_no_sampling_it_is_at_the_boundary() -> None:
    mechanism = LaplaceSum(scale=Public(1))
    found, *_ = worst_neighbours(mechanism.loss, drawing_of(mechanism, Full()), ball(Norm.L1, "3", 2), HALF)
    assert found.first.tolist() == [[3.0, 0.0]]
    assert found.second.shape == (0, 2)
    assert "(3, 0)" in found.difference


@pytest.mark.parametrize("radius", ["1e151", "1e308", "1e400"])
def test_a_radius_at_which_distances_are_no_floats_is_refused(radius: str) -> None:
    mechanism = LaplaceSum(scale=Public(1))
    with pytest.raises(InvalidValue, match=r"radius.*1e150"):
        worst_neighbours(mechanism.loss, drawing_of(mechanism, Full()), ball(Norm.L1, radius, 2), HALF)
    found, *_ = worst_neighbours(mechanism.loss, drawing_of(mechanism, Full()), ball(Norm.L1, "1e150", 2), HALF)
    assert found.first.tolist() == [[1e150, 0.0]]


def test_where_another_norm_is_larger_on_the_diagonal_it_is_there() -> None:
    mechanism = LaplaceSum(scale=Public(1))
    found, *_ = worst_neighbours(mechanism.loss, drawing_of(mechanism, Full()), ball(Norm.L2, "1", 4), HALF)
    assert found.first == pytest.approx(np.full((1, 4), 0.5))


def test_where_small_records_weigh_much_it_is_inside() -> None:
    """q = 1/32 + 31/32·‖x‖²: the shift ‖x‖/q of a drawn record is largest near ‖x‖ = 0.18, not at 1."""
    mechanism = GaussianSum(scale=Public(1))
    sampler = Coreset(
        m=Public(1), n=Public(1), mean_squared_norm=Public(1), radius=Public(1), mixing=Public(Fraction(1, 32))
    )
    drawing = drawing_of(mechanism, sampler)
    found, *_ = worst_neighbours(mechanism.loss, drawing, ball(Norm.L2, "1", 2), Fraction(3))
    (size,) = np.linalg.norm(found.first, axis=1)

    def sampled_delta(radius: float) -> float:
        q = 1 / 32 + 31 / 32 * radius**2
        shift, growth = radius / q, math.exp(3)
        x = math.log((growth - 1 + q) / q) / shift + shift / 2
        tail = [math.erfc((x - mean) / math.sqrt(2)) / 2 for mean in (0, shift)]
        return (1 - q) * tail[0] + q * tail[1] - growth * tail[0]

    assert size < 0.5
    assert sampled_delta(size) == pytest.approx(max(map(sampled_delta, np.arange(1, 9) / 8)), rel=1e-9)


def test_where_no_norm_matters_any_record_will_do() -> None:
    mechanism = GaussianSum(noise_multiplier=Public(1))
    found, *_ = worst_neighbours(mechanism.loss, drawing_of(mechanism, Poisson(rate=Public("0.5"))), None, HALF)
    assert found.first.tolist() == [[1.0, 0.0]]


def test_a_loss_that_is_a_curve_is_audited_at_the_boundary() -> None:
    loss = RenyiLoss(ORDER * (W * norm(2)) ** 2)
    found, *_ = worst_neighbours(loss, StatedRate(Full().rate), ball(Norm.L2, "2", 2), HALF)
    assert found.first.tolist() == [[2.0, 0.0]]


def test_records_that_are_never_drawn_are_passed_over() -> None:
    mechanism, sampler = LaplaceSum(scale=Public(1)), Importance(rate=Public("1e-300"))
    drawing = drawing_of(mechanism, sampler)
    found, *_ = worst_neighbours(mechanism.loss, drawing, ball(Norm.L1, "1", 1), HALF)
    assert found.first.shape == (1, 1)


def test_data_sets_from_records() -> None:
    records = [[1.0], [2.0], [3.0]]
    without = Neighbours.without_last(records)
    assert (without.first.tolist(), without.second.tolist()) == (records, records[:-1])
    replaced = Neighbours.replacing_last(records)
    assert (replaced.first.tolist(), replaced.second.tolist()) == ([[1.0], [2.0]], [[1.0], [3.0]])


@pytest.mark.parametrize(
    "build",
    [
        lambda: Neighbours.without_last(np.empty((0, 2))),
        lambda: Neighbours.replacing_last([[1.0]]),
        lambda: Neighbours([[1.0]], [[1.0, 2.0]], "columns"),
    ],
)
def test_no_data_sets(build: object) -> None:
    with pytest.raises(ValueError, match="neighbours"):
        build()  # type: ignore[operator]
