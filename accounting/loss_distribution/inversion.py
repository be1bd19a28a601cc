"""δ(ε) of a composition from the transforms of its releases, proven from both sides.

Legend: S = Σℓ is the loss of all releases, M its moment function, δ(ε) = E[(1 − e^(ε − S))₊] for every real ε. For
c > 0, h > 0 and Λ = 2π/h, Poisson's summation formula gives

    (h/2π)·Σ_k M(z_k)·e^(−z_k·ε)/(z_k(z_k + 1)) = Σ_m e^(cmΛ)·δ(ε + mΛ),   z_k = c + ikh, all integers k and m.

The sum on the left is therefore an upper bound of δ(ε) itself; the terms m ≠ 0 are bounded by δ ≤ 1 and by Chernoff's
bound. The proofs are in `docs/soundness_loss_distribution.md`, section "The contour".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

from attrs import evolve, frozen

from .._kernels import loss_transforms as kernels
from ..bulk.parts import require_default_arithmetic
from ..enclosures import Enclosure, pi
from ..enclosures.arguments import non_negative, probability, whole
from ..exact import exact
from .transforms import Line, Logarithms, Transform, exact_point

Parts: TypeAlias = Sequence[tuple[Transform, int]]
"""Transforms in one direction and how often each is composed."""
USEFUL = Fraction(1, 1000)
"""The relative width of δ from which on a value is worth nothing here."""
Known: TypeAlias = tuple[tuple[Transform, int], ...]
"""Transforms whose parameters are known, without what loses nothing."""
_Each: TypeAlias = Sequence[tuple[Line, int]]

_NATS = 30.0  # what the step and the cut hide is near e^-30 of δ
_SPARE = 4.0  # and may be larger by e^4
_MOST_TRIALS, _MOST_REACHES, _MOST_PERIODS, _MOST_GAPS, _MOST_ROOTS, _MOST_LEVELS = 60, 24, 12, 6, 40, 5
_NEAR_LEVEL = 1e-3
_MOST_VALUES, _MOST_WORK, _MOST_SHARES = 1 << 17, 20_000_000, 32
_LITTLE_WORK, _NODES_PER_REACH = 1e7, 20.0
_NEARLY_ALL = 0.98
_MUCH_LONGER = 1.2  # than without rare large losses
_NEAR = 0.2  # of the width of the sum on the contour, at the end of searches
_NARROW = Fraction(1, 2**64)
_LONG, _PROGRESS = 500, 0.05  # nodes from which a longer line should prove so many nats more of a tail
_MOST_KEPT = 0.97  # of log|φ| where a tail begins is asked for beyond
_LONGEST_STEP = 3.0
_TIGHT = 2.0**-21
_LARGEST_LEVEL, _LARGEST_EXPONENT = 10**15, 5e4
_LARGEST_LOGARITHM = 200.0
_STEP_DIGITS = 24
_FEW = 16
_MANY_KINDS = 64  # from which on values take long
_FEWEST = 32  # releases, from which on lines are short
_POOR = 2.0**-13  # relative width of δ
_NOWHERE = math.nan, math.nan
_BEYOND = (1.0, 0.9, 0.75, 0.5)
_NEARER = (0.8, 0.5)


def delta_by_transforms(parts: Parts, epsilon: Enclosure) -> Enclosure | None:
    """δ(ε) of the independent releases, in the direction of the transforms.

    Args:
        parts: transforms, all in one direction, with how often each is composed (at least once).
        epsilon: ε ≥ 0.

    Returns:
        An enclosure of δ for every ε and all parameters inside; within [0, 1], and narrower than 10^-3 of δ where they
        are known. None where no such one was found: rare large losses among many small ones, nearly discrete losses,
        parameters out of range.

    Raises:
        InvalidType, InvalidValue: for other arguments.
    """
    require_default_arithmetic()
    return _hull(_delta, parts, non_negative("epsilon", epsilon))


def epsilon_by_transforms(parts: Parts, delta: Enclosure) -> Enclosure | None:
    """The smallest ε ≥ 0 with δ(ε) ≤ delta, for the independent releases in the direction of the transforms.

    Args:
        parts: as for `delta_by_transforms`.
        delta: in [0, 1].

    Returns:
        An enclosure for every δ and all parameters inside: found in floats, then proven by δ at both ends. None where
        no useful one was found, and at δ = 0.

    Raises:
        InvalidType, InvalidValue: for other arguments.
    """
    require_default_arithmetic()
    return _hull(_epsilon, parts, probability("delta", delta))


def is_enough(parts: Parts, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether δ(ε) ≤ δ follows from the largest loss or from one moment, for all parameters inside: no contour is made.

    Args:
        parts: as for `delta_by_transforms`.
        epsilon: ε ≥ 0.
        delta: δ.
    """
    require_default_arithmetic()
    _, upper = ends(parts)
    if never_beyond(upper, epsilon):
        return delta >= 0
    if not 0 < epsilon < _LARGEST_LEVEL or delta <= 0:
        return False
    point = _chernoff(upper, float(epsilon), 1.0)
    moments = None if point is None else _Moments.through(point.c, _on(upper, point.c, 0.0))
    if moments is None:
        return False
    return (moments.chernoff - exact(moments.c) * epsilon).upper <= Enclosure.of(delta).log().lower


