"""δ(ε) of many independent releases from their losses on a lattice, proven from both sides.

Legend: a part is the loss of one release and how often it is repeated; h is the spacing of the lattice, N how many
points the sum of all losses is kept at, indices count spacings. Each part's law is replaced by one above and one below
it whose losses lie on the lattice; masses are multiplied by e^(θ·index), the tilt, so that those near the ε asked for
weigh most; the sums of the losses then have the product of the parts' Fourier transforms, taken to the powers of their
counts. Indices are kept modulo N; what lies outside the window of N indices is bounded by moments at two other tilts.
Where large losses are rare, no tilt serves both them and the rest: each part is then peeled, its law p = a + b cut into
common losses a and rare large ones b, and the terms of p^n = Σ C(n, k)·a^(n − k)·b^k are composed apart, each with its
own tilt and window. The proofs are in `docs/soundness_lattice.md`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
from attrs import evolve, frozen

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
_Sketch: TypeAlias = tuple[Floats, Floats, int]


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
    epsilon_about = (least + greatest) / 2
    found = _composed(merged, _plan_for_epsilon(merged, epsilon_about, most)).delta(least, greatest)
    if epsilon_about and found.upper - found.lower > found.upper * _LOOSE_DELTA:
        shape = _Shape(merged)
        about = min(max(_delta_of_one(shape, epsilon_about), found.lower_float), found.upper_float)
        peeled = _peeled(merged, shape, epsilon_about, about, most) if about else None
        if peeled is not None:
            found = found.intersection(peeled.delta(least, greatest))
    return found


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
        if again.least_delta.upper <= target.lower:
            found = found.intersection(again.epsilon(target))
    if found.upper - found.lower > found.upper * _LOOSE:
        found = _closer(merged, target, found, most)
    return found


def _closer(parts: _Parts, target: Enclosure, found: Enclosure, most: int | None) -> Enclosure:
    """Enclose the least ε more closely, with rare large losses apart."""
    shape = _Shape(parts)
    epsilon = min(max(_epsilon_of_one(shape, target.lower_float), found.lower_float), found.upper_float)
    for _ in range(_MOST_ROUNDS):
        peeled = _peeled(parts, shape, epsilon, target.lower_float, most) if epsilon else None
        if peeled is None or peeled.least_delta.upper > target.lower:
            break
        found = found.intersection(peeled.epsilon(target))
        if found.upper_float - epsilon <= _ASTRAY * found.upper_float:
            break
        epsilon = found.upper_float
    return found


def _peeled(parts: _Parts, shape: _Shape, epsilon: float, delta: float, most: int | None) -> _Composed | None:
    """The composition with rare large losses apart; None where that does not help."""
    plan = _plan_peeled(parts, shape, epsilon, delta, most)
    if plan is None:
        return None
    try:
        return _composed(parts, plan)
    except InvalidValue:  # no lattice of that spacing holds the losses: what is known already remains
        return None


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
_LOOSE, _LOOSE_DELTA = 2e-3, 0.05
_MOST_ROUNDS = 4


def _most_points(points: int | None) -> int | None:
    if points is None:
        return None
    if not _FEWEST_POINTS <= whole("points", points, 1) <= MOST_POINTS or points & (points - 1):
        raise InvalidValue("points", points, f"a power of two from {_FEWEST_POINTS} to {MOST_POINTS}")
    return points


# Planning: floats that prove nothing


class _Moments:
    """About the moments of a sum of losses, given by losses, masses and how often they are added."""

    def __init__(self, parts: Sequence[_Sketch]) -> None:
        self.parts = parts
        self.greatest = sum(times * float(losses[-1]) for losses, _, times in parts)
        farthest = max(float(np.max(np.abs(losses))) for losses, _, _ in parts)
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


class _Shape(_Moments):
    """About the losses of the parts: where to put the lattice."""

    def __init__(self, parts: _Parts) -> None:
        self.single = [np.sort(cells.above.single_losses()) for cells, _ in parts]
        self.only_atoms = all(cells.above.spread is None for cells, _ in parts)
        super().__init__([(*cells.above.sketch(), times) for cells, times in parts])

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
class _Piece:
    """The masses of a part at the indices from `first` up to `end`, added up `times` times."""

    part: int
    first: int
    end: int
    times: int


@final
@frozen
class _Window:
    """Where to compute the sum of some pieces.

    Attributes:
        pieces: what is added up.
        copies: how often that term occurs.
        log_points: log₂ N.
        start: the first index of the window.
        tilt: θ, per index.
        steeper, flatter: by how much the tilts differ at which the mass above and below the window is bounded.
        scales: about the logarithm of each piece's sum of tilted masses.
    """

    pieces: tuple[_Piece, ...]
    copies: int
    log_points: int
    start: int
    tilt: float
    steeper: float
    flatter: float
    scales: tuple[float, ...]


@final
@frozen
class _Plan:
    """Where to compute: the lattice of each part, and the windows of the terms of the sum.

    Attributes:
        spacing: h.
        offsets: for each part, the loss at its index 0.
        ranges: first index and number of points for each part.
        windows: of each term.
        rare: the rare losses of each part that is peeled, as often as the part is repeated.
        degree: terms with more of them than that are left out.
        epsilon: about the ε that is asked for.
        slope: about how fast log δ falls there, per index.
    """

    spacing: float
    offsets: tuple[float, ...]
    ranges: tuple[tuple[int, int], ...]
    windows: tuple[_Window, ...]
    rare: tuple[_Piece, ...]
    degree: int
    epsilon: float
    slope: float


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
    reach = _reach(shape, epsilon, tilt)
    spacing, count = _spacing(shape, reach.width, _wanted(parts, reach, epsilon, tilt), most)
    offsets = shape.offsets(spacing)
    ranges = _ranges(shape, offsets, tilt, delta, spacing)
    pieces = tuple(
        _Piece(part, first, first + length, times)
        for part, ((first, length), (_, times)) in enumerate(zip(ranges, parts, strict=True))
    )
    window = _window(pieces, 1, shape, reach, tilt, count, spacing, offsets)
    return _Plan(spacing, offsets, ranges, (window,), (), 0, epsilon, window.tilt)


@final
@frozen
class _Reach:
    """From where to where a sum matters, the two changes of the tilt that say so, and its deviation."""

    least: float
    greatest: float
    steeper: float
    flatter: float
    deviation: float

    @property
    def width(self) -> float:
        """How long the window has to be."""
        return max(self.greatest - self.least, 1e-9)


def _reach(moments: _Moments, epsilon: float, tilt: float, outside: float = _OUTSIDE, sharpest: float = 60.0) -> _Reach:
    total, mean, variance = moments.log_moment(tilt)
    size = abs(mean) + epsilon + 1e-3
    deviation = math.sqrt(variance) if variance > (1e-6 * size) ** 2 else size / 10
    changes = np.minimum(np.geomspace(0.05, sharpest, 30) / deviation, moments.steepest)
    above = np.array([(moments.log_moment(tilt + change)[0] - total + outside) / change for change in changes])
    below = np.array([(total - moments.log_moment(tilt - change)[0] - outside) / change for change in changes])
    steeper, flatter = float(changes[np.argmin(above)]), float(changes[np.argmax(below)])
    return _Reach(min(float(np.max(below)), epsilon), float(np.min(above)), steeper, flatter, deviation)


def _wanted(parts: _Parts, reach: _Reach, epsilon: float, tilt: float) -> float:
    """About the spacing at which the gap in ε is the one aimed at."""
    releases = sum(times for _, times in parts)
    return math.sqrt(4 * _GAP * max(epsilon, reach.deviation / 10) / (releases * (1 + tilt)))


def _ranges(
    shape: _Shape, offsets: tuple[float, ...], tilt: float, delta: float, spacing: float
) -> tuple[tuple[int, int], ...]:
    releases = sum(times for _, _, times in shape.parts)
    return tuple(
        _range(losses - offset, masses, tilt, delta / releases, releases, spacing)
        for offset, (losses, masses, _) in zip(offsets, shape.parts, strict=True)
    )


def _window(
    pieces: tuple[_Piece, ...],
    copies: int,
    moments: _Moments,
    reach: _Reach,
    tilt: float,
    count: int,
    spacing: float,
    offsets: tuple[float, ...],
) -> _Window:
    origins = [offsets[piece.part] for piece in pieces]
    least = reach.least - sum(piece.times * origin for piece, origin in zip(pieces, origins, strict=True))
    tilt = min(tilt, _STEEPEST_STEP / spacing)
    return _Window(
        pieces,
        copies,
        count.bit_length() - 1,
        math.floor(least / spacing) - 1,
        tilt * spacing,
        min(reach.steeper * spacing, _STEEPEST_STEP),
        min(reach.flatter * spacing, _STEEPEST_STEP),
        tuple(scale - tilt * origin for scale, origin in zip(moments.scales(tilt), origins, strict=True)),
    )


def _within(reach: _Reach, pieces: Iterable[_Piece], spacing: float, offsets: tuple[float, ...]) -> _Reach:
    """Cut off what no sum of the pieces can be."""
    losses = [(piece.times, offsets[piece.part], piece.first, piece.end) for piece in pieces]
    least = sum(times * (origin + spacing * first) for times, origin, first, _ in losses)
    greatest = sum(times * (origin + spacing * end) for times, origin, _, end in losses)
    return evolve(reach, least=max(reach.least, least), greatest=min(reach.greatest, greatest))


def _delta_of_one(shape: _Shape, epsilon: float) -> float:
    """About Σ δ(ε) of the single releases: what the rest adds to a rare large loss is left out."""
    return sum(
        times * float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0))) for losses, masses, times in shape.parts
    )


def _epsilon_of_one(shape: _Shape, delta: float) -> float:
    """About the ε at which single releases alone have that δ."""
    low, high = 0.0, max(float(losses[-1]) for losses, _, _ in shape.parts)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta_of_one(shape, middle) > delta else (low, middle)
    return high


@final
@frozen
class _Peel:
    """A cut at a loss: how many rare losses each part has in a term, and the sketches of the terms."""

    threshold: float
    degree: int
    terms: tuple[tuple[int, ...], ...]
    moments: tuple[_Moments, ...]
    tilts: tuple[float, ...]
    noise: float


def _peel(shape: _Shape, epsilon: float, delta: float, threshold: float) -> _Peel | None:
    """The terms for a cut, and about how far rounding carries δ off; None where they are too many or none."""
    common = [(losses[losses <= threshold], masses[losses <= threshold]) for losses, masses, _ in shape.parts]
    rare = [(losses[losses > threshold], masses[losses > threshold]) for losses, masses, _ in shape.parts]
    counts = [times for _, _, times in shape.parts]
    if not all(losses.size for losses, _ in common) or not any(losses.size for losses, _ in rare):
        return None
    expected = sum(times * float(np.sum(masses)) for times, (_, masses) in zip(counts, rare, strict=True))
    if expected <= 0.0:
        return None
    degree = next((k for k in range(1, _MOST_RARE + 1) if _left_out(expected, k) < _NEGLIGIBLE * delta), None)
    if degree is None:
        return None
    most = [min(degree, times) if losses.size else 0 for times, (losses, _) in zip(counts, rare, strict=True)]
    terms = [term for term in itertools.product(*(range(k + 1) for k in most)) if sum(term) <= degree]
    if len(terms) > _MOST_TERMS:
        return None
    noise, found, tilts = 0.0, [], []
    for term in terms:
        moments = _Moments(
            [
                (*piece, times)
                for pair in zip(common, rare, counts, term, strict=True)
                for piece, times in ((pair[0], pair[2] - pair[3]), (pair[1], pair[3]))
                if times
            ]
        )
        tilt = moments.tilt_for_epsilon(min(epsilon, _INSIDE * moments.greatest))
        if moments.greatest > epsilon:
            size = moments.log_moment(tilt)[0] - tilt * epsilon + _log_copies(counts, term)
            noise += _ROUNDING * math.exp(min(size, 600.0))
        found.append(moments)
        tilts.append(tilt)
    return _Peel(threshold, degree, tuple(terms), tuple(found), tuple(tilts), noise)


def _left_out(expected: float, degree: int) -> float:
    return math.exp(min((degree + 1) * math.log(expected) - math.lgamma(degree + 2) + expected, 0.0))


def _copies(counts: Iterable[int], term: Iterable[int]) -> int:
    """In how many ways the rare losses of a term can be among all."""
    return math.prod(math.comb(times, k) for times, k in zip(counts, term, strict=True))


def _log_copies(counts: Iterable[int], term: Iterable[int]) -> float:
    return math.log(_copies(counts, term))


def _plan_peeled(parts: _Parts, shape: _Shape, epsilon: float, delta: float, most: int | None) -> _Plan | None:
    """A plan with rare large losses apart; None where no cut helps."""
    best: _Peel | None = None
    if len(parts) > _MOST_PARTS_PEELED:
        return None
    for halvings in range(_MOST_CUTS):
        peel = _peel(shape, epsilon, delta, epsilon * 2 ** (-halvings / 2))
        if peel is not None and (best is None or peel.noise < best.noise):
            best = peel
        if best is not None and (peel is None or best.noise < _NEGLIGIBLE * delta):
            break
    if best is None or best.noise > delta:
        return None
    return _plan_cut(parts, shape, epsilon, delta, best, most)


def _plan_cut(parts: _Parts, shape: _Shape, epsilon: float, delta: float, best: _Peel, most: int | None) -> _Plan:
    """The plan for a cut."""
    reaches = [
        _reach(moments, epsilon, tilt, _FARTHER, _SHARPEST)
        for moments, tilt in zip(best.moments, best.tilts, strict=True)
    ]
    single = next(i for i, term in enumerate(best.terms) if sum(term) == 1)
    longest = _MOST_PEELED if most is None else most
    wanted = _wanted(parts, reaches[single], epsilon, best.tilts[single]) / _FINER
    for losses, masses, times in shape.parts:  # what is merged below must be wider than the spacing
        low, high = np.searchsorted(np.cumsum(masses), [0.1, 0.6])
        scatter = float(losses[min(high, losses.size - 1)] - losses[low]) + 1e-12
        wanted = min(wanted, math.sqrt(_SCATTERED * epsilon * scatter / times))
    widths = [
        min(reach.greatest, moments.greatest) - reach.least
        for reach, moments in zip(reaches, best.moments, strict=True)
    ]
    wanted = max(wanted, max(widths) / _MOST_PEELED)
    spacing = _fitted(shape, wanted)
    offsets = shape.offsets(spacing)
    ranges = _ranges(shape, offsets, 0.0, delta, spacing)
    counts = [times for _, times in parts]
    cuts = [
        min(max(math.floor((best.threshold - offset) / spacing) + 1, first + 1), first + length)
        if most_rare  # a part whose rare losses are in no term has none
        else first + length
        for offset, (first, length), most_rare in zip(
            offsets, ranges, map(max, zip(*best.terms, strict=True)), strict=True
        )
    ]
    windows = []
    for term, moments, tilt, reach in zip(best.terms, best.moments, best.tilts, reaches, strict=True):
        pieces = [
            piece
            for part, ((first, length), cut, times, k) in enumerate(zip(ranges, cuts, counts, term, strict=True))
            for piece in (_Piece(part, first, cut, times - k), _Piece(part, cut, first + length, k))
            if piece.times
        ]
        reach = _within(reach, pieces, spacing, offsets)
        count = max(min(1 << math.ceil(math.log2(reach.width / spacing + 8)), longest), _FEWEST_POINTS)
        copies = _copies(counts, term)
        windows.append(_window(tuple(pieces), copies, moments, reach, tilt, count, spacing, offsets))
    rare = tuple(
        _Piece(part, cut, first + length, times)
        for part, ((first, length), cut, times) in enumerate(zip(ranges, cuts, counts, strict=True))
    )
    return _Plan(spacing, offsets, ranges, tuple(windows), rare, best.degree, epsilon, windows[single].tilt)


_MOST_PARTS_PEELED = 3
_MOST_RARE, _MOST_TERMS, _MOST_CUTS = 8, 12, 14
_NEGLIGIBLE = 1e-5
_ROUNDING = 1e-15
_FARTHER = 45.0  # as _OUTSIDE
_SHARPEST = 2000.0
_FINER = 4.0
_SCATTERED = 0.005
_MOST_PEELED = 1 << 20


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
    return _fitted(shape, window / (count - 4)), count


def _fitted(shape: _Shape, spacing: float) -> float:
    """A spacing not below the given one, but for the widest, that divides the distances of single losses."""
    common = shape.common_spacing()
    if common is not None and spacing < common:
        spacing = common / math.floor(common / spacing)
    return min(spacing, _WIDEST)


_WIDEST = 8.0


# Composition: every number below is a bound, or has one of its error


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

    window: _Window
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
        end = window.start + (1 << window.log_points)
        total = _point(sums[0]) + _point(sums[1]) + _point(side.off) * _point(sums[2])
        total = total + side.largest * _point(sums[3])
        over = side.over * (_point(window.tilt) * min(0, first - end)).exp()
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
        from .._kernels import lattice as kernels

        sums = np.empty(5)
        kernels.hockey_stick(side.masses, self.window.start, first, self.window.tilt, spacing, distance, sums)
        return [float(value) for value in sums]

    def _scaled(self, first: int) -> Enclosure:
        return (self.scale - _point(self.window.tilt) * first).exp()


@final
@frozen(eq=False)
class _Composed:
    """The law of the sum of the losses, from both sides.

    Attributes:
        plan: where it is.
        terms: the finite losses, of which several are added up where rare ones are apart.
        rest: a bound of the masses of the terms left out.
        infinite, certain: bounds of the mass at infinite losses, above and below.
        last: the last index that a finite sum of losses can have.
        offset: the loss at index 0 of the sum.
        raised: a bound of how far the losses below were raised, all together.
    """

    plan: _Plan
    terms: tuple[_Term, ...]
    rest: Enclosure
    infinite: Enclosure
    certain: Enclosure | None
    last: int
    offset: Enclosure
    raised: Enclosure

    def delta(self, least: float, greatest: float) -> Enclosure:
        """δ over [least, greatest]."""
        return Enclosure.between(self.lower_delta(greatest).lower, self.upper_delta(least).upper, precision=_BITS)

    def upper_delta(self, epsilon: float) -> Enclosure:
        """A number that δ(ε) does not exceed."""
        distance = (-self.offset + Fraction(epsilon)).lower_float
        found = self.least_delta
        for term in self.terms:
            found = found + term.upper_delta(distance, self.plan.spacing)
        return Enclosure.of(min(found.upper, Fraction(1)), precision=_BITS)

    @property
    def least_delta(self) -> Enclosure:
        """A bound of what no ε takes away."""
        return self.infinite + self.rest

    def lower_delta(self, epsilon: float) -> Enclosure:
        """A number that δ(ε) is not below."""
        if self.certain is None:
            return Enclosure.of(0, precision=_BITS)
        distance = (self.raised - self.offset + Fraction(epsilon)).upper_float
        found = self.certain
        for term in self.terms:
            found = found + term.lower_delta(distance, self.plan.spacing)
        return Enclosure.of(min(found.lower, Fraction(1)), precision=_BITS)

    def epsilon(self, delta: Enclosure) -> Enclosure:
        """The least ε ≥ 0 with δ(ε) ≤ δ.

        Raises:
            InvalidValue: where the mass at infinite losses is not proven to be at most δ.
        """
        if self.least_delta.upper > delta.lower:
            raise InvalidValue(
                "delta",
                delta,
                f"a δ above the mass at infinite losses, {self.least_delta.upper_float:.3g}",
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
        indices = np.arange(window.start, window.start + (1 << window.log_points))
        distances = indices.astype(np.float64)
        masses = term.above.masses[indices % indices.size] * np.exp(term.scale.upper_float - window.tilt * distances)
        losses = distances * self.plan.spacing + self.offset.upper_float
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


@final
@frozen(eq=False)
class _Masses:
    """The masses of one release of a part at the points of its lattice, from both sides, and at infinite losses."""

    first: int
    upper: Floats
    lower: Floats
    infinite: float
    certain: float

    def piece(self, piece: _Piece) -> tuple[Floats, Floats]:
        """Those at the indices of a piece."""
        indices = slice(piece.first - self.first, piece.end - self.first)
        return self.upper[indices], self.lower[indices]


@lru_cache(maxsize=8)
def _composed(parts: _Parts, plan: _Plan) -> _Composed:
    """Compose the parts on the lattice of a plan."""
    if any(count > MOST_POINTS for _, count in plan.ranges):
        raise InvalidValue("parts", "losses far apart", "losses of one release within the largest lattice")
    bulk.exp(np.zeros(1))  # refuses where the thread's arithmetic is not that of the proofs
    two_sided = all(cells.below is not None for cells, _ in parts)
    offset = Enclosure.of(0, precision=_BITS)
    every = []
    for (cells, times), origin, (first, count) in zip(parts, plan.offsets, plan.ranges, strict=True):
        lattice = Lattice(origin, plan.spacing, first, count)
        offset = offset + _point(origin) * times
        upper, infinite = _upper_masses(cells.above, lattice)
        lower, certain = (np.zeros(count), 0.0) if cells.below is None else _lower_masses(cells.below, lattice)
        every.append(_Masses(first, upper, lower, infinite, certain))
    terms = tuple(_term(every, window, two_sided) for window in plan.windows)
    counts = [times for _, times in parts]
    return _Composed(
        plan,
        terms,
        _rest(every, plan),
        _at_infinity([part.infinite for part in every], counts),
        _at_infinity([part.certain for part in every], counts) if two_sided else None,
        max(term.last for term in terms),
        offset,
        _point(plan.spacing) * (RAISED * sum(counts)),
    )


def _at_infinity(masses: Iterable[float], counts: Iterable[int]) -> Enclosure:
    """The probability that one of the losses is infinite."""
    finite = Enclosure.of(0, precision=_BITS)
    for infinite, times in zip(masses, counts, strict=True):
        if infinite >= 1.0:
            finite = finite - _point(1e6)
        elif infinite > 0.0:
            finite = finite + (-_point(infinite)).log1p() * times
    return -finite.expm1()


def _rest(every: Sequence[_Masses], plan: _Plan) -> Enclosure:
    """A bound of the masses of all terms with more rare losses than the plan has."""
    from .._kernels import lattice as kernels

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


def _term(every: Sequence[_Masses], window: _Window, two_sided: bool) -> _Term:
    """Add up the losses of some pieces."""
    from .._kernels import fft
    from .._kernels import lattice as kernels

    length = 1 << window.log_points
    roots = fft.roots_of_unity(window.log_points)
    half = length // 2 + 1
    above_product = np.ones(half), np.zeros(half), np.zeros(half)
    below_product = np.ones(half), np.zeros(half), np.zeros(half)
    end = window.start + length
    above, below = _Tally(window.start, end), _Tally(window.start, end)
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

    def count(self, masses: Floats, piece: _Piece, window: _Window, log_scale: float, size: float) -> None:
        """Add a piece."""
        from .._kernels import lattice as kernels

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

    def side(self, masses: Floats, off: float, window: _Window) -> _Side:
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
