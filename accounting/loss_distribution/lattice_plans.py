"""How the lattice of a composition is laid out: spacing, window, tilt, what is peeled. Floats that prove nothing.

Legend: as in `lattice`. A bad plan costs tightness, never soundness: `lattice_sums` bounds whatever falls outside.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import TypeAlias, final

import numpy as np
from attrs import evolve, frozen

from ..errors import InvalidValue
from ..exact import Floats
from .cells import Cells

MOST_POINTS = 1 << 22
"""The longest transform."""
FEWEST_POINTS = 1 << 8
GAP = 1e-5
"""About the relative gap in ε that the spacing aims at."""
_OUTSIDE = 30.0
"""The tilted mass outside the window is about e^−30."""

Parts: TypeAlias = tuple[tuple[Cells, int], ...]
"""The laws of single releases, no two of them equal, and how often each is repeated."""
_Sketch: TypeAlias = tuple[Floats, Floats, int]


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


class Shape(_Moments):
    """About the losses of the parts: where to put the lattice."""

    def __init__(self, parts: Parts) -> None:
        self.single = [np.sort(cells.above.single_losses()) for cells, _ in parts]
        self.only_atoms = not any(cells.above.continuous for cells, _ in parts)
        super().__init__([(*cells.above.sketch(), times) for cells, times in parts])

    def without_rarest(self, delta: float) -> Shape:
        """The shape of what the lattice holds for δ: larger losses count as infinite, and say nothing about tilts."""
        releases = sum(times for _, _, times in self.parts)
        kept = [  # with the first that is too rare, up to which the lattice reaches
            min(int(np.count_nonzero(_beyond(masses) > _RAREST * delta / releases)) + 1, masses.size)
            for _, masses, _ in self.parts
        ]
        whole = all(length == losses.size for length, (losses, _, _) in zip(kept, self.parts, strict=True))
        if whole or (self.only_atoms and self.common_spacing() is not None):  # a lattice may hold all of them exactly
            return self
        found = copy(self)
        _Moments.__init__(
            found,
            [
                (losses[:length], masses[:length], times)
                for length, (losses, masses, times) in zip(kept, self.parts, strict=True)
            ],
        )
        return found if found.greatest < _MUCH_LESS * self.greatest else self

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


def _beyond(masses: Floats) -> Floats:
    """The mass at each loss and all larger ones."""
    return np.cumsum(masses[::-1])[::-1]


_RAREST = 1e-7
"""What part of δ may be given to an infinite loss."""
_MUCH_LESS = 1 / 8  # else windows as long as for all losses hold better what lies at the edges
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
class Piece:
    """The masses of a part at the indices from `first` up to `end`, added up `times` times."""

    part: int
    first: int
    end: int
    times: int


@final
@frozen
class Window:
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

    pieces: tuple[Piece, ...]
    copies: int
    log_points: int
    start: int
    tilt: float
    steeper: float
    flatter: float
    scales: tuple[float, ...]

    @property
    def end(self) -> int:
        """The index after its last."""
        return self.start + (1 << self.log_points)


@final
@frozen
class Plan:
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
    windows: tuple[Window, ...]
    rare: tuple[Piece, ...]
    degree: int
    epsilon: float
    slope: float


def plan_for_epsilon(parts: Parts, epsilon: float, most: int | None, gap: float = GAP) -> Plan:
    """Plan the lattice for δ at about this ε, with at most so many points or about that relative gap in ε."""
    shape = Shape(parts)
    tilt, delta = _for_epsilon(shape, epsilon)
    trimmed = shape.without_rarest(delta)
    if trimmed is not shape:
        shape = trimmed
        tilt, delta = _for_epsilon(shape, epsilon)
    return plan_at(parts, shape, epsilon, tilt, delta, most, gap)


def _for_epsilon(shape: Shape, epsilon: float) -> tuple[float, float]:
    """About the tilt and δ at ε."""
    tilt = shape.tilt_for_epsilon(min(epsilon, _INSIDE * shape.greatest))
    return tilt, math.exp(max(min(shape.log_delta(tilt), 0.0), -600.0))


def plan_for_delta(parts: Parts, delta: float, most: int | None, gap: float = GAP) -> Plan:
    """Plan the lattice for the ε that has about this δ, with at most so many points or about that relative gap."""
    shape = Shape(parts).without_rarest(delta)
    tilt = shape.tilt_for_delta(delta)
    _, mean, _ = shape.log_moment(tilt)
    return plan_at(parts, shape, max(mean - 1 / tilt - 1 / (1 + tilt), 0.0), tilt, delta, most, gap)


def plan_at(
    parts: Parts, shape: Shape, epsilon: float, tilt: float, delta: float, most: int | None, gap: float = GAP
) -> Plan:
    """Plan one window around the losses that weigh at this tilt."""
    reach = _reach(shape, epsilon, tilt)
    spacing, count = _spacing(shape, reach.width, _wanted(parts, reach, epsilon, tilt, gap), most)
    offsets = shape.offsets(spacing)
    ranges = _ranges(shape, offsets, tilt, delta, spacing)
    pieces = tuple(
        Piece(part, first, first + length, times)
        for part, ((first, length), (_, times)) in enumerate(zip(ranges, parts, strict=True))
    )
    window = _window(pieces, 1, shape, reach, tilt, count, spacing, offsets)
    return Plan(spacing, offsets, ranges, (window,), (), 0, epsilon, window.tilt)


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
    deviation = math.sqrt(variance)
    if not deviation > 1e-6 * size:
        deviation = size / 10
    if not math.isfinite(deviation):
        raise InvalidValue("parts", f"losses of a mean of {mean}", f"losses in binary64 up to an ε of {epsilon}")
    changes = np.minimum(np.geomspace(0.05, sharpest, 30) / deviation, moments.steepest)
    above = np.array([(moments.log_moment(tilt + change)[0] - total + outside) / change for change in changes])
    below = np.array([(total - moments.log_moment(tilt - change)[0] - outside) / change for change in changes])
    steeper, flatter = float(changes[np.argmin(above)]), float(changes[np.argmax(below)])
    return _Reach(min(float(np.max(below)), epsilon), float(np.min(above)), steeper, flatter, deviation)


def _wanted(parts: Parts, reach: _Reach, epsilon: float, tilt: float, gap: float) -> float:
    """About the spacing at which the gap in ε is the one aimed at."""
    releases = sum(times for _, times in parts)
    return math.sqrt(4 * gap * max(epsilon, reach.deviation / 10) / (releases * (1 + tilt)))


def _ranges(
    shape: Shape, offsets: tuple[float, ...], tilt: float, delta: float, spacing: float
) -> tuple[tuple[int, int], ...]:
    releases = sum(times for _, _, times in shape.parts)
    return tuple(
        _range(losses - offset, masses, tilt, delta / releases, releases, spacing)
        for offset, (losses, masses, _) in zip(offsets, shape.parts, strict=True)
    )


def _window(
    pieces: tuple[Piece, ...],
    copies: int,
    moments: _Moments,
    reach: _Reach,
    tilt: float,
    count: int,
    spacing: float,
    offsets: tuple[float, ...],
) -> Window:
    origins = [offsets[piece.part] for piece in pieces]
    least = reach.least - sum(piece.times * origin for piece, origin in zip(pieces, origins, strict=True))
    tilt = min(tilt, _STEEPEST_STEP / spacing)
    return Window(
        pieces,
        copies,
        count.bit_length() - 1,
        math.floor(least / spacing) - 1,
        tilt * spacing,
        min(reach.steeper * spacing, _STEEPEST_STEP),
        min(reach.flatter * spacing, _STEEPEST_STEP),
        tuple(scale - tilt * origin for scale, origin in zip(moments.scales(tilt), origins, strict=True)),
    )


def _within(reach: _Reach, pieces: Iterable[Piece], spacing: float, offsets: tuple[float, ...]) -> _Reach:
    """Cut off what no sum of the pieces can be."""
    losses = [(piece.times, offsets[piece.part], piece.first, piece.end) for piece in pieces]
    least = sum(times * (origin + spacing * first) for times, origin, first, _ in losses)
    greatest = sum(times * (origin + spacing * end) for times, origin, _, end in losses)
    return evolve(reach, least=max(reach.least, least), greatest=min(reach.greatest, greatest))


def delta_of_one(shape: Shape, epsilon: float) -> float:
    """About Σ δ(ε) of the single releases: what the rest adds to a rare large loss is left out."""
    return sum(
        times * float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0))) for losses, masses, times in shape.parts
    )


def epsilon_of_one(shape: Shape, delta: float) -> float:
    """About the ε at which single releases alone have that δ."""
    low, high = 0.0, max(float(losses[-1]) for losses, _, _ in shape.parts)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of_one(shape, middle) > delta else (low, middle)
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


def _peel(shape: Shape, epsilon: float, delta: float, threshold: float) -> _Peel | None:
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


def plan_peeled(
    parts: Parts, shape: Shape, epsilon: float, delta: float, most: int | None, gap: float = GAP
) -> Plan | None:
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
    return _plan_cut(parts, shape, epsilon, delta, best, most, gap)


def _plan_cut(
    parts: Parts, shape: Shape, epsilon: float, delta: float, best: _Peel, most: int | None, gap: float = GAP
) -> Plan:
    """Return the plan of the lattice for a cut."""
    reaches = [
        _reach(moments, epsilon, tilt, _FARTHER, _SHARPEST)
        for moments, tilt in zip(best.moments, best.tilts, strict=True)
    ]
    single = next(i for i, term in enumerate(best.terms) if sum(term) == 1)
    longest = _MOST_PEELED if most is None else most
    wanted = _wanted(parts, reaches[single], epsilon, best.tilts[single], gap) / _FINER
    for losses, masses, times in shape.parts:  # what is merged below must be wider than the spacing
        low, high = losses[np.minimum(np.searchsorted(np.cumsum(masses), [0.1, 0.6]), losses.size - 1)]
        scatter = float(high - low) + 1e-12
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
            for piece in (Piece(part, first, cut, times - k), Piece(part, cut, first + length, k))
            if piece.times
        ]
        reach = _within(reach, pieces, spacing, offsets)
        count = max(min(1 << math.ceil(math.log2(reach.width / spacing + 8)), longest), FEWEST_POINTS)
        copies = _copies(counts, term)
        windows.append(_window(tuple(pieces), copies, moments, reach, tilt, count, spacing, offsets))
    rare = tuple(
        Piece(part, cut, first + length, times)
        for part, ((first, length), cut, times) in enumerate(zip(ranges, cuts, counts, strict=True))
    )
    return Plan(spacing, offsets, ranges, tuple(windows), rare, best.degree, epsilon, windows[single].tilt)


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
    high = int(np.count_nonzero(_beyond(masses) > _RAREST * delta))
    first = math.floor(float(losses[max(low - 1, 0)]) / spacing)
    last = math.ceil(float(losses[min(high, losses.size - 1)]) / spacing)
    return first - 1, max(last - first, 0) + 4


def _spacing(shape: Shape, window: float, wanted: float, most: int | None) -> tuple[float, int]:
    """The spacing and the number of points of the window; single losses lie on the lattice where they can."""
    common = shape.common_spacing()
    longest = MOST_POINTS if most is None else most
    exact = common if common is not None and shape.only_atoms and window / common + 4 <= longest else None
    count = 1 << math.ceil(math.log2(max(window / (exact or wanted), 1.0) + 4))
    count = max(min(count, longest), FEWEST_POINTS) if most is None else most
    if exact is not None:
        return min(exact, _WIDEST), count
    return _fitted(shape, window / (count - 4)), count


def _fitted(shape: Shape, spacing: float) -> float:
    """A spacing not below the given one, but for the widest, that divides the distances of single losses."""
    common = shape.common_spacing()
    if common is not None and spacing < common:
        spacing = common / math.floor(common / spacing)
    return min(spacing, _WIDEST)


_WIDEST = 8.0
