"""Through the hockey-stick divergence of the composed pairs: the privacy-loss distribution, from both sides."""

from __future__ import annotations

from typing import final

from attrs import frozen

from ..conversions import smallest_epsilon
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

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """None where a pair has no law δ(ε), and where it is not proven to fall to δ."""
        if delta.lower <= 0:
            bound = pairs.worst(pure)
            return None if bound is None else self._finding(bound)
        if any(pair.delta is None for pair in pairs.bounding):
            return None
        try:
            most = largest(_epsilon(pair, delta) for pair in pairs.bounding)
        except InvalidValue:  # an infinite loss, with more probability than δ
            return None
        if not pairs.reached or any(pair.delta is None for pair in pairs.reached):
            return self._finding(Bounds(most, two_sided=False))
        lower = min(largest(_epsilon(pair, delta) for pair in pairs.reached).lower, most.upper)
        return self._finding(Bounds(Enclosure.between(lower, most.upper, precision=most.precision), two_sided=True))

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """None where a pair has no law δ(ε)."""
        bound = pairs.worst(delta_at(epsilon))
        return None if bound is None else self._finding(bound)

    def _finding(self, bounds: Bounds) -> Finding:
        return Finding(bounds, APPROXIMATE, self.theorems, self)


LOSS_DISTRIBUTION = LossDistributionAccountant()


def _epsilon(pair: Pair, delta: Enclosure) -> Enclosure:
    """The smallest ε of one pair; the law of the worse direction is inverted."""

    def worse(epsilon: Enclosure) -> Enclosure:
        value = delta_at(epsilon)(pair)
        assert value is not None
        return value

    return smallest_epsilon(worse, delta)
