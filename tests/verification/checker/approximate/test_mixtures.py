"""Normal noise about several records: its law against quadrature in mpmath, and its moments against Arb's."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, product
from math import comb
from typing import Any

import mpmath
import pytest
from flint import ctx
from mpmath import libmp

from certdp.verification.checker.approximate import mixtures as module
from certdp.verification.checker.approximate.factors import ADD, DIRECTIONS, MIXTURE, REMOVE, Change, Factor
from certdp.verification.checker.approximate.mixtures import (
    Mixture,
    _crossing,
    _sides,
    beyond_of_mixture,
    delta_of_mixture,
    grid_for_mixture,
    mixture_of,
    nodes_of_mixture,
    price_of_grid,
    price_of_nodes,
    price_of_one,
)
from certdp.verification.checker.approximate.nodes import LEFT, MOST_NODES, NATS, Grid, Tilt, shift_of, tail
from certdp.verification.checker.intervals import Interval
from certdp.verification.checker.verdict import Refused
from tests.support.arb_moments import Changes, mixture_moment

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
    k, q, shift = of.change.records, of.rate, shift_of(of)
    mixture = [(comb(k, j) * q**j * (1 - q) ** (k - j), j * shift) for j in range(k + 1)]
    change = Changes.REPLACED if of.change.replaced else Changes.ADDED if direction == ADD else Changes.REMOVED
    with ctx.workprec(256):
        found = mixture_moment(mixture, change, c, y)
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


def test_the_densities_cross_where_halving_meets_the_place_itself() -> None:
    """All records are drawn, and the loss x − 1/2 is the level at x = 1: one normal law against another."""
    with mpmath.workprec(140):
        high = ends(delta_of_mixture(factor(Fraction(1), Fraction(1), 1, replaced=False), Fraction(1, 2), REMOVE))[1]
        truth = mpmath.ncdf(0) - mpmath.exp(mpmath.mpf(1) / 2) * mpmath.ncdf(-1)
        assert truth <= high <= truth + mpmath.mpf(2) ** -90


def test_prices_grow_with_the_terms() -> None:
    for k in (1, 2, 64):
        assert price_of_one(factor(Fraction(1), TENTH, k, replaced=True)) == (k + 1) * (26_000_000 + 2_720_000)
        for replaced in (False, True):
            mixture = mixture_of(factor(TENTH, TENTH, k, replaced))
            assert price_of_grid(mixture) == 2 * 4096 * 1_500 * (k + 1)
            grid = grid_for_mixture(mixture, Tilt(REMOVE, Fraction(1), Fraction(0)))
            assert price_of_nodes(mixture, grid) == grid.size * (32_000 + 3_000 * (k + 1) * (1 + replaced))


TILTS = [(Fraction(1, 10), 0), (Fraction(2), 0), (Fraction(9), 0), (Fraction(40), 0), (Fraction(3), 12)]
GRIDS = [
    (of, direction, c, y)
    for of, direction, (c, y) in product(
        [*CASES, factor(Fraction(1, 20), Fraction(1, 2), 5, replaced=False)], DIRECTIONS, TILTS
    )
    if direction == REMOVE or not of.change.replaced
]


def log_density(mixture: Mixture, x: Any) -> Any:
    terms = (
        real(a) * mpmath.exp(j * real(mixture.shift) * (x - j * real(mixture.shift) / 2))
        for j, a in enumerate(mixture.chances)
    )
    return mpmath.log(mpmath.fsum(terms))


def log_integrand(mixture: Mixture, c: Fraction, x: Any, *, adds: bool) -> Any:
    """Of φ·B^(c + 1), φ·B^−c where it adds, or φ·B(x)^(c + 1)·B(−x)^−c of replaced records, without 1/√2π."""
    if adds:
        return -real(c) * log_density(mixture, x) - x * x / 2
    found = real(c + 1) * log_density(mixture, x) - x * x / 2
    return found - real(c) * log_density(mixture, -x) if mixture.replaced else found


def mass_beyond(mixture: Mixture, c: Fraction, grid: Grid, first: int, sign: int, *, adds: bool) -> Any:
    """The sum over the next nodes on a side, from one on; those farther out add next to nothing."""
    places = (sign * (first + i) * real(grid.step) for i in range(60))
    terms = (mpmath.exp(log_integrand(mixture, c, x, adds=adds)) for x in places)
    return real(grid.step) * mpmath.fsum(terms) / mpmath.sqrt(2 * mpmath.pi)


def test_the_rule_errs_as_the_theorem_of_the_trapezoid_says() -> None:
    """2N/(e^(2πb/step) − 1), N = e^(b²/2 + |y|·angle)·cos(Sb/2)^−c on a strip of half the width b; and just enough."""
    for of, direction, c, y in GRIDS:
        mixture = mixture_of(of)
        grid = grid_for_mixture(mixture, Tilt(direction, c, Fraction(y)))
        falls = mixture.replaced or direction == ADD
        with mpmath.workprec(100):
            b = min(mpmath.mpf(8), mpmath.mpf(5) / 2 / real(mixture.whole))
            angle = real(mixture.whole) * b
            size = mpmath.exp(b**2 / 2 + y * angle * (2 if mixture.replaced else 1))
            size /= (1 - (angle / 2) ** 2 / 2) ** real(c) if falls else 1
            rule = 2 * size / mpmath.expm1(2 * mpmath.pi * b / real(grid.step))
            assert abs(ends(grid.rule)[1] / rule - 1) < mpmath.mpf(10) ** -20
            assert mpmath.cos(angle / 2) >= 1 - (angle / 2) ** 2 / 2
            assert rule < mpmath.exp(-NATS)
            assert falls or size * mpmath.exp(-6 * b * (1 / real(grid.step) - 1)) >= mpmath.exp(-NATS)


def test_what_lies_beyond_the_nodes_is_left_out() -> None:
    """It is less than 2^−95, as would not be what lies beyond two standard deviations fewer."""
    for of, direction, c, y in GRIDS:
        mixture = mixture_of(of)
        adds = direction == ADD
        grid = grid_for_mixture(mixture, Tilt(direction, c, Fraction(y)))
        with mpmath.workprec(80):
            left, right = (
                mass_beyond(mixture, c, grid, n, sign, adds=adds)
                for n, sign in ((1 - grid.first, -1), (grid.last + 1, 1))
            )
            assert left + right <= ends(grid.left_out)[1] < mpmath.mpf(2) ** -95
            near, far = sorted((abs(grid.first), grid.last))
            assert near == LEFT / grid.step
            side = -1 if adds else 1
            if far > near:
                assert mass_beyond(mixture, c, grid, far - int(2 / grid.step), side, adds=adds) > mpmath.mpf(2) ** -106


def test_the_sides_fall_as_normal_densities_that_are_moved() -> None:
    """From far on, log f <= grown − (|x| − centre)²/2: equal, where all records are sure to be drawn."""
    nearly = 1 - Fraction(1, 2**120)
    for (shift, k), rate, c, replaced, adds in product(
        [(Fraction(1), 1), (Fraction(3, 2), 2), (Fraction(4), 1)],
        [TENTH, Fraction(9, 10), nearly],
        [Fraction(1, 10), Fraction(1), Fraction(7)],
        [False, True],
        [False, True],
    ):
        if replaced and adds:
            continue
        mixture = mixture_of(factor(shift, rate, k, replaced))
        ways = list(_sides(mixture, c, adds=adds))
        assert len(ways) == 1 + replaced
        for way, (far, centre, grown) in enumerate(ways):
            with mpmath.workprec(400):
                assert (far - centre) ** 2 >= 2 * (NATS + grown)
                assert far >= mixture.whole
                gaps = [
                    real(grown) - (x - real(centre)) ** 2 / 2 - log_integrand(mixture, c, -x if adds else x, adds=adds)
                    for x in (mpmath.mpf(far), mpmath.mpf(far) + 1, mpmath.mpf(far) + 50)
                ]
                assert min(gaps) >= -(mpmath.mpf(10) ** -12)
                if rate == nearly and mixture.whole * far < 60 and way == replaced:
                    assert gaps[0] <= 1e-9


def bounds_beyond(mixture: Mixture, tilt: Tilt, grid: Grid) -> tuple[Any, Any]:
    """What integration by parts gives, over the cells outside of each middle part, whose mass counts.

    With F at the ends of the parts themselves, which no bound may be below, and with the largest F of the cells there.
    """
    s, c, replaced = real(mixture.shift), real(tilt.real_part), mixture.replaced
    power = c + 1 if replaced else real(tilt.power)

    def moments_at(x: Any) -> tuple[Any, Any, Any]:
        terms = [real(a) * mpmath.exp(j * s * (x - j * s / 2)) for j, a in enumerate(mixture.chances)]
        b = mpmath.fsum(terms)
        rise, square = (mpmath.fsum((j * s) ** p * t for j, t in enumerate(terms)) / b for p in (1, 2))
        return b, rise, square

    places = [real(grid.step) * j for j in range(grid.first, grid.last + 1)]
    ahead, behind = [moments_at(x) for x in places], [moments_at(-x) for x in places]

    def at_node(i: int) -> Any:
        (b, m, _), (d, r, _) = ahead[i], behind[i]
        return mpmath.npdf(places[i]) * (b ** (c + 1) / d**c / (m + r) if replaced else b**power / m)

    cells = []
    for i in range(len(places) - 1):
        (b0, m0, _), (b1, m1, n1) = ahead[i : i + 2]
        (d0, r0, u0), (d1, r1, _) = behind[i : i + 2]
        x0, x1 = places[i : i + 2]
        height = max(mpmath.npdf(x0), mpmath.npdf(x1))
        if replaced:
            height *= max(b0 ** (c + 1) / d0**c, b1 ** (c + 1) / d1**c)
            least, turn = m0 + r1, (-(u0 - r1**2), n1 - m0**2)
            grown = [(c + 1) * m + c * r for m, r in product((m0, m1), (r0, r1))]
        else:
            height *= max(b0**power, b1**power)
            least, turn = m0, (0, n1 - m0**2)
            grown = [power * m0, power * m1]
        sizes = [abs(g - x - t / least) for g, x, t in product(grown, (x0, x1), turn)]
        step = real(grid.step)
        cells.append((step * height, height / least, step * height / least * max(sizes)))
    first, last = cells[0], cells[-1]
    outside = [mpmath.mpf(0), *accumulate(variation for _, _, variation in cells)]
    inside = [mpmath.mpf(0), *accumulate(mass for mass, _, _ in cells)]
    middle = -grid.first
    least = most = mpmath.mpf(1)
    for left, right in splits(middle, len(cells)) if replaced else [(0, right) for right in range(len(cells))]:
        varied = outside[-1] - outside[right] + outside[left]
        within = inside[right] - inside[left] + ends(grid.left_out)[1]
        exact = varied + at_node(right) + at_node(len(cells)) + (at_node(left) + at_node(0) if replaced and left else 0)
        loose = varied + cells[right][1] + last[1] + (first[1] if replaced else 0)
        loose += cells[left - 1][1] if replaced and left else 0
        least, most = (min(old, within + new / real(tilt.end)) for old, new in ((least, exact), (most, loose)))
    return least, most


def splits(middle: int, cells: int) -> Iterator[tuple[int, int]]:
    """How many cells on the left are outside, and from which one on the right: equally far out, or one more."""
    for reach in range(max(middle, cells - middle)):
        yield max(middle - reach, 0), middle + reach
        yield max(middle - reach - 1, 0), middle + reach


PARTS = [
    *((of, c, end) for of in CASES[:4] for c, end in ((Fraction(2), 17), (Fraction(2), 47))),
    (factor(Fraction(2), Fraction(1, 2), 1, replaced=True), Fraction(1, 10), 3),
    (factor(Fraction(1), Fraction(1, 2), 1, replaced=True), Fraction(1), 3),
]
"""Of the last two, F on the left of a middle part is much less than on its right."""


def test_integration_by_parts_bounds_what_is_beyond_the_line() -> None:
    for of, c, end in PARTS:
        mixture = mixture_of(of)
        for direction in DIRECTIONS[: 1 if mixture.replaced else 2]:
            tilt = Tilt(direction, c, Fraction(end))
            grid = grid_for_mixture(mixture, tilt)
            with mpmath.workprec(120):
                nodes = nodes_of_mixture(grid, mixture, tilt)
                found = mpmath.mp.make_mpf(beyond_of_mixture(nodes, mixture, tilt, mpmath.mpf(1)._mpf_))
                least, most = bounds_beyond(mixture, tilt, grid)
                assert least <= found <= most * (1 + mpmath.mpf(10) ** -12)


def test_of_two_ways_to_bound_the_sides_the_shorter_counts() -> None:
    """Where hardly any record stays out, 1/a_0 bounds nothing that could be summed; where few are drawn, it does."""
    mixture = mixture_of(factor(Fraction(1), 1 - Fraction(1, 2**40), 1, replaced=True))
    assert grid_for_mixture(mixture, Tilt(REMOVE, Fraction(1), Fraction(0))).size <= MOST_NODES
    rare = mixture_of(factor(Fraction(1), Fraction(1, 2**60), 1, replaced=True))
    (_, _, grown), _ = _sides(rare, Fraction(1), adds=False)
    assert 1 < grown < 1 + Fraction(1, 2**50)


def test_the_farthest_nodes_and_no_more_nodes_than_have_a_price() -> None:
    narrow, wide = (mixture_of(factor(shift, TENTH, 1, replaced=False)) for shift in (Fraction(1, 4), Fraction(1)))
    farthest = Tilt(REMOVE, Fraction(8185), Fraction(0))
    (far, _, _), (farther, _, _) = (next(_sides(narrow, Fraction(c), adds=False)) for c in (8185, 8188))
    assert far == 4096 < farther
    assert grid_for_mixture(narrow, farthest).size <= MOST_NODES
    for mixture, tilt in (
        (narrow, farthest._replace(real_part=Fraction(8188))),
        (wide, farthest._replace(real_part=Fraction(2046))),
    ):
        with pytest.raises(Refused, match="within the work budget"):
            grid_for_mixture(mixture, tilt)


def test_levels_that_no_loss_passes_are_refused() -> None:
    """Where less than nothing is asked of a removed record, nothing is no answer: δ(−2) is 1 − e^−2 at least."""
    halves = factor(Fraction(1), Fraction(1, 2), 2, replaced=False)
    with pytest.raises(Refused, match="too close to the least loss"):
        delta_of_mixture(halves, Fraction(-2), REMOVE)
    with pytest.raises(Refused, match="too far out"):
        delta_of_mixture(factor(Fraction(1, 1000), TENTH, 1, replaced=False), Fraction(10), REMOVE)
    with mpmath.workprec(140):
        low, high = ends(delta_of_mixture(halves, Fraction(-1), REMOVE))
        truth = Truth(halves).delta(mpmath.mpf(-1), REMOVE)
        assert low - mpmath.mpf(10) ** -18 <= truth <= high + mpmath.mpf(10) ** -18


@pytest.mark.parametrize("above", [False, True])
def test_a_place_is_told_where_the_loss_is_below_the_level_before_it_and_above_behind(above: bool) -> None:
    """The loss is 0 at 0, which a level that is known to 50 bits on one side does not tell apart."""
    mixture = mixture_of(factor(Fraction(1), Fraction(1, 2), 1, replaced=True))
    low, high = _crossing(mixture, Interval(libmp.fzero, libmp.fzero))
    assert low < 0 < high
    unit = libmp.mpf_shift(libmp.fone, -50)
    level = Interval(libmp.fzero, unit) if above else Interval(libmp.mpf_neg(unit), libmp.fzero)
    with pytest.raises(Refused, match="not told apart"):
        _crossing(mixture, level)


def test_replaced_records_have_the_same_nodes_in_both_directions() -> None:
    for of, (c, y) in product(CASES, TILTS):
        if of.change.replaced:
            remove, add = (grid_for_mixture(mixture_of(of), Tilt(each, c, Fraction(y))) for each in DIRECTIONS)
            assert remove == add


def test_nodes_are_as_many_as_are_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    mixture, tilt = mixture_of(CASES[2]), Tilt(REMOVE, Fraction(9), Fraction(0))
    grid = grid_for_mixture(mixture, tilt)
    count = grid.last + LEFT / grid.step
    monkeypatch.setattr(module, "MOST_NODES", count)
    assert grid_for_mixture(mixture, tilt) == grid
    monkeypatch.setattr(module, "MOST_NODES", count - 1)
    with pytest.raises(Refused, match="within the work budget"):
        grid_for_mixture(mixture, tilt)


def test_the_side_falls_from_its_centre_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the nodes as from the centre that the side has; towards the other side as from 0."""
    asked = []

    def spied(distance: Fraction, step: Fraction) -> Interval:
        asked.append(distance)
        return tail(distance, step)

    monkeypatch.setattr(module, "tail", spied)
    for of, direction, c, y in GRIDS:
        mixture = mixture_of(of)
        asked.clear()
        grid_for_mixture(mixture, Tilt(direction, c, Fraction(y)))
        far, centre, _ = min(_sides(mixture, c, adds=direction == ADD))
        assert asked == [far - centre, LEFT]


@pytest.mark.parametrize("last", [2, 5, 9])
@pytest.mark.parametrize("of", CASES[:4], ids=str)
def test_parts_are_integrated_from_the_first_node_to_the_last(of: Factor, last: int) -> None:
    """On few nodes what is integrated is large at the outermost ones, and in the outermost cells."""
    mixture, nothing = mixture_of(of), Interval(libmp.fzero, libmp.fzero)
    for direction in DIRECTIONS[: 1 if mixture.replaced else 2]:
        for steps, end in ((4, 40), (4, 4000), (8, 400)):
            tilt = Tilt(direction, Fraction(2), Fraction(end))
            first = -last if mixture.replaced else -2
            grid = Grid(Fraction(1, steps), first, last, nothing, nothing)
            with mpmath.workprec(120):
                nodes = nodes_of_mixture(grid, mixture, tilt)
                found = mpmath.mp.make_mpf(beyond_of_mixture(nodes, mixture, tilt, mpmath.mpf(1)._mpf_))
                least, most = bounds_beyond(mixture, tilt, grid)
                assert least <= found
                assert abs(found - most) <= mpmath.mpf(10) ** -12 * most
