"""δ(ε) of many independent releases from their losses on a lattice, proven from both sides.

Legend: a part is the loss of one release and how often it is repeated; h is the spacing of the lattice, N how many
points the sum of all losses is kept at, indices count spacings. Each part's law is replaced by one above and one below
it whose losses lie on the lattice; masses are multiplied by e^(θ·index), the tilt, so that those near the ε asked for
weigh most; the sums of the losses then have the product of the parts' Fourier transforms, taken to the powers of their
counts. Indices are kept modulo N; what lies outside the window of N indices is bounded by moments at two other tilts.
The proofs are in `docs/soundness_lattice.md`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from attrs import frozen

from .. import bulk
from ..arguments import non_negative, probability, whole
from ..bulk import Floats
from ..enclosures import Enclosure
from ..errors import InvalidValue
from .cells import RAISED, Cells, Lattice, Law

MOST_POINTS = 1 << 22
"""The longest transform."""
_FEWEST_POINTS = 1 << 8
_GAP = 3e-4
"""About the relative gap in ε that the spacing aims at."""
_OUTSIDE = 30.0
"""The tilted mass outside the window is about e^−30."""
_BITS = 64
_UNIT = 2.0**-53

_Parts: TypeAlias = tuple[tuple[Cells, int], ...]


def delta_by_lattice(parts: Sequence[tuple[Cells, int]], epsilon: Enclosure, *, points: int | None = None) -> Enclosure:
    """δ(ε) of the composition of independent releases, in the direction that the cells are given in.

    Args:
        parts: the loss of a release and how often it is repeated, at least once; at least one.
        epsilon: at least 0.
        points: the most lattice points, a power of two from 2^8 to 2^22; where it is None, as many as a gap in ε of
            about 10^-3, relatively, takes.

    Guarantees: both ends are proven; the lower one is 0 where a part has no law below.

    Raises:
        InvalidValue: outside these ranges. InvalidType: for other types.
    """
    merged, most = _merged(parts), _most_points(points)
    level = non_negative("epsilon", epsilon)
    least, greatest = level.lower_float, level.upper_float
    plan = _plan_for_epsilon(merged, (least + greatest) / 2, most)
    return _composed(merged, plan).delta(least, greatest)


def epsilon_by_lattice(parts: Sequence[tuple[Cells, int]], delta: Enclosure, *, points: int | None = None) -> Enclosure:
    """The least ε ≥ 0 with δ(ε) ≤ δ; arguments and guarantees as of `delta_by_lattice`.

    Args:
        parts: the loss of a release and how often it is repeated.
        delta: above 0, at most 1.
        points: the most lattice points.

    Raises:
        InvalidValue: outside these ranges, and where no ε is proven to suffice, as where an infinite loss has a mass
            of more than δ. InvalidType: for other types.
    """
    merged, most = _merged(parts), _most_points(points)
    target = probability("delta", delta)
    if target.lower_float <= 0.0:
        raise InvalidValue("delta", delta, "an enclosure of numbers in (0, 1]")
    plan = _plan_for_delta(merged, target.lower_float, most)
    found = _composed(merged, plan).epsilon(target)
    if abs(found.upper_float - plan.epsilon) > _ASTRAY * found.upper_float:  # the tilt was made for another ε
        again = _composed(merged, _plan_for_epsilon(merged, found.upper_float, most))
        if again.above.infinite.upper <= target.lower:
            found = found.intersection(again.epsilon(target))
    return found


def loss_masses(parts: Sequence[tuple[Cells, int]], *, points: int | None = None) -> tuple[Floats, Floats]:
    """Losses of the composition and about their masses, for a plot: it proves nothing.

    Args:
        parts: the loss of a release and how often it is repeated.
        points: the most lattice points.

    Returns:
        The losses of the lattice, rising, and the masses of the dominating law at them; infinite losses are left out.
    """
    merged, most = _merged(parts), _most_points(points)
    return _composed(merged, _plan(merged, _Shape(merged), 0.0, 0.0, 1.0, most)).masses()


def _merged(parts: Iterable[tuple[Cells, int]]) -> _Parts:
    counts: Counter[Cells] = Counter()
    for cells, times in parts:
        counts[cells] += whole("times", times, 1)
    if not counts:
        raise InvalidValue("parts", (), "at least one part")
    if counts.total() > _MOST_RELEASES:
        raise InvalidValue("parts", f"{counts.total()} releases", f"at most {_MOST_RELEASES} releases")
    return tuple(counts.items())


_MOST_RELEASES = 1 << 40
_ASTRAY = 0.05


def _most_points(points: int | None) -> int | None:
    if points is None:
        return None
    if not _FEWEST_POINTS <= whole("points", points, 1) <= MOST_POINTS or points & (points - 1):
        raise InvalidValue("points", points, f"a power of two from {_FEWEST_POINTS} to {MOST_POINTS}")
    return points


# Planning: floats that prove nothing


class _Shape:
    """About the losses of the parts: where to put the lattice, and how to tilt it."""

    def __init__(self, parts: _Parts) -> None:
        self.single = [np.sort(cells.above.single_losses()) for cells, _ in parts]
        self.only_atoms = all(cells.above.spread is None for cells, _ in parts)
        self.parts = [(*cells.above.sketch(), times) for cells, times in parts]
        self.greatest = sum(times * float(losses[-1]) for losses, _, times in self.parts)
        farthest = max(float(np.max(np.abs(losses))) for losses, _, _ in self.parts)
        self.steepest = min(_STEEPEST / farthest, _GREATEST_TILT) if farthest else 1.0
        deviation = math.sqrt(self.log_moment(0.0)[2])
        if deviation:
            self.steepest = min(self.steepest, _STEEPEST_DEVIATION / deviation)

    def log_moment(self, tilt: float) -> tuple[float, float, float]:
        """log E[e^(tilt·loss)] and its first two derivatives."""
        total = mean = variance = 0.0
        for losses, masses, times in self.parts:
            exponents = tilt * losses
            top = float(np.max(exponents))
            weights = masses * np.exp(exponents - top)
            mass = float(np.sum(weights))
            centre = float(weights @ losses) / mass
            total += times * (top + math.log(mass))
            mean += times * centre
            variance += times * float(weights @ (losses - centre) ** 2) / mass
        return total, mean, variance

    def scales(self, tilt: float) -> tuple[float, ...]:
        """log E[e^(tilt·loss)] of one release of each part."""
        tops = [float(np.max(tilt * losses)) for losses, _, _ in self.parts]
        return tuple(
            top + math.log(float(np.sum(masses * np.exp(tilt * losses - top))))
            for top, (losses, masses, _) in zip(tops, self.parts, strict=True)
        )

    def common_spacing(self) -> float | None:
        """The largest spacing of which all distances of a part's single losses are multiples, if there is one."""
        found = np.unique(np.concatenate([single - single[:1] for single in self.single]))
        found = found[found > 0]
        if not 0 < found.size <= _MOST_COMMON:
            return None
        largest = float(found[-1])
        divisor = 0.0
        for loss in found.tolist():
            while loss > _EQUAL * largest:
                divisor, loss = loss, math.fmod(divisor, loss)
                if largest > MOST_POINTS * divisor:
                    return None
                if divisor - loss < _EQUAL * largest:  # a remainder of almost the whole is none
                    loss = 0.0
        return largest / round(largest / divisor)

    def offsets(self, spacing: float) -> tuple[float, ...]:
        """For each part a number at which the lattice has a point, so that single losses lie on it where they can."""
        return tuple(math.fmod(float(single[0]), spacing) if single.size else 0.0 for single in self.single)

    def tilt_for_epsilon(self, epsilon: float) -> float:
        """The saddle point of E[e^(tilt·loss)]·e^(−tilt·ε)/(tilt·(1 + tilt))."""
        return self._bisected(lambda tilt: self.log_moment(tilt)[1] - 1 / tilt - 1 / (1 + tilt) > epsilon)

    def tilt_for_delta(self, delta: float) -> float:
        """The tilt whose saddle point lies at the ε that belongs to δ."""
        return self._bisected(lambda tilt: self.log_delta(tilt) < math.log(delta))

    def log_delta(self, tilt: float) -> float:
        """About log δ at the ε that this tilt is the saddle point of."""
        total, mean, variance = self.log_moment(tilt)
        curvature = variance + 1 / tilt**2 + 1 / (1 + tilt) ** 2
        epsilon = mean - 1 / tilt - 1 / (1 + tilt)
        return total - tilt * epsilon - math.log(tilt * (1 + tilt)) - math.log(2 * math.pi * curvature) / 2

    def _bisected(self, beyond: Callable[[float], bool]) -> float:
        low, high = math.log(_LEAST_TILT), math.log(self.steepest)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if beyond(math.exp(middle)):
                high = middle
            else:
                low = middle
        return math.exp((low + high) / 2)