_Law: TypeAlias = Callable[[Known, Enclosure, Enclosure | None], Enclosure | None]
"""The value for known parameters at a level; what is known of it for parameters next to them tells where to look."""


def _hull(law: _Law, parts: Parts, level: Enclosure) -> Enclosure | None:
    """The values of a law that falls with its level, between the parameters of both ends."""
    lower, upper = ends(parts)
    narrow = level.width <= _NARROW * level.upper  # one contour serves both ends
    high = law(upper, level if narrow else exact_point(level.lower), None)
    if high is None or (lower == upper and narrow):
        return high
    low = law(lower, level if narrow else exact_point(level.upper), high)
    return high.hull(0 if low is None else low)


def ends(parts: Parts) -> tuple[Known, Known]:
    """The composition that this one dominates and the one that dominates it, without what loses nothing."""
    sides: tuple[list[tuple[Transform, int]], ...] = ([], [])
    for transform, count in parts:
        whole("count", count, 1)
        for side, end in zip(sides, transform.ends, strict=True):
            if not end.null:
                side.append((end, count))
    return tuple(sides[0]), tuple(sides[1])


def _delta(parts: Known, epsilon: Enclosure, _: Enclosure | None = None) -> Enclosure | None:
    """Enclose δ(ε) for known parameters; None where nothing useful is proven."""
    if never_beyond(parts, epsilon.lower):
        return Enclosure.of(0)
    values = (contour.within(epsilon) for contour in contours_at(parts, epsilon.lower))
    return next((value for value in values if value is not None), None)


def never_beyond(parts: Known, epsilon: Fraction) -> bool:
    """Whether the loss of the releases is never above ε ≥ 0, so that δ(ε) is 0."""
    largest = _largest(parts)
    return not parts or (largest is not None and largest.upper <= epsilon)


def contours_at(parts: Known, epsilon: Fraction) -> Iterator[Contour]:
    """Contours meant for δ at this ε, the likeliest to tell it first."""
    if epsilon > _LARGEST_LEVEL:
        return
    level = float(epsilon)
    for here, _ in _nearer(parts, _at_level(parts, level), level):
        contour = _contour(parts, here, level)
        if contour is not None and not contour.hopeless:
            yield contour


