"""The best of a random number of runs: what its output tells, from the profile of one run.

Legend: K is the number of runs, drawn apart from everything and never told, f(z) = E[z^K]; Q and Q' are the laws of one
run's output on two neighbouring data sets, s and s' the chances of one above some rank, delta(x) the profile of Q' from
Q. Outputs are ranked by a function of themselves alone, equal ones by chance.

Tilts. The best output has the densities E[K]·aQ and E[K]·cQ' beside what no run tells, a = f'(1 - s)/f'(1), c likewise
of s', both in [0, 1]; and s' <= e^x·s + delta(x) for every x >= 0. If lines m_j·a + n_j, n_0 = 0, n_j <= 0, lie below
c, L being the largest of them, g = e^eps, then aQ - gcQ' <= aQ - gL(a)Q' integrates to at most the sum of
w_j·delta(eps + log m_j), w_j the length on which the j-th is the largest, so that E[K] times this bounds what is told
(Papernot, Steinke 2022; Koskela, Redberg, Wang 2024). Every run pays its delta. At eps < 0 the profile of Q from Q' is
1 - e^eps·(1 - delta(-eps)).

Negative binomial, P(K = k) ~ (1 - t)^k·prod (l + h)/(l + 1) over l < k, t the stop, h the shape: with k = h + 1,
p = t + (1 - t)s, a = (t/p)^k and p' <= e^x·p + b, b = (1 - t)·delta(x) - t·(e^x - 1). Where b <= 0, c >= e^(-kx)·a;
where b < 0, c is above a convex function of a, whose tangent of slope m touches at p/p' = r = (m/e^x)^(1/(k + 1)),
p = -rb/(r·e^x - 1). E[K] = h(1 - t)/(t(1 - t^h)) falls as t grows; its limit at h = 0 is (1 - t)/(-t·log t).

Poisson: a = e^(-E[K]s) and c >= e^(-E[K]·delta(x))·a^(e^x): a line at x = 0, else convex, with the tangent of slope m
at a = (m·e^(E[K]·delta(x) - x))^(1/(e^x - 1)), lower by (1 - e^-x)·ma than the line through 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, NamedTuple

from .. import shapes
from ..budget import Budget
from ..intervals import NOTHING, ONE, ZERO, Arithmetic, Interval, Mpf, at_most, magnitude, rational_of
from ..verdict import Refused
from ..vocabulary import OF_SELECTION
from .factors import DIRECTIONS, Factor
from .methods import METHODS, Method

_ARITHMETIC: Final = Arithmetic(192)
_ONE: Final = Interval(ONE, ONE)
_LAW: Final = 1_000_000
_MOST_TANGENTS: Final = 32
_MOST_POINTS: Final = 256
_MOST_RUNS: Final = 10**9
_MOST_SHAPE: Final = 10**6
_FARTHEST: Final = 2**20
_LONGEST: Final = 4096
_OTHER: Final[Mapping[str, str]] = dict(zip(DIRECTIONS, reversed(DIRECTIONS), strict=True))

_BINOMIAL: Final = "negative-binomial"
_POISSON: Final = "poisson"
_BINOMIAL_LAW: Final = shapes.record(
    name=shapes.one_of(_BINOMIAL),
    mean=shapes.positive,
    shape=shapes.a_rational,
    stop=shapes.sequence(shapes.positive, 2),
)
_POISSON_LAW: Final = shapes.record(name=shapes.one_of(_POISSON), mean=shapes.positive)
_TANGENT: Final = shapes.record(at=shapes.positive, slope=shapes.positive)
_POINT: Final = shapes.record(epsilon=shapes.not_negative, method=shapes.anything)
_SIDE: Final = shapes.record(
    first=shapes.not_negative, tangents=shapes.sequence(_TANGENT), points=shapes.sequence(_POINT)
)


def _law_shape(value: Any, where: str) -> None:
    """Accept a law of the number of runs."""
    (_POISSON_LAW if type(value) is dict and value.get("name") == _POISSON else _BINOMIAL_LAW)(value, where)


_SELECTION: Final = shapes.record(name=shapes.text, repetitions=_law_shape, **dict.fromkeys(DIRECTIONS, _SIDE))


class _Line(NamedTuple):
    """m·a + n, which the tilt c is never below."""

    slope: Fraction
    intercept: Fraction


def _short(found: Interval) -> Fraction:
    """Give the lower end, of which a rational number is to be made.

    Raises:
        Refused: where it has so many digits that lines there say nothing.
    """
    if found.lo != ZERO and not abs(magnitude(found.lo)) <= _LONGEST:
        raise Refused("a line of the method has a slope or an intercept beyond 2^-4096 and 2^4096")
    return rational_of(found.lo)


class _Law(ABC):
    """The law of the number of runs: its mean, and lines below the tilts."""

    mean: Fraction

    @abstractmethod
    def first(self, x: Fraction, delta: Interval) -> Fraction:
        """Give the slope of a line through 0, from the profile at x; refuse where none is known."""

    @abstractmethod
    def tangent(self, x: Fraction, delta: Interval, slope: Fraction) -> Fraction:
        """Bound the intercept of a line of this slope from below, from the profile at x; at most 0."""


class _NegativeBinomial(_Law):
    """The truncated negative binomial law."""

    def __init__(self, stated: Mapping[str, Any]) -> None:
        """Read mean and shape, and hold the stop against them."""
        self.mean, self._shape = Fraction(stated["mean"]), Fraction(stated["shape"])
        low, high = map(Fraction, stated["stop"])
        if not (1 < self.mean <= _MOST_RUNS and -1 < self._shape <= _MOST_SHAPE and low <= high < 1):
            raise Refused("negative binomial repetitions have a mean above 1, a shape above -1, a stop within (0, 1)")
        if not (self._shape == 1 and low == high == 1 / self.mean):
            most, least = (self._mean_at(_ARITHMETIC.rational(stop)) for stop in (low, high))
            mean = _ARITHMETIC.rational(self.mean)
            if not (at_most(mean.hi, most.lo) and at_most(least.hi, mean.lo)):
                raise Refused("the stop of negative binomial repetitions is not that of their mean")
        self._stop = Interval(_ARITHMETIC.rational(low).lo, _ARITHMETIC.rational(high).hi)
        self._go_on = _ARITHMETIC.subtract(_ONE, self._stop)

    def __str__(self) -> str:
        """Say it as assumptions do."""
        return f"negative binomial repetitions of mean {self.mean}, shape {self._shape}"

    def _mean_at(self, stop: Interval) -> Interval:
        """Enclose E[K] where runs stop with this probability."""
        log = _ARITHMETIC.log(stop)
        grown = _ARITHMETIC.divide(_ARITHMETIC.subtract(_ONE, stop), stop)
        if not self._shape:
            return _ARITHMETIC.divide(grown, _ARITHMETIC.negate(log))
        shape = _ARITHMETIC.rational(self._shape)
        none = _ARITHMETIC.negate(_ARITHMETIC.expm1(_ARITHMETIC.multiply(shape, log)))
        return _ARITHMETIC.divide(_ARITHMETIC.multiply(shape, grown), none)

    def _excess(self, x: Fraction, delta: Interval) -> Interval:
        """Enclose b."""
        grown = _ARITHMETIC.multiply(self._stop, _ARITHMETIC.expm1(_ARITHMETIC.rational(x)))
        return _ARITHMETIC.subtract(_ARITHMETIC.multiply(self._go_on, delta), grown)

    def first(self, x: Fraction, delta: Interval) -> Fraction:
        """Give e^(-kx) where b <= 0."""
        if not at_most(self._excess(x, delta).hi, ZERO):
            raise Refused("the first place of the method is too near for the profile of one run")
        return _short(_ARITHMETIC.exp(_ARITHMETIC.rational(-x * (self._shape + 1))))

    def tangent(self, x: Fraction, delta: Interval, slope: Fraction) -> Fraction:
        """Bound that of the tangent where b < 0."""
        growth = _ARITHMETIC.exp(_ARITHMETIC.rational(x))
        excess, power = self._excess(x, delta), self._shape + 1
        ratio = _ARITHMETIC.power(_ARITHMETIC.divide(_ARITHMETIC.rational(slope), growth), 1 / (power + 1))
        beyond = _ARITHMETIC.subtract(_ARITHMETIC.multiply(ratio, growth), _ONE)
        if at_most(ZERO, excess.hi) or at_most(beyond.lo, ZERO):
            raise Refused("no tangent of the method has this slope there")
        touched = _ARITHMETIC.divide(_ARITHMETIC.negate(_ARITHMETIC.multiply(ratio, excess)), beyond)
        one = _ARITHMETIC.divide(self._stop, touched)
        a, c = (_ARITHMETIC.power(tilt, power) for tilt in (one, _ARITHMETIC.multiply(one, ratio)))
        return _short(_ARITHMETIC.subtract(c, _ARITHMETIC.multiply(a, _ARITHMETIC.rational(slope))))


class _Poisson(_Law):
    """The Poisson law; that no run was made is told, alike for both data sets."""

    def __init__(self, stated: Mapping[str, Any]) -> None:
        """Read the mean."""
        self.mean = Fraction(stated["mean"])
        if self.mean > _MOST_RUNS:
            raise Refused(f"Poisson repetitions have a mean of at most {_MOST_RUNS}")

    def __str__(self) -> str:
        """Say it as assumptions do."""
        return f"Poisson repetitions of mean {self.mean}"

    def _paid(self, delta: Interval) -> Interval:
        return _ARITHMETIC.multiply(_ARITHMETIC.rational(self.mean), delta)

    def first(self, x: Fraction, delta: Interval) -> Fraction:
        """Give e^(-E[K]·delta(0))."""
        if x:
            raise Refused("the first place of Poisson repetitions is 0")
        return _short(_ARITHMETIC.exp(_ARITHMETIC.negate(self._paid(delta))))

    def tangent(self, x: Fraction, delta: Interval, slope: Fraction) -> Fraction:
        """Bound that of the tangent."""
        at = _ARITHMETIC.rational(x)
        log = _ARITHMETIC.add(_ARITHMETIC.log(_ARITHMETIC.rational(slope)), self._paid(delta))
        a = _ARITHMETIC.exp(_ARITHMETIC.divide(_ARITHMETIC.subtract(log, at), _ARITHMETIC.expm1(at)))
        lower = _ARITHMETIC.expm1(_ARITHMETIC.negate(at))
        return _short(_ARITHMETIC.multiply(_ARITHMETIC.multiply(a, _ARITHMETIC.rational(slope)), lower))


_LAWS: Final[Mapping[str, Any]] = {_BINOMIAL: _NegativeBinomial, _POISSON: _Poisson}


class _Side(NamedTuple):
    """The places of lines below the tilts, and of the profile of one run, in one direction."""

    first: Fraction
    tangents: Sequence[tuple[Fraction, Fraction]]
    points: Sequence[tuple[Fraction, Method]]


class Selection(Method):
    """The best of a random number of runs, from the profile of one at some epsilon, each by a method of its own."""

    name = "selection"
    theorem = "tilts of the best of repeated runs (Papernot, Steinke 2022; Koskela, Redberg, Wang 2024)"

    def __init__(self, stated: dict[str, Any], budget: Budget) -> None:
        """Read the law, and the places of each direction."""
        _SELECTION(stated, "method")
        budget.spend(_LAW)
        law = stated["repetitions"]
        self._law: _Law = _LAWS[law["name"]](law)
        self._sides = {direction: _side(stated[direction], f"method.{direction}", budget) for direction in DIRECTIONS}
        self._budget = budget
        self._known: dict[tuple[tuple[Factor, ...], str, Fraction], Interval] = {}
        self.assumed = dict(zip(OF_SELECTION, (str(self._law), "a function of that output alone"), strict=True))

    def __str__(self) -> str:
        """Name the method in words."""
        return f"the tilts of the best of {self._law}"

    def delta(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Mpf:
        """Bound delta(epsilon) of the best output from above in one direction."""
        if not factors:
            return ZERO
        lines = self._lines(factors, direction)
        starts = [Fraction(0)]
        starts += [(one.intercept - other.intercept) / (other.slope - one.slope) for one, other in pairwise(lines)]
        if any(low >= high for low, high in pairwise([*starts, Fraction(1)])):
            raise Refused("each tangent of the method must be the largest of all lines somewhere, in their order")
        total = NOTHING
        for line, (low, high) in zip(lines, pairwise([*starts, Fraction(1)]), strict=True):
            place = _ARITHMETIC.add(_ARITHMETIC.rational(epsilon), _ARITHMETIC.log(_ARITHMETIC.rational(line.slope)))
            found = self._at(factors, rational_of(place.lo), direction)
            total = _ARITHMETIC.add(total, _ARITHMETIC.multiply(_ARITHMETIC.rational(high - low), found))
        return _ARITHMETIC.multiply(_ARITHMETIC.rational(self._law.mean), total).hi

    def _lines(self, factors: Sequence[Factor], direction: str) -> list[_Line]:
        """Give the lines, of rising slopes; they follow from the profile of the other direction."""
        side, other = self._sides[direction], _OTHER[direction]
        self._budget.spend(_LAW * (1 + len(side.tangents)))
        lines = [_Line(self._law.first(side.first, self._profile(factors, side.first, other)), Fraction(0))]
        for x, slope in side.tangents:
            intercept = self._law.tangent(x, self._profile(factors, x, other), slope)
            lines.append(_Line(slope, min(intercept, Fraction(0))))
        if any(one.slope >= line.slope for one, line in pairwise(lines)):
            raise Refused("the tangents of the method must have slopes that rise, from the first one on")
        return lines

    def _at(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Interval:
        """Bound the profile at an epsilon of either sign."""
        if epsilon >= 0:
            return self._profile(factors, epsilon, direction)
        kept = _ARITHMETIC.subtract(_ONE, self._profile(factors, -epsilon, _OTHER[direction]))
        return _ARITHMETIC.subtract(_ONE, _ARITHMETIC.multiply(_ARITHMETIC.exp(_ARITHMETIC.rational(epsilon)), kept))

    def _profile(self, factors: Sequence[Factor], epsilon: Fraction, direction: str) -> Interval:
        """Bound the profile by that at the last point that is not beyond: it falls; at most 1."""
        below = [point for point in self._sides[direction].points if point[0] <= epsilon]
        if not below:
            return _ONE
        place, method = below[-1]
        key = tuple(factors), direction, place
        if key not in self._known:
            found = method.bound(factors, place, direction)
            self._known[key] = Interval(found, found) if at_most(found, ONE) else _ONE
        return self._known[key]


def _side(stated: Mapping[str, Any], where: str, budget: Budget) -> _Side:
    """Read the places of one direction."""
    points = []
    if len(stated["tangents"]) > _MOST_TANGENTS or len(stated["points"]) > _MOST_POINTS:
        raise Refused(f"{where} has more than {_MOST_TANGENTS} tangents or {_MOST_POINTS} points")
    for point in stated["points"]:
        method, name = point["method"], None
        if type(method) is dict and type(method.get("name")) is str:
            name = method["name"]
        if name not in METHODS or METHODS[name].assumed:
            raise Refused(f"{where}: a point has a method of one run")
        points.append((Fraction(point["epsilon"]), METHODS[name](method, budget)))
    places = [place for place, _ in points]
    if places != sorted(set(places)):
        raise Refused(f"{where}.points must rise")
    tangents = [(Fraction(one["at"]), Fraction(one["slope"])) for one in stated["tangents"]]
    first = Fraction(stated["first"])
    if max([first, *places, *(x for x, _ in tangents)]) > _FARTHEST:
        raise Refused(f"{where} has places beyond {_FARTHEST}")
    return _Side(first, tangents, points)


PROOFS: Final[dict[str, type[Method]]] = {**METHODS, Selection.name: Selection}
"""By name: the methods of a run, and that of the best of several."""
