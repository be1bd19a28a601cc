"""Laws of losses that are put together from others: mixed by public chance, or made symmetric.

Legend: as in `cells`. The proofs are in `docs/soundness_batches.md`, section "On a lattice".
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from attrs import evolve, frozen

from .._kernels import lattice as kernels
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..exact import Floats
from .cells import Lattice, LossLaw, Split

_UNIT = 2.0**-53
_SKETCHED = 3000


@final
@frozen
class MixedLaw(LossLaw):
    """Which of several laws a release has is decided by public chance.

    Attributes:
        parts: the probability of each law, above 0 and within a unit of the true one, and the law. True probabilities
            add up to 1, or to less below.
    """

    parts: tuple[tuple[float, LossLaw], ...]

    @property
    def continuous(self) -> bool:
        """Whether some of the laws has a part with a density."""
        return any(law.continuous for _, law in self.parts)

    def split(self, lattice: Lattice, *, up: bool) -> Split:
        """The sums of the laws' masses, weighted by their probabilities."""
        return _mixed(self, lattice, up)

    def single_losses(self) -> Floats:
        """The single losses of all laws."""
        return np.unique(np.concatenate([law.single_losses() for _, law in self.parts]))

    def sketch(self) -> tuple[Floats, Floats]:
        """Return losses of all laws, neighbours together where they are many, and about their masses."""
        sketches = [(weight, *law.sketch()) for weight, law in self.parts]
        losses = np.concatenate([losses for _, losses, _ in sketches])
        masses = np.concatenate([weight * masses for weight, _, masses in sketches])
        order = np.argsort(losses, kind="stable")
        starts = np.arange(0, losses.size, 1 + losses.size // _SKETCHED)
        masses = np.add.reduceat(masses[order], starts)
        last = np.append(starts[1:], losses.size) - 1
        kept = masses > 0
        return losses[order][last][kept], masses[kept]

    def sampled(self, rate: Enclosure, *, up: bool) -> MixedLaw:
        """The mixture of what is sampled: the chance has the same law with and without the record."""
        return MixedLaw(tuple((weight, law.sampled(rate, up=up)) for weight, law in self.parts))


@lru_cache(maxsize=32)
def _mixed(law: MixedLaw, lattice: Lattice, up: bool) -> Split:
    left, right, units = (np.zeros(lattice.count + 1) for _ in range(3))
    certain = 0.0
    for weight, part in law.parts:
        split = part.split(lattice, up=up)
        for total, masses in ((left, split.left), (right, split.right)):
            share = weight * masses
            tiny = (share < kernels.TINY) & (masses > 0)  # there binary64 may not hold a product to full precision
            total += np.where(tiny, kernels.TINY if up else 0.0, share)
        units = np.maximum(units, split.units)
        certain += weight * split.certain
    added = len(law.parts) + 4
    return Split(left, right, units + added, certain * (1 - added * 2 * _UNIT))


@final
@frozen
class SymmetrisedLaw(LossLaw):
    """Losses above 0 as REMOVE of a pair has them, losses below 0 as ADD has them, and the rest of the mass at 0.

    It is known from above alone.

    Attributes:
        positive: the law of REMOVE, whose losses above 0 count.
        negative: the law of ADD of the same pair, whose losses below 0 count. These masses are at most 1 together.
    """

    positive: LossLaw
    negative: LossLaw

    @property
    def continuous(self) -> bool:
        """Whether one of the two has a part with a density."""
        return self.positive.continuous or self.negative.continuous

    def split(self, lattice: Lattice, *, up: bool) -> Split:
        """Cut at the points of a lattice, from above; where none of them is 0, losses move up further.

        Raises:
            InvalidValue: for a law from below.
        """
        if not up:
            raise InvalidValue("up", up, "True: a symmetrised law is known from above alone")
        behind = math.ceil(-Fraction(lattice.offset) / Fraction(lattice.spacing))
        return _symmetrised(self, evolve(lattice, offset=0.0, first=lattice.first - behind))

    def single_losses(self) -> Floats:
        """The loss 0, where the two laws meet: a lattice is to have it."""
        return np.zeros(1)

    def sketch(self) -> tuple[Floats, Floats]:
        """Return some losses of both and about their masses."""
        (above, more), (below, less) = self.positive.sketch(), self.negative.sketch()
        more, above = more[above > 0], above[above > 0]
        less, below = less[below < 0], below[below < 0]
        rest = max(1.0 - float(np.sum(more)) - float(np.sum(less)), 1e-300)
        return np.concatenate([below, [0.0], above]), np.concatenate([less, [rest], more])

    def sampled(self, rate: Enclosure, *, up: bool) -> SymmetrisedLaw:
        """The law itself, from above: a sample is post-processing of the whole."""
        return self


@lru_cache(maxsize=32)
def _symmetrised(law: SymmetrisedLaw, lattice: Lattice) -> Split:
    first, end = min(lattice.first, -1), max(lattice.first + lattice.count, 2)
    wide = Lattice(0.0, lattice.spacing, first, end - first)
    zero = -first
    positive, negative = (part.split(wide, up=True) for part in (law.positive, law.negative))
    above = np.arange(wide.count + 1) > zero  # cell i lies between the points i − 1 and i
    left, right, units = (
        np.where(above, more, less)
        for more, less in (
            (positive.left, negative.left),
            (positive.right, negative.right),
            (positive.units, negative.units),
        )
    )
    surely = 1.0 - (units + 4.0) * _UNIT
    counted = math.fsum(np.concatenate([left * surely, right * surely])) * (1 - 2 * _UNIT)
    right[zero] += max(math.nextafter(1.0 - counted, math.inf), 0.0)
    units += 1.0
    before = lattice.first - first
    after = wide.count - before - lattice.count
    if before or after:
        left, right, units = _folded(left, right, units, before, lattice.count, after)
    return Split(left, right, units, 0.0)


def _folded(
    left: Floats, right: Floats, units: Floats, before: int, count: int, after: int
) -> tuple[Floats, Floats, Floats]:
    """Move the masses left of `before` points up to the next one, and those right of `count` more to infinity."""
    cut = slice(before, before + count + 1)
    kept_left, kept_right, kept_units = left[cut].copy(), right[cut].copy(), units[cut].copy()
    kept_left[0] = 0.0
    if before:
        kept_right[0] += float(np.sum(right[:before])) + float(np.sum(left[: before + 1]))
        kept_units[0] = float(np.max(units[: before + 1])) + 2 * before + 4
    if after:
        kept_right[-1] += float(np.sum(right[before + count + 1 :])) + float(np.sum(left[before + count + 1 :]))
        kept_units[-1] = float(np.max(units[before + count :])) + 2 * after + 4
    return kept_left, kept_right, kept_units
