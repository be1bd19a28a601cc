"""Sums as exact fractions, and what is decided by comparing them, for every number between their ends."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.filters.totals import EXACT_UP_TO, FULL, Compared, Comparisons, Total
from tests.support.cases import examples

numbers = st.fractions(0, 4, max_denominator=12)
totals = st.tuples(numbers, numbers).map(lambda ends: Total(min(ends), max(ends)))


def decided(possible: set[bool]) -> Truth:
    """What is known where each of these answers may be the right one."""
    if len(possible) > 1:
        return Truth.UNDECIDED
    return Truth.TRUE if True in possible else Truth.FALSE


@examples(60)
@given(number=numbers, other=numbers)
def test_a_cost_is_what_its_enclosure_holds(number: Fraction, other: Fraction) -> None:
    assert Total.of(Enclosure.of(number)) == Total(number, number)
    between = Enclosure.between(min(number, other), max(number, other))
    assert Total.of(between) == (Total(between.lower, between.upper) if number != other else Total.of(between))
    assert Total.of(between).lower <= min(number, other) <= max(number, other) <= Total.of(between).upper


@examples(60)
@given(total=totals)
@example(total=Total(Fraction(1, 3), Fraction(1, 3)))
def test_a_sum_is_shown_with_both_ends_and_stays_known_where_they_agree(total: Total) -> None:
    shown = total.enclosure
    assert shown.lower <= total.lower <= total.upper <= shown.upper
    assert shown.upper - shown.lower <= total.upper - total.lower + Fraction(1, 2**250)
    assert shown.number == (total.upper if total.lower == total.upper else None)


@examples(100)
@given(one=totals, other=totals, limit=numbers)
def test_sums_squares_and_comparisons_hold_for_every_number_inside(one: Total, other: Total, limit: Fraction) -> None:
    assert one.plus(other) == Total(one.lower + other.lower, one.upper + other.upper)
    assert one.plus(other).minus(other) == one
    assert one.squared == Total(one.lower**2, one.upper**2)
    assert one.less_equal(limit) is decided({end <= limit for end in (one.lower, one.upper)})


@given(st.lists(st.fractions(0, 1, max_denominator=10**200), max_size=40))
def test_sums_stay_within_bounds_of_size_and_hold_the_exact_sum(amounts: list[Fraction]) -> None:
    total = Total()
    for amount in amounts:
        total = total.plus(Total(amount, amount))
    exact = sum(amounts, Fraction(0))
    assert total.lower <= exact <= total.upper
    assert total.upper - total.lower <= Fraction(2 * len(amounts), 2**256)
    assert total.upper.denominator <= EXACT_UP_TO << 256
    if exact.denominator <= EXACT_UP_TO and len(amounts) < 5:
        assert total == Total(exact, exact)


def test_a_cost_beside_too_large_a_denominator_is_rounded_outward() -> None:
    prime = 2**4423 - 1
    total = Total().plus(Total(Fraction(1, prime), Fraction(1, prime)))
    assert total == Total(Fraction(0), Fraction(1, 2**256))
    assert total.minus(total) == Total()
    last = Total(Fraction(1, EXACT_UP_TO), Fraction(1, EXACT_UP_TO))
    assert Total().plus(last) == last
    more = 3 + Fraction(1, prime)
    assert Total(Fraction(1), Fraction(2)).plus(Total(more, more)) == Total(Fraction(4), 5 + Fraction(1, 2**256))


def test_the_square_of_what_may_be_below_0_is_from_0() -> None:
    assert Total(Fraction(-1), Fraction(2)).squared == Total(Fraction(0), Fraction(4))


@examples(100)
@given(total=totals, limit=st.fractions(Fraction(1, 12), 4, max_denominator=12))
def test_the_share_of_a_limit_is_rounded_up_once(total: Total, limit: Fraction) -> None:
    compared = Compared(total, limit)
    assert compared.left == max(limit - total.upper, 0)
    assert compared.share == (math.ceil(total.upper / limit * FULL) if total.upper <= limit else FULL + 1)
    assert Compared(Total(Fraction(-1), Fraction(0)), limit).share == 0


TRUE, FALSE = Compared(Total(), Fraction(1)), Compared(Total(Fraction(2), Fraction(2)), Fraction(1))
UNDECIDED = Compared(Total(Fraction(0), Fraction(2)), Fraction(1))
POSSIBLE = {TRUE: {True}, FALSE: {False}, UNDECIDED: {True, False}}


@pytest.mark.parametrize("either", [one for n in (1, 2) for one in product(POSSIBLE, repeat=n)])
@pytest.mark.parametrize("also", [one for n in (0, 1, 2) for one in product(POSSIBLE, repeat=n)])
def test_one_of_some_and_all_of_others_have_to_be_within(
    either: tuple[Compared, ...], also: tuple[Compared, ...]
) -> None:
    """Decided where all that is undecided may come out either way and the answer is the same."""
    assert (TRUE.within, FALSE.within, UNDECIDED.within) == (Truth.TRUE, Truth.FALSE, Truth.UNDECIDED)
    possible = {
        any(answers[: len(either)]) and all(answers[len(either) :])
        for answers in product(*(POSSIBLE[one] for one in (*either, *also)))
    }
    found = Comparisons(either, also)
    expected = decided(possible)
    assert found.within is expected
    assert found.share == max(min(one.share for one in either), *(one.share for one in also), 0)
    assert expected is not Truth.TRUE or found.share <= FULL
