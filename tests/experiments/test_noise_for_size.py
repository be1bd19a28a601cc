"""The noise at which the optimal sample has a given expected size, and what Section 3.3 says of it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from certdp import LaplaceSum, Private, Public
from certdp.accounting.sampling.records import Features
from certdp.experiments.figure_2 import LaplaceContest
from certdp.experiments.noise import expected_size, noise_for_size, target_for_size, unit_losses


def bisected_size(losses: list[float], target: float) -> float:
    """Σ 1/w with the largest w where (e^{aw} − 1)/w ≤ e^ε* − 1, by bisection."""
    total = 0.0
    for loss in losses:
        low, high = 1.0, 1.0
        while math.expm1(loss * high) / high <= math.expm1(target):
            high *= 2
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if math.expm1(loss * middle) / middle <= math.expm1(target) else (low, middle)
        total += 1 / low
    return total


def test_section_3_3() -> None:
    # m = 19 is reached at a Laplace scale near 160 with ε* = max ε(1, x); it follows the longest of 1000 records
    scales = [LaplaceContest.drawn(seed).scale_for(19.0) for seed in range(40)]
    low, middle, high = np.quantile(scales, (0.25, 0.5, 0.75))
    assert 140 < middle < 180
    assert low < 160 < high


def test_sizes_agree_with_bisection() -> None:
    losses = [0.3, 0.5, 0.9, 1.7, 2.0]
    for scale, target in [(1.0, 2.0), (4.0, 0.5), (0.1, 30.0)]:
        expected = bisected_size([loss / scale for loss in losses], target)
        assert expected_size(Private(np.array(losses)), scale, target).reveal() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("target", [0.5, 3.0, 100.0])
def test_the_scale_found_gives_the_size(target: float) -> None:
    losses = Private(np.linspace(0.2, 1.0, 50))
    scale = noise_for_size(losses, 4.0, lambda _: target, 1 / target).reveal()
    assert bisected_size([loss / scale for loss in losses.reveal().tolist()], target) == pytest.approx(4.0, rel=1e-7)


def test_the_target_found_gives_the_size() -> None:
    losses = Private(np.linspace(0.2, 1.0, 50))
    target = target_for_size(losses, 4.0, 1.0, 1.0).reveal()
    assert bisected_size(losses.reveal().tolist(), target) == pytest.approx(4.0, rel=1e-7)


def test_a_size_that_no_noise_needs_gives_the_least_noise() -> None:
    losses = Private(np.array([0.5, 1.0]))
    most = expected_size(losses, 1.0, 1.0).reveal()
    assert noise_for_size(losses, most * 1.01, lambda _: 1.0, 1.0).reveal() == 1.0


def test_unit_losses_are_norms() -> None:
    records = np.array([[3.0, -4.0], [0.0, 2.0]])
    found = unit_losses(LaplaceSum(scale=Public(Fraction(1, 2))).loss.pure, Features(records)).reveal()
    assert found == pytest.approx([14.0, 4.0], rel=1e-14)
