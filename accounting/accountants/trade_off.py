"""The trade-off curve of a run between the two errors of every test, proven from both sides (f-DP).

Legend: a test that tells a data set from its neighbour errs with probability α in one of them and β in the other. The
curve f(α) bounds every β from below, for both directions at once. D(x) is the larger hockey-stick divergence of the
two directions at a factor x ≥ 0: δ(log x) for x ≥ 1, and 1 − x + x·δ(−log x) below, as the other direction tells. D is
convex, with D(0) = 1, and f(α) = sup_x 1 − D(x) − αx (Dong, Roth, Su 2022, Propositions 2.12 and 2.13). So every
x proves a lower bound of f(α). The supremum is that of a concave function of x, which between two places stays below
the chords through its neighbours, prolonged: that proves an upper bound.

Both ends are those of f: D may be that of one direction, or of one pair of data sets, at one x and of another at
another one. Then f has a convex hull's errors, which no test reaches. Of one direction of one pair alone, D(x) is its
own δ for x ≥ 1, and 1 − x + x·δ(−log x) by the δ of the opposite direction below; there f(α) is what the most powerful
test reaches (Neyman, Pearson). So the errors that some test has are bounded by such curves alone: `reached_curves`.

Two risks are D at one place. The membership advantage, the most by which true positives exceed false ones, is D(1).
Who holds one of the data sets for true with probability π and guesses as well as possible errs with probability
min over α of πα + (1 − π)f(α) = (1 − π)(1 − D(π/(1 − π))), since D is the conjugate of the convex f; with the smaller
m of π and 1 − π that is m(1 − δ(log((1 − m)/m))), whichever of the two data sets π is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, permutations
from typing import TypeAlias, final

from attrs import evolve, field, frozen

from ..display import Displayed
from ..enclosures import DEFAULT_PRECISION, Enclosure
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..exact import Number, exact
from ..relations import Direction

_FACTOR_BITS = 24
_ZERO, _ONE = Fraction(0), Fraction(1)
_FARTHEST_FACTOR = Fraction(2) ** 128

DeltaLaw: TypeAlias = Callable[[Enclosure], Enclosure]
"""Encloses the larger δ(ε) of both directions at an ε ≥ 0; where its lower end is 0 nothing is known from below."""


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
    """A trade-off curve: decreasing, convex; but for that of one direction its own inverse.

    Attributes:
        places: D at factors that rise from 0, as far as they were asked for beforehand.
        ex_post: whether it is read at released values as they came out, and is no guarantee.
        delta: the law δ(ε) from which D at further factors is known; None where the places are all that is.
        back: for the curve of one direction of a pair, whose law `delta` is, that of the opposite one; else None.
    """

    places: tuple[Place, ...]
    ex_post: bool = False
    delta: DeltaLaw | None = field(default=None, eq=False)
    back: DeltaLaw | None = field(default=None, eq=False)

    def __str__(self) -> str:
        half = self.at("1/2")
        told = f"{half.lower_float!r} ≤ f(1/2) ≤ {half.upper_float!r}"
        return f"{told}; read ex post: no guarantee" if self.ex_post else told

    def sharpest(self, alpha: Number) -> Place:
        """The place that proves the lower end at α; α as for `at`."""
        error = _probability("alpha", alpha)
        return min(self.places, key=lambda place: place.upper + error * place.factor)

    def at(self, alpha: Number, *, relative_gap: Fraction = Fraction(1, 2**20), places: int = 64) -> Enclosure:
        """Enclosure of f(α): no test with first error α has a second error below its lower end.

        Of a curve of one direction some test has a second error of at most the upper end; of others none may.

        D is asked where this α needs it: where the chords so far leave most room. At α = 0 it is wide where a loss is
        large or infinite: that is beyond every place.

        Args:
            alpha: in [0, 1], read exactly.
            relative_gap: of the true-positive rate 1 − f(α), at which the search ends.
            places: the most values of δ that are asked for, at least 1.

        Guarantees:
            Where the search ends early, δ is known from one side, or there is no law, the enclosure is wider.

        Raises:
            InvalidValue: for an α outside [0, 1]; for no places.
        """
        return self.for_alpha(alpha, relative_gap=relative_gap, places=places).by_places(alpha)

    def for_alpha(self, alpha: Number, *, relative_gap: Fraction = Fraction(1, 2**20), places: int = 64) -> TradeOff:
        """The curve with the places that `at` asks for, with the same arguments and errors."""
        error = _probability("alpha", alpha)
        most = whole("places", places, 1)
        if self.delta is None:
            return self
        known, asked = list(self.places), 0
        while asked < most and (factor := _next_factor(known, error, relative_gap)) is not None:
            known, asked = sorted([*known, *_places(self.delta, self.back, factor)], key=_factor), asked + 1
        return evolve(self, places=tuple(known))

    def by_places(self, alpha: Number) -> Enclosure:
        """Enclosure of f(α) by the places alone, as a picture needs it; α as for `at`."""
        error = _probability("alpha", alpha)
        chords = []
        for place in self.places:
            blind = 1 - error * place.factor
            chords.append(_Ordinate(place.factor, blind - place.upper, blind - place.lower))
        lower = max(chord.low for chord in chords)
        upper = max(height for height, _, _ in _heights(chords, error))
        return Enclosure.between(max(lower, _ZERO), min(max(upper, _ZERO), 1 - error), precision=DEFAULT_PRECISION)


def advantage(delta: DeltaLaw) -> Enclosure:
    """Enclosure of the membership advantage: the true-positive less the false-positive rate, of the best test."""
    return _proper(delta(Enclosure.of(0)))


def bayes_risk(delta: DeltaLaw, prior: Number) -> Enclosure:
    """Enclosure of the probability with which the best guess errs: nobody errs less often than its lower end.

    Args:
        delta: the law δ(ε).
        prior: the probability of one of the two data sets before anything is released, in [0, 1]; read exactly.

    Raises:
        InvalidValue: for a prior outside [0, 1].
    """
    likely = _probability("prior", prior)
    blind = min(likely, 1 - likely)
    if not blind:
        return Enclosure.of(0)
    return (1 - _at(delta, (1 - blind) / blind)) * blind


def curve_of(delta: DeltaLaw, back: DeltaLaw | None = None, *, ex_post: bool = False) -> TradeOff:
    """The trade-off curve of a law δ(ε), of which nothing is asked beforehand; `back` as of `TradeOff`."""
    return TradeOff((Place(_ZERO, _ONE, _ONE),), ex_post, delta, back)


def reached_curves(laws: Iterable[Mapping[Direction, DeltaLaw]]) -> tuple[TradeOff, ...]:
    """The curves of tests between the data sets of some pairs, each told from the other: of all directions.

    Args:
        laws: δ(ε) of each pair by direction.
    """
    return tuple(curve_of(law[one], law[other]) for law in laws for one, other in permutations(Direction))


def true_positive_rate(
    trade: TradeOff, reached: Iterable[TradeOff], alpha: Number, *, relative_gap: Fraction = Fraction(1, 2**20)
) -> Enclosure:
    """Enclosure of the largest true-positive rate of tests at a false-positive rate.

    Args:
        trade: a curve that lies below the errors of all tests.
        reached: curves of which each is that of a test, as `reached_curves` gives them; asked until both ends are near.
        alpha: in [0, 1], read exactly.
        relative_gap: as of `TradeOff.at`.

    Raises:
        InvalidValue: for an α outside [0, 1].
    """
    upper = 1 - trade.at(alpha, relative_gap=relative_gap).lower
    lower = _probability("alpha", alpha)  # a blind guess has it
    for curve in reached:
        if lower >= upper * (1 - 4 * relative_gap):  # of both searches, and room to round
            break
        lower = max(lower, 1 - curve.at(alpha, relative_gap=relative_gap).upper)
    return Enclosure.between(min(lower, upper), upper, precision=DEFAULT_PRECISION)


def trade_off(delta: DeltaLaw, farthest: float, back: DeltaLaw | None = None, *, places: int = 48) -> TradeOff:
    """The trade-off curve of a law δ(ε) on a grid, as a picture needs it: nothing more is asked of the law.

    Args:
        delta: the law δ(ε).
        back: as of `TradeOff`.
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
    asked = factors if back is None else sorted({*factors, *(1 / factor for factor in factors)})
    found = [Place(_ZERO, _ONE, _ONE), *(place for factor in asked for place in _places(delta, back, factor))]
    return TradeOff(tuple(sorted(found, key=_factor)))


