"""Probabilities and weights computed by hand, sums without bias, and what a run on a sample costs."""

from __future__ import annotations

import numpy as np
import pytest
from power_allocation import PowerAllocation

import certdp
from certdp.plugins.contract import Coins, InvalidValue, Public, draw

COPIES = 2000
NORMS = np.array([1.0, 4.0, 9.0, 16.0, 100.0])
PROBABILITIES = np.array([0.25, 0.5, 0.75, 1.0, 1.0])  # √(norm / 16), at most 1


def sampled_bound(sampler: certdp.Sampler) -> float:
    run = certdp.SampledRun(mechanism=certdp.LaplaceSum(scale=Public(8)), sampler=sampler)
    domain = certdp.NormBall(norm=certdp.Norm.L1, radius=Public(4))
    assert certdp.check(certdp.profile_certificate(run.on(domain))).accepted
    return run.on(domain).pure().bound.epsilon.upper_float


def test_records_are_drawn_with_the_square_root_of_their_share_of_the_threshold() -> None:
    records = np.repeat(NORMS, COPIES)[:, np.newaxis] * np.array([[0.6, 0.8]])
    sample = draw(PowerAllocation(threshold=Public(16), floor=Public("0.01")), records, Coins.seeded(3))
    norms = np.rint(np.linalg.norm(sample.records, axis=1))
    for norm, probability in zip(NORMS, PROBABILITIES, strict=True):
        weights = sample.weights[norms == norm]
        assert weights == pytest.approx(np.full(len(weights), 1 / probability), rel=1e-14)
        assert abs(len(weights) - COPIES * probability) <= 5 * (COPIES * probability * (1 - probability)) ** 0.5
    variance = COPIES * (NORMS**2 * (1 / PROBABILITIES - 1)).sum()
    assert abs(np.linalg.norm(sample.weighted_sum()) - COPIES * NORMS.sum()) <= 5 * variance**0.5


def test_a_record_below_the_floor_is_drawn_with_the_floor() -> None:
    sampler = PowerAllocation(threshold=Public(16), floor=Public("0.5"))
    sample = draw(sampler, np.full((COPIES, 1), 0.0), Coins.seeded(4))
    assert set(sample.weights) == {2.0}
    assert abs(len(sample) - COPIES / 2) <= 5 * (COPIES / 4) ** 0.5


def test_the_loss_of_a_sum_is_that_of_its_largest_record() -> None:
    """At norm 4 of 16, q = 1/2 and w·‖x‖/scale = 1; smaller records lose less."""
    sampler = PowerAllocation(threshold=Public(16), norm=Public(1), floor=Public("0.01"))
    assert sampled_bound(sampler) == pytest.approx(np.log1p(0.5 * np.expm1(1)), rel=1e-12)


def test_power_1_is_sampling_in_proportion_to_the_norm() -> None:
    sampler = PowerAllocation(threshold=Public(16), power=Public(1), norm=Public(1), floor=Public("0.01"))
    proportional = certdp.Importance(rate=Public("0.0625"), floor=Public("0.01"))
    assert sampled_bound(sampler) == pytest.approx(sampled_bound(proportional), rel=1e-12)


@pytest.mark.parametrize("share", [0, "1.01", -1])
def test_power_and_floor_lie_in_0_to_1(share: int | str) -> None:
    with pytest.raises(InvalidValue, match=r"power: .*a number above 0 and at most 1"):
        PowerAllocation(threshold=Public(1), floor=Public(1), power=Public(share))
    with pytest.raises(InvalidValue, match=r"floor: .*a number above 0 and at most 1"):
        PowerAllocation(threshold=Public(1), floor=Public(share))
