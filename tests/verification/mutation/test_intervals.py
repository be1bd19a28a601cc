"""What a sample says of all is held against the laws of draws, summed exactly."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from certdp.verification.mutation.intervals import Stratum, of_a_sample, of_strata

SURE = Fraction(95, 100)


def drawn(noticed: int, mutants: int, run: int, found: int) -> Fraction:
    """How likely it is that among `run` drawn without replacement `found` are noticed."""
    return Fraction(comb(noticed, found) * comb(mutants - noticed, run - found), comb(mutants, run))


@pytest.mark.parametrize(("mutants", "run"), [(9, 8), (20, 8), (100, 8), (40, 20)])
def test_an_interval_holds_the_share_of_a_module(mutants: int, run: int) -> None:
    intervals = [of_a_sample(found, run) for found in range(run + 1)]
    for noticed in range(mutants + 1):
        holding = sum(
            (
                drawn(noticed, mutants, run, found)
                for found, (lower, upper) in enumerate(intervals)
                if lower <= noticed / mutants <= upper
            ),
            Fraction(0),
        )
        assert holding >= SURE


def test_the_ends_are_those_of_the_binomial_law() -> None:
    lower, upper = of_a_sample(6, 8)
    assert sum(comb(8, k) * lower**k * (1 - lower) ** (8 - k) for k in range(6, 9)) == pytest.approx(0.025)
    assert sum(comb(8, k) * upper**k * (1 - upper) ** (8 - k) for k in range(7)) == pytest.approx(0.025)
    assert of_a_sample(0, 8).lower == 0
    assert of_a_sample(8, 8).upper == 1


def test_an_interval_holds_the_share_of_two_modules() -> None:
    sizes, run = (12, 30), 6
    for noticed in ((12, 30), (11, 15), (3, 28), (0, 0), (6, 20)):
        holding = Fraction(0)
        for first in range(run + 1):
            for second in range(run + 1):
                _, (lower, upper) = of_strata([Stratum(sizes[0], run, first), Stratum(sizes[1], run, second)])
                if lower <= sum(noticed) / sum(sizes) <= upper:
                    chance = drawn(noticed[0], sizes[0], run, first) * drawn(noticed[1], sizes[1], run, second)
                    holding += chance
        assert holding >= SURE


def test_modules_that_were_run_whole_are_known() -> None:
    share, interval = of_strata([Stratum(30, 30, 27), Stratum(10, 10, 10)])
    assert share == interval.lower == interval.upper == 37 / 40
