"""What divergences in closed form are of, and the ends of the normal distribution function."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

from certdp.verification.checker.approximate.divergences import delta_of_one, normal_cdf
from certdp.verification.checker.approximate.factors import DIRECTIONS, FAMILIES, GAUSSIAN, PURE, Factor
from certdp.verification.checker.intervals import INFINITY, MINUS_INFINITY, ONE, ZERO, Arithmetic, Interval
from certdp.verification.checker.verdict import Refused

FINE = Arithmetic(128)
HALF = Fraction(1, 2)
NOISE = Factor(GAUSSIAN, HALF, Fraction(1), 1, 1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rate", [HALF, Fraction(1)])
def test_several_releases_are_one_only_where_all_are_gaussian_without_sampling(family: str, rate: Fraction) -> None:
    other = Factor(family, HALF, rate, 1, 1)
    for factors in permutations([NOISE, NOISE, other]):
        for direction in DIRECTIONS:
            if family == GAUSSIAN and rate == 1:
                delta_of_one(factors, HALF, direction, FINE)
                continue
            with pytest.raises(Refused, match="one release"):
                delta_of_one(factors, HALF, direction, FINE)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("together", "samples"), [(1, 2), (2, 1), (2, 2)])
def test_releases_on_samples_are_one_only_where_their_law_is_known(family: str, together: int, samples: int) -> None:
    known = (family, samples) in ((GAUSSIAN, 1), (PURE, 1)) or (family, together) == (PURE, 1)
    for direction in DIRECTIONS:
        factor = Factor(family, HALF, Fraction(1, 3), together, samples)
        if known:
            delta_of_one([factor], HALF, direction, FINE)
            continue
        with pytest.raises(Refused):
            delta_of_one([factor], HALF, direction, FINE)


def test_the_normal_distribution_function_ends_at_0_and_1() -> None:
    for point, value in ((MINUS_INFINITY, ZERO), (INFINITY, ONE), (ZERO, FINE.rational(HALF).lo)):
        assert normal_cdf(Interval(point, point), FINE) == Interval(value, value)
    assert normal_cdf(Interval(MINUS_INFINITY, INFINITY), FINE) == Interval(ZERO, ONE)
