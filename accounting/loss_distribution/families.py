"""The losses of the pairs at hand, as laws that a lattice can cut.

Each function returns the loss in a direction from both sides: with the ends of its parameters that make the pair easier
to tell apart above, and with the others below. The proofs are in `docs/soundness_lattice.md`, section "Families".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import comb
from typing import TypeAlias

import numpy as np

from ..bulk import arrays as bulk
from ..enclosures import Enclosure
from ..errors import OutsideDomain
from ..relations import Direction
from .cells import NO_ATOMS, NOTHING, Atoms, Cells, LaplaceSpread, Law, MixtureSpread, NormalSpread, single_losses

DeltaLaw: TypeAlias = Callable[[Enclosure, Direction], Enclosure]
"""δ(ε) in a direction."""

_LEAST_SHIFT, _GREATEST_SHIFT = 1e-10, 1e3
_LEAST_LOSS = 1e-12
MOST_ATOMS = 1 << 17
"""Laws with more single losses have no cells."""
_UNIT = 2.0**-53
_SMALLEST = 2.0**-1074
_BITS = 96


def _disjoint_laws() -> Atoms:
    """Return the losses of two disjoint laws: ∞ under the one, −∞ under the other."""
    ends = np.array([math.inf, -math.inf])
    return Atoms(np.array([1.0, 0.0]), np.array([0.0, 1.0]), ends, ends, np.zeros(2))


DISJOINT_LAWS = _disjoint_laws()


@lru_cache(maxsize=256)
def normal_cells(shift: Enclosure, direction: Direction) -> Cells:
    """Return the loss distribution of N(s, 1) and N(0, 1), from below and from above."""

    def law(spread: NormalSpread | None, atoms: Atoms) -> Law:
        return Law(spread, atoms, 1.0, direction)

    low, high = shift.lower_float, shift.upper_float
    if high == 0.0:
        return Cells(NOTHING, NOTHING)
    beyond = high > _GREATEST_SHIFT
    above = law(None, DISJOINT_LAWS) if beyond else law(NormalSpread(max(high, _LEAST_SHIFT)), NO_ATOMS)
    below = law(NormalSpread(min(low, _GREATEST_SHIFT)), NO_ATOMS) if low >= _LEAST_SHIFT else NOTHING
    return Cells(above, below)


@lru_cache(maxsize=64)
def gaussian_group_cells(
    shift: Enclosure, rate: Enclosure, size: int, direction: Direction, *, mirrored: bool
) -> Cells:
    """Return the loss distribution of P = Σ_j C(k, j) q^j (1 − q)^(k−j) N(js, 1) and N(0, 1), or its mirror image.

    Args:
        shift, rate, size: s, q and k ≥ 1.
        direction: which of the two laws comes first.
        mirrored: whether the second law is the mirror image of P.
    """
    low, high = shift.lower_float, shift.upper_float
    least, most = Fraction(max(rate.lower_float, 0.0)), min(Fraction(rate.upper_float), Fraction(1))
    if high == 0.0 or most == 0:
        return Cells(NOTHING, NOTHING)
    above = _group_law(max(high, _LEAST_SHIFT), most, size, direction, mirrored=mirrored, up=True)
    # a weight of no record drawn that is next to nothing is raised, by a lower rate
    rarer = min(least, 1 - Fraction(10.0 ** (-50 / size)))
    shorter = min(low, _FARTHEST_CENTRE)
    if low < _LEAST_SHIFT or size * rarer * (1 - rarer) ** (size - 1) < _LEAST_WEIGHT:
        return Cells(above, NOTHING)
    return Cells(above, _group_law(shorter, rarer, size, direction, mirrored=mirrored, up=False))


_FARTHEST_CENTRE, _LEAST_WEIGHT, _NEXT_TO_NO_WEIGHT = 15.0, Fraction(1, 10**60), Fraction(1, 10**50)


def _group_law(shift: float, rate: Fraction, size: int, direction: Direction, *, mirrored: bool, up: bool) -> Law:
    """The law of a group with these parameters, or one above it (`up`) or below it.

    Above, the weight of few records that is next to nothing is given to more, and that of many, or too far away, to an
    infinite loss; below, the latter is given to fewer.
    """
    weights = [comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]
    tails = list(accumulate(reversed(weights)))[::-1]
    count = sum(j * shift <= _FARTHEST_CENTRE and tails[j] > _NEXT_TO_NO_WEIGHT for j in range(size + 1))
    rest = sum(weights[count:], Fraction(0))
    kept = weights[:count]
    lost = Fraction(0)
    if up:
        lost = rest
        if sum(kept, Fraction(0)) <= _NEXT_TO_NO_WEIGHT:
            return Law(None, DISJOINT_LAWS, 1.0, direction)
        for j in range(count):
            if kept[j] < _NEXT_TO_NO_WEIGHT and j + 1 < count:
                kept[j + 1] += kept[j]
                kept[j] = Fraction(0)
    else:
        kept[-1] += rest
    drawn = [(weight, Fraction(j) * Fraction(shift)) for j, weight in enumerate(kept) if weight]
    mixture = tuple((float(weight), float(centre)) for weight, centre in drawn)
    mirror = tuple((weight, -centre) for weight, centre in mixture)
    none_drawn = kept[0] if count else Fraction(0)
    missing = max(float(lost), _SMALLEST) if lost else 0.0
    atoms = _outside(missing, missing if mirrored else 0.0, above=up) if missing else NO_ATOMS
    if not mixture or mixture[-1][1] == 0.0:  # the records are known where they are drawn, and do nothing otherwise
        return _known_if_drawn(none_drawn, direction, mirrored=mirrored, up=up)
    lowest, highest = (-math.inf, -math.inf), (math.inf, math.inf)
    if mirrored:
        spread = MixtureSpread(mixture, mirror, lowest, highest)
    else:
        end = Enclosure.of(none_drawn, precision=_BITS).log() if none_drawn else None
        least = lowest if end is None else (end.lower_float, end.upper_float)
        spread = MixtureSpread(mixture, ((1.0, 0.0),), least, highest)
    return Law(spread, atoms, 1.0, direction)


def _outside(present: float, absent: float, *, above: bool) -> Atoms:
    """Masses that only one of the laws has."""
    ends = np.array([math.inf, -math.inf])
    return single_losses(np.array([present, 0.0]), np.array([0.0, absent]), ends, ends, np.full(2, 2.0), above=above)


def _known_if_drawn(none_drawn: Fraction, direction: Direction, *, mirrored: bool, up: bool) -> Law:
    """The law of records that are told for certain where one of them is drawn."""
    drawn = 1 - none_drawn
    first = [none_drawn, drawn, Fraction(0)]
    second = [none_drawn, Fraction(0), drawn] if mirrored else [Fraction(1), Fraction(0), Fraction(0)]
    losses = [_log_ratio(p, q) for p, q in zip(first, second, strict=True)]
    low, high = (np.array(bounds) for bounds in zip(*losses, strict=True))
    present, absent = (np.array([_float(mass) for mass in law]) for law in (first, second))
    return Law(None, single_losses(present, absent, low, high, np.full(3, 2.0), above=up), 1.0, direction)


@lru_cache(maxsize=256)
def laplace_cells(shift: Enclosure, direction: Direction) -> Cells:
    """Return the loss distribution of Laplace(s, 1) and Laplace(0, 1): half of each mass lies at s and −s."""

    def law(s: float, *, above: bool) -> Law:
        small = float((-Enclosure.of(s)).exp().midpoint) / 2 if s < _FARTHEST else 0.0
        ends = np.array([s, -s])
        units = np.full(2, 2.0)
        atoms = single_losses(np.array([0.5, small]), np.array([small, 0.5]), ends, ends, units, above=above)
        return Law(LaplaceSpread(s), atoms, 1.0, direction)

    low, high = shift.lower_float, shift.upper_float
    if high == 0.0:
        return Cells(NOTHING, NOTHING)
    above = law(max(high, _LEAST_LOSS), above=True) if high <= _FARTHEST else Law(None, DISJOINT_LAWS, 1.0, direction)
    return Cells(above, law(min(low, _FARTHEST), above=False) if low >= _LEAST_LOSS else NOTHING)


_FARTHEST = 600.0
"""Beyond this loss, the smaller mass is next to nothing in binary64."""


@lru_cache(maxsize=256)
def response_cells(epsilon: Enclosure, direction: Direction) -> Cells:
    """Return the loss distribution of randomised response with the loss ε."""

    def law(e: float, *, above: bool) -> Law:
        small = float((1 / (Enclosure.of(e).exp() + 1)).midpoint) if e < _FARTHEST else 0.0
        large = float((1 / ((-Enclosure.of(e)).exp() + 1)).midpoint)
        ends = np.array([e, -e])
        masses, units = np.array([large, small]), np.full(2, 2.0)
        return Law(None, single_losses(masses, masses[::-1], ends, ends, units, above=above), 1.0, direction)

    low, high = epsilon.lower_float, epsilon.upper_float
    if high == 0.0:
        return Cells(NOTHING, NOTHING)
    above = law(high, above=True) if high <= _FARTHEST else Law(None, DISJOINT_LAWS, 1.0, direction)
    return Cells(above, law(min(low, _FARTHEST), above=False) if low > 0.0 else NOTHING)


@lru_cache(maxsize=64)
def finite_cells(present: Sequence[Fraction], absent: Sequence[Fraction], direction: Direction) -> Cells:
    """Return the loss distribution of two exact tables of probabilities."""
    outputs = [(p, q) for p, q in zip(present, absent, strict=True) if p or q]
    losses = [_log_ratio(p, q) for p, q in outputs]
    low, high = (np.array(bounds) for bounds in zip(*losses, strict=True))
    seen, unseen = (np.array([_float(pair[which]) for pair in outputs]) for which in range(2))

    def law(*, above: bool) -> Law:
        atoms = single_losses(seen, unseen, low, high, np.full(len(outputs), 2.0), above=above)
        return Law(None, atoms, 1.0, direction)

    return Cells(law(above=True), law(above=False))


def _float(mass: Fraction) -> float:
    """`mass` rounded to nearest; what is not 0 remains so."""
    return max(float(mass), _SMALLEST) if mass else 0.0


def _log_ratio(p: Fraction, q: Fraction) -> tuple[float, float]:
    if not p or not q:
        end = math.inf if p else -math.inf
        return end, end
    loss = Enclosure.of(p / q - 1, precision=_BITS).log1p()
    return loss.lower_float, loss.upper_float


def few_steps(unit: Enclosure, steps: int) -> bool:
    """Whether discrete Laplace laws that far apart have cells."""
    return steps < MOST_ATOMS and unit.upper_float <= _FARTHEST


def few_points(variance: Fraction, steps: int) -> bool:
    """Whether discrete Gaussian laws that far apart have cells."""
    return 2 * _reach(variance) + steps < MOST_ATOMS


def _reach(variance: Fraction) -> int:
    """Beyond this distance from its centre, a discrete Gaussian law is next to nothing in binary64."""
    return math.isqrt(math.ceil(_NATS * 2 * variance)) + 1


@lru_cache(maxsize=64)
def discrete_laplace_cells(unit: Enclosure, fewest: int, most: int, direction: Direction) -> Cells:
    """Return the loss distribution of two discrete Laplace laws λ and k steps apart, where those are a `few_steps`.

    At 0 < x < k the masses are tanh(λ/2)·e^(−λ(k − x)) and tanh(λ/2)·e^(−λx), at and beyond the ends 1/(1 + e^(−λ)) and
    e^(−λk) times that; the loss is λ(2x − k).
    """

    def law(step: float, steps: int, *, above: bool) -> Law:
        if steps == 0:
            return NOTHING
        x = np.arange(steps + 1.0)
        away = np.maximum(bulk.exp(-step * x), _SMALLEST)
        one = Enclosure.of(step)
        ends, inner = 1 / ((-one).exp() + 1), -(-one).expm1() / ((-one).exp() + 1)
        masses = away * float(inner.midpoint)
        masses = np.maximum(masses, _SMALLEST)
        masses[[0, -1]] = away[[0, -1]] * float(ends.midpoint)
        units = 8.0 + 2.0 * step * x
        losses = step * (2 * x - steps)
        error = 4 * _UNIT * np.abs(losses)
        atoms = single_losses(
            masses[::-1], masses, losses - error, losses + error, np.maximum(units, units[::-1]), above=above
        )
        return Law(None, atoms, 1.0, direction)

    low, high = unit.lower_float, unit.upper_float
    return Cells(law(high, most, above=True), law(low, fewest, above=False) if low > 0.0 else NOTHING)


@lru_cache(maxsize=64)
def discrete_gaussian_cells(
    variance: Fraction, total: Enclosure, fewest: int, most: int, direction: Direction
) -> Cells:
    """Return the loss distribution of two discrete Gaussian laws k steps apart, where they are a `few_points`.

    Args:
        variance: σ².
        total: Σ_x e^(−x²/2σ²) over the whole numbers.
        fewest, most: the bounds of k.
        direction: which of the two.
    """
    reach = _reach(variance)
    weight = float(1 / total.midpoint)

    def law(steps: int, *, above: bool) -> Law:
        if steps == 0:
            return NOTHING
        x = np.arange(-reach, steps + reach + 1.0)
        spread = 2.0 * float(variance)
        present, absent = ((x - centre) ** 2 / spread for centre in (steps, 0))
        losses = steps * (2 * x - steps) / spread
        error = 8 * _UNIT * np.abs(losses)
        units = 12.0 + 6.0 * np.maximum(np.where(present < 745, present, 0), np.where(absent < 745, absent, 0))
        atoms = single_losses(
            np.maximum(weight * bulk.exp(-present), _SMALLEST),
            np.maximum(weight * bulk.exp(-absent), _SMALLEST),
            losses - error,
            losses + error,
            units,
            above=above,
            elsewhere=2.0**-970,
        )
        return Law(None, atoms, 1.0, direction)

    return Cells(law(most, above=True), law(fewest, above=False))


_NATS = 700


def interpolated_cells(law: DeltaLaw, direction: Direction) -> Cells:
    """Return a loss distribution from δ(ε), in both directions: its dots connected in e^ε, from above.

    Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022: a law with losses at the dots whose δ runs straight between them
    dominates. At negative losses δ(−ε) = 1 − e^(−ε)·(1 − δ(ε) of the other direction). No law below is given.
    """
    other = direction.other
    curve = {Fraction(0): Fraction(1)}
    for epsilon in _dots(law, other)[1:]:
        factor = Enclosure.of(-epsilon, precision=_BITS).exp()
        value = 1 - factor * (1 - law(Enclosure.of(epsilon), other))
        curve[factor.midpoint] = _at_midpoint(value, factor)
    for epsilon in _dots(law, direction):
        factor = Enclosure.of(epsilon, precision=_BITS).exp()
        curve[factor.midpoint] = _at_midpoint(law(Enclosure.of(epsilon), direction), factor)
    corners = _lower_hull(sorted(curve.items()))
    # right of the last dot the curve stays where it is: that much mass has an infinite loss
    slopes = [*((high[1] - low[1]) / (high[0] - low[0]) for low, high in pairwise(corners)), Fraction(0)]
    bends = [after - before for before, after in pairwise(slopes)]
    masses = [(factor * bend, bend) for (factor, _), bend in zip(corners[1:], bends, strict=True)]
    losses = [_log_ratio(factor, Fraction(1)) for factor, _ in corners[1:]]
    masses += [(corners[-1][1], Fraction(0)), (Fraction(0), 1 + slopes[0])]
    losses += [(math.inf, math.inf), (-math.inf, -math.inf)]
    low, high = (np.array(bounds) for bounds in zip(*losses, strict=True))
    present, absent = (np.array([_float(mass) for mass in column]) for column in zip(*masses, strict=True))
    if direction is Direction.ADD:
        present, absent, low, high = absent, present, -high, -low
    atoms = single_losses(present, absent, low, high, np.full(present.size, 2.0), above=True)
    return Cells(Law(None, atoms, 1.0, direction), None)


def _dots(delta: DeltaLaw, direction: Direction) -> list[Fraction]:
    """Losses from 0 on at which to look: where δ has fallen to next to nothing, or no more is known, they end."""
    reach = Fraction(1, 16)
    while reach < 512:
        try:
            if delta(Enclosure.of(2 * reach), direction).upper < Fraction(1, 10**40):
                reach *= 2
                break
        except OutsideDomain:
            break
        reach *= 2
    return [reach * k / _DOTS for k in range(_DOTS + 1)]


_DOTS = 200


def _at_midpoint(value: Enclosure, factor: Enclosure) -> Fraction:
    """A bound of δ at the middle of `factor`: δ falls by at most as much as e^ε grows."""
    return min(value.upper + factor.width, Fraction(1))


def _lower_hull(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The corners of the largest convex function that exceeds none of the points, which rise in their first number."""
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0]) >= (y - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    return hull
