"""The largest sum of an epoch's batches: its cells against both densities, and the exactness of their tables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp, mpf, ncdf
from scipy.stats import norm

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.largest_of_batches import largest_of_batches


@pytest.mark.parametrize(("shift", "batches"), [(0.5, 10), (1.0, 100), (2.5, 1000), (3.0, 1)])
def test_cells_of_the_largest_sum_tell_no_more_than_it_does(shift: float, batches: int) -> None:
    """Against the two densities of the largest sum, by a fine sum in binary64: a little below, by the cells' width."""
    pair = largest_of_batches(Enclosure.of(shift), batches)
    grid = np.linspace(-12, 2 * shift + 12, 400_001)

    def density(move: float) -> np.ndarray:
        others = norm.cdf(grid) ** (batches - 1)
        rest = norm.cdf(grid - move) * (batches - 1) * norm.cdf(grid) ** max(batches - 2, 0) * norm.pdf(grid)
        return np.asarray(norm.pdf(grid - move) * others + rest * (batches > 1))

    first, second = density(2 * shift), density(shift)
    step = grid[1] - grid[0]
    for factor in (1.0, 2.0, 8.0):
        for direction, (p, q) in ((Direction.REMOVE, (first, second)), (Direction.ADD, (second, first))):
            truth = float(np.maximum(p - factor * q, 0).sum() * step)
            found = float(pair.hockey_stick(Fraction(factor), direction))
            assert found <= truth + 1e-7
            assert found >= truth - 0.01


CELLS = 160
BLUR = mpf(2) ** -60


def masses(shift: float, batches: int) -> tuple[list[mpf], list[mpf]]:
    """Of all cells with the record and without, with the cells' ends written out anew."""
    width = (mpf(2 * shift) + 14) / (CELLS - 2)
    ends = [-7 + width * k for k in range(CELLS - 1)]
    below = [
        [mpf(0), *(ncdf(end - move) * ncdf(end) ** (batches - 1) for end in ends), mpf(1)]
        for move in (2 * shift, shift)
    ]
    with_record, without = ([high - low for low, high in pairwise(row)] for row in below)
    return with_record, without


def off(table: Sequence[Fraction], exact: Sequence[mpf]) -> mpf:
    """How far a table is from the blurred masses."""
    blurred = (mass * (1 - BLUR) + BLUR / CELLS for mass in exact)
    return max(abs(mpf(told.numerator) / told.denominator - mass) for told, mass in zip(table, blurred, strict=True))


@pytest.mark.parametrize(("shift", "batches"), [(0.25, 2), (1.0, 100), (3.0, 20)])
def test_tables_are_within_their_blur_of_the_cells(shift: float, batches: int) -> None:
    """Against mpmath at 400 bits: within 2^-180 of the blurred masses."""
    pair = largest_of_batches(Enclosure.of(shift), batches)
    with mp.workprec(400):
        for table, exact in zip((pair.present, pair.absent), masses(shift, batches), strict=True):
            assert off(table, exact) < mpf(2) ** -180


def test_no_tables_are_told_that_a_nearby_blur_may_not_give() -> None:
    """Against mpmath at 800 bits: rows of a blur lose at most 2·off/apart, and have blur/cells everywhere."""
    told = []
    with mp.workprec(800):
        for exponent in range(-136, -108, 4):
            pair = largest_of_batches(Enclosure.of(2.0**exponent), 2)
            told.append(len(pair.present) == CELLS)
            if told[-1]:
                first, second = masses(2.0**exponent, 2)
                middle = max(range(CELLS), key=lambda k: first[k] + second[k])
                apart = max(abs(first[middle] * second[k] - first[k] * second[middle]) for k in range(CELLS))
                wrong = max(off(pair.present, first), off(pair.absent, second))
                assert 2 * wrong / apart <= BLUR / CELLS
    assert not told[0]
    assert told[-1]


def test_a_record_that_adds_nothing_is_not_told_apart() -> None:
    for direction in Direction:
        assert largest_of_batches(Enclosure.of(0), 10).hockey_stick(Fraction(1), direction) == 0


def test_the_least_shift_is_taken() -> None:
    assert largest_of_batches(Enclosure.between(1, 2), 10) == largest_of_batches(Enclosure.of(1), 10)


def test_other_numbers_are_refused() -> None:
    with pytest.raises(InvalidValue):
        largest_of_batches(Enclosure.of(-1), 10)
    with pytest.raises(InvalidValue):
        largest_of_batches(Enclosure.of(1), 0)
    with pytest.raises(InvalidType):
        largest_of_batches(1.0, 10)  # type: ignore[arg-type]
