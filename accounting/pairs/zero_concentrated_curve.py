"""A line as Rényi curve, for mechanisms of which only ρ is known."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import field, frozen

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one
from ..relations import Direction
from .laws import RenyiEstimate, RenyiLaw
from .pair import Pair


@final
@frozen
class ZeroConcentratedCurve(Pair):
    """Some pair of which only τ(α) ≤ ρα is known, in both directions.

    Attributes:
        rho: ρ; at least 0.
        symmetric: whether the pair is known to be symmetric.

    Raises:
        InvalidValue: for a ρ that reaches below 0. InvalidType: for anything but an enclosure.
    """

    rho: Enclosure
    _symmetric: bool = field(default=False, alias="symmetric")

    def __attrs_post_init__(self) -> None:
        non_negative("rho", self.rho)

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: as was stated with the curve."""
        return self._symmetric

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) ≤ ρα: an upper bound; the lower end is 0."""
        return self._renyi

    @property
    def renyi_estimate(self) -> RenyiEstimate:
        """A quick estimate of τ(α): ρα in binary64."""
        rho = self.rho.upper_float
        return lambda order, direction: rho * order

    @property
    def zero_concentrated(self) -> Enclosure:
        """The ρ that the curve τ(α) = ρα is made with."""
        return self.rho

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        return (self.rho * order_above_one(order)).hull(0)
