"""Amplification by Poisson sampling in the approximate notion: exact for any pair, in both directions.

Legend: P and Q are the laws with the record drawn for certain and without it, M = (1 − q)Q + qP the sampled law, and
δ(ε) the hockey-stick divergence of the pair. Balle, Barthe, Gaboardi 2018 (Theorem 2) for M from Q; the other
direction follows alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, probability
from ..enclosures.corners import between_corners
from ..relations import Direction

_Delta: TypeAlias = Callable[[Enclosure, Direction], Enclosure]


def delta_after_sampling(delta: _Delta, rate: Enclosure, epsilon: Enclosure, direction: Direction) -> Enclosure:
    """The hockey-stick divergence at e^ε' of the sampled pair.

    REMOVE: M − e^ε'Q = q(P − e^ε Q) with e^ε = 1 + (e^ε' − 1)/q, so δ' = q·δ(ε). ADD: Q − e^ε'M = q·e^ε'(yQ − P) with
    y = 1 − (1 − e^−ε')/q, so δ' = q·e^ε'·y·δ(−log y), and 0 where y ≤ 0. Both grow with q: less sampling is
    post-processing of more.

    Args:
        delta: the pair's own law.
        rate: q in [0, 1].
        epsilon: ε' ≥ 0.
        direction: which of the two.

    Raises:
        InvalidValue: outside these ranges. OutsideDomain: where ε' reaches 2**62.
    """
    amplify = _REMOVE_OR_ADD[direction]
    return between_corners(
        lambda q, e: amplify(delta, q, e),
        rising=probability("rate", rate),
        falling=non_negative("epsilon", epsilon),
    )


def _remove(delta: _Delta, rate: Enclosure, epsilon: Enclosure) -> Enclosure:
    if rate.upper == 0:
        return rate
    return rate * delta((epsilon.expm1() / rate).log1p(), Direction.REMOVE)


def _add(delta: _Delta, rate: Enclosure, epsilon: Enclosure) -> Enclosure:
    if rate.upper == 0:
        return rate
    missing = (-epsilon).expm1() / rate  # y − 1
    if missing.upper <= -1:
        return Enclosure.of(0, precision=rate.precision)
    if missing.lower > -1:
        return _from_odds(delta, rate, epsilon, missing)
    # y·δ(−log y) = sup_Y yQ(Y) − P(Y) grows with y, from 0 at y ≤ 0
    most = Enclosure.of(missing.upper, precision=missing.precision)
    return _from_odds(delta, rate, epsilon, most).hull(0)


def _from_odds(delta: _Delta, rate: Enclosure, epsilon: Enclosure, missing: Enclosure) -> Enclosure:
    return rate * epsilon.exp() * (missing + 1) * delta(-missing.log1p(), Direction.ADD)


_REMOVE_OR_ADD = {Direction.REMOVE: _remove, Direction.ADD: _add}
