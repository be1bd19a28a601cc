"""Through the hockey-stick divergence of the composed pairs: the privacy-loss distribution, from both sides."""

from __future__ import annotations

from typing import final

from attrs import frozen

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..notions import APPROXIMATE
from ..pairs import Pair
from .accountant import Accountant, Finding
from .worst_pairs import Bounds, WorstPairs, delta_at, largest, pure

_PAIRS = Theorem("law", "hockey-stick divergence of the dominating pairs")


@final
@frozen
class LossDistributionAccountant(Accountant):
    """δ(ε) of the composed pairs themselves: nothing is lost by a notion in between.

    Such a law belongs to the whole run: it is for plans that are fixed beforehand.
    """

    name = "loss-distribution"
    theorems = (_PAIRS,)
    lossless = True

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None where a pair has no law δ(ε), and where it is not proven to fall to δ."""
        if delta.lower <= 0:
            bound = pairs.worst(pure)
            if bound is not None and delta.upper > 0:  # a δ above 0 may need less
                bound = Bounds(bound.enclosure, two_sided=False)
            return None if bound is None else self._finding(bound)
        try:
            bound = pairs.worst(lambda pair: _epsilon(pair, delta))
        except InvalidValue:  # an infinite loss, with more probability than δ
            return None
        return None if bound is None else self._finding(bound)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a pair has no law δ(ε)."""
        bound = pairs.worst(delta_at(epsilon))
        return None if bound is None else self._finding(bound)

    def _finding(self, bounds: Bounds) -> Finding:
        return Finding(bounds, APPROXIMATE, self.theorems, self)


LOSS_DISTRIBUTION = LossDistributionAccountant()


def _epsilon(pair: Pair, delta: Enclosure) -> Enclosure | None:
    """The smallest ε of one pair in its worse direction."""
    found = [pair.smallest_epsilon(delta, direction) for direction in pair.directions]
    known = [epsilon for epsilon in found if epsilon is not None]
    return largest(known) if len(known) == len(found) else None
