"""δ(ε) of independent releases of pairs, and its inverse, from both sides.

The moments of the losses answer where every release has them and a contour can tell; else their distribution on a
lattice does, where every release has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ..directions import Direction
from ..enclosures import Enclosure
from ..errors import InvalidValue
from ..pairs.pair import Pair
from .cells import Cells
from .inversion import delta_by_transforms, epsilon_by_transforms
from .lattice import delta_by_lattice, epsilon_by_lattice
from .transforms import Transform

Releases: TypeAlias = Sequence[tuple[Pair, int]]
"""Pairs, and how often each is composed."""


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
    transforms = _transforms(releases, direction)
    if transforms is not None:
        found = delta_by_transforms(transforms, epsilon)
        if found is not None:
            return found
    cells = _cells(releases, direction)
    if cells is None:
        return Enclosure.between(0, 1)
    return delta_by_lattice(cells, epsilon)


def composed_epsilon(releases: Releases, delta: Enclosure, direction: Direction) -> Enclosure:
    """Enclosure of the smallest ε ≥ 0 with δ(ε) ≤ δ for the releases together, where it `follows`.

    Raises:
        InvalidValue: for a δ outside [0, 1], and where no ε is proven to suffice.
    """
    transforms = _transforms(releases, direction)
    if transforms is not None:
        found = epsilon_by_transforms(transforms, delta)
        if found is not None:
            return found
    cells = _cells(releases, direction)
    if cells is None:
        raise InvalidValue("delta", delta, "a δ at which an ε is proven", "Choose a larger δ")
    return epsilon_by_lattice(cells, delta)


def _transforms(releases: Releases, direction: Direction) -> list[tuple[Transform, int]] | None:
    laws = [(pair.loss_transform, times) for pair, times in releases]
    found = [(law(direction), times) for law, times in laws if law is not None]
    return found if len(found) == len(laws) else None


def _cells(releases: Releases, direction: Direction) -> list[tuple[Cells, int]] | None:
    laws = [(pair.loss_cells, times) for pair, times in releases]
    found = [(law(direction), times) for law, times in laws if law is not None]
    return found if len(found) == len(laws) else None
