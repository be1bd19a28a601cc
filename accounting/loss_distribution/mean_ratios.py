"""The law of the mean of t independent likelihood ratios, in convex order from above and from below.

Legend: L = dP/dQ of one release, under Q; A = (L_1 + … + L_t)/t for independent L_i. A law stands for masses under Q of
values of A; `zero` is its mass at A = 0, `infinite` the part of the mean that lies at A = ∞. One law is above another
where ∫f is, for every convex f ≥ 0. A law above has its masses at e^(k·h), whole k: a mean-preserving spread. One below
has masses and first moments of cells, each a point at its mean: a contraction. t is reached by doubling; spacings fall
with the scatter of log A, and rare large values are kept on coarser lattices. The proofs are in
`docs/soundness_allocation.md`, whose steps are named in the code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, TypeVar, final

import numpy as np
from attrs import evolve, frozen

from .._kernels import mean_ratios as kernels
from ..bulk import arrays as bulk
from ..errors import InvalidValue
from ..exact import Floats
from ..relations import Direction
from .cells import NOTHING, Atoms, Law, Spread

Indices: TypeAlias = kernels.Indices

MOST_TERMS = 1 << 20
"""The largest t."""
_UNIT = 2.0**-53
_LEAST_MASS = 1e-140  # products of two, and shares of them, are still far above underflow
_LEFT_OUT = 1e-42  # of either law, at each end, at each level
_NEGLIGIBLE = 1e-20
_FARTHEST = 320.0  # log A is kept within; differences stay within what exp holds
_FINE = 1 / 128  # spacing over the scatter of log A
_LAST = 1 / 4  # the last lattice costs no more where it is finer
_RARELY, _COMMON = 2.0**-16, 1e-3
_UNRESOLVED = 4.0  # cells that an atom, spread over lattice points, may fill
_MOST_ERROR, _MOST_EXTRA, _MOST_MASS, _MOST_POINTS = 1e-4, 1e-3, 1.01, 1 << 27


@final
@frozen(eq=False)
class Above:
    """A law above: masses at e^(spacing·at), each too large by a factor of at most 1 + error.

    Attributes:
        spacing: h, a power of two.
        at: rising indices.
        masses: under Q.
        zero: at A = 0.
        infinite: what A = ∞ has of the mean.
        error: a bound of how much too small masses may be, relatively, in `exact` terms.
    """

    spacing: float
    at: Indices
    masses: Floats
    zero: float
    infinite: float
    error: float

    @property
    def losses(self) -> Floats:
        """log A of the points, exactly."""
        return np.asarray(self.at * self.spacing, dtype=np.float64)

    def scatter(self) -> float:
        """About half the width in which two thirds of log A lie."""
        return _scatter(self.losses, self.masses, self.spacing)


@final
@frozen(eq=False)
class Below:
    """A law below: masses and first moments of cells, each within a factor of 1 ± error, as are `zero`, `infinite`.

    Attributes:
        spacing: how wide, in log A, the cells about are; a power of two.
        masses: under Q.
        moments: the parts of the mean.
        zero: the mass at A = 0.
        infinite: what A = ∞ has of the mean.
        error: that bound.
    """

    spacing: float
    masses: Floats
    moments: Floats
    zero: float
    infinite: float
    error: float

    @property
    def losses(self) -> Floats:
        """log A of the cells, about."""
        return np.asarray(bulk.log(self.moments / self.masses))

    def scatter(self) -> float:
        """About half the width in which two thirds of log A lie."""
        return _scatter(self.losses, self.masses, self.spacing)


def _scatter(losses: Floats, masses: Floats, spacing: float) -> float:
    """About half the width in which two thirds lie; where that is one atom, the deviation."""
    below = np.cumsum(masses)
    low, high = losses[np.minimum(np.searchsorted(below, below[-1] * np.array([0.16, 0.84])), losses.size - 1)]
    if high - low > _UNRESOLVED * spacing:
        return float(high - low) / 2
    shares = masses / below[-1]
    deviation = math.sqrt(float(shares @ (losses - float(shares @ losses)) ** 2))
    return max(float(high - low) / 2, deviation)


def _power_of_two(value: float) -> float:
    """The largest power of two up to a number above 0."""
    return 2.0 ** math.floor(math.log2(value))


@final
@frozen
class _Grid:
    """Where the first laws have their points: at the indices `first` to `last`; `scale` is how log L scatters."""

    spacing: float
    first: int
    last: int
    scale: float


def _grid(law: Law) -> _Grid:
    losses, present = law.sketch()
    absent = present * np.exp(np.clip(-losses, -_FARTHEST, _FARTHEST))
    mean = float(present @ losses) / float(np.sum(present))
    scale = math.sqrt(float(present @ (losses - mean) ** 2) / float(np.sum(present)))
    scale = max(scale, 0.05 * float(np.max(np.abs(losses[present > _COMMON]), initial=0.0)), 1e-12)
    low = float(losses[absent > _LEFT_OUT / 100].min(initial=mean))
    high = float(losses[present > _LEFT_OUT / 100].max(initial=mean))
    spacing = _power_of_two(_FINE * scale)
    low, high = max(low, -_FARTHEST), min(high, _FARTHEST)
    if low > high:
        raise InvalidValue("losses", mean, f"losses of which some lie within {_FARTHEST:g} of 0")
    return _Grid(spacing, math.floor(low / spacing) - 1, math.ceil(high / spacing) + 1, scale)


def _pieces(spread: Spread, grid: _Grid) -> tuple[Floats, Floats, Floats, Floats, float, Indices]:
    """Masses under P and Q at both ends of the cells that the lattice cuts, their error, and the indices."""
    points = np.arange(grid.first, grid.last + 1)
    start, coordinates = spread.inside(np.asarray(points * grid.spacing, dtype=np.float64), up=True)
    ends = spread.ends(coordinates, present=True, absent=True)
    error = (float(np.max(ends.units)) + 8) * _UNIT
    left, right = np.stack([ends.present_left, ends.absent_left]), np.stack([ends.present_right, ends.absent_right])
    return left[0], left[1], right[0], right[1], error, points[start : start + coordinates.size]


def _slack(law: Law, grid: _Grid) -> float:
    """How far, relatively, the value of an index may be from e^(index·spacing), at most, step 1."""
    farthest = max(abs(grid.first), abs(grid.last)) * grid.spacing
    atoms = law.atoms
    known = np.isfinite(atoms.low) & np.isfinite(atoms.high)
    doubt = float(np.max(atoms.high[known] - atoms.low[known], initial=0.0))
    return 64 * _UNIT * (farthest + grid.scale**2 + 1.0) + doubt


def _first_above(law: Law, grid: _Grid) -> Above:
    """The law of one likelihood ratio, spread onto the lattice, step 1."""
    size = _held(grid.last - grid.first + 1)
    masses, zero, infinite, error = np.zeros(size), 0.0, 0.0, 8 * _UNIT
    atoms = law.atoms
    present, absent, low, high = atoms.present, atoms.absent, atoms.low, atoms.high
    relative = atoms.units
    if law.spread is not None:
        p_left, q_left, p_right, q_right, off, indices = _pieces(law.spread, grid)
        error = max(error, off)
        masses[indices - grid.first] += q_right[:-1] + q_left[1:]
        # the outermost cells end at the least and the greatest loss
        lowest, highest = law.spread.extremes(up=False), law.spread.extremes(up=True)
        outer_p, outer_q = np.array([p_left[0], p_right[-1]]), np.array([q_left[0], q_right[-1]])
        present, absent = np.concatenate([present, outer_p]), np.concatenate([absent, outer_q])
        low, high = np.concatenate([low, lowest]), np.concatenate([high, highest])
        relative = np.concatenate([relative, np.zeros(2)])
        zero, infinite = zero + law.spread.cut, infinite + law.spread.cut
    if relative.size:
        error = max(error, (float(np.max(relative)) + 8) * _UNIT)
    top, bottom = grid.last * grid.spacing, grid.first * grid.spacing
    under, over = low < bottom, high > top
    zero += math.fsum(absent[under].tolist())
    infinite += math.fsum(present[over].tolist())
    # at the end where one mass of them is left, the other is that of the outermost point
    known = under & ~over & (low > -math.inf)
    masses[0] += math.fsum((present[known] * bulk.exp(np.array([-bottom]))).tolist())
    masses[-1] += math.fsum(absent[over & ~under].tolist())
    within = ~under & ~over
    if np.any(within):
        table = _table(bulk.exp((low[within] + high[within]) / 2), grid.spacing, _slack(law, grid))
        for offset, share in ((0, 1.0 - table.shares), (table.steps, table.shares)):
            np.add.at(masses, table.cells + offset - grid.first, absent[within] * (share + table.extra))
    error += (2 * relative.size + 8) * _UNIT
    return _tidied(grid.first, grid.spacing, masses, zero, infinite, error, grid.scale)


def _first_below(law: Law, grid: _Grid) -> Below:
    """The law of one likelihood ratio with cells of the lattice merged, step 2."""
    size = _held(grid.last - grid.first + 2)
    masses, moments = np.zeros(size), np.zeros(size)
    zero = infinite = 0.0
    error = 8 * _UNIT
    if law.spread is not None:
        p_left, q_left, p_right, q_right, error, indices = _pieces(law.spread, grid)
        if indices.size:
            cells = np.append(indices - grid.first, indices[-1] + 1 - grid.first)
            masses[cells] += q_left + q_right
            moments[cells] += p_left + p_right
    atoms = law.atoms
    if atoms.present.size:
        error = max(error, (float(np.max(atoms.units)) + 2 * atoms.present.size + 8) * _UNIT)
        middle = np.clip((atoms.low + atoms.high) / 2, -_FARTHEST, _FARTHEST)
        cells = np.clip(np.floor(middle / grid.spacing) + 1 - grid.first, 0, size - 1).astype(np.int64)
        both = (atoms.present > 0) & (atoms.absent > 0)
        np.add.at(masses, cells[both], atoms.absent[both])
        np.add.at(moments, cells[both], atoms.present[both])
        zero = math.fsum(atoms.absent[~both].tolist())
        infinite = math.fsum(atoms.present[~both].tolist())
    return _kept(Below(grid.spacing, masses, moments, zero, infinite, error + 8 * _UNIT))


def _kept(law: Below) -> Below:
    """Without the cells that have next to no mass, which binary64 would not hold to full precision."""
    there = (law.masses > _LEAST_MASS) & (law.moments > _LEAST_MASS)
    return evolve(law, masses=law.masses[there], moments=law.moments[there])


@final
@frozen(eq=False)
class _Table:
    """Where numbers lie between lattice points: `steps` cells wide from `cells` on, with which share at the right end.

    Attributes:
        extra: a bound of how far each share is off.
    """

    cells: Indices
    steps: Indices
    shares: Floats
    extra: float


def _table(values: Floats, spacing: float, slack: float) -> _Table:
    """Find where numbers lie that are known up to a factor of 1 ± (8u + slack), step 1."""
    cells = np.floor(bulk.log(values) / spacing).astype(np.int64)
    extra = (64 * _UNIT + 2 * slack) * math.exp(2 * spacing) / math.expm1(spacing) * (1 + 1e-6)
    if not extra < _MOST_EXTRA:
        raise InvalidValue("spacing", spacing, "a lattice that binary64 tells apart")

    def shares(start: Indices, width: float) -> Floats:
        above = values * bulk.exp(-start * spacing) - 1.0
        return np.asarray(above / bulk.expm1(np.array([width * spacing])))

    found, steps = shares(cells, 1.0), np.ones(values.size, np.int64)
    # beside a lattice point it is not known on which side: the cell is taken twice as wide
    left, right = found < extra, found > 1.0 - extra
    cells = cells - left
    wide = left | right
    steps[wide] = 2
    found[wide] = shares(cells, 2.0)[wide]
    if np.any((found < 0.0) | (found > 1.0)):
        raise InvalidValue("spacing", spacing, "a lattice that binary64 tells apart")
    return _Table(cells, steps, found, extra)


def _mean_above(x: Above, y: Above, shares: tuple[Fraction, Fraction], last: bool, slack: float, scale: float) -> Above:
    """A law above that of shares[0]·X + shares[1]·Y for independent X and Y, step 3."""
    same = x is y
    spacing = _next_spacing(x, y, last)
    one, other = float(shares[0]), float(shares[1])
    x_at, y_at = (law.at * round(law.spacing / spacing) for law in (x, y))
    first, count = _differences(x_at, y_at, same=same)
    values = np.empty(_held(count))
    kernels.averages(one, other, first, spacing, values)
    table = _table(values, spacing, slack)
    base = min(int(x_at[0]), int(y_at[0])) + math.floor(math.log(min(one, other)) / spacing) - 4
    size = _held(max(int(x_at[-1]), int(y_at[-1])) + 5 - base)
    out, counts = np.zeros(size), np.zeros(size, np.int64)
    kernels.spread_means(
        x_at,
        x.masses,
        y_at,
        y.masses,
        same,
        first,
        table.cells,
        table.steps,
        table.shares,
        table.extra,
        base,
        out,
        counts,
    )
    nothing = x.zero * y.zero
    for law, at, weight, zero in ((x, x_at, one, y.zero), (y, y_at, other, x.zero)):
        if zero < _NEGLIGIBLE:  # between 0 and the point itself
            out[at - base] += law.masses * (zero * weight)
            nothing += zero * (1.0 - weight) * (1 + 1e-3)
            continue
        alone = _table(np.array([weight]), spacing, slack)
        for offset, share in ((0, 1.0 - alone.shares[0]), (alone.steps[0], alone.shares[0])):
            out[at + alone.cells[0] + offset - base] += law.masses * zero * (share + alone.extra)
    error = x.error + y.error + (float(np.max(counts)) + 24) * _UNIT
    infinite = (one * x.infinite + other * y.infinite) * (1 + 8 * _UNIT)
    return _tidied(base, spacing, out, nothing, infinite, error * (1 + 1e-3), scale)


def _mean_below(x: Below, y: Below, shares: tuple[Fraction, Fraction], last: bool, scale: float) -> Below:
    """A law below that of shares[0]·X + shares[1]·Y for independent X and Y, step 4."""
    same = x is y
    spacing = _next_spacing(x, y, last)
    one, other = float(shares[0]), float(shares[1])
    quarter = spacing / 4
    x_at, y_at = (np.rint(law.losses / quarter).astype(np.int64) for law in (x, y))
    first, count = _differences(x_at, y_at, same=same)
    values = np.empty(_held(count))
    kernels.averages(one, other, first, quarter, values)
    shifts = np.rint(bulk.log(values) / quarter).astype(np.int64)
    base = (min(int(x_at.min()), int(y_at.min())) >> 2) + math.floor(math.log(min(one, other)) / spacing) - 4
    size = _held((max(int(x_at.max()), int(y_at.max())) >> 2) + 5 - base)
    masses, moments, counts = np.zeros(size), np.zeros(size), np.zeros(size, np.int64)
    kernels.merge_means(
        x_at,
        x.masses,
        x.moments,
        y_at,
        y.masses,
        y.moments,
        one,
        other,
        same,
        first,
        shifts,
        base,
        masses,
        moments,
        counts,
    )
    for law, at, weight, zero in ((x, x_at, one, y.zero), (y, y_at, other, x.zero)):
        if zero > _LEAST_MASS:
            cells = ((at + round(math.log(weight) / quarter)) >> 2) - base
            np.add.at(masses, cells, law.masses * zero)
            np.add.at(moments, cells, law.moments * (weight * zero))
            np.add.at(counts, cells, 1)
    error = (x.error + y.error + (float(np.max(counts)) + 24) * _UNIT) * (1 + 1e-3)
    total_x, total_y = (math.fsum(law.masses.tolist()) + law.zero for law in (x, y))
    infinite = one * x.infinite * total_y + other * y.infinite * total_x
    losses = np.asarray((base + 0.5 + np.arange(size)) * spacing, dtype=np.float64)
    coarse = _coarseness(losses, masses, spacing, scale)
    groups = (np.arange(size) + base) >> coarse
    starts = np.flatnonzero(np.append(True, (groups[1:] != groups[:-1]) | (coarse[1:] != coarse[:-1])))
    error += 2 * float(2 ** int(coarse.max())) * _UNIT
    merged = Below(
        spacing, np.add.reduceat(masses, starts), np.add.reduceat(moments, starts), x.zero * y.zero, infinite, error
    )
    return _kept(merged)


def _held(size: int) -> int:
    """A number of lattice points that memory holds."""
    if size > _MOST_POINTS:
        raise InvalidValue("spacing", f"{size:,} lattice points", f"at most {_MOST_POINTS:,}")
    return size


def _next_spacing(x: Above | Below, y: Above | Below, last: bool) -> float:
    """The spacing of the mean of two laws, which divides theirs: the finest for their mean, if they are one."""
    finest = min(x.spacing, y.spacing)
    if last:
        return finest * _LAST
    return min(_power_of_two(_FINE * max(x.scatter() / math.sqrt(2), x.spacing)), finest) if x is y else finest


def _differences(x_at: Indices, y_at: Indices, *, same: bool) -> tuple[int, int]:
    """The least difference of two positions, and how many there are from it to the greatest."""
    least = 0 if same else int(y_at.min() - x_at.max())
    if same:
        return least, int(x_at.max() - x_at.min()) + 1
    return least, int(y_at.max() - x_at.min()) - least + 1


def _coarseness(losses: Floats, masses: Floats, spacing: float, scale: float) -> Indices:
    """To what power of 2 lattice points are put together; it does not fall, and is 0 but for rare large values.

    A large mean is that of one large ratio, and varies with log A as that does.
    """
    near = max(_scatter(losses, masses, spacing), scale * _RARELY)
    there = scale * -np.expm1(-np.maximum(losses, 0.0))
    return np.floor(np.log2(np.maximum(there / near, 1.0))).astype(np.int64)


def _tidied(
    first: int, spacing: float, masses: Floats, zero: float, infinite: float, error: float, scale: float
) -> Above:
    """Cut off both ends, and spread rare large values onto coarser lattices, step 5."""
    there = np.flatnonzero(masses)
    if not there.size:  # all mass lies beyond the lattice
        raise InvalidValue("spacing", spacing, "a lattice that some mass lies on")
    first, masses = first + int(there[0]), masses[there[0] : there[-1] + 1].copy()
    losses = np.asarray((first + np.arange(masses.size)) * spacing, dtype=np.float64)
    values = np.asarray(bulk.exp(losses))
    low = int(np.searchsorted(np.cumsum(masses), _LEFT_OUT))
    high = masses.size - 1 - int(np.searchsorted(np.cumsum((masses * values)[::-1]), _LEFT_OUT))
    if 0 < low <= high:
        zero += math.fsum(masses[:low].tolist()) * (1 + 4 * _UNIT)
        masses[low] += math.fsum((masses[:low] * values[:low]).tolist()) / values[low]
    if low <= high < masses.size - 1:
        infinite += math.fsum((masses * values)[high + 1 :].tolist()) * (1 + 16 * _UNIT)
        masses[high] += math.fsum(masses[high + 1 :].tolist())
    low, high = (low, high) if low <= high else (0, masses.size - 1)
    masses, losses = masses[low : high + 1], losses[low : high + 1]
    at = first + np.arange(low, high + 1)
    coarse = _coarseness(losses, masses, spacing, scale)
    left = (at >> coarse) << coarse
    right = left + (1 << coarse)
    moved = at != left
    shares = np.where(moved, bulk.expm1((at - left) * spacing) / bulk.expm1((right - left) * spacing), 0.0)
    start = int(left[0])
    out = np.bincount(
        left - start, masses * np.where(moved, (1.0 - shares) + 20 * _UNIT, 1.0), int(right[-1]) - start + 1
    )
    out += np.bincount(right - start, np.where(moved, masses * (shares + 20 * _UNIT), 0.0), out.size)
    kept = np.flatnonzero(out)
    if not math.fsum(out.tolist()) < _MOST_MASS:
        raise InvalidValue("spacing", spacing, "a lattice that binary64 tells apart")
    zero, infinite = (max(mass, _LEAST_MASS) if mass else 0.0 for mass in (zero, infinite))
    error += (2 * float(2 ** int(coarse.max())) + 40) * _UNIT
    return Above(spacing, kept + start, np.maximum(out[kept], _LEAST_MASS), zero, infinite, error)


Ratios = TypeVar("Ratios")


def _mean_of(
    one: Ratios, terms: int, mean: Callable[[Ratios, Ratios, tuple[Fraction, Fraction], bool], Ratios]
) -> Ratios:
    """The mean of so many independent ones, by doubling; `mean` is told where it makes the last."""
    found, count, power, size = None, 0, one, 1
    while True:
        if terms & size:
            whole = count + size
            found = (
                power
                if found is None
                else mean(found, power, (Fraction(count, whole), Fraction(size, whole)), whole == terms)
            )
            count = whole
        if count == terms:
            return found  # type: ignore[return-value]  # terms ≥ 1
        size *= 2
        power = mean(power, power, (Fraction(1, 2), Fraction(1, 2)), size == terms)


@lru_cache(maxsize=16)
def mean_above(law: Law, terms: int) -> Atoms:
    """The mean of the likelihood ratios of so many independent releases, from above, as single losses.

    Args:
        law: the loss of one release, from above, in the direction REMOVE and without sampling.
        terms: t ≥ 1, at most `MOST_TERMS`.

    Guarantees: Σ (present − y·absent)₊ is at least E_Q[(A − y)₊] for every y ≥ 0, and Σ (absent − y·present)₊ at least
    E_Q[(1 − y·A)₊].

    Raises:
        InvalidValue: for losses so far apart, or so many terms, that binary64 does not tell them apart.
    """
    grid, scale = _ratio(law, terms)
    slack = _slack(law, grid)
    found = _mean_of(
        _first_above(law, grid),
        terms,
        lambda x, y, shares, last: _mean_above(x, y, shares, last, slack, scale * _LAST if last else scale),
    )
    factor = 1.0 + _checked(found.error)
    masses, losses = found.masses * factor, found.losses
    present = np.concatenate([masses * bulk.exp(losses), [found.infinite * factor, 0.0]])
    absent = np.concatenate([masses, [0.0, found.zero * factor]])
    if min(math.fsum(present.tolist()), math.fsum(absent.tolist())) < 1.0:
        raise InvalidValue("law", law, "one of which no mass is lost")  # both are at least those of two whole laws
    return Atoms(
        present,
        absent,
        np.concatenate([losses, [math.inf, -math.inf]]),
        np.concatenate([losses, [math.inf, -math.inf]]),
        np.full(losses.size + 2, 16.0),
    )


@lru_cache(maxsize=16)
def mean_below(law: Law, terms: int) -> Atoms:
    """The mean of the likelihood ratios of so many independent releases, from below, as single losses.

    Args:
        law: the loss of one release, from below, in the direction REMOVE and without sampling.
        terms: t ≥ 1, at most `MOST_TERMS`.

    Guarantees: the two sums that `mean_above` names are at most the true values.

    Raises:
        InvalidValue: as `mean_above`.
    """
    if law is NOTHING:
        return law.atoms
    grid, scale = _ratio(law, terms)
    found = _mean_of(
        _first_below(law, grid),
        terms,
        lambda x, y, shares, last: _mean_below(x, y, shares, last, scale * _LAST if last else scale),
    )
    error = _checked(found.error)
    losses, factor = found.losses, 1.0 - error
    off = 2 * error + 16 * _UNIT * (1 + np.abs(losses))
    return Atoms(
        np.concatenate([found.moments * factor, [found.infinite * factor, 0.0]]),
        np.concatenate([found.masses * factor, [0.0, found.zero * factor]]),
        np.concatenate([losses - off, [math.inf, -math.inf]]),
        np.concatenate([losses + off, [math.inf, -math.inf]]),
        np.full(losses.size + 2, 16.0),
    )


def _ratio(law: Law, terms: int) -> tuple[_Grid, float]:
    if law.direction is not Direction.REMOVE or law.rate != 1.0:
        raise InvalidValue("law", law.direction, "a law of the direction REMOVE, without sampling")
    if law.spread is not None and not law.spread.near:
        raise InvalidValue("law", law.spread, "one whose losses at lattice points are known to the last digits")
    if not 1 <= terms <= MOST_TERMS:
        raise InvalidValue("terms", terms, f"from 1 to {MOST_TERMS}")
    grid = _grid(law)
    return grid, grid.scale


def _checked(error: float) -> float:
    if not error < _MOST_ERROR:
        raise InvalidValue("terms", f"an error of {error:.1g}", f"at most {_MOST_ERROR}", "Take fewer terms")
    return error * (1 + 1e-3) + 64 * _UNIT
