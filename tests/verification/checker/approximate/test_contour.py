"""The errors that the line integral states, and the work it takes: as derived, to the last unit."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from mpmath import libmp, mp

from certdp.verification.checker.approximate import contour
from certdp.verification.checker.approximate.factors import DIRECTIONS, Factor
from certdp.verification.checker.approximate.finite import outcomes
from certdp.verification.checker.approximate.nodes import NODE, Grid, Nodes, Tilt, grid_for, nodes_on, shift_of
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import Interval
from certdp.verification.checker.verdict import Refused

ONE = 2**144
POINT = Interval(libmp.fzero, libmp.fzero)
EXACT = Fraction(0)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def end(value: Any) -> Any:
    return mp.make_mpf(value)


def part(nodes: int, error: int, times: int) -> contour._Part:
    """Releases whose nodes all have loss 0."""
    turn = contour._turn(contour._FINE.rational(Fraction(0)))
    return contour._Part([ONE // nodes] * nodes, [turn] * nodes, error, POINT, libmp.fone, times)


def line(places: int) -> contour.Line:
    return contour.Line(Fraction(3, 2), Fraction(1, 4), places, EXACT)


def wave_error(k: int, nodes: int, reach: int) -> int:
    """By the recurrence of the turns: k = am + j; a − 1 products of the far turns and one by the near ones."""
    wrong = 2 * (reach + 1) * (reach + 2)
    a = 0
    while abs(k - a * (2 * reach + 1)) > reach:
        a += 1
    return a * (4 * wrong + 4 + 3 * nodes) + 2 * wrong + 2


@pytest.mark.parametrize("nodes", [1, 2, 5])
@pytest.mark.parametrize("places", [2, 7, 31, 32, 33, 300])
def test_waves_state_the_error_of_their_recurrence(nodes: int, places: int) -> None:
    waves = contour._Waves(part(nodes, 0, 1), places)
    reach = min(32, places)
    for k in range(1, 300):
        assert waves.error_at(k) == wave_error(k, nodes, reach)


@pytest.mark.parametrize("places", [2, 3, 90])
@pytest.mark.parametrize("square", [EXACT, Fraction(1, 9)])
@pytest.mark.parametrize("parts", [[], [(1, 0, 1)], [(3, 10**9, 4), (2, 17, 50)]], ids=len)
def test_the_sum_states_the_errors_of_its_products(
    places: int, square: Fraction, parts: list[tuple[int, int, int]]
) -> None:
    """Rotation and quotient, the fall by noise, and n-th powers of ratios that are each wrong by so much."""
    _, error = contour._sum([part(*each) for each in parts], square, Fraction(1, 2), line(places))
    stated = 0
    for k in range(1, places):
        wrong = 4 * k + 8 + (8 if square else 0)
        for nodes, own, times in parts:
            ratio = own + wave_error(k, nodes, min(32, places)) + 4 * nodes + 4
            wrong += 2 * times * ratio + 4 * times + 4
        stated += 3 * wrong
    assert error == stated


@pytest.mark.parametrize("times", [1, 4])
def test_ratios_are_refused_that_are_wrong_by_more_than_a_256th_in_all_releases(times: int) -> None:
    rest = wave_error(1, 2, 2) + 4 * 2 + 4
    most = ONE // 256 // times - rest
    contour._sum([part(2, most, times)], EXACT, EXACT, line(2))
    with pytest.raises(Refused, match="too uncertain for so many releases"):
        contour._sum([part(2, most + 1, times)], EXACT, EXACT, line(2))


ANGLES = [
    "0",
    "1/1000000",
    "-1/3",
    "1/65",
    "1/64",
    "1/63",
    "-1",
    "2",
    "22/7",
    "-355/113",
    "1000",
    "-1000000",
    "16777215",
]


def test_turns_are_within_a_unit() -> None:
    for angle in ANGLES:
        with mp.workprec(400):
            cosine, sine = contour._turn(contour._FINE.rational(Fraction(angle)))
            exact = real(Fraction(angle))
            assert 0 <= mpmath.cos(exact) * ONE - cosine + mpmath.mpf(2) ** -20 < 1 + mpmath.mpf(2) ** -19
            assert 0 <= mpmath.sin(exact) * ONE - sine + mpmath.mpf(2) ** -20 < 1 + mpmath.mpf(2) ** -19


def test_nodes_that_hide_more_than_a_hundredth_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a ratio of two sums is three times what each hides only where that is little."""
    factor = Factor("gaussian", Fraction(1, 2), Fraction(1, 10), 1, 1)
    for hundredths, admitted in ((Fraction(99, 100), True), (Fraction(101, 100), False)):
        rule = contour._FINE.rational(hundredths / 100)
        monkeypatch.setattr(contour, "grid_for", lambda *given, rule=rule: grid_for(*given)._replace(rule=rule))
        if admitted:
            assert contour._part(factor, "remove", line(12), Budget()).error > 2 * ONE // 100
            continue
        with pytest.raises(Refused, match="nodes that far apart"):
            contour._part(factor, "remove", line(12), Budget())


