"""PWS Figures 1 and 3: with what probability a key is reported, by its frequency, without and with sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .count_experiments import CountPlan
from .findings import Advance, Findings, Table
from .pictures import Picture
from .pws_curves import STYLES, Setting

UNSAMPLED = (
    Setting(epsilon=Fraction(1, 10), delta=Fraction(1, 100)),
    Setting(epsilon=Fraction(1, 100), delta=Fraction(1, 10**6)),
)
SAMPLED = (
    *(Setting(epsilon=Fraction(1, 10), delta=Fraction(1, 1000), threshold=Fraction(1, 10**k)) for k in (1, 2, 3)),
    Setting(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6), threshold=Fraction(1, 100)),
)
"""The caption of Figure 3 names no parameters; these are those of Figures 4 to 6, and one more."""

_POINTS = 400


def unsampled(plan: CountPlan, advance: Advance) -> Findings:
    """PWS and stability-based histograms at q ≡ 1; where each reaches certainty, and their ratio up to L."""
    return _figure(plan, UNSAMPLED, "Reporting probability of a key, no sampling", advance)


def sampled(plan: CountPlan, advance: Advance) -> Findings:
    """PWS and sampled histograms beside the sampling itself."""
    return _figure(plan, SAMPLED, "Reporting probability of a key, ppswor with threshold τ", advance)


def _figure(plan: CountPlan, settings: Sequence[Setting], title: str, advance: Advance) -> Findings:
    picture = Picture.of(1, len(settings), width=3.8)
    rows: list[tuple[Any, ...]] = []
    summary = []
    for place, setting in enumerate(settings):
        reach = _certain_histogram(setting)
        frequencies = np.unique(np.linspace(1, 1.1 * reach, _POINTS).astype(np.int64))
        curves = setting.probabilities(frequencies)
        panel = picture.axes[0, place]
        for name, values in curves.items():
            if setting.threshold is not None or name != "sampling":
                panel.plot(frequencies, values, **STYLES[name])
        panel.set_title(setting.label, fontsize="small")
        panel.set_xlabel("frequency i")
        panel.legend(fontsize="x-small", loc="lower right")
        columns = (curves[name].tolist() for name in STYLES)
        fixed = (float(setting.epsilon), float(setting.delta), _threshold(setting))
        rows += [(*fixed, *row) for row in zip(frequencies.tolist(), *columns, strict=True)]
        summary.append(_summary(setting, reach))
        advance((place + 1) / len(settings))
    picture.axes[0, 0].set_ylabel("probability of being reported")
    table = Table(("epsilon", "delta", "tau", "frequency", *STYLES), rows)
    return Findings({"rows": summary}, {plan.name: table}, {plan.name: picture.titled(title)})


def _threshold(setting: Setting) -> float | None:
    return None if setting.threshold is None else float(setting.threshold)


def _certain_histogram(setting: Setting) -> int:
    """The first frequency at which the unsampled histogram with the published threshold reports with more than 1 − δ.

    ½·e^{−ε(i − T)} < δ, where T = 1 + ln(1/δ)/ε.
    """
    epsilon, delta = float(setting.epsilon), float(setting.delta)
    return math.floor(1 + (math.log(1 / delta) + math.log(1 / (2 * delta))) / epsilon) + 1


def _summary(setting: Setting, reach: int) -> dict[str, Any]:
    epsilon, delta = float(setting.epsilon), float(setting.delta)
    keys = setting.keys
    up_to_crossover = np.unique(np.linspace(1, max(1, keys.growing_steps - 1), _POINTS).astype(np.int64))
    curves = setting.probabilities(up_to_crossover)
    gains = curves["pws"] / curves["sbh"]
    return {
        "epsilon": epsilon,
        "delta": delta,
        "tau": _threshold(setting),
        "crossover": float(keys.crossover().midpoint),
        "pws_without_loss_from": setting.without_loss_from,
        "unsampled_sbh_above_1_minus_delta_from": reach,
        "least_gain_up_to_crossover": float(gains.min()),
        "largest_gain_up_to_crossover": float(gains.max()),
        "largest_gain_without_sampling_proven": 2 / -math.expm1(-epsilon),
        "largest_gain_without_sampling_printed": 2 / epsilon,
    }