def _epsilon(parts: Known, delta: Enclosure, beside: Enclosure | None) -> Enclosure | None:
    """Enclose ε(δ) for known parameters; None where nothing useful is proven."""
    if not parts or delta.lower >= 1:
        return Enclosure.of(0)
    if delta.lower == 0:
        return None
    wanted = float(Enclosure.of(delta.lower).log().midpoint)
    point = _at_log_delta(parts, wanted)
    if point is not None and point.epsilon <= 0:
        nothing = _delta(parts, Enclosure.of(0))
        if nothing is None:
            return None
        if nothing.upper <= delta.lower:
            return Enclosure.of(0)
        point = _at_level(parts, 0.0)
    low, high = 0.0, math.inf
    for _ in range(_MOST_LEVELS):
        first: tuple[Contour, float] | None = None
        farthest = high if point is None or high < math.inf else max(point.epsilon, 0.0)
        for here, near in _nearer(parts, point):
            contour = _contour(parts, here, near)
            if contour is None:
                continue
            # known before the terms are: the line is too short for δ at an ε that is hardly below the one sought
            long = here is not point and first is None  # the line; a lattice, which is next, is as near sooner
            short = contour.least_width_at(exact(near if long else farthest), wanted) > (_POOR if long else USEFUL)
            found = None if short else contour.epsilon(delta, wanted, near)
            if found is not None:
                return found
            if here is point:
                first = contour, near
                found = None if beside is None or not beside.lower else _beside(parts, delta, wanted, beside)
                if found is not None:
                    return found
            elif short and long:  # the others take more values
                return None
        if first is None:
            return None
        # Rare large losses: the saddle is that of their tail, though ε is elsewhere.
        contour, level = first
        # nearly discrete losses: the line is too short, or the terms beyond outweigh those on it
        if contour.least_width_at(exact(level), wanted) > USEFUL or contour.width_at(exact(level)) > 1:
            return None
        low, high = (level, high) if contour.log_delta(level) > wanted else (low, level)
        if high == math.inf or high - low < _NEAR_LEVEL * high:
            return None
        point = _at_level(parts, (low + high) / 2)
    return None


def _beside(parts: Known, delta: Enclosure, wanted: float, known: Enclosure) -> Enclosure | None:
    """Enclose ε(δ) by the contour for the ε of parameters next to these; None where it does not tell."""
    near = known.lower_float
    contour = contour_at(parts, near)
    return None if contour is None else contour.epsilon(delta, wanted, near)


def contour_at_delta(parts: Known, log_delta: float) -> tuple[Contour, float] | None:
    """A contour meant for the ε > 0 at which log δ is about so much, and that ε; None where none was found."""
    point = _at_log_delta(parts, log_delta)
    contour = None if point is None or point.epsilon <= 0 else _contour(parts, point, point.epsilon)
    return None if contour is None or point is None else (contour, point.epsilon)


def contour_at(parts: Known, epsilon: float) -> Contour | None:
    """A contour meant for δ at about this ε; None where none was found."""
    point = _at_level(parts, epsilon)
    return None if point is None else _contour(parts, point, epsilon)


@lru_cache(maxsize=_FEW)
def _at_log_delta(parts: Known, log_delta: float) -> _Saddle | None:
    return _saddle(parts, lambda here: _Miss(log_delta - here.log_delta, here.c**2 * here.curvature))


@lru_cache(maxsize=_FEW)
def _at_level(parts: Known, level: float) -> _Saddle | None:
    return _saddle(parts, lambda here: _Miss(here.epsilon - level, here.c * here.curvature))


def _largest(parts: Parts) -> Enclosure | None:
    """The least upper bound of the loss, where it is finite."""
    total = Enclosure.of(0)
    for transform, count in parts:
        largest = transform.largest
        if largest is None:
            return None
        total += largest * count
    return total


