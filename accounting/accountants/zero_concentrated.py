"""Through zero-concentrated differential privacy."""

from __future__ import annotations

from typing import final

from attrs import frozen

from ..conversions import (
    RENYI_TO_APPROXIMATE,
    ZERO_CONCENTRATED_TO_RENYI,
    RenyiConversion,
    delta_of_rho,
    epsilon_of_rho,
)
from ..enclosures import Enclosure
from ..notions import ZERO_CONCENTRATED as ZERO_CONCENTRATED_NOTION
from .accountant import Accountant, Finding
from .worst_pairs import Bounds, WorstPairs, zero_concentrated


@final
@frozen
class ZeroConcentratedAccountant(Accountant):
    """The ρ of the releases add; the best of all orders of τ(α) = ρα converts."""

    name = "zcdp"
    theorems = (
        ZERO_CONCENTRATED_NOTION.composition_theorem,
        ZERO_CONCENTRATED_TO_RENYI.theorem,
        RENYI_TO_APPROXIMATE.theorem,
    )

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None for δ = 0, where no ε follows, and where a pair has no ρ."""
        bound = pairs.worst(zero_concentrated)
        if bound is None or delta.lower <= 0:
            return None
        found = epsilon_of_rho(bound.enclosure, delta)
        return self._finding(found.epsilon, found)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a pair has no ρ."""
        bound = pairs.worst(zero_concentrated)
        if bound is None:
            return None
        found = delta_of_rho(bound.enclosure, epsilon)
        return self._finding(found.delta, found)

    def _finding(self, value: Enclosure, found: RenyiConversion) -> Finding:
        return Finding(Bounds(value, two_sided=False), ZERO_CONCENTRATED_NOTION, self.theorems, self, found.order)


ZERO_CONCENTRATED = ZeroConcentratedAccountant()
