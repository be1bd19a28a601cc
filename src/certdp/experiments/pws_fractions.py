"""PWS Figures 2 and 4: the expected share of keys that are reported, against δ and against the sampling rate τ.

Zipf[α]: see `key_frequencies`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve

from ..plots.canvas import curve_style
from .count_experiments import CountPlan
from .findings import Advance, Findings, Table
from .key_frequencies import KeyFrequencies
from .pictures import Picture
from .pws_curves import STYLES, Setting

EPSILON, DELTA = Fraction(1, 10), Fraction(1, 1000)
KEYS = 100_000
"""Keys of Zipf's law; the gains hardly depend on it from 10,000 on."""
DELTA_STEPS = 4
"""Points in each factor of 10 of δ."""
THRESHOLD_STEPS = 4
EXPONENTS_AGAINST_DELTA, EXPONENTS_AGAINST_THRESHOLD = (1.0, 2.0), (0.5, 1.0, 2.0)
SUPPORTS = (200, 1000, 10_000)
"""Largest frequencies for the other reading of Zipf[α]."""
FEWER_KEYS = (100, 1000, 10_000)

_PER_CENT = 100
_WIDE = 30  # gains that differ by this factor are drawn on a logarithmic axis


def against_delta(plan: CountPlan, advance: Advance) -> Findings:
    """Without sampling, δ from 10⁻⁸ to 1."""
    deltas = [_power(k, DELTA_STEPS) for k in range(-8 * DELTA_STEPS, 1)]
    settings = [Setting(epsilon=EPSILON, delta=delta) for delta in deltas]
    return _figure(plan, settings, "δ", [float(delta) for delta in deltas], EXPONENTS_AGAINST_DELTA, advance)


def against_threshold(plan: CountPlan, advance: Advance) -> Findings:
    """At ε = 0.1 and δ = 0.001, τ from 10⁻⁴ to 1; without sampling in the summary."""
    thresholds = [_power(k, THRESHOLD_STEPS) for k in range(-4 * THRESHOLD_STEPS, 1)]
    settings = [Setting(epsilon=EPSILON, delta=DELTA, threshold=threshold) for threshold in thresholds]
    places = [float(threshold) for threshold in thresholds]
    found = _figure(plan, settings, "τ", places, EXPONENTS_AGAINST_THRESHOLD, advance)
    everything = Setting(epsilon=EPSILON, delta=DELTA)
    laws = _laws(plan, EXPONENTS_AGAINST_THRESHOLD)
    whole = [_row(everything, keys) for keys in laws]
    other = [] if plan.keys is not None else _other_readings(everything)
    summary = {**found.summary, "without_sampling": whole, "gain_percent_of_other_readings": other}
    return evolve(found, summary=summary)


