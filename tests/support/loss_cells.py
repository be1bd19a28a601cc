"""Loss distributions of pairs."""

from __future__ import annotations

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.cells import Cells
from certdp.accounting.pairs import Pair
from certdp.accounting.relations import Direction


def cells_of(pair: Pair, direction: Direction = Direction.REMOVE) -> Cells:
    """The pair's cells, which it must have."""
    law = pair.loss_cells
    assert law is not None
    return law(direction)


def gap(found: Enclosure) -> float:
    """How far the ends are apart, relatively."""
    return float((found.upper - found.lower) / found.upper)
