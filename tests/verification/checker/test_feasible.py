"""The largest feasible weight of a record in the checker, against Lambert's function in 100 digits."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from certdp.verification.checker import constrained, feasible
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.feasible import Rule
from certdp.verification.checker.intervals import ZERO, Arithmetic, Interval, exact
from certdp.verification.checker.verdict import Refused
from tests.support.lambert import fraction, largest_weight

FINE = Arithmetic(96)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def between(low: float, high: float) -> Interval:
    return Interval(exact(low), exact(high))


@pytest.mark.parametrize("seed", range(150))
def test_the_enclosed_probability_holds_that_of_the_largest_weight(seed: int) -> None:
    draw = random.Random(seed)
    targets: list[int | str] = ["1/1099511627776", "1/1000000", "1/10", 1, 5, 50, 700]
    target = Fraction(draw.choice(targets))
    share = draw.choice([1 - 2.0**-52, 1 - 10.0 ** -draw.uniform(0, 14), draw.random(), 10.0 ** -draw.uniform(0, 290)])
    loss = float(target) * share
    found = Rule(target, None).probability(Interval(exact(loss), exact(loss)), Arithmetic(96))
    with mpmath.workdps(100):
        inverse = 1 / largest_weight(loss, target)
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in map(fraction, found))
        assert low <= inverse <= high
        assert high - low <= 1e-9 * high


@pytest.mark.parametrize(
    ("steps", "eighths", "within"),
    [(2, range(-96, -10), 1e-10), (3, range(-10, 24), 1e-11), (4, range(-10, 24), 1e-14)],
)
def test_few_steps_of_newtons_method_guess_the_root(
    steps: int, eighths: range, within: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each squares the distance, because the slope is right: log((e^y - 1)/y) is half of y where that is small."""
    monkeypatch.setattr(feasible, "_NEWTON_STEPS", steps)
    for ratio in (10.0 ** (k / 8) for k in eighths):
        with mpmath.workdps(60):
            y = mpmath.mpf(2 * ratio)
            for _ in range(12):
                slope = 1 + 1 / mpmath.expm1(y) - 1 / y
                y -= (mpmath.log(mpmath.expm1(y) / y) - ratio) / slope
            assert abs(feasible._solve(ratio) / y - 1) <= within


def test_the_probability_of_special_losses() -> None:
    q = Arithmetic(96)

    def enclosed(low: float, high: float, target: Any = 1, largest: Any = None) -> tuple[float, float]:
        rule = Rule(Fraction(target), None if largest is None else Fraction(largest))
        found = rule.probability(Interval(exact(low), exact(high)), q)
        return float(fraction(found.lo)), float(fraction(found.hi))

    assert enclosed(0.0, 0.0) == (0.0, 0.0)
    assert enclosed(0.0, 0.0, largest=8) == (0.125, 0.125)
    assert enclosed(0.0, 1.0) == (0.0, 1.0)
    assert enclosed(5e-324, 5e-324) == (2.0**-1022, 2.0**-1022)
    assert enclosed(0.1, 0.1, largest=2) == (0.5, 0.5)
    assert enclosed(0.1, 0.1, largest=1) == (1.0, 1.0)
    assert enclosed(1.0, 2.0)[1] == 1.0
    low, high = enclosed(0.1, 0.1)
    assert low <= 1 / 43.20709028861915 <= high * (1 + 2.0**-52)  # the reference value of IS Problem 7
    assert high <= low * (1 + 1e-10)


@pytest.mark.parametrize("target", ["1/1000", "1", "700"])
@pytest.mark.parametrize("share", [1e-200, 1e-9, 0.3, 0.9])
def test_a_range_of_losses_has_the_probabilities_of_its_ends(share: float, target: str) -> None:
    """Each within 6e-14, where that of its own falls with the loss; what exceeds the target is drawn surely."""
    most = Fraction(target)
    low, high = share * float(most) / 2, share * float(most)
    with mpmath.workdps(60):
        ends = [1 / largest_weight(loss, most) for loss in (low, high)]
        found = Rule(most, None).probability(between(low, high), FINE)
        assert ends[0] * (1 - 6e-14) <= real(fraction(found.lo)) <= ends[0]
        assert ends[1] <= real(fraction(found.hi)) <= min(1, ends[1] * (1 + 6e-14))
        beyond = Rule(most, None).probability(between(low, 2 * float(most)), FINE)
        assert beyond.lo == found.lo
        assert fraction(beyond.hi) == 1
        surely = Rule(most, None).probability(between(1.5 * float(most), 2 * float(most)), FINE)
        assert 1 - 6e-14 <= fraction(surely.lo) <= 1 == fraction(surely.hi)


