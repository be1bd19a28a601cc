"""The options that state a plan: what a command is told, and what statements of trained models say."""

from __future__ import annotations

from collections.abc import Mapping

from ..accounting.units import Order
from .budget import (
    Accounting,
    AdaptiveClip,
    Clip,
    DominatedAccounting,
    ExponentialDecay,
    FixedClip,
    NoisySize,
    PublicSize,
    RenyiAccounting,
    RunPlan,
    Size,
)


def options_of(plan: RunPlan) -> dict[str, str | bool]:
    """What to state on the command line for this plan, by option; numbers exactly, True for a flag."""
    values: dict[str, object] = {
        "batch": plan.batch.value,
        "epochs": plan.epochs,
        "steps-per-epoch": plan.steps_per_epoch,
        "epsilon": plan.budget.epsilon.value,
        "delta": plan.budget.delta.value,
        **_size_options(plan.size),
        **_clip_options(plan.clip),
        **_accounting_options(plan.accounting),
    }
    if isinstance(plan.schedule, ExponentialDecay):
        values["noise-decay"] = plan.schedule.base.value
    if plan.norm_sums is not None:
        values["norm-noise"] = plan.norm_sums.noise_multiplier.value
        values["norm-rate"] = plan.norm_sums.rate.value
        values["margin"] = plan.norm_sums.margin.value
        if isinstance(plan.accounting, RenyiAccounting):
            values["divider"] = plan.divider.value
    stated: dict[str, str | bool] = {name: str(value) for name, value in values.items()}
    return stated if plan.norm_sums is not None else {**stated, "uniform": True}


def _size_options(size: Size) -> Mapping[str, object]:
    match size:
        case PublicSize(size=number):
            return {"records": number.value}
        case NoisySize(guess=guess, noise=noise):
            return {"records": guess.value, "size-noise": noise.value}


def _clip_options(clip: Clip) -> Mapping[str, object]:
    match clip:
        case FixedClip(bound=bound):
            return {"clip": bound.value}
        case AdaptiveClip():
            return {
                "clip": clip.start.value,
                "clip-quantile": clip.quantile.value,
                "clip-interval": f"{clip.lowest.value}:{clip.highest.value}",
                "clip-external": clip.external.value,
                "clip-noise": clip.noise_multiplier.value,
            }


def _accounting_options(accounting: Accounting) -> Mapping[str, object]:
    match accounting:
        case RenyiAccounting(order=Order() as order):
            return {"order": order.value}
        case RenyiAccounting():
            return {}
        case DominatedAccounting(rate=rate):
            return {"largest-rate": rate.value}
