"""The trade-off curve of a run between the two errors of every test, proven from both sides (f-DP).

Legend: a test that tells a data set from its neighbour errs with probability α in one of them and β in the other. The
curve f(α) bounds every β from below, for both directions at once. D(x) is the larger hockey-stick divergence of the
two directions at a factor x ≥ 0: δ(log x) for x ≥ 1, and 1 − x + x·δ(−log x) below, as the other direction tells. D is
convex, with D(0) = 1, and f(α) = sup_x 1 − D(x) − αx (Dong, Roth, Su 2022, Propositions 2.12 and 2.13). So every
x proves a lower bound of f(α). The supremum is that of a concave function of x, which between two places stays below
the chords through its neighbours, prolonged: that proves an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import final

from attrs import frozen

from ..display import Displayed
from ..enclosures import DEFAULT_PRECISION, Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..exact import Number, exact

_FACTOR_BITS = 24
_ZERO, _ONE = Fraction(0), Fraction(1)


@final
@frozen
class Place:
    """D at one factor.

    Attributes:
        factor: x.
        lower: at most D(x).
        upper: at least D(x).
    """

    factor: Fraction
    lower: Fraction
    upper: Fraction


@final
@frozen(repr=False)
class TradeOff(Displayed):
    """A trade-off curve: decreasing, convex, its own inverse.

    Attributes:
        places: D at factors that rise from 0.
    """

    places: tuple[Place, ...]

    def __str__(self) -> str:
        half = self.at("1/2")
        return f"{len(self.places)} proven places; {half.lower_float!r} ≤ f(1/2) ≤ {half.upper_float!r}"

    def at(self, alpha: Number) -> Enclosure:
        """Enclosure of f(α): no test with first error α has a second error below its lower end.

        At α = 0 it is wide where a loss is infinite: that is beyond every place.

        Args:
            alpha: in [0, 1], read exactly.

        Raises:
            InvalidValue: outside [0, 1].
        """
        error = exact(alpha, parameter="alpha")
        if not 0 <= error <= 1:
            raise InvalidValue("alpha", alpha, "an error probability in [0, 1]")
        chords = [
            _Ordinate(p.factor, 1 - p.upper - error * p.factor, 1 - p.lower - error * p.factor) for p in self.places
        ]
        lower = max(chord.low for chord in chords)
        upper = max(_between(chords, error))
        return Enclosure.between(max(lower, _ZERO), min(max(upper, _ZERO), 1 - error), precision=DEFAULT_PRECISION)


def trade_off(delta: Callable[[Enclosure], Enclosure], farthest: float, *, places: int = 48) -> TradeOff:
    """The trade-off curve of a law δ(ε).

    Args:
        delta: encloses the larger δ(ε) of both directions at an ε ≥ 0; its upper end protects, where its lower end is
            0 nothing is known from below.
        farthest: the last ε asked for, where δ is small; finite, at least 0.
        places: how many ε are asked for, at least 2.

    Raises:
        InvalidValue: outside these ranges.
    """
    if not 0 <= farthest < float("inf"):
        raise InvalidValue("farthest", farthest, "a finite ε ≥ 0")
    count = whole("places", places, 2)
    step = Enclosure.of(farthest or 1.0) / (count - 1)
    factors = dict.fromkeys(_short((step * index).exp().upper) for index in range(count))
    factors[2 * max(factors)] = None  # where a pure loss ends, D is 0 from there on
    found: list[Place] = [Place(_ZERO, _ONE, _ONE)]
    above = []
    for factor in factors:
        value = delta(Enclosure.of(factor - 1).log1p()).maximum(0).minimum(1)
        above.append(Place(factor, value.lower, value.upper))
    mirrored = (
        Place(1 / p.factor, 1 - (1 - p.lower) / p.factor, 1 - (1 - p.upper) / p.factor) for p in above if p.factor > 1
    )
    return TradeOff((*found, *sorted(mirrored, key=_factor), *above))


@frozen
class _Ordinate:
    """1 − D(x) − αx at one x."""

    factor: Fraction
    low: Fraction
    high: Fraction


def _between(known: Sequence[_Ordinate], error: Fraction) -> Iterator[Fraction]:
    """Upper bounds of the concave function between each two neighbours and beyond the last."""
    rises = [(b.high - a.low) / (b.factor - a.factor) for a, b in pairwise(known)]  # at least the slope into b
    falls = [(a.high - b.low) / (b.factor - a.factor) for a, b in pairwise(known)]  # at least the fall out of a
    for index, (left, right) in enumerate(pairwise(known)):
        width = right.factor - left.factor
        # before the first chord D(x) ≥ 1 − x, after the last one D(x) ≥ 0
        rise = rises[index - 1] if index else 1 - error
        end, fall = (right.high, falls[index + 1]) if index + 2 < len(known) else (1 - error * right.factor, error)
        if rise <= 0:
            yield left.high
        elif fall <= 0:
            yield end
        else:  # where the lines cross, even beyond: the lower of both is nowhere higher
            yield left.high + rise * (end - left.high + fall * width) / (rise + fall)
    yield 1 - error * known[-1].factor


def _short(value: Fraction) -> Fraction:
    """A number ≥ 1 near `value` of few bits."""
    return max(Enclosure.of(value, precision=_FACTOR_BITS).upper, _ONE)


def _factor(place: Place) -> Fraction:
    return place.factor
