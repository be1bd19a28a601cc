"""Claims of IS about the profiles of mechanisms: the Laplace sum of Section 3.3 and Equation 11.

Legend: w is the weight of a record x, b the scale of the noise, Δ how far a record of weight 1 moves a statistic.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...accounting.enclosures import Enclosure
from ...accounting.expressions import Constant, Variable, W, enclose, norm
from ...accounting.provenance import Public
from ...mechanisms.exponential import Exponential, Normaliser
from ...mechanisms.laplace_sum import LaplaceSum
from ...plugins.contract import Case, Claim, Expectation, Finding
from .enclosed import enclosed

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_PRECISION = 128
_NEAR = Fraction(1, 2**100)


# The Laplace sum


def _examine_laplace_sum(case: Case) -> Finding:
    """Log-densities of the noisy sum with and without the record: at one output, and beyond everything it adds."""
    weight, record, scale = case["weight"], case["record"], case["scale"]
    added = [weight * entry for entry in record]
    lengths = {W: enclosed(weight), norm(1): enclosed(sum(map(abs, record), Fraction(0)))}
    loss = LaplaceSum(scale=Public(scale)).loss.shift
    declared = enclose(loss, lengths, precision=_PRECISION)

    def log_ratio(output: list[Fraction]) -> Fraction:
        moved = (abs(y) - abs(y - a) for y, a in zip(output, added, strict=True))
        total: Fraction = sum(moved, Fraction(0)) / scale
        return total

    seen, most = log_ratio(list(case["output"])), log_ratio([2 * a for a in added])
    return Finding(
        holds=abs(seen) <= declared.upper and declared.contains(most) and declared.width <= _NEAR * (1 + most),
        closed_form=f"ε(w, x) = {declared}",
        independent=f"log-ratio of densities {seen} at one output, {most} beyond the record's",
    )


def _sum_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    entries = st.integers(-20, 20).map(lambda n: Fraction(n, 4))

    def of_dimension(dimension: int) -> SearchStrategy[Case]:
        vectors = st.tuples(*[entries] * dimension)
        weights = st.integers(2, 40).map(lambda n: Fraction(n, 2))
        scales = st.integers(1, 60).map(lambda n: Fraction(n, 3))
        return st.fixed_dictionaries({"weight": weights, "record": vectors, "scale": scales, "output": vectors})

    return st.integers(1, 4).flatmap(of_dimension)


# Equation 11: the exponential mechanism over a metric

_BELOW = 2
"""Below both statistics the ratio is the largest, and the same at all outputs."""


def _laws(case: Case, *, bounded: bool) -> list[dict[int, Enclosure]]:
    """The laws of outputs on the integers, at two statistics w·Δ apart: on [0, m] alone, or on all integers."""
    weight, moved, scale = case["weight"], case["moved"], case["scale"]
    places = range(case["outputs"]) if bounded else range(-_BELOW, case["outputs"])
    laws = []
    for statistic in (case["statistic"], case["statistic"] + weight * moved):
        shares = {y: (-enclosed(abs(y - statistic) / scale)).exp() for y in places}
        total = sum(shares.values(), enclosed(Fraction(0))) if bounded else _all_integers(statistic, scale)
        laws.append({y: share / total for y, share in shares.items()})
    return laws


def _all_integers(statistic: Fraction, scale: Fraction) -> Enclosure:
    """Σ over all integers y of e^(−|y − s|/β): two geometric series from the integers around s."""
    above = -((-statistic.numerator) // statistic.denominator)  # the least integer that is at least s
    ratio = (-enclosed(1 / scale)).exp()
    ends = (-enclosed((above - statistic) / scale)).exp(), (-enclosed((statistic - above + 1) / scale)).exp()
    return (ends[0] + ends[1]) / (1 - ratio)


def _declared(case: Case, normaliser: Normaliser) -> Enclosure:
    mechanism = Exponential(
        sensitivity=Constant(case["moved"]),
        scale=case["scale"],
        query=lambda sample: sample.weights,
        draw=lambda centre, _: centre,
        normaliser=normaliser,
    )
    box: Mapping[Variable, Enclosure] = MappingProxyType({W: enclosed(case["weight"])})
    return enclose(mechanism.loss.epsilon, box, precision=_PRECISION)


def _examine_equation_11(case: Case) -> Finding:
    """Outputs from 0 to m, where the normaliser varies: twice the exponent bounds every log-ratio."""
    return _compared(case, _declared(case, Normaliser.VARIES))


def _examine_equation_11_halved(case: Case) -> Finding:
    """A wrong form: the normaliser is taken for constant though the outputs end at 0 and m."""
    return _compared(case, _declared(case, Normaliser.CONSTANT))


def _compared(case: Case, declared: Enclosure) -> Finding:
    one, other = _laws(case, bounded=True)
    worst = max((abs((one[y] / other[y]).log()) for y in one), key=lambda ratio: ratio.lower)
    return Finding(
        holds=worst.lower <= declared.upper,
        closed_form=f"ε = {declared.upper_float:.12g}",
        independent=f"largest log-ratio over outputs 0 to {case['outputs'] - 1}: {worst.lower_float:.12g}",
    )


def _examine_translations(case: Case) -> Finding:
    """All integers, and a statistic that moves by a whole number: the normaliser is constant, the exponent suffices."""
    whole = {**case, "weight": Fraction(case["steps"]), "moved": Fraction(1)}
    declared = _declared(whole, Normaliser.CONSTANT)
    one, other = _laws(whole, bounded=False)
    worst = max((abs((one[y] / other[y]).log()) for y in one), key=lambda ratio: ratio.upper)
    close = abs(worst.midpoint - declared.midpoint) <= _NEAR * (1 + declared.midpoint)
    return Finding(
        holds=close,
        closed_form=f"ε = {declared.upper_float:.12g}",
        independent=f"largest log-ratio over all integers: {worst.lower_float:.12g}",
    )


def _metric_cases() -> SearchStrategy[Case]:
    from hypothesis import strategies as st

    quarters = st.integers(0, 24).map(lambda n: Fraction(n, 4))
    return st.fixed_dictionaries(
        {
            "outputs": st.integers(2, 7),
            "statistic": quarters,
            "weight": st.integers(2, 8).map(lambda n: Fraction(n, 2)),
            "moved": quarters,
            "scale": st.integers(2, 12).map(lambda n: Fraction(n, 2)),
            "steps": st.integers(1, 6),
        }
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="is/laplace-sum",
        statement="IS Section 3.3, Laplace sum",
        says="the Laplace sum has the profile w‖x‖₁/b, and no smaller one",
        cases=_sum_cases,
        examine=_examine_laplace_sum,
    ),
    Claim(
        id="is/equation-11",
        statement="IS Equation 11",
        says="the exponential mechanism loses at most 2wΔ/β, whatever the normaliser",
        cases=_metric_cases,
        examine=_examine_equation_11,
    ),
    Claim(
        id="is/equation-11-constant-normaliser",
        statement="IS Equation 11",
        says="where the normaliser does not depend on the statistic, the loss is wΔ/β and no smaller",
        cases=_metric_cases,
        examine=_examine_translations,
    ),
    Claim(
        id="is/equation-11-halved",
        statement="IS Equation 11, a wrong form",
        says="the loss is wΔ/β on a bounded set of outputs too",
        cases=_metric_cases,
        examine=_examine_equation_11_halved,
        expectation=Expectation.REJECTED,
    ),
)