@frozen
class _Saddle:
    """Estimates at c: log M and its derivatives, the ε whose contour is best at c, and log δ there."""

    c: float
    log_moment: float
    slope: float
    variance: float

    @property
    def epsilon(self) -> float:
        return self.slope - 1 / self.c - 1 / (self.c + 1)

    @property
    def curvature(self) -> float:
        return self.variance + self.c**-2 + (self.c + 1) ** -2

    @property
    def log_delta(self) -> float:
        return self.at(self.epsilon) - math.log(2 * math.pi * self.curvature) / 2

    def at(self, epsilon: float) -> float:
        """Estimate the logarithm of M(c)·e^(−cε)/(c(c + 1))."""
        return self.log_moment - self.c * epsilon - math.log(self.c) - math.log(self.c + 1)


def _estimate(parts: Parts, c: float) -> _Saddle | None:
    found = [(count, transform.estimate(c)) for transform, count in parts]
    moment, slope, variance = (math.fsum(count * values[i] for count, values in found) for i in range(3))
    return _Saddle(c, moment, slope, variance) if variance > 0 and math.isfinite(moment) else None


@frozen
class _Miss:
    """By how much a search misses at c, and about the derivative of that in log c."""

    amount: float
    slope: float


def _saddle(parts: Parts, miss: Callable[[_Saddle], _Miss], start: float = 1.0) -> _Saddle | None:
    """The c near which a miss that rises with c is 0; None where none is found."""
    v, low, high = math.log(start), -math.inf, math.inf
    step = 1.0
    for _ in range(_MOST_TRIALS):
        here = _estimate(parts, math.exp(v))
        at = None if here is None else miss(here)
        if here is None or at is None or not abs(at.amount) < math.inf:
            high, move = v, -step
        else:
            move = min(max(-at.amount / at.slope, -_LONGEST_STEP), _LONGEST_STEP) if at.slope > 0 else math.nan
            low, high = (low, v) if at.amount >= 0 else (v, high)
            scale = here.c * math.sqrt(here.curvature)
            if scale * abs(move) < _NEAR or high - low < 2.0**-45:
                return here
        new = v + move
        if not low < new < high:
            new = (low + high) / 2 if high - low < math.inf else v + math.copysign(step, low - v + 1e-9)
        step = abs(new - v)
        if abs(new) > _LARGEST_LOGARITHM:
            return None
        v = new
    return None


