"""One place that changes hands: masses against quadrature, both orders, and bounds that are hardly too large."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from mpmath import mp

from certdp.verification.checker.approximate import symmetrised
from certdp.verification.checker.approximate.factors import GAUSSIAN, LAPLACE, PURE, SYMMETRISED, TWO_RECORDS, Factor
from certdp.verification.checker.approximate.normal_cells import mass_of_cell
from certdp.verification.checker.approximate.symmetrised import (
    REACH,
    lost_beyond,
    price_of_symmetrised,
    symmetrised_outcomes,
)
from certdp.verification.checker.intervals import Arithmetic, Interval
from certdp.verification.checker.verdict import Refused

FINE = Arithmetic(256)


def factor(family: str, parameter: Fraction, rate: Fraction, together: int = 1) -> Factor:
    return Factor(SYMMETRISED, parameter, rate, together, 1, base=family)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def middle(found: Interval) -> Any:
    low, high = (mp.make_mpf(end) for end in found)
    assert high - low < mpmath.mpf(2) ** -120
    return (low + high) / 2


def outcomes_of(of: Factor, cells: int) -> list[tuple[Any, Any]]:
    return [(middle(mass), middle(loss)) for mass, loss in symmetrised_outcomes(of, cells, FINE)]


CASES = [
    factor(GAUSSIAN, Fraction(2), Fraction(1, 100)),
    factor(GAUSSIAN, Fraction(1, 3), Fraction(1, 2), together=3),
    factor(GAUSSIAN, Fraction(5), Fraction(1)),
    factor(LAPLACE, Fraction(3, 2), Fraction(1, 10)),
    factor(PURE, Fraction(2), Fraction(1, 3)),
    factor(PURE, Fraction(1, 2), Fraction(1, 4), together=4),
    factor(TWO_RECORDS, Fraction(1, 3), Fraction(1, 5)),
]


@pytest.mark.parametrize("of", CASES, ids=str)
def test_it_is_its_own_mirror_image_with_mass_one(of: Factor) -> None:
    with mpmath.workprec(300):
        found = outcomes_of(of, 64)
        assert abs(sum(mass for mass, _ in found) - 1) < mpmath.mpf(2) ** -110
        by_loss = sorted((loss, mass) for mass, loss in found)
        for (loss, mass), (opposite, mirrored) in zip(by_loss, reversed(by_loss), strict=True):
            assert abs(loss + opposite) < mpmath.mpf(2) ** -110
            assert abs(mass * mpmath.exp(loss) - mirrored) < mpmath.mpf(2) ** -110


def divergence(of: Factor, gamma: Any) -> Any:
    """E(A − γ)⁺ of the pair itself on a sample, by quadrature."""
    rate, total = real(of.rate), mpmath.mpf(0)
    if of.base == GAUSSIAN:
        s = real(of.parameter) * mpmath.sqrt(of.together)
        start = mpmath.log((gamma - 1 + rate) / rate) / s + s / 2
        ends = [start + (20 + s - start) * k / 40 for k in range(41)]
        return mpmath.quad(lambda x: mpmath.npdf(x) * (1 - rate - gamma) + rate * mpmath.npdf(x, s), ends)
    if of.base == LAPLACE:
        s = real(of.parameter)
        return rate * max(1 - mpmath.exp((mpmath.log((gamma - 1 + rate) / rate) - s) / 2), 0)
    if of.base == TWO_RECORDS:
        e = real(of.parameter)
        ratio = 1 - rate + rate * mpmath.exp(2 * e)
        return max(ratio - gamma, 0) * mpmath.exp(-e) / (1 + mpmath.exp(e))
    for j in range(of.together + 1):
        without = mpmath.binomial(of.together, j) * mpmath.exp(-j * real(of.parameter))
        without /= (1 + mpmath.exp(-real(of.parameter))) ** of.together
        ratio = 1 - rate + rate * mpmath.exp((2 * j - of.together) * real(of.parameter))
        total += without * max(ratio - gamma, 0)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("of", CASES, ids=str)
def test_it_bounds_both_orders_and_is_near(of: Factor) -> None:
    """γ from 1 on as the sampled pair, below 1 as its mirror image."""
    with mpmath.workprec(200):
        coarse, fine = ([(m, mpmath.exp(loss)) for m, loss in outcomes_of(of, cells)] for cells in (64, 1024))
        lost = mp.make_mpf(lost_beyond(of, FINE).hi) * real(of.rate)
        for level in ("0", "1/50", "1/3", "1"):
            gamma = mpmath.exp(real(Fraction(level)))
            truth = divergence(of, gamma)
            for at, exact in ((gamma, truth), (1 / gamma, 1 - 1 / gamma + truth / gamma)):
                rough, sharp = (sum(mass * max(r - at, 0) for mass, r in found) for found in (coarse, fine))
                for bound in (rough, sharp):
                    assert bound + lost >= exact - mpmath.mpf(10) ** -30
                assert sharp <= rough + mpmath.mpf(10) ** -30
                assert sharp <= exact + (exact + mpmath.mpf(10) ** -30) * mpmath.mpf("0.01")


@pytest.mark.parametrize(("shift", "half"), [(Fraction(1), 1), (Fraction(16), 8)])
def test_cells_of_normal_noise_keep_the_masses_that_they_have(shift: Fraction, half: int) -> None:
    """Cell by cell, against mpmath's normal distribution; at the largest shift the cells are wide."""
    cells = 64
    with mpmath.workprec(400):
        s, reach = real(shift), mpmath.mpf(REACH + half)
        assert REACH == 16
        places = [reach * j / 32 for j in range(33)]
        masses = [mpmath.mpf(0)] * 33
        for j in range(32):
            a = mpmath.ncdf(-(places[j] + s / 2)) - mpmath.ncdf(-(places[j + 1] + s / 2))
            b = mpmath.ncdf(-(places[j] - s / 2)) - mpmath.ncdf(-(places[j + 1] - s / 2))
            low, high = mpmath.exp(s * places[j]), mpmath.exp(s * places[j + 1])
            upper = (b - a * low) / (high - low)
            masses[j] += a - upper
            masses[j + 1] += upper
        found = symmetrised_outcomes(factor(GAUSSIAN, shift, Fraction(1, 7)), cells, FINE)
        assert len(found) == 2 * 32 + 1
        for j in range(1, 33):
            outcome = found[2 * (j - 1)]
            low, high = (mp.make_mpf(end) for end in outcome.mass)
            beyond = mpmath.ncdf(-(reach + s / 2)) if j == 32 else 0
            assert low <= (masses[j] + beyond) * (1 + mpmath.mpf(2) ** -150)
            assert masses[j] + beyond <= high * (1 + mpmath.mpf(2) ** -150)
            if j < 32:
                assert high - low <= masses[j] * mpmath.mpf(2) ** -120
            ratio = 1 + (mpmath.exp(s * places[j]) - 1) / 7
            assert abs(middle(outcome.loss) - mpmath.log(ratio)) < mpmath.mpf(2) ** -200


