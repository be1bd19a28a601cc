"""Randomised response: the pair that dominates every ε-DP mechanism."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import final

from attrs import frozen

from ..enclosures import Enclosure, Truth, binomial_tail
from ..enclosures.arguments import non_negative, whole
from ..enclosures.corners import between_corners
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import response_cells
from ..relations import Direction
from . import response
from .falling_sums import with_falling_terms
from .laws import DeltaLaw, LossCells, PureLaw, RenyiEstimate, RenyiLaw
from .loss_distribution import composed_delta, composed_epsilon
from .pair import Pair, Repeated

_MOST_SUMMED = 100_000
_MOST_LIES = 10


@final
@frozen
class RandomisedResponsePair(Pair):
    """P = (p, 1 − p) and Q = (1 − p, p) with p = e^ε/(1 + e^ε): the same in both directions.

    Every pair that is ε-indistinguishable arises from it by post-processing (Kairouz, Oh, Viswanath 2015), so each
    law here holds for every ε-DP mechanism and is attained by this one.

    Attributes:
        epsilon: the pure loss; at least 0.

    Raises:
        InvalidValue: for a loss that reaches below 0. InvalidType: for anything but an enclosure.
    """

    epsilon: Enclosure

    def __attrs_post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)

    @property
    def pure(self) -> PureLaw:
        """Pure ε of randomised response, in both directions: the ε it is made with."""
        return self._pure

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε') = (e^ε − e^ε')/(1 + e^ε) for ε' ≤ ε, 0 beyond."""
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: swapping the two outputs does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) = log(p·e^{(α−1)ε} + (1 − p)·e^{−(α−1)ε})/(α − 1)."""
        return self._renyi

    @property
    def renyi_estimate(self) -> RenyiEstimate:
        """A quick estimate of τ(α): its closed form in binary64."""
        return response.renyi_estimate(self.epsilon)

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ of randomised response: ρ = ε·tanh(ε/2)."""
        return response.zero_concentrated(self.epsilon)

    @property
    def gaussian(self) -> Enclosure:
        """μ of randomised response in Gaussian DP: μ = 2Φ⁻¹(e^ε/(1 + e^ε))."""
        return response.gaussian(self.epsilon)

    @property
    def loss_cells(self) -> LossCells:
        """The privacy loss in cells: two atoms."""
        return self._cells

    def repeated(self, times: int) -> Pair:
        """Repeated randomised response, which has an exact δ."""
        return self if whole("times", times, 1) == 1 else RepeatedResponse(self.epsilon, times)

    def _cells(self, direction: Direction) -> Cells:
        return response_cells(self.epsilon, direction)

    def _pure(self, direction: Direction) -> Enclosure:
        return self.epsilon

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        def at(own: Enclosure, level: Enclosure) -> Enclosure:
            return -(level - own).minimum(0).expm1() / ((-own).exp() + 1)

        return between_corners(at, rising=self.epsilon, falling=non_negative("epsilon", epsilon))

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        return response.renyi(self.epsilon, order)


@final
@frozen
class RepeatedResponse(Pair):
    """Randomised response with loss ε, T times: it dominates every adaptive sequence of T mechanisms that are ε-DP.

    Attributes:
        epsilon: the pure loss of one; at least 0.
        times: T ≥ 1.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for anything but an enclosure and a whole number.
    """

    epsilon: Enclosure
    times: int

    def __attrs_post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        whole("times", self.times, 1)

    @property
    def pure(self) -> PureLaw:
        """Pure ε of T responses: T·ε."""
        return self._pure

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε') = Σ_k C(T, k)·p^k·(1 − p)^{T−k}·[1 − e^{ε' − (2k−T)ε}]₊ (Kairouz, Oh, Viswanath 2015, Theorem 3.3).

        p = e^ε/(1 + e^ε); of T responses, k tell the truth with this probability. It is a difference of two binomial
        tails.
        """
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: swapping the two outputs of each release does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) of T responses: T·τ(α)."""
        return self._renyi

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ of T responses: T·ρ."""
        return self._one.zero_concentrated * self.times

    @property
    def gaussian(self) -> Enclosure | None:
        """μ of T responses in Gaussian DP: √T·μ; None where one has none."""
        return Repeated(self._one, self.times).gaussian

    @property
    def releases(self) -> tuple[tuple[Pair, int], ...]:
        """The independent releases of the pair: T single responses."""
        return ((self._one, self.times),)

    def repeated(self, times: int) -> Pair:
        """Return the pair of T·T' responses."""
        return RepeatedResponse(self.epsilon, self.times * whole("times", times, 1))

    @property
    def _one(self) -> RandomisedResponsePair:
        return RandomisedResponsePair(self.epsilon)

    def _pure(self, direction: Direction) -> Enclosure:
        return self.epsilon * self.times

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        return self._one.renyi(order, direction) * self.times

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclose the smallest ε at δ from the sum, or the lattice, whichever `delta` comes from."""
        if self.times <= _MOST_SUMMED:
            return super().smallest_epsilon(delta, direction)
        return composed_epsilon(self.releases, delta, direction)

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        if self.times > _MOST_SUMMED:
            return composed_delta(self.releases, epsilon, direction)
        return between_corners(
            lambda own, level: _delta_at(own, level, self.times),
            rising=self.epsilon,
            falling=non_negative("epsilon", epsilon),
        ).minimum(1)


def _delta_at(own: Enclosure, level: Enclosure, times: int) -> Enclosure:
    """δ for a single ε and ε'."""
    zero = Enclosure.of(0, precision=own.precision)
    if own.upper == 0:
        return zero
    gain = (level / own + times) * Fraction(1, 2)  # up to so many truths a bracket is 0
    first = floor(gain.lower) + 1  # exact: rounding passes no whole number
    if first > times:
        return zero
    lies = times / (own.exp() + 1)  # expected ones
    composed = _tails if lies.greater(_MOST_LIES) is Truth.TRUE else _summed
    return composed(own, level, times, first)


def _tails(own: Enclosure, level: Enclosure, times: int, first: int) -> Enclosure:
    """P(X ≥ first) − e^ε'·Q(X ≥ first) over the number X of truths."""
    truth, lie = 1 / ((-own).exp() + 1), 1 / (own.exp() + 1)
    return binomial_tail(times, first, truth) - level.exp() * binomial_tail(times, first, lie)


def _summed(own: Enclosure, level: Enclosure, times: int, first: int) -> Enclosure:
    """The sum over k, from all truths down to the first: few lies are likely here."""

    def bracket(truths: int) -> Enclosure:
        return -(level - own * (2 * truths - times)).expm1()

    decay = (-own).exp()
    probability = (1 / (decay + 1)).power(times)
    downward = ((decay * Fraction(k, times - k + 1), bracket(k - 1)) for k in range(times, first, -1))
    return with_falling_terms(probability * bracket(times), probability, downward)
