"""The laws of randomised response as functions of its pure loss ε: they bound every pair with that loss."""

from __future__ import annotations

import math
from fractions import Fraction

from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import order_above_one
from ..enclosures.monotone import increasing
from ..enclosures.normal import normal_upper_quantile
from ..relations import Direction
from .estimates import mean_of_two
from .laws import RenyiEstimate


def renyi(epsilon: Enclosure, order: Fraction) -> Enclosure:
    """τ(α) = log(p·e^{(α−1)ε} + (1 − p)·e^{−(α−1)ε})/(α − 1) with p = e^ε/(1 + e^ε), in both directions."""
    above = order_above_one(order) - 1

    def at(epsilon: Enclosure) -> Enclosure:
        if (epsilon * above).greater(1) is Truth.TRUE:  # e^{(α−1)ε} is taken out: it may be beyond any exponent
            return epsilon + ((epsilon * (-2 * above - 1)).exp().log1p() - (-epsilon).exp().log1p()) / above
        likely = 1 / ((-epsilon).exp() + 1)
        return ((epsilon * above).expm1() * likely + (epsilon * -above).expm1() * (1 - likely)).log1p() / above

    return increasing(at, epsilon).maximum(0)


def renyi_estimate(epsilon: Enclosure) -> RenyiEstimate:
    """Make a quick estimate of τ(α): the closed form in binary64."""
    own = epsilon.upper_float
    likely = 1 / (1 + math.exp(-own))

    def estimate(order: float, direction: Direction) -> float:
        return mean_of_two(likely, (order - 1) * own, (1 - order) * own) / (order - 1)

    return estimate


def zero_concentrated(epsilon: Enclosure) -> Enclosure:
    """ρ = ε·tanh(ε/2), which τ(α)/α approaches for α → 1 and never exceeds.

    With u = α − ½, (α − 1)τ(α) = h(u) − h(½) for h(u) = log cosh(uε). As h'(u)/(2u) = ε·tanh(uε)/(2u) decreases,
    h is concave in u², so h(u) − h(½) ≤ (u² − ¼)·h'(½) = α(α − 1)·ε·tanh(ε/2).
    """
    return increasing(lambda e: e * -(-e).expm1() / ((-e).exp() + 1), epsilon)


def gaussian(epsilon: Enclosure) -> Enclosure:
    """μ = 2Φ⁻¹(e^ε/(1 + e^ε)): the Gaussian trade-off curve meets that of the pair at its kink."""
    return increasing(lambda e: normal_upper_quantile(1 / (e.exp() + 1)) * 2, epsilon).maximum(0)
