"""The pair of the sampled Gaussian mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..amplification import delta_after_sampling
from ..arguments import non_negative, order_above_one, probability
from ..directions import Direction
from ..enclosures import Enclosure
from .gaussian import GaussianPair
from .pair import DeltaLaw, Pair, RenyiLaw


@final
@frozen
class SampledGaussian(Pair):
    """P = (1 − q)·N(0, 1) + q·N(shift, 1), Q = N(0, 1); its two directions differ.

    Attributes:
        shift: distance of the centres in standard deviations; at least 0.
        rate: q in [0, 1].

    Raises:
        InvalidValue: outside these ranges. InvalidType: for anything but enclosures.
    """

    shift: Enclosure
    rate: Enclosure

    def __attrs_post_init__(self) -> None:
        non_negative("shift", self.shift)
        probability("rate", self.rate)

    @property
    def delta(self) -> DeltaLaw:
        """Exact, in both directions, from that of the unsampled pair."""
        return self._delta

    @property
    def renyi(self) -> RenyiLaw:
        """Enclosed from both sides at every real order, in both directions."""
        return self._renyi

    @property
    def zero_concentrated(self) -> Enclosure:
        """That of the unsampled pair, s²/2, which dominates this one: far from the truth at small rates."""
        return GaussianPair(self.shift).zero_concentrated

    @property
    def gaussian(self) -> Enclosure:
        """That of the unsampled pair, s: no smaller μ holds at any rate above 0."""
        return self.shift

    def sampled(self, rate: Enclosure) -> Pair:
        """Sampling a sample multiplies the rates."""
        return SampledGaussian(self.shift, self.rate * probability("rate", rate))

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        return delta_after_sampling(GaussianPair(self.shift).delta, self.rate, epsilon, direction)

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        from ..sampled_gaussian import sampled_gaussian_renyi, sampled_gaussian_renyi_add

        law = sampled_gaussian_renyi if direction is Direction.REMOVE else sampled_gaussian_renyi_add
        precision = max(self.shift.precision, self.rate.precision)
        return law(self.rate, self.shift, order_above_one(order), precision=precision)
