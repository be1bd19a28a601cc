"""What states a plan: every number of it exactly, and nothing that it does not have."""

from __future__ import annotations

from typing import Any

import pytest

from certdp import Public
from certdp.dpis.budget import DominatedAccounting, ExponentialDecay, NoisySize
from certdp.dpis.plan_options import options_of
from tests.support.training_plans import adaptive_clip, training_plan

FIXED = {"batch": "20", "epochs": "2", "steps-per-epoch": "5", "epsilon": "8", "delta": "1/100000"}
SIZE, CLIP, ORDER = {"records": "400"}, {"clip": "1"}, {"order": "4"}
SUMS = {"norm-noise": "8", "norm-rate": "1", "margin": "1/100"}
DIVIDED = {"divider": "4/5"}
ADAPTIVE: dict[str, Any] = {"quantile": "1/2", "noise_multiplier": 3, "external": 5, "lowest": "1/10", "highest": 10}


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        ({}, SIZE | CLIP | ORDER | SUMS | DIVIDED),
        (
            {"schedule": ExponentialDecay(base=Public("0.9"))},
            SIZE | CLIP | ORDER | SUMS | DIVIDED | {"noise-decay": "9/10"},
        ),
        ({"norm_sums": None}, SIZE | CLIP | ORDER | {"uniform": True}),
        ({"accounting": DominatedAccounting(rate=Public("0.1"))}, SIZE | CLIP | SUMS | {"largest-rate": "1/10"}),
        (
            {"size": NoisySize(noise=Public(7), guess=Public(300))},
            CLIP | ORDER | SUMS | DIVIDED | {"records": "300", "size-noise": "7"},
        ),
        (
            {"clip": adaptive_clip(**ADAPTIVE)},
            SIZE
            | ORDER
            | SUMS
            | DIVIDED
            | {
                "clip": "1",
                "clip-quantile": "1/2",
                "clip-interval": "1/10:10",
                "clip-external": "5",
                "clip-noise": "3",
            },
        ),
    ],
    ids=["fixed", "decay", "uniform", "dominated", "noisy size", "adaptive clip"],
)
def test_a_plan_is_stated_exactly(changes: dict[str, Any], stated: dict[str, str | bool]) -> None:
    assert options_of(training_plan(**changes)) == FIXED | stated
