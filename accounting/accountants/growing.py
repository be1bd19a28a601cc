"""ε of a run so far, from above, asked again and again while equal releases are added."""

from __future__ import annotations

from fractions import Fraction
from typing import final

from ..enclosures import Enclosure
from ..pairs import Pair
from ..pairs.loss_distribution import GrowingReleases
from ..relations import Direction


@final
class GrowingEpsilon:
    """An upper bound of ε at one δ, for a run that goes on, by its loss distribution.

    It keeps what it found for the releases before: the next answer takes a fraction of the first one's time. The last
    binary digits of an answer may depend on what was asked before; that it is an upper bound does not.
    """

    def __init__(self, delta: Enclosure) -> None:
        """Begin with a δ in (0, 1)."""
        self._ways = {direction: GrowingReleases(delta, direction) for direction in Direction}
        self._last: tuple[Pair, Fraction | None] | None = None

    def upper(self, pair: Pair) -> Fraction | None:
        """An ε > 0 at which δ suffices in both directions, at most 2^-20 above the least, relatively.

        Args:
            pair: of the whole run so far.

        Returns:
            None where no contour proves one, as where ε is 0: ask `LOSS_DISTRIBUTION` then.
        """
        if self._last is None or self._last[0] != pair:
            self._last = pair, self._upper_of(pair)
        return self._last[1]

    def _upper_of(self, pair: Pair) -> Fraction | None:
        releases, most = pair.releases, None
        for direction in pair.directions:
            if most is not None and self._ways[direction].suffices(releases, most):
                continue
            found = self._ways[direction].epsilon(releases)
            if found is None:
                return None
            most = found if most is None else max(most, found)
        return most
