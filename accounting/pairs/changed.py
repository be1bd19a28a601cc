"""The pair of a larger change than one record's presence: records replaced by others, several records at once.

Legend: L is the density ratio P/Q of a pair under Q, A = 1 − q + qL that after Poisson sampling at rate q. What a pair
says of a record is that its own A is at most that of the pair in the convex order, so that for two records the
countermonotone copies of A, and for several the comonotone ones, bound every joint law. The proofs are in
`docs/soundness_replace.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import singledispatch

from attrs import evolve

from ..enclosures import Enclosure
from ..enclosures.arguments import probability, whole
from ..relations import Direction
from .finite import FinitePair
from .gaussian import GaussianPair
from .gaussian_group import LARGEST_GROUP, GaussianGroup
from .laplace import LaplacePair
from .pair import Pair
from .symmetrised import Symmetrised

_LEAST_SHIFT, _LARGEST_SHIFT = Fraction(1, 64), 32
"""Of shorter shifts the pure loss says nearly all, and of longer ones, too."""
_MOST_NATS = 512
"""Larger pure losses are not worth a table: their ratios are long."""


def changed(pair: Pair, rate: Enclosure, size: int = 1, *, replaced: bool = False) -> Pair | None:
    """The pair of `size` records at once, each seen with probability `rate`; None where no theorem gives one.

    Args:
        pair: of one record that is added or removed, and seen for certain.
        rate: enclosure of q in [0, 1].
        size: how many records; at least 1.
        replaced: whether they are replaced by as many others; otherwise they are added or removed.

    Guarantees:
        The pair dominates every such change, for any records and whatever else is drawn; replaced, in both
        orientations, so that it may be composed whatever the releases choose.

    Raises:
        InvalidValue: for a rate or a size outside its range.
    """
    if whole("size", size, 1) == 1 and not replaced:
        return pair.sampled(rate)
    return _changed(pair, probability("rate", rate), size, replaced) if size <= LARGEST_GROUP else None


@singledispatch
def _changed(pair: Pair, rate: Enclosure, size: int, replaced: bool) -> Pair | None:
    """By the pure loss, where one record is replaced; else by the Gaussian pair that dominates, which has groups."""
    found = _by_pure_loss(pair, rate) if size == 1 else None
    return _by_gaussian(pair, rate, size, replaced) if found is None else found


@_changed.register
def _(pair: GaussianPair, rate: Enclosure, size: int, replaced: bool) -> Pair:
    """Exact: it is reached by records in one direction, and others in the opposite one."""
    if rate.lower == 1:
        return GaussianPair(pair.shift * (2 * size if replaced else size))
    return GaussianGroup(pair.shift, rate, size, replaced)


@_changed.register
def _(pair: LaplacePair, rate: Enclosure, size: int, replaced: bool) -> Pair | None:
    """Exact for one record, but for rounding: it is reached by a record on an axis, and its opposite."""
    found = _by_pure_loss(pair, rate) if size == 1 else None
    if found is None:
        return _by_gaussian(pair, rate, size, replaced)
    if rate.upper == 1:
        return LaplacePair(pair.shift * 2)
    shift, q = Enclosure.of(pair.shift.upper, precision=pair.shift.precision), rate.upper
    if not q or not _LEAST_SHIFT <= shift.lower <= _LARGEST_SHIFT:
        return found
    drawn = (q / (q + (1 - q) * shift.exp())).upper
    if drawn > q:  # rounded up: all but every record is drawn
        return found
    two = LaplacePair(shift * 2).sampled(Enclosure.of(drawn, precision=rate.precision))
    return Symmetrised(two, times=q / drawn, dominating=found)


@_changed.register
def _(pair: FinitePair, rate: Enclosure, size: int, replaced: bool) -> Pair | None:
    """Exact for one record, but for the rounding of the rate: A grows with it."""
    if size > 1:
        return None
    q = rate.upper
    ratios = [(1 - q + q * p / o, o) for p, o in zip(pair.present, pair.absent, strict=True) if o]
    alone = q * sum((p for p, o in zip(pair.present, pair.absent, strict=True) if not o), Fraction(0))
    return evolve(_countermonotone(ratios, alone, pair.precision), dominating=_by_gaussian(pair, rate, size, replaced))


def _by_gaussian(pair: Pair, rate: Enclosure, size: int, replaced: bool) -> Pair | None:
    mu = pair.gaussian
    return None if mu is None else _changed(GaussianPair(mu), rate, size, replaced)


def _by_pure_loss(pair: Pair, rate: Enclosure) -> FinitePair | None:
    """A lies between two numbers and has the mean 1: the law on these two with that mean is above it."""
    law = pair.pure
    if law is None or max(law(direction).upper for direction in Direction) > _MOST_NATS:
        return None
    high = (1 + rate * law(Direction.REMOVE).expm1()).upper
    low = (1 + rate * (-law(Direction.ADD)).expm1()).lower
    if high == low:
        return FinitePair((Fraction(1),), (Fraction(1),), precision=rate.precision)
    share = (1 - low) / (high - low)
    found = _countermonotone([(low, 1 - share), (high, share)], Fraction(0), rate.precision)
    return evolve(found, dominating=_by_gaussian(pair, rate, 1, True))


def _countermonotone(ratios: list[tuple[Fraction, Fraction]], alone: Fraction, precision: int) -> FinitePair:
    """The pair of A and A turned round, from A's values with their probabilities; `alone` is P's mass beside Q."""
    rising = sorted(ratios)
    pieces = [(a * mass, b * mass) for a, b, mass in _matched(rising, rising[::-1])]
    pieces += [(alone, Fraction(0)), (Fraction(0), alone)] if alone else []
    first, second = zip(*pieces, strict=True)
    return FinitePair(first, second, precision=precision)


def _matched(
    one: list[tuple[Fraction, Fraction]], other: list[tuple[Fraction, Fraction]]
) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """The values of two laws side by side, with the probability of each two."""
    i = j = 0
    left, right = one[0][1], other[0][1]
    while True:
        mass = min(left, right)
        if mass:
            yield one[i][0], other[j][0], mass
        left, right = left - mass, right - mass
        if not left:
            i += 1
            if i == len(one):
                return
            left = one[i][1]
        if not right:
            j += 1
            if j == len(other):
                return
            right = other[j][1]
