"""Batches that are drawn as a whole, and what a release on one loses about a record.

Legend: K and K' are the symmetric pairs of one release about a record that is added or removed, and about one that
takes another's place: twice the shift of noise, and of a pure loss the one in `finite`; n is the number of records, B
the batch size, q the rate. (1 - q)Q + qP against Q is a pair sampled at q, in its remove direction. Laws given what
both data sets draw alike bound those that are not told it.

One place. If a place of a batch holds another record y, but x or x' with probability q, then P = (1 - q)M_y + qM_x and
Q = (1 - q)M_y + qM_x'. With g' = 1 + (g - 1)/q and b = g/g', P - gQ is q(M_x - g'·((1 - b)M_y + bM_x')), so that K'
sampled at q bounds all g >= 1 (Balle, Barthe, Gaboardi 2018, Theorem 2), in both orders. A pair that has this curve in
both is found in `finite`.

Fixed size. Whether a record is among B of n drawn has the probability q = B/n, and given that, all else may be drawn
alike: one place.

Cut down. Let m of the n - 1 others be drawn, alike in both data sets. For m < B nothing is cut: as on a Poisson sample,
q and K, or replaced records. For m >= B a record enters with the probability qB/(m + 1) in the place of one of B others
that are drawn alike, so one place, with the mean p = (B/n)·P(Bin(n, q) > B)/P(Bin(n - 1, q) >= B) <= q of these. Where
the record is missing from the smaller data set, Q is M_y: K' sampled at p, in each direction by itself. Which case it
is may be told: chances mix the divergences. For fewer than n records the chance of the second case is smaller, whose
curve at q is above both: p is then q.

One of an epoch. Where a record enters one of T batches, drawn apart from the others', all releases of an epoch are one
(`allocation`); given the batch they are one release on it, so that what holds where every record is drawn holds. Of
batches cut from an order of all records that is drawn uniformly, so that sizes are fixed, nothing else is proven here.

Some of an epoch. A uniformly drawn set of k batches is one batch of each of k blocks, into which the T batches are
divided by lot: every set is as likely as every other. Given the division what is seen has the ratio
(sum of l_i over block 1)/T_1 · … · (sum of l_i over block k)/T_k to its law without the record, l_i as in `allocation`.
Each l_i is in one factor, so that a convex function of it all is convex in each: the l_i may be replaced by independent
L from the last to the first, which leaves k independent epochs of T_1, …, T_k batches. Of all divisions the mean
counts, whose divergence is at most the mean of theirs; sizes are T/k, rounded up or down, in each.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import Final, NamedTuple

from ..budget import Budget
from ..intervals import NOTHING, ONE, ZERO, Arithmetic, Interval, magnitude, upper_end
from ..verdict import Refused
from .factors import (
    ALLOCATED,
    GAUSSIAN,
    LAPLACE,
    MIXTURE,
    PURE,
    SHUFFLED,
    SYMMETRISED,
    TRUNCATED,
    TWO_RECORDS,
    Change,
    Factor,
)
from .finite import exchanged

_FINE: Final = Arithmetic(256)
_UNIT: Final = Interval(ONE, ONE)
_MOST_KEPT: Final = 2**17
_MOST_TERMS: Final = 50_000
_PER_RECORD: Final = 4_000
_PER_TERM: Final = 2_000
_SLIGHT: Final = 300
"""Bits below the sum, from where on terms are bounded together."""


class Case(NamedTuple):
    """What a release amounts to in a case, and the probability of it."""

    chance: Interval
    factor: Factor


def in_blocks(factor: Factor, change: Change) -> Iterator[tuple[Factor, Change]]:
    """Divide an epoch's batches into blocks, one batch of each of which a record enters; others stay as they are."""
    batches = change.batches
    if batches is None or batches.number is None:
        yield factor, change
        return
    size, longer = divmod(batches.number, batches.participations)
    for block, count in ((size + 1, longer), (size, batches.participations - longer)):
        if count:
            samples = factor.samples // batches.number * count * block
            drawn = batches._replace(number=block, participations=1)
            yield factor._replace(samples=samples), change._replace(batches=drawn)


