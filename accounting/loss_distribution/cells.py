"""The law of one release's privacy loss, cut at the points of a lattice.

Legend: P is the law of an output with the record, Q without it; in a direction, the first law is the one whose outputs
are seen and the loss is the logarithm of its density against the other. A base pair has a loss x; after Poisson
sampling at rate q the loss is log(1 − q + q·e^x) (REMOVE) or minus that (ADD). Every mass is cut at lattice points and
moved to the two ends of its cell, so that it remains what it was under both laws. That commutes with sampling, whose
losses are affine in e^x: only masses under P and Q are mixed. The proofs are in `docs/soundness_lattice.md`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, final

import numpy as np
from attrs import evolve, frozen

from .._kernels import lattice as kernels
from .._kernels import normal_mixtures as mixture_kernels
from ..enclosures import Enclosure
from ..exact import Floats
from ..relations import Direction

_ROUNDING_UNITS = 6.0
RAISED = Fraction(1, 2**36)
"""Single losses are raised by this part of the spacing, below: those that lie on the lattice stay on it."""


@final
@frozen
class Lattice:
    """The losses offset + spacing·first, offset + spacing·(first + 1), …

    Attributes:
        offset: the loss at index 0.
        spacing: the distance of neighbours; above 0, at most 8.
        first: index of the first point.
        count: how many points; at least 2.
    """

    offset: float
    spacing: float
    first: int
    count: int

    def indexed(self, losses: Floats, *, up: bool) -> Floats:
        """Bound the losses less the offset, from above (`up`) or from below."""
        if not self.offset:
            return losses
        distances = np.nextafter(losses - self.offset, math.inf if up else -math.inf)
        return np.where(np.isfinite(losses), distances, losses)


@final
@frozen(eq=False)
class Split:
    """Masses of the cells of a lattice under the first law: cell i lies between the points i − 1 and i.

    Attributes:
        left, right: at the two ends of each cell, of which there is one more than points; the first cell is without a
            left end, the last without a right one.
        units: relative error of a cell's masses, in units of 2^-53.
        certain: a lower bound of the mass at an infinite loss, which is not in the cells; 0 where losses are rounded
            up, and the infinite ones in the last cell.
        lowered: where losses are rounded down, by how much at most those at the ends of the inner cells were, beyond
            the raising of single ones; ∞ where that is not known.
        inner: the first of the cells of which that is known, and the one after the last.
    """

    left: Floats
    right: Floats
    units: Floats
    certain: float
    lowered: float = math.inf
    inner: tuple[int, int] = (0, 0)


@final
@frozen(eq=False)
class Atoms:
    """Single losses of a base pair.

    Attributes:
        present, absent: masses under P and Q, at most `units`·2^-53 off, relatively.
        low, high: bounds of the losses, ±inf included.
        units: that error, for each.
    """

    present: Floats
    absent: Floats
    low: Floats
    high: Floats
    units: Floats


@final
@frozen(eq=False)
class Ends:
    """Masses of a law with a density at the ends of its cells, under both laws, and their relative error in units."""

    present_left: Floats
    absent_left: Floats
    present_right: Floats
    absent_right: Floats
    units: Floats


class Spread(ABC):
    """The part of a base pair's loss that has a density."""

    __slots__ = ()

    near: ClassVar[bool] = True
    """Whether losses of coordinates that `inside` gives are within 64 roundings of those asked for."""

    @property
    @abstractmethod
    def greatest(self) -> float:
        """The supremum of the losses; the infimum is its negative, unless `extremes` says otherwise."""

    def extremes(self, *, up: bool) -> tuple[float, float]:
        """The infimum and the supremum of the losses, both rounded up (`up`) or down."""
        return -self.greatest, self.greatest

    @property
    @abstractmethod
    def cut(self) -> float:
        """A bound of the mass, under either law, that `ends` leaves out."""

    @abstractmethod
    def inside(self, losses: Floats, *, up: bool) -> tuple[int, Floats]:
        """How many of the rising losses come before the first that is a usable boundary; coordinates of those that are.

        A coordinate belongs to a loss that is at least (`up`), or at most, the one given.
        """

    def losses(self, coordinates: Floats, *, up: bool) -> Floats:
        """Bounds of the losses that coordinates belong to, from above (`up`) or below; infinite where none is known."""
        return np.full_like(coordinates, math.inf if up else -math.inf)

    @abstractmethod
    def ends(self, coordinates: Floats, *, present: bool, absent: bool) -> Ends:
        """The masses of the cells between the least loss, the coordinates and the greatest loss.

        Args:
            coordinates: rising boundaries.
            present: whether masses under P are wanted; otherwise they may be 0.
            absent: whether those under Q are.
        """

    @abstractmethod
    def sketch(self) -> tuple[Floats, Floats, Floats]:
        """Some losses with about their masses under P and Q; it proves nothing."""


