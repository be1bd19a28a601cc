"""The pairs of a whole run about its worst records, and what they lose in one notion.

The two directions are evaluated apart and the maximum is taken last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, final

from attrs import frozen

from ..enclosures import Enclosure
from ..pairs import Pair
from ..relations import Direction

Law: TypeAlias = Callable[[Pair], Enclosure | None]
"""What a pair loses, the worse direction; None where the pair does not say."""


@final
@frozen
class Bounds:
    """Proven bounds of one number.

    Attributes:
        enclosure: its upper end is proven.
        two_sided: whether its lower end is, too.
        sharp: whether the upper end is so near, relatively, to what the bounding pairs lose that nothing else is asked.
    """

    enclosure: Enclosure
    two_sided: bool
    sharp: bool = False


@final
@frozen
class WorstPairs:
    """The pairs of a whole run about its worst records.

    Attributes:
        bounding: every record is dominated by one of these; at least one.
        reached: each is dominated by some record, so their losses are lower bounds; or an envelope of such pairs.
    """

    bounding: tuple[Pair, ...]
    reached: tuple[Pair, ...]

    @property
    def joined(self) -> WorstPairs:
        """One pair in the place of two that are next to each other, so that both ends are asked of it at once."""
        if len(self.bounding) != 1 or len(self.reached) != 1:
            return self
        found = self.bounding[0].down_to(self.reached[0])
        return self if found is None else WorstPairs((found,), (found,))

    def worst(self, law: Law) -> Bounds | None:
        """The largest loss; None where some pair does not say."""
        found: dict[Pair, Enclosure] = {}
        for pair in dict.fromkeys(self.bounding):
            value = law(pair)
            if value is None:
                return None
            found[pair] = value
        most = largest(found.values())
        sharp = most.width <= max(pair.settled_within for pair in found) * most.upper
        # a pair that is reached, too, is asked once
        answers = (found[pair] if pair in found else law(pair) for pair in self.reached)
        least = [value for value in answers if value is not None]
        if not least:
            return Bounds(most, two_sided=False, sharp=sharp)
        lower = min(largest(least).lower, most.upper)
        return Bounds(Enclosure.between(lower, most.upper, precision=most.precision), two_sided=True, sharp=sharp)


def pure(pair: Pair) -> Enclosure | None:
    """Return the pair's pure ε, the larger of both directions; None where it has none."""
    law = pair.pure
    return None if law is None else largest(law(direction) for direction in Direction)


def delta_at(epsilon: Enclosure) -> Law:
    """Make the law that gives a pair's δ(ε) at this ε, the larger of both directions."""

    def worst(pair: Pair) -> Enclosure | None:
        law = pair.delta
        if law is None:
            return None
        first, *others = pair.directions
        found = law(epsilon, first)
        for direction in others:
            if not pair.is_enough(epsilon, Enclosure.of(found.lower), direction):
                found = found.maximum(law(epsilon, direction))
        return found

    return worst


def renyi_at(order: Fraction) -> Law:
    """Make the law that gives a pair's τ(α) at this order α, the larger of both directions."""

    def worst(pair: Pair) -> Enclosure | None:
        law = pair.renyi
        return None if law is None else largest(law(order, direction) for direction in pair.directions)

    return worst


def zero_concentrated(pair: Pair) -> Enclosure | None:
    """Return the pair's ρ; None where it has none."""
    return pair.zero_concentrated


def gaussian(pair: Pair) -> Enclosure | None:
    """Return the pair's μ of Gaussian DP; None where it has none."""
    return pair.gaussian


def largest(values: Iterable[Enclosure]) -> Enclosure:
    """The largest of at least one number."""
    return reduce(Enclosure.maximum, values)
