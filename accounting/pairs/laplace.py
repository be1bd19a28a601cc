"""Two Laplace distributions."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..directions import Direction
from ..enclosures import Enclosure
from ..enclosures.monotone import increasing
from .pair import DeltaLaw, Pair, PureLaw, RenyiLaw
from .randomised_response import RandomisedResponse


@final
@frozen
class LaplacePair(Pair):
    """P = Laplace(shift, 1), Q = Laplace(0, 1): the same in both directions.

    It dominates d-dimensional independent Laplace noise of scale β about two points at ℓ1 distance β·shift: with
    m(γ) = ∫ min(P, γQ), which is √γ·e^{−shift/2} for |log γ| ≤ shift, δ(ε) = 1 − m(e^ε). As
    ∫ min(P₁P₂, γ₁γ₂Q₁Q₂) ≥ m₁(γ₁)·m₂(γ₂), every split of γ shows that the product of pairs with the shifts s₁ and
    s₂ has an m of at least √γ·e^{−(s₁+s₂)/2}.

    Attributes:
        shift: distance of the centres in units of the scale; at least 0.
    """

    shift: Enclosure

    @property
    def pure(self) -> PureLaw:
        """ε = shift."""
        return self._pure

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε) = 1 − e^{(ε − shift)/2} for ε ≤ shift, 0 beyond."""
        return self._delta

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) = log(α/(2α − 1)·e^{(α−1)s} + (α − 1)/(2α − 1)·e^{−αs})/(α − 1), s being the shift."""
        return self._renyi

    @property
    def zero_concentrated(self) -> Enclosure:
        """That of randomised response with the same ε."""
        return RandomisedResponse(self.shift).zero_concentrated

    @property
    def gaussian(self) -> Enclosure:
        """That of randomised response with the same ε."""
        return RandomisedResponse(self.shift).gaussian

    def _pure(self, direction: Direction) -> Enclosure:
        return self.shift

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        return -((epsilon - self.shift).minimum(0) * Fraction(1, 2)).expm1()

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        towards, away = order / (2 * order - 1), (order - 1) / (2 * order - 1)

        def at(shift: Enclosure) -> Enclosure:
            excess = (shift * (order - 1)).expm1() * towards + (shift * -order).expm1() * away
            return excess.log1p() / (order - 1)

        return increasing(at, self.shift).maximum(0)
