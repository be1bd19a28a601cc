"""δ at many ε of the same releases: one contour serves several of them.

A contour is meant for one ε, and proves δ at others as long as it hides little of it; where it does not, it says so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import final

from ..bulk.parts import require_default_arithmetic
from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative
from .inversion import Contour, Known, Parts, contours_at, ends, never_beyond

_MOST_MISSED = 2
"""After so many ε in a row for which no contour was found, none is searched for."""


@final
class KeptContours:
    """δ(ε) of independent releases at one ε after another, in one direction.

    What an answer is depends on what was asked before; that both ends are proven does not. Neighbours are best asked
    about one after the other.
    """

    def __init__(self, parts: Parts) -> None:
        """Begin with transforms, all in one direction, with how often each is composed (at least once)."""
        require_default_arithmetic()
        self._lower, self._upper = map(_Side, ends(parts))

    def delta(self, epsilon: Enclosure) -> Enclosure | None:
        """δ for every ε inside and all parameters inside, narrower than 10^-3 of δ where these are known.

        Args:
            epsilon: ε ≥ 0.

        Returns:
            None where no contour tells: another way may.
        """
        level = non_negative("epsilon", epsilon)
        high = self._upper.delta(level.lower)
        if high is None or (self._lower.parts == self._upper.parts and level.is_point):
            return high
        low = self._lower.delta(level.upper)
        return high.hull(0 if low is None else low)


@final
class _Side:
    """δ(ε) of releases whose parameters are known."""

    def __init__(self, parts: Known) -> None:
        self.parts = parts
        self._kept: list[Contour] = []
        self._missed = 0

    def delta(self, epsilon: Fraction) -> Enclosure | None:
        if never_beyond(self.parts, epsilon):
            return Enclosure.of(0)
        for contour in reversed(self._kept):
            found = contour.delta(epsilon)
            if found is not None:
                return found
        if self._missed == _MOST_MISSED:
            return None
        for contour in contours_at(self.parts, epsilon):
            found = contour.delta(epsilon)
            if found is not None:
                self._kept.append(contour)
                self._missed = 0
                return found
        self._missed += 1
        return None
