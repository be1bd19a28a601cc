"""One release of sampled keys as a dominating pair: the worst of all neighbouring frequencies, both directions.

Legend: Q the law of what is reported at a frequency, P that of the next one; S a set of outcomes, x = Q(S), y = P(S) in
units; γ = e^{ε'}. A comparison is one such pair of laws.

1. P(S) − γ·Q(S) = y − γ·x, and Q(S) − γ·P(S) = (1 − x') − γ(1 − y') with (x', y') the point of the complement. Both
   hockey-stick divergences are thus maxima of linear functions over the points of all S, the second one at slope 1/γ.
2. By Neyman and Pearson they are attained at the sets of the largest ratios P/Q: with outcomes sorted by it, at the
   partial sums. The maximum over many comparisons is attained at a vertex of the upper concave hull of these points.
3. The hull from (0, 0) to (1, 1) is the curve of one pair: each of its edges is an outcome of probability dx under Q
   and dy under P. At every γ and in both directions its divergence is the largest of all comparisons: one pair
   dominates them all, and none that does is smaller.
4. Edges whose slopes agree to 2^−40 become two edges, along the lines of the first and of the last of them: no
   divergence becomes smaller, and none larger by more than about 2^−40. The corner, rounded, lies on that of the two
   lines which keeps both slopes on one side of G, or of 1/G: at γ = G nothing is lost, so δ at e^ε ≥ G is at most Δ.
   More than 2,000 edges (rates that grow faster than i) agree to fewer bits, as few as needed.

`Reporting.comparisons` says which comparisons there are. All neighbouring rows are among them, but for keys that are
reported as often as they are kept beyond 2^16 frequencies: there corners stand for whole stretches, two units away.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ...pairs import FinitePair
from .budget import DyadicBudget
from .rows import Comparison, Outcome

if TYPE_CHECKING:
    from ...pairs import FinitePair

_AGREE = 40
_FINER = 64
_BATCH = 1 << 14
_MOST_EDGES = 2000


class _Point(NamedTuple):
    x: int
    y: int


def dominating_pair(budget: DyadicBudget, comparisons: Iterable[Comparison]) -> FinitePair:
    """The pair whose divergences are the largest of these comparisons, at every ε' and in both directions.

    Args:
        budget: units of the comparisons.
        comparisons: at least one.
    """
    certain = budget.certain
    hull = [_Point(0, 0), _Point(certain, certain)]
    found: list[_Point] = []
    for comparison in comparisons:
        found += _outside(hull, _partial_sums(comparison, budget.bits))
        if len(found) >= _BATCH:
            hull, found = _hull(hull + found), []
    hull = _hull(hull + found)
    agree = _AGREE
    edges = list(_thinned(budget, hull, agree))
    while len(edges) > _MOST_EDGES and agree > 1:
        agree -= 1
        edges = list(_thinned(budget, hull, agree))
    unit = certain << _FINER
    present, absent = (tuple(Fraction(edge[side], unit) for edge in edges) for side in (1, 0))
    return FinitePair(present, absent)


def _partial_sums(comparison: Comparison, bits: int) -> Iterator[_Point]:
    """The points of the sets of largest P/Q."""
    certain = 1 << bits

    def ratio(outcome: Outcome) -> int:
        # ratios of numbers up to 2^bits differ by at least 2^−2·bits
        return (outcome.after << 2 * bits + 1) // outcome.before if outcome.before else certain << 3 * bits

    x = y = 0
    for number, before, after in sorted(comparison, key=ratio, reverse=True):
        x, y = x + number * before, y + number * after
        yield _Point(x, y)


def _outside(hull: Sequence[_Point], points: Iterable[_Point]) -> Iterator[_Point]:
    """Return the points that lie above the hull."""
    for point in points:
        place = bisect_left(hull, point)
        if 0 < place < len(hull) and _turn(hull[place - 1], point, hull[place]) < 0:
            yield point


def _turn(one: _Point, middle: _Point, other: _Point) -> int:
    """Below 0 where `middle` lies above the line through the others, for one.x ≤ other.x."""
    return (middle.x - one.x) * (other.y - one.y) - (middle.y - one.y) * (other.x - one.x)


def _hull(points: Iterable[_Point]) -> list[_Point]:
    """The vertices of the upper concave hull, from the left."""
    found: list[_Point] = []
    for point in sorted(set(points)):
        while found and found[-1].x == point.x and found[-1].x > 0:
            found.pop()
        while len(found) > 1 and _turn(found[-2], found[-1], point) >= 0:
            found.pop()
        found.append(point)
    return found


class _Band(Enum):
    """Where slopes lie; the value tells whether a corner lies on the line of the first edge, or of the last."""

    STEEPEST = 0
    STEEP = 1
    FLAT = 2
    FLATTEST = 3

    @classmethod
    def of(cls, budget: DyadicBudget, edge: _Point) -> _Band:
        """Above G, above 1, at least 1/G, and less."""
        if edge.y << budget.bits > budget.growth * edge.x:
            return cls.STEEPEST
        if edge.y > edge.x:
            return cls.STEEP
        return cls.FLAT if edge.y * budget.growth >= edge.x << budget.bits else cls.FLATTEST

    @property
    def on_first(self) -> bool:
        """Whether the line of the first edge is the one that is kept."""
        return self in {_Band.STEEP, _Band.FLATTEST}


def _thinned(budget: DyadicBudget, hull: Sequence[_Point], agree: int) -> Iterator[_Point]:
    """The edges, finer by 2^64, with no more than two of slopes that agree to 2^−agree."""
    group: list[_Point] = []
    band = _Band.STEEPEST
    for one, other in pairwise(hull):
        edge = _Point(other.x - one.x, other.y - one.y)
        if group and not (_agree(group[0], edge, agree) and _Band.of(budget, edge) is band):
            yield from _merged(group, on_first=band.on_first)
            group = []
        band = _Band.of(budget, edge)
        group.append(edge)
    yield from _merged(group, on_first=band.on_first)


def _agree(steep: _Point, flat: _Point, bits: int) -> bool:
    """Whether two slopes agree to 2^−bits, neither 0 nor infinite."""
    return steep.x * flat.y > 0 and steep.y * flat.x - flat.y * steep.x <= steep.y * flat.x >> bits


def _merged(group: Sequence[_Point], *, on_first: bool) -> Iterator[_Point]:
    """The edges of a group, or two that lie above them."""
    first, last = group[0], group[-1]
    x, y = sum(edge.x for edge in group) << _FINER, sum(edge.y for edge in group) << _FINER
    bend = first.y * last.x - first.x * last.y
    if len(group) > 2 and bend:
        # from the start to the line of the last edge, or from the end to that of the first, or a little beyond
        times = -(-(y * last.x - x * last.y) // bend) if on_first else -(-(x * first.y - y * first.x) // bend)
        kept = first if on_first else last
        near, far = _Point(times * kept.x, times * kept.y), _Point(x - times * kept.x, y - times * kept.y)
        if far.x >= 0 and far.y >= 0:
            yield from (near, far)
            return
    yield from (_Point(edge.x << _FINER, edge.y << _FINER) for edge in group)