_INSIDE = 0.999
_LEAST_TILT, _GREATEST_TILT = 1e-6, 1e6
_HALVINGS = 30
_MOST_COMMON = 1 << 12
_EQUAL = 1e-9


_STEEPEST = 5000.0  # tilt times the farthest loss
_STEEPEST_DEVIATION = 50.0  # tilt times the standard deviation of the sum: there δ is below 10^-500 where it is normal
_STEEPEST_STEP = 6.0  # tilt times the spacing


@final
@frozen
class _Plan:
    """Where to compute: the lattice of each part, and the window and the tilts of the sum.

    Attributes:
        spacing: h.
        offsets: for each part, the loss at its index 0.
        ranges: first index and number of points for each part.
        log_points: log₂ N.
        start: the first index of the window.
        tilt: θ, per index.
        steeper, flatter: by how much the tilts differ at which the mass above and below the window is bounded.
        scales: about the logarithm of each part's sum of tilted masses.
        epsilon: about the ε that is asked for.
    """

    spacing: float
    offsets: tuple[float, ...]
    ranges: tuple[tuple[int, int], ...]
    log_points: int
    start: int
    tilt: float
    steeper: float
    flatter: float
    scales: tuple[float, ...]
    epsilon: float


def _plan_for_epsilon(parts: _Parts, epsilon: float, most: int | None) -> _Plan:
    shape = _Shape(parts)
    tilt = shape.tilt_for_epsilon(min(epsilon, _INSIDE * shape.greatest))
    return _plan(parts, shape, epsilon, tilt, math.exp(max(min(shape.log_delta(tilt), 0.0), -600.0)), most)


