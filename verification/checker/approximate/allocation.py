"""Epochs of batches, one of which a record enters, as finite pairs that bound what an epoch loses.

Legend: a record enters one of T batches, drawn uniformly; L is dP/dQ of a release on its batch, drawn under Q, S a sum
of independent ones, A = S/T of T of them; h the spacing of a lattice, g_k = e^(kh).

An epoch. Given the other records' batches, what is seen has the ratio (l_1 + … + l_T)/T to its law without the record,
l_i that of release i given those before. Given these, l_i is below L in the convex order, so that E(A - g)+ bounds
removing the record, and E(1 - gA)+ adding it (Feldman, Shenfeld 2025): E f(A) for convex f >= 0, which rises with a
slope of at most 1, or falls from at most 1.

Laws. A law stands for E f(S): masses at lattice points, the excess `over` counts times the slope of f, `under` times
its highest value. Where S is large it is moved down to the last point, and what it was above counts as excess; where it
is small, up to the first one, and its mass counts. Between points numbers are moved onto both ends of their cell so
that the mean stays; masses and shares are rounded up. All of that leaves E f(S) no smaller.

Sums. f(x + ·) is such a function too, of the same slope and highest value. So the laws of two sums may be put in place
of these, one after the other: g_j + g_i = g_j(1 + e^(-dh)), d = j - i >= 0, is moved onto a lattice of h or h/2, where
cell and share depend on d alone. For each d the masses of all i are one number, with a slot for each, and for each cell
one sum over d; its slots are taken times the masses at j.

Normal noise, of shift s. L is g_k at k·h/s + s/2; in the cell from there to the next it is spread as in `symmetrised`.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import ceil
from operator import add, mul
from typing import Final, NamedTuple

from ..budget import Budget
from ..intervals import NOTHING, ONE, Arithmetic, Interval, at_most, floor_in_units, upper_end
from ..verdict import Refused
from .factors import GAUSSIAN, Factor
from .finite import Outcome, outcomes, outcomes_of
from .normal_cells import mass_beyond, mass_of_cell, moments_of_cells

FEWEST_CELLS: Final = 8
MOST_CELLS: Final = 256
MOST_BATCHES: Final = 4096
_MOST_POINTS: Final = 2**14
_FARTHEST: Final = 48
"""How far from 0 the logarithm of a ratio may be."""
_REACH: Final = 10
"""How many standard deviations of each law lie within the cells of normal noise, to its own side."""
_BITS: Final = 160
_SHARE_BITS: Final = 28
_SLIGHT: Final = 90
"""Masses are whole multiples of 2^-_BITS; at the ends of a law a share of 2^-_SLIGHT is cut off."""
_WHOLE: Final = 2**_SHARE_BITS + 1
"""What both shares of a number are, in units of 2^-_SHARE_BITS: the right one is at most one unit too large."""
_SLOT_BYTES: Final = (_BITS + _SHARE_BITS + 12) // 8
"""Of a sum of masses times shares, at most four times the whole of each."""
_LOG_2: Final = Fraction(693147180559945309417232121458, 10**30)
"""A little below log 2: next to twice a lattice point there is another one, and it is known on which side."""
_FINE: Final = Arithmetic(256)
_UNIT: Final = Interval(ONE, ONE)
_CELL: Final = 60_000
_PLACED: Final = 40
_DIFFERENCE: Final = 3_000
_SLOT: Final = 2
_POINT: Final = 60_000


class Law(NamedTuple):
    """A bound of the law of a sum of ratios, in units of 2^-_BITS: `masses` at g_k for k from `first` on.

    The spacing is `_LOG_2` over 2^halvings.
    """

    first: int
    halvings: int
    masses: Sequence[int]
    over: int
    under: int

    @property
    def spacing(self) -> Fraction:
        """The distance of two points' logarithms."""
        return _LOG_2 / (1 << self.halvings)

    @property
    def last(self) -> int:
        """The index of the last point."""
        return self.first + len(self.masses) - 1

    @property
    def total(self) -> int:
        """All of the mass at points."""
        return sum(self.masses)

    def finer(self, halvings: int) -> "Law":
        """Give the same law on a lattice that is halved so many times."""
        apart = 2 ** (halvings - self.halvings)
        masses = [0] * (apart * (len(self.masses) - 1) + 1)
        masses[::apart] = self.masses
        return self._replace(first=self.first * apart, halvings=halvings, masses=masses)


class Epoch(NamedTuple):
    """What an epoch loses: outcomes, and by how much delta is larger where a record is removed, and where added."""

    outcomes: Sequence[Outcome]
    over: Interval
    under: Interval


