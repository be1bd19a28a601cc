"""The grid of nodes: as fine as its error has to be small, never of more nodes than it may have."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest

from certdp.verification.checker.approximate.factors import DIRECTIONS, GAUSSIAN, REMOVE, Factor
from certdp.verification.checker.approximate.nodes import MOST_NODES, Grid, Tilt, grid_for, nodes_on, shift_of
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
                assert 0 < real(1 - (s * a / 2) ** 2 / 2) <= mpmath.cos(real(s * a / 2))
                size *= real(1 - (s * a / 2) ** 2 / 2) ** -real(c)
            error = 2 * size / mpmath.expm1(2 * mpmath.pi * real(a / grid.step))
            assert abs(mpmath.mp.make_mpf(grid.rule.hi) / error - 1) < mpmath.mpf(10) ** -40
            assert error < mpmath.exp(-70)
        # as fine as e^-70 needs, with 6 for 2π and e^(8c/5) for cos(5/4)^-c
        needed = 70 + a**2 / 2 + end * s * a + (0 if direction == REMOVE else Fraction(8, 5) * c)
        assert 6 * a * (1 / grid.step - 1) <= needed < 6 * a / grid.step


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


def beyond(grid: Grid, shift: Fraction, tilt: Tilt) -> Any:
    """What lies at the window's end and beyond, on the side to which a record that is always drawn tilts."""
    power, step, s = real(tilt.power), real(grid.step), real(shift)
    sign, edge = (1, grid.last) if tilt.direction == REMOVE else (-1, -grid.first)

    def at(j: int) -> Any:
        x = sign * (edge + j) * step
        return step * mpmath.npdf(x) * mpmath.exp(power * s * (x - s / 2))

    return mpmath.fsum(at(j) for j in range(400))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "real_part"), [("1/2", "1"), ("1", "7"), ("3", "8"), ("3", "1/2"), ("12", "1/2")])
def test_what_the_nodes_leave_out_is_bounded_and_not_by_much_more(shift: str, real_part: str, direction: str) -> None:
    tilt = Tilt(direction, Fraction(real_part), Fraction(0))
    grid = grid_for(Fraction(shift), tilt)
    with mpmath.workprec(300):
        truth = beyond(grid, Fraction(shift), tilt)
        elsewhere = 2 * mpmath.npdf(12) * (real(grid.step) + mpmath.mpf(1) / 12)
        found = mpmath.mp.make_mpf(grid.left_out.hi) - elsewhere
        assert truth <= found <= truth * mpmath.mpf("1.4") + elsewhere * mpmath.mpf(2) ** -250
    # as far as the largest moment, that of a record that is always drawn, is at its end less than e^-70 of 1
    log_moment = tilt.power * (tilt.power - 1) * Fraction(shift) ** 2 / 2
    reach = max(grid.last, -grid.first) * grid.step
    most = abs(tilt.power) * Fraction(shift) + math.sqrt(2 * (70 + log_moment)) + 2 + Fraction(shift)
    assert most - 2 <= reach <= most


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_grid_has_as_many_nodes_as_it_says(direction: str) -> None:
    tilt = Tilt(direction, Fraction(1, 10), Fraction(0))
    grid = grid_for(Fraction(1, 10), tilt)
    nodes = nodes_on(grid, Fraction(1, 10), Fraction(1, 2), tilt)
    assert all(len(listed) == grid.size == len(range(grid.first, grid.last + 1)) for listed in nodes[1:])


@pytest.mark.parametrize("together", [1, 2, 3, 4, 10**6])
@pytest.mark.parametrize("parameter", ["1/3", "2", "11"])
def test_releases_on_one_sample_have_the_root_of_the_sum_of_squares_as_their_shift(
    parameter: str, together: int
) -> None:
    """Of one release exactly, else by less than 2^-80 above."""
    shift = shift_of(Factor(GAUSSIAN, Fraction(parameter), Fraction(1, 2), together, 5))
    square = Fraction(parameter) ** 2 * together
    assert shift**2 == square if together == 1 else (shift - Fraction(1, 2**80)) ** 2 <= square < shift**2