def _plan_for_delta(parts: _Parts, delta: float, most: int | None) -> _Plan:
    shape = _Shape(parts)
    tilt = shape.tilt_for_delta(delta)
    _, mean, _ = shape.log_moment(tilt)
    return _plan(parts, shape, max(mean - 1 / tilt - 1 / (1 + tilt), 0.0), tilt, delta, most)


def _plan(parts: _Parts, shape: _Shape, epsilon: float, tilt: float, delta: float, most: int | None) -> _Plan:
    total, mean, variance = shape.log_moment(tilt)
    releases = sum(times for _, times in parts)
    size = abs(mean) + epsilon + 1e-3
    deviation = math.sqrt(variance) if variance > (1e-6 * size) ** 2 else size / 10
    changes = np.minimum(np.geomspace(0.05, 60, 30) / deviation, shape.steepest)
    above = np.array([(shape.log_moment(tilt + change)[0] - total + _OUTSIDE) / change for change in changes])
    below = np.array([(total - shape.log_moment(tilt - change)[0] - _OUTSIDE) / change for change in changes])
    steeper, flatter = float(changes[np.argmin(above)]), float(changes[np.argmax(below)])
    greatest, least = float(np.min(above)), min(float(np.max(below)), epsilon)
    window = max(greatest - least, 1e-9)
    wanted = math.sqrt(4 * _GAP * max(epsilon, deviation / 10) / (releases * (1 + tilt)))
    spacing, count = _spacing(shape, window, wanted, most)
    offsets = shape.offsets(spacing)
    ranges = tuple(
        _range(losses - offset, masses, tilt, delta / releases, releases, spacing)
        for offset, (losses, masses, _) in zip(offsets, shape.parts, strict=True)
    )
    least -= sum(times * offset for offset, (_, _, times) in zip(offsets, shape.parts, strict=True))
    tilt = min(tilt, _STEEPEST_STEP / spacing)
    return _Plan(
        spacing,
        offsets,
        ranges,
        count.bit_length() - 1,
        math.floor(least / spacing) - 1,
        tilt * spacing,
        min(steeper * spacing, _STEEPEST_STEP),
        min(flatter * spacing, _STEEPEST_STEP),
        tuple(scale - tilt * offset for scale, offset in zip(shape.scales(tilt), offsets, strict=True)),
        epsilon,
    )