@frozen
class Contour:
    """The terms of the trapezoid sum on the line of c, and what bounds all others.

    Attributes:
        parts: the releases.
        c: where the line crosses the real axis.
        step: h.
        lines: of each part.
        beyond: the moments at c′ > c, for Chernoff's bound; None where none were needed.
    """

    parts: Known
    c: float
    step: float
    lines: _Lines
    beyond: _Moments | None

    @cached_property
    def largest(self) -> Enclosure | None:
        """The least upper bound of the loss, where it is finite."""
        return _largest(self.parts)

    @cached_property
    def cut(self) -> Fraction:
        """A bound of the terms beyond, against the term k = 0."""
        c, step = exact(self.c), exact(self.step)
        share = 2 * c * (c + 1) / (step**2 * self.lines.count)
        return (Enclosure.of(exact(self.lines.tail)).exp() * share).upper

    def of_others(self, counts: Sequence[int]) -> Contour | None:
        """Return the terms for other numbers of the same releases, in their order; None where nothing is known."""
        lines = self.lines.of_others(counts)
        beyond = None if self.beyond is None else self.beyond.of_others(counts)
        if lines is None or (beyond is None) != (self.beyond is None):
            return None
        transforms = (transform for transform, _ in self.parts)
        parts = tuple(zip(transforms, counts, strict=True))
        return evolve(self, parts=parts, lines=lines, beyond=beyond)

    @cached_property
    def logarithms(self) -> Logarithms:
        """Return log φ at multiples of the step, summed over the releases."""
        found = Logarithms(self.step, self.lines.count)
        for line, times in self.lines.each:
            line.add(times, found)
        return found

    @cached_property
    def centre(self) -> Fraction:
        """The sum of all m."""
        return sum((line.centre * times for line, times in self.lines.each), Fraction(0))

    @property
    def hopeless(self) -> bool:
        """Whether the terms beyond hide what the terms on the line can add up to: |φ| ≤ 1 and Σ 1/(1 + (kh/c)²)."""
        return self.cut > USEFUL * (1 + exact(math.pi * self.c / self.step) + self.cut)

    def width_at(self, epsilon: Fraction) -> float:
        """About the relative width of δ(ε), or less; infinite where nothing is known."""
        total, hidden, _ = self._sum(epsilon)
        return 2 * (hidden + float(self.cut)) / total if total > 2 * hidden else math.inf

    def least_width_at(self, epsilon: Fraction, log_delta: float) -> float:
        """About the least relative width of δ(ε), where its logarithm is about that: known before the terms are."""
        log_total = log_delta + self.c * float(epsilon) - self._level
        return 2 * float(self.cut) * math.exp(min(-log_total, _LARGEST_LOGARITHM))

    def within(self, epsilon: Enclosure) -> Enclosure | None:
        """δ at every ε inside; None where it is not useful."""
        high = self.delta(epsilon.lower)
        if high is None or epsilon.is_point:
            return high
        low = self.delta(epsilon.upper)
        return None if low is None else high.hull(low)

    def delta(self, epsilon: Fraction) -> Enclosure | None:
        """δ(ε); None where it is not useful."""
        total, hidden, _ = self._sum(epsilon)
        if not math.isfinite(hidden):
            return None
        c, step = exact(self.c), exact(self.step)
        radius = exact(hidden) + self.cut
        sums = Enclosure.between(exact(total) - radius, exact(total) + radius)
        logarithm = self.lines.log_moment - c * epsilon
        if abs(logarithm).upper_float > _LARGEST_EXPONENT:
            return None
        value = sums * logarithm.exp() * (step / (c * (c + 1))) / (2 * pi())
        others = self._others(epsilon)
        upper, lower = value.upper, Fraction(0) if others is None else max(value.lower - others.upper, Fraction(0))
        if upper <= 0 or upper - lower > USEFUL * upper:
            return None
        return Enclosure.between(min(lower, Fraction(1)), min(upper, Fraction(1)))

    def log_delta(self, epsilon: float) -> float:
        """About log δ(ε); −inf where that is unknown."""
        total, hidden, _ = self._sum(exact(epsilon))
        return self._level + math.log(total) - self.c * epsilon if total > 2 * hidden else -math.inf

    def epsilon(self, delta: Enclosure, log_delta: float, start: float) -> Enclosure | None:
        """The ε with δ(ε) = δ, near the one that the contour is meant for; proven at both ends."""
        root, gap = _NOWHERE if self.hopeless else self._root(log_delta, start)
        if not math.isfinite(root):
            return None
        high = self._proven(root, gap, lambda value: value.upper <= delta.lower)
        low = Fraction(0) if root <= 0 else self._proven(root, -gap, lambda value: value.lower >= delta.upper)
        if high is None or low is None:
            return None
        return Enclosure.between(low, high)

    def upper_epsilon(self, delta: Fraction, log_delta: float, start: float) -> Fraction | None:
        """An ε with δ(ε) ≤ δ that the contour proves to be next to the least, found from a start; else None."""
        root, gap = _NOWHERE if self.hopeless else self._root(log_delta, start)
        if not gap <= _TIGHT * root:
            return None
        end = exact(root + gap)
        value = self.delta(end)
        tight = value is not None and value.upper <= delta and value.width <= exact(_TIGHT) * value.upper
        return end if tight else None

    def _sum(self, epsilon: Fraction) -> tuple[float, float, float]:
        terms = self.logarithms
        offset = float(self.centre - epsilon)
        return kernels.contour_sum(self.c, terms.step, offset, terms.size, terms.phase, terms.error)

    def _others(self, epsilon: Fraction) -> Enclosure | None:
        """Σ over m ≠ 0 of e^(cmΛ)·δ(ε + mΛ), from above; None where nothing is known."""
        if self.largest is not None and self.largest.upper <= epsilon + self._period.lower:
            return self._before
        if self.beyond is None or self._after is None:
            return None
        logarithm, share = self._after
        return self._before + (logarithm - exact(self.beyond.c) * epsilon).exp() * share

    @cached_property
    def _period(self) -> Enclosure:
        """Λ."""
        return 2 * pi() / exact(self.step)

    @cached_property
    def _before(self) -> Enclosure:
        """Σ over m < 0 of e^(cmΛ)·δ(ε + mΛ), from above."""
        return 1 / (self._period * exact(self.c)).expm1()

    @cached_property
    def _after(self) -> tuple[Enclosure, Enclosure] | None:
        """Chernoff's bound of the terms m > 0 is e^(logarithm − c′ε)·share; None without a c′."""
        if self.beyond is None:
            return None
        further = exact(self.beyond.c) - exact(self.c)
        return self.beyond.chernoff, 1 / (self._period * further).expm1()

    @property
    def _level(self) -> float:
        """About the logarithm of what the sum is multiplied by, beside e^(−cε)."""
        c, step = self.c, self.step
        return float(self.lines.log_moment.midpoint) - math.log(2 * math.pi / step) - math.log(c) - math.log(c + 1)

    def _root(self, log_delta: float, start: float) -> tuple[float, float]:
        """About ε, and how far from it a proof should succeed."""
        c, level = self.c, self._level
        root, gap, found = start, math.nan, exact(start)
        known: Fraction | None = None
        low, high = -math.inf, math.inf
        for _ in range(_MOST_ROOTS):
            total, hidden, slope = self._sum(found)
            if not total > 2 * hidden:
                if known is None:
                    return _NOWHERE
                found = exact(float((known + found) / 2))  # log δ bends: steps are too long where it falls slowly
                continue
            known = found
            falling = c + slope / total
            error = level + math.log(total) - c * float(found) - log_delta
            if not falling > 0:
                return _NOWHERE
            move = error / falling
            low, high = (max(low, float(found)), high) if error > 0 else (low, min(high, float(found)))
            root = max(float(found) + move, 0.0)
            relative = hidden / total + float(self.cut) / total + 2.0**-52 * abs(c * root) + 2.0**-44
            gap = 1.5 * relative / falling + 2.0**-51 * root
            if abs(move) <= gap or root == float(found):
                break
            if -math.inf < low < high < math.inf and not low < root < high:
                root = (low + high) / 2  # far out the slope is that of what hides δ
            found = exact(root)
        return root, gap

    def _proven(self, root: float, gap: float, holds: Callable[[Enclosure], bool]) -> Fraction | None:
        for _ in range(_MOST_GAPS):
            end = max(exact(root + gap), Fraction(0))
            value = self.delta(end)
            if value is not None and holds(value):
                return end
            if end == 0 and gap < 0:
                return end
            gap *= 8
        return None


