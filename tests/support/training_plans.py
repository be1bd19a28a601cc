"""Training runs as they are declared, small enough to play through."""

from __future__ import annotations

from typing import Any

from certdp import Delta, Epsilon, Order, Public
from certdp.dpis.budget import AdaptiveClip, FixedClip, NormSums, PublicSize, RenyiAccounting, RunPlan
from certdp.runs.calibration import Budget


def training_plan(
    *, epsilon: Any = 8, batch: Any = 20, records: Any = 400, norm_noise: Any = 8, order: Any = 4, **changes: Any
) -> RunPlan:
    """DPIS at δ = 1e-5 with a fixed clip, two epochs of five steps, in a Rényi account; `changes` as RunPlan's."""
    stated: dict[str, Any] = {
        "budget": Budget(epsilon=Epsilon(epsilon), delta=Delta("1e-5")),
        "batch": Public(batch),
        "epochs": 2,
        "steps_per_epoch": 5,
        "size": PublicSize(size=Public(records)),
        "clip": FixedClip(bound=Public(1)),
        "norm_sums": NormSums(noise_multiplier=Public(norm_noise)),
        "accounting": RenyiAccounting(order=Order(order)),
    }
    return RunPlan(**stated | changes)


def adaptive_clip(*, start: Any = 1, quantile: Any, noise_multiplier: Any, **bounds: Any) -> AdaptiveClip:
    """A clip that moves with a quantile; external, lowest and highest are its bounds."""
    stated = {"start": start, "quantile": quantile, "noise_multiplier": noise_multiplier, **bounds}
    return AdaptiveClip(**{name: Public(value) for name, value in stated.items()})
