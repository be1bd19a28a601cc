"""Mechanisms whose privacy losses lie in an interval of a known length, such as the exponential mechanism."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one
from ..enclosures.corners import between_corners
from ..enclosures.monotone import increasing
from ..relations import Direction
from . import response
from .density import DensityPair
from .pair import Pair
from .randomised_response import RandomisedResponsePair

_LEAST, _MOST = Fraction(1, 2**30), 600


@lru_cache(maxsize=256)
def bounded_range_pair(epsilon: Enclosure) -> Pair:
    """Laws that bound every mechanism whose log ratios log(P/Q) lie in some interval [t − ε, t], 0 ≤ t ≤ ε.

    With it, δ(ε') = (1 − e^{(ε' − ε)/2})²/(1 − e^{−ε}) for ε' ≤ ε, the largest over t and that of one pair of laws, and
    τ(α) ≤ αε²/8 (Dong, Durfee, Rogers 2020; Cesar, Rogers 2021; `docs/soundness_selection.md`). The interval need not
    be the same for all neighbours. Where ε is below 2^-30 or above 600, randomised response stands for it.

    Args:
        epsilon: the length ε ≥ 0 of the interval, which bounds the pure loss.

    Raises:
        InvalidValue: for a length that reaches below 0. InvalidType: for anything but an enclosure.
    """
    if not _LEAST <= non_negative("epsilon", epsilon).upper <= _MOST:
        return RandomisedResponsePair(epsilon)

    def delta(level: Enclosure, direction: Direction) -> Enclosure:
        return between_corners(_delta, rising=epsilon, falling=level).minimum(1)

    def renyi(order: Fraction, direction: Direction) -> Enclosure:
        return _renyi(epsilon, order_above_one(order))

    return DensityPair(
        pure_law=lambda direction: epsilon,
        delta_law=delta,
        renyi_law=renyi,
        rho=epsilon.square() * Fraction(1, 8),
        mu=response.gaussian(epsilon),
    )


def _delta(own: Enclosure, level: Enclosure) -> Enclosure:
    if own.upper == 0:
        return own
    return ((level - own) * Fraction(1, 2)).minimum(0).expm1().square() / -(-own).expm1()


def _renyi(epsilon: Enclosure, order: Fraction) -> Enclosure:
    """The smaller of αε²/8 and the τ of the pair with that δ, log(sinh((α − ½)ε)/((2α − 1)·sinh(ε/2)))/(α − 1)."""
    twice = 2 * order - 1

    def of_pair(own: Enclosure) -> Enclosure:
        if own.upper == 0:
            return own
        ratio = (own * -twice).expm1() / ((-own).expm1() * twice)
        return own + ratio.log() / (order - 1)

    of_range = epsilon.square() * (order / 8)
    return of_range.minimum(increasing(of_pair, epsilon).maximum(0)).hull(0)