@pytest.mark.parametrize("sign", [1, -1])
def test_angles_are_below_2_to_24(sign: int) -> None:
    most = sign * (2**24 - Fraction(1, 2**40))
    contour._turn(contour._FINE.rational(most))
    with pytest.raises(Refused, match="too uncertain or too large"):
        contour._turn(contour._FINE.rational(Fraction(sign * 2**24)))


@pytest.mark.parametrize("places", [2, 5])
def test_the_work_is_counted_by_places_parts_and_nodes(places: int) -> None:
    at = line(places)._replace(dither=Fraction(1, 2), cells=7)
    laplace = Factor("laplace", Fraction(1, 2), Fraction(1, 3), 1, 2)
    response = Factor("pure", Fraction(1, 2), Fraction(1, 3), 1, 2)
    all_drawn = Factor("pure", Fraction(1, 2), Fraction(1), 1, 2)
    noise = Factor("gaussian", Fraction(1, 2), Fraction(1), 3, 2)
    sampled = Factor("gaussian", Fraction(1, 2), Fraction(1, 3), 1, 2)

    def taken(factors: list[Factor], direction: str) -> int:
        budget = Budget()
        before = budget.left
        contour.delta_on_line(factors, Fraction(1), direction, at, budget)
        return before - budget.left

    for direction in DIRECTIONS:
        grid = grid_for(shift_of(sampled), Tilt(direction, at.real_part, at.end))
        for factors, work in (
            ([noise], 25_000 * places),
            ([response], 35_000 * places + 2 * (20 * places + NODE)),
            ([all_drawn, noise, response], 45_000 * places + 4 * (20 * places + NODE)),
            ([laplace], 35_000 * places + 8 * (20 * places + NODE)),
            ([sampled], 35_000 * places + grid.size * (20 * places + NODE)),
        ):
            assert taken(factors, direction) == work


def test_a_line_ends_where_its_places_do() -> None:
    assert line(7).end == Fraction(7, 4)


def test_slots_hold_sums_of_products_with_their_signs() -> None:
    """A slot has whole bytes, twice the bits of a unit, and bits to spare: the largest sums stay apart."""
    assert contour._SLOT_BYTES * 8 == contour._SLOT
    assert 4 * ONE**2 <= contour._HALF < 2**contour._SLOT
    half = 2**contour._SLOT // 2
    assert contour._packed([-half, half - 1]) == -half + (half - 1) * 2**contour._SLOT
    values: list[Any] = [-ONE, ONE, 0, -1, ONE - 1, -ONE]
    packed = contour._packed(values)
    waves = contour._Waves(part(1, 0, 1), len(values) - 1)
    for weight in (ONE, -ONE, 1, -1, 0):
        assert list(waves._slots([weight], [packed])) == [weight * value for value in values]
    assert list(waves._slots([ONE, ONE], [packed, packed])) == [2 * ONE * value for value in values]


def exact(interval: Interval) -> Fraction:
    return Fraction(*libmp.to_rational(interval.hi))


def random_nodes(source: random.Random) -> Nodes:
    """Few nodes, of any densities and powers; what B is to its rising part falls towards 1."""

    def drawn(most: int) -> Interval:
        low = Fraction(source.randint(1, most), 64)
        return Interval(
            contour._FINE.rational(low).lo, contour._FINE.rational(low + Fraction(source.randint(0, 1), 128)).lo
        )

    size = source.randint(3, 7)
    grid = Grid(Fraction(1, source.randint(2, 9)), 0, size - 1, POINT, drawn(2))
    densities, powers = ([drawn(64) for _ in range(size)] for _ in range(2))
    ratios = sorted((drawn(640) for _ in range(size)), key=exact, reverse=True)
    return Nodes(grid, densities, powers, [], ratios, [])