def _probability(parameter: str, value: Number) -> Fraction:
    probability = exact(value, parameter=parameter)
    if not 0 <= probability <= 1:
        raise InvalidValue(parameter, value, "a probability in [0, 1]")
    return probability


def _places(delta: DeltaLaw, back: DeltaLaw | None, factor: Fraction) -> Iterator[Place]:
    """D at a factor, by one δ; and at its inverse, where that is the same δ."""
    grown = max(factor, 1 / factor)
    value = _at(delta if back is None or factor >= 1 else back, grown)
    if back is None or factor >= 1:
        yield Place(grown, value.lower, value.upper)
    if grown > 1 and (back is None or factor < 1):
        yield Place(1 / grown, 1 - (1 - value.lower) / grown, 1 - (1 - value.upper) / grown)


def _at(delta: DeltaLaw, factor: Fraction) -> Enclosure:
    """D at a factor of at least 1."""
    return _proper(delta(Enclosure.of(factor - 1).log1p()))


def _proper(delta: Enclosure) -> Enclosure:
    """A δ within [0, 1]."""
    return delta.maximum(0).minimum(1)


def _next_factor(known: Sequence[Place], error: Fraction, relative_gap: Fraction) -> Fraction | None:
    """The factor to ask about next; None where f at this error is near enough, or as near as it gets."""
    if not error:  # f(0) is the limit of 1 − D(x)
        return _FARTHEST_FACTOR if known[-1].factor < _FARTHEST_FACTOR else None
    if len(known) == 1:
        return _ONE
    return _wanted(known, error, relative_gap) if error < 1 else None


