"""Upper ends of ε of releases that become more: one contour serves several numbers of them.

What a line knows of one release counts as often as there are releases, whatever their number: log M(c), log φ and the
bounds of what is hidden of either are multiplied. So a contour is kept while it proves numbers that are next to the
least, and a new one is searched for only where it does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import final

from ..enclosures import Enclosure
from .inversion import Contour, Known, Parts, contour_at, contour_at_delta, ends

_AHEAD = 1.5
"""For how many times as many releases a contour is meant: it serves from two thirds to twice as many as that."""


@final
class Growing:
    """ε at one δ, from above, of releases whose number changes from one question to the next, in one direction."""

    def __init__(self, delta: Enclosure) -> None:
        """Begin with a δ in (0, 1)."""
        self._delta, self._log_delta = delta.lower, float(Enclosure.of(delta.lower).log().midpoint)
        self._kept: Contour | None = None
        self._last = 1.0

    def epsilon(self, parts: Parts) -> Fraction | None:
        """An ε with δ(ε) ≤ δ for all parameters inside, at most 2^-20 above the least, relatively.

        Args:
            parts: transforms, all in one direction, with how often each is composed.

        Returns:
            None where no contour proves one: another way may.
        """
        _, upper = ends(parts)
        counts = [times for _, times in upper]
        starts = [] if self._kept is None or not _alike(self._kept.parts, upper) else [(self._kept, self._last)]
        for contour, start in chain(starts, self._anew(upper)):
            here = contour.of_others(counts)
            found = None if here is None else here.upper_epsilon(self._delta, self._log_delta, start)
            if found is not None:
                self._kept, self._last = contour, float(found)
                return found
        return None

    def _anew(self, parts: Known) -> Iterator[tuple[Contour, float]]:
        """A contour that will serve for more releases, too, and one for these, with about the ε of these."""
        for times, share in ((_AHEAD, _AHEAD**-0.5), (1.0, 1.0)):
            found = contour_at_delta(_times(parts, times), self._log_delta)
            if found is not None:
                yield found[0], share * found[1]

    def suffices(self, parts: Parts, epsilon: Fraction) -> bool:
        """Whether δ(ε) ≤ δ is proven for all parameters inside at an ε > 0; less work than to ask for ε."""
        _, upper = ends(parts)
        kept = [] if self._kept is None or not _alike(self._kept.parts, upper) else [self._kept]
        for contour in chain(kept, (contour_at(_times(upper, times), float(epsilon)) for times in (_AHEAD, 1.0))):
            if contour is not None and self._proves(contour.of_others([times for _, times in upper]), epsilon):
                self._kept = contour
                return True
        return False

    def _proves(self, contour: Contour | None, epsilon: Fraction) -> bool:
        value = None if contour is None or contour.hopeless else contour.delta(epsilon)
        return value is not None and value.upper <= self._delta


def _alike(before: Known, parts: Known) -> bool:
    return [transform for transform, _ in before] == [transform for transform, _ in parts]


def _times(parts: Known, more: float) -> Known:
    return tuple((transform, math.ceil(more * times)) for transform, times in parts)
