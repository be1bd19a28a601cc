"""From the pairs of a run to one number: the smallest ε at δ, the smallest δ at ε, or the loss in one notion.

Each notion in which a bound follows is asked, and the smallest answer wins. The two directions are evaluated apart
and the maximum is taken last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import frozen

from .conversions import (
    GAUSSIAN_TO_APPROXIMATE,
    PURE_TO_APPROXIMATE,
    RENYI_TO_APPROXIMATE,
    RenyiConversion,
    best_order,
    best_order_at_epsilon,
    delta_at_order,
    delta_of_mu,
    epsilon_at_order,
    epsilon_of_mu,
    smallest_epsilon,
)
from .derivation import Theorem
from .directions import Direction
from .enclosures import Enclosure, Truth
from .errors import OutsideDomain
from .notions import APPROXIMATE, GAUSSIAN_DP, PURE, RENYI, Notion
from .pairs import Pair, RenyiLaw

Law: TypeAlias = Callable[[Pair], Enclosure | None]
"""What a pair loses, the worse direction; None where the pair does not say."""

_PAIRS = Theorem("law", "hockey-stick divergence of the dominating pairs")
_THROUGH_PURE = (PURE.composition_theorem, PURE_TO_APPROXIMATE.theorem)
_THROUGH_GAUSSIAN = (GAUSSIAN_DP.composition_theorem, GAUSSIAN_TO_APPROXIMATE.theorem)
_THROUGH_RENYI = (RENYI.composition_theorem, RENYI_TO_APPROXIMATE.theorem)


@final
@frozen
class Bounds:
    """Proven bounds of one number.

    Attributes:
        enclosure: its upper end is proven.
        two_sided: whether its lower end is, too.
    """

    enclosure: Enclosure
    two_sided: bool


@final
@frozen
class Finding:
    """A bound, and how it was found.

    Attributes:
        bounds: of ε or δ.
        notion: the one in which the releases were composed.
        theorems: what it rests on: composition first, then conversion.
        order: the Rényi order used, or None.
    """

    bounds: Bounds
    notion: Notion[Any]
    theorems: tuple[Theorem, ...]
    order: Fraction | None = None


@final
@frozen
class WorstPairs:
    """The pairs of a whole run about its worst records.

    Attributes:
        bounding: every record is dominated by one of these; at least one.
        reached: each is dominated by some record, so their losses are lower bounds.
    """

    bounding: tuple[Pair, ...]
    reached: tuple[Pair, ...]

    def worst(self, law: Law) -> Bounds | None:
        """The largest loss; None where some pair does not say."""
        values = [law(pair) for pair in self.bounding]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        most = _largest(known)
        least = [value for value in map(law, self.reached) if value is not None]
        if not least:
            return Bounds(most, two_sided=False)
        lower = min(_largest(least).lower, most.upper)
        return Bounds(Enclosure.between(lower, most.upper, precision=most.precision), two_sided=True)


def pure(pair: Pair) -> Enclosure | None:
    """ε."""
    law = pair.pure
    return None if law is None else _largest([law(direction) for direction in Direction])


def delta_at(epsilon: Enclosure) -> Law:
    """δ(ε)."""

    def worst(pair: Pair) -> Enclosure | None:
        law = pair.delta
        return None if law is None else _largest([law(epsilon, direction) for direction in Direction])

    return worst


def renyi_at(order: Fraction) -> Law:
    """τ(α)."""

    def worst(pair: Pair) -> Enclosure | None:
        law = pair.renyi
        return None if law is None else _largest([law(order, direction) for direction in Direction])

    return worst


def zero_concentrated(pair: Pair) -> Enclosure | None:
    """ρ."""
    return pair.zero_concentrated


def gaussian(pair: Pair) -> Enclosure | None:
    """μ."""
    return pair.gaussian


def epsilon_at(pairs: WorstPairs, delta: Enclosure) -> Finding | None:
    """The smallest proven ε at δ; None where nothing finite follows.

    Where every pair has a law δ(ε), it is inverted from both sides. Otherwise the smallest of the bounds through the
    pure, the Gaussian and the Rényi notion.
    """
    return min(_epsilons(pairs, delta), key=_upper, default=None)


def delta_of(pairs: WorstPairs, epsilon: Enclosure) -> Finding | None:
    """The smallest proven δ at ε, by the same ways; None where nothing follows."""
    return min(_deltas(pairs, epsilon), key=_upper, default=None)


def _epsilons(pairs: WorstPairs, delta: Enclosure) -> Iterator[Finding]:
    bound = pairs.worst(pure)
    if delta.upper == 0:
        if bound is not None:
            yield Finding(bound, PURE, (PURE.composition_theorem,))
        return
    if all(pair.delta is not None for pair in pairs.bounding):
        yield Finding(_inverted(pairs, delta), APPROXIMATE, (_PAIRS,))
        return
    if bound is not None:
        yield Finding(Bounds(bound.enclosure, two_sided=False), PURE, _THROUGH_PURE)
    bound = pairs.worst(gaussian)
    if bound is not None:
        epsilon = epsilon_of_mu(bound.enclosure, delta)
        yield Finding(Bounds(epsilon, two_sided=False), GAUSSIAN_DP, _THROUGH_GAUSSIAN)
    yield from _by_order(
        pairs, lambda curve: best_order(curve, delta), lambda order, tau: epsilon_at_order(order, tau, delta)
    )


def _deltas(pairs: WorstPairs, epsilon: Enclosure) -> Iterator[Finding]:
    bound = pairs.worst(delta_at(epsilon))
    if bound is not None:
        yield Finding(bound, APPROXIMATE, (_PAIRS,))
        return
    bound = pairs.worst(pure)
    if bound is not None and bound.enclosure.less_equal(epsilon) is Truth.TRUE:
        zero = Enclosure.of(0, precision=epsilon.precision)
        yield Finding(Bounds(zero, two_sided=True), PURE, _THROUGH_PURE)
        return
    bound = pairs.worst(gaussian)
    if bound is not None:
        delta = delta_of_mu(bound.enclosure, epsilon)
        yield Finding(Bounds(delta, two_sided=False), GAUSSIAN_DP, _THROUGH_GAUSSIAN)
    yield from _by_order(
        pairs, lambda curve: best_order_at_epsilon(curve, epsilon), lambda a, tau: delta_at_order(a, tau, epsilon)
    )


def _inverted(pairs: WorstPairs, delta: Enclosure) -> Bounds:
    """Both ends of the smallest ε, from the pairs that bound and from those that are reached."""

    def over(some: tuple[Pair, ...]) -> Enclosure:
        def worst(epsilon: Enclosure) -> Enclosure:
            values = [delta_at(epsilon)(pair) for pair in some]
            return _largest([value for value in values if value is not None])

        return smallest_epsilon(worst, delta)

    most = over(pairs.bounding)
    if not pairs.reached or any(pair.delta is None for pair in pairs.reached):
        return Bounds(most, two_sided=False)
    lower = min(over(pairs.reached).lower, most.upper)
    return Bounds(Enclosure.between(lower, most.upper, precision=most.precision), two_sided=True)


_Curve: TypeAlias = Callable[[Fraction], Enclosure]
_Search: TypeAlias = Callable[[_Curve], RenyiConversion]
_At: TypeAlias = Callable[[Fraction, Enclosure], Enclosure]


def _by_order(pairs: WorstPairs, search: _Search, at: _At) -> Iterator[Finding]:
    """The bound through the Rényi curve, each direction at an order of its own; the worse direction counts.

    Args:
        pairs: the run.
        search: finds a good order of a curve.
        at: the bound that an order and its τ prove.
    """
    laws = [law for pair in pairs.bounding if (law := pair.renyi) is not None]
    if len(laws) < len(pairs.bounding):
        return

    def proven(order: Fraction, direction: Direction) -> Enclosure:
        return at(order, _largest([law(order, direction) for law in laws]))

    def best(direction: Direction) -> Fraction:
        return search(lambda order: _largest([curve(order, direction) for curve in quick])).order

    quick = [_quick(pair, law) for pair, law in zip(pairs.bounding, laws, strict=True)]
    order = best(Direction.REMOVE)
    found = [(proven(order, direction), order) for direction in Direction]
    if found[1][0].upper > found[0][0].upper:  # at an order of its own the other direction may do better
        order = best(Direction.ADD)
        found[1] = min(found[1], (proven(order, Direction.ADD), order), key=_end)
    worse, order = max(found, key=_end)
    yield Finding(Bounds(worse, two_sided=False), RENYI, _THROUGH_RENYI, order)


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


def _largest(values: list[Enclosure]) -> Enclosure:
    first, *others = values
    for other in others:
        first = first.maximum(other)
    return first


def _upper(finding: Finding) -> Fraction:
    return finding.bounds.enclosure.upper