def _range(losses: Floats, masses: Floats, tilt: float, delta: float, releases: int, spacing: float) -> tuple[int, int]:
    """First index and number of the points for a part: what lies outside must not matter."""
    exponents = tilt * losses
    weights = masses * np.exp(exponents - np.max(exponents))
    matters = 1e-9 * float(np.sum(weights)) / releases
    moved = np.cumsum(masses) * np.exp(exponents - np.max(exponents))
    low = int(np.searchsorted(moved > matters, True)) if moved[-1] > matters else 0
    beyond = np.cumsum(masses[::-1])[::-1]
    high = int(np.count_nonzero(beyond > 1e-7 * delta))
    first = math.floor(float(losses[max(low - 1, 0)]) / spacing)
    last = math.ceil(float(losses[min(high, losses.size - 1)]) / spacing)
    return first - 1, max(last - first, 0) + 4


def _spacing(shape: _Shape, window: float, wanted: float, most: int | None) -> tuple[float, int]:
    """The spacing and the number of points of the window; single losses lie on the lattice where they can."""
    common = shape.common_spacing()
    longest = MOST_POINTS if most is None else most
    exact = common if common is not None and shape.only_atoms and window / common + 4 <= longest else None
    count = 1 << math.ceil(math.log2(max(window / (exact or wanted), 1.0) + 4))
    count = max(min(count, longest), _FEWEST_POINTS) if most is None else most
    if exact is not None:
        return min(exact, _WIDEST), count
    spacing = window / (count - 4)
    if common is not None and spacing < common:
        spacing = common / math.floor(common / spacing)
    return min(spacing, _WIDEST), count


_WIDEST = 8.0


# Composition: every number below is a bound, or has one of its error


@final
@frozen(eq=False)
class _Side:
    """What belongs to the laws on one side.

    Attributes:
        masses: tilted masses of the sum, at index modulo N.
        off: a bound of how far each of them is off.
        largest: a bound of all of them together.
        over, under: bounds of those above and below the window.
        infinite: a bound of the mass at infinite losses.
    """

    masses: Floats
    off: float
    largest: Enclosure
    over: Enclosure
    under: Enclosure
    infinite: Enclosure


@final
@frozen(eq=False)
class _Composed:
    """The law of the sum of the losses, from both sides.

    Attributes:
        plan: where it is.
        scale: the sum of the logarithms that masses were divided by.
        last: the last index that a finite sum of losses can have.
        offset: the loss at index 0 of the sum.
        raised: a bound of how far the losses below were raised, all together.
        above, below: the two sides; no lower one where a part has none.
    """

    plan: _Plan
    scale: Enclosure
    last: int
    offset: Enclosure
    raised: Enclosure
    above: _Side
    below: _Side | None

    def delta(self, least: float, greatest: float) -> Enclosure:
        """δ over [least, greatest]."""
        return Enclosure.between(self.lower_delta(greatest).lower, self.upper_delta(least).upper, precision=_BITS)

    def upper_delta(self, epsilon: float) -> Enclosure:
        """A number that δ(ε) does not exceed."""
        side, plan = self.above, self.plan
        distance = (-self.offset + Fraction(epsilon)).lower_float
        first, sums, spread = self._sums(side, distance)
        if first > self.last:
            return Enclosure.of(side.infinite.upper, precision=_BITS)
        end = plan.start + (1 << plan.log_points)
        total = spread + _point(sums[1]) + _point(side.off) * _point(sums[2]) + side.largest * _point(sums[3])
        over = side.over * (_point(plan.tilt) * min(0, first - end)).exp()
        least = _least_index(distance, plan.spacing)
        if least < plan.start:  # what lies between ε and the window counts, too
            over = over + side.under * (_point(plan.tilt) * (first - least)).exp()
        finite = (total.maximum(0) + over) * self._scaled(first)
        everything = side.infinite + finite
        return Enclosure.of(min(everything.upper, Fraction(1)), precision=_BITS)

    def lower_delta(self, epsilon: float) -> Enclosure:
        """A number that δ(ε) is not below."""
        side = self.below
        if side is None:
            return Enclosure.of(0, precision=_BITS)
        distance = (self.raised - self.offset + Fraction(epsilon)).upper_float
        first, sums, spread = self._sums(side, distance)
        missing = _point(sums[1]) + _point(side.off) * _point(sums[2]) + (side.over + side.under) * _point(sums[4])
        finite = (spread - missing).maximum(0) * self._scaled(first)
        found = side.infinite + finite
        return Enclosure.of(min(found.lower, Fraction(1)), precision=_BITS)

    def _sums(self, side: _Side, distance: float) -> tuple[int, Floats, Enclosure]:
        from .._kernels import lattice as kernels

        plan = self.plan
        first = max(_least_index(distance, plan.spacing), plan.start)
        sums = np.empty(5)
        kernels.hockey_stick(side.masses, plan.start, first, plan.tilt, plan.spacing, distance, sums)
        return first, sums, _point(float(sums[0]))

    def _scaled(self, first: int) -> Enclosure:
        return (self.scale - _point(self.plan.tilt) * first).exp()

    def epsilon(self, delta: Enclosure) -> Enclosure:
        """The least ε ≥ 0 with δ(ε) ≤ δ.

        Raises:
            InvalidValue: where the mass at infinite losses is not proven to be at most δ.
        """
        if self.above.infinite.upper > delta.lower:
            raise InvalidValue(
                "delta",
                delta,
                f"a δ above the mass at infinite losses, {self.above.infinite.upper_float:.3g}",
                "Choose a larger δ, or more lattice points.",
            )
        end = max((_point(self.plan.spacing) * (self.last + 1) + self.offset).upper_float, 0.0)
        if self.upper_delta(0.0).upper <= delta.lower:
            return Enclosure.of(0, precision=_BITS)
        upper = _crossing(self.upper_delta, delta.lower, self.plan, end)[1]
        return Enclosure.between(self._lower_epsilon(delta.upper, upper), upper, precision=_BITS)

    def _lower_epsilon(self, delta: Fraction, upper: float) -> float:
        """An ε ≥ 0 at which δ(ε) is above δ, or 0; it is sought right below `upper`, for which the tilt was made."""
        if self.below is None:
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
        plan = self.plan
        indices = np.arange(plan.start, plan.start + (1 << plan.log_points))
        distances = indices.astype(np.float64)
        masses = self.above.masses[indices % indices.size] * np.exp(self.scale.upper_float - plan.tilt * distances)
        losses = distances * plan.spacing + self.offset.upper_float
        return losses, np.maximum(masses, 0.0)


