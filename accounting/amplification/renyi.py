"""Amplification by Poisson sampling in the Rényi notion, for any pair.

Legend: P and Q are the laws with the record drawn for certain and without it, M = (1 − q)Q + qP the sampled law, τ_k
the pair's divergence of order k, A(α) = (α − 1)·τ(α) the log-moment.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import TypeAlias

from ..directions import Direction
from ..enclosures import Enclosure
from ..enclosures.monotone import increasing

_Renyi: TypeAlias = Callable[[Fraction, Direction], Enclosure]


def renyi_after_sampling(renyi: _Renyi, rate: Enclosure, order: Fraction, direction: Direction) -> Enclosure:
    """The Rényi divergence of order α of the sampled pair.

    REMOVE, integer α: E_Q[(1 + q(P/Q − 1))^α] = Σ_k C(α, k)(1 − q)^{α−k}q^k·e^{(k−1)τ_k}, exactly. Between integers A
    is convex, so a chord bounds it from above, and τ grows with α, which bounds it from below (van Erven,
    Harremoës 2014, Theorem 3 and Corollary 2). ADD, any α: E_Q[(Q/M)^{α−1}] is convex in M, so it is at most
    1 − q + q·e^{(α−1)τ_α}; only an upper bound. Both grow with q.

    Args:
        renyi: the pair's own law.
        rate: q in [0, 1].
        order: α > 1.
        direction: which of the two.
    """
    if direction is Direction.ADD:
        return increasing(lambda q: _add(renyi, q, order), rate).hull(0)
    below = floor(order)
    if below == order:
        return increasing(lambda q: _moment(renyi, q, below), rate) / (order - 1)
    low = increasing(lambda q: _moment(renyi, q, below), rate)
    high = increasing(lambda q: _moment(renyi, q, below + 1), rate)
    share = order - below
    chord = (low * (1 - share) + high * share) / (order - 1)
    least = low / (below - 1) if below > 1 else low
    return chord.hull(least)


def _add(renyi: _Renyi, rate: Enclosure, order: Fraction) -> Enclosure:
    return (rate * (renyi(order, Direction.ADD) * (order - 1)).expm1()).log1p() / (order - 1)


def _moment(renyi: _Renyi, rate: Enclosure, order: int) -> Enclosure:
    """A(α) for REMOVE at an integer α ≥ 1: every term of the sum in excess of 1 is non-negative."""
    zero = Enclosure.of(0, precision=rate.precision)
    if order == 1 or rate.upper == 0:
        return zero
    if rate.lower == 1:
        return renyi(Fraction(order), Direction.REMOVE) * (order - 1)
    left_out = 1 - rate
    odds = rate / left_out
    term = left_out.power(order) * odds * order  # C(α, k)(1 − q)^{α−k}q^k, at k = 1
    excess = zero
    for k in range(2, order + 1):
        term = term * odds * Fraction(order - k + 1, k)
        excess = excess + term * (renyi(Fraction(k), Direction.REMOVE) * (k - 1)).expm1()
    return excess.log1p()