def epoch_of(factor: Factor, cells: int, budget: Budget) -> Epoch:
    """Bound what a factor's releases in one epoch lose, with so many lattice points to a standard deviation or more.

    Raises:
        Refused: for releases and numbers of batches that this is not known for.
    """
    batches = factor.change.batches
    assert batches is not None
    number = batches.number
    assert number is not None
    if number > MOST_BATCHES:
        raise Refused(f"epochs have more than {MOST_BATCHES} batches")
    if not FEWEST_CELLS <= cells <= MOST_CELLS:
        raise Refused(f"an epoch of batches is stated in from {FEWEST_CELLS} to {MOST_CELLS} cells")
    law = _sums(factor._replace(family=factor.base, samples=1), cells).law(number, budget)
    law = _coarser(law, cells)
    budget.spend(_POINT * len(law.masses))
    times = _FINE.log(_FINE.rational(Fraction(number)))
    found = [
        Outcome(_enclosed(mass), _FINE.subtract(_FINE.rational(k * law.spacing), times))
        for k, mass in enumerate(law.masses, law.first)
        if mass
    ]
    return Epoch(found, _FINE.divide(_enclosed(law.over), _FINE.rational(Fraction(number))), _enclosed(law.under))


class _Sums:
    """Laws of sums of so many ratios, each from those of half as many."""

    def __init__(self, factor: Factor, cells: int) -> None:
        self._factor, self._cells = factor, cells
        self._known: dict[int, Law] = {}

    def law(self, number: int, budget: Budget) -> Law:
        """Give the law of a sum; what it takes is spent once, also where it is known from another check."""
        return self._laws([number], budget)[0]

    def _laws(self, numbers: Sequence[int], budget: Budget) -> list[Law]:
        """Give the laws of sums of one or two numbers of ratios next to each other."""
        halves = sorted({half for number in numbers if number > 1 for half in (number // 2, number - number // 2)})
        found = dict(zip(halves, self._laws(halves, budget), strict=True)) if halves else {}
        return [self._one(number, found, budget) for number in numbers]

    def _one(self, number: int, halves: dict[int, Law], budget: Budget) -> Law:
        if (self, number) not in budget.paid:
            if number == 1:
                budget.spend(_price_of_one(self._factor, self._cells))
                found = self._known.get(1) or _of_one(self._factor, self._cells)
            else:
                x, y = halves[number // 2], halves[number - number // 2]
                budget.spend(_price_of_sum(x, y))
                found = self._known.get(number) or _trimmed(_sum(x, y, self._cells), number)
            self._known[number] = found
            budget.paid.add((self, number))
        return self._known[number]


@lru_cache(maxsize=8)
def _sums(factor: Factor, cells: int) -> _Sums:
    """Keep what was found for other claims about the same releases."""
    return _Sums(factor, cells)


def _enclosed(mass: int) -> Interval:
    return _FINE.rational(Fraction(mass, 2**_BITS))


def _units(value: Interval) -> int:
    """Round up a number that is at most the end of an interval, in units; one below 0 is 0 but for rounding."""
    return max(-floor_in_units(_FINE.negate(value).lo, _BITS), 0)


# One ratio.


def _farthest(factor: Factor) -> Fraction:
    """Give how far from 0 the logarithm of a ratio may be."""
    shift = factor.parameter
    return shift**2 / 2 + _REACH * shift if factor.family == GAUSSIAN else shift


def _halvings(factor: Factor, cells: int) -> int:
    """Give how often log 2 is halved for that many points to the parameter, which log L scatters by."""
    halvings = 0
    while _LOG_2 * cells > factor.parameter * 2**halvings:
        halvings += 1
    return halvings


def _price_of_one(factor: Factor, cells: int) -> int:
    far = _farthest(factor)
    if far > _FARTHEST or factor.parameter * 2**40 < 1:
        raise Refused(f"what an epoch loses is not known of ratios beyond e^{_FARTHEST}, or of next to nothing")
    return _CELL * (2 * ceil(far * (1 << _halvings(factor, cells)) / _LOG_2) + 8 * MOST_CELLS)


def _of_one(factor: Factor, cells: int) -> Law:
    """Bound the law of one ratio."""
    halvings = _halvings(factor, cells)
    step = _LOG_2 / 2**halvings
    last = ceil(_farthest(factor) / step) + 1
    masses = [NOTHING] * (2 * last + 1)
    over = NOTHING
    if factor.family == GAUSSIAN:
        over = _normal(factor.parameter, step, last, masses)
    else:
        fine = 8 * cells
        outcomes_of(factor, fine)
        for mass, loss in outcomes(factor, fine, _FINE):
            cell = upper_end(loss) // step
            share = _share(_FINE.exp(loss), _FINE.exp(_FINE.rational(cell * step)), _FINE.expm1(_FINE.rational(step)))
            for place, part in ((cell, _FINE.subtract(_UNIT, share)), (cell + 1, share)):
                masses[place + last] = _FINE.add(masses[place + last], _FINE.multiply(mass, part))
    beyond = _units(over)
    return Law(-last, halvings, [_units(mass) for mass in masses], beyond, beyond)


def _share(value: Interval, left: Interval, growth: Interval) -> Interval:
    """Enclose the share of a number that goes to the right end of its cell, which it must be known to lie in."""
    share = _FINE.divide(_FINE.subtract(value, left), _FINE.multiply(left, growth))
    if not (at_most(NOTHING.lo, share.lo) and at_most(share.hi, ONE)):
        raise Refused("a ratio lies too close to a lattice point to tell on which side")
    return share


def _normal(shift: Fraction, step: Fraction, last: int, masses: list[Interval]) -> Interval:
    """Fill in the masses of normal noise, and bound what lies beyond the points on each side."""
    width = step / shift
    moments = moments_of_cells(width / 2, _FINE)
    cells = [
        mass_of_cell((k + Fraction(1, 2)) * width + shift / 2, width / 2, moments, _FINE) for k in range(-last, last)
    ]
    growth, grown = _FINE.expm1(_FINE.rational(step)), _FINE.exp(_FINE.rational(step))
    left = _FINE.exp(_FINE.rational(-last * step))
    for place, (without, with_record) in enumerate(zip(cells, reversed(cells), strict=True)):
        upper = _FINE.divide(_FINE.subtract(with_record, _FINE.multiply(without, left)), _FINE.multiply(left, growth))
        masses[place] = _FINE.add(masses[place], _FINE.subtract(without, upper))
        masses[place + 1] = _FINE.add(masses[place + 1], upper)
        left = _FINE.multiply(left, grown)
    beyond = mass_beyond(last * width - shift / 2, _FINE)
    masses[0] = _FINE.add(masses[0], beyond)
    masses[-1] = _FINE.add(masses[-1], mass_beyond(last * width + shift / 2, _FINE))
    return beyond


# Sums of ratios.


def _price_of_sum(x: Law, y: Law) -> int:
    """Give what a sum takes: for each difference its slots, and for each cell those of the larger terms."""
    same, halvings = x is y, max(x.halvings, y.halvings)
    x, y = x.finer(halvings), y.finer(halvings)
    points = len(x.masses) + len(y.masses)
    if points > 2 * _MOST_POINTS:
        raise Refused(f"sums of ratios take more than {_MOST_POINTS} lattice points")
    pairs = ((x, y), (y, x))[: 1 if same else 2]
    differences = sum(max(big.last - small.first + 1, 0) for big, small in pairs)
    groups = min((1 << (halvings + 1)) + 2, differences)
    return differences * (_DIFFERENCE + _SLOT * points) + groups * _PLACED * points


def _sum(x: Law, y: Law, cells: int) -> Law:
    """Bound the law of a sum of two independent terms."""
    same, halvings = x is y, max(x.halvings, y.halvings)
    x, y = x.finer(halvings), y.finer(halvings)
    finer = _middle(x) ** 2 < 8 * cells**2
    times = 2 if finer else 1
    shares = _Shares(x.spacing, halvings + finer)
    first = times * min(x.first, y.first)
    size = times * max(x.last, y.last) + 2 ** (halvings + finer) + 2 - first
    masses = [0] * size
    pairs = ((x, x, 0, 2),) if same else ((x, y, 0, 1), (y, x, 1, 1))
    for big, small, least, weight in pairs:
        for offset, slots in _by_cells(big, small, least, weight, shares):
            start = times * big.first + offset - first
            held = slice(start, start + times * (len(slots) - 1) + 1, times)
            masses[held] = map(add, masses[held], map(mul, big.masses, slots))
    above = _BITS + _SHARE_BITS
    over = x.over * y.total + y.over * x.total
    under = x.under * (y.total + y.under) + y.under * x.total
    return Law(first, halvings + finer, [-(-mass >> above) for mass in masses], -(-over >> _BITS), -(-under >> _BITS))


class _Shares:
    """To which cell of a lattice 1 + e^(-dh) belongs, and the share that goes to its right end, for d from 0 on."""

    def __init__(self, step: Fraction, halvings: int) -> None:
        self._fall = _FINE.exp(_FINE.rational(-step))
        self._cell = 2**halvings
        self._left = _FINE.exp(_FINE.rational(_LOG_2))
        out = _FINE.rational(_LOG_2 / 2**halvings)
        self._growth, self._grown = _FINE.expm1(out), _FINE.exp(out)
        self._smaller = _UNIT
        self._found: list[tuple[int, int]] = []

    def at(self, difference: int) -> tuple[int, int]:
        """Give the cell and the share, rounded up to one of the next units."""
        while len(self._found) <= difference:
            value = _FINE.add(_UNIT, self._smaller)
            while not at_most(self._left.hi, value.lo):
                self._left, self._cell = _FINE.divide(self._left, self._grown), self._cell - 1
            share = _share(value, self._left, self._growth)
            self._found.append((self._cell, floor_in_units(share.lo, _SHARE_BITS) + 1))
            self._smaller = _FINE.multiply(self._smaller, self._fall)
        return self._found[difference]


def _by_cells(big: Law, small: Law, least: int, weight: int, shares: _Shares) -> Iterator[tuple[int, list[int]]]:
    """For each lattice point next to sums, as its distance from the larger term: by what that one's masses are taken.

    Terms stand in falling order, so that what lies beyond the largest one is shifted out. As d grows cells fall.
    """
    slot, number = 8 * _SLOT_BYTES, len(big.masses)
    packed = int.from_bytes(b"".join(mass.to_bytes(_SLOT_BYTES, "little") for mass in reversed(small.masses)), "little")
    place, whole, right, held = -1, 0, 0, 0
    for difference in range(max(least, big.first - small.last), big.last - small.first + 1):
        cell, share = shares.at(difference)
        while cell != place and (held or whole):
            yield place + 1, _slots(held + right, number)
            place, whole, right, held = place - 1, 0, 0, _WHOLE * whole - right
        place = cell
        moved = (big.last - small.last - difference) * slot
        part = (packed << moved if moved >= 0 else packed >> -moved) * (weight if difference else 1)
        whole += part
        right += share * part
    yield place + 1, _slots(held + right, number)
    yield place, _slots(_WHOLE * whole - right, number)


def _slots(held: int, number: int) -> list[int]:
    """Give the last slots in rising order."""
    size = _SLOT_BYTES
    told = (held & ((1 << (8 * size * number)) - 1)).to_bytes(size * number, "little")
    return [int.from_bytes(told[k : k + size], "little") for k in range(size * (number - 1), -1, -size)]


def _middle(law: Law) -> int:
    """Count the spacings between which two thirds of the mass lie."""
    total, below = law.total, list(accumulate(law.masses))
    low = next(k for k, mass in enumerate(below) if 6 * mass >= total)
    high = next(k for k, mass in enumerate(below) if 6 * mass >= 5 * total)
    return high - low


def _trimmed(law: Law, number: int) -> Law:
    """Cut off what is slight at both ends."""
    most = 2 ** (_BITS - _SLIGHT)
    start, under = 0, law.under
    while start < len(law.masses) - 1 and (cut := under + law.masses[start]) - law.under <= most:
        start, under = start + 1, cut
    end, over = len(law.masses), law.over
    value, fall = _FINE.exp(_FINE.rational(law.last * law.spacing)), _FINE.exp(_FINE.rational(-law.spacing))
    while end > start + 1:
        cut = over + _units(_FINE.multiply(_enclosed(law.masses[end - 1]), value))
        if cut - law.over > most * number:
            break
        end, over, value = end - 1, cut, _FINE.multiply(value, fall)
    masses = list(law.masses[start:end])
    masses[0] += sum(law.masses[:start])
    masses[-1] += sum(law.masses[end:])
    return law._replace(first=law.first + start, masses=masses, over=over, under=under)


def _coarser(law: Law, cells: int) -> Law:
    """Leave every other point out, as long as a standard deviation holds enough of them."""
    while _middle(law) > 2 * cells and len(law.masses) > 2:
        law = _every_other(law)
    return law


def _every_other(law: Law) -> Law:
    """Move odd points onto those beside them."""
    share = _FINE.divide(_UNIT, _FINE.add(_UNIT, _FINE.exp(_FINE.rational(law.spacing))))
    right = floor_in_units(share.lo, _SHARE_BITS) + 1
    left = _WHOLE - right
    first = law.first // 2
    masses = [0] * ((law.last + 1) // 2 - first + 1)
    for k, mass in enumerate(law.masses, law.first):
        if k % 2:
            masses[k // 2 - first] += -(-mass * left >> _SHARE_BITS)
            masses[k // 2 + 1 - first] += -(-mass * right >> _SHARE_BITS)
        else:
            masses[k // 2 - first] += mass
    return law._replace(first=first, halvings=law.halvings - 1, masses=masses)