def test_what_lies_at_infinity_is_counted() -> None:
    with mpmath.workprec(200):
        most = mp.make_mpf(lost_beyond(CASES[0], FINE).hi)
        assert mpmath.ncdf(-REACH) <= most <= mpmath.ncdf(-REACH) * mpmath.mpf("1.01")
    assert mp.make_mpf(lost_beyond(CASES[3], FINE).hi) == 0


@pytest.mark.parametrize(("shift", "cells"), [(17, 64), (1, 30), (1, 65), (1, 0)])
def test_shifts_and_cells_beyond_the_proof_are_refused(shift: int, cells: int) -> None:
    with pytest.raises(Refused, match="are not known to the checker where a place changes hands"):
        symmetrised_outcomes(factor(GAUSSIAN, Fraction(shift), Fraction(1, 2)), cells, FINE)
    assert len(symmetrised_outcomes(factor(GAUSSIAN, Fraction(1, 2), Fraction(1, 2)), 32, FINE)) == 33


@pytest.mark.parametrize(
    "of", [factor(LAPLACE, Fraction(1), Fraction(1, 2), together=2), factor(PURE, Fraction(1), Fraction(1, 2), 5000)]
)
def test_releases_without_a_finite_pair_are_refused(of: Factor) -> None:
    with pytest.raises(Refused, match="is not known to the checker"):
        symmetrised_outcomes(of, 64, FINE)


def test_more_cells_and_more_releases_take_more_of_a_budget() -> None:
    for cells, together in ((32, 1), (4096, 1), (32, 1000)):
        price = price_of_symmetrised(CASES[0]._replace(together=together), cells)
        assert price == 40_000_000 + 60_000 * (cells + together)


def test_cells_of_normal_noise_lie_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of both laws, from their middle on; the width also tells when a series may end."""
    seen: list[tuple[Fraction, Fraction]] = []

    def watched(centre: Fraction, half: Fraction, moments: list[Interval], arithmetic: Arithmetic) -> Interval:
        seen.append((centre - half, centre + half))
        return mass_of_cell(centre, half, moments, arithmetic)

    monkeypatch.setattr(symmetrised, "mass_of_cell", watched)
    symmetrised_outcomes(factor(GAUSSIAN, Fraction(5, 7), Fraction(1, 3)), 34, FINE)
    for moved, cells in ((Fraction(5, 14), seen[::2]), (Fraction(-5, 14), seen[1::2])):
        assert [low for low, _ in cells] == [moved + Fraction(j, 1) for j in range(17)]
        assert [high for _, high in cells] == [moved + Fraction(j + 1, 1) for j in range(17)]
