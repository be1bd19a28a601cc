"""By how much selection tilts the law of a single output, for both of two neighbouring data sets.

Legend: f(z) = E[z^K] for the number K of repetitions. Of one repetition, let s and s' be the probabilities under two
neighbouring data sets of an output above some rank. The density of the selected output at that rank is that of one
repetition times f'(1 − s); a = f'(1 − s)/f'(1) and c = f'(1 − s')/f'(1) are its tilts, in [0, 1]. As s' ≤ e^x·s + δ(x)
for every x ≥ 0, c is at least a convex function of a. Lines below that function say all that is proven here:

    c ≥ L(a) = max_j (m_j·a + n_j),    n_0 = 0.

The proofs are in `docs/soundness_selection.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import final

from attrs import frozen

from ..enclosures import Enclosure
from ..errors import InvalidValue


@final
@frozen
class Line:
    """m·a + n, which the tilt c is never below.

    Attributes:
        slope: m, above 0.
        intercept: n, at most 0.
        place: x, at which δ(x) proves it.
    """

    slope: Fraction
    intercept: Fraction
    place: Fraction = Fraction(0)


@final
@frozen
class Tilts:
    """The largest of several lines on [0, 1]: L.

    Attributes:
        first: the slope of the line through the origin.
        others: further lines.
        precision: bits of the results.
        start: x, at which δ(x) proves the first one.

    Raises:
        InvalidValue: for slopes that are not above 0, and intercepts above 0.
    """

    first: Fraction
    others: tuple[Line, ...]
    precision: int
    start: Fraction = Fraction(0)

    def __attrs_post_init__(self) -> None:
        for line in self._lines:
            if line.slope <= 0 or line.intercept > 0:
                raise InvalidValue("lines", line, "slopes above 0 and intercepts of at most 0")

    @property
    def _lines(self) -> Iterable[Line]:
        return (Line(self.first, Fraction(0), self.start), *self.others)

    @cached_property
    def pieces(self) -> tuple[tuple[Fraction, Line], ...]:
        """Where each line of the maximum begins, in [0, 1], and the line; exactly."""
        found: list[tuple[Fraction, Line]] = []
        for line in sorted(self._lines, key=lambda line: (line.slope, line.intercept)):
            start = Fraction(0)
            while found:
                begin, last = found[-1]
                if line.slope == last.slope:
                    start = begin
                    found.pop()
                    continue
                start = (last.intercept - line.intercept) / (line.slope - last.slope)
                if start > begin:
                    break
                found.pop()
            found.append((max(start, Fraction(0)), line))
        return tuple(piece for piece in found if piece[0] < 1)

    @cached_property
    def shares(self) -> tuple[tuple[Fraction, Enclosure], ...]:
        """w_j and log m_j with sup_a (a·r − γ·L(a)) = Σ w_j·(r − γ·m_j)₊ for all r, γ ≥ 0; the w_j add up to 1."""
        ends = [begin for begin, _ in self.pieces[1:]] + [Fraction(1)]
        return tuple(
            (end - begin, Enclosure.of(line.slope, precision=self.precision).log())
            for (begin, line), end in zip(self.pieces, ends, strict=True)
        )

    @cached_property
    def _corners(self) -> tuple[tuple[Enclosure, Enclosure], ...]:
        """Logarithms of a and L(a), at the ends of the pieces."""
        ends = [begin for begin, _ in self.pieces[1:]] + [Fraction(1)]
        return tuple(
            (
                Enclosure.of(end, precision=self.precision).log(),
                Enclosure.of(line.slope * end + line.intercept, precision=self.precision).log(),
            )
            for (_, line), end in zip(self.pieces, ends, strict=True)
        )

    @cached_property
    def greatest(self) -> Enclosure:
        """The largest log(a/L(a))."""
        return -Enclosure.of(self.first, precision=self.precision).log()

    def moment(self, order: Fraction) -> Enclosure:
        """The largest λ·log a − (λ − 1)·log L(a), which is at a corner: along a line it falls, and then grows."""
        first, *others = (a * order - c * (order - 1) for a, c in self._corners)
        for other in others:
            first = first.maximum(other)
        return first