def _crossing(
    law: Callable[[float], Enclosure], delta: Fraction, plan: _Plan, end: float, start: float = 0.0
) -> tuple[float, float]:
    """Two numbers from `start` to `end`, close to each other, between which a law falls to δ.

    At the first the law is above δ, or it is `start`; at the second it is at most δ, or it is `end`. The law returns
    points.
    """
    aim = _log(delta)
    low, high = start, end
    slope = plan.tilt / plan.spacing
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


@lru_cache(maxsize=8)
def _composed(parts: _Parts, plan: _Plan) -> _Composed:
    """Compose the parts on the lattice of a plan."""
    from .._kernels import fft
    from .._kernels import lattice as kernels

    if any(count > MOST_POINTS for _, count in plan.ranges):
        raise InvalidValue("parts", "losses far apart", "losses of one release within the largest lattice")
    bulk.exp(np.zeros(1))  # refuses where the thread's arithmetic is not that of the proofs
    two_sided = all(cells.below is not None for cells, _ in parts)
    length = 1 << plan.log_points
    roots = fft.roots_of_unity(plan.log_points)
    half = length // 2 + 1
    above_product = np.ones(half), np.zeros(half), np.zeros(half)
    below_product = np.ones(half), np.zeros(half), np.zeros(half)
    end = plan.start + length
    above, below = _Tally(plan.start, end), _Tally(plan.start, end)
    scale = Enclosure.of(0, precision=_BITS)
    offset = Enclosure.of(0, precision=_BITS)
    for (cells, times), origin, (first, count), about in zip(
        parts, plan.offsets, plan.ranges, plan.scales, strict=True
    ):
        lattice = Lattice(origin, plan.spacing, first, count)
        offset = offset + _point(origin) * times
        upper, infinite = _upper_masses(cells.above, lattice)
        lower, certain = (np.zeros(count), 0.0) if cells.below is None else _lower_masses(cells.below, lattice)
        sums = [kernels.tilted_sum(masses, first, plan.tilt, about) for masses in (upper, lower)]
        log_scale = about + math.log(max(sums))
        scale = scale + _point(log_scale) * times
        real, imaginary = np.empty(length), np.empty(length)
        sizes = [
            kernels.fold(masses, first, plan.tilt, log_scale, up, folded)
            for masses, up, folded in ((upper, True, real), (lower, False, imaginary))
        ]
        above.count(upper, first, plan, log_scale, times, sizes[0], infinite)
        below.count(lower, first, plan, log_scale, times, sizes[1], certain)
        size = sum(sizes)
        fft.forward(real, imaginary, *roots)
        error = fft.STAGE_UNITS * plan.log_points * _UNIT * size * (1 + 1e-9) + kernels.TINY
        kernels.multiply_power(real, imaginary, times, error, *above_product, *below_product)
    real, imaginary = np.empty(length), np.empty(length)
    stages = fft.STAGE_UNITS * plan.log_points * _UNIT
    off = kernels.pack(*above_product, *below_product, stages, real, imaginary)
    fft.backward(real, imaginary, *roots)
    real /= length
    imaginary /= length
    off /= length
    raised = _point(plan.spacing) * (RAISED * sum(times for _, times in parts))
    lower_side = below.side(imaginary, off, plan) if two_sided else None
    return _Composed(plan, scale, above.greatest, offset, raised, above.side(real, off, plan), lower_side)