def _wanted(known: Sequence[Place], error: Fraction, relative_gap: Fraction) -> Fraction | None:
    """The factor to ask about next, where D(x) + αx may be least; None where the least one is near enough.

    Where to ask is no proof: D counts as its upper end, which protects.
    """
    rates = [_Ordinate(p.factor, *2 * [1 - p.upper - error * p.factor]) for p in known]
    best = 1 - max(rate.low for rate in rates)
    first = max((1 - best) / (1 - error), 1 / _FARTHEST_FACTOR)  # 1 − x, or αx, is larger before and after
    last = min(best / error, _FARTHEST_FACTOR)
    for height, start, end in sorted(_heights(rates, error), reverse=True):
        if 1 - height >= best * (1 - relative_gap):
            return None
        low, high = max(start, first), min(end or last, last)
        factor = _middle(low, high)
        if low < factor < high:
            return factor
    return None


def _middle(low: Fraction, high: Fraction) -> Fraction:
    """A factor near the geometric mean, of few bits or the inverse of such a number."""
    mean = ((Enclosure.of(low, precision=53).log() + Enclosure.of(high, precision=53).log()) / 2).exp().upper
    return _short(mean) if mean >= 1 else 1 / _short(1 / mean)


@frozen
class _Ordinate:
    """1 − D(x) − αx at one x."""

    factor: Fraction
    low: Fraction
    high: Fraction


def _heights(known: Sequence[_Ordinate], error: Fraction) -> Iterator[tuple[Fraction, Fraction, Fraction | None]]:
    """Upper bounds of the concave 1 − D(x) − αx between two places, which are named; None: beyond the last.

    Of the intervals on which it may be highest alone: where it is surely lower than at another place, it is so beyond.
    """
    best = max(range(len(known)), key=lambda index: known[index].low)
    lower = [index for index, one in enumerate(known) if one.high < known[best].low]
    first = max((index for index in lower if index < best), default=0)
    last = min((index for index in lower if index > best), default=len(known))
    for index, (left, right) in enumerate(pairwise(known[first : last + 1]), first):
        # before the first chord D(x) ≥ 1 − x, after the last one D(x) ≥ 0
        rise = _slope(known[index - 1], left) if index else 1 - error
        if index + 2 < len(known):
            end, fall = right.high, max(-_slope(known[index + 2], right), _ZERO)
        else:
            end, fall = 1 - error * right.factor, error
        width = right.factor - left.factor
        height = min(_highest(left.high, rise, end + fall * width, fall), left.high + max(rise, _ZERO) * width)
        yield height, left.factor, right.factor
    if last == len(known):
        final = known[-1]
        yield _highest(final.high, _slope(known[-2], final), 1 - error * final.factor, error), final.factor, None


def _slope(far: _Ordinate, near: _Ordinate) -> Fraction:
    """The slope of the line through two places, at its most in the direction of the second one."""
    return (near.high - far.low) / (near.factor - far.factor)


def _highest(start: Fraction, rise: Fraction, top: Fraction, fall: Fraction) -> Fraction:
    """The highest point, here or after, below a line that rises from `start` and one that falls from `top`."""
    return start + rise * (top - start) / (rise + fall) if rise > 0 else start


def _short(value: Fraction) -> Fraction:
    """A number ≥ 1 near `value` of few bits."""
    return max(Enclosure.of(value, precision=_FACTOR_BITS).upper, _ONE)


def _factor(place: Place) -> Fraction:
    return place.factor