@final
@frozen
class NormalSpread(Spread):
    """The loss s·x − s²/2 of N(s, 1) and N(0, 1); 1e-10 ≤ s ≤ 1000."""

    shift: float

    @property
    def greatest(self) -> float:
        """The supremum of the losses, ∞: every loss occurs."""
        return math.inf

    @property
    def cut(self) -> float:
        """A bound of the mass that is left out: both laws are cut far out."""
        return kernels.TINY

    def inside(self, losses: Floats, *, up: bool) -> tuple[int, Floats]:
        """Find the losses at which neither law is cut, as `Spread.inside` says; coordinates are the values x."""
        x = np.empty_like(losses)
        kernels.gaussian_coordinates(losses, self.shift, up, x)
        first, last = np.searchsorted(x, [-kernels.EDGE, self.shift + kernels.EDGE])
        return int(first), np.ascontiguousarray(x[first:last])

    def losses(self, coordinates: Floats, *, up: bool) -> Floats:
        """Bound s(x − s/2), of which two roundings matter."""
        losses: Floats = self.shift * (coordinates - self.shift / 2)
        error = 4 * 2.0**-53 * np.abs(losses) + kernels.TINY
        return losses + error if up else losses - error

    def ends(self, coordinates: Floats, *, present: bool, absent: bool) -> Ends:
        """Compute the masses of the cells by Gauss's rule, as `Spread.ends` says."""
        masses = tuple(np.empty(coordinates.size + 1) for _ in range(5))
        kernels.gaussian_cells(coordinates, self.shift, present, absent, *masses)
        return Ends(*masses)

    def sketch(self) -> tuple[Floats, Floats, Floats]:
        """Return some losses and their rough masses, on a grid around both centres."""
        around = np.linspace(-37.0, 37.0, 1481)
        x = np.unique(np.concatenate([around, self.shift + around]))
        weight = np.gradient(x) / math.sqrt(2 * math.pi)
        present, absent = weight * np.exp(-((x - self.shift) ** 2) / 2), weight * np.exp(-x * x / 2)
        return self.shift * (x - self.shift / 2), present, absent