def bound_of(nodes: Nodes, steep: Fraction, rise: Fraction, mass: Fraction) -> tuple[Fraction, Fraction]:
    """What the legend derives, in fractions: of all x >= x0, and of those as far as one maximum is known."""
    d, p, ratios = ([exact(value) for value in values] for values in (nodes.densities, nodes.powers, nodes.ratios))
    lows = [Fraction(*libmp.to_rational(ratio.lo)) for ratio in nodes.ratios]
    tops = [max(d[j], d[j + 1]) * max(p[j], p[j + 1]) for j in range(len(d) - 1)]
    left, step = exact(nodes.grid.left_out), nodes.grid.step
    flat = max(sum(low >= steep for low in lows) - 1, 0)
    found: list[Fraction] = []
    for last, maxima in ((len(tops), 1 if steep < 4 else 2), (flat, 1)):
        outside = left + (sum(tops[last:]) * step + left if last < len(tops) else 0)
        slopes = [top * ratio for top, ratio in zip(tops, ratios[:-1], strict=True)]
        splits = [outside + sum(tops[:j]) * step + 2 * maxima * rise * max(slopes[j:last]) for j in range(last)]
        found.append(Fraction(min(splits, default=mass)) / mass)
    return found[0], found[1]


def test_what_is_beyond_the_line_is_the_least_bound_of_all_splits() -> None:
    source = random.Random(7)
    whole = single = none = 0
    for _ in range(600):
        nodes = random_nodes(source)
        shift = Fraction(source.choice([1, 2, 4]), 2)
        steep = source.choice([Fraction(1), Fraction(7, 2), Fraction(4), Fraction(9, 2), Fraction(6), Fraction(12)])
        at = contour.Line(Fraction(3, 2), Fraction(1, 4), source.randint(2, 400), EXACT)
        mass = Fraction(source.randint(1, 300), 64)
        found = contour._beyond(nodes, shift, steep / shift**2 - 1, contour._FINE.rational(mass).lo, at)
        of_all, of_some = bound_of(nodes, steep, 1 / (shift * at.end), mass)
        least = min(of_all, of_some, Fraction(1))
        whole += of_all == least < of_some
        single += of_some == least < of_all
        none += least < min(of_all, of_some)
        assert found[3] <= 64  # a short number
        assert least <= Fraction(*libmp.to_rational(found)) <= least * (1 + Fraction(1, 2**58))
    assert min(whole, single, none) > 30


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "rate"), [("1/2", "1/10"), ("1", "1/3")])
def test_nodes_state_what_they_hide_three_times_and_a_unit_of_each_weight(
    shift: str, rate: str, direction: str
) -> None:
    """The ratio of two sums, each wrong by what is hidden, and weights rounded down, some of them to 0."""
    at = line(12)
    factor = Factor("gaussian", Fraction(shift), Fraction(rate), 1, 6)
    tilt = Tilt(direction, at.real_part, at.end)
    nodes = nodes_on(grid_for(factor.parameter, tilt), factor.parameter, factor.rate, tilt)
    release = contour._part(factor, direction, at, Budget())
    total = sum(exact(mass) for mass in nodes.masses)
    hidden = exact(nodes.grid.rule) + exact(nodes.grid.left_out) / total
    light = [mass for mass in nodes.masses if exact(mass) / total < Fraction(1, ONE)]
    assert len(release.weights) == len(release.turns) == len(nodes.masses) - len(light)
    assert release.error == 3 * (int(hidden * ONE) + 1) + len(nodes.masses)
    assert ONE - len(nodes.masses) <= sum(release.weights) <= ONE
    assert release.times == 6


def test_nodes_lighter_than_a_unit_are_left_out_and_counted() -> None:
    masses = [
        contour._FINE.rational(mass) for mass in (Fraction(1), Fraction(1, 4 * ONE), Fraction(3), Fraction(1, ONE**2))
    ]
    weights, turns, missed, total = contour._placed(masses, [POINT] * 4, line(2))
    assert (len(weights), len(turns), missed) == (2, 2, 4)
    assert [round(Fraction(weight * 4, ONE)) for weight in weights] == [1, 3]
    assert Fraction(4) <= exact(total) <= 4 + Fraction(1, ONE)


