"""Certified figures of many records from few: each record is raised to a node of a grid of rates and shifts.

For figures that grow with the rate and with the shift and are costly to compute, such as ε of composed loss
distributions. A smaller rate and a smaller shift are post-processing of larger ones, so the figure of the node above a
record bounds the record's, and that of the node below tells how far off it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ..enclosures import Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..exact import Floats
from ..provenance import Private
from .steps import Step

FigureOf: TypeAlias = Callable[[float, float], Enclosure]
"""Encloses the figure, ≥ 0, at a rate in (0, 1] and a shift > 0; it must not fall where either grows."""

_MOST_DIGITS = 20


@final
@frozen(eq=False)
class NodeFigures:
    """Figures of records between those of the nodes around them.

    Attributes:
        upper: a proven upper bound for each record; 0 where the rate or the shift is 0.
        lower: a proven lower bound for each record.
    """

    upper: Floats = field(repr=False)
    lower: Floats = field(repr=False)

    @property
    def looseness(self) -> float:
        """How far, relatively, an upper bound exceeds the true figure of its record at most; inf where unknown."""
        lost = self.upper > 0
        with np.errstate(divide="ignore"):
            return float(np.max(self.upper[lost] / self.lower[lost], initial=1.0)) - 1.0


@final
class NodeTable:
    """Figures at the nodes that records need, computed when they are first needed.

    Nodes are the binary64 numbers with so many binary digits after the first, so that a node exceeds a record's rate by
    at most 2^-digits of it. Which node serves a record depends on that record alone: figures are the same however
    records are put into chunks.

    Args:
        figure: the figure at a rate and a shift.
        rate_digits: binary digits of the nodes' rates, 0 to 20.
        shift_digits: binary digits of the nodes' shifts, 0 to 20. A shift that is one number for all is not raised.
        progress: called with the number of nodes computed since the table was made.

    Raises:
        InvalidType, InvalidValue: for anything but whole numbers in these ranges.
    """

    def __init__(
        self,
        figure: FigureOf,
        *,
        rate_digits: int = 6,
        shift_digits: int = 6,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        for name, digits in (("rate_digits", rate_digits), ("shift_digits", shift_digits)):
            if whole(name, digits, 0) > _MOST_DIGITS:
                raise InvalidValue(name, digits, f"at most {_MOST_DIGITS} digits")
        self._figure = figure
        self._digits = (rate_digits, shift_digits)
        self._progress = progress
        self._known: dict[tuple[float, float], Enclosure] = {}

    @property
    def nodes(self) -> Private[int]:
        """At how many nodes figures were computed."""
        return Private(len(self._known))

    def figures(self, rate: ArrayLike, shift: ArrayLike) -> Private[NodeFigures]:
        """Bounds for records with these rates and shifts.

        Args:
            rate: q of each record, in [0, 1]: as many as there are records.
            shift: s of each record, finite, ≥ 0, rounded up, or one number for all.

        Raises:
            InvalidType: for anything but arrays of real numbers.
            InvalidValue: for numbers outside these ranges, and other lengths.
        """
        shape = np.shape(rate)
        if len(shape) != 1:
            raise InvalidValue("rate", f"an array of shape {shape}", "one rate per record")
        step = Step.read(rate, shift, shape[0])
        shifts = np.broadcast_to(step.shift, shape)
        lost = (step.rate > 0) & (shifts > 0)
        upper, lower = np.zeros(shape), np.zeros(shape)
        rate_digits, shift_digits = self._digits
        q, s = step.rate[lost], shifts[lost]
        rates = _around(q, rate_digits)
        sizes = (s, s) if step.common else _around(s, shift_digits)
        lower[lost] = [found.lower_float for found in self._at_each(rates[0], sizes[0])]
        upper[lost] = [found.upper_float for found in self._at_each(rates[1], sizes[1])]
        return Private(NodeFigures(upper, lower))

    def _at_each(self, rates: Floats, shifts: Floats) -> list[Enclosure]:
        nodes, which = np.unique(np.stack((rates, shifts), axis=1), axis=0, return_inverse=True)
        found = [self._at(rate, shift) for rate, shift in nodes.tolist()]
        return [found[node] for node in which.reshape(-1).tolist()]

    def _at(self, rate: float, shift: float) -> Enclosure:
        if not rate or not shift:  # below subnormal numbers
            return Enclosure.of(0)
        if (rate, shift) not in self._known:
            self._known[rate, shift] = self._figure(rate, shift)
            if self._progress is not None:
                self._progress(len(self._known))
        return self._known[rate, shift]


def _around(values: Floats, digits: int) -> tuple[Floats, Floats]:
    """The nodes next below and above positive numbers, or twice the number itself where it is one."""
    patterns: NDArray[np.int64] = values.view(np.int64)
    rest = np.int64((1 << (52 - digits)) - 1)
    return (patterns & ~rest).view(np.float64), ((patterns + rest) & ~rest).view(np.float64)