class _Tally:
    """Sums over the parts, of what is known of each side besides its masses."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end
        zero = Enclosure.of(0, precision=_BITS)
        self.largest = self.finite = zero
        self.over: list[tuple[float, int]] = []
        self.under: list[tuple[float, int]] = []
        self.least = self.greatest = 0

    def count(
        self, masses: Floats, first: int, plan: _Plan, log_scale: float, times: int, size: float, infinite: float
    ) -> None:
        """Add a part."""
        from .._kernels import lattice as kernels

        if size == math.inf:
            raise InvalidValue("parts", "losses far apart", "losses whose moments binary64 holds at the tilt used")
        self.largest = self.largest + _point(size).log() * times
        there = np.flatnonzero(masses)
        self.least += times * (first + int(there[0])) if there.size else 0
        self.greatest += times * (first + int(there[-1])) if there.size else 0
        for sums, tilt in ((self.over, plan.tilt + plan.steeper), (self.under, plan.tilt - plan.flatter)):
            sums.append((kernels.tilted_sum(masses, first, tilt, log_scale), times))
        if infinite >= 1.0:
            self.finite = self.finite - _point(1e6)
        elif infinite > 0.0:
            self.finite = self.finite + (-_point(infinite)).log1p() * times

    def side(self, masses: Floats, off: float, plan: _Plan) -> _Side:
        """The side of the law of the sum."""
        steeper = _point(plan.tilt + plan.steeper) - _point(plan.tilt)
        flatter = _point(plan.tilt) - _point(plan.tilt - plan.flatter)
        zero = Enclosure.of(0, precision=_BITS)
        return _Side(
            masses,
            off,
            self.largest.exp(),
            zero if self.greatest < self.end else self._outside(self.over, -steeper * self.end),
            zero if self.least >= self.start else self._outside(self.under, flatter * (self.start - 1)),
            -self.finite.expm1(),
        )

    def _outside(self, sums: list[tuple[float, int]], at_edge: Enclosure) -> Enclosure:
        """A bound of the tilted mass beyond an edge of the window, by its moment at another tilt."""
        everything = self.largest.exp()
        if any(moment == math.inf for moment, _ in sums):
            return everything
        return sum((_point(moment).log() * times for moment, times in sums), at_edge).exp().minimum(everything)


@lru_cache(maxsize=32)
def _upper_masses(law: Law, lattice: Lattice) -> tuple[Floats, float]:
    """Masses at the points, and at infinity, of a law that dominates."""
    from .._kernels import lattice as kernels

    split = law.split(lattice, up=True)
    masses = np.empty(lattice.count)
    kernels.dominating(split.left, split.right, split.units, masses)
    infinite = float(split.right[-1]) * (1 + (float(split.units[-1]) + 8) * _UNIT)
    return masses, min(infinite, 1.0)


@lru_cache(maxsize=32)
def _lower_masses(law: Law, lattice: Lattice) -> tuple[Floats, float]:
    """Masses at the points, and at infinity, of a law that is dominated."""
    from .._kernels import lattice as kernels

    split = law.split(lattice, up=False)
    keep, masses = np.empty(lattice.count + 1), np.empty(lattice.count)
    kernels.dominated(split.left, split.right, split.units, lattice.spacing, keep, masses)
    return masses, split.certain