@pytest.mark.parametrize("width", [Fraction(1, 2**60), Fraction(1, 2**100), Fraction(3, 2**140)])
def test_what_uncertain_masses_may_weigh_more_is_counted(width: Fraction) -> None:
    """Of a mass that is known within a share of itself, as the lower end alone is placed."""
    unsure, sure, faint = (
        Interval(contour._FINE.rational(low).lo, contour._FINE.rational(high).hi)
        for low, high in (
            (Fraction(1, 3), Fraction(1, 3) + width),
            (Fraction(2, 3), Fraction(2, 3)),
            (Fraction(0), width),
        )
    )
    masses = [unsure, sure, faint]
    weights, turns, missed, _ = contour._placed(masses, [POINT] * 3, line(2))
    assert len(weights) == len(turns) == 2
    for x, y in product((Fraction(0), width), repeat=2):  # whatever the masses are
        total = 1 + x + y
        placed = [weights[0], weights[1], 0]
        truly = [(Fraction(1, 3) + x) / total, Fraction(2, 3) / total, y / total]
        lacking = sum(abs(share * ONE - weight) for share, weight in zip(truly, placed, strict=True))
        assert lacking <= missed
    assert missed <= 4 * width * ONE + 3


def delta_of_outcomes(factor: Factor, epsilon: Any, direction: str) -> Any:
    """By listing every sequence of outcomes of each sample's releases."""
    one = [(end(mass.hi), mpmath.exp(end(loss.hi))) for mass, loss in outcomes(factor, 7, contour._FINE)]
    remove = direction == "remove"
    total = mpmath.mpf(0)
    for drawn in product(one, repeat=factor.samples):
        absent = mpmath.fprod(mass for mass, _ in drawn)
        present = absent * mpmath.fprod(ratio for _, ratio in drawn)
        first, second = (present, absent) if remove else (absent, present)
        total += max(first - mpmath.exp(epsilon) * second, 0)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_finite_pairs_are_composed_to_what_their_outcomes_say(direction: str) -> None:
    """Above the exact delta, by little more than the dither adds: e^(c(c + 1)t²/2)."""
    at = contour.Line(Fraction(3), Fraction(1, 6), 4_000, Fraction(1, 60), 7)
    for family, rate, together, samples in (
        ("laplace", "1", 1, 3),
        ("laplace", "1/3", 1, 2),
        ("pure", "1", 1, 5),
        ("pure", "1/3", 4, 2),
        ("exchanged", "1", 1, 4),
        ("exchanged", "1/3", 1, 3),
    ):
        factor = Factor(family, Fraction(6, 5), Fraction(rate), together, samples)
        for epsilon in ("1/4", "1"):
            with mp.workprec(200):
                found = end(contour.delta_on_line([factor], Fraction(epsilon), direction, at, Budget()))
                exact = delta_of_outcomes(factor, real(Fraction(epsilon)), direction)
                assert exact <= found <= exact * mpmath.mpf("1.003") + mpmath.mpf("1e-6")


def test_the_loss_of_a_record_that_is_always_drawn_is_exact() -> None:
    """Where e^-w is nothing beside 1 the logarithm of 1 + (e^w - 1) would be lost."""
    far = Factor("laplace", Fraction(2000), Fraction(1), 1, 1)
    release = contour._part(far, "add", line(2)._replace(cells=1), Budget())
    assert len(release.weights) == 1
    assert release.error <= 3
    assert release.weights[0] > ONE // 4


def test_numbers_of_any_size_get_a_bound_or_are_refused() -> None:
    sizes = [Fraction(10) ** exponent for exponent in (-699, -300, 0, 3, 20, 699)]
    for family, size, rate, direction in product(("laplace", "pure", "exchanged"), sizes, ("1", "1/3"), DIRECTIONS):
        for c, cells, together in ((Fraction(3, 2), 1, 1), (Fraction(2**40), 3, 1), (Fraction(1, 2**60), 64, 5)):
            at = contour.Line(c, Fraction(1, 4), 3, Fraction(1, 8), cells)
            factor = Factor(family, size, Fraction(rate), together if family == "pure" else 1, 2**53)
            try:
                found = contour.delta_on_line([factor], Fraction(1), direction, at, Budget())
            except Refused:
                continue
            assert end(found) >= 0
