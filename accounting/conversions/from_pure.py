"""From pure DP to every other notion, through the pair that dominates each ε-DP mechanism: randomised response."""

from __future__ import annotations

from typing import TypeVar

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..guarantees import Guarantee
from ..notions import (
    APPROXIMATE,
    GAUSSIAN_DP,
    PURE,
    RENYI,
    ZERO_CONCENTRATED,
    Approximate,
    GaussianDP,
    Pure,
    Renyi,
    ZeroConcentrated,
)
from ..pairs import RandomisedResponsePair
from ..relations import Direction, Relation, Unit
from ..units import Order
from .conversion import Conversion, Tightness

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

PURE_TO_APPROXIMATE = Conversion(PURE, APPROXIMATE, Theorem("law", "ε-DP is (ε, 0)-DP"), Tightness.ATTAINED)
PURE_TO_RENYI = Conversion(
    PURE, RENYI, Theorem("Kairouz, Oh, Viswanath 2015", "randomised response dominates"), Tightness.ATTAINED
)
PURE_TO_ZERO_CONCENTRATED = Conversion(
    PURE, ZERO_CONCENTRATED, Theorem("law", "ε-DP is ε·tanh(ε/2)-zCDP"), Tightness.ATTAINED
)
"""Attained in the limit α → 1 of randomised response."""
PURE_TO_GAUSSIAN = Conversion(PURE, GAUSSIAN_DP, Theorem("law", "ε-DP is 2Φ⁻¹(e^ε/(1 + e^ε))-GDP"), Tightness.ATTAINED)


def pure_to_approximate(guarantee: Guarantee[Pure, R, U]) -> Guarantee[Approximate, R, U]:
    """Convert ε-DP to approximate DP: (ε, 0)."""
    epsilon = guarantee.bound.epsilon
    return PURE_TO_APPROXIMATE.conclude(guarantee, Approximate(epsilon, Enclosure.of(0, precision=epsilon.precision)))


def pure_to_renyi(guarantee: Guarantee[Pure, R, U], order: Order) -> Guarantee[Renyi, R, U]:
    """τ(α) of randomised response with ε, at any order."""
    tau = RandomisedResponsePair(guarantee.bound.epsilon).renyi(order.value, Direction.REMOVE)
    return PURE_TO_RENYI.conclude(guarantee, Renyi(order.value, tau))


def pure_to_zero_concentrated(guarantee: Guarantee[Pure, R, U]) -> Guarantee[ZeroConcentrated, R, U]:
    """ρ = ε·tanh(ε/2), at most ε²/2; proven at `RandomisedResponsePair.zero_concentrated`."""
    rho = RandomisedResponsePair(guarantee.bound.epsilon).zero_concentrated
    return PURE_TO_ZERO_CONCENTRATED.conclude(guarantee, ZeroConcentrated(rho))


def pure_to_gaussian(guarantee: Guarantee[Pure, R, U]) -> Guarantee[GaussianDP, R, U]:
    """μ = 2Φ⁻¹(e^ε/(1 + e^ε)): there the trade-off curves of the two pairs meet."""
    mu = RandomisedResponsePair(guarantee.bound.epsilon).gaussian
    return PURE_TO_GAUSSIAN.conclude(guarantee, GaussianDP(mu))
