"""Masses of the normal law in cells, against mpmath's distribution function."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from certdp.verification.checker.approximate.normal_cells import mass_beyond, mass_of_cell, moments_of_cells
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.verdict import Refused

FINE = Arithmetic(256)


@pytest.mark.parametrize("half", ["1/1000", "1/16", "1/2", "1"])
@pytest.mark.parametrize("centre", ["0", "1/3", "-2", "7", "16"])
def test_a_mass_is_enclosed_closely(centre: str, half: str) -> None:
    middle, width = Fraction(centre), Fraction(half)
    found = mass_of_cell(middle, width, moments_of_cells(width, FINE), FINE)
    with mpmath.workprec(1200):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in (middle - width, middle + width))
        true = (mpmath.erf(high / mpmath.sqrt(2)) - mpmath.erf(low / mpmath.sqrt(2))) / 2
        assert mpmath.mpf(found.lo) <= true <= mpmath.mpf(found.hi)
        assert mpmath.mpf(found.hi) - mpmath.mpf(found.lo) <= true * mpmath.mpf(2) ** -160


def test_cells_that_are_too_wide_are_refused() -> None:
    with pytest.raises(Refused, match="cells of the normal law are too wide"):
        mass_of_cell(Fraction(1000), Fraction(1), moments_of_cells(Fraction(1), FINE), FINE)


@pytest.mark.parametrize("start", ["1", "5", "16"])
def test_what_lies_beyond_is_bounded_from_above(start: str) -> None:
    found = mass_beyond(Fraction(start), FINE)
    with mpmath.workprec(600):
        true = mpmath.erfc(mpmath.mpf(int(start)) / mpmath.sqrt(2)) / 2
        assert true <= mpmath.mpf(found.hi) <= true * 2
