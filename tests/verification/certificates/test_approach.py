"""The numbers at which a certificate is tried end next to the least that is proven, after few checks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.verification.certificates.approach import (
    SHARP,
    Approach,
    Trial,
    Unproven,
    excess_of,
    falling,
    least,
    proven_instead,
)

Law = Callable[[float], float]
"""The logarithm of what is proven over what is asked, at a number."""


class Checks:
    """What a checker says that knows the law, and how often it was asked."""

    def __init__(self, law: Law, *, tells: bool = True) -> None:
        self.law, self.tells = law, tells
        self.asked: list[float] = []

    def __call__(self, number: float) -> float | Unproven:
        self.asked.append(number)
        excess = self.law(number)
        return number if excess <= 0 else Unproven("too small", excess if self.tells else math.inf)


def searched(
    law: Law, guess: Callable[..., float | None], start: float = 1.0, most: int = 16
) -> tuple[float | Unproven, Checks]:
    checks = Checks(law)
    return least(iter([Trial(Approach(start, guess, most), checks)]), start), checks


@given(st.floats(1, 1.999), st.floats(1e-3, 1e3))
def test_what_was_told_is_asked_for_next(truth: float, start: float) -> None:
    number, checks = searched(lambda asked: math.log(truth * start / asked), proven_instead, start)
    assert isinstance(number, float)
    assert truth * start * (1 - 1e-15) <= number <= truth * start * (1 + 1e-12)
    assert len(checks.asked) <= 4
    assert all(asked >= start for asked in checks.asked)


@given(st.floats(1.0000001, 1.99), st.floats(0.1, 200), st.floats(-0.9, 5), st.sampled_from([None, 0.5, 1, 4]))
def test_where_delta_falls_within_a_millionth(truth: float, slope: float, bend: float, known: float | None) -> None:
    def law(epsilon: float) -> float:
        away = truth - epsilon  # grows and is as steep as `slope` at the truth, whatever the bend
        return slope * away * (1 + bend * max(away, 0.0))

    number, checks = searched(law, falling(None if known is None else known * slope), most=24)
    assert isinstance(number, float)
    assert truth <= number <= truth * (1 + 2 * SHARP)
    assert len(checks.asked) <= 24
    assert (
        len(checks.asked) == 24
        or number == 1.0
        or any(asked * (1 + SHARP) >= number for asked in checks.asked if law(asked) > 0)
    )


def test_the_start_is_taken_where_it_is_proven() -> None:
    number, checks = searched(lambda asked: -1.0, proven_instead)
    assert (number, checks.asked) == (1.0, [1.0])


@pytest.mark.parametrize("guess", [proven_instead, falling(None), falling(1.0)])
def test_beyond_twice_the_start_nothing_is_tried(guess: Callable[..., float | None]) -> None:
    number, checks = searched(lambda asked: 9 - asked, guess)
    assert number == Unproven("too small", checks.law(checks.asked[-1]))
    assert max(checks.asked) == 2.0


def test_without_a_number_told_it_is_halved() -> None:
    checks = Checks(lambda asked: 1.7 - asked, tells=False)
    number = least(iter([Trial(Approach(1.0, falling(None), 40), checks)]), 1.0)
    assert isinstance(number, float)
    assert 1.7 <= number <= 1.7 * (1 + SHARP)
    assert len(checks.asked) < 30


def test_no_more_checks_are_made_than_admitted() -> None:
    checks = Checks(lambda asked: 1.7 - asked, tells=False)
    number = least(iter([Trial(Approach(1.0, falling(None), 8), checks)]), 1.0)
    assert number in checks.asked
    assert len(checks.asked) == 8


def test_nothing_at_all() -> None:
    number, checks = searched(lambda asked: math.inf if asked <= 0 else -1.0, proven_instead, 0.0)
    assert isinstance(number, float)
    assert 0 < number <= 2.0**-998
    assert checks.asked[0] == 0.0


def test_the_smallest_number_left_is_tried_first_and_the_others_not_at_all() -> None:
    wide, near = Checks(lambda asked: 1.5 - asked), Checks(lambda asked: math.log(1.25 / asked))
    made = []

    def ways() -> Iterator[Trial[float]]:
        for name, start, guess, checks in (("wide", 1.2, falling(1.0), wide), ("near", 1.0, proven_instead, near)):
            made.append(name)
            yield Trial(Approach(start, guess, 16), checks)

    number = least(ways(), 1.0)
    assert number == pytest.approx(1.25, rel=1e-12)
    assert made == ["wide", "near"]
    assert wide.asked == [1.2]
    made.clear()
    swapped = [
        Trial(Approach(1.0, proven_instead, 16), Checks(lambda asked: -1.0)),
        Trial(Approach(1.0, proven_instead, 16), near),
    ]
    left = iter(swapped)
    assert least(left, 1.0) == 1.0
    assert next(left) is swapped[1]


def test_other_reasons_end_a_way() -> None:
    asked = []

    def wrong(number: float) -> Unproven:
        asked.append(number)
        return Unproven("no such order", None)

    assert least(iter([Trial(Approach(1.0, proven_instead, 16), wrong)]), 1.0) == Unproven("no such order", None)
    assert asked == [1.0]


def test_the_excess() -> None:
    assert excess_of(Fraction(3), Fraction(2)) == pytest.approx(math.log(1.5), rel=1e-15)
    assert excess_of(1 + Fraction(1, 10**40), Fraction(1)) == pytest.approx(1e-40, rel=1e-12)
    assert excess_of(Fraction(1), Fraction(0)) == excess_of(Fraction(1), Fraction(1, 2**2000)) == math.inf
