"""One release in each of t batches, of which the record enters one or k, drawn uniformly: the pair of an epoch."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..loss_distribution.cells import Cells, Law
from ..loss_distribution.mean_ratios import MOST_TERMS, mean_above, mean_below
from ..loss_distribution.single_losses import delta_of_one, epsilon_of_one
from ..relations import Direction
from .composed import compose_pairs
from .laws import DeltaLaw, LossCells, PureLaw, RenyiLaw
from .pair import Pair, checked_pair

MOST_BATCHES = MOST_TERMS
"""The most batches of an epoch."""


@final
@frozen
class RandomAllocation(Pair):
    """P: t independent outputs, all but one of them from the base's Q, a uniformly drawn one from its P; Q: all from Q.

    It dominates t releases of a mechanism, each on the records of one batch, where every record enters one batch that
    is drawn uniformly and apart from the other records': the likelihood ratio is a mean of t independent ones, of which
    both directions' divergences are convex functions (`docs/soundness_allocation.md`).

    Attributes:
        base: the pair of one release with the record in its batch.
        batches: t, from 1 to 2^20.

    Raises:
        InvalidValue: for batches outside that range. InvalidType: for anything but a pair and a whole number.
    """

    base: Pair
    batches: int

    def __attrs_post_init__(self) -> None:
        checked_pair("base", self.base)
        if whole("batches", self.batches, 1) > MOST_BATCHES:
            raise InvalidValue("batches", self.batches, f"a whole number from 1 to {MOST_BATCHES}")

    @property
    def pure(self) -> PureLaw | None:
        """The base's: all t ratios may be as large, or as small, as one can be."""
        return self.base.pure

    @property
    def renyi(self) -> RenyiLaw | None:
        """At most the base's: which batch is entered is no secret there."""
        law = self.base.renyi
        return None if law is None else lambda order, direction: _at_most(law, order, direction)

    @property
    def zero_concentrated(self) -> Enclosure | None:
        """The ρ of the base, which dominates."""
        return self.base.zero_concentrated

    @property
    def gaussian(self) -> Enclosure | None:
        """The μ of the base, which dominates."""
        return self.base.gaussian

    @property
    def loss_cells(self) -> LossCells | None:
        """The privacy loss in cells: the logarithm of the mean of t ratios, in convex order from above and below.

        Where binary64 does not tell losses so small apart, it is the base's, which dominates; None where that has no
        cells of known laws.
        """
        law = self.base.loss_cells
        if law is None or _unsampled(law(Direction.REMOVE)) is None:
            return None

        def mean(direction: Direction) -> Cells:
            found = self._epoch(direction)
            return Cells(law(direction).above, None) if found is None else Cells(*found)

        return mean

    def _epoch(self, direction: Direction) -> tuple[Law, Law | None] | None:
        """The laws of an epoch's loss, above and below; None where they are not known."""
        law = self.base.loss_cells
        one = None if law is None else _unsampled(law(Direction.REMOVE))
        if one is None:
            return None
        above, below = one
        try:
            high = mean_above(above, self.batches)
            low = None if below is None else mean_below(below, self.batches)
        except InvalidValue:  # binary64 does not tell so small losses apart
            return None
        return Law(None, high, 1.0, direction), None if low is None else Law(None, low, 1.0, direction)

    @property
    def delta(self) -> DeltaLaw | None:
        """δ(ε) of an epoch, from both sides; at most the base's, which alone is known where that has no cells."""
        base = self.base.delta
        if base is None:
            return None

        def smaller(epsilon: Enclosure, direction: Direction) -> Enclosure:
            most, found = base(epsilon, direction).hull(0), self._epoch(direction)
            return most if found is None else delta_of_one(*found, epsilon).intersection(most)

        return smaller

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of the smallest ε of an epoch at δ; None for a base without a law δ(ε)."""
        found = self._epoch(direction)
        if found is not None:
            return epsilon_of_one(*found, delta)
        most = self.base.smallest_epsilon(delta, direction)
        return None if most is None else most.hull(0)

    def replaced(self, by: Callable[[Pair], Pair]) -> Pair:
        """Return the allocation of the base's replacement."""
        return allocated(self.base.replaced(by), self.batches)


def allocated(base: Pair, batches: int, participations: int = 1) -> Pair:
    """The pair of an epoch of so many batches, of which each record enters so many; the base where there is one batch.

    Args:
        base: the pair of one release with the record in its batch.
        batches: t, from 1 to 2^20.
        participations: k, from 1 to t. Where it is neither of these, the pair is a bound: that of k independent epochs
            of t/k batches, rounded down or up so that there are t in all (`docs/soundness_allocation.md`).

    Raises:
        InvalidValue: outside these ranges.
    """
    divided = blocks(batches, participations)
    if divided == ((1, 1),):
        return base
    parts = [(base if size == 1 else RandomAllocation(base, size)).repeated(times) for size, times in divided]
    return parts[0] if len(parts) == 1 else compose_pairs(parts)


def blocks(batches: int, participations: int) -> tuple[tuple[int, int], ...]:
    """Sizes of the blocks that the batches of an epoch are divided into, one a participation, and how many have each.

    Raises:
        InvalidValue: for more participations than batches, and less than one. InvalidType: for what is not whole.
    """
    if whole("participations", participations, 1) > whole("batches", batches, 1):
        remedy = "A record enters no batch twice: have more batches, or fewer participations"
        raise InvalidValue("participations", participations, f"a whole number from 1 to batches = {batches}", remedy)
    size, longer = divmod(batches, participations)
    return tuple(block for block in ((size + 1, longer), (size, participations - longer)) if block[1])


def _at_most(law: RenyiLaw, order: Fraction, direction: Direction) -> Enclosure:
    return law(order, direction).hull(0)


def _unsampled(cells: Cells) -> tuple[Law, Law | None] | None:
    """The laws of a loss as a ratio of known ones, above and below; None for those after sampling, and for others."""
    match cells.above, cells.below:
        case Law(rate=1.0) as above, Law(rate=1.0) as below:
            return above, below
        case Law(rate=1.0) as above, _:
            return above, None
    return None
