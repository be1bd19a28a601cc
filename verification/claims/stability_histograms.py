"""Claims of PWS Section 8 about stability-based histograms: privacy of Algorithm 6, and what PWS gains over it.

Legend: g = e^ε, a rational number here, and with it e^{εT} = g/(cδ), the threshold T = 1 + ln(1/(cδ))/ε. A sanitised
frequency x is told by e^{εx}, so that the law of Laplace noise between two rational such numbers is rational.
Everything is decided without a tolerance; the printed 2/ε alone by an enclosure.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure, Truth
from ...accounting.expressions import expm1
from ...accounting.keyed.key_sanitiser import reporting_probability as optimal_probability
from ...accounting.keyed.stability_histograms import Threshold, reporting_probability
from ...plugins.contract import Case, Claim, Expectation, Finding, Proof
from ..oracles.sanitisers import algorithm_3
from .enclosed import agrees, enclosed, enclosed_log
from .subdivision import prove, quantity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_AGREEMENT = Fraction(1, 2**96)
"""An enclosure must hold the exact number and be this narrow, relatively, to be the same closed form."""
_ONE = Fraction(1)
_HIGHEST = 12
"""Neighbouring frequencies up to this one are compared: further apart from the threshold only the noise is left."""

_THRESHOLDS: Mapping[str, Threshold] = MappingProxyType({threshold.value: threshold for threshold in Threshold})


def _beyond(growth: Fraction, frequency: int, edge: Fraction) -> Fraction:
    """Pr[i + Laplace(1/ε) ≥ x] at e^{εx} = `edge`."""
    middle = growth**frequency
    return middle / edge / 2 if edge >= middle else 1 - edge / middle / 2


def _outcomes(growth: Fraction, least: Fraction, frequency: int, edges: list[Fraction]) -> list[Fraction]:
    """The law of the histogram's answer about a key: "not reported", and its sanitised frequency between the edges.

    Args:
        growth: g.
        least: e^{εT}.
        frequency: i; a key of frequency 0 is not reported.
        edges: e^{εx}, increasing, from `least` on.
    """
    if not frequency:
        return [_ONE, *[Fraction(0)] * len(edges)]
    tails = [_beyond(growth, frequency, edge) for edge in edges]
    return [1 - _beyond(growth, frequency, least), *(one - other for one, other in pairwise([*tails, Fraction(0)]))]


def _largest_divergence(growth: Fraction, least: Fraction) -> Fraction:
    """The largest hockey-stick divergence at g of two neighbouring frequencies, both ways.

    Between the edges T, i and i + 1 the density of one frequency is everywhere above g times that of the other, or
    nowhere: merging all x between two edges loses nothing.
    """
    found = Fraction(0)
    for low in range(_HIGHEST):
        peaks = {growth**low, growth ** (low + 1)}
        edges = sorted({least, *(edge for edge in peaks if edge > least)})
        one, other = (_outcomes(growth, least, frequency, edges) for frequency in (low, low + 1))
        for p, q in ((one, other), (other, one)):
            found = max(found, sum((max(a - growth * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0)))
    return found


def _least(growth: Fraction, delta: Fraction, factor: Fraction | int) -> Fraction:
    """e^{εT} for T = 1 + ln(1/(factor·δ))/ε."""
    return growth / (factor * delta)


def _examine_probability(case: Case) -> Finding:
    """φ_i against the rational law of the noise."""
    growth, delta, frequency = case["growth"], case["delta"], case["frequency"]
    threshold = _THRESHOLDS[case["threshold"]]
    found = reporting_probability(enclosed_log(growth), enclosed(delta), frequency, threshold)
    least = _least(growth, delta, threshold.factor)
    exact = 1 - _outcomes(growth, least, frequency, [least])[0]
    return Finding(
        holds=agrees(found, exact),
        closed_form=f"φ_{frequency} = {found}",
        independent=f"{exact} = {float(exact):.12g}",
    )


def _examine_privacy(case: Case) -> Finding:
    """Algorithm 6 with either threshold."""
    growth, delta = case["growth"], case["delta"]
    worst = _largest_divergence(growth, _least(growth, delta, _THRESHOLDS[case["threshold"]].factor))
    return Finding(holds=worst <= delta, closed_form=f"δ = {delta}", independent=f"the largest divergence is {worst}")


def _examine_tightness(case: Case) -> Finding:
    """The tight threshold spends all of δ."""
    return _spends_everything(case, Threshold.TIGHT)


def _examine_published_tightness(case: Case) -> Finding:
    """Examine whether the published threshold spends the whole budget, too."""
    return _spends_everything(case, Threshold.PUBLISHED)


def _spends_everything(case: Case, threshold: Threshold) -> Finding:
    growth, delta = case["growth"], case["delta"]
    worst = _largest_divergence(growth, _least(growth, delta, threshold.factor))
    return Finding(holds=worst == delta, closed_form=f"δ = {delta}", independent=f"the largest divergence is {worst}")


def _examine_lower_threshold(case: Case) -> Finding:
    """A threshold ln(s)/ε below the tight one."""
    growth, delta, excess = case["growth"], case["delta"], case["excess"]
    worst = _largest_divergence(growth, _least(growth, delta, 2 * excess))
    return Finding(
        holds=worst <= delta,
        closed_form=f"δ = {delta} at e^(εT) = e^ε/(2δ)/{excess}",
        independent=f"the largest divergence is {worst}",
    )


# Section 8, gain over histograms


def _small_delta(growth: Fraction, steps: int, share: Fraction) -> Fraction:
    """A δ at which L is at least the whole number `steps`, and equal to it for `share` 1."""
    return share * (growth - 1) / (growth**steps * (growth + 1) - 2)


def _ratio(case: Case) -> tuple[Fraction, Fraction, Enclosure, Fraction]:
    """g, δ, π_i/φ_i from the library, and the same from Algorithm 3 and the rational law of the noise."""
    growth, frequency = case["growth"], case["frequency"]
    delta = _small_delta(growth, case["steps"], case["share"])
    epsilon, limit = enclosed_log(growth), enclosed(delta)
    told = optimal_probability(epsilon, limit, frequency) / reporting_probability(epsilon, limit, frequency)
    least = _least(growth, delta, 1)
    optimal = algorithm_3(growth, delta, [_ONE] * frequency)[-1]
    return growth, delta, told, optimal / _beyond(growth, frequency, least)


def _examine_ratio(case: Case) -> Finding:
    """π_i/φ_i = 2(1 − g^−i)/(1 − 1/g) for i ≤ L, hence within [2, 2/(1 − e^−ε)]."""
    growth, delta, told, exact = _ratio(case)
    return Finding(
        holds=agrees(told, exact)
        and exact == 2 * (1 - growth ** -case["frequency"]) / (1 - 1 / growth)
        and 2 <= exact <= 2 / (1 - 1 / growth),
        closed_form=f"π/φ = {told}, within [2, {2 / (1 - 1 / growth)}]",
        independent=f"Algorithm 3 over the law of the noise: {exact} with e^ε = {growth}, δ = {delta}",
    )


def _prove_ratio() -> Proof:
    """The ratio as a function of real i, whatever δ."""
    epsilon, frequency = quantity("ε"), quantity("i")
    ratio = 2 * expm1(-epsilon * frequency) / expm1(-epsilon)
    box = {epsilon: ("1/1000", "2"), frequency: ("1", "24")}
    return prove("2 ≤ 2(1 − e^−εi)/(1 − e^−ε) ≤ 2/(1 − e^−ε)", [ratio - 2, 2 + ratio * expm1(-epsilon)], box)


def _examine_printed_ratio(case: Case) -> Finding:
    """Examine the upper end 2/ε of the ratio, as printed."""
    growth, delta, _, exact = _ratio(case)
    most = 2 / enclosed_log(growth)
    return Finding(
        holds=most.less(exact) is not Truth.TRUE,
        closed_form=f"2/ε = {most.upper_float:.12g}",
        independent=f"π/φ = {float(exact):.6g} with e^ε = {growth}, δ = {delta}",
    )


# Cases


def _growths() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    return st.fractions(Fraction(9, 8), 4, max_denominator=8)


def _deltas() -> SearchStrategy[Fraction]:
    from hypothesis import strategies as st

    small = st.integers(2, 12).map(lambda digits: Fraction(1, 10**digits))
    return small | st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000)


def _probability_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "growth": _growths(),
            "delta": _deltas(),
            "frequency": st.integers(0, 40),
            "threshold": st.sampled_from(sorted(_THRESHOLDS)),
        }
    )


def _privacy_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {"growth": _growths(), "delta": _deltas(), "threshold": st.sampled_from(sorted(_THRESHOLDS))}
    )


def _budget_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"growth": _growths(), "delta": _deltas()})


def _excess_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    excesses = st.fractions(Fraction(101, 100), 3, max_denominator=100).filter(lambda excess: excess > 1)
    return st.fixed_dictionaries({"growth": _growths(), "delta": _deltas(), "excess": excesses})


def _ratio_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    return st.integers(1, 20).flatmap(
        lambda steps: st.fixed_dictionaries(
            {
                "growth": _growths(),
                "steps": st.just(steps),
                "share": st.fractions(Fraction(1, 100), 1, max_denominator=100),
                "frequency": st.integers(1, steps),
            }
        )
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="pws/algorithm-6",
        statement="PWS Algorithm 6, with either threshold",
        says="stability-based histograms are (ε, δ)-DP between every two neighbouring frequencies",
        cases=_privacy_cases,
        examine=_examine_privacy,
    ),
    Claim(
        id="pws/algorithm-6-probability",
        statement="PWS Algorithm 6, reporting probability",
        says="φ_i = ½e^{−ε(T−i)} up to T and 1 − ½e^{−ε(i−T)} from there on",
        cases=_probability_cases,
        examine=_examine_probability,
    ),
    Claim(
        id="pws/algorithm-6-tight",
        statement="PWS Algorithm 6, tight threshold",
        says="1 + ln(1/(2δ))/ε spends all of δ",
        cases=_budget_cases,
        examine=_examine_tightness,
    ),
    Claim(
        id="pws/algorithm-6-published-tight",
        statement="PWS Algorithm 6, threshold of Section 8",
        says="1 + ln(1/δ)/ε spends all of δ",
        cases=_budget_cases,
        examine=_examine_published_tightness,
        expectation=Expectation.REJECTED,
        erratum="PWS-A6",
        witness={"growth": Fraction(2), "delta": Fraction(1, 100)},
    ),
    Claim(
        id="pws/algorithm-6-lower-threshold",
        statement="PWS Algorithm 6, below the tight threshold",
        says="a threshold below 1 + ln(1/(2δ))/ε is (ε, δ)-DP too",
        cases=_excess_cases,
        examine=_examine_lower_threshold,
        expectation=Expectation.REJECTED,
    ),
    Claim(
        id="pws/section-8-ratio",
        statement="PWS Sec. 8, gain over histograms, corrected",
        says="π_i/φ_i lies in [2, 2/(1 − e^−ε)] for i ≤ L",
        cases=_ratio_cases,
        examine=_examine_ratio,
        prove=_prove_ratio,
    ),
    Claim(
        id="pws/section-8-ratio-printed",
        statement="PWS Sec. 8, gain over histograms, as printed",
        says="π_i/φ_i is at most 2/ε for i ≤ L",
        cases=_ratio_cases,
        examine=_examine_printed_ratio,
        expectation=Expectation.REJECTED,
        erratum="PWS-sec8",
        witness={"growth": Fraction(2), "steps": 2, "share": Fraction(1, 100), "frequency": 2},
    ),
)
