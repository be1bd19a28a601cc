"""δ(ε) of a composition from the transforms of its releases, proven from both sides.

Legend: S = Σℓ is the loss of all releases, M its moment function, δ(ε) = E[(1 − e^(ε − S))₊] for every real ε. For
c > 0, h > 0 and Λ = 2π/h, Poisson's summation formula gives

    (h/2π)·Σ_k M(z_k)·e^(−z_k·ε)/(z_k(z_k + 1)) = Σ_m e^(cmΛ)·δ(ε + mΛ),   z_k = c + ikh, all integers k and m.

The sum on the left is therefore an upper bound of δ(ε) itself; the terms m ≠ 0 are bounded by δ ≤ 1 and by Chernoff's
bound. The proofs are in `docs/soundness_loss_distribution.md`, section "The contour".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

from attrs import frozen

from ..arguments import non_negative, probability, whole
from ..enclosures import Enclosure, pi
from ..exact import exact
from .transforms import Logarithms, Transform

Parts: TypeAlias = Sequence[tuple[Transform, int]]
"""Transforms in one direction and how often each is composed."""

_NATS = 30.0  # what the step and the cut hide is near e^-30 of δ
_FLOOR = 26.0
_USEFUL = Fraction(1, 1000)  # the relative width from which on a value is worth nothing here
_MOST_VALUES = 1 << 16
_MOST_WORK = 100_000_000
_LOWEST, _HIGHEST = -40.0, 33.0  # of log c in searches
_BEYOND = (1.0, 0.6, 0.35, 0.2, 0.1, 0.05)
_STEP_DIGITS = 24
_GAPS = 6


def delta_by_transforms(parts: Parts, epsilon: Enclosure) -> Enclosure | None:
    """δ(ε) of the independent releases, in the direction of the transforms.

    Args:
        parts: transforms, all in one direction, with how often each is composed (at least once).
        epsilon: ε ≥ 0.

    Returns:
        An enclosure of δ for every ε and all parameters inside; within [0, 1]. None where no useful one was found:
        few releases whose loss is nearly discrete, parameters out of range, or δ next to 1.

    Raises:
        InvalidType, InvalidValue: for other arguments.
    """
    lower, upper = _ends(parts)
    level = non_negative("epsilon", epsilon)
    high = _delta(upper, level.lower)
    if high is None or (lower == upper and level.is_point):
        return high
    low = _delta(lower, level.upper)
    return None if low is None else low.hull(high)


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
    lower, upper = _ends(parts)
    level = probability("delta", delta)
    high = _epsilon(upper, level.lower)
    if high is None or (lower == upper and level.is_point):
        return high
    low = _epsilon(lower, level.upper)
    return None if low is None else low.hull(high)


def _ends(parts: Parts) -> tuple[list[tuple[Transform, int]], list[tuple[Transform, int]]]:
    """The composition that this one dominates and the one that dominates it, without what loses nothing."""
    sides: tuple[list[tuple[Transform, int]], ...] = ([], [])
    for transform, count in parts:
        whole("count", count, 1)
        for side, end in zip(sides, transform.ends, strict=True):
            if not end.null:
                side.append((end, count))
    return sides[0], sides[1]


def _delta(parts: Parts, epsilon: Fraction) -> Enclosure | None:
    """δ(ε) for known parameters."""
    if not parts or _never_exceeds(parts, epsilon):
        return Enclosure.of(0)
    level = float(epsilon) if epsilon < 10**15 else math.inf
    point = _saddle(parts, lambda saddle: saddle.epsilon >= level)
    contour = None if point is None else _contour(parts, point, level)
    return None if contour is None else contour.delta(epsilon)


def _epsilon(parts: Parts, delta: Fraction) -> Enclosure | None:
    """ε(δ) for known parameters."""
    if not parts or delta >= 1:
        return Enclosure.of(0)
    if delta == 0:
        return None
    wanted = float(Enclosure.of(delta).log().midpoint)
    point = _saddle(parts, lambda saddle: saddle.log_delta <= wanted)
    if point is not None and point.epsilon <= 0:
        nothing = _delta(parts, Fraction(0))
        if nothing is None:
            return None
        if nothing.upper <= delta:
            return Enclosure.of(0)
        point = _saddle(parts, lambda saddle: saddle.epsilon >= 0)
    contour = None if point is None else _contour(parts, point, max(point.epsilon, 0.0))
    return None if contour is None else contour.epsilon(delta, wanted)


def _never_exceeds(parts: Parts, epsilon: Fraction) -> bool:
    """Whether the loss is proven to be at most ε."""
    total = Enclosure.of(0)
    for transform, count in parts:
        largest = transform.largest
        if largest is None:
            return False
        total += largest * count
    return total.upper <= epsilon


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
        """log of M(c)·e^(−cε)/(c(c + 1))."""
        return self.log_moment - self.c * epsilon - math.log(self.c) - math.log(self.c + 1)


def _estimate(parts: Parts, c: float) -> _Saddle | None:
    found = [(count, transform.estimate(c)) for transform, count in parts]
    moment, slope, variance = (math.fsum(count * values[i] for count, values in found) for i in range(3))
    return _Saddle(c, moment, slope, variance) if variance > 0 and math.isfinite(moment) else None


def _saddle(parts: Parts, above: Callable[[_Saddle], bool]) -> _Saddle | None:
    """The least c, nearly, at which `above` holds; it is false for small c and true for large ones."""
    low, high = _LOWEST, _HIGHEST
    v, step, best = 0.0, 1.0, None
    rising: bool | None = None
    for _ in range(60):
        here = _estimate(parts, math.exp(v))
        if here is None or above(here):
            high, best = v, here if here is not None else best
            new = v - step if rising is not True else (low + high) / 2
            rising = False if rising is None else rising
        else:
            low = v
            new = v + step if rising is not False else (low + high) / 2
            rising = True if rising is None else rising
        if low > _LOWEST and high < _HIGHEST:
            new = (low + high) / 2
        if high - low < 1e-3 or not _LOWEST <= new <= _HIGHEST:
            break
        step *= 2
        v = new
    return best


@frozen
class _Contour:
    """The terms of the trapezoid sum on the line of c, and what bounds all others.

    Attributes:
        c: where the line crosses the real axis.
        logarithms: of φ, summed over the releases.
        centre: the sum of all m.
        log_moment: log M(c).
        cut: a bound of the terms beyond, against the term k = 0.
        beyond: c′ > c, for Chernoff's bound.
        log_moment_beyond: log M(c′).
    """

    c: float
    logarithms: Logarithms
    centre: Fraction
    log_moment: Enclosure
    cut: Fraction
    beyond: float
    log_moment_beyond: Enclosure

    def delta(self, epsilon: Fraction) -> Enclosure | None:
        """δ(ε); None where it is not useful."""
        total, hidden, _ = self._sum(epsilon)
        if not math.isfinite(hidden):
            return None
        c, step = exact(self.c), exact(self.logarithms.step)
        radius = exact(hidden) + self.cut
        sums = Enclosure.between(exact(total) - radius, exact(total) + radius)
        value = sums * (self.log_moment - c * epsilon).exp() * (step / (c * (c + 1))) / (2 * pi())
        others = self._others(epsilon)
        upper, lower = value.upper, max(value.lower - others.upper, Fraction(0))
        if upper <= 0 or upper - lower > _USEFUL * upper:
            return None
        return Enclosure.between(min(lower, Fraction(1)), min(upper, Fraction(1)))

    def epsilon(self, delta: Fraction, log_delta: float) -> Enclosure | None:
        """The ε with δ(ε) = δ, near the one that the contour is meant for; proven at both ends."""
        root, gap = self._root(log_delta)
        if not math.isfinite(root):
            return None
        high = self._proven(root, gap, lambda value: value.upper <= delta)
        low = Fraction(0) if root <= 0 else self._proven(root, -gap, lambda value: value.lower >= delta)
        if high is None or low is None:
            return None
        return Enclosure.between(low, high)

    def _sum(self, epsilon: Fraction) -> tuple[float, float, float]:
        from .._kernels import loss_transforms as kernels

        terms = self.logarithms
        offset = float(self.centre - epsilon)
        return kernels.contour_sum(self.c, terms.step, offset, terms.size, terms.phase, terms.error)

    def _others(self, epsilon: Fraction) -> Enclosure:
        """Σ over m ≠ 0 of e^(cmΛ)·δ(ε + mΛ), from above."""
        period = 2 * pi() / exact(self.logarithms.step)
        c, beyond = exact(self.c), exact(self.beyond)
        largest = Enclosure.of(beyond).log() * beyond - Enclosure.of(1 + beyond).log() * (1 + beyond)
        right = (self.log_moment_beyond - beyond * epsilon + largest).exp() / (period * (beyond - c)).expm1()
        return 1 / (period * c).expm1() + right

    def _root(self, log_delta: float) -> tuple[float, float]:
        """About ε, and how far from it a proof should succeed."""
        c = self.c
        level = float(self.log_moment.midpoint) - math.log(2 * math.pi * c * (c + 1) / self.logarithms.step)
        root = float(self.centre)
        found = exact(root)
        gap = math.nan
        for _ in range(40):
            total, hidden, slope = self._sum(found)
            if not total > 2 * hidden:
                return math.nan, math.nan
            falling = c + slope / total
            error = level + math.log(total) - c * float(found) - log_delta
            if not falling > 0:
                return math.nan, math.nan
            move = error / falling
            root = max(float(found) + move, 0.0)
            relative = hidden / total + float(self.cut) / total + 2.0**-52 * abs(c * root) + 2.0**-44
            gap = 1.5 * relative / falling + 2.0**-51 * root
            if abs(move) <= gap or root == float(found):
                break
            found = exact(root)
        return root, gap

    def _proven(self, root: float, gap: float, holds: Callable[[Enclosure], bool]) -> Fraction | None:
        for _ in range(_GAPS):
            end = max(exact(root + gap), Fraction(0))
            value = self.delta(end)
            if value is not None and holds(value):
                return end
            if end == 0 and gap < 0:
                return end
            gap *= 8
        return None


def _contour(parts: Parts, point: _Saddle, epsilon: float) -> _Contour | None:
    """The contour through a point near the saddle for ε."""
    spare = math.log(2 * math.pi * point.curvature) / 2  # δ is less than the bound at c by about e^−spare
    log_delta = point.at(epsilon) - spare
    plan = _period(parts, point, epsilon, log_delta)
    if plan is None:
        return None
    step, beyond = plan
    terms = _terms(parts, point, step, _NATS + max(spare, 0.0))
    if terms is None:
        return None
    logarithms, centre, moment, tail = terms
    moment_beyond = _log_moment(parts, beyond)
    if moment_beyond is None:
        return None
    c, h = exact(point.c), exact(step)
    cut = Enclosure.of(exact(tail)).exp() * (2 * c * (c + 1) / (h * h * logarithms.size.size))
    return _Contour(point.c, logarithms, centre, moment, cut.upper, beyond, moment_beyond)


def _period(parts: Parts, point: _Saddle, epsilon: float, log_delta: float) -> tuple[float, float] | None:
    """The step h and a c′ > c for which the terms m ≠ 0 are small."""
    c = point.c
    wanted = log_delta - _NATS
    period = max(-wanted / c, math.sqrt(2 * (_NATS + 5) / point.curvature**-1))
    for _ in range(12):
        best, beyond = math.inf, c
        for part in _BEYOND:
            further = c + part * period / point.variance if point.variance * _HIGHEST > 1e-280 else c * (1 + part)
            further = min(further, c * 1e6 + 1e6)
            there = _estimate(parts, further)
            if there is None:
                continue
            chernoff = there.log_moment - further * epsilon + further * math.log(further)
            chernoff -= (1 + further) * math.log1p(further) + (further - c) * period
            if chernoff < best:
                best, beyond = chernoff, further
        if best <= log_delta - _FLOOR:
            break
        period *= 1.4
    if beyond <= c:
        return None
    mantissa, exponent = math.frexp(2 * math.pi / period)
    return math.ldexp(math.floor(math.ldexp(mantissa, _STEP_DIGITS)), exponent - _STEP_DIGITS), beyond


def _terms(
    parts: Parts, point: _Saddle, step: float, nats: float
) -> tuple[Logarithms, Fraction, Enclosure, float] | None:
    """The logarithms up to where the rest is cut, the sum of the centres, log M(c), and the bound of the rest."""
    steps = sum(count for _, count in parts)
    reach = math.sqrt(2.2 * nats / point.variance)
    for _ in range(12):
        count = max(4, math.ceil(reach / step))
        if count > _MOST_VALUES:
            return None
        reach = count * step
        work = min(_MOST_WORK // (count * len(parts)), _MOST_WORK)
        logarithms, centre, moment = Logarithms(step, count), Fraction(0), Enclosure.of(0)
        lines = []
        for transform, times in parts:
            line = transform.on(point.c, reach=reach, steps=steps, work=work)
            own = None if line is None else line.log_moment
            if line is None or own is None:
                return None
            line.add(times, logarithms)
            centre += line.centre * times
            moment += own * times
            lines.append((line, times))
        if logarithms.size[-1] < -nats:
            enough = int((logarithms.size >= -nats).nonzero()[0][-1]) + 2 if logarithms.size[0] >= -nats else 1
            logarithms.cut(max(1, enough))
        tail = math.fsum(line.tail(logarithms.reach) * times for line, times in lines)
        if tail < -0.9 * nats + math.log(logarithms.reach / step + 1):
            return logarithms, centre, moment, tail * (1 - 1e-12)
        reach *= 1.5
    return None


def _log_moment(parts: Parts, c: float) -> Enclosure | None:
    steps = sum(count for _, count in parts)
    total = Enclosure.of(0)
    for transform, count in parts:
        line = transform.on(c, reach=0.0, steps=steps)
        own = None if line is None else line.log_moment
        if own is None:
            return None
        total += own * count
    return total
