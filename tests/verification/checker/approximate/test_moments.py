"""Log-moments of Gaussian noise on samples: the integral by mpmath, its chord, and which of them a budget allows."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from certdp.verification.checker.approximate import moments
from certdp.verification.checker.approximate.factors import (
    ADD,
    BOUNDED_RANGE,
    DIRECTIONS,
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    FAMILIES,
    GAUSSIAN,
    LAPLACE,
    PURE,
    REMOVE,
    RESPONSE_OF_MANY,
    ZERO_CONCENTRATED,
    Factor,
)
from certdp.verification.checker.approximate.moments import MOST_TERMS, Moments
from certdp.verification.checker.approximate.nodes import NODE, Tilt, grid_for
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import Arithmetic, upper_end

FINE = Arithmetic(192)
NOISE = Factor(GAUSSIAN, Fraction(3, 4), Fraction(1, 10), 1, 1)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


@cache
def moment(shift: Fraction, rate: Fraction, order: Fraction) -> Any:
    """log E_Q[(M/Q)^a] for remove, by a sum over close nodes, which errs by less than e^-100."""
    with mp.workprec(200):
        s, q, a = real(shift), real(rate), real(order)
        near = 24
        places = (mpmath.mpf(j) / near for j in range(-20 * near, (20 + int(order * shift)) * near))
        return mpmath.log(
            mpmath.fsum(mpmath.npdf(x) / near * (1 - q + q * mpmath.exp(s * (x - s / 2))) ** a for x in places)
        )


def upper(factor: Factor, order: Fraction, direction: str, budget: Budget | None = None) -> Any:
    return mp.make_mpf(Moments(FINE, budget).total([factor], order, direction).hi)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", ["3/2", "2", "7/3", "5", "61/8"])
@pytest.mark.parametrize(("shift", "rate"), [("1/2", "1/10"), ("2", "1/3"), ("1", "99/100")])
def test_gaussian_noise_on_samples_has_the_moment_of_its_integral(
    shift: str, rate: str, order: str, direction: str
) -> None:
    """Between whole orders as well; and for add no less, as remove dominates."""
    factor, alpha = Factor(GAUSSIAN, Fraction(shift), Fraction(rate), 1, 3), Fraction(order)
    truth = 3 * moment(factor.parameter, factor.rate, alpha)
    found = upper(factor, alpha, direction)
    assert truth * (1 - mpmath.mpf(2) ** -50) <= found <= truth * (1 + mpmath.mpf(10) ** -12)


def test_releases_on_one_sample_are_one_of_the_root_of_their_squares() -> None:
    """Rounded up by no more than 2^-79."""
    alpha = Fraction(7, 3)
    together = upper(NOISE._replace(together=4), alpha, REMOVE)
    one = upper(NOISE._replace(parameter=2 * NOISE.parameter), alpha, REMOVE)
    with mp.workprec(200):
        assert one <= together <= one * (1 + mpmath.mpf(2) ** -70)


def chord(order: Fraction) -> Any:
    below = int(order)
    share = real(order - below)
    ends = [moment(NOISE.parameter, NOISE.rate, Fraction(k)) if k > 1 else mpmath.mpf(0) for k in (below, below + 1)]
    return (1 - share) * ends[0] + share * ends[1]


@pytest.mark.parametrize("order", ["3/2", "7/3", "61/8"])
def test_a_chord_does_where_nodes_are_spent(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the grid has are enough; the second one of equal releases takes none."""
    alpha = Fraction(order)
    size = grid_for(NOISE.parameter, Tilt(REMOVE, alpha - 1, Fraction(0))).size
    exact = moment(NOISE.parameter, NOISE.rate, alpha)
    for nodes, truth in ((size, exact), (size - 1, chord(alpha))):
        monkeypatch.setattr(moments, "MOST_NODES", nodes)
        assert abs(upper(NOISE, alpha, REMOVE) / truth - 1) < mpmath.mpf(10) ** -12
    monkeypatch.setattr(moments, "MOST_NODES", size)
    both = Moments(FINE)
    first = both.total([NOISE], alpha, REMOVE)
    assert both.total([NOISE._replace(samples=2)], alpha, ADD).hi == FINE.add(first, first).hi
    other = mp.make_mpf(both.total([NOISE], alpha + 1, REMOVE).hi)
    assert abs(other / chord(alpha + 1) - 1) < mpmath.mpf(10) ** -12


@pytest.mark.parametrize(("shift", "order"), [("3/4", "7/3"), ("12", "3/2")])
def test_nodes_are_paid_for(shift: str, order: str) -> None:
    """As many as the real line needs: more would be needed off it."""
    alpha, budget = Fraction(order), Budget()
    before = budget.left
    upper(NOISE._replace(parameter=Fraction(shift)), alpha, REMOVE, budget)
    size = grid_for(Fraction(shift), Tilt(REMOVE, alpha - 1, Fraction(0))).size
    assert before - budget.left == 400_000 + NODE * size


