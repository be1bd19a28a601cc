"""The clipped norms in a noisy sum: exactly the bound where it is a float, never above it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from certdp.dpis.norm_sums import noisy_norm_sum
from certdp.plugins.contract import Coins

TINY = Fraction(1, 2**80)


def summed(norms: list[float], bound: Fraction) -> float:
    """With noise that is below what a float near the sum can show."""
    return noisy_norm_sum(np.array(norms), bound=bound, rate=Fraction(1), scale=TINY, coins=Coins.seeded(1))


@pytest.mark.parametrize("bound", ["1", "3/2", "1/3", "2/3", "1/10", "7/10"])
def test_a_norm_counts_up_to_the_bound(bound: str) -> None:
    found = Fraction(summed([50.0], Fraction(bound)))
    nearest = Fraction(float(Fraction(bound)))
    assert found <= Fraction(bound)
    assert Fraction(bound) - found < Fraction(1, 2**53)
    assert (found == nearest) is (nearest <= Fraction(bound))


def test_what_is_no_number_counts_as_nothing() -> None:
    assert summed([0.25, float("nan"), float("inf"), 0.5], Fraction(1)) == 0.75