@final
@frozen
class MixtureSpread(Spread):
    """The loss of P = Σ a_j N(c_j, 1) and Q = Σ b_j N(d_j, 1) with c_j ≥ 0 ≥ d_j, whose density ratio rises.

    Attributes:
        present: pairs (a_j, c_j), as binary64 has them: a_j ≥ 1e-60 and within 2 roundings, 0 ≤ c_j ≤ 15.
        absent: pairs (b_j, d_j), −15 ≤ d_j ≤ 0, else the same.
        least, most: bounds of the infimum and of the supremum of the losses, each from below and from above.
    """

    near: ClassVar[bool] = False

    present: tuple[tuple[float, float], ...]
    absent: tuple[tuple[float, float], ...]
    least: tuple[float, float]
    most: tuple[float, float]

    @property
    def greatest(self) -> float:
        """A bound of the supremum of the losses, from above."""
        return self.most[1]

    @property
    def cut(self) -> float:
        """A bound of the mass that is left out: both laws are cut far out."""
        return kernels.TINY

    def extremes(self, *, up: bool) -> tuple[float, float]:
        """The infimum and the supremum, as `Spread.extremes` says: they differ in size."""
        return self.least[up], self.most[up]

    def inside(self, losses: Floats, *, up: bool) -> tuple[int, Floats]:
        """Find the losses at which neither law is cut, as `Spread.inside` says; coordinates are the outputs."""
        x = np.empty_like(losses)
        mixture_kernels.mixture_coordinates(losses, *_columns(self.present), *_columns(self.absent), up, x)
        first, last = np.searchsorted(x, -math.inf, "right"), np.searchsorted(x, math.inf)
        return int(first), np.ascontiguousarray(x[first:last])

    def ends(self, coordinates: Floats, *, present: bool, absent: bool) -> Ends:
        """Compute the masses of the cells by Gauss's rule; those under Q in the mirror, where Q is the first law."""
        masses = [np.zeros(coordinates.size + 1) for _ in range(6)]
        here, there = _columns(self.present), _columns(self.absent)
        if present:
            mixture_kernels.mixture_cells(coordinates, *here, *there, masses[0], masses[1], masses[4])
        if absent:
            mirrored = np.ascontiguousarray(-coordinates[::-1])
            columns = [column * sign for pair in (there, here) for column, sign in zip(pair, (1.0, -1.0), strict=True)]
            found = [np.zeros(coordinates.size + 1) for _ in range(3)]
            mixture_kernels.mixture_cells(mirrored, *columns, *found)
            masses[3], masses[2], masses[5] = (values[::-1] for values in found)
        return Ends(masses[0], masses[2], masses[1], masses[3], np.maximum(masses[4], masses[5]))

    def sketch(self) -> tuple[Floats, Floats, Floats]:
        """Return some losses and their rough masses, on a grid around all centres."""
        (a, c), (b, d) = _columns(self.present), _columns(self.absent)
        x = np.linspace(-37.0 + min(d), 37.0 + max(c), 2401)
        step = (x[1] - x[0]) / math.sqrt(2 * math.pi)
        with np.errstate(under="ignore"):
            present, absent = (step * np.exp(_logs(x, *law) - x * x / 2) for law in ((a, c), (b, d)))
        return _logs(x, a, c) - _logs(x, b, d), present, absent


def _logs(x: Floats, weights: Floats, centres: Floats) -> Floats:
    """About the logarithm of a mixture's density over that of N(0, 1)."""
    logs: Floats = np.logaddexp.reduce(np.log(weights) + np.outer(x, centres) - centres * centres / 2, axis=1)
    return logs


def _columns(mixture: tuple[tuple[float, float], ...]) -> tuple[Floats, Floats]:
    """Weights and centres."""
    weights, centres = np.array(mixture, dtype=np.float64).T
    return np.ascontiguousarray(weights), np.ascontiguousarray(centres)


@final
@frozen
class LaplaceSpread(Spread):
    """The losses between −s and s of Laplace(s, 1) and Laplace(0, 1)."""

    shift: float

    @property
    def greatest(self) -> float:
        """The supremum of the losses: the pure loss s."""
        return self.shift

    @property
    def cut(self) -> float:
        """A bound of the mass that is left out: 0, because nothing is cut."""
        return 0.0

    def inside(self, losses: Floats, *, up: bool) -> tuple[int, Floats]:
        """Find the losses between −s and s, as `Spread.inside` says; a loss is its own coordinate."""
        first, last = np.searchsorted(losses, -self.shift, "right"), np.searchsorted(losses, self.shift, "left")
        return int(first), np.ascontiguousarray(losses[first:last])

    def losses(self, coordinates: Floats, *, up: bool) -> Floats:
        """Return the coordinates: they are losses."""
        return coordinates

    def ends(self, coordinates: Floats, *, present: bool, absent: bool) -> Ends:
        """Compute the masses of the cells in closed form, as `Spread.ends` says."""
        masses = tuple(np.empty(coordinates.size + 1) for _ in range(5))
        kernels.laplace_cells(coordinates, self.shift, *masses)
        return Ends(*masses)

    def sketch(self) -> tuple[Floats, Floats, Floats]:
        """Return some losses and their rough masses, on a grid from −s to s."""
        losses = np.linspace(-self.shift, self.shift, 401)
        step = 2 * self.shift / 400
        return losses, step / 4 * np.exp((losses - self.shift) / 2), step / 4 * np.exp(-(losses + self.shift) / 2)


