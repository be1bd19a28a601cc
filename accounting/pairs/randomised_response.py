"""Randomised response: the pair that dominates every ε-DP mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, final

from attrs import frozen

from ..directions import Direction
from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import non_negative, order_above_one, whole
from ..enclosures.corners import between_corners
from ..enclosures.monotone import increasing
from .estimates import mean_of_two
from .pair import DeltaLaw, LossCells, Pair, PureLaw, RenyiEstimate, RenyiLaw

if TYPE_CHECKING:
    from ..loss_distribution.cells import Cells


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
        """ε itself."""
        return self._pure

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε') = (e^ε − e^ε')/(1 + e^ε) for ε' ≤ ε, 0 beyond."""
        return self._delta

    @property
    def symmetric(self) -> bool:
        """By swapping the two outputs."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) = log(p·e^{(α−1)ε} + (1 − p)·e^{−(α−1)ε})/(α − 1)."""
        return self._renyi

    @property
    def renyi_estimate(self) -> RenyiEstimate:
        """The same formula in binary64."""
        epsilon = self.epsilon.upper_float
        likely = 1 / (1 + math.exp(-epsilon))

        def estimate(order: float, direction: Direction) -> float:
            return mean_of_two(likely, (order - 1) * epsilon, (1 - order) * epsilon) / (order - 1)

        return estimate

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ = ε·tanh(ε/2), which τ(α)/α approaches for α → 1 and never exceeds.

        With u = α − ½, (α − 1)τ(α) = h(u) − h(½) for h(u) = log cosh(uε). As h'(u)/(2u) = ε·tanh(uε)/(2u) decreases,
        h is concave in u², so h(u) − h(½) ≤ (u² − ¼)·h'(½) = α(α − 1)·ε·tanh(ε/2).
        """
        return increasing(lambda e: e * -(-e).expm1() / ((-e).exp() + 1), self.epsilon)

    @property
    def gaussian(self) -> Enclosure:
        """μ = 2Φ⁻¹(e^ε/(1 + e^ε)): the Gaussian trade-off curve meets the kink of this pair's (Dong, Roth, Su 2022)."""
        from ..enclosures.normal import normal_upper_quantile

        return increasing(lambda e: normal_upper_quantile(1 / (e.exp() + 1)) * 2, self.epsilon).maximum(0)

    @property
    def loss_cells(self) -> LossCells:
        """Two atoms."""
        return self._cells

    def repeated(self, times: int) -> Pair:
        """Repeated randomised response, which has an exact δ."""
        from .repeated_response import RepeatedResponse

        return self if whole("times", times, 1) == 1 else RepeatedResponse(self.epsilon, times)

    def _cells(self, direction: Direction) -> Cells:
        from ..loss_distribution.families import response_cells

        return response_cells(self.epsilon, direction)

    def _pure(self, direction: Direction) -> Enclosure:
        return self.epsilon

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        def at(own: Enclosure, level: Enclosure) -> Enclosure:
            return -(level - own).minimum(0).expm1() / ((-own).exp() + 1)

        return between_corners(at, rising=self.epsilon, falling=non_negative("epsilon", epsilon))

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        above = order_above_one(order) - 1

        def at(epsilon: Enclosure) -> Enclosure:
            if (epsilon * above).greater(1) is Truth.TRUE:  # e^{(α−1)ε} is taken out: it may be beyond any exponent
                return epsilon + ((epsilon * (-2 * above - 1)).exp().log1p() - (-epsilon).exp().log1p()) / above
            likely = 1 / ((-epsilon).exp() + 1)
            return ((epsilon * above).expm1() * likely + (epsilon * -above).expm1() * (1 - likely)).log1p() / above

        return increasing(at, self.epsilon).maximum(0)