def _nearer(parts: Known, point: _Saddle | None, level: float | None = None) -> Iterator[tuple[_Saddle, float]]:
    """The saddle, and points nearer to 0: where rare large losses decide about it, ε is not theirs.

    Where such losses make the saddle's period long, those come first whose lines take fewer values.

    Yields:
        The point, and the ε that its contour is meant for: the level, or its own.
    """
    if point is None:
        return
    saddle = point, max(point.epsilon, 0.0) if level is None else level
    nearer = (_estimate(parts, share * point.c) for share in _NEARER)
    others = ((here, max(here.epsilon, 0.0) if level is None else level) for here in nearer if here is not None)
    few = sum(count * transform.releases for transform, count in parts) <= _FEWEST
    many = any(transform.kinds >= _MANY_KINDS for transform, _ in parts)
    if (few or many) and _period(parts, *saddle).extended and _is_long(parts, *saddle):
        yield from sorted((saddle, *others), key=lambda pair: _period(parts, *pair).length)
    else:
        yield saddle
        yield from others


@lru_cache(maxsize=_FEW)
def _contour(parts: Known, point: _Saddle, epsilon: float) -> Contour | None:
    """The contour through a point near the saddle for ε."""
    c = point.c
    period = _period(parts, point, epsilon)
    mantissa, exponent = math.frexp(2 * math.pi / period.length)
    step = math.ldexp(math.floor(math.ldexp(mantissa, _STEP_DIGITS)), exponent - _STEP_DIGITS)
    size = math.log(c) + math.log(c + 1) + math.log(point.curvature) / 2  # of 1/(z(z + 1)), against δ
    lines = _lines(parts, point, step, lambda reach: _NATS + size - math.log(reach))
    if lines is None:
        return None
    right = None if period.beyond is None else _beyond(parts, c, period.beyond)
    return Contour(parts, c, step, lines, right)


