"""Forecasts say what a run would do, and of norm sums that it could not have they say so."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from attrs import evolve

from certdp import Public
from certdp.accounting.errors import InvalidValue
from certdp.dpis.budget import FixedClip, NoisySize
from certdp.dpis.forecast import dp_sgd, forecast
from tests.support.training_plans import adaptive_clip, training_plan

PLAN = training_plan(norm_noise=15, clip=FixedClip(bound=Public(2)))
LEAST = Fraction("20.2") / 400  # (1 + margin)·b over N


def test_norm_sums_are_foreseen_as_stated() -> None:
    found = forecast(PLAN, [Fraction(1, 2), LEAST])
    assert [epoch.norm_sum for epoch in found.epochs] == [400, Fraction("40.4")]
    assert [epoch.norm_sum for epoch in forecast(PLAN).epochs] == [800, 800]


@pytest.mark.parametrize("shares", [(1, LEAST - Fraction(1, 10**9)), (1, Fraction(401, 400)), (0, 1), (-1, 1)])
def test_norm_sums_that_a_run_cannot_have_are_refused_and_not_moved(shares: Sequence[int | Fraction]) -> None:
    with pytest.raises(InvalidValue, match=r"shares: .* in epoch \d; admissible: 20\.2 ≤ K̃/C ≤ 400"):
        forecast(PLAN, [Fraction(share) for share in shares])


def test_a_forecast_of_dp_sgd_takes_no_norm_sums() -> None:
    with pytest.raises(InvalidValue, match="Leave them out"):
        forecast(dp_sgd(PLAN), [Fraction(1), Fraction(1)])
    with pytest.raises(InvalidValue, match="2, one for each epoch"):
        forecast(PLAN, [Fraction(1)])


def test_what_a_run_pays_beside_its_steps_is_what_it_releases() -> None:
    adaptive = evolve(
        PLAN,
        size=NoisySize(noise=Public(30), guess=Public(400)),
        clip=adaptive_clip(start=2, external=2, quantile=1, noise_multiplier=20, lowest="1/10", highest=10),
    )
    for plan, counts in (
        (PLAN, {"norm sum": 2}),
        (dp_sgd(PLAN), {}),
        (adaptive, {"size": 1, "norm sum": 2, "clipping bound": 1}),
    ):
        assert {cost.release: cost.count for cost in forecast(plan).fixed_costs} == counts
