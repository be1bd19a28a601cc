"""δ at many ε of the same releases: one contour serves several of them.

A contour is meant for one ε, and proves δ at others as long as it hides little of it; where it does not, it says so.
"""

from __future__ import annotations

from fractions import Fraction
from typing import final

from attrs import frozen

from ..bulk.parts import require_default_arithmetic
from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative
from .inversion import USEFUL, Contour, Known, Parts, contours_at, ends, never_beyond

_BESIDE_THE_LATTICE = Fraction(1, 2**20)
"""From which relative width on a lattice is asked where no contour that is meant for an ε tells δ."""


@final
@frozen
class Nearness:
    """How near the ends of δ are to be.

    Attributes:
        width: relative; a contour that is kept serves where it is as near.
        most_missed: after so many ε in a row for which no contour was found, none is searched for; None: never.
    """

    width: Fraction
    most_missed: int | None


PICTURE = Nearness(USEFUL, 2)
"""What shows in a picture."""
ANSWER = Nearness(Fraction(1, 2**34), None)
"""As near as by contours that are meant for each ε, or to 2^-34."""


@final
class KeptContours:
    """δ(ε) of independent releases at one ε after another, in one direction.

    What an answer is depends on what was asked before; that both ends are proven does not. Neighbours are best asked
    about one after the other.
    """

    def __init__(self, parts: Parts, nearness: Nearness) -> None:
        """Begin with transforms, all in one direction, with how often each is composed (at least once)."""
        require_default_arithmetic()
        self._lower, self._upper = (_Side(end, nearness) for end in ends(parts))

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
        low = self._lower.delta(level.upper, high)
        return high.hull(0 if low is None else low)


@final
class _Side:
    """δ(ε) of releases whose parameters are known."""

    def __init__(self, parts: Known, nearness: Nearness) -> None:
        self.parts = parts
        self._nearness = nearness
        self._kept: list[Contour] = []
        self._missed = 0

    def delta(self, epsilon: Fraction, about: Enclosure | None = None) -> Enclosure | None:
        """δ(ε), where it may be known to be near another number: that proves nothing, it spares attempts."""
        if never_beyond(self.parts, epsilon):
            return Enclosure.of(0)
        known = self._known(epsilon)
        if known is not None and known.width <= self._nearness.width * known.upper:
            return known
        if self._missed == self._nearness.most_missed:
            return None
        near = about if known is None else known
        log_delta = None if near is None or not near.upper else float(Enclosure.of(near.upper).log().midpoint)
        for contour in contours_at(self.parts, epsilon):
            least = 0.0 if log_delta is None else contour.least_width_at(epsilon, log_delta)
            if least > USEFUL:
                continue
            if known is not None and known.width <= Fraction(least) * known.upper:
                return known
            found = contour.delta(epsilon)
            if found is not None:
                self._kept.append(contour)
                self._missed = 0
                return found if known is None or found.width < known.width else known
        self._missed += 1
        return known if known is not None and known.width <= _BESIDE_THE_LATTICE * known.upper else None

    def _known(self, epsilon: Fraction) -> Enclosure | None:
        """δ(ε) by the kept contour that tells it best."""
        best = min(self._kept, key=lambda contour: contour.width_at(epsilon), default=None)
        return None if best is None else best.delta(epsilon)
