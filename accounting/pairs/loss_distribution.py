"""δ(ε) of independent releases of pairs, and its inverse, from both sides.

The moments of the losses answer where every release has them and a contour can tell; else their distribution on a
lattice does, where every release has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Protocol, TypeAlias, final

from ..enclosures import Enclosure, Truth
from ..enclosures.arguments import non_negative
from ..errors import InvalidValue
from ..exact import Floats
from ..loss_distribution.cells import Cells
from ..loss_distribution.growing import Growing
from ..loss_distribution.inversion import delta_by_transforms, epsilon_by_transforms
from ..loss_distribution.inversion import is_enough as by_one_moment
from ..loss_distribution.lattice import delta_by_lattice, epsilon_by_lattice, loss_masses
from ..loss_distribution.profile import KeptContours, Nearness
from ..loss_distribution.transforms import Transform
from ..relations import Direction
from .laws import DeltaLaw, LossCells, LossTransform, PureLaw


class Single(Protocol):
    """What is asked of one release; every pair has it."""

    @property
    def pure(self) -> PureLaw | None:
        """The pure ε in each direction; None where it is infinite or not known."""
        ...

    @property
    def delta(self) -> DeltaLaw | None:
        """The hockey-stick divergence δ(ε), ε ≥ 0, in each direction; None where no law is known."""
        ...

    @property
    def loss_transform(self) -> LossTransform | None:
        """The moments of the privacy loss; None where they are not known."""
        ...

    @property
    def loss_cells(self) -> LossCells | None:
        """The privacy loss cut in cells; None where that is not known."""
        ...

    def smallest_epsilon(self, delta: Enclosure, direction: Direction) -> Enclosure | None:
        """Enclosure of inf{ε ≥ 0 : δ(ε) ≤ δ}."""
        ...


_NARROW = Fraction(1, 2**15)
"""The relative width of ε or δ from which on a lattice is asked, too."""
Releases: TypeAlias = Sequence[tuple[Single, int]]
"""Pairs, and how often each is composed."""
ByTransforms: TypeAlias = Callable[[Sequence[tuple[Transform, int]], Enclosure], Enclosure | None]


def follows(releases: Releases) -> bool:
    """Whether the distribution of the composed loss follows from what every release knows of its own."""
    every = [pair for pair, _ in releases]
    return all(pair.loss_transform is not None for pair in every) or all(pair.loss_cells is not None for pair in every)


def composed_delta(releases: Releases, epsilon: Enclosure, direction: Direction) -> Enclosure:
    """Enclosure of δ(ε) of the releases together, where it `follows`.

    Args:
        releases: at least one.
        epsilon: at least 0.
        direction: which of the two.

    Raises:
        InvalidValue: for an ε that reaches below 0.
    """
    return _delta(_lossy(releases), epsilon, direction, delta_by_transforms, _NARROW)


def _delta(
    lossy: Releases, epsilon: Enclosure, direction: Direction, by_transforms: ByTransforms, narrow: Fraction
) -> Enclosure:
    whole = _pure(lossy, direction)
    if whole is not None and whole.less_equal(non_negative("epsilon", epsilon)) is Truth.TRUE:
        return Enclosure.of(0, precision=epsilon.precision)
    return _answered(lossy, epsilon, direction, by_transforms, delta_by_lattice, _single_delta, narrow)


def composed_epsilon(releases: Releases, delta: Enclosure, direction: Direction) -> Enclosure:
    """Enclosure of the smallest ε ≥ 0 with δ(ε) ≤ δ for the releases together, where it `follows`.

    Raises:
        InvalidValue: for a δ outside [0, 1], and where no ε is proven to suffice.
    """
    lossy = _lossy(releases)
    if not lossy:
        return Enclosure.of(0, precision=delta.precision)
    return _answered(lossy, delta, direction, epsilon_by_transforms, epsilon_by_lattice, _single_epsilon, _NARROW)


def is_enough(releases: Releases, epsilon: Enclosure, delta: Enclosure, direction: Direction) -> bool:
    """Whether δ(ε) ≤ δ is proven sooner than δ(ε) is enclosed: for all ε and δ inside."""
    lossy = _lossy(releases)
    most = _pure(lossy, direction)
    if most is not None and most.upper <= epsilon.lower:
        return True
    transforms = _transforms(lossy, direction)
    return by_one_moment(transforms, epsilon.lower, delta.lower) if transforms else False


def _answered(
    releases: Releases,
    asked: Enclosure,
    direction: Direction,
    by_transforms: ByTransforms,
    by_lattice: Callable[[Sequence[tuple[Cells, int]], Enclosure], Enclosure],
    by_single_releases: Callable[[Releases, Enclosure, Direction], Enclosure],
    narrow: Fraction,
) -> Enclosure:
    """The first of the three ways that has an answer; of a contour and a lattice the narrower one, if neither is so."""
    transforms = _transforms(releases, direction)
    found = None if transforms is None else by_transforms(transforms, asked)
    if found is not None and found.width <= narrow * found.upper:
        return found
    cells = _cells(releases, direction)
    if cells is not None:
        try:
            other = by_lattice(cells, asked)
            return found if found is not None and found.width <= other.width else other
        except InvalidValue as refused:
            if refused.parameter != "parts":  # losses beyond what a lattice can hold
                raise
    if found is not None:
        return found
    return by_single_releases(releases, asked, direction)


def _single_delta(releases: Releases, epsilon: Enclosure, direction: Direction) -> Enclosure:
    """Enclose δ(ε) roughly: from the largest δ(ε) of a single release to 1."""
    laws = [law for pair, _ in releases if (law := pair.delta) is not None]
    return reduce(Enclosure.maximum, (law(epsilon, direction) for law in laws), Enclosure.of(0)).hull(1)


def _single_epsilon(releases: Releases, delta: Enclosure, direction: Direction) -> Enclosure:
    """Enclose ε roughly: from the largest ε of a single release to the sum of all pure losses.

    Raises:
        InvalidValue: where some release has no pure loss.
    """
    most = _pure(releases, direction)
    if most is None:
        raise InvalidValue("delta", delta, "a δ at which an ε is proven", "Choose a larger δ")
    least = [found for pair, _ in releases if (found := pair.smallest_epsilon(delta, direction)) is not None]
    return reduce(Enclosure.maximum, least, Enclosure.of(0)).minimum(most).hull(most)


@final
class GrowingReleases:
    """Upper ends of ε at one δ of releases whose number grows, in one direction, by the moments of their loss."""

    def __init__(self, delta: Enclosure, direction: Direction) -> None:
        """Begin with a δ in (0, 1)."""
        self._direction, self._growing = direction, Growing(delta)

    def epsilon(self, releases: Releases) -> Fraction | None:
        """An ε that suffices, next to the least; None where the moments are not known or do not tell."""
        parts = _transforms(_lossy(releases), self._direction)
        return self._growing.epsilon(parts) if parts else None

    def suffices(self, releases: Releases, epsilon: Fraction) -> bool:
        """Whether an ε > 0 is proven to suffice."""
        parts = _transforms(_lossy(releases), self._direction)
        return bool(parts) and parts is not None and self._growing.suffices(parts, epsilon)


@final
class ReleasesProfile:
    """δ(ε) of the releases together at one ε after another, in one direction, where it `follows`.

    It encloses what `composed_delta` does, sooner: what was composed for one ε serves others that are near enough.
    """

    def __init__(self, releases: Releases, direction: Direction, nearness: Nearness) -> None:
        """Begin with at least one release."""
        self._releases, self._direction = _lossy(releases), direction
        self._narrow = max(nearness.width, _NARROW)
        parts = _transforms(self._releases, direction)
        self._contours = None if parts is None else KeptContours(parts, nearness)

    def delta(self, epsilon: Enclosure) -> Enclosure:
        """Enclosure of δ(ε), ε ≥ 0.

        Raises:
            InvalidValue: for an ε that reaches below 0.
        """
        return _delta(self._releases, epsilon, self._direction, self._by_contours, self._narrow)

    def _by_contours(self, parts: Sequence[tuple[Transform, int]], epsilon: Enclosure) -> Enclosure | None:
        return None if self._contours is None else self._contours.delta(epsilon)


def composed_masses(releases: Releases, direction: Direction) -> tuple[Floats, Floats] | None:
    """Losses of the releases together and about their masses, for a plot: it proves nothing.

    Returns:
        Losses, rising, and masses at them; infinite losses are left out. None where a release has no lattice, or none
        loses anything.
    """
    lossy = _lossy(releases)
    cells = _cells(lossy, direction)
    return loss_masses(cells) if cells else None


def _lossy(releases: Releases) -> Releases:
    """Return the releases that lose anything."""
    return [
        (pair, times) for pair, times in releases if pair.pure is None or any(pair.pure(d).upper for d in Direction)
    ]


def _pure(releases: Releases, direction: Direction) -> Enclosure | None:
    """The largest loss of all releases together, where it is known to be finite."""
    total = Enclosure.of(0)
    for pair, times in releases:
        law = pair.pure
        if law is None:
            return None
        total = total + law(direction) * times
    return total


def _transforms(releases: Releases, direction: Direction) -> list[tuple[Transform, int]] | None:
    laws = [(pair.loss_transform, times) for pair, times in releases]
    found = [(law(direction), times) for law, times in laws if law is not None]
    return found if len(found) == len(laws) else None


def _cells(releases: Releases, direction: Direction) -> list[tuple[Cells, int]] | None:
    laws = [(pair.loss_cells, times) for pair, times in releases]
    found = [(law(direction), times) for law, times in laws if law is not None]
    return found if len(found) == len(laws) else None
