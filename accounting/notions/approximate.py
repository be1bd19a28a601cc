"""Approximate differential privacy, (ε, δ)-DP, and its laws.

DPIS Definition 2.2 and Equation 1, PWS Definition 3.1. Every pair of output laws that obeys it in both directions is
a random map of one pair (Kairouz, Oh, Viswanath 2015): with probability δ the output tells which law it is from, else
it is randomised response with ε. So at another ε' the least δ' that holds is δ + (1 − δ)·[e^ε − e^ε']₊/(1 + e^ε).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, final

from attrs import field, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure, Truth
from ..enclosures.monotone import increasing
from .notion import Notion
from .ranges import group_size, non_negative, probability


@final
@frozen
class Approximate:
    """The bound of (ε, δ)-DP: Pr[M(D) ∈ O] ≤ e^ε·Pr[M(D') ∈ O] + δ for every event O, in both directions.

    Attributes:
        epsilon: an enclosure of a number ≥ 0; the guarantee holds with its upper end.
        delta: an enclosure of a number in [0, 1]; the guarantee holds with its upper end.
    """

    notion: ClassVar[Notion[Approximate]]
    epsilon: Enclosure = field(validator=non_negative)
    delta: Enclosure = field(validator=probability)

    def __str__(self) -> str:
        return f"(ε, δ) ≤ ({self.epsilon.upper_float!r}, {self.delta.upper_float!r})"


def _compose(bounds: Sequence[Approximate]) -> Approximate:
    """Sums of both; every mechanism is (ε, 1)-DP, so that no δ above 1 is needed."""
    epsilon, delta = APPROXIMATE.nothing.epsilon, APPROXIMATE.nothing.delta
    for bound in bounds:
        epsilon, delta = epsilon + bound.epsilon, delta + bound.delta
    return Approximate(epsilon, delta.minimum(1))


def _group(bound: Approximate, size: int) -> Approximate:
    """(kε, δ·(1 + e^ε + … + e^{(k−1)ε})); the sum is (e^{kε} − 1)/(e^ε − 1), or k at ε = 0."""
    steps = group_size(size)
    epsilon = bound.epsilon * steps
    if bound.delta.upper == 0:
        return Approximate(epsilon, bound.delta)

    def total(one: Enclosure) -> Enclosure:
        return (one * steps).expm1() / one.expm1() if one.lower > 0 else one + steps

    return Approximate(epsilon, (bound.delta * increasing(total, bound.epsilon)).minimum(1))


def _implies(first: Approximate, second: Approximate) -> Truth:
    """Exact: the least δ' at the second ε is attained by the pair that dominates the first bound."""
    if second.delta.lower >= 1:
        return Truth.TRUE
    saved = -(second.epsilon - first.epsilon).minimum(0).expm1() / ((-first.epsilon).exp() + 1)
    least = first.delta + (1 - first.delta) * saved
    return least.less_equal(second.delta)


APPROXIMATE: Notion[Approximate] = Notion(
    name="approximate",
    nothing=Approximate(Enclosure.of(0), Enclosure.of(0)),
    compose=_compose,
    group=_group,
    implies=_implies,
    composition_theorem=Theorem("law", "adaptive composition: sums of ε and of δ"),
)
Approximate.notion = APPROXIMATE