class LossLaw(ABC):
    """A law of the loss of one release, in one direction, that a lattice can cut."""

    __slots__ = ()

    @property
    @abstractmethod
    def continuous(self) -> bool:
        """Whether a part of it has a density."""

    @abstractmethod
    def split(self, lattice: Lattice, *, up: bool) -> Split:
        """The masses of the cells of a lattice.

        With `up` every loss and every mass left of the first point is moved up where rounding has to move it;
        otherwise losses are moved down, but for the single ones, which may first be raised by `RAISED` of the spacing,
        and masses left of the first point are left out.
        """

    @abstractmethod
    def single_losses(self) -> Floats:
        """The finite losses at which a lattice is to have points, rounded up."""

    @abstractmethod
    def sketch(self) -> tuple[Floats, Floats]:
        """Losses, all finite, and about their masses under the first law."""

    @abstractmethod
    def sampled(self, rate: Enclosure, *, up: bool) -> LossLaw:
        """A law above (`up`) or below that of the loss after Poisson sampling at q in (0, 1]."""


@final
@frozen
class Law(LossLaw):
    """The law of the loss of one release, in one direction.

    Attributes:
        spread: the base pair's part with a density.
        atoms: the base pair's single losses.
        rate: q in (0, 1]; binary64, exactly.
        direction: which of the two laws comes first.
    """

    spread: Spread | None
    atoms: Atoms
    rate: float
    direction: Direction

    @property
    def _swapped(self) -> bool:
        return self.direction is Direction.ADD

    @property
    def continuous(self) -> bool:
        """Whether the base pair has a part with a density."""
        return self.spread is not None

    def split(self, lattice: Lattice, *, up: bool) -> Split:
        """Cut at the points of a lattice, as `LossLaw.split` says."""
        return _split(self, lattice, up)

    def sampled(self, rate: Enclosure, *, up: bool) -> Law:
        """Sample the same pair at the product of the rates: less sampling is post-processing of more."""
        if up:
            return evolve(self, rate=_times(self.rate, rate.upper_float, math.inf))
        lowest = _times(self.rate, rate.lower_float, 0.0)
        return evolve(self, rate=lowest) if lowest >= _LEAST_RATE else NOTHING

    def single_losses(self) -> Floats:
        """The finite losses of atoms, rounded up."""
        losses = self.losses(self.atoms.low if self._swapped else self.atoms.high, up=True)
        return losses[np.isfinite(losses)]

    def sketch(self) -> tuple[Floats, Floats]:
        """Losses, all finite, and about their masses under the first law."""
        atoms = self.atoms
        middle = np.where(np.isfinite(atoms.low), atoms.low, atoms.high)
        pieces = [(middle, atoms.present, atoms.absent)]
        if self.spread is not None:
            pieces.append(self.spread.sketch())
        base, present, absent = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
        losses = base
        if self.rate < 1:
            with np.errstate(divide="ignore"):
                near = np.log1p(self.rate * np.expm1(np.minimum(base, 600.0)))
            losses = np.where(base > 600, base + math.log(self.rate), near)
        if self._swapped:
            losses, masses = -losses, absent
        else:
            masses = self.rate * present + (1 - self.rate) * absent
        order = np.argsort(losses, kind="stable")
        losses, masses = losses[order], masses[order]
        kept = np.isfinite(losses) & (masses > 0)
        return (losses[kept], masses[kept]) if np.any(kept) else (np.zeros(1), np.full(1, _NEXT_TO_NOTHING))

    def mixed(self, present: Floats, absent: Floats) -> Floats:
        """Masses under the first law; off by 6 units more."""
        return absent if self._swapped else self.rate * present + (1.0 - self.rate) * absent

    def losses(self, base: Floats, *, up: bool) -> Floats:
        """Bounds of the losses after sampling that belong to bounds of those before, which `bounds` gives."""
        out = np.empty(base.size)
        kernels.mixed_each(base, self.rate, self._swapped, up, out)
        return out