@pytest.mark.parametrize(("order", "summed"), [("5", True), ("9/2", True), ("6", False), ("11/2", False)])
def test_a_sum_has_so_many_terms_at_most(order: str, summed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of both whole orders beside it together."""
    monkeypatch.setattr(moments, "MOST_TERMS", 10)
    alpha = Fraction(order)
    found = upper(Factor(ZERO_CONCENTRATED, Fraction(1, 2), Fraction(1, 10), 1, 1), alpha, REMOVE)
    whole = mpmath.log(1 + mpmath.expm1(real(alpha * (alpha - 1) / 2)) / 10)
    assert (found < whole * (1 - mpmath.mpf(10) ** -6)) == summed


WITH_A_PURE_LOSS = (LAPLACE, BOUNDED_RANGE)


@pytest.mark.parametrize("family", [family for family in (*FAMILIES, DISCRETE_GAUSSIAN) if family != PURE])
def test_beyond_so_many_terms_the_bound_for_every_order_stands(family: str) -> None:
    """log(1 - q + q·e^A), which is close to log q + A there; the sum lies below it."""
    factor = Factor(family, Fraction(1, 50), Fraction(1, 10), 1, 1)
    most = Fraction(MOST_TERMS, 2)
    budget = Budget()
    before = budget.left
    found = Moments(FINE, budget).total([factor], most + 1, REMOVE)
    assert before - budget.left == 400_000
    grown = FINE.expm1(Moments(FINE).total([factor._replace(rate=Fraction(1))], most + 1, REMOVE))
    expected = FINE.log1p(FINE.multiply(FINE.rational(factor.rate), grown))
    with mp.workprec(200):  # of such a loss the pure one after sampling says a little more, as randomised response
        loss, order = mpmath.log1p(real(factor.rate) * mpmath.expm1(real(factor.parameter))), real(most) + 1
        likely = 1 / (1 + mpmath.exp(-loss))
        pure = mpmath.log(likely**order * (1 - likely) ** (1 - order) + (1 - likely) ** order * likely ** (1 - order))
        shown = family in WITH_A_PURE_LOSS and pure < real(upper_end(expected))
        assert not shown or pure <= real(upper_end(found)) <= pure * (1 + mpmath.mpf(2) ** -100)
    assert shown == (family in WITH_A_PURE_LOSS)
    assert shown or found == expected


@pytest.mark.parametrize("order", ["9/8", "2", "4", "61/8", "40"])
@pytest.mark.parametrize(("rho", "rate"), [("1/2", "1/10"), ("1/100", "1/2"), ("3", "99/100"), ("1/2", "1/1000000000")])
def test_a_law_that_is_not_symmetric_costs_for_add_what_two_outcomes_show(rho: str, rate: str, order: str) -> None:
    """P = (1, 0) and Q = (k, 1 - k) with A(2) = -log k, or a mixture of both ends, whichever is less."""
    factor = Factor(ZERO_CONCENTRATED, Fraction(rho), Fraction(rate), 1, 1)
    with mp.workprec(300):
        found = upper(factor, Fraction(order), ADD)
        q, a, kept = real(factor.rate), real(Fraction(order)), mpmath.exp(-2 * real(factor.parameter))
        shown = mpmath.log(kept * (1 - q + q / kept) ** (1 - a) + (1 - kept) * (1 - q) ** (1 - a))
        mixed = mpmath.log(1 + q * mpmath.expm1(a * (a - 1) * real(factor.parameter)))
        truth = min(shown, mixed)
        assert truth * (1 - mpmath.mpf(2) ** -200) <= found <= truth * (1 + mpmath.mpf(10) ** -12)


@pytest.mark.parametrize("order", ["3/2", "2", "5", "61/8"])
@pytest.mark.parametrize(("shift", "rate"), [("1/2", "1/10"), ("2", "1/3"), ("1", "99/100")])
def test_gaussian_noise_costs_for_add_no_more_than_its_curve(shift: str, rate: str, order: str) -> None:
    """N(s, 1) has the curve of rho = s^2/2; its own moment for add is summed over close nodes."""
    factor = Factor(ZERO_CONCENTRATED, Fraction(shift) ** 2 / 2, Fraction(rate), 1, 1)
    with mp.workprec(200):
        s, q, a = real(Fraction(shift)), real(factor.rate), real(Fraction(order))
        places = (mpmath.mpf(j) / 24 for j in range(-40 * 24, 40 * 24))
        ratios = ((mpmath.npdf(x) / 24, 1 - q + q * mpmath.exp(s * (x - s / 2))) for x in places)
        truth = mpmath.log(mpmath.fsum(density * ratio ** (1 - a) for density, ratio in ratios))
    assert truth <= upper(factor, Fraction(order), ADD)


# Losses in an interval.

LENGTH = st.fractions(Fraction(1, 50), Fraction(6), max_denominator=50)
SHARE = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)


def two_outcomes(length: Any, top: Any) -> list[tuple[Any, Any]]:
    """Masses without the record and ratios of the pair with losses top and top - length."""
    chance = (mpmath.exp(-top) - mpmath.exp(-length)) / -mpmath.expm1(-length)
    return [(chance, mpmath.exp(top)), (1 - chance, mpmath.exp(top - length))]


@given(
    LENGTH, SHARE, st.sampled_from([Fraction(1, 10), Fraction(2, 3), Fraction(1)]), st.sampled_from(["3/2", "2", "5"])
)
@settings(max_examples=60)
def test_no_losses_in_an_interval_have_larger_moments(
    length: Fraction, at: Fraction, rate: Fraction, order: str
) -> None:
    """Wherever the interval lies, on samples, in both directions; these pairs are not symmetric."""
    a = Fraction(order)
    with mp.workprec(200):
        pair = two_outcomes(real(length), real(length) * real(at))
        mixed = [(mass, 1 - real(rate) + real(rate) * ratio) for mass, ratio in pair]
        for direction, power in ((REMOVE, real(a)), (ADD, 1 - real(a))):
            truth = mpmath.log(mpmath.fsum(mass * ratio**power for mass, ratio in mixed))
            found = upper(Factor(BOUNDED_RANGE, length, rate, 1, 1), a, direction)
            assert found >= truth - mpmath.mpf(2) ** -150
            both = Factor(BOUNDED_RANGE, length, rate, 2, 3)
            sampled_twice = [(m * n, 1 - real(rate) + real(rate) * r * s) for m, r in pair for n, s in pair]
            twice = 3 * mpmath.log(mpmath.fsum(mass * ratio**power for mass, ratio in sampled_twice))
            assert upper(both, a, direction) >= twice - mpmath.mpf(2) ** -150


@pytest.mark.parametrize("length", ["1/10", "2", "9"])
@pytest.mark.parametrize("order", ["5/4", "2", "40"])
def test_moments_of_losses_in_an_interval(length: str, order: str) -> None:
    """The smaller of a(a - 1)e²/8 and of the integral over the losses of the one pair that has the largest curve."""
    e, a = Fraction(length), Fraction(order)
    with mp.workprec(300):
        size, power = real(e), real(a)
        density = 2 * -mpmath.expm1(-size)
        integral = mpmath.quad(lambda x: mpmath.exp((power - 1) * x + (x - size) / 2) / density, [-size, 0, size])
        expected = min(mpmath.log(integral), power * (power - 1) * size**2 / 8)
        found = upper(Factor(BOUNDED_RANGE, e, Fraction(1), 1, 1), a, REMOVE)
        assert abs(found - expected) <= expected * mpmath.mpf(2) ** -60
        assert (mpmath.log(integral) < power * (power - 1) * size**2 / 8) == ((length, order) in LONG)


LONG = {("1/10", "40"), ("2", "40"), ("9", "2"), ("9", "40"), ("9", "5/4")}


# Finite laws.


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("order", ["3/2", "2", "5", "61/8"])
@pytest.mark.parametrize("rate", ["1", "1/10"])
def test_moments_of_finite_laws_are_the_sums_over_their_outputs(rate: str, order: str, direction: str) -> None:
    steps = Factor(DISCRETE_LAPLACE, Fraction(6, 5), Fraction(rate), 1, 4, steps=3)
    many = Factor(RESPONSE_OF_MANY, Fraction(3, 2), Fraction(rate), 1, 4, categories=5)
    alpha = Fraction(order)
    with mp.workprec(200):
        q, power = real(Fraction(rate)), real(alpha if direction == REMOVE else 1 - alpha)
        u, grown = mpmath.mpf(2) / 5, mpmath.exp(mpmath.mpf(3) / 2)
        places = range(-600, 601)
        of_steps = [
            (mpmath.tanh(u / 2) * mpmath.exp(-u * abs(y)), mpmath.exp(u * (abs(y) - abs(y - 3)))) for y in places
        ]
        of_many = [(1 / (grown + 4), grown), (3 / (grown + 4), 1), (grown / (grown + 4), 1 / grown)]
        for factor, law in ((steps, of_steps), (many, of_many)):
            truth = 4 * mpmath.log(mpmath.fsum(mass * (1 - q + q * ratio) ** power for mass, ratio in law))
            found = upper(factor, alpha, direction)
            assert truth * (1 - mpmath.mpf(2) ** -150) <= found <= truth * (1 + mpmath.mpf(2) ** -150)


def test_moments_of_finite_laws_cost_their_outcomes() -> None:
    for steps in (2, 1000):
        budget = Budget()
        before = budget.left
        factor = Factor(DISCRETE_LAPLACE, Fraction(1), Fraction(1), 1, 1, steps=steps)
        Moments(FINE, budget).total([factor], Fraction(2), REMOVE)
        assert before - budget.left == 400_000 + 120_000 * (steps + 1)
