"""What rows add to sums: never more than 1, whatever they hold; and without noise the statistic comes out."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.queries.columns import Column
from certdp.queries.noise import LaplaceNoise
from certdp.queries.row_sums import FINEST, Averaged, Counted, Spread, Statistic, Summed
from tests.support.cases import examples

NOTHING = LaplaceNoise(Fraction(1, 2**200), FINEST)


def statistics(low: float, high: float) -> list[Statistic]:
    return [Counted(), Summed(low, high), Averaged(low, high), Spread(low, high), Spread(low, high, root=True)]


anything = st.one_of(
    st.floats(allow_nan=False), st.sampled_from([-math.inf, math.inf, 0.0, -0.0, 5e-324, 1.7976931348623157e308])
)


nearly_one = st.builds(lambda k, step: Fraction(k) + Fraction(step, 2**60), st.integers(-3, 3), st.integers(0, 2**9))
bounds = st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(Fraction), st.fractions(), nearly_one)


@examples(300)
@given(numbers=st.lists(anything, min_size=1, max_size=20), ends=st.tuples(bounds, bounds))
@example(numbers=[1.0], ends=(Fraction(1), 1 + Fraction(1, 2**60)))
@example(numbers=[1.0], ends=(Fraction(0), Fraction(1, 10**400)))
@example(numbers=[1.7e308], ends=(Fraction(-1.7e308), Fraction(1.7e308)))
@example(numbers=[1.7e308, -1.7e308], ends=(Fraction(-(2**500)), Fraction(2**500)))
@example(numbers=[5e-324], ends=(Fraction(-5e-324), Fraction(5e-324)))
def test_no_row_adds_more_than_its_share(numbers: list[float], ends: tuple[Fraction, Fraction]) -> None:
    """Whatever bounds a column may have: a share of a range that is nothing or beyond binary64 would be no number."""
    try:
        low, high = map(float, Column("x", *sorted(ends)).bounds)
    except InvalidValue:
        return
    for statistic in statistics(low, high):
        for units in (1, 2, 2**17, 2**30):
            entries = statistic.entries(np.array(numbers), units)
            assert entries.shape == (len(numbers), statistic.width)
            assert (np.abs(entries).sum(axis=1) <= units).all()
            for number, row in zip(numbers, entries, strict=True):  # each row for itself
                assert (statistic.entries(np.array([number]), units) == row).all()


@examples(100)
@given(numbers=st.lists(st.floats(-2, 9), min_size=2, max_size=50))
def test_without_noise_the_statistic_comes_out(numbers: list[float]) -> None:
    """Up to the rounding of each number to 2^-30 of the bounds."""
    held = np.clip(np.array(numbers), -1, 7)
    wanted = {
        "Counted": len(numbers),
        "Summed": held.sum(),
        "Averaged": held.mean(),
        "Spread": held.var(),
    }
    for statistic in statistics(-1.0, 7.0):
        sums = statistic.entries(np.array(numbers), 2**30).sum(axis=0) / 2**30
        value, low, high = statistic.estimate(sums, NOTHING, 0.95)
        true = wanted[type(statistic).__name__]
        if getattr(statistic, "root", False):
            assert value**2 == pytest.approx(true, abs=1e-6)
        else:
            assert value == pytest.approx(true, abs=1e-6)
        assert low - 1e-6 <= value <= high + 1e-6
        assert getattr(statistic, "root", False) or high - low < 1e-6


@pytest.mark.parametrize("sums", [(0.0, 0.0, 0.0), (-3.0, -1.0, -2.0), (1e-300, 0.0, 0.0), (5.0, -9.0, 2.0)])
def test_sums_that_are_mostly_noise_give_what_the_bounds_allow(sums: tuple[float, ...]) -> None:
    for statistic in (Averaged(2.0, 6.0), Spread(2.0, 6.0), Spread(2.0, 6.0, root=True)):
        noisy = np.array(sums[: statistic.width])
        value, low, high = statistic.estimate(noisy, LaplaceNoise(Fraction(3), FINEST), 0.9)
        least, most = (2.0, 6.0) if statistic.width == 2 else (0.0, 4.0)
        assert least <= low <= high <= most
        assert least <= value <= most
