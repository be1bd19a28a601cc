"""Finite pairs: their masses against integrals and binomials, and that they dominate by hardly more than they must."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import pytest
from mpmath import mp

from certdp.verification.checker.approximate.factors import FAMILIES, GAUSSIAN, LAPLACE, PURE, ZERO_CONCENTRATED, Factor
from certdp.verification.checker.approximate.finite import MOST_CELLS, Outcome, outcomes, outcomes_of
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.verdict import Refused

FINE = Arithmetic(192)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def assert_enclosed(outcome: Outcome, mass: Any, log_ratio: Any) -> None:
    low, high = (mp.make_mpf(value) for value in outcome.mass)
    assert low - mass * mpmath.mpf(2) ** -180 <= mass <= high + mass * mpmath.mpf(2) ** -180
    assert high - low <= mass * mpmath.mpf(2) ** -170
    assert abs(real(outcome.log_ratio) - log_ratio) < mpmath.mpf(2) ** -180


def test_responses_are_binomial() -> None:
    with mp.workprec(300):
        for k, loss in product((1, 2, 3, 9), (Fraction(1, 5), Fraction(3))):
            found = outcomes(Factor(PURE, loss, Fraction(1), k, 1), 0, FINE)
            assert len(found) == k + 1
            truthful = 1 / (1 + mpmath.exp(-real(loss)))
            for j, outcome in enumerate(found):
                absent = mpmath.binomial(k, j) * truthful ** (k - j) * (1 - truthful) ** j
                assert_enclosed(outcome, absent, (2 * j - k) * real(loss))


def test_noise_is_moved_to_the_ends_of_its_cells_with_the_masses_that_it_had() -> None:
    """Cell by cell: two ends that have its masses with and without the record, added up."""
    with mp.workprec(300):
        for cells, shift in product((1, 2, 5), (Fraction(1, 7), Fraction(4))):
            s = real(shift)
            ends = [s * j / cells for j in range(cells + 1)]
            ratios = [mpmath.exp(2 * y - s) for y in ends]
            masses = [mpmath.mpf(0)] * (cells + 1)
            masses[0], masses[-1] = mpmath.mpf(1) / 2, mpmath.exp(-s) / 2
            for j, (low, high) in enumerate(pairwise(ends)):
                absent = (mpmath.exp(-low) - mpmath.exp(-high)) / 2
                present = (mpmath.exp(high - s) - mpmath.exp(low - s)) / 2
                upper = (present - ratios[j] * absent) / (ratios[j + 1] - ratios[j])
                masses[j] += absent - upper
                masses[j + 1] += upper
            found = outcomes(Factor(LAPLACE, shift, Fraction(1), 1, 1), cells, FINE)
            assert len(found) == cells + 1
            for outcome, mass, ratio in zip(found, masses, ratios, strict=True):
                assert_enclosed(outcome, mass, mpmath.log(ratio))


def test_the_pair_of_noise_dominates_and_is_near() -> None:
    """Its hockey-stick divergence is that of the noise, 1 - e^((ε - s)/2), or above it by little."""
    shift = Fraction(3, 2)
    with mp.workprec(300):
        for cells, near in ((4, "0.02"), (64, "0.0001")):
            found = [
                (mp.make_mpf(mass.hi), mpmath.exp(real(ratio)))
                for mass, ratio in outcomes(Factor(LAPLACE, shift, Fraction(1), 1, 1), cells, FINE)
            ]
            for k in range(41):
                epsilon = real(shift) * k / 40
                exact = 1 - mpmath.exp((epsilon - real(shift)) / 2)
                spread = mpmath.fsum(mass * max(ratio - mpmath.exp(epsilon), 0) for mass, ratio in found)
                assert exact <= spread * (1 + mpmath.mpf(2) ** -150) <= exact + mpmath.mpf(near)


def test_for_which_releases_a_finite_pair_is_known() -> None:
    known = {PURE: (1, 2, MOST_CELLS), LAPLACE: (1,)}
    for family, together, cells in product(FAMILIES, (1, 2, MOST_CELLS, MOST_CELLS + 1), (0, 1, 7)):
        factor = Factor(family, Fraction(1, 2), Fraction(1, 3), together, 5)
        if together in known.get(family, ()) and (family == PURE or cells):
            size = outcomes_of(factor, cells)
            assert size == (cells if family == LAPLACE else together) + 1
            if size < 10:
                assert len(outcomes(factor, cells, FINE)) == size
            continue
        with pytest.raises(Refused, match=f"loss distribution of {family} releases"):
            outcomes_of(factor, cells)
    assert {GAUSSIAN, ZERO_CONCENTRATED} == set(FAMILIES) - known.keys()
