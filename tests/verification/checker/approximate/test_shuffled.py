"""Shuffled answers, against the laws of their counts written out in exact fractions and by quadruple sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import comb
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.verification.checker.approximate import shuffled
from certdp.verification.checker.approximate.factors import SHUFFLED, Crowd, Factor
from certdp.verification.checker.approximate.shuffled import delta_of_shuffled, shuffled_outcomes
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import Arithmetic, upper_end
from certdp.verification.checker.verdict import Refused

ARITHMETIC = Arithmetic(256)
FINE: Any = mpmath.MPContext()
FINE.dps = 60
SLIGHT = FINE.mpf(10) ** -50
"""Of the sums that are compared with."""


def answers(loss: Any, users: int, clones: Any) -> Factor:
    crowd = Crowd(users, Fraction(clones))
    return Factor(SHUFFLED, Fraction(loss), Fraction(1), together=1, samples=1, crowd=crowd)


def bound(factor: Factor, epsilon: Any) -> Any:
    found = delta_of_shuffled(factor, ARITHMETIC.rational(Fraction(epsilon)), Budget())
    return FINE.mpf(found.hi)


@cache
def counted(loss: Fraction, users: int, clones: Fraction, epsilon: Fraction) -> Any:
    """δ(ε) summed over every number of clones and every count, in 60 digits."""
    base = FINE.exp(FINE.mpf(loss.numerator) / loss.denominator)
    edge = FINE.exp(FINE.mpf(epsilon.numerator) / epsilon.denominator)
    share, truth = FINE.mpf(clones.numerator) / clones.denominator, base / (base + 1)
    total = FINE.mpf(0)
    for number in range(users):
        weight = comb(users - 1, number) * share**number * (1 - share) ** (users - 1 - number)
        fair = [FINE.mpf(comb(number, j)) / 2**number for j in range(number + 1)]
        for count in range(number + 2):
            same = fair[count] if count <= number else 0
            less = fair[count - 1] if count else 0
            one, other = truth * less + (1 - truth) * same, (1 - truth) * less + truth * same
            total += weight * max(one - edge * other, 0)
    return total


LOSSES = st.fractions(Fraction(1, 8), 4, max_denominator=8)
SHARES = st.one_of(st.just(Fraction(1)), st.fractions(Fraction(1, 50), 1, max_denominator=50))
LEVELS = st.fractions(0, Fraction(9, 8), max_denominator=16)


@given(LOSSES, st.integers(1, 40), SHARES, LEVELS)
def test_delta_is_that_of_the_counts(loss: Fraction, users: int, clones: Fraction, part: Fraction) -> None:
    epsilon = loss * part
    exact, found = counted(loss, users, clones, epsilon), bound(answers(loss, users, clones), epsilon)
    assert exact <= found + SLIGHT
    assert found - exact <= FINE.mpf(10) ** -30


@pytest.mark.parametrize("users", [400, 3000])
def test_where_few_of_the_numbers_are_looked_at_tails_count(users: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of fewer standard deviations than are used the bound stays one, and is looser."""
    factor = answers(1, users, Fraction(1, 7))
    whole = bound(factor, Fraction(1, 10))
    looser = []
    for reach in (1, 3):
        monkeypatch.setattr(shuffled, "_REACH", reach)
        looser.append(bound(factor, Fraction(1, 10)))
    assert whole < looser[1] < looser[0] < 1
    assert looser[1] - whole < FINE.mpf(1) / 1000
    if users < 1000:
        assert whole >= counted(Fraction(1), users, Fraction(1, 7), Fraction(1, 10))


