"""Finite pairs: their masses against integrals and binomials, and that they dominate by hardly more than they must."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import libmp, mp

from certdp.verification.checker.approximate.factors import (
    BOUNDED_RANGE,
    DISCRETE_LAPLACE,
    EXCHANGED,
    FAMILIES,
    GAUSSIAN,
    LAPLACE,
    PURE,
    RESPONSE_OF_MANY,
    TWO_RECORDS,
    ZERO_CONCENTRATED,
    Factor,
)
from certdp.verification.checker.approximate.finite import (
    MOST_CELLS,
    Outcome,
    exchanged,
    exchanged_loss,
    laplace,
    outcomes,
    outcomes_of,
    pure,
)
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.verdict import Refused
from certdp.verification.oracles.pairs import opposite_laplace_delta

FINE = Arithmetic(192)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def assert_enclosed(outcome: Outcome, mass: Any, loss: Any) -> None:
    low, high = (mp.make_mpf(value) for value in outcome.mass)
    assert low - mass * mpmath.mpf(2) ** -180 <= mass <= high + mass * mpmath.mpf(2) ** -180
    assert high - low <= mass * mpmath.mpf(2) ** -170
    for end in outcome.loss:
        assert abs(mp.make_mpf(end) - loss) < mpmath.mpf(2) ** -170 * (1 + abs(loss))


def test_responses_are_binomial() -> None:
    with mp.workprec(300):
        for k, loss in product((1, 2, 3, 9), (Fraction(1, 5), Fraction(3))):
            for rate in (Fraction(1), Fraction(1, 3)):
                found = outcomes(Factor(PURE, loss, rate, k, 1), 0, FINE)
                assert len(found) == k + 1
                truthful = 1 / (1 + mpmath.exp(-real(loss)))
                for j, outcome in enumerate(found):
                    absent = mpmath.binomial(k, j) * truthful ** (k - j) * (1 - truthful) ** j
                    ratio = 1 - real(rate) + real(rate) * mpmath.exp((2 * j - k) * real(loss))
                    assert_enclosed(outcome, absent, mpmath.log(ratio))


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
                (mp.make_mpf(mass.hi), mpmath.exp(mp.make_mpf(loss.hi)))
                for mass, loss in outcomes(Factor(LAPLACE, shift, Fraction(1), 1, 1), cells, FINE)
            ]
            for k in range(41):
                epsilon = real(shift) * k / 40
                exact = 1 - mpmath.exp((epsilon - real(shift)) / 2)
                spread = mpmath.fsum(mass * max(ratio - mpmath.exp(epsilon), 0) for mass, ratio in found)
                assert exact <= spread * (1 + mpmath.mpf(2) ** -150) <= exact + mpmath.mpf(near)


def test_losses_in_an_interval_are_noise_between_its_places() -> None:
    """Cell by cell, as above, of Laplace noise that is known to lie between both places."""
    with mp.workprec(300):
        for cells, length in product((1, 2, 5), (Fraction(1, 7), Fraction(4))):
            e = real(length)
            ends = [e * j / cells for j in range(cells + 1)]
            ratios, masses = [mpmath.exp(2 * y - e) for y in ends], [mpmath.mpf(0)] * (cells + 1)
            for j, (low, high) in enumerate(pairwise(ends)):
                absent = (mpmath.exp(-low) - mpmath.exp(-high)) / -mpmath.expm1(-e)
                present = (mpmath.exp(high - e) - mpmath.exp(low - e)) / -mpmath.expm1(-e)
                upper = (present - ratios[j] * absent) / (ratios[j + 1] - ratios[j])
                masses[j] += absent - upper
                masses[j + 1] += upper
            assert abs(mpmath.fsum(masses) - 1) < mpmath.mpf(2) ** -250
            found = outcomes(Factor(BOUNDED_RANGE, length, Fraction(1), 1, 1), cells, FINE)
            for outcome, mass, ratio in zip(found, masses, ratios, strict=True):
                assert_enclosed(outcome, mass, mpmath.log(ratio))


def test_no_losses_in_an_interval_are_easier_to_tell_and_some_are_as_easy() -> None:
    """Of both ends of an interval from t - e to t, for many t: the largest is that of the cells, but for a little."""
    with mp.workprec(200):
        for length in (Fraction(1, 3), Fraction(3)):
            e = real(length)
            cells = outcomes(Factor(BOUNDED_RANGE, length, Fraction(1), 1, 1), 64, FINE)
            found = [(mp.make_mpf(mass.hi), mpmath.exp(mp.make_mpf(loss.hi))) for mass, loss in cells]
            for k in range(21):
                growth = mpmath.exp(e * k / 20)
                worst = mpmath.mpf(0)
                for place in range(41):
                    top = e * place / 40
                    chance = (mpmath.exp(-top) - mpmath.exp(-e)) / -mpmath.expm1(-e)
                    worst = max(worst, chance * (mpmath.exp(top) - growth))
                spread = mpmath.fsum(mass * max(ratio - growth, 0) for mass, ratio in found)
                assert worst <= spread * (1 + mpmath.mpf(2) ** -150) <= worst + mpmath.mpf("0.001")


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(2, 3), Fraction(1)])
@pytest.mark.parametrize("loss", [Fraction(1, 5), Fraction(4)])
def test_the_pair_of_replaced_records_is_that_of_the_two_extreme_ratios_turned_round(
    loss: Fraction, rate: Fraction
) -> None:
    """Of 1,000 places u those before 1,000/(1 + e^e) have the high ratio, and their mirror images in the other law."""
    with mp.workprec(300):
        found = outcomes(Factor(EXCHANGED, loss, rate, 1, 1), 0, FINE)
        q, growth = real(rate), mpmath.exp(real(loss))
        high, low, rare = 1 - q + q * growth, 1 - q + q / growth, 1 / (1 + growth)
        assert abs(rare * high + (1 - rare) * low - 1) < mpmath.mpf(2) ** -250
        pairs = ((rare, high, low), (1 - 2 * rare, low, low), (rare, low, high))
        for outcome, (share, first, second) in zip(found, pairs, strict=True):
            assert_enclosed(outcome, share * second, mpmath.log(first / second))
        assert outcomes_of(Factor(EXCHANGED, loss, rate, 1, 1), 0) == 3
        assert abs(
            mp.make_mpf(exchanged_loss(Factor(EXCHANGED, loss, rate, 1, 1), FINE).hi) - mpmath.log(high / low)
        ) < (mpmath.mpf(2) ** -170)


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(2, 3), Fraction(1)])
@pytest.mark.parametrize("shift", [Fraction(1, 5), Fraction(4)])
def test_laplace_noise_about_a_replaced_record_is_spread_from_its_integral(shift: Fraction, rate: Fraction) -> None:
    """A law of two symmetric totals of 1, whose delta is above the integral by ever less the more cells there are."""
    factor = Factor(EXCHANGED, shift, rate, 1, 1, base=LAPLACE)
    epsilons = [shift * rate * k / 8 for k in range(1, 12)]
    exact = [real(opposite_laplace_delta(shift, rate, epsilon)) for epsilon in epsilons]
    with mp.workprec(200):
        gaps = []
        for cells in (8, 32):
            assert outcomes_of(factor, cells) == cells + 1
            found = [(mp.make_mpf(mass.hi), mp.make_mpf(loss.hi)) for mass, loss in outcomes(factor, cells, FINE)]
            for total in (mpmath.fsum(m for m, _ in found), mpmath.fsum(m * mpmath.exp(w) for m, w in found)):
                assert abs(total - 1) < mpmath.mpf(2) ** -150
            deltas = [
                mpmath.fsum(m * max(mpmath.exp(w) - mpmath.exp(real(epsilon)), 0) for m, w in found)
                for epsilon in epsilons
            ]
            assert all(delta >= one - mpmath.mpf(10) ** -12 for delta, one in zip(deltas, exact, strict=True))
            gaps.append(max(delta - one for delta, one in zip(deltas, exact, strict=True)))
        assert gaps[1] <= gaps[0] / 4 + mpmath.mpf(10) ** -12


def test_laplace_noise_on_no_cells_or_on_an_odd_number_counts_by_its_pure_loss() -> None:
    factor = Factor(EXCHANGED, Fraction(1), Fraction(1, 3), 1, 1, base=LAPLACE)
    assert exchanged(Factor(LAPLACE, Fraction(1), Fraction(1, 3), 1, 1)) == factor
    for cells in (0, 7):
        assert outcomes_of(factor, cells) == 3
        assert outcomes(factor, cells, FINE) == outcomes(factor._replace(base=""), cells, FINE)


@settings(max_examples=200)
@given(
    st.lists(st.fractions(0, 1, max_denominator=20), min_size=2, max_size=4),
    st.lists(st.fractions(0, 1, max_denominator=20), min_size=2, max_size=4),
    st.permutations(range(12)),
    st.fractions(0, 3, max_denominator=7),
)
def test_no_joint_law_of_two_records_loses_more(
    one: list[Fraction], other: list[Fraction], order: list[int], factor: Fraction
) -> None:
    """Ratios of two records between 1/3 and 3 with the mean 1, at outputs of M_S that are matched in any order."""
    q, growth = Fraction(2, 5), Fraction(3)
    laws = [_ratios(places, growth) for places in (one, other)]
    cells = 12
    spread = [[ratio for ratio in law for _ in range(cells // len(law))] for law in laws]
    first = [1 - q + q * ratio for ratio in spread[0]]
    second = [1 - q + q * spread[1][place] for place in order]
    for shift in range(cells):
        turned = second[shift:] + second[:shift]
        truth = sum((max(a - factor * b, Fraction(0)) for a, b in zip(first, turned, strict=True)), Fraction(0)) / cells
        high, low, rare = 1 - q + q * growth, 1 - q + q / growth, 1 / (1 + growth)
        pairs = ((rare, high, low), (1 - 2 * rare, low, low), (rare, low, high))
        assert truth <= sum(share * max(a - factor * b, Fraction(0)) for share, a, b in pairs)


def _ratios(places: list[Fraction], growth: Fraction) -> list[Fraction]:
    """Numbers from 1/growth to growth whose mean is 1: moved towards 1 until they are inside."""
    mean = sum(places, Fraction(0)) / len(places)
    moved = [place - mean for place in places]
    low, high = 1 / growth - 1, growth - 1
    scale = min([low / m if m < 0 else high / m for m in moved if m] + [Fraction(1)])
    return [1 + scale * m for m in moved]


def test_for_which_releases_a_finite_pair_is_known() -> None:
    known = {PURE: (1, 2, MOST_CELLS), LAPLACE: (1,), BOUNDED_RANGE: (1,)}
    for family, together, cells in product(FAMILIES, (1, 2, MOST_CELLS, MOST_CELLS + 1), (0, 1, 7)):
        factor = Factor(family, Fraction(1, 2), Fraction(1, 3), together, 5)
        if together in known.get(family, ()) and (family == PURE or cells):
            size = outcomes_of(factor, cells)
            assert size == (together if family == PURE else cells) + 1
            if size < 10:
                assert len(outcomes(factor, cells, FINE)) == size
            continue
        with pytest.raises(Refused, match=f"loss distribution of {family} releases"):
            outcomes_of(factor, cells)
    assert {GAUSSIAN, ZERO_CONCENTRATED} == set(FAMILIES) - known.keys()


def steps_apart(steps: int, unit: str, rate: str = "1") -> Factor:
    return Factor(DISCRETE_LAPLACE, steps * Fraction(unit), Fraction(rate), 1, 1, steps=steps)


def response(loss: str, categories: int, rate: str = "1") -> Factor:
    return Factor(RESPONSE_OF_MANY, Fraction(loss), Fraction(rate), 1, 1, categories=categories)


@pytest.mark.parametrize("rate", ["1", "1/3"])
@pytest.mark.parametrize(("steps", "unit"), [(1, "3/10"), (2, "5"), (7, "1/14")])
def test_discrete_noise_has_the_losses_of_its_lattice_points(steps: int, unit: str, rate: str) -> None:
    """Point by point, those beyond the places of both added up."""
    with mp.workprec(300):
        u, q = real(Fraction(unit)), real(Fraction(rate))
        share, reach = (1 - mpmath.exp(-u)) / (1 + mpmath.exp(-u)), int(260 / float(Fraction(unit)))
        masses = dict.fromkeys(range(-steps, steps + 1, 2), mpmath.mpf(0))
        for y in range(-reach, reach + steps + 1):
            masses[abs(y) - abs(y - steps)] += share * mpmath.exp(-u * abs(y))
        found = outcomes(steps_apart(steps, unit, rate), 0, FINE)
        assert len(found) == outcomes_of(steps_apart(steps, unit, rate), 0) == steps + 1
        for outcome, (moved, mass) in zip(found, masses.items(), strict=True):
            assert_enclosed(outcome, mass, mpmath.log(1 - q + q * mpmath.exp(u * moved)))


@pytest.mark.parametrize("rate", ["1", "1/3"])
@pytest.mark.parametrize(("loss", "categories"), [("1/5", 2), ("1", 3), ("4", 9), ("1/2", 2**53)])
def test_responses_over_many_categories_tell_one_of_two_or_any_of_the_rest(
    loss: str, categories: int, rate: str
) -> None:
    with mp.workprec(300):
        grown, q = mpmath.exp(real(Fraction(loss))), real(Fraction(rate))
        rare = 1 / (grown + categories - 1)
        found = outcomes(response(loss, categories, rate), 0, FINE)
        assert outcomes_of(response(loss, categories, rate), 0) == 3
        for outcome, mass, ratio in zip(
            found, (rare, (categories - 2) * rare, grown * rare), (grown, 1, 1 / grown), strict=True
        ):
            if mass:
                assert_enclosed(outcome, mass, mpmath.log(1 - q + q * ratio))
            else:
                assert outcome.mass.lo == outcome.mass.hi == libmp.fzero


@pytest.mark.parametrize("rate", ["1", "1/3"])
def test_two_records_lose_twice_as_much_nothing_or_the_opposite(rate: str) -> None:
    loss = Fraction(4, 5)
    with mp.workprec(300):
        growth, q = mpmath.exp(real(loss)), real(Fraction(rate))
        rare = 1 / (1 + growth)
        cases = ((rare / growth, growth**2), ((1 - 2 * rare) / growth, 1), (rare * growth, growth**-2))
        found = outcomes(Factor(TWO_RECORDS, loss, Fraction(rate), 1, 1), 0, FINE)
        for outcome, (mass, ratio) in zip(found, cases, strict=True):
            assert_enclosed(outcome, mass, mpmath.log(1 - q + q * ratio))


def divergence(found: list[Outcome], epsilon: Any) -> Any:
    """What the outcomes tell apart, from below."""
    told = (mp.make_mpf(mass.lo) * (mpmath.exp(mp.make_mpf(loss.lo)) - mpmath.exp(epsilon)) for mass, loss in found)
    return mpmath.fsum(max(part, 0) for part in told)


@pytest.mark.parametrize(
    "factor", [steps_apart(1, "3/10"), steps_apart(4, "2"), steps_apart(9, "1/9"), response("1", 3), response("3", 40)]
)
def test_what_dominates_finite_laws(factor: Factor) -> None:
    """At every eps, by closed forms: Laplace noise has 1 - e^((eps - s)/2), a response (e^s - e^eps)/(1 + e^s)."""
    noise, told = laplace(factor), pure(factor)
    assert (noise.family, told.family) == (LAPLACE if factor.steps else RESPONSE_OF_MANY, PURE)
    assert told.parameter == factor.parameter
    assert not factor.steps or (noise.steps, told.steps) == (0, 0)
    assert not factor.steps or noise.parameter == factor.parameter + (factor.parameter / factor.steps) ** 2 / 4
    with mp.workprec(300):
        s = real(factor.parameter)
        for k in range(60):
            epsilon = s * k / 59
            truth = divergence(outcomes(factor, 0, FINE), epsilon)
            assert truth <= (mpmath.exp(s) - mpmath.exp(epsilon)) / (1 + mpmath.exp(s)) + mpmath.mpf(2) ** -180
            if factor.steps:
                above = 1 - mpmath.exp((epsilon - real(noise.parameter)) / 2)
                assert truth <= above <= truth + (real(noise.parameter) - s) + real(factor.parameter) / factor.steps


def test_nothing_dominates_other_families_so() -> None:
    for family in (*FAMILIES, EXCHANGED):
        factor = Factor(family, Fraction(2), Fraction(1, 3), 2, 5)
        assert laplace(factor) == factor
        assert pure(factor) == (factor._replace(family=PURE) if family == BOUNDED_RANGE else factor)
    still = Factor(DISCRETE_LAPLACE, Fraction(0), Fraction(1, 3), 1, 5)
    assert laplace(still) == still


def test_finite_laws_of_several_releases_on_a_sample_and_of_very_many_steps_are_not_listed() -> None:
    most = steps_apart(MOST_CELLS, "1/100")
    assert outcomes_of(most, 0) == MOST_CELLS + 1
    for factor in (
        steps_apart(MOST_CELLS + 1, "1/100"),
        steps_apart(3, "1")._replace(together=2),
        response("1", 3)._replace(together=2),
    ):
        with pytest.raises(Refused, match=f"loss distribution of {factor.family} releases"):
            outcomes_of(factor, 7)


@pytest.mark.parametrize(("family", "together"), [(LAPLACE, 1), (LAPLACE, 3), (PURE, 1), (PURE, 3)])
def test_one_release_of_noise_alone_is_told_as_what_is_exchanged(family: str, together: int) -> None:
    """Then it is spread over cells; all else is three outcomes, of the pure loss of all releases."""
    one = Factor(family, Fraction(3, 4), Fraction(1, 3), together, 5)
    found, spread = exchanged(one), family == LAPLACE and together == 1
    assert found == one._replace(
        family=EXCHANGED, base=LAPLACE if spread else "", parameter=Fraction(3, 4) * together, together=1
    )
    counts = [outcomes_of(found, cells) for cells in (0, 1, 2, 3, 4)]
    assert counts == ([3, 3, 3, 3, 5] if spread else [3] * 5)
    assert len(outcomes(found, 4, FINE)) == counts[4]


def test_noise_that_is_not_discrete_stays_as_it_is() -> None:
    for family in (LAPLACE, PURE, GAUSSIAN):
        stated = Factor(family, Fraction(3, 4), Fraction(1, 3), 1, 5, steps=3)
        assert laplace(stated) == stated
    assert laplace(Factor(DISCRETE_LAPLACE, Fraction(3, 4), Fraction(1), 1, 5)).family == DISCRETE_LAPLACE