@final
@frozen
class Cells:
    """The loss of one release in one direction, from both sides.

    Attributes:
        above: a law that dominates that of the loss.
        below: a law that it dominates; None where only the other is known.
    """

    above: LossLaw
    below: LossLaw | None

    def sampled(self, rate: Enclosure) -> Cells:
        """After Poisson sampling.

        Args:
            rate: q in [0, 1].
        """
        if rate.upper_float == 0.0:
            return Cells(NOTHING, NOTHING)
        return Cells(
            self.above.sampled(rate, up=True), None if self.below is None else self.below.sampled(rate, up=False)
        )


_LEAST_RATE = 1e-200
_NEXT_TO_NOTHING = 1e-300


def _times(one: float, other: float, towards: float) -> float:
    """The product rounded up or down, where a factor is not 1; a rate is raised to the least that is computed with."""
    exact = one == 1.0 or other == 1.0
    product = one * other if exact else math.nextafter(one * other, towards)
    return product if towards == 0.0 else min(max(product, _LEAST_RATE), 1.0)


def single_losses(
    present: Floats, absent: Floats, low: Floats, high: Floats, units: Floats, *, above: bool, elsewhere: float = 0.0
) -> Atoms:
    """Atoms of a law above or below, with masses that binary64 holds to full precision.

    Masses of at most 2^-980 are raised to that above, and left out below; those that are exactly 0 remain.

    Args:
        present, absent, low, high, units: as in `Atoms`.
        above: which of the two.
        elsewhere: a bound of what is missing from the masses; it is added at an unknown loss.
    """

    def rounded(masses: Floats) -> Floats:
        return np.where((masses < kernels.TINY) & (masses > 0), kernels.TINY if above else 0.0, masses)

    columns = [rounded(present), rounded(absent), low, high, units]
    if above and elsewhere:
        extra = (elsewhere, elsewhere, -math.inf, math.inf, 0.0)
        columns = [np.append(column, value) for column, value in zip(columns, extra, strict=True)]
    return Atoms(*(np.ascontiguousarray(column, dtype=np.float64) for column in columns))


def _no_atoms() -> Atoms:
    return Atoms(*(np.empty(0) for _ in range(5)))


NO_ATOMS = _no_atoms()
NOTHING = Law(None, Atoms(np.ones(1), np.ones(1), np.zeros(1), np.zeros(1), np.zeros(1)), 1.0, Direction.REMOVE)
"""Equal laws: the loss is 0."""


@lru_cache(maxsize=64)
def _split(law: Law, lattice: Lattice, up: bool) -> Split:
    left, right, units = (np.zeros(lattice.count + 1) for _ in range(3))
    split = Split(left, right, units, 0.0 if up else _certain(law))

    def add(losses: Floats, masses: Floats, mass_units: Floats) -> None:
        kernels.deposit(
            losses, masses, mass_units + _ROUNDING_UNITS, lattice.first, lattice.spacing, up, left, right, units
        )

    atoms = law.atoms
    high = up != law._swapped
    masses = law.mixed(atoms.present, atoms.absent)
    losses = lattice.indexed(law.losses(atoms.high if high else atoms.low, up=up), up=up)
    if not up:
        masses = np.where(losses == math.inf, 0.0, masses)
        losses = np.nextafter(losses + lattice.spacing * float(RAISED), -math.inf)
    add(losses, masses, atoms.units)
    known = 0.0, (1, lattice.count)
    if law.spread is not None:
        known = _add_spread(law, law.spread, lattice, up, split)
        if up and law.spread.cut:
            add(np.array([math.inf]), np.array([law.spread.cut]), np.zeros(1))
    return split if up else evolve(split, lowered=known[0], inner=known[1])


def _certain(law: Law) -> float:
    """A lower bound of the mass of atoms that surely have an infinite loss."""
    atoms = law.atoms
    losses = law.losses(atoms.high if law._swapped else atoms.low, up=False)
    masses = law.mixed(atoms.present, atoms.absent) * (1.0 - (atoms.units + 2 * _ROUNDING_UNITS) * 2.0**-53)
    return float(np.sum(masses[losses == math.inf])) * (1.0 - 2.0**-40)