@frozen
class _Moments:
    """The line of each part through c, and log M(c)."""

    c: float
    each: _Each
    log_moment: Enclosure

    @classmethod
    def through(cls, c: float, each: _Each | None) -> _Moments | None:
        """None where the moment is not known."""
        moment = _log_moment(each)
        return None if each is None or moment is None else cls(c, each, moment)

    @property
    def chernoff(self) -> Enclosure:
        """The logarithm of a bound of δ(ε)·e^(cε): κM(c), (1 − e^(−t))₊ ≤ κe^(ct), κ = c^c/(1 + c)^(1 + c)."""
        c = exact(self.c)
        return self.log_moment + Enclosure.of(c).log() * c - Enclosure.of(1 + c).log() * (1 + c)

    def of_others(self, counts: Sequence[int]) -> _Moments | None:
        """The same for other numbers of releases."""
        return self.through(self.c, _counted(self.each, counts))


def _beyond(parts: Parts, c: float, beyond: float) -> _Moments | None:
    """The moments at the given c′, or at one between c and it."""
    for part in _BEYOND:
        further = c + part * (beyond - c)
        found = _Moments.through(further, _on(parts, further, 0.0))
        if found is not None:
            return found
    return None


def _is_long(parts: Known, point: _Saddle, epsilon: float) -> bool:
    """Whether |φ| is hardly small at the end of a line with as many nodes and values as are little work."""
    step = 2 * math.pi / _period(parts, point, epsilon).length
    reach, told = math.sqrt(_LITTLE_WORK * step / _NODES_PER_REACH), 0.0
    for _ in range(2):
        each = _on(parts, point.c, reach)
        if each is None:
            return True
        told = math.fsum(line.estimate(reach) * times for line, times in each)
        reach *= math.sqrt(_LITTLE_WORK / (reach / step * sum(line.nodes for line, _ in each)))
    return told > -_NATS


@frozen
class _Period:
    """What makes the terms m ≠ 0 small, in estimates.

    Attributes:
        length: Λ.
        beyond: c′ > c; None where none is needed or found.
        extended: whether rare large losses make Λ much longer.
    """

    length: float
    beyond: float | None
    extended: bool


@lru_cache(maxsize=_FEW)
def _period(parts: Known, point: _Saddle, epsilon: float) -> _Period:
    c = point.c
    log_delta = point.at(epsilon) - math.log(2 * math.pi * point.curvature) / 2
    largest = _largest(parts)
    end = math.inf if largest is None else largest.upper_float
    least = period = max((_NATS - log_delta) / c, math.sqrt(2 * _NATS * point.variance))
    beyond = None
    for _ in range(_MOST_PERIODS):
        if end < epsilon + period * (1 - 2.0**-20):
            break
        there = _chernoff(parts, epsilon + period, c + min(period / point.variance, c) / 2)
        if there is not None and there.c > c:
            chernoff = there.log_moment - there.c * epsilon + there.c * math.log(there.c)
            chernoff -= (1 + there.c) * math.log1p(there.c) + (there.c - c) * period
            if chernoff <= log_delta - _NATS + _SPARE:
                beyond = there.c
                break
        period *= 1.4
    return _Period(period, beyond, period > _MUCH_LONGER * least)


