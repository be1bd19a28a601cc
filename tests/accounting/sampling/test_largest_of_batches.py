"""The largest sum of an epoch's batches: its cells against both densities, and the exactness of their tables."""

from __future__ import annotations

from fractions import Fraction

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


@pytest.mark.parametrize(("shift", "batches"), [(0.25, 2), (1.0, 100), (3.0, 20)])
def test_tables_are_within_their_blur_of_the_cells(shift: float, batches: int) -> None:
    """Against mpmath at 400 bits, with the cells' ends written out anew: within 2^-180 of the blurred masses."""
    pair = largest_of_batches(Enclosure.of(shift), batches)
    cells = len(pair.present)
    with mp.workprec(400):
        width = (mpf(2 * shift) + 14) / (cells - 2)
        ends = [-7 + width * k for k in range(cells - 1)]
        blur = mpf(2) ** -60
        for table, move in ((pair.present, 2 * shift), (pair.absent, shift)):
            below = [mpf(0), *(ncdf(c - move) * ncdf(c) ** (batches - 1) for c in ends), mpf(1)]
            for k, mass in enumerate(table):
                exact = (below[k + 1] - below[k]) * (1 - blur) + blur / cells
                assert abs(mpf(mass.numerator) / mass.denominator - exact) < mpf(2) ** -180


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