def _add_spread(law: Law, spread: Spread, lattice: Lattice, up: bool, split: Split) -> tuple[float, tuple[int, int]]:
    """Add the part with a density to the cells, step 6.

    Returns:
        Below, `lowered` and `inner` of the split.
    """
    swapped, count = law._swapped, lattice.count
    base = np.empty(count)
    # the loss at a boundary must not exceed that of its lattice point above, and not fall short of it below
    rising = up == swapped
    kernels.base_losses(lattice.offset, lattice.first, lattice.spacing, law.rate, swapped, rising, base)
    skipped, boundaries = spread.inside(base, up=rising)
    if not boundaries.size and not up:
        return 0.0, (1, count)
    ends = spread.ends(boundaries, present=not swapped, absent=swapped or law.rate < 1.0)
    lefts = law.mixed(ends.present_left, ends.absent_left)
    rights = law.mixed(ends.present_right, ends.absent_right)
    outer = boundaries.size
    # cell k of the spread lies in the lattice cell skipped + k, counted from the other end where laws are swapped
    if swapped:
        lefts, rights, cell_units = rights[::-1], lefts[::-1], ends.units[::-1]
        skipped = count - skipped - outer
    else:
        cell_units = ends.units
    stop = skipped + outer
    split.left[skipped + 1 : stop + 1] += lefts[1:]
    split.right[skipped + 1 : stop] += rights[1:outer]
    split.units[skipped : stop + 1] = np.maximum(split.units[skipped : stop + 1], cell_units + _ROUNDING_UNITS)
    # the outermost cells also have ends that are no lattice points
    least, greatest = spread.extremes(up=up != swapped)
    extreme = np.array([least, greatest])
    lowest, highest = np.sort(lattice.indexed(law.losses(extreme, up=up), up=up)).tolist()
    low_mass, high_mass = float(lefts[0]), float(rights[outer])
    low_units, high_units = (float(value) + _ROUNDING_UNITS for value in (cell_units[0], cell_units[outer]))
    into = lattice.first, lattice.spacing, split.left, split.right, split.units
    if up:
        if outer:
            split.right[skipped] += rights[0]
        losses, masses, units = (
            np.array(two) for two in ((lowest, highest), (low_mass, high_mass), (low_units, high_units))
        )
        kernels.deposit(losses, masses, units, lattice.first, lattice.spacing, up, *into[2:])
        return math.inf, (0, 0)
    # below, a cell's masses must stay in the lattice cell that it lies in; what does not is left out
    points = base[::-1] if swapped else base
    if (
        skipped
        and lowest > -math.inf
        and (points[skipped - 1] >= greatest if swapped else points[skipped - 1] <= least)
    ):
        split.right[skipped] += rights[0]
        kernels.deposit_in(lowest, low_mass, low_units, skipped, *into)
    kernels.deposit_in(highest, high_mass, high_units, stop, *into)
    at = spread.losses(boundaries, up=not swapped)
    true = lattice.indexed(law.losses(np.ascontiguousarray(at[::-1] if swapped else at), up=True), up=True)
    moved = true - lattice.spacing * np.arange(lattice.first + skipped, lattice.first + stop)
    inexact = 8 * 2.0**-53 * max(abs(lattice.first), abs(lattice.first + count)) * lattice.spacing
    furthest = np.array(spread.extremes(up=not swapped))
    outermost = np.sort(lattice.indexed(law.losses(furthest, up=True), up=True))
    held = min(highest, lattice.spacing * (lattice.first + stop))
    ends_known = np.isfinite([lowest, highest])
    with np.errstate(invalid="ignore"):
        ends_moved = (outermost - np.array([lowest, held]))[ends_known]
    lowered = max(float(np.max(moved)), float(np.max(ends_moved, initial=0.0)), 0.0) + inexact
    inner = 1 if ends_known[0] else skipped + 1, count if ends_known[1] else stop
    return lowered, inner
