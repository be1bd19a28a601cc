"""Through the hockey-stick divergence of the composed pairs: the privacy-loss distribution, from both sides."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import final

from attrs import evolve, frozen

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..loss_distribution.profile import Nearness
from ..notions import APPROXIMATE
from ..pairs import DeltaLaw as PairLaw
from ..pairs import Pair, RandomisedResponsePair
from ..relations import Direction
from .accountant import Accountant, Finding
from .trade_off import DeltaLaw
from .worst_pairs import Bounds, Law, WorstPairs, delta_at, largest, pure

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
        return self.by(pairs, lambda pair: _epsilon(pair, delta))

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a pair has no law δ(ε)."""
        return self.by(pairs, delta_at(epsilon))

    def by_direction(self, pair: Pair) -> Mapping[Direction, DeltaLaw] | None:
        """δ(ε) of one pair in each direction; None where it has no such law."""
        law = pair.delta
        return None if law is None else {direction: partial(_in_direction, law, direction) for direction in Direction}

    def along(self, nearness: Nearness) -> Accountant:
        """One that composes once for several ε."""
        return LossDistributionProfile(nearness)

    def by(self, pairs: WorstPairs, law: Law) -> Finding | None:
        """What follows from a law of δ or ε.

        It is the smaller of what the pairs lose and what the responses do that dominate those of unknown distribution.
        """
        pairs = pairs.joined
        dominating = WorstPairs(tuple(pair.replaced(_known) for pair in pairs.bounding), ())
        own, other = _worst(pairs, law), None
        if dominating.bounding != pairs.bounding:
            other = _worst(dominating, law)
        if own is None or other is None:
            bound = own or other
            return None if bound is None else self._finding(evolve(bound, sharp=bound is own and bound.sharp))
        if own.enclosure.upper <= other.enclosure.upper:
            return self._finding(own)
        lower = own.enclosure.lower if own.two_sided else other.enclosure.lower
        both = Enclosure.between(lower, other.enclosure.upper, precision=own.enclosure.precision)
        return self._finding(Bounds(both, two_sided=own.two_sided))

    def _finding(self, bounds: Bounds) -> Finding:
        return Finding(bounds, APPROXIMATE, self.theorems, self)


LOSS_DISTRIBUTION = LossDistributionAccountant()


@final
class LossDistributionProfile(Accountant):
    """The loss distribution of few runs, asked for δ at many ε: it keeps what it composed."""

    name = LossDistributionAccountant.name
    theorems = LossDistributionAccountant.theorems
    lossless = True

    def __init__(self, nearness: Nearness) -> None:
        """Begin with nothing composed."""
        self._nearness = nearness
        self._kept: dict[tuple[Pair, Direction], DeltaLaw | None] = {}

    def __reduce__(self) -> tuple[type[LossDistributionProfile], tuple[Nearness]]:
        """Pickled without what it composed."""
        return LossDistributionProfile, (self._nearness,)

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ, as `LOSS_DISTRIBUTION` does."""
        return LOSS_DISTRIBUTION.epsilon(pairs, delta)

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a pair has no law δ(ε)."""
        return LOSS_DISTRIBUTION.by(pairs, lambda pair: self._delta(pair, epsilon))

    def by_direction(self, pair: Pair) -> Mapping[Direction, DeltaLaw] | None:
        """δ(ε) of one pair in each direction, composed where it is asked for; None where it has no such law."""
        if pair.delta is None:
            return None
        return {direction: partial(self._at, pair, direction) for direction in Direction}

    def _at(self, pair: Pair, direction: Direction, epsilon: Enclosure) -> Enclosure:
        law = self._law(pair, direction)
        return Enclosure.between(0, 1) if law is None else law(epsilon)

    def _law(self, pair: Pair, direction: Direction) -> DeltaLaw | None:
        if (pair, direction) not in self._kept:
            self._kept[pair, direction] = pair.profile(direction, self._nearness)
        return self._kept[pair, direction]

    def _delta(self, pair: Pair, epsilon: Enclosure) -> Enclosure | None:
        laws = [self._law(pair, direction) for direction in pair.directions]
        known = [law(epsilon) for law in laws if law is not None]
        return largest(known) if len(known) == len(laws) else None


def _in_direction(law: PairLaw, direction: Direction, epsilon: Enclosure) -> Enclosure:
    return law(epsilon, direction)


def _worst(pairs: WorstPairs, law: Law) -> Bounds | None:
    try:
        return pairs.worst(law)
    except InvalidValue:  # an infinite loss, with more probability than δ
        return None


def _known(pair: Pair) -> Pair:
    """The pair, or the randomised response that dominates it where that alone has a known loss distribution."""
    if pair.loss_transform is not None or pair.loss_cells is not None:
        return pair
    most = pure(pair)
    return pair if most is None else RandomisedResponsePair(most)


def _epsilon(pair: Pair, delta: Enclosure) -> Enclosure | None:
    """The smallest ε of one pair in its worse direction; the other one is not asked where it is known to need less."""
    first, *others = pair.directions
    found = pair.smallest_epsilon(delta, first)
    for direction in others:
        if found is not None and not pair.is_enough(Enclosure.of(found.lower), delta, direction):
            other = pair.smallest_epsilon(delta, direction)
            found = None if other is None else found.maximum(other)
    return found