def _chernoff(parts: Parts, level: float, start: float) -> _Saddle | None:
    """Estimate the c at which κ(c)·M(c)·e^(−c·level) is least."""
    return _saddle(
        parts,
        lambda here: _Miss(
            here.slope + math.log(here.c) - math.log1p(here.c) - level, here.c * here.variance + 1 / (here.c + 1)
        ),
        start,
    )


@frozen
class _Lines:
    """The line of each part, how many values are taken on it, log M(c), and a bound of each log|φ| beyond."""

    each: _Each
    count: int
    log_moment: Enclosure
    tails: Sequence[float]

    @property
    def tail(self) -> float:
        """A bound of log|Πφ| beyond."""
        return _weighted(self.tails, self.each)

    def of_others(self, counts: Sequence[int]) -> _Lines | None:
        """The same for other numbers of releases; None where the moment is not known."""
        each = _counted(self.each, counts)
        moment = _log_moment(each)
        return None if moment is None else evolve(self, each=each, log_moment=moment)


def _weighted(tails: Sequence[float], each: _Each) -> float:
    return math.fsum(tail * times for tail, (_, times) in zip(tails, each, strict=True)) * (1 - 2.0**-40)


def _counted(each: _Each, counts: Sequence[int]) -> _Each:
    return [(line, times) for (line, _), times in zip(each, counts, strict=True)]


def _lines(parts: Parts, point: _Saddle, step: float, need: Callable[[float], float]) -> _Lines | None:
    """Lines long enough that Πφ is below e^−need beyond, or as long as is affordable."""
    reach = math.sqrt(2.2 * max(need(math.sqrt(_NATS / point.variance)), 1.0) / point.variance)
    best = None
    for _ in range(_MOST_REACHES):
        count = max(2, math.ceil(reach / step))
        reach = count * step
        each = _on(parts, point.c, reach)
        # a lattice, which would be next, takes longer for many parts, too
        most_work = _MOST_WORK * min(sum(transform.kinds for transform, _ in parts), _MOST_SHARES)
        if each is None or count > _MOST_VALUES or count * sum(line.nodes for line, _ in each) > most_work:
            break
        wanted = need(reach)
        here = math.fsum(line.estimate(reach) * times for line, times in each)
        share = min(-wanted / here, _MOST_KEPT) if here < -_MOST_KEPT * wanted else 0.0
        tails = [line.tail(reach, share * line.estimate(reach)) for line, _ in each]
        tail = _weighted(tails, each)
        long = sum(line.nodes for line, _ in each) > _LONG
        stuck = long and share > 0 and best is not None and best[2] < -_PROGRESS and 0 < best[2] - tail < _PROGRESS
        best = (each, count, tail, tails) if best is None or tail < best[2] else best
        if tail < -0.9 * wanted or stuck:
            break
        longer = min(max(math.sqrt(wanted / -here), 1.2), 2.0) if here < 0 else 2.0
        most = math.sqrt(most_work / max(count * sum(line.nodes for line, _ in each), 1))  # both grow with it
        reach *= min(longer, _NEARLY_ALL * most) if most > 1.2 else longer
    if best is None:
        return None
    moment = _log_moment(best[0])
    return None if moment is None else _Lines(best[0], best[1], moment, best[3])


def _on(parts: Parts, c: float, reach: float) -> _Each | None:
    steps = sum(count for _, count in parts)
    found = []
    for transform, count in parts:
        line = transform.on(c, reach=reach, steps=steps)
        if line is None:
            return None
        found.append((line, count))
    return found


def _log_moment(lines: _Each | None) -> Enclosure | None:
    """Enclose the sum of the releases' log M(c); None where one is not known."""
    total = Enclosure.of(0)
    for line, count in lines or ():
        own = line.log_moment
        if own is None:
            return None
        total += own * count
    return None if lines is None else total
