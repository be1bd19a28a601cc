"""Normal noise about several records: its law against quadrature in mpmath, and its moments against Arb's."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import mpmath
import pytest
from flint import ctx

from certdp.verification.checker.approximate.factors import ADD, DIRECTIONS, MIXTURE, REMOVE, Change, Factor
from certdp.verification.checker.approximate.mixtures import (
    Mixture,
    beyond_of_mixture,
    delta_of_mixture,
    grid_for_mixture,
    mixture_of,
    nodes_of_mixture,
)
from certdp.verification.checker.approximate.nodes import MOST_NODES, Tilt, shift_of
from certdp.verification.checker.intervals import Interval
from certdp.verification.checker.verdict import Refused
from tests.support.arb_moments import mixture_moment

TENTH = Fraction(1, 10)


def factor(shift: Fraction, rate: Fraction, records: int, replaced: bool, together: int = 1) -> Factor:
    return Factor(MIXTURE, shift, rate, together, 1, change=Change(records, replaced))


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def ends(found: Interval) -> tuple[Any, Any]:
    return mpmath.mp.make_mpf(found.lo), mpmath.mp.make_mpf(found.hi)


class Truth:
    """The law of one factor, straight from its definition: chances of subsets, and normal densities."""

    def __init__(self, of: Factor) -> None:
        k, q = of.change.records, of.rate
        self.shift = real(shift_of(of))  # of several releases rounded up by less than 2^-80
        self.replaced = of.change.replaced
        self.chances = [mpmath.mpf(0)] * (k + 1)
        for drawn in product((False, True), repeat=k):
            chance = mpmath.mpf(1)
            for one in drawn:
                chance *= real(q if one else 1 - q)
            self.chances[sum(drawn)] += chance

    def first(self, x: Any) -> Any:
        return mpmath.fsum(a * mpmath.npdf(x, j * self.shift) for j, a in enumerate(self.chances))

    def second(self, x: Any) -> Any:
        return self.first(-x) if self.replaced else mpmath.npdf(x)

    def laws(self, direction: str) -> tuple[Any, Any]:
        return (self.first, self.second) if direction == REMOVE else (self.second, self.first)

    def delta(self, epsilon: Any, direction: str) -> Any:
        """The positive part of p − e^ε·q, between the place where it changes its sign and the far side."""
        p, q = self.laws(direction)
        growth, far = mpmath.exp(epsilon), 30 + 2 * len(self.chances) * self.shift
        sign = -1 if direction == ADD else 1

        def gap(x: Any) -> Any:
            return mpmath.log(p(sign * x)) - mpmath.log(q(sign * x)) - epsilon

        if gap(far) <= 0:
            return mpmath.mpf(0)
        low, high = -far, far
        for _ in range(160):
            middle = (low + high) / 2
            low, high = (middle, high) if gap(middle) <= 0 else (low, middle)
        places = [high + (far - high) * i / 30 for i in range(31)]
        return mpmath.quad(lambda x: p(sign * x) - growth * q(sign * x), places)


CASES = [
    factor(Fraction(1), Fraction(1, 100), 1, replaced=True),
    factor(Fraction(1, 3), Fraction(9, 10), 1, replaced=True),
    factor(Fraction(1, 2), TENTH, 3, replaced=False),
    factor(Fraction(1, 4), Fraction(2, 5), 4, replaced=True),
    factor(Fraction(1, 2), Fraction(1, 5), 2, replaced=False, together=3),
]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("epsilon", ["0", "1/10", "1", "5/2"])
@pytest.mark.parametrize("of", CASES, ids=str)
def test_what_one_release_loses(of: Factor, epsilon: str, direction: str) -> None:
    with mpmath.workprec(140):
        truth = Truth(of).delta(real(Fraction(epsilon)), direction)
        low, high = ends(delta_of_mixture(of, Fraction(epsilon), direction))
        slack = mpmath.mpf(10) ** -18
        assert truth - slack <= high <= truth + slack
        assert low <= high


def test_what_is_added_loses_nothing_beyond_the_chance_that_all_stay_out() -> None:
    """B is never below (1 − q)^k, here 1/4."""
    of = factor(Fraction(1), Fraction(1, 2), 2, replaced=False)
    assert ends(delta_of_mixture(of, Fraction(2), ADD))[1] == 0
    assert ends(delta_of_mixture(of, Fraction(1), ADD))[1] > 0


def moment(of: Factor, c: Fraction, y: int, direction: str) -> Any:
    """M(c + iy), to 24 places of what is at least 1."""
    k, q = of.change.records, of.rate
    adds, chances = direction == ADD, [comb(k, j) * q**j * (1 - q) ** (k - j) for j in range(k + 1)]
    with ctx.workprec(256):
        found = mixture_moment(chances, shift_of(of), c, y, adds=adds, replaced=of.change.replaced)
    assert found.rad() < 1e-24 * (1 + abs(found).mid())
    first, second = (mpmath.mpf(part.mid().str(40, radius=False)) for part in (found.real, found.imag))
    return first + mpmath.j * second


def moments(of: Factor, tilt: Tilt) -> tuple[Any, Any]:
    mixture = mixture_of(of)
    grid = grid_for_mixture(mixture, tilt)
    nodes = nodes_of_mixture(grid, mixture, tilt)
    with mpmath.workprec(300):
        total = mpmath.fsum(mpmath.mp.make_mpf(mass.lo) for mass in nodes.masses)
        width = mpmath.fsum(mpmath.mp.make_mpf(mass.hi) - mpmath.mp.make_mpf(mass.lo) for mass in nodes.masses)
        assert width < mpmath.mpf(2) ** -200 * total
        rule, left_out = mpmath.mp.make_mpf(grid.rule.hi), mpmath.mp.make_mpf(grid.left_out.hi)
        assert rule < mpmath.exp(-69)
        assert left_out < mpmath.mpf(2) ** -95
        return total, total * rule + left_out


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("real_part", ["1/10", "2", "9"])
@pytest.mark.parametrize("of", CASES, ids=str)
def test_the_moments_are_those_of_the_law(of: Factor, real_part: str, direction: str) -> None:
    at = REMOVE if of.change.replaced else direction
    found, error = moments(of, Tilt(at, Fraction(real_part), Fraction(0)))
    with mpmath.workprec(120):
        truth = moment(of, Fraction(real_part), 0, at).real
        assert abs(found - truth) <= error + truth * mpmath.mpf(10) ** -24


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("of", CASES, ids=str)
def test_the_sums_over_nodes_are_the_moments_along_the_line(of: Factor, direction: str) -> None:
    """Nodes for the line's end serve all that is before it: sums of mass·e^(iyL) are M(c + iy)."""
    at = REMOVE if of.change.replaced else direction
    mixture, c = mixture_of(of), Fraction(3)
    tilt = Tilt(at, c, Fraction(12))
    nodes = nodes_of_mixture(grid_for_mixture(mixture, tilt), mixture, tilt)
    with mpmath.workprec(120):
        sign = 1 if at == REMOVE else -1
        masses = [mpmath.mp.make_mpf(mass.lo) for mass in nodes.masses]
        losses = [sign * mpmath.mp.make_mpf(loss.lo) for loss in nodes.losses]
        for y in (5, 12):
            found = mpmath.fsum(m * mpmath.expj(y * loss) for m, loss in zip(masses, losses, strict=True))
            truth = moment(of, c, y, at)
            assert abs(found - truth) <= mpmath.mpf(10) ** -20 * mpmath.fsum(masses)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("of", CASES, ids=str)
