"""The largest divergences of several pairs, each of which is reached by other data sets."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..relations import Direction
from .finite import FinitePair
from .laws import DeltaLaw, PureLaw
from .pair import Pair

_Point = tuple[Fraction, Fraction]


@final
@frozen
class Envelope(Pair):
    """The largest δ(ε) of several finite pairs at each ε, and their largest pure loss; it has no other law.

    At each ε one of the pairs has that δ. A test, and every other notion, asks for many ε of one pair: what follows
    from an envelope there is reached by none of them.

    Attributes:
        table: two laws with the largest divergences, exactly.
    """

    table: FinitePair

    @classmethod
    def of(cls, pairs: Iterable[FinitePair]) -> Envelope:
        """The upper concave hull of all sets (Q(S), P(S)) of the pairs."""
        points = {(Fraction(0), Fraction(0))}
        for pair in pairs:
            x = y = Fraction(0)
            outcomes = zip(pair.absent, pair.present, strict=True)
            for without, with_it in sorted(outcomes, key=lambda o: o[1] / o[0] if o[0] else inf, reverse=True):
                x, y = x + without, y + with_it
                points.add((x, y))
        hull: list[_Point] = []
        for point in sorted(points):
            while len(hull) > 1 and _above(hull[-2], hull[-1], point):
                hull.pop()
            hull.append(point)
        present, absent = (tuple(b[side] - a[side] for a, b in pairwise(hull)) for side in (1, 0))
        return cls(FinitePair(present, absent))

    @property
    def pure(self) -> PureLaw | None:
        """The largest pure loss; None where one is infinite."""
        return self.table.pure

    @property
    def delta(self) -> DeltaLaw:
        """The largest δ(ε) of the pairs."""
        return self.table.delta

    @property
    def is_one_pair(self) -> bool:
        """Whether a test has its rates: no."""
        return False

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of the largest ε at δ of the pairs."""
        return self.table.smallest_epsilon(delta, direction)


def _above(one: _Point, middle: _Point, last: _Point) -> bool:
    """Whether the line from `one` to `last` passes `middle` or lies above it."""
    return (last[1] - one[1]) * (middle[0] - one[0]) >= (middle[1] - one[1]) * (last[0] - one[0])
