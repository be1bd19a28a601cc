"""The grid of nodes: as fine as its error has to be small, never of more nodes than it may have."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest

from certdp.verification.checker.approximate.factors import DIRECTIONS, REMOVE
from certdp.verification.checker.approximate.nodes import MOST_NODES, Grid, Tilt, grid_for, nodes_on
from certdp.verification.checker.verdict import Refused


def real(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("shift", ["1/100", "1/2", "3", "12"])
def test_the_rule_errs_by_little_wherever_moments_are_wanted(shift: str, direction: str) -> None:
    for c, end in ((Fraction(1, 10), 0), (Fraction(8), 0), (Fraction(1, 2), 9), (Fraction(8), 9)):
        grid = grid_for(Fraction(shift), Tilt(direction, c, Fraction(end)))
        assert 0 < mpmath.mp.make_mpf(grid.rule.hi) < mpmath.exp(-69)
        assert 0 < mpmath.mp.make_mpf(grid.left_out.hi) < mpmath.exp(-60)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("shift", ["1/100", "5/16", "1/2", "3", "12"])
def test_the_error_of_the_rule_is_that_of_its_theorem(shift: str, direction: str) -> None:
    """2N/(e^(2πa/t) - 1), N = e^(a²/2 + |y|sa), for add times cos(sa/2)^-c, where sa < π and cos(u) >= 1 - u²/2."""
    s = Fraction(shift)
    a = min(Fraction(8), Fraction(5, 2) / s)
    for c, end in ((Fraction(1, 10), 0), (Fraction(8), 0), (Fraction(1, 2), 9), (Fraction(8), 9)):
        grid = grid_for(s, Tilt(direction, c, Fraction(end)))
        with mpmath.workprec(200):
            size = mpmath.exp(real(a**2 / 2 + end * s * a))
            if direction != REMOVE:
                assert s * a < mpmath.pi
                assert 0 < 1 - (s * a / 2) ** 2 / 2 <= mpmath.cos(real(s * a / 2))
                size *= real(1 - (s * a / 2) ** 2 / 2) ** -real(c)
            error = 2 * size / mpmath.expm1(2 * mpmath.pi * real(a / grid.step))
            assert abs(mpmath.mp.make_mpf(grid.rule.hi) / error - 1) < mpmath.mpf(10) ** -40
            assert error < mpmath.exp(-70)
            coarser = 2 * size / mpmath.expm1(2 * mpmath.pi * real(a / (3 * grid.step)))
            assert coarser > mpmath.exp(-80) or grid.step >= Fraction(1, 3)


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


def beyond(grid: Grid, shift: Fraction, tilt: Tilt) -> mpmath.mpf:
    """What lies beyond the window on the side to which a record that is always drawn tilts, summed by mpmath."""
    power, step = float(tilt.power), float(grid.step)
    sign, edge = (1, grid.last) if tilt.direction == REMOVE else (-1, -grid.first)

    def at(j: int) -> mpmath.mpf:
        x = mpmath.mpf(sign * (edge + j) * step)
        return step * mpmath.npdf(x) * mpmath.exp(power * float(shift) * (x - mpmath.mpf(float(shift)) / 2))

    return mpmath.nsum(lambda j: at(int(j)), [1, 400])


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "real_part"), [("1/2", "1"), ("1", "7"), ("3", "8"), ("3", "1/2")])
def test_what_the_nodes_leave_out_is_bounded_and_not_by_much_more(shift: str, real_part: str, direction: str) -> None:
    tilt = Tilt(direction, Fraction(real_part), Fraction(0))
    grid = grid_for(Fraction(shift), tilt)
    bound, truth = mpmath.mp.make_mpf(grid.left_out.hi), beyond(grid, Fraction(shift), tilt)
    elsewhere = 2 * mpmath.npdf(12) * (mpmath.mpf(float(grid.step)) + mpmath.mpf(1) / 12)
    assert truth + elsewhere <= bound * (1 + mpmath.mpf(2) ** -40)
    assert bound <= (truth + elsewhere) * mpmath.mpf("1.01")
    # as far as the largest moment, that of a record that is always drawn, is at its end less than e^-70 of 1
    log_moment = tilt.power * (tilt.power - 1) * Fraction(shift) ** 2 / 2
    reach = max(grid.last, -grid.first) * grid.step
    assert reach <= abs(tilt.power) * Fraction(shift) + math.sqrt(2 * (70 + log_moment)) + 2 + Fraction(shift)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_grid_has_as_many_nodes_as_it_says(direction: str) -> None:
    tilt = Tilt(direction, Fraction(1, 10), Fraction(0))
    grid = grid_for(Fraction(1, 10), tilt)
    nodes = nodes_on(grid, Fraction(1, 10), Fraction(1, 2), tilt)
    assert all(len(listed) == grid.size for listed in nodes[1:])
