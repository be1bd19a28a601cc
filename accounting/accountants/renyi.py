"""Through the Rényi curve: the order is searched continuously and proven once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias, final

from attrs import frozen

from ..conversions import (
    RENYI_TO_APPROXIMATE,
    RenyiConversion,
    best_order,
    best_order_at_epsilon,
    delta_at_order,
    epsilon_at_order,
)
from ..enclosures import Enclosure
from ..errors import OutsideDomain
from ..notions import RENYI as RENYI_NOTION
from ..pairs import Pair, RenyiLaw
from ..relations import Direction
from .accountant import Accountant, Finding
from .worst_pairs import Bounds, WorstPairs, largest

_Curve: TypeAlias = Callable[[Fraction], Enclosure]
_Search: TypeAlias = Callable[[_Curve], RenyiConversion]
_LARGEST_MOMENT = 2**60  # of (α − 1)ε, whose exponential the enclosures must hold
_At: TypeAlias = Callable[[Fraction, Enclosure], Enclosure]


@final
@frozen
class RenyiAccountant(Accountant):
    """Rényi losses of the releases add at each order; each direction is converted at an order of its own.

    Such a search looks at the whole run: it is for plans that are fixed beforehand.
    """

    name = "renyi"
    theorems = (RENYI_NOTION.composition_theorem, RENYI_TO_APPROXIMATE.theorem)

    def epsilon(self, pairs: WorstPairs, delta: Enclosure) -> Finding | None:
        """Bound ε at δ; None for δ = 0, where no ε follows, and where a pair has no Rényi curve."""
        if delta.lower <= 0:
            return None
        return self._best(
            pairs, lambda curve: best_order(curve, delta), lambda order, tau: epsilon_at_order(order, tau, delta)
        )

    def delta(self, pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
        """Bound δ at ε; None where a pair has no Rényi curve."""

        def search(curve: _Curve) -> RenyiConversion:
            def within_reach(order: Fraction) -> Enclosure:
                if (order - 1) * epsilon.upper > _LARGEST_MOMENT:
                    raise OutsideDomain(f"δ at order {float(order):.6g} is beyond what an enclosure holds")
                return curve(order)

            return best_order_at_epsilon(within_reach, epsilon)

        return self._best(pairs, search, lambda order, tau: delta_at_order(order, tau, epsilon))

    def _best(self, pairs: WorstPairs, search: _Search, at: _At) -> Finding | None:
        """The bound of the worse direction.

        Args:
            pairs: the run.
            search: finds a good order of a curve.
            at: the bound that an order and its τ prove.
        """
        laws = [law for pair in pairs.bounding if (law := pair.renyi) is not None]
        if len(laws) < len(pairs.bounding):
            return None

        def proven(order: Fraction, direction: Direction) -> Enclosure:
            return at(order, largest(law(order, direction) for law in laws))

        def best(direction: Direction) -> Fraction:
            return search(lambda order: largest(curve(order, direction) for curve in quick)).order

        quick = [_quick(pair, law) for pair, law in zip(pairs.bounding, laws, strict=True)]
        order = best(Direction.REMOVE)
        found = [(proven(order, direction), order) for direction in Direction]
        if found[1][0].upper > found[0][0].upper:  # at an order of its own the other direction may do better
            order = best(Direction.ADD)
            found[1] = min(found[1], (proven(order, Direction.ADD), order), key=_end)
        worse, order = max(found, key=_end)
        each = tuple(order for _, order in found)
        return Finding(Bounds(worse, two_sided=False), RENYI_NOTION, self.theorems, self, order, each)


RENYI = RenyiAccountant()


def _end(found: tuple[Enclosure, Fraction]) -> Fraction:
    return found[0].upper


def _quick(pair: Pair, law: RenyiLaw) -> RenyiLaw:
    """τ(α) for the search: an estimate where the pair has one."""
    estimate = pair.renyi_estimate
    if estimate is None:
        return law

    def estimated(order: Fraction, direction: Direction) -> Enclosure:
        near = float(order)
        value = estimate(near, direction) if near > 1 else math.nan  # the nearest number to 1 + 2^-54 is 1
        if not math.isfinite(value):
            raise OutsideDomain(f"the estimate of the divergence of order {near:.6g} is beyond binary64")
        return Enclosure.of(value)

    return estimated
