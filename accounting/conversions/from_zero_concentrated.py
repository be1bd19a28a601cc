"""From zero-concentrated DP to Rényi DP, and through its best order to approximate DP."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeVar

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..guarantees import Guarantee
from ..notions import APPROXIMATE, RENYI, ZERO_CONCENTRATED, Approximate, Renyi, ZeroConcentrated
from ..relations import Relation, Unit
from ..units import Delta, Epsilon, Order
from .best_order import RenyiConversion, best_order, best_order_at_epsilon
from .conversion import Conversion, Tightness
from .renyi_moment import require_positive

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

ZERO_CONCENTRATED_TO_RENYI = Conversion(
    ZERO_CONCENTRATED, RENYI, Theorem("Bun, Steinke 2016", "Definition 1.1"), Tightness.ATTAINED
)
ZERO_CONCENTRATED_TO_APPROXIMATE = Conversion(
    ZERO_CONCENTRATED, APPROXIMATE, Theorem("Asoodeh et al. 2021", "Theorem 3 at the best order"), Tightness.UPPER
)


def epsilon_of_rho(rho: Enclosure, delta: Enclosure) -> RenyiConversion:
    """The smallest ε at δ over all orders of τ(α) = ρα.

    Guarantees: (ε, δ)-DP holds with the upper ends. ε is below ρ + 2√(ρ·log(1/δ)) (Bun, Steinke 2016,
    Proposition 1.3): the search begins at the order from which that follows, where the tight bound is smaller.

    Raises:
        InvalidValue: for δ = 0.
    """
    require_positive(delta)
    return best_order(lambda order: rho * order, delta, start=order_at_delta(rho, delta))


def delta_of_rho(rho: Enclosure, epsilon: Enclosure) -> RenyiConversion:
    """The smallest δ at ε over all orders of τ(α) = ρα.

    Raises:
        InvalidValue: for ε < 0.
    """
    return best_order_at_epsilon(lambda order: rho * order, epsilon, start=order_at_epsilon(rho, epsilon))


def order_at_delta(rho: Enclosure, delta: Enclosure) -> Fraction:
    """1 + √(log(1/δ)/ρ), where ρα + log(1/δ)/(α − 1) is least; 2 where no binary64 says that."""
    spread = -delta.minimum(1).log().lower_float  # log(1/δ)
    return _above_one(math.sqrt(spread), math.sqrt(rho.upper_float))


def order_at_epsilon(rho: Enclosure, epsilon: Enclosure) -> Fraction:
    """1 + (ε − ρ)/2ρ, where (α − 1)(ρα − ε) is least; 2 where no binary64 says that, and for ε ≤ ρ."""
    return _above_one((epsilon.lower_float - rho.upper_float) / 2, rho.upper_float)


def _above_one(reach: float, loss: float) -> Fraction:
    above = reach / loss if loss else math.inf
    return 1 + Fraction(above) if 0 < above < math.inf else Fraction(2)


def zero_concentrated_to_renyi(guarantee: Guarantee[ZeroConcentrated, R, U], order: Order) -> Guarantee[Renyi, R, U]:
    """τ(α) = ρα, which Gaussian laws attain at every order."""
    return ZERO_CONCENTRATED_TO_RENYI.conclude(guarantee, Renyi(order.value, guarantee.bound.rho * order.value))


def zero_concentrated_to_approximate(
    guarantee: Guarantee[ZeroConcentrated, R, U], delta: Delta
) -> Guarantee[Approximate, R, U]:
    """The smallest ε at δ over all orders.

    Raises:
        InvalidValue: for δ = 0.
    """
    rho = guarantee.bound.rho
    found = epsilon_of_rho(rho, Enclosure.of(delta.value, precision=rho.precision))
    return ZERO_CONCENTRATED_TO_APPROXIMATE.conclude(guarantee, Approximate(found.epsilon, found.delta))


def zero_concentrated_to_approximate_at(
    guarantee: Guarantee[ZeroConcentrated, R, U], epsilon: Epsilon
) -> Guarantee[Approximate, R, U]:
    """The smallest δ at ε over all orders."""
    rho = guarantee.bound.rho
    found = delta_of_rho(rho, Enclosure.of(epsilon.value, precision=rho.precision))
    return ZERO_CONCENTRATED_TO_APPROXIMATE.conclude(guarantee, Approximate(found.epsilon, found.delta))
