"""The grid of nodes: as fine as its error has to be small, never of more nodes than it may have."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest

from certdp.verification.checker.approximate.factors import DIRECTIONS, REMOVE
from certdp.verification.checker.approximate.nodes import MOST_NODES, Tilt, grid_for
from certdp.verification.checker.verdict import Refused


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("shift", ["1/100", "1/2", "3", "12"])
def test_the_rule_errs_by_little_wherever_moments_are_wanted(shift: str, direction: str) -> None:
    for c, end in ((Fraction(1, 10), 0), (Fraction(8), 0), (Fraction(1, 2), 9), (Fraction(8), 9)):
        grid = grid_for(Fraction(shift), Tilt(direction, c, Fraction(end)))
        assert 0 < mpmath.mp.make_mpf(grid.rule.hi) < mpmath.exp(-69)
        assert 0 < mpmath.mp.make_mpf(grid.left_out.hi) < mpmath.exp(-60)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_grid_has_no_more_nodes_than_it_may(direction: str) -> None:
    sizes = []
    for end in range(0, 4000, 20):
        try:
            sizes.append(grid_for(Fraction(3), Tilt(direction, Fraction(1), Fraction(end))).size)
        except Refused:
            break
    else:
        pytest.fail("none was refused")
    widest = max(after - before for before, after in pairwise(sizes))
    assert MOST_NODES + 1 - widest < sizes[-1] <= MOST_NODES + 1


def test_a_shift_beyond_the_window_is_refused() -> None:
    grid_for(Fraction(12), Tilt(REMOVE, Fraction(1), Fraction(0)))
    with pytest.raises(Refused, match="so large a shift"):
        grid_for(12 + Fraction(1, 2**70), Tilt(REMOVE, Fraction(1), Fraction(0)))
