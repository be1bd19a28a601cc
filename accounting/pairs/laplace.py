"""Two Laplace distributions."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import non_negative, order_above_one
from ..enclosures.monotone import increasing
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import laplace_cells
from ..relations import Direction
from .estimates import mean_of_two
from .laws import DeltaLaw, LossCells, PureLaw, RenyiEstimate, RenyiLaw
from .pair import Pair
from .randomised_response import RandomisedResponsePair


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

    Raises:
        InvalidValue: for a shift that reaches below 0. InvalidType: for anything but an enclosure.
    """

    shift: Enclosure

    def __attrs_post_init__(self) -> None:
        non_negative("shift", self.shift)

    @property
    def pure(self) -> PureLaw:
        """Pure ε of the Laplace pair, in both directions: ε = shift."""
        return self._pure

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε) = 1 − e^{(ε − shift)/2} for ε ≤ shift, 0 beyond."""
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: x → shift − x does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) = log(α/(2α − 1)·e^{(α−1)s} + (α − 1)/(2α − 1)·e^{−αs})/(α − 1), s being the shift."""
        return self._renyi

    @property
    def renyi_estimate(self) -> RenyiEstimate:
        """A quick estimate of τ(α): its closed form in binary64."""
        shift = self.shift.upper_float

        def estimate(order: float, direction: Direction) -> float:
            return mean_of_two(order / (2 * order - 1), (order - 1) * shift, -order * shift) / (order - 1)

        return estimate

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ = s − 1 + e^−s, which τ(α)/α approaches for α → 1 and never exceeds.

        With u = α − ½, (α − 1)τ(α) = log f(u²) − log f(¼) for f(u²) = cosh(us) + sinh(us)/(2u), an entire function of
        order ½ in v = u². Where f(−y²) = 0, φ(x) = sin(yx)/y solves −φ'' = y²φ on [0, s] with φ(0) = 0 and
        φ'(s) = −½φ(s), a self-adjoint problem with a positive form, so y² > 0: all zeros of f are negative. By
        Hadamard's product, log f is a sum of the concave functions log(1 + v/y²), so (α − 1)τ(α) is at most
        (v − ¼) = α(α − 1) times its slope in v at ¼, where that is the Kullback-Leibler divergence.
        """
        return increasing(lambda s: s + (-s).expm1(), self.shift).maximum(0)

    @property
    def gaussian(self) -> Enclosure:
        """μ of Gaussian DP: that of randomised response with the same ε."""
        return RandomisedResponsePair(self.shift).gaussian

    @property
    def loss_cells(self) -> LossCells:
        """Atoms at both ends, and a density between them."""
        return self._cells

    def _cells(self, direction: Direction) -> Cells:
        return laplace_cells(self.shift, direction)

    def _pure(self, direction: Direction) -> Enclosure:
        return self.shift

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        return -((non_negative("epsilon", epsilon) - self.shift).minimum(0) * Fraction(1, 2)).expm1()

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        alpha = order_above_one(order)
        above = alpha - 1
        towards, away = alpha / (2 * alpha - 1), above / (2 * alpha - 1)

        def at(shift: Enclosure) -> Enclosure:
            if (shift * above).greater(1) is Truth.TRUE:  # e^{(α−1)s} is taken out: it may be beyond any exponent
                return shift + ((shift * (1 - 2 * alpha)).exp() * away + towards).log() / above
            return ((shift * above).expm1() * towards + (shift * -alpha).expm1() * away).log1p() / above

        return increasing(at, self.shift).maximum(0)
