"""Basic composition: sums of ε and of δ."""

from __future__ import annotations

from typing import final

from attrs import frozen

from ..conversions import PURE_TO_APPROXIMATE
from ..enclosures import Enclosure, Truth
from ..notions import PURE
from .accountant import Accountant, Finding
from .worst_pairs import Bounds, WorstPairs, pure


@final
@frozen
class BasicAccountant(Accountant):
    """Sums of ε and of δ."""

    name = "basic"
    theorems = (PURE.composition_theorem, PURE_TO_APPROXIMATE.theorem)

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """None where a pair has no pure loss."""
        bound = pairs.worst(pure)
        if bound is None:
            return None
        if delta.upper == 0:
            return Finding(bound, PURE, self.theorems[:1], self)
        return Finding(Bounds(bound.enclosure, two_sided=False), PURE, self.theorems, self)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """None where a pair has no pure loss, and where ε does not cover it."""
        bound = pairs.worst(pure)
        if bound is None or bound.enclosure.less_equal(epsilon) is not Truth.TRUE:
            return None
        return Finding(Bounds(Enclosure.of(0, precision=epsilon.precision), two_sided=True), PURE, self.theorems, self)


BASIC = BasicAccountant()
