"""What the largest of several batches' sums tells of a record that adds twice, or once, what others lack.

Legend: an epoch has T batches; the record lies in one of them, drawn uniformly, and every other record adds the
opposite of it. Their sums, less what the others add, are Σ_t N(2s·e_t, I)/T with the record and Σ_t N(s·e_t, I)/T where
it is zeroed out, in units of the noise. Of the sums only the largest is looked at, in cells: F(c − 2s)·F(c)^(T−1) and
F(c − s)·F(c)^(T−1) are its distribution functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, whole
from ..enclosures.normal import normal_cdf
from ..pairs import FinitePair

_PRECISION = 384
_BLURRED = Fraction(1, 2**60)
"""With this chance the cell is drawn uniformly, so that rational tables are reached exactly."""
_ROUNDED = 2**200
_CELLS = 160
_REACH = 7
"""Cells start and end so many standard deviations from where the largest sum is."""


def largest_of_batches(shift: Enclosure, batches: int) -> FinitePair:
    """A pair on finitely many cells that is post-processing of an epoch's sums with a record, and without.

    Args:
        shift: s, what the record adds in units of the noise's standard deviation; at least 0.
        batches: T, at least 1.

    Guarantees:
        (present, absent) are exactly the laws of some post-processing of (Σ_t N(2s·e_t, I)/T, Σ_t N(s·e_t, I)/T), for
        the shift at the lower end: divergences of the pair, composed or not, bound those of two data sets from below
        (`docs/soundness_shuffled_batches.md`).
    """
    step = Fraction(non_negative("shift", shift).lower_float)
    whole("batches", batches, 1)
    least, most = Fraction(-_REACH), 2 * step + _REACH
    ends = [least + (most - least) * Fraction(k, _CELLS - 2) for k in range(_CELLS - 1)]
    with_record, without = (_masses(ends, times * step, batches) for times in (2, 1))
    blurred = [_blurred(masses) for masses in (with_record, without)]
    present, absent = (_table(masses) for masses in blurred)
    off = max(
        (abs(exact - table)).upper
        for masses, tables in zip(blurred, (present, absent), strict=True)
        for exact, table in zip(masses, tables, strict=True)
    )
    apart = max(_determinant(with_record, without, other) for other in range(_CELLS))
    if 2 * off * _CELLS > _BLURRED * apart:  # then no blur is known that gives the tables
        return FinitePair((Fraction(1),), (Fraction(1),))
    return FinitePair(present, absent)


def _masses(ends: Sequence[Fraction], shift: Fraction, batches: int) -> list[Enclosure]:
    """The probabilities of the cells that the ends divide the line into."""

    def below(end: Fraction) -> Enclosure:
        others = normal_cdf(Enclosure.of(end, precision=_PRECISION)).power(batches - 1)
        return normal_cdf(Enclosure.of(end - shift, precision=_PRECISION)) * others

    marks = [Enclosure.of(0, precision=_PRECISION), *map(below, ends), Enclosure.of(1, precision=_PRECISION)]
    return [high - low for low, high in pairwise(marks)]


def _blurred(masses: Sequence[Enclosure]) -> list[Enclosure]:
    return [mass * (1 - _BLURRED) + _BLURRED / len(masses) for mass in masses]


def _table(masses: Sequence[Enclosure]) -> tuple[Fraction, ...]:
    """Nearby rational numbers that add up to 1 exactly."""
    *most, _ = (Fraction(round(mass.midpoint * _ROUNDED), _ROUNDED) for mass in masses)
    return (*most, 1 - sum(most, Fraction(0)))


def _determinant(first: Sequence[Enclosure], second: Sequence[Enclosure], other: int) -> Fraction:
    """How far apart both laws surely are, on the first likely cell and another one."""
    middle = max(range(len(first)), key=lambda k: first[k].lower + second[k].lower)
    return abs(first[middle] * second[other] - first[other] * second[middle]).lower
