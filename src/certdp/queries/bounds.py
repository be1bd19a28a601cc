"""Bounds of a column, found privately: noisy counts of numbers between powers of two."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import final

import numpy as np
from attrs import field, frozen

from ..accounting.bulk.clusters import Integers
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats
from .columns import Column
from .kinds import Columns, Query
from .noise import Share
from .parts import Part, Sums
from .results import Result
from .row_sums import Counted
from .rows import Rows

_LEAST, _MOST = -32, 64
_POWERS = np.arange(_LEAST, _MOST + 1)
_EDGES: Floats = np.concatenate([-(2.0 ** _POWERS[::-1]), [0.0], 2.0**_POWERS])
_CELLS = len(_EDGES) - 1
_MISTAKEN = 0.05


class NoBounds(InvalidValue):
    """A search for bounds in which no count stands out of the noise; it was paid for."""


@final
@frozen
class BoundsSearch(Query):
    """How many numbers of a column lie between neighbouring powers of two, from −2^64 to 2^64.

    Attributes:
        column: whose bounds are searched.
    """

    column: Column
    name: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "name", f"bounds({self.column.name})")

    def parts(self, columns: Columns, share: Share, rows: int, confidence: float) -> Sequence[Part]:
        """One release of counts."""
        return (
            Sums(
                name=self.name,
                groups=tuple(zip(_EDGES[:-1].tolist(), _EDGES[1:].tolist(), strict=True)),
                statistic=Counted(),
                noise=share.noise(rows, Counted.finest),
                cells=self._cells,
                numbers=self._numbers,
            ),
        )

    @property
    def confidence(self) -> float:
        """The confidence of each count, with which 1 time in 20 at most some empty one stands out."""
        return 1 - 2 * _MISTAKEN / _CELLS

    def _numbers(self, rows: Rows) -> Floats:
        return rows.numbers[self.column.name]

    def _cells(self, rows: Rows) -> Integers:
        return np.clip(np.searchsorted(_EDGES, self._numbers(rows), side="right") - 1, 0, _CELLS - 1)

    def bounds(self, counts: Result) -> tuple[Fraction, Fraction]:
        """The outer edges of the outermost counts that stand out of the noise.

        Raises:
            NoBounds: where none does.
        """
        standing = np.flatnonzero(counts.low > 0)
        if not len(standing):
            remedy = "Spend more on the search, or state public bounds"
            raise NoBounds("column", self.column.name, "one with enough numbers to stand out of the noise", remedy)
        return Fraction(float(_EDGES[standing[0]])), Fraction(float(_EDGES[standing[-1] + 1]))
