"""Sums of losses on a lattice by Fourier transforms. Every number here is a bound, or has one of its error.

Legend: as in `lattice`. The proofs are in `docs/soundness_lattice.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import final

import numpy as np
from attrs import evolve, frozen

from .._kernels import fft
from .._kernels import lattice as kernels
from ..bulk import arrays as bulk
from ..display import rounded_up
from ..enclosures import Enclosure, Truth
from ..errors import InvalidValue
from ..exact import Floats
from .cells import RAISED, Lattice, LossLaw
from .lattice_plans import MOST_POINTS, Parts, Piece, Plan, Window

_BITS = 64
_UNIT = 2.0**-53


@final
@frozen(eq=False)
class _Side:
    """What belongs to the laws of a term on one side.

    Attributes:
        masses: tilted masses of the sum, at index modulo N.
        off: a bound of how far each of them is off.
        largest: a bound of all of them together.
        over, under: bounds of those above and below the window.
    """

    masses: Floats
    off: float
    largest: Enclosure
    over: Enclosure
    under: Enclosure


@final
@frozen(eq=False)
class _Term:
    """The law of the sum of the losses of some pieces, from both sides.

    Attributes:
        window: where it is.
        scale: the sum of the logarithms that masses were divided by, less that of how often the term occurs.
        last: the last index that a finite sum of losses can have.
        above, below: the two sides; no lower one where a part has none.
    """

    window: Window
    scale: Enclosure
    last: int
    above: _Side
    below: _Side | None

    def upper_delta(self, distance: float, spacing: float) -> Enclosure:
        """A number that δ of the finite losses does not exceed, at a number that far from index 0."""
        side, window = self.above, self.window
        least = _least_index(distance, spacing)
        first = max(least, window.start)
        if first > self.last:
            return _point(0.0)
        sums = self._sums(side, first, distance, spacing)
        total = _point(sums[0]) + _point(sums[1]) + _point(side.off) * _point(sums[2])
        total = total + side.largest * _point(sums[3])
        over = side.over * (_point(window.tilt) * min(0, first - window.end)).exp()
        if least < window.start:  # what lies between ε and the window counts, too
            over = over + side.under * (_point(window.tilt) * (first - least)).exp()
        return (total.maximum(0) + over) * self._scaled(first)

    def lower_delta(self, distance: float, spacing: float) -> Enclosure:
        """A number that it is not below."""
        side = self.below
        if side is None:
            return _point(0.0)
        first = max(_least_index(distance, spacing), self.window.start)
        sums = self._sums(side, first, distance, spacing)
        missing = _point(sums[1]) + _point(side.off) * _point(sums[2]) + (side.over + side.under) * _point(sums[4])
        return (_point(sums[0]) - missing).maximum(0) * self._scaled(first)

    def _sums(self, side: _Side, first: int, distance: float, spacing: float) -> list[float]:
        sums = np.zeros(5)
        if first < self.window.end:  # an index beyond the window may be beyond the machine's integers, too
            kernels.hockey_stick(side.masses, self.window.start, first, self.window.tilt, spacing, distance, sums)
        return [float(value) for value in sums]

    def _scaled(self, first: int) -> Enclosure:
        return (self.scale - _point(self.window.tilt) * first).exp()


@final
@frozen(eq=False)
class _Scatter:
    """How far losses below may have moved that were split between the two points around them, step 12.

    Attributes:
        releases: of how many releases, times the square of a cell's width in spacings.
        spacing: h.
        tilt: Θ, per index.
        log_moment: log E[e^(Θ·index)] of the losses themselves, from above.
        room: a, in spacings.
    """

    releases: float
    spacing: float
    tilt: float
    log_moment: Enclosure
    room: float

    def missing(self, distance: Enclosure) -> Enclosure:
        """By how much δ at `distance` + `room` may exceed δ of the losses themselves at `distance`, in spacings."""
        steeper = _point(max(self.tilt, 4 * self.room / self.releases - self.spacing / 2))
        spread = steeper * (steeper + _point(self.spacing)) * _point(self.releases) / 8
        exponent = spread - steeper * _point(self.room) + self.log_moment - distance * _point(self.tilt)
        return exponent.minimum(0).exp()

    def made_for(self, log_delta: float, epsilon: float) -> _Scatter:
        """The room at which what is missing matters little against e^log_delta at ε, in spacings."""
        n, h = self.releases, self.spacing
        nats = max(self.log_moment.upper_float - self.tilt * epsilon - log_delta + _SPARE_NATS, 1.0)
        room = n * h / 8 + math.sqrt(n * nats / 2)
        if 4 * room / n - h / 2 < self.tilt:
            room = nats / self.tilt + n * (h + self.tilt) / 8
        return evolve(self, room=room)


_SPARE_NATS = 10.0
_LIKELY_NATS = 15.0
_MOST_NATS = 20_000.0
_MOST_LOWERED = 2.0**-16


@final
@frozen(eq=False)
class Composed:
    """The law of the sum of the losses, from both sides.

    Attributes:
        plan: where it is.
        terms: the finite losses, of which several are added up where rare ones are apart.
        rest: a bound of the masses of the terms left out.
        infinite, certain: bounds of the mass at infinite losses, above and below.
        last: the last index that a finite sum of losses can have.
        offset: the loss at index 0 of the sum.
        raised: a bound of how far the losses below were raised, all together.
        scatter: how far those may have moved that were split, below; None where none were.
    """

    plan: Plan
    terms: tuple[_Term, ...]
    rest: Enclosure
    infinite: Enclosure
    certain: Enclosure | None
    last: int
    offset: Enclosure
    raised: Enclosure
    scatter: _Scatter | None

    def delta(self, least: float, greatest: float) -> Enclosure:
        """Enclose δ(ε) for every ε in [least, greatest]."""
        return Enclosure.between(self.lower_delta(greatest).lower, self.upper_delta(least).upper, precision=_BITS)

    def upper_delta(self, epsilon: float) -> Enclosure:
        """A number that δ(ε) does not exceed."""
        distance = (-self.offset + Fraction(epsilon)).lower_float
        found = self.infinite + self.rest
        for term in self.terms:
            found = found + term.upper_delta(distance, self.plan.spacing)
        return _upper_end(found)

    @property
    def least_delta(self) -> Enclosure:
        """A bound of what no ε takes away."""
        return _upper_end(self.infinite + self.rest)

    def lower_delta(self, epsilon: float) -> Enclosure:
        """A number that δ(ε) is not below."""
        if self.certain is None:
            return Enclosure.of(0, precision=_BITS)
        shifted = self.raised - self.offset + Fraction(epsilon)
        found = self.certain
        if self.scatter is not None:
            spacing = _point(self.plan.spacing)
            found = found - self.scatter.missing(shifted / spacing)
            shifted = shifted + spacing * _point(self.scatter.room)
        distance = shifted.upper_float
        for term in self.terms:
            found = found + term.lower_delta(distance, self.plan.spacing)
        return _lower_end(found.maximum(0))

    def epsilon(self, delta: Enclosure) -> Enclosure:
        """The least ε ≥ 0 with δ(ε) ≤ δ.

        Raises:
            InvalidValue: where the mass at infinite losses is not proven to be at most δ.
        """
        if self.least_delta.upper > delta.lower:
            raise InvalidValue(
                "delta",
                delta,
                f"a δ above the mass at infinite losses, {rounded_up(self.least_delta.upper_float, 3)}",
                "Choose a larger δ, or more lattice points.",
            )
        end = max((_point(self.plan.spacing) * (self.last + 1) + self.offset).upper_float, 0.0)
        if self.upper_delta(0.0).upper <= delta.lower:
            return Enclosure.of(0, precision=_BITS)
        upper = _crossing(self.upper_delta, delta.lower, self.plan, end)[1]
        return Enclosure.between(self._lower_epsilon(delta.upper, upper), upper, precision=_BITS)

    def _lower_epsilon(self, delta: Fraction, upper: float) -> float:
        """An ε ≥ 0 at which δ(ε) is above δ, or 0; it is sought right below `upper`, for which the tilt was made."""
        if self.certain is None:
            return 0.0
        high, below = upper, upper * _CLOSE
        while below < upper:
            low = upper - below
            if self.lower_delta(low).upper > delta:
                return _crossing(self.lower_delta, delta, self.plan, high, low)[0]
            high, below = low, 4 * below
        return 0.0

    def masses(self) -> tuple[Floats, Floats]:
        """The losses of the window and about their masses."""
        term = self.terms[0]
        window = term.window
        indices = np.arange(window.start, window.end)
        distances = indices.astype(np.float64)
        masses = term.above.masses[indices % indices.size] * np.exp(term.scale.upper_float - window.tilt * distances)
        losses = distances * self.plan.spacing + self.offset.upper_float
        return losses, np.maximum(masses, 0.0)


def _crossing(
    law: Callable[[float], Enclosure], delta: Fraction, plan: Plan, end: float, start: float = 0.0
) -> tuple[float, float]:
    """Two numbers from `start` to `end`, close to each other, between which a law falls to δ.

    At the first the law is above δ, or it is `start`; at the second it is at most δ, or it is `end`. The law returns
    points.
    """
    aim = _log(delta)
    low, high = start, end
    slope = plan.slope / plan.spacing
    at, before = min(max(plan.epsilon, start), end), None
    for _ in range(_MOST_STEPS):
        value = law(at).upper
        excess = _log(value) - aim
        if value <= delta:
            high = min(high, at)
        else:
            low = max(low, at)
        if high - low <= _FINE * high:
            break
        if before is not None and before[0] != at and before[1] != excess and math.isfinite(before[1] - excess):
            slope = (before[1] - excess) / (at - before[0])
        before = at, excess
        step = excess / slope if slope > 0 and math.isfinite(excess) else math.nan
        # beyond the root by a little, so that the bracket closes from both sides
        proposed = at + step + math.copysign(_FINE / 4 * at, step)
        at = proposed if low < proposed < high else (low + high) / 2
    return low, high


_MOST_STEPS = 80
_FINE = 2.0**-36
_CLOSE = 2.0**-12


def _log(value: Fraction) -> float:
    """log of a number ≥ 0, about."""
    if not value:
        return -math.inf
    shift = value.numerator.bit_length() - value.denominator.bit_length()
    return math.log(value / Fraction(2) ** shift) + shift * math.log(2)


def _least_index(distance: float, spacing: float) -> int:
    """The least index that many spacings beyond index 0."""
    return math.ceil(Fraction(distance) / Fraction(spacing))


def _point(value: float) -> Enclosure:
    return Enclosure.of(value, precision=_BITS)


@cache
def _least_written() -> Enclosure:
    """About 10^-9864: no bound of a probability need be smaller, and as a fraction it is short."""
    return Enclosure.of(Fraction(1, 1 << (1 << 15)), precision=_BITS)


def _upper_end(bound: Enclosure) -> Enclosure:
    """A point that a probability below the bound does not exceed, however large or small the bound is."""
    none = bound.less_equal(0) is Truth.TRUE
    return Enclosure.of(0 if none else bound.minimum(1).maximum(_least_written()).upper, precision=_BITS)


def _lower_end(bound: Enclosure) -> Enclosure:
    """A point that a probability above the bound is not below."""
    tiny = bound.less(_least_written()) is not Truth.FALSE
    return Enclosure.of(0 if tiny else bound.minimum(1).lower, precision=_BITS)


@final
@frozen(eq=False)
class _Masses:
    """The masses of one release of a part at the points of its lattice, from both sides, and at infinite losses."""

    first: int
    upper: Floats
    lower: Floats
    infinite: float
    certain: float

    def piece(self, piece: Piece) -> tuple[Floats, Floats]:
        """Return the masses at the indices of a piece."""
        indices = slice(piece.first - self.first, piece.end - self.first)
        return self.upper[indices], self.lower[indices]


@lru_cache(maxsize=8)
def composed(parts: Parts, plan: Plan) -> Composed:
    """Compose the parts on the lattice of a plan."""
    if any(count > MOST_POINTS for _, count in plan.ranges):
        raise InvalidValue("parts", "losses far apart", "losses of one release within the largest lattice")
    bulk.exp(np.zeros(1))  # refuses where the thread's arithmetic is not that of the proofs
    two_sided = all(cells.below is not None for cells, _ in parts)
    offset = Enclosure.of(0, precision=_BITS)
    every: list[_Masses] = []
    sides: list[_LowerSide] = []
    for (cells, times), origin, (first, count) in zip(parts, plan.offsets, plan.ranges, strict=True):
        lattice = Lattice(origin, plan.spacing, first, count)
        offset = offset + _point(origin) * times
        upper, infinite = _upper_masses(cells.above, lattice)
        side, certain = _LowerSide(np.zeros(count), first), 0.0
        if two_sided and cells.below is not None:
            side, certain = _lower_side(cells.below, lattice, times, plan.slope)
        every.append(_Masses(first, upper, side.masses, infinite, certain))
        sides.append(side)
    terms = tuple(_term(every, window, two_sided) for window in plan.windows)
    counts = [times for _, times in parts]
    found = Composed(
        plan,
        terms,
        _rest(every, plan),
        _at_infinity([part.infinite for part in every], counts),
        _at_infinity([part.certain for part in every], counts) if two_sided else None,
        max(term.last for term in terms),
        offset,
        _point(plan.spacing) * (RAISED * sum(counts)),
        None,
    )
    scatter = _scatter(sides, counts, plan)
    if scatter is None:
        return found
    log_delta = max(_log(found.upper_delta(plan.epsilon).upper), -_MOST_NATS)
    distance = (plan.epsilon - offset.upper_float) / plan.spacing
    return evolve(found, scatter=scatter.made_for(log_delta, distance))


@final
@frozen(eq=False)
class _LowerSide:
    """Masses of one release below, and where cells were split between their ends, what that did, step 12.

    Attributes:
        masses: at the points of the lattice.
        first: index of the first of these.
        most: masses that those of the split cells do not exceed; None where cells were merged.
        lowered: a bound of how far ends were lowered, in spacings.
    """

    masses: Floats
    first: int
    most: Floats | None = None
    lowered: float = 0.0


def _lower_side(law: LossLaw, lattice: Lattice, times: int, tilt: float) -> tuple[_LowerSide, float]:
    """The masses below, merged or split, whichever is likely to lose less at this tilt, and those at infinity."""
    merged, certain = _lower_masses(law, lattice)
    split = law.split(lattice, up=False)
    lowered = split.lowered / lattice.spacing
    if not lowered <= _MOST_LOWERED or not tilt > 0:
        return _LowerSide(merged, lattice.first), certain
    start, stop = split.inner
    masses, most = np.zeros(lattice.count), np.zeros(lattice.count)
    for ends, points in (
        (split.left[start:stop], slice(start - 1, stop - 1)),
        (split.right[start:stop], slice(start, stop)),
    ):
        units = (split.units[start:stop] + 8.0) * _UNIT
        masses[points] += np.maximum(ends * (1.0 - units) - kernels.TINY, 0.0)
        most[points] += np.where(units > 0, ends * (1.0 + units) + kernels.TINY, 0.0)
    masses *= 1.0 - 4 * _UNIT
    most *= 1.0 + 4 * _UNIT
    sizes = [_about_log_moment(one, lattice.first, tilt) for one in (merged, masses)]
    if times * (sizes[1] - sizes[0]) / tilt < math.sqrt(times * _LIKELY_NATS / 2):
        return _LowerSide(merged, lattice.first), certain
    return _LowerSide(masses, lattice.first, most, lowered), certain


def _about_log_moment(masses: Floats, first: int, tilt: float) -> float:
    there = np.flatnonzero(masses)
    if not there.size:
        return -math.inf
    logarithms = np.log(masses[there]) + tilt * (first + there)
    top = float(np.max(logarithms))
    return top + math.log(float(np.sum(np.exp(logarithms - top))))


def _scatter(sides: Sequence[_LowerSide], counts: Sequence[int], plan: Plan) -> _Scatter | None:
    """What is known of the split cells of all parts; None where cells were merged throughout."""
    tilt, releases = plan.slope, 0.0
    log_moment = Enclosure.of(0, precision=_BITS)
    for side, times in zip(sides, counts, strict=True):
        masses = side.masses if side.most is None else side.most
        if not np.any(masses):
            return None
        about = _about_log_moment(masses, side.first, tilt)
        log_moment = (
            log_moment + (_point(kernels.tilted_sum(masses, side.first, tilt, about)).log() + _point(about)) * times
        )
        if side.most is not None:
            releases += times * (1.0 + side.lowered) ** 2 * (1.0 + 2.0**-40)
            log_moment = log_moment + _point(tilt) * _point(side.lowered) * times
    return _Scatter(releases, plan.spacing, tilt, log_moment, 0.0) if releases else None


def _at_infinity(masses: Iterable[float], counts: Iterable[int]) -> Enclosure:
    """The probability that one of the losses is infinite."""
    finite = Enclosure.of(0, precision=_BITS)
    for infinite, times in zip(masses, counts, strict=True):
        if infinite >= 1.0:
            finite = finite - _point(1e6)
        elif infinite > 0.0:
            finite = finite + (-_point(infinite)).log1p() * times
    return -finite.expm1()


def _rest(every: Sequence[_Masses], plan: Plan) -> Enclosure:
    """A bound of the masses of all terms with more rare losses than the plan has."""
    if plan.degree >= sum(piece.times for piece in plan.rare):
        return Enclosure.of(0, precision=_BITS)
    expected = common = Enclosure.of(0, precision=_BITS)
    for piece in plan.rare:
        part = every[piece.part]
        cut = piece.first - part.first
        expected = expected + _point(kernels.tilted_sum(part.upper[cut:], 0, 0.0, 0.0)) * piece.times
        common = common + _point(max(kernels.tilted_sum(part.upper[:cut], 0, 0.0, 0.0), 1.0)).log() * piece.times
    power, order = _point(1.0), plan.degree + 1
    for k in range(1, order + 1):
        power = power * expected * Fraction(1, k)
    return power * (expected + common).exp()


def _term(every: Sequence[_Masses], window: Window, two_sided: bool) -> _Term:
    """Add up the losses of some pieces."""
    length = 1 << window.log_points
    roots = fft.roots_of_unity(window.log_points)
    half = length // 2 + 1
    above_product = np.ones(half), np.zeros(half), np.zeros(half)
    below_product = np.ones(half), np.zeros(half), np.zeros(half)
    above, below = _Tally(window.start, window.end), _Tally(window.start, window.end)
    scale = Enclosure.of(window.copies, precision=_BITS).log()
    for piece, about in zip(window.pieces, window.scales, strict=True):
        upper, lower = every[piece.part].piece(piece)
        sums = [kernels.tilted_sum(masses, piece.first, window.tilt, about) for masses in (upper, lower)]
        log_scale = about + math.log(max(sums))
        scale = scale + _point(log_scale) * piece.times
        real, imaginary = np.empty(length), np.empty(length)
        sizes = [
            kernels.fold(masses, piece.first, window.tilt, log_scale, up, folded)
            for masses, up, folded in ((upper, True, real), (lower, False, imaginary))
        ]
        above.count(upper, piece, window, log_scale, sizes[0])
        below.count(lower, piece, window, log_scale, sizes[1])
        size = sum(sizes)
        fft.forward(real, imaginary, *roots)
        error = fft.STAGE_UNITS * window.log_points * _UNIT * size * (1 + 1e-9) + kernels.TINY
        kernels.multiply_power(real, imaginary, piece.times, error, *above_product, *below_product)
    real, imaginary = np.empty(length), np.empty(length)
    stages = fft.STAGE_UNITS * window.log_points * _UNIT
    off = kernels.pack(*above_product, *below_product, stages, real, imaginary)
    fft.backward(real, imaginary, *roots)
    real /= length
    imaginary /= length
    off /= length
    lower_side = below.side(imaginary, off, window) if two_sided else None
    return _Term(window, scale, above.greatest, above.side(real, off, window), lower_side)


class _Tally:
    """Sums over the parts, of what is known of each side besides its masses."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        zero = Enclosure.of(0, precision=_BITS)
        self.largest = zero
        self.over: list[tuple[float, int]] = []
        self.under: list[tuple[float, int]] = []
        self.least = self.greatest = 0

    def count(self, masses: Floats, piece: Piece, window: Window, log_scale: float, size: float) -> None:
        """Add what is known of a piece to the sums."""
        if size == math.inf:
            raise InvalidValue("parts", "losses far apart", "losses whose moments binary64 holds at the tilt used")
        times, first = piece.times, piece.first
        self.largest = self.largest + _point(size).log() * times
        there = np.flatnonzero(masses)
        self.least += times * (first + int(there[0])) if there.size else 0
        self.greatest += times * (first + int(there[-1])) if there.size else 0
        steeper, flatter = window.tilt + window.steeper, window.tilt - window.flatter
        for sums, tilt in ((self.over, steeper), (self.under, flatter)):
            sums.append((kernels.tilted_sum(masses, first, tilt, log_scale), times))

    def side(self, masses: Floats, off: float, window: Window) -> _Side:
        """The side of the law of the sum."""
        steeper = _point(window.tilt + window.steeper) - _point(window.tilt)
        flatter = _point(window.tilt) - _point(window.tilt - window.flatter)
        zero = Enclosure.of(0, precision=_BITS)
        return _Side(
            masses,
            off,
            self.largest.exp(),
            zero if self.greatest < self.end else self._outside(self.over, -steeper * self.end),
            zero if self.least >= self.start else self._outside(self.under, flatter * (self.start - 1)),
        )

    def _outside(self, sums: list[tuple[float, int]], at_edge: Enclosure) -> Enclosure:
        """A bound of the tilted mass beyond an edge of the window, by its moment at another tilt."""
        everything = self.largest.exp()
        if any(moment == math.inf for moment, _ in sums):
            return everything
        return sum((_point(moment).log() * times for moment, times in sums), at_edge).exp().minimum(everything)


@lru_cache(maxsize=32)
def _upper_masses(law: LossLaw, lattice: Lattice) -> tuple[Floats, float]:
    """Masses at the points, and at infinity, of a law that dominates."""
    split = law.split(lattice, up=True)
    masses = np.empty(lattice.count)
    kernels.dominating(split.left, split.right, split.units, masses)
    infinite = float(split.right[-1]) * (1 + (float(split.units[-1]) + 8) * _UNIT)
    return masses, min(infinite, 1.0)


@lru_cache(maxsize=32)
def _lower_masses(law: LossLaw, lattice: Lattice) -> tuple[Floats, float]:
    """Masses at the points, and at infinity, of a law that is dominated."""
    split = law.split(lattice, up=False)
    keep, masses = np.empty(lattice.count + 1), np.empty(lattice.count)
    kernels.dominated(split.left, split.right, split.units, lattice.spacing, keep, masses)
    return masses, split.certain
