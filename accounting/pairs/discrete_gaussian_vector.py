"""Discrete Gaussian noise in several coordinates, about a lattice vector of bounded length."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one, whole
from ..relations import Direction
from .discrete_gaussian import admissible_variance
from .laws import RenyiEstimate, RenyiLaw
from .pair import Pair


@final
@frozen
class DiscreteGaussianVectorPair(Pair):
    """Independent discrete Gaussian noise on ℤ^d, centred at a lattice vector no longer than `length`, and at 0.

    The larger the length, the larger every bound. What such noise says beside its Rényi curve follows from rounded
    normal noise: see `compared`.

    Attributes:
        variance: σ² in squared steps; a Fraction from 2**-32 to 2**128.
        length: ℓ2 norm of the vector, in steps; at least 0.
        dimension: d, a whole number ≥ 1; None where it is not known.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for other types.
    """

    variance: Fraction
    length: Enclosure
    dimension: int | None = None

    def __attrs_post_init__(self) -> None:
        admissible_variance(self.variance)
        non_negative("length", self.length)
        if self.dimension is not None:
            whole("dimension", self.dimension, 1)

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: reflection about half the vector does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) ≤ αk²/2σ², k being the length (Canonne, Kamath, Steinke 2020, Proposition 5): an upper bound."""
        return self._renyi

    @property
    def renyi_estimate(self) -> RenyiEstimate:
        """A quick estimate of that bound, in binary64."""
        rho = self.zero_concentrated.upper_float
        return lambda order, direction: rho * order

    @property
    def zero_concentrated(self) -> Enclosure:
        """The ρ of the curve: ρ = k²/2σ²."""
        return self.length.square() * (1 / (2 * self.variance))

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        return (self.zero_concentrated * order_above_one(order)).hull(0)