@pytest.mark.parametrize("cap", [None, Fraction(1), Fraction(7, 3), Fraction(50), Fraction(2) ** 1022])
@pytest.mark.parametrize("target", ["1/1000", "1", "700"])
@pytest.mark.parametrize("share", [0.0, 1e-300, 1e-9, 0.02, 0.3, 0.9])
def test_what_a_record_loses_is_bounded_and_not_by_more(share: float, target: str, cap: Fraction | None) -> None:
    """It grows with the weight: it is the target where that is the largest feasible one, and less at a smaller cap."""
    most = Fraction(target)
    loss = share * float(most)
    with mpmath.workdps(60):
        bound = real(fraction(Rule(most, cap).psi(between(loss / 2, loss), FINE)))
        if not loss:
            truth = mpmath.mpf(0)
        elif cap is None or largest_weight(loss, most) <= real(cap):
            truth = real(most)
        else:
            truth = mpmath.log1p(mpmath.expm1(loss * real(cap)) / real(cap))
        assert truth <= bound <= truth * (1 + mpmath.mpf(2) ** -80)


def test_targets_and_caps_lie_within_the_range_of_the_rule() -> None:
    least, most, cap = Fraction(1, 2**40), Fraction(1024), Fraction(2) ** 1022
    for target, largest, admitted in (
        (least, None, True),
        (least - Fraction(1, 2**80), None, False),
        (most, None, True),
        (most + least, None, False),
        (Fraction(1), cap, True),
        (Fraction(1), cap + Fraction(2) ** 970, False),
    ):
        inputs = {
            "loss": ["multiply", ["weight"], ["constant", str(Fraction(1, 2**41))]],
            "target": str(target),
            "largest_weight": None if largest is None else str(largest),
            "released_cost": "0",
            "samples": 1,
            "releases_on_a_sample": 1,
        }
        body = {"inputs": inputs, "sampler": {"options": {}}}
        if admitted:
            rule = constrained._read(body, Budget()).rule
            assert rule == Rule(target, largest)
            assert rule.psi(between(0.0, 0.0), FINE) == ZERO
            continue
        with pytest.raises(Refused, match="within"):
            constrained._read(body, Budget())


def test_sides_of_a_guess_are_tried_from_near_to_far() -> None:
    """On the side asked for alone, and of a guess that is no number above 0 none."""
    for side in (-1, 1):
        tried = [fraction(y) for y in feasible._beside(1.0, side)]
        distances = [side * (y - 1) for y in tried]
        assert distances == sorted(distances)
        assert 0 < distances[0] <= Fraction(1, 10**13)
        assert Fraction(1, 1000) <= distances[-1] < 1
    assert not [*feasible._beside(0.0, 1), *feasible._beside(-1.0, -1)]


@pytest.mark.parametrize("guess", [1e-300, 0.001, 0.5, 3.0, 1e300, -1.0])
def test_a_wrong_guess_costs_no_more_than_tightness(guess: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the bounds that are known beforehand stand: the loss, and 2·log(c/A)."""
    monkeypatch.setattr(feasible, "_solve", lambda ratio: guess)
    target, loss = Fraction(1), 0.01
    odds = FINE.expm1(FINE.rational(target))
    with mpmath.workdps(60):
        low, high = (real(fraction(end)) for end in feasible._root(exact(loss), odds, FINE))
        root = loss * largest_weight(loss, target)
        known = 2 * mpmath.log((mpmath.e - 1) / loss)
        assert low <= root <= high
        assert low == loss or 0 < guess < root
        assert abs(high / known - 1) < mpmath.mpf(2) ** -80 or guess > root
