"""From Rényi DP to approximate DP: DPIS Lemma 2.5, and the best bound that one order proves."""

from __future__ import annotations

from typing import TypeVar

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..guarantees import Guarantee
from ..notions import APPROXIMATE, RENYI, Approximate, Renyi
from ..relations import Relation, Unit
from ..units import Delta, Epsilon
from .conversion import Conversion, Tightness
from .renyi_moment import delta_at_order, epsilon_at_order, lemma_2_5

R = TypeVar("R", bound=Relation)
U = TypeVar("U", bound=Unit)

RENYI_TO_APPROXIMATE = Conversion(RENYI, APPROXIMATE, Theorem("Asoodeh et al. 2021", "Theorem 3"), Tightness.ATTAINED)
"""Attained by a pair of laws on two outputs, of which D_α(P‖Q) ≤ τ is asked in that direction alone."""
LEMMA_2_5 = Conversion(RENYI, APPROXIMATE, Theorem("DPIS", "Lemma 2.5"), Tightness.UPPER)


def renyi_to_approximate(guarantee: Guarantee[Renyi, R, U], delta: Delta) -> Guarantee[Approximate, R, U]:
    """The smallest ε at δ that follows from one order.

    Raises:
        InvalidValue: for δ = 0 where τ > 0: no ε follows.
    """
    bound, level = guarantee.bound, _enclosed(guarantee, delta)
    epsilon = epsilon_at_order(bound.order, bound.tau, level)
    return RENYI_TO_APPROXIMATE.conclude(guarantee, Approximate(epsilon, level))


def renyi_to_approximate_at(guarantee: Guarantee[Renyi, R, U], epsilon: Epsilon) -> Guarantee[Approximate, R, U]:
    """The smallest δ at ε that follows from one order."""
    bound = guarantee.bound
    level = Enclosure.of(epsilon.value, precision=bound.tau.precision)
    return RENYI_TO_APPROXIMATE.conclude(guarantee, Approximate(level, delta_at_order(bound.order, bound.tau, level)))


def renyi_to_approximate_by_lemma_2_5(guarantee: Guarantee[Renyi, R, U], delta: Delta) -> Guarantee[Approximate, R, U]:
    """(ε, δ) by DPIS Equation 2 as printed: never smaller than by `renyi_to_approximate`.

    Raises:
        InvalidValue: for δ = 0.
    """
    bound, level = guarantee.bound, _enclosed(guarantee, delta)
    return LEMMA_2_5.conclude(guarantee, Approximate(lemma_2_5(bound.order, bound.tau, level), level))


def _enclosed(guarantee: Guarantee[Renyi, R, U], delta: Delta) -> Enclosure:
    return Enclosure.of(delta.value, precision=guarantee.bound.tau.precision)