def drawn_together(factor: Factor) -> Factor:
    """Give what releases on batches lose, from what they lose about one record that is added or removed.

    Raises:
        Refused: for a family of which that is not known, and for rates that are none of a batch cut down.
    """
    batches = factor.change.batches
    assert batches is not None
    if batches.number is not None and (batches.number == 1 or batches.size is not None):
        return factor._replace(change=Change(), rate=Fraction(1), samples=factor.samples // batches.number)
    if factor.family not in (GAUSSIAN, LAPLACE, PURE):
        raise Refused(f"what losses of the family {factor.family} say about batches drawn as a whole is not known")
    factor = factor._replace(base=factor.family)
    if batches.number is not None:
        return factor._replace(family=ALLOCATED, rate=Fraction(1), samples=factor.samples // batches.number)
    if batches.most is None:
        return _of_two(factor)
    if not factor.sampled:
        raise Refused("Poisson samples that are cut down have a rate below 1")
    return factor._replace(family=TRUNCATED)


def _of_two(factor: Factor) -> Factor:
    """Give what one place that changes hands loses."""
    if factor.base == PURE:
        loss = factor.parameter * factor.together
        return factor._replace(family=SYMMETRISED, parameter=loss, together=1, base=TWO_RECORDS)
    return factor._replace(family=SYMMETRISED, parameter=2 * factor.parameter)


def drawn_for_certain(factor: Factor) -> Factor:
    """Give what two records that are drawn for certain lose, or answers in no order; other families as they are."""
    if factor.family == ALLOCATED:
        return factor._replace(family=factor.base)
    if factor.family == SHUFFLED:  # the order is post-processing
        return factor._replace(family=PURE, crowd=None)
    if factor.family not in (SYMMETRISED, TRUNCATED):
        return factor
    two = factor if factor.family == SYMMETRISED else _of_two(factor)
    if two.base == TWO_RECORDS:
        return two._replace(family=PURE, parameter=2 * two.parameter, rate=Fraction(1))
    return two._replace(family=two.base, rate=Fraction(1))


def cases(factor: Factor, budget: Budget) -> list[Case]:
    """List what a release amounts to, and how likely: of most families itself, always."""
    if factor.family != TRUNCATED:
        return [Case(_UNIT, factor)]
    batches, rate = factor.change.batches, factor.rate
    assert batches is not None
    assert batches.most is not None
    assert batches.size is not None
    most, size = batches.most, batches.size
    below, place = _poisson(factor), _of_two(factor)
    if not batches.kept:
        place = place._replace(family=place.base)
    if most >= size:
        return [Case(_UNIT, below)]
    cut = _at_least(size - 1, most, rate, budget)
    if not batches.bounded:
        entered = _FINE.divide(_at_least(size, most + 1, rate, budget), cut)
        entering = _FINE.multiply(entered, _FINE.rational(Fraction(most, size)))
        place = place._replace(rate=min(rate, _FINE.above(upper_end(entering))))
    return [Case(_FINE.maximum(_FINE.subtract(_UNIT, cut), NOTHING), below), Case(cut, place)]


def _poisson(factor: Factor) -> Factor:
    """Give what releases on a Poisson sample lose."""
    if not factor.change.replaced:
        return factor._replace(family=factor.base)
    if factor.base == GAUSSIAN:
        return factor._replace(family=MIXTURE)
    return exchanged(factor._replace(family=factor.base))


def _at_least(size: int, most: int, rate: Fraction, budget: Budget) -> Interval:
    """Enclose the probability that so many of the records are drawn, or more.

    The terms grow by (n - k)q/((k + 1)(1 - q)), ever less: once that is at most 1/2, the rest is at most the last term.
    """
    if most > size:
        return NOTHING
    if most > _MOST_KEPT:
        raise Refused(f"batches hold more than {_MOST_KEPT} records")
    budget.spend(_PER_RECORD * most)
    odds = rate / (1 - rate)
    drawn = _FINE.power(_FINE.rational(rate), Fraction(most))
    kept = _FINE.power(_FINE.rational(1 - rate), Fraction(size - most))
    term = _FINE.multiply(_FINE.rational(Fraction(comb(size, most))), _FINE.multiply(drawn, kept))
    total = NOTHING
    for growth in _growths(size, most, odds):
        budget.spend(_PER_TERM)
        total = _FINE.add(total, term)
        if not growth:
            break
        if growth <= Fraction(1, 2) and magnitude(term.hi) < magnitude(total.lo) - _SLIGHT:
            total = _FINE.add(total, Interval(ZERO, term.hi))
            break
        term = _FINE.multiply(term, _FINE.rational(growth))
    else:
        raise Refused(f"a chance that batches are full has more than {_MOST_TERMS} terms")
    return _FINE.minimum(total, _UNIT)


def _growths(size: int, first: int, odds: Fraction) -> Iterator[Fraction]:
    """Give by what the terms grow from one to the next."""
    return ((size - k) * odds / (k + 1) for k in range(first, min(size, first + _MOST_TERMS - 1) + 1))
