"""Amplification by Poisson sampling in the Rényi notion, for any pair.

Legend: P and Q are the laws with the record drawn for certain and without it, M = (1 − q)Q + qP the sampled law, τ_k
the pair's divergence of order k, A(α) = (α − 1)·τ(α) the log-moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor
from typing import TypeAlias

from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import order_above_one, probability
from ..enclosures.corners import between_low_and_high
from ..enclosures.monotone import increasing
from ..relations import Direction

_Renyi: TypeAlias = Callable[[Fraction, Direction], Enclosure]

_HIGHEST_SUMMED = 4096
_LARGEST_EXPONENT = 2**60


def renyi_after_sampling(renyi: _Renyi, rate: Enclosure, order: Fraction, direction: Direction) -> Enclosure:
    """The Rényi divergence of order α of the sampled pair.

    REMOVE, integer α: E_Q[(1 + q(P/Q − 1))^α] = Σ_k C(α, k)(1 − q)^{α−k}q^k·e^{(k−1)τ_k}, exactly. Between integers A
    is convex, so a chord bounds it from above, and τ grows with α, which bounds it from below (van Erven,
    Harremoës 2014, Theorem 3 and Corollary 2).

    Both directions, any α: the moment is convex in q, so it is at most 1 − q + q·e^{(α−1)τ_α}; only an upper bound.
    For ADD it is E_Q[(Q/M)^{α−1}], for REMOVE E_Q[(M/Q)^α], which is also at least q^α·e^{(α−1)τ_α}: these two ends
    are what is left above order 4096 and where a moment reaches e^(2**60).

    ADD, any α: with x = q(P/Q − 1) ≥ −q the moment is E_Q[f(x)] for f(x) = (1 + x)^{1−α}, where E_Q[x] = 0 and
    E_Q[x²] ≤ q²·c, c = e^{τ_2} − 1 with τ_2 of P from Q. The parabola through f at −q, and through f and f' at q·c,
    is convex and nowhere below f, whose third derivative is negative. So the moment is at most that of a law with
    these two outcomes, (1 − e^{−τ_2})·(1 − q)^{1−α} + e^{−τ_2}·(1 + q·c)^{1−α}: of second order in q, as REMOVE is,
    and reached by P = (1, 0) and Q = (e^{−τ_2}, 1 − e^{−τ_2}).

    Both grow with q: less sampling is post-processing of more.

    Args:
        renyi: the pair's own law.
        rate: q in [0, 1].
        order: α > 1.
        direction: which of the two.

    Raises:
        InvalidValue: outside these ranges.
    """
    probability("rate", rate)
    order = order_above_one(order)
    if rate.upper == 0:
        return rate
    if rate.lower == 1:
        return renyi(order, direction)
    moment = renyi(order, direction) * (order - 1)
    most = between_low_and_high(_mixed, moment, rate) / (order - 1)
    if direction is Direction.ADD:
        two_outcomes = _two_outcomes(renyi(Fraction(2), Direction.REMOVE), rate, order)
        return (most if two_outcomes is None else most.minimum(two_outcomes / (order - 1))).hull(0)
    if order > _HIGHEST_SUMMED or moment.less(_LARGEST_EXPONENT) is not Truth.TRUE:
        certain = between_low_and_high(lambda a, q: _certain(a, q, order), moment, rate)
        return most.hull((certain / (order - 1)).minimum(most))
    return _between_integers(renyi, rate, order, most)


def _mixed(moment: Enclosure, rate: Enclosure) -> Enclosure:
    """log(1 − q + q·e^A) for single numbers, without overflow."""
    if rate.upper == 0:
        return rate
    if moment.less(_LARGEST_EXPONENT) is Truth.TRUE:
        return (rate * moment.expm1()).log1p()
    return moment + (rate + (1 - rate) * (-moment).exp()).log()


def _two_outcomes(tau: Enclosure, rate: Enclosure, order: Fraction) -> Enclosure | None:
    """The log-moment for ADD of two outcomes, at the largest τ_2 and rate: it grows with both. None at rate 1."""
    q, tau = (Enclosure.of(known.upper, precision=rate.precision) for known in (rate, tau))
    if q.upper == 1:
        return None
    absent = (-q).log1p()
    if (
        tau.less(_LARGEST_EXPONENT) is not Truth.TRUE
        or (absent * (1 - order)).less(_LARGEST_EXPONENT) is not Truth.TRUE
    ):
        return absent * (1 - order)
    spread, kept = tau.expm1(), (-tau).exp()
    excess = (1 - kept) * (absent * (1 - order)).expm1() + kept * ((q * spread).log1p() * (1 - order)).expm1()
    # where both terms cancel, the largest second derivative of f says more
    steepest = q.square() * spread * (order * (order - 1) / 2) * (absent * (-1 - order)).exp()
    return excess.minimum(steepest).maximum(0).log1p()


def _certain(moment: Enclosure, rate: Enclosure, order: Fraction) -> Enclosure:
    """The logarithm of the part of the moment that has the record in all α factors, at least 0."""
    return rate if rate.upper == 0 else (moment + rate.log() * order).maximum(0)


def _between_integers(renyi: _Renyi, rate: Enclosure, order: Fraction, most: Enclosure) -> Enclosure:
    below = floor(order)
    above = below if below == order else below + 1
    moments = [renyi(Fraction(k), Direction.REMOVE) * (k - 1) for k in range(2, above + 1)]
    if any(moment.less(_LARGEST_EXPONENT) is not Truth.TRUE for moment in moments):
        return most.hull(0)
    excesses = [moment.expm1() for moment in moments]

    def log_moment(whole: int) -> Enclosure:
        return increasing(lambda q: _binomial(excesses, q, whole), rate)

    if below == order:
        return log_moment(below) / (order - 1)
    low, high = log_moment(below), log_moment(above)
    share = order - below
    chord = (low * (1 - share) + high * share) / (order - 1)
    least = low / (below - 1) if below > 1 else low
    return chord.minimum(most).hull(least)


def _binomial(excesses: list[Enclosure], rate: Enclosure, order: int) -> Enclosure:
    """A(α) for REMOVE at an integer α ≥ 1: the sum's excess over 1 has no negative term.

    Args:
        excesses: e^{(k−1)τ_k} − 1 for k = 2, 3, …, at least up to α.
        rate: a single q.
        order: α.
    """
    zero = Enclosure.of(0, precision=rate.precision)
    if order == 1 or rate.upper == 0:
        return zero
    if rate.lower == 1:
        return excesses[order - 2].log1p()
    weights = _weights(rate, order)
    return sum((weight * excess for weight, excess in zip(weights, excesses, strict=False)), zero).log1p()


def _weights(rate: Enclosure, order: int) -> Iterator[Enclosure]:
    """C(α, k)(1 − q)^{α−k}q^k for k = 2, …, α."""
    left_out = 1 - rate
    odds = rate / left_out
    weight = left_out.power(order) * odds * order
    for k in range(2, order + 1):
        weight = weight * odds * Fraction(order - k + 1, k)
        yield weight
