"""A bare Rényi curve, for mechanisms that declare nothing else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import final

from attrs import field, frozen

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one
from ..relations import Direction
from .laws import RenyiLaw
from .pair import Pair


@final
@frozen(eq=False)
class RenyiCurve(Pair):
    """Some pair of which only τ(α) is known; it bounds both directions.

    Attributes:
        tau: τ at an order above 1; what it returns must be an enclosure of numbers ≥ 0.
        symmetric: whether the pair is known to be symmetric.
    """

    tau: Callable[[Fraction], Enclosure]
    _symmetric: bool = field(default=False, alias="symmetric")

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: as was stated with the curve."""
        return self._symmetric

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α), as a bound: the lower end is 0, for the true divergence may be smaller."""
        return self._renyi

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        return non_negative("tau", self.tau(order_above_one(order))).hull(0)
