"""Conversions between notions of privacy, each with its theorem, on enclosures and on guarantees.

From one Rényi bound to zero-concentrated DP there is none: that asks for every order.
"""

from ..pairs.smallest_epsilon import smallest_epsilon
from .best_order import RenyiConversion, RenyiOfOrder, best_order, best_order_at_epsilon
from .conversion import AnyConversion, Conversion, Tightness
from .from_gaussian import (
    GAUSSIAN_TO_APPROXIMATE,
    GAUSSIAN_TO_RENYI,
    GAUSSIAN_TO_ZERO_CONCENTRATED,
    delta_of_mu,
    epsilon_of_mu,
    gaussian_to_approximate,
    gaussian_to_approximate_at,
    gaussian_to_renyi,
    gaussian_to_zero_concentrated,
)
from .from_pure import (
    PURE_TO_APPROXIMATE,
    PURE_TO_GAUSSIAN,
    PURE_TO_RENYI,
    PURE_TO_ZERO_CONCENTRATED,
    pure_to_approximate,
    pure_to_gaussian,
    pure_to_renyi,
    pure_to_zero_concentrated,
)
from .from_renyi import (
    LEMMA_2_5,
    RENYI_TO_APPROXIMATE,
    renyi_to_approximate,
    renyi_to_approximate_at,
    renyi_to_approximate_by_lemma_2_5,
)
from .from_zero_concentrated import (
    ZERO_CONCENTRATED_TO_APPROXIMATE,
    ZERO_CONCENTRATED_TO_RENYI,
    delta_of_rho,
    epsilon_of_rho,
    zero_concentrated_to_approximate,
    zero_concentrated_to_approximate_at,
    zero_concentrated_to_renyi,
)
from .renyi_moment import delta_at_order, epsilon_at_order, lemma_2_5

CONVERSIONS: tuple[AnyConversion, ...] = (
    PURE_TO_APPROXIMATE,
    PURE_TO_RENYI,
    PURE_TO_ZERO_CONCENTRATED,
    PURE_TO_GAUSSIAN,
    RENYI_TO_APPROXIMATE,
    LEMMA_2_5,
    ZERO_CONCENTRATED_TO_RENYI,
    ZERO_CONCENTRATED_TO_APPROXIMATE,
    GAUSSIAN_TO_APPROXIMATE,
    GAUSSIAN_TO_ZERO_CONCENTRATED,
    GAUSSIAN_TO_RENYI,
)
"""Every conversion, with direction, theorem and tightness."""

__all__ = [
    "CONVERSIONS",
    "GAUSSIAN_TO_APPROXIMATE",
    "GAUSSIAN_TO_RENYI",
    "GAUSSIAN_TO_ZERO_CONCENTRATED",
    "LEMMA_2_5",
    "PURE_TO_APPROXIMATE",
    "PURE_TO_GAUSSIAN",
    "PURE_TO_RENYI",
    "PURE_TO_ZERO_CONCENTRATED",
    "RENYI_TO_APPROXIMATE",
    "ZERO_CONCENTRATED_TO_APPROXIMATE",
    "ZERO_CONCENTRATED_TO_RENYI",
    "AnyConversion",
    "Conversion",
    "RenyiConversion",
    "RenyiOfOrder",
    "Tightness",
    "best_order",
    "best_order_at_epsilon",
    "delta_at_order",
    "delta_of_mu",
    "delta_of_rho",
    "epsilon_at_order",
    "epsilon_of_mu",
    "epsilon_of_rho",
    "gaussian_to_approximate",
    "gaussian_to_approximate_at",
    "gaussian_to_renyi",
    "gaussian_to_zero_concentrated",
    "lemma_2_5",
    "pure_to_approximate",
    "pure_to_gaussian",
    "pure_to_renyi",
    "pure_to_zero_concentrated",
    "renyi_to_approximate",
    "renyi_to_approximate_at",
    "renyi_to_approximate_by_lemma_2_5",
    "smallest_epsilon",
    "zero_concentrated_to_approximate",
    "zero_concentrated_to_approximate_at",
    "zero_concentrated_to_renyi",
]