def test_beyond_the_line_no_moment_is_larger_than_its_bound(of: Factor, direction: str) -> None:
    at = REMOVE if of.change.replaced else direction
    mixture, end = mixture_of(of), 300 if of.rate < TENTH else 60
    tilt = Tilt(at, Fraction(2), Fraction(end))
    nodes = nodes_of_mixture(grid_for_mixture(mixture, tilt), mixture, tilt)
    with mpmath.workprec(100):
        mass = moment(of, Fraction(2), 0, at).real
        bound = mpmath.mp.make_mpf(beyond_of_mixture(nodes, mixture, tilt, (mass * (1 - mpmath.mpf(10) ** -15))._mpf_))
        sizes = [abs(moment(of, Fraction(2), y, at)) / mass for y in (end, end + 1, end + 7, end + 20)]
        assert max(sizes) <= bound < 1
        assert bound <= 40 * max(max(sizes), mpmath.mpf("0.02"))


def test_a_bound_beyond_is_no_larger_on_a_longer_line() -> None:
    of = CASES[0]
    found = []
    for end in (50, 100, 400):
        tilt = Tilt(REMOVE, Fraction(2), Fraction(end))
        mixture = mixture_of(of)
        nodes = nodes_of_mixture(grid_for_mixture(mixture, tilt), mixture, tilt)
        found.append(mpmath.mp.make_mpf(beyond_of_mixture(nodes, mixture, tilt, mpmath.mpf(1)._mpf_)))
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]


def test_the_chances_are_those_of_subsets() -> None:
    mixture = mixture_of(factor(Fraction(1), Fraction(1, 3), 3, replaced=True))
    assert mixture == Mixture(Fraction(1), tuple(Fraction(n, 27) for n in (8, 12, 6, 1)), replaced=True)
    assert mixture.whole == 3


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_shifts_and_lines_beyond_what_is_known_are_refused(direction: str) -> None:
    wide = mixture_of(factor(Fraction(4), TENTH, 3, replaced=False))
    assert grid_for_mixture(wide, Tilt(direction, Fraction(1, 10), Fraction(0))).size <= MOST_NODES + 1
    wider = mixture_of(factor(4 + Fraction(1, 2**40), TENTH, 3, replaced=False))
    with pytest.raises(Refused, match="so large a shift"):
        grid_for_mixture(wider, Tilt(direction, Fraction(1, 10), Fraction(0)))
    for c, end in ((Fraction(1), 10**6), (Fraction(10**6), 0)):
        with pytest.raises(Refused, match="within the work budget"):
            grid_for_mixture(wide, Tilt(direction, c, Fraction(end)))
