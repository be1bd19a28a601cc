"""From Gaussian DP, whose one pair of normal laws decides everything, to the other notions."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..guarantees import Guarantee
from ..notions import (
    APPROXIMATE,
    GAUSSIAN_DP,
    RENYI,
    ZERO_CONCENTRATED,
    Approximate,
    GaussianDP,
    Renyi,
    ZeroConcentrated,
)
from ..pairs import GaussianPair
from ..pairs.smallest_epsilon import smallest_epsilon
from ..relations import Direction, Relation, Unit
from ..units import Delta, Epsilon, Order
from .conversion import Conversion, Tightness

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

GAUSSIAN_TO_APPROXIMATE = Conversion(
    GAUSSIAN_DP, APPROXIMATE, Theorem("Dong, Roth, Su 2022", "Corollary 2.13"), Tightness.ATTAINED
)
GAUSSIAN_TO_ZERO_CONCENTRATED = Conversion(
    GAUSSIAN_DP, ZERO_CONCENTRATED, Theorem("Dong, Roth, Su 2022", "Corollary B.6"), Tightness.ATTAINED
)
GAUSSIAN_TO_RENYI = Conversion(GAUSSIAN_DP, RENYI, Theorem("Dong, Roth, Su 2022", "Corollary B.6"), Tightness.ATTAINED)


def delta_of_mu(mu: Enclosure, epsilon: Enclosure) -> Enclosure:
    """δ(ε) = Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2), from both sides, for ε ≥ 0."""
    return GaussianPair(mu).delta(epsilon, Direction.REMOVE)


def epsilon_of_mu(mu: Enclosure, delta: Enclosure) -> Enclosure:
    """The ε with δ(ε) = δ, or 0 where δ(0) ≤ δ: an enclosure of it, the upper end safe for every μ and δ inside.

    Raises:
        InvalidValue: for δ = 0 where μ > 0, for which no ε suffices.
    """
    return smallest_epsilon(lambda epsilon: delta_of_mu(mu, epsilon), delta)


def gaussian_to_approximate(guarantee: Guarantee[GaussianDP, R, U], delta: Delta) -> Guarantee[Approximate, R, U]:
    """The smallest ε at δ, which Gaussian laws attain.

    Raises:
        InvalidValue: for δ = 0 where μ > 0.
    """
    mu = guarantee.bound.mu
    level = Enclosure.of(delta.value, precision=mu.precision)
    return GAUSSIAN_TO_APPROXIMATE.conclude(guarantee, Approximate(epsilon_of_mu(mu, level), level))


def gaussian_to_approximate_at(
    guarantee: Guarantee[GaussianDP, R, U], epsilon: Epsilon
) -> Guarantee[Approximate, R, U]:
    """The smallest δ at ε, which Gaussian laws attain."""
    mu = guarantee.bound.mu
    level = Enclosure.of(epsilon.value, precision=mu.precision)
    return GAUSSIAN_TO_APPROXIMATE.conclude(guarantee, Approximate(level, delta_of_mu(mu, level)))


def gaussian_to_zero_concentrated(guarantee: Guarantee[GaussianDP, R, U]) -> Guarantee[ZeroConcentrated, R, U]:
    """Convert μ-Gaussian DP to zero-concentrated DP: ρ = μ²/2."""
    rho = guarantee.bound.mu.square() * Fraction(1, 2)
    return GAUSSIAN_TO_ZERO_CONCENTRATED.conclude(guarantee, ZeroConcentrated(rho))


def gaussian_to_renyi(guarantee: Guarantee[GaussianDP, R, U], order: Order) -> Guarantee[Renyi, R, U]:
    """Convert μ-Gaussian DP to Rényi DP at an order: τ(α) = αμ²/2."""
    tau = guarantee.bound.mu.square() * (order.value / 2)
    return GAUSSIAN_TO_RENYI.conclude(guarantee, Renyi(order.value, tau))