def _power(numerator: int, denominator: int) -> Fraction:
    """Return 10^(numerator/denominator), exactly where that is a whole power."""
    if numerator % denominator == 0:
        return Fraction(10) ** (numerator // denominator)
    return Fraction(f"{10 ** (numerator / denominator):.4g}")


def _laws(plan: CountPlan, exponents: Sequence[float]) -> list[KeyFrequencies]:
    return [KeyFrequencies.zipf(exponent, KEYS) for exponent in exponents] if plan.keys is None else [plan.keys]


def _row(setting: Setting, keys: KeyFrequencies) -> dict[str, Any]:
    """The shares of keys that each method reports, and PWS's gain over histograms with either threshold."""
    shares = {name: keys.share(values) for name, values in setting.probabilities(keys.frequencies).items()}
    return {
        "keys": keys.name,
        "epsilon": float(setting.epsilon),
        "delta": float(setting.delta),
        "tau": None if setting.threshold is None else float(setting.threshold),
        **{name: shares.get(name) for name in STYLES},
        "gain_percent": _gain(shares["pws"], shares["sbh"]),
        "gain_percent_over_tight": _gain(shares["pws"], shares["sbh_tight"]) if "sbh_tight" in shares else None,
    }


def _gain(share: float, baseline: float) -> float:
    return _PER_CENT * (share / baseline - 1)


def _other_readings(setting: Setting) -> list[dict[str, Any]]:
    """The gains without sampling with fewer keys, and with a probability ∝ i^−α of frequency i up to a largest one."""
    found = []
    for exponent in EXPONENTS_AGAINST_THRESHOLD:
        by_rank = {f"{keys} keys": KeyFrequencies.zipf(exponent, keys) for keys in FEWER_KEYS}
        by_frequency = {
            f"frequencies to {most}": KeyFrequencies.zipf_of_frequencies(exponent, most) for most in SUPPORTS
        }
        gains = {name: _row(setting, keys)["gain_percent"] for name, keys in (by_rank | by_frequency).items()}
        found.append({"exponent": exponent, **gains})
    return found


def _figure(
    plan: CountPlan,
    settings: Sequence[Setting],
    variable: str,
    places: Sequence[float],
    exponents: Sequence[float],
    advance: Advance,
) -> Findings:
    from matplotlib.ticker import LogFormatter

    laws = _laws(plan, exponents)
    picture = Picture.of(1, len(laws) + 1, width=4.0)
    gains = picture.axes[0, 0]
    rows: list[dict[str, Any]] = []
    for number, keys in enumerate(laws):
        of_one = []
        for step, setting in enumerate(settings):
            of_one.append(_row(setting, keys))
            advance((number + (step + 1) / len(settings)) / len(laws))
        panel = picture.axes[0, number + 1]
        for name, style in STYLES.items():
            values = [row[name] for row in of_one]
            if variable == "τ" or name != "sampling":
                known = [place for place, value in zip(places, values, strict=True) if value is not None]
                panel.plot(known, [value for value in values if value is not None], **style)
        panel.set_title(f"{keys.name}: {len(keys)} keys", fontsize="small")
        panel.set_ylabel("expected share of keys reported")
        panel.set_yscale("log")
        panel.legend(fontsize="x-small")
        gains.plot(places, [row["gain_percent"] for row in of_one], label=keys.name, **curve_style(number))
        rows += of_one
    gains.set_title("gain of PWS over SbH", fontsize="small")
    gains.set_ylabel("more keys reported (%)")
    values = [row["gain_percent"] for row in rows]
    if max(values) > _WIDE * min(values):
        gains.set_yscale("log")
        gains.yaxis.set_major_formatter(LogFormatter())
    else:
        gains.set_ylim(bottom=0)
    gains.legend(fontsize="x-small")
    for panel in picture.axes[0]:
        panel.set_xscale("log")
        panel.set_xlabel(variable)
    table = Table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    rate = "no sampling" if variable == "δ" else f"δ = {float(DELTA):g}, ppswor with threshold τ"
    title = f"Share of keys reported, ε = {float(EPSILON):g}, {rate}"
    return Findings(
        {"laws": [_extremes(keys, variable, rows) for keys in laws]},
        {plan.name: table},
        {plan.name: picture.titled(title)},
    )


def _extremes(keys: KeyFrequencies, variable: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Between what the gain lies, and where."""
    column = "delta" if variable == "δ" else "tau"
    of_one = [row for row in rows if row["keys"] == keys.name]
    low, high = (choose(of_one, key=lambda row: row["gain_percent"]) for choose in (min, max))
    return {
        "keys": keys.name,
        "number_of_keys": len(keys),
        "elements": keys.elements,
        "least_gain_percent": low["gain_percent"],
        f"least_gain_at_{column}": low[column],
        "largest_gain_percent": high["gain_percent"],
        f"largest_gain_at_{column}": high[column],
        f"gain_percent_by_{column}": {f"{row[column]:.3g}": row["gain_percent"] for row in of_one},
    }
