"""PWS Figures 5 and 6: bias and variance of estimates of a key's frequency, and the error of sums.

The captions name neither ε nor δ; they are those of Figure 4 here. The estimator of PWS is Equation 9 on Algorithm 4,
that of sampled histograms w*/q(w*), that without privacy w/q_w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..accounting.exact import Floats
from ..accounting.keyed.estimates import MomentCurve, sum_error_of
from .count_experiments import CountPlan
from .findings import Advance, Findings, Table
from .key_frequencies import KeyFrequencies
from .pictures import Picture
from .pws_curves import STYLES, Setting
from .pws_fractions import DELTA, EPSILON

THRESHOLDS = (None, Fraction(1, 10), Fraction(1, 100), Fraction(3, 1000), Fraction(1, 1000))
"""Of the curves by frequency; None for no sampling."""
SUM_THRESHOLDS = (None, *(Fraction(f"{10 ** (-k / 4):.3g}") for k in range(13)))
"""Of the errors of sums."""
FILE_THRESHOLDS = (None, *(Fraction(text) for text in ("1", "0.1", "0.03", "0.01", "0.003", "0.001")))
"""Fewer, since a file may hold large frequencies."""
HIGHEST = 400
"""Of the curves by frequency."""
SELECTED, KEYS_OF_EACH = 200, 1000
"""The selection of Figure 5: 2·10⁵ keys, as many of each frequency from 1 to 200."""
ACCURACIES = (0.5, 0.25, 0.1)

_LINES = (("black", "-"), ("#2e8b57", "--"), ("#e0a000", "-"), ("#8a4fb0", "-"), ("#b03a6f", "-"))
_SHOWN = 160  # beyond this frequency no curve of the bias differs from 0 to the eye
_LEAST_SHOWN = 1e-4
_NAMES = ("sampling", "pws", "sbh")


def bias(plan: CountPlan, advance: Advance) -> Findings:
    """Bias per key, and the error of the estimated sum of the frequencies of many keys against τ."""
    frequencies = np.arange(1, HIGHEST + 1)
    curves = _by_threshold(frequencies, lambda share: advance(share / 3))
    own = KeyFrequencies.uniform(SELECTED, KEYS_OF_EACH)
    selections = [own] if plan.keys is None else [plan.keys, plan.keys.up_to(SELECTED)]
    thresholds = SUM_THRESHOLDS if plan.keys is None else FILE_THRESHOLDS
    errors = _sums(selections, thresholds, lambda share: advance((1 + 2 * share) / 3))
    biased = Picture.of(1, 1, width=4.6, without_data=True)
    panel = biased.axes[0, 0]
    for (colour, style), (threshold, by_method) in zip(_LINES, curves.items(), strict=False):
        biases = by_method["pws"].bias / frequencies
        panel.plot(frequencies, biases, color=colour, linestyle=style, label=f"PWS, {_named(threshold)}")
    stable = next(iter(curves.values()))["sbh"]  # the same at every τ
    panel.plot(frequencies, stable.bias / frequencies, **STYLES["sbh"])
    panel.set_xlim(0, _SHOWN)
    panel.set_xlabel("frequency i")
    panel.set_ylabel("bias/i")
    panel.legend(fontsize="x-small")
    summed = Picture.of(1, len(selections), width=4.6)
    for number, keys in enumerate(selections):
        _draw_sums(summed.axes[0, number], keys, [row for row in errors if row["keys"] == keys.name])
    table = Table(tuple(errors[0]), [tuple(row.values()) for row in errors])
    setting = f"ε = {float(EPSILON):g}, δ = {float(DELTA):g}, ppswor"
    return Findings(
        {"accurate_from": _accuracies(frequencies, curves), "sums": errors},
        {f"{plan.name}-bias": _table(frequencies, curves), f"{plan.name}-sums": table},
        {
            f"{plan.name}-bias": biased.titled(f"Estimates of frequencies, {setting}"),
            f"{plan.name}-sums": summed.titled(f"Estimates of sums, {setting}"),
        },
    )


def variance(plan: CountPlan, advance: Advance) -> Findings:
    """Variance per key over its squared frequency."""
    frequencies = np.arange(1, HIGHEST + 1)
    curves = _by_threshold(frequencies, advance)
    picture = Picture.of(1, len(curves), width=3.6)
    summary = []
    for panel, (threshold, by_method) in zip(picture.axes[0], curves.items(), strict=True):
        normalised = {name: by_method[name].variance / frequencies**2 for name in _NAMES}
        for name, values in normalised.items():
            if threshold is not None or name != "sampling":  # which is 0 without sampling
                panel.plot(frequencies, values, **STYLES[name])
        panel.set_title(_named(threshold), fontsize="small")
        panel.set_xlabel("frequency i")
        panel.set_yscale("log")
        panel.set_ylim(bottom=max(_LEAST_SHOWN, panel.get_ylim()[0]))  # sampling alone soon has next to no variance
        panel.legend(fontsize="x-small")
        largest = {f"largest_of_{name}": float(values.max()) for name, values in normalised.items()}
        summary.append({"tau": _number(threshold), **largest})
    picture.axes[0, 0].set_ylabel("variance/i²")
    title = f"Variance of estimates, ε = {float(EPSILON):g}, δ = {float(DELTA):g}, ppswor"
    return Findings(
        {"rows": summary},
        {plan.name: _table(frequencies, curves)},
        {plan.name: picture.titled(title)},
    )


_Curves = Mapping[Fraction | None, Mapping[str, MomentCurve]]


def _by_threshold(frequencies: Any, advance: Advance) -> _Curves:
    curves = {}
    for place, threshold in enumerate(THRESHOLDS, start=1):
        setting = Setting(epsilon=EPSILON, delta=DELTA, threshold=threshold)
        curves[threshold] = setting.moments(frequencies)
        advance(place / len(THRESHOLDS))
    return curves


def _named(threshold: Fraction | None) -> str:
    return "no sampling" if threshold is None else f"τ = {float(threshold):g}"


def _number(threshold: Fraction | None) -> float | None:
    return None if threshold is None else float(threshold)


def _table(frequencies: Any, curves: _Curves) -> Table:
    """Moments of every method and τ by frequency."""
    rows = [
        (name, _number(threshold), *row)
        for threshold, by_method in curves.items()
        for name, curve in by_method.items()
        for row in zip(
            *(column.tolist() for column in (frequencies, curve.reported, curve.bias, curve.variance)), strict=True
        )
    ]
    return Table(("method", "tau", "frequency", "reported", "bias", "variance"), rows)


def _accuracies(frequencies: Any, curves: _Curves) -> list[dict[str, Any]]:
    """From which frequency on the bias stays within a part of it, for PWS and for histograms, and their ratio."""
    found = []
    for threshold, by_method in curves.items():
        for accuracy in ACCURACIES:
            first = {name: _first(frequencies, by_method[name].bias, accuracy) for name in ("pws", "sbh")}
            ratio = first["sbh"] / first["pws"]
            found.append({"tau": _number(threshold), "relative_bias": accuracy, **first, "ratio": ratio})
    return found


def _first(frequencies: Any, biases: Floats, accuracy: float) -> int:
    beyond = np.flatnonzero(np.abs(biases) > accuracy * frequencies)
    return int(frequencies[beyond[-1]]) + 1 if len(beyond) else 1


def _sums(
    selections: Sequence[KeyFrequencies], thresholds: Sequence[Fraction | None], advance: Advance
) -> list[dict[str, Any]]:
    """The error of the sum of the frequencies of all keys of a selection."""
    rows = []
    for number, keys in enumerate(selections):
        weights = keys.keys.astype(np.float64)
        for step, threshold in enumerate(thresholds, start=1):
            by_method = Setting(epsilon=EPSILON, delta=DELTA, threshold=threshold).moments(keys.frequencies)
            row: dict[str, Any] = {"keys": keys.name, "number_of_keys": len(keys), "tau": _number(threshold)}
            for name in _NAMES:
                error = sum_error_of(by_method[name], weights, weights)
                row[f"nrmse_{name}"] = error.normalised_root_mean_squared_error
                row[f"relative_bias_{name}"] = error.bias / error.truth
            rows.append(row)
            advance((number + step / len(thresholds)) / len(selections))
    return rows


def _draw_sums(panel: Any, keys: KeyFrequencies, errors: Sequence[Mapping[str, Any]]) -> None:
    sampled = [row for row in errors if row["tau"] is not None]
    for name in _NAMES:
        places, values = [row["tau"] for row in sampled], [row[f"nrmse_{name}"] for row in sampled]
        panel.plot(places, values, marker="o", markersize=3, **STYLES[name])
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("τ")
    panel.set_ylabel("NRMSE of the sum of frequencies")
    panel.set_title(f"{keys.name}: {len(keys)} keys", fontsize="small")
    panel.legend(fontsize="x-small")