@pytest.mark.parametrize("loss", [Fraction(1, 4), Fraction(2)])
def test_beyond_the_numbers_looked_at_the_last_one_and_no_clone_count(
    loss: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 40 others half are clones: 20 alone are looked at, and the ratios 20/21 to both sides add up to 20."""
    monkeypatch.setattr(shuffled, "_REACH", 0)
    epsilon = loss / 3
    base, edge = (FINE.exp(FINE.mpf(level.numerator) / level.denominator) for level in (loss, epsilon))
    given_20 = counted(loss, 21, Fraction(1), epsilon)
    expected = 21 * given_20 + 20 * (base - edge) / (base + 1)
    assert abs(bound(answers(loss, 41, "1/2"), epsilon) - expected) < expected * FINE.mpf(10) ** -40


def test_far_out_a_mass_is_never_taken_for_nothing() -> None:
    """Where its sum ends before the threshold: some of 2^-10^6."""
    far = shuffled._from_the_middle(10**6, 10**6 - 1)
    assert (far.least, far.beyond) == (0, 0)
    assert far.most >= 1


def randomised(loss: float, categories: int, users: int, epsilon: float) -> Any:
    """The largest δ(ε) between the counts of all answers where one value moves from 0 to 1, whatever others are."""
    lie = 1 / (FINE.exp(loss) + categories - 1)

    def law(value: int) -> list[Any]:
        return [1 - (categories - 1) * lie if one == value else lie for one in range(categories)]

    def counts(values: list[int]) -> dict[tuple[int, ...], Any]:
        found: dict[tuple[int, ...], Any] = {(0,) * categories: FINE.mpf(1)}
        for value in values:
            then: dict[tuple[int, ...], Any] = {}
            for seen, mass in found.items():
                for one, chance in enumerate(law(value)):
                    key = (*seen[:one], seen[one] + 1, *seen[one + 1 :])
                    then[key] = then.get(key, 0) + mass * chance
            found = then
        return found

    worst: Any = FINE.mpf(0)
    for others in product(range(categories), repeat=users - 1):
        if list(others) != sorted(others):
            continue
        one, other = (counts([value, *others]) for value in (0, 1))
        edge = FINE.exp(epsilon)
        told: Any = FINE.fsum(max(mass - edge * other[key], 0) for key, mass in one.items())
        worst = max(worst, told)
    return worst


@pytest.mark.parametrize("categories", [2, 3])
def test_no_data_of_few_users_tell_more(categories: int) -> None:
    loss = Fraction(3, 2)
    odds = FINE.exp(FINE.mpf(3) / 2)
    clones = Fraction(int(FINE.mpf(2) / (1 + odds) * 2**80), 2**80)
    for epsilon in (Fraction(1, 4), Fraction(3, 4)):
        reached = randomised(1.5, categories, 4, float(epsilon))
        assert reached <= bound(answers(loss, 4, clones), epsilon)


def test_more_clones_than_there_are_would_be_false() -> None:
    """The control: with every answer a clone the counts of few users tell more than is bounded."""
    reached = randomised(1.5, 2, 4, 0.25)
    assert reached > bound(answers(Fraction(3, 2), 4, 1), Fraction(1, 4))


def test_the_users_themselves_are_no_clones() -> None:
    """The control: with the user counted among those who may be clones too little is stated."""
    assert counted(Fraction(1), 5, Fraction(1, 2), Fraction(1, 4)) > bound(
        answers(1, 6, Fraction(1, 2)), Fraction(1, 4)
    )


def curve(found: Any, lost: Any, epsilon: Any, sign: int = 1) -> Any:
    edge = FINE.exp(epsilon)
    total = FINE.mpf(lost.hi)
    for mass, loss in found:
        with_it = FINE.mpf(mass.hi) * FINE.exp(FINE.mpf(loss.hi))
        pair = (with_it, FINE.mpf(mass.hi))
        one, other = pair if sign > 0 else pair[::-1]
        total += max(one - edge * other, 0)
    return total


@pytest.mark.parametrize(("loss", "users", "clones"), [(1, 40, "1/2"), (3, 60, "1/20"), ("1/100", 20, "1")])
def test_the_pair_on_a_line_has_a_curve_above(loss: Any, users: int, clones: str) -> None:
    factor = answers(Fraction(loss), users, Fraction(clones))
    found, lost = shuffled_outcomes(factor, 24, Budget())
    for part in range(33):
        epsilon = Fraction(loss) * part / 29
        exact = counted(Fraction(loss), users, Fraction(clones), epsilon)
        for sign in (1, -1):
            assert curve(found, lost, FINE.mpf(epsilon.numerator) / epsilon.denominator, sign) >= exact - SLIGHT
    masses = FINE.fsum(FINE.mpf(mass.hi) for mass, _ in found) + FINE.mpf(lost.hi)
    assert abs(masses - 1) < SLIGHT
    grown = FINE.fsum(FINE.mpf(mass.hi) * FINE.exp(FINE.mpf(loss.hi)) for mass, loss in found)
    assert abs(grown + FINE.mpf(lost.hi) - 1) < SLIGHT


@pytest.mark.parametrize("users", [10**3, 10**4, 10**5])
def test_corners_reach_as_far_as_there_is_anything_to_tell(users: int) -> None:
    """The farthest is 1/64 doubled until less than 2^-96 is beyond, or the loss of an answer; that is at infinity."""
    factor = answers(4, users, "1/2")
    found, lost = shuffled_outcomes(factor, 8, Budget())
    farthest = max(FINE.mpf(loss.hi) for _, loss in found)
    doublings = FINE.log(64 * farthest, 2)
    assert abs(doublings - FINE.nint(doublings)) < SLIGHT
    reach = Fraction(2 ** int(FINE.nint(doublings)), 64)
    assert reach <= 4
    assert bound(factor, reach / 2) > FINE.mpf(2) ** -96
    assert (bound(factor, reach) <= FINE.mpf(2) ** -96) is (reach < 4)
    assert abs(FINE.mpf(lost.hi) - bound(factor, reach)) < SLIGHT
    masses = FINE.fsum(FINE.mpf(mass.hi) for mass, _ in found) + FINE.mpf(lost.hi)
    assert abs(masses - 1) < SLIGHT


def test_corners_that_rounding_moves_beyond_all_mass_are_refused() -> None:
    """Of one user, whose answer is one of two: all of both laws lies in the corners, rounded up."""
    with pytest.raises(Refused, match="add up to more than 1"):
        shuffled_outcomes(answers(4, 1, "1"), 8, Budget())


def test_of_two_thresholds_that_rounding_leaves_the_better_counts() -> None:
    unit = 1 << shuffled.BITS
    chances = shuffled._Chances(5, 3, 10 * unit // 32, 10 * unit // 32, 6 * unit // 32)
    further = chances.at(5, 4)
    assert (further.most, further.beyond) == (5 * unit // 32, unit // 32)
    two_thirds = 2 * unit // 3
    for lead, gain in ((unit, unit), (unit, 0), (unit // 2, unit)):
        sharp, blurred = (
            shuffled._Event(lead, gain, two_thirds - 1, most) for most in (two_thirds - 1, two_thirds + 1)
        )
        assert sharp.threshold(5) == 3
        each = [max(lead * one.most - gain * one.beyond, 0) for one in (chances, further)]
        assert sharp.given(chances) == each[0]
        assert blurred.given(chances) == max(each)


def test_where_no_answer_is_a_clone_the_order_hides_nothing() -> None:
    alone, none = (bound(answers(2, users, share), "1/2") for users, share in ((1, "1"), (9, Fraction(1, 2**200))))
    assert alone == none


@given(st.dictionaries(st.integers(0, 40), st.integers(0, 40), min_size=2, max_size=9))
def test_the_corners_are_those_of_the_largest_convex_function_below(dots: dict[int, int]) -> None:
    points = [(Fraction(x), Fraction(y)) for x, y in sorted(dots.items())]
    corners = shuffled._hull(points)
    assert (corners[0], corners[-1]) == (points[0], points[-1])
    assert set(corners) <= set(points)
    slopes = [(high[1] - low[1]) / (high[0] - low[0]) for low, high in pairwise(corners)]
    assert all(one < other for one, other in pairwise(slopes))
    for (low, high), slope in zip(pairwise(corners), slopes, strict=True):
        assert all(y >= low[1] + slope * (x - low[0]) for x, y in points if low[0] <= x <= high[0])


def test_more_cells_tell_less() -> None:
    factor = answers(2, 300, "1/5")
    few, many = (shuffled_outcomes(factor, cells, Budget())[0] for cells in (8, 64))
    assert sum(upper_end(mass) for mass, loss in few if upper_end(loss) > Fraction(1, 100)) > 0
    exact = counted(Fraction(2), 300, Fraction(1, 5), Fraction(1, 3))
    gaps = [curve(found, ARITHMETIC.rational(Fraction(0)), FINE.mpf(1) / 3) - exact for found in (few, many)]
    assert 0 <= gaps[1] < gaps[0] / 8


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "users beyond the numbers that are looked at": (
        lambda: bound(answers(1, 2**40, "1/2"), "1/10"),
        "takes more than 1048576 likely values",
    ),
    "no cells": (lambda: shuffled_outcomes(answers(1, 9, "1/2"), 0, Budget()), "from 1 to 4096 cells"),
    "too many cells": (lambda: shuffled_outcomes(answers(1, 9, "1/2"), 4097, Budget()), "from 1 to 4096 cells"),
    "more than may be done": (
        lambda: delta_of_shuffled(answers(1, 10**6, "1/2"), ARITHMETIC.rational(Fraction(1)), Budget(10**6)),
        "work budget",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_takes_too_long_is_refused_by_name(name: str) -> None:
    ask, reason = REFUSED[name]
    with pytest.raises(Refused, match=reason):
        ask()


def test_work_is_paid_once_for_both_directions() -> None:
    factor, budget = answers(1, 50, "1/2"), Budget()
    shuffled_outcomes(factor, 8, budget)
    left = budget.left
    shuffled_outcomes(factor._replace(samples=7), 8, budget)
    assert budget.left == left
    assert Budget().left - left == shuffled._price(factor) * (8 + 1 + 28)


@pytest.mark.parametrize(
    ("users", "clones", "numbers", "first"), [(1, "1", 1, 0), (101, "1", 1, 100), (9, "1/2", 9, 0)]
)
def test_each_number_of_clones_is_paid_for(users: int, clones: str, numbers: int, first: int) -> None:
    price = 200_000 + 900 * numbers + 120 * (10 * math.isqrt(first) + 10)
    assert shuffled._price(answers(1, users, clones)) == price


def test_as_many_numbers_of_clones_are_looked_at_as_are_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    many = answers(1, 10**6, "1/2")
    first, last = shuffled._likely(*shuffled._odds(Crowd(10**6, Fraction(1, 2))))
    assert 0 < last - first < first
    monkeypatch.setattr(shuffled, "_MOST_STEPS", last - first + 1)
    assert shuffled._price(many) > 900 * (last - first)
    monkeypatch.setattr(shuffled, "_MOST_STEPS", last - first)
    with pytest.raises(Refused, match="likely values"):
        shuffled._price(many)


def test_from_one_cell_to_as_many_as_are_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffled, "MOST_CELLS", 3)
    for cells in (1, 3):
        assert len(shuffled_outcomes(answers(1, 9, "1/2"), cells, Budget())[0]) == 2 * cells + 1
    with pytest.raises(Refused, match="from 1 to 3 cells"):
        shuffled_outcomes(answers(1, 9, "1/2"), 4, Budget())


@pytest.mark.parametrize("bits", [4, 10, 256])
@pytest.mark.parametrize("clones", [0, 1, 2, 7, 40, 4000])
def test_masses_among_clones_are_bounded_however_coarse_the_units_are(
    clones: int, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few bits leave much beyond the numbers that are added up one by one."""
    unit = 1 << bits
    monkeypatch.setattr(shuffled, "BITS", bits)
    monkeypatch.setattr(shuffled, "_UNIT", unit)
    masses = [comb(clones, number) for number in range(clones + 1)]
    middle = (clones + 1) // 2
    for threshold in (middle, (middle + clones) // 2, clones):
        found = shuffled._from_the_middle(clones, threshold)
        assert found.least << clones <= masses[threshold] << bits <= found.most << clones
        assert 0 <= found.beyond << clones <= sum(masses[threshold + 1 :]) << bits
        last = found.at(clones, clones)
        assert last.beyond == 0  # nothing is beyond the last
        assert last.at(clones + 3, clones + 3).beyond == 0


@pytest.mark.parametrize(("loss", "level"), [("1", "1/10"), ("4", "7/2"), ("1/8", "1/9")])
def test_an_event_is_bounded_to_the_last_unit(loss: str, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[shuffled._Event] = []

    def spied(event: shuffled._Event, crowd: Crowd) -> Fraction:
        told.append(event)
        return Fraction(crowd.users, 100)

    monkeypatch.setattr(shuffled, "_mean", spied)
    bound(answers(loss, 9, "1/2"), level)
    (event,) = told
    with mpmath.workprec(600):
        base, growth = (mpmath.exp(mpmath.mpf(f.numerator) / f.denominator) for f in map(Fraction, (loss, level)))
        unit = mpmath.mpf(2) ** shuffled.BITS
        lead, gain = (base - growth) / (base + 1) * unit, (growth - 1) * unit
        odds = (base * growth - 1) / ((base - 1) * (growth + 1)) * unit
        assert lead <= event.lead <= lead + 2
        assert gain - 2 <= event.gain <= gain
        assert odds - 2 <= event.least <= odds <= event.most <= odds + 2


def test_the_first_corner_is_where_nothing_has_grown() -> None:
    growth, delta = shuffled._corner(answers("3/4", 9, "1/2"), Fraction(0))
    assert growth == 1
    assert (
        counted(Fraction(3, 4), 9, Fraction(1, 2), Fraction(0))
        <= FINE.mpf(delta.numerator) / delta.denominator + SLIGHT
    )


@pytest.mark.parametrize(("lost", "fits"), [(Fraction(1, 2), True), (Fraction(7, 10), True), (Fraction(4, 5), False)])
def test_corners_and_what_is_lost_beside_them_are_one_at_most(
    lost: Fraction, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Down to it by a tenth while the growth doubles: that tenth and twice as much are in the corner."""
    corners = {False: (Fraction(1), lost + Fraction(1, 10)), True: (Fraction(2), lost)}
    monkeypatch.setattr(shuffled, "_corner", lambda _, loss: corners[bool(loss)])
    monkeypatch.setattr(shuffled, "FIRST_REACH", Fraction(4))
    factor = answers(4, 2 + lost.denominator, "1/2")
    if fits:
        found, beyond = shuffled_outcomes(factor, 1, Budget())
        masses = [upper_end(mass) for mass, _ in found]
        assert [round(float(mass), 12) for mass in masses] == [0.1, 0.2, round(0.7 - float(lost), 12)]
        assert upper_end(beyond) >= lost
    else:
        with pytest.raises(Refused, match="add up to more than 1"):
            shuffled_outcomes(factor, 1, Budget())
