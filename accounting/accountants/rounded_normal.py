"""Through rounded normal noise: discrete Gaussian noise is compared with it, in any dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import TypeAlias, final

from attrs import frozen

from ..derivation import Theorem
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..notions import APPROXIMATE
from ..pairs.rounded_normal import RoundedNormal, compared
from .accountant import Accountant, Finding
from .loss_distribution import LOSS_DISTRIBUTION
from .worst_pairs import Bounds, WorstPairs, largest

LOG_SHARE = -12 * math.log(2)
"""The logarithm of the share of δ for the noise that lies farther out than is compared."""
_Bound: TypeAlias = Callable[[RoundedNormal], Enclosure | None]
_COMPARISON = Theorem("discrete Gaussian noise", "comparison with rounded normal noise")


@final
@frozen
class RoundedNormalAccountant(Accountant):
    """δ(ε) of the same run with rounded normal noise, and what discrete Gaussian noise may add to it.

    It adds about n/12σ² to ε for n coordinates and σ in steps of the lattice, so it is for fine lattices.
    """

    name = "rounded-normal"
    theorems = (_COMPARISON, *LOSS_DISTRIBUTION.theorems)

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None for δ = 0, and where no discrete Gaussian noise is compared."""
        if delta.lower <= 0:
            return None
        return self._worst(pairs, lambda run: _epsilon(run, delta))

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where no discrete Gaussian noise is compared, and for an ε that it uses up."""
        return self._worst(pairs, lambda run: _delta(run, epsilon))

    def _worst(self, pairs: WorstPairs, bound: _Bound) -> Finding | None:
        found = []
        for pair in dict.fromkeys(pairs.bounding):
            run = compared(pair)
            value = bound(run) if run.noises else None
            if value is None:
                return None
            found.append(value)
        return Finding(Bounds(largest(found).hull(0), two_sided=False), APPROXIMATE, self.theorems, self)


ROUNDED_NORMAL = RoundedNormalAccountant()


@final
@frozen
class _Margin:
    """What discrete noise may add: e^raised to probabilities, raised + lowered to ε, and beyond to δ at last."""

    raised: Enclosure
    lowered: Enclosure
    beyond: Enclosure

    @classmethod
    def at(cls, run: RoundedNormal, delta: Enclosure) -> _Margin:
        """What it adds where a share of this δ is left for noise that lies too far out."""
        share = delta.log().lower_float + LOG_SHARE - math.log(len(run.noises))
        spreads = [noise.spread_for(share) for noise in run.noises]
        terms = [
            (noise.raised, noise.lowered(spread), noise.beyond(spread))
            for noise, spread in zip(run.noises, spreads, strict=True)
        ]
        raised, lowered, beyond = (_sum(column) for column in zip(*terms, strict=True))
        return cls(raised, lowered, beyond * raised.exp())


def _epsilon(run: RoundedNormal, delta: Enclosure) -> Enclosure | None:
    margin = _Margin.at(run, delta)
    level = (delta - margin.beyond) * (-margin.raised).exp()
    if level.lower <= 0:
        return None
    try:
        found = [run.pair.smallest_epsilon(level, direction) for direction in run.pair.directions]
    except InvalidValue:  # an infinite loss, with more probability than δ
        return None
    known = [epsilon for epsilon in found if epsilon is not None]
    return largest(known) + margin.raised + margin.lowered if len(known) == len(found) else None


def _delta(run: RoundedNormal, epsilon: Enclosure) -> Enclosure | None:
    law = run.pair.delta
    if law is None:
        return None

    def largest_at(level: Enclosure) -> Enclosure:
        return largest(law(level, direction) for direction in run.pair.directions)

    near = largest_at(epsilon)
    if near.lower <= 0:  # too small to be told from 0
        return None
    margin = _Margin.at(run, near)
    level = epsilon - margin.raised - margin.lowered
    if level.lower < 0:
        return None
    return (largest_at(level) * margin.raised.exp() + margin.beyond).minimum(1)


def _sum(values: Iterable[Enclosure]) -> Enclosure:
    return reduce(add, values)
