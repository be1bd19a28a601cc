"""What divergences in closed form are of, and the ends of the normal distribution function."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import flint
import mpmath
import pytest
from mpmath import libmp, mp

from certdp.verification.checker.approximate.divergences import delta_of_one, normal_cdf, pi, pi_between, pure_loss
from certdp.verification.checker.approximate.factors import (
    ADD,
    BOUNDED_RANGE,
    DIRECTIONS,
    DISCRETE_LAPLACE,
    FAMILIES,
    GAUSSIAN,
    LAPLACE,
    PURE,
    REMOVE,
    RESPONSE_OF_MANY,
    TWO_RECORDS,
    Factor,
)
from certdp.verification.checker.intervals import INFINITY, MINUS_INFINITY, ONE, ZERO, Arithmetic, Interval
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of

FINE = Arithmetic(128)
HALF = Fraction(1, 2)
NOISE = Factor(GAUSSIAN, HALF, Fraction(1), 1, 1)


def real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def end(value: Any) -> Any:
    return mp.make_mpf(value)


def assert_encloses(found: Interval, truth: Any) -> None:
    """As it does with all but some thirty of its bits."""
    near = mpmath.mpf(2) ** -96
    assert end(found.lo) - near * truth <= truth <= end(found.hi) + near * truth
    assert end(found.hi) - end(found.lo) <= near * (1 + abs(truth))


def laplace_cdf(x: Any) -> Any:
    return mpmath.exp(x) / 2 if x < 0 else 1 - mpmath.exp(-x) / 2


def delta_of_noise(family: str, s: Any, q: Any, epsilon: Any, direction: str) -> Any:
    """By the place from which on outputs are told apart, as the ratio of the densities only grows.

    That is, where the record's density is `odds` times the other one.
    """
    cdf = mpmath.ncdf if family == GAUSSIAN else laplace_cdf
    odds = 1 + mpmath.expm1(epsilon if direction == REMOVE else -epsilon) / q
    if odds <= 0 or (family == LAPLACE and abs(mpmath.log(odds)) >= s):
        return mpmath.mpf(0)
    place = mpmath.log(odds) / s + s / 2 if family == GAUSSIAN else (mpmath.log(odds) + s) / 2
    side = -1 if direction == REMOVE else 1  # outputs above the place speak for the record, those below against it
    without, drawn = cdf(side * place), cdf(side * (place - s))
    mixed = (1 - q) * without + q * drawn
    grown = mpmath.exp(epsilon)
    return mixed - grown * without if direction == REMOVE else without - grown * mixed


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", ["1", "1/3", "1/100"])
@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE])
def test_the_divergence_of_noise_on_a_sample(family: str, rate: str, direction: str) -> None:
    for parameter, epsilon in product(("1/5", "2", "7"), ("0", "1/1000", "1/4", "3")):
        factor = Factor(family, Fraction(parameter), Fraction(rate), 1, 1)
        with mp.workprec(900):
            truth = delta_of_noise(
                family, real(factor.parameter), real(factor.rate), real(Fraction(epsilon)), direction
            )
            assert_encloses(delta_of_one([factor], Fraction(epsilon), direction, FINE), truth)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_gaussian_releases_are_one_with_the_root_of_the_summed_squares(direction: str) -> None:
    on_a_sample = Factor(GAUSSIAN, Fraction(2, 5), Fraction(1, 3), 6, 1)
    apart = [Factor(GAUSSIAN, Fraction(3, 5), Fraction(1), 2, 3), Factor(GAUSSIAN, Fraction(2), Fraction(1), 1, 1)]
    with mp.workprec(900):
        for factors, square, rate in ((apart, "154/25", 1), ([on_a_sample], "24/25", mpmath.mpf(1) / 3)):
            truth = delta_of_noise(GAUSSIAN, mpmath.sqrt(real(Fraction(square))), rate, mpmath.mpf(3) / 4, direction)
            assert_encloses(delta_of_one(factors, Fraction(3, 4), direction, FINE), truth)


def outputs(factor: Factor) -> Iterable[tuple[Any, Any]]:
    """Probabilities of each sequence of answers about one sample after the other, with the record and without it."""
    q, truthful = real(factor.rate), 1 / (1 + mpmath.exp(-real(factor.parameter)))
    for told in product((True, False), repeat=factor.together * factor.samples):
        present = absent = mpmath.mpf(1)
        for k in range(factor.samples):
            answers = told[k * factor.together : (k + 1) * factor.together]
            drawn = mpmath.fprod(truthful if answer else 1 - truthful for answer in answers)
            other = mpmath.fprod(1 - truthful if answer else truthful for answer in answers)
            present, absent = present * ((1 - q) * other + q * drawn), absent * other
        yield present, absent


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", ["1", "1/3", "1/100"])
@pytest.mark.parametrize(("together", "samples"), [(1, 1), (1, 4), (4, 1)])
def test_the_divergence_of_responses_is_the_sum_over_their_outputs(
    together: int, samples: int, rate: str, direction: str
) -> None:
    for parameter, epsilon in product(("1/5", "2"), ("0", "1/10", "1", "4")):
        factor = Factor(PURE, Fraction(parameter), Fraction(rate), together, samples)
        with mp.workprec(900):
            grown = mpmath.exp(real(Fraction(epsilon)))
            pairs = (pair if direction == REMOVE else pair[::-1] for pair in outputs(factor))
            truth = mpmath.fsum(max(first - grown * second, 0) for first, second in pairs)
            assert_encloses(delta_of_one([factor], Fraction(epsilon), direction, FINE), truth)


def laws(factor: Factor) -> Iterable[tuple[Any, Any]]:
    """Probabilities of each output with the record, where it is drawn for certain, and without it."""
    loss = real(factor.parameter)
    if factor.family == DISCRETE_LAPLACE:
        u = loss / factor.steps
        share, reach = (1 - mpmath.exp(-u)) / (1 + mpmath.exp(-u)), int(110 / u) + 1
        for y in range(-reach, reach + factor.steps + 1):
            yield share * mpmath.exp(-u * abs(y - factor.steps)), share * mpmath.exp(-u * abs(y))
        return
    if factor.family == TWO_RECORDS:  # one has the ratio e^e where the other has e^-e
        rare = 1 / (1 + mpmath.exp(loss))
        shares = rare, 1 - 2 * rare, rare
        ratios = mpmath.exp(loss), mpmath.exp(-loss), mpmath.exp(-loss)
        yield from ((share * a, share * b) for share, a, b in zip(shares, ratios, ratios[::-1], strict=True))
        return
    rare = 1 / (mpmath.exp(loss) + factor.categories - 1)
    often = mpmath.exp(loss) * rare
    yield from ((often, rare), (rare, often), *[(rare, rare)] * (factor.categories - 2))


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", ["1", "1/3", "1/100"])
@pytest.mark.parametrize(
    "factor",
    [
        Factor(DISCRETE_LAPLACE, Fraction(6, 5), Fraction(1), 1, 1, steps=3),
        Factor(DISCRETE_LAPLACE, Fraction(4), Fraction(1), 1, 1, steps=2),
        Factor(RESPONSE_OF_MANY, Fraction(3, 2), Fraction(1), 1, 1, categories=3),
        Factor(RESPONSE_OF_MANY, Fraction(4), Fraction(1), 1, 1, categories=7),
        Factor(TWO_RECORDS, Fraction(4, 5), Fraction(1), 1, 1),
    ],
)
def test_the_divergence_of_finite_laws_is_the_sum_over_their_outputs(factor: Factor, rate: str, direction: str) -> None:
    factor = factor._replace(rate=Fraction(rate))
    for epsilon in ("0", "1/10", "1", "39/10"):
        with mp.workprec(200):
            q, grown = real(factor.rate), mpmath.exp(real(Fraction(epsilon)))
            pairs = [((1 - q) * absent + q * present, absent) for present, absent in laws(factor)]
            ordered = [pair if direction == REMOVE else pair[::-1] for pair in pairs]
            truth = mpmath.fsum(max(first - grown * second, 0) for first, second in ordered)
            assert_encloses(delta_of_one([factor], Fraction(epsilon), direction, FINE), truth)
        for several in (factor._replace(samples=2), factor._replace(together=2)):
            with pytest.raises(Refused, match="one release"):
                delta_of_one([several], Fraction(epsilon), direction, FINE)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", ["1", "1/3", "1/100"])
def test_the_divergence_of_losses_in_an_interval_is_the_largest_over_where_it_lies(rate: str, direction: str) -> None:
    """Of both ends alone, on a sample; the place t of the upper one is (e + g)/2, g being what is told apart drawn."""
    for parameter, epsilon in product(("1/5", "2"), ("0", "1/1000", "1/10", "1", "4")):
        factor = Factor(BOUNDED_RANGE, Fraction(parameter), Fraction(rate), 1, 1)
        with mp.workprec(900):
            q = real(factor.rate)
            e, growth = real(factor.parameter), mpmath.exp(real(Fraction(epsilon)))
            truth: Any = mpmath.mpf(0)
            before = 1 + (growth - 1) / q if direction == REMOVE else (1 - (1 - 1 / growth) / q)
            level = mpmath.log(before) if before > 0 else mpmath.inf
            for top in [e * j / 16 for j in range(17)] + ([(e + level) / 2] if abs(level) < e else []):
                chance = (mpmath.exp(-top) - mpmath.exp(-e)) / -mpmath.expm1(-e)
                pairs = [(chance, mpmath.exp(top)), (1 - chance, mpmath.exp(top - e))]
                mixed = [(mass, (1 - q) * mass + q * mass * ratio) for mass, ratio in pairs]
                ways = [(p, m) if direction == REMOVE else (m, p) for m, p in mixed]
                truth = max(truth, mpmath.fsum(max(p - growth * m, 0) for p, m in ways))
            truth = truth if truth > mpmath.mpf(2) ** -800 else mpmath.mpf(0)  # what is left of 0 by rounding
            assert_encloses(delta_of_one([factor], Fraction(epsilon), direction, FINE), truth)


@pytest.mark.parametrize("family", [LAPLACE, PURE, BOUNDED_RANGE])
def test_pure_losses_on_samples_add_up(family: str) -> None:
    """Theorem 6: log(1 + q(e^ε - 1)) for remove and -log(1 - q(1 - e^-ε)) for add."""
    factors = [Factor(family, HALF, Fraction(1, 3), 3, 4), Factor(family, Fraction(2), Fraction(1), 1, 2)]
    with mp.workprec(900):
        third, grown = mpmath.mpf(1) / 3, mpmath.mpf(3) / 2
        removed = 4 * mpmath.log(1 + third * mpmath.expm1(grown)) + 4
        added = -4 * mpmath.log(1 - third * (1 - mpmath.exp(-grown))) + 4
        assert_encloses(pure_loss(factors, REMOVE, FINE), removed)
        assert_encloses(pure_loss(factors, ADD, FINE), added)
    assert pure_loss([], REMOVE, FINE) == delta_of_one([], HALF, ADD, FINE) == Interval(ZERO, ZERO)
    with pytest.raises(Refused, match="has no pure loss"):
        pure_loss([*factors, NOISE], REMOVE, FINE)


def test_an_epsilon_that_is_all_that_a_sample_may_lose_is_refused() -> None:
    """For add that is -log(1 - q); from there on nothing is left, and close to it the two cannot be told apart."""
    factor = Factor(GAUSSIAN, HALF, HALF, 1, 1)
    with mp.workprec(700):
        sign, mantissa, exponent, _ = mpmath.log(2)._mpf_
        most = (-1) ** sign * mantissa * Fraction(2) ** exponent
    assert delta_of_one([factor], most + Fraction(1, 2**100), ADD, FINE) == Interval(ZERO, ZERO)
    assert delta_of_one([factor], most - Fraction(1, 2**100), ADD, FINE).hi != ZERO
    with pytest.raises(Refused, match="too close to the largest loss"):
        delta_of_one([factor], most, ADD, FINE)


@pytest.mark.parametrize("point", ["1/1000", "1", "31999/1000", "32", "32001/1000", "100"])
def test_the_normal_distribution_function_on_both_sides_of_where_its_tail_begins(point: str) -> None:
    flint.ctx.prec = 600
    for sign in (1, -1):
        x = FINE.rational(sign * Fraction(point))
        found = normal_cdf(x, FINE)
        truth = (-arb_of(sign * Fraction(point)) / flint.arb(2).sqrt()).erfc() / 2
        near = flint.arb(2) ** -100
        low, high = (arb_of(Fraction(*libmp.to_rational(value))) for value in found)
        assert low <= (truth * (1 + near)).upper()
        assert (truth * (1 - near)).lower() <= high
        assert high - low <= truth * flint.arb(2) ** (-90 if abs(Fraction(point)) <= 32 else -9)


def test_several_releases_are_one_only_where_all_are_gaussian_without_sampling() -> None:
    for family, rate, direction in product(FAMILIES, (HALF, Fraction(1)), DIRECTIONS):
        other = Factor(family, HALF, rate, 1, 1)
        more = other._replace(samples=2)
        pairs = [(NOISE, other), (other, NOISE), (other, other), (more, other), (other, more), (more, more)]
        for factors in (*pairs, *permutations([NOISE, NOISE, other])):
            if family == GAUSSIAN and rate == 1:
                delta_of_one(factors, HALF, direction, FINE)
                continue
            with pytest.raises(Refused, match="one release"):
                delta_of_one(factors, HALF, direction, FINE)


def test_releases_on_samples_are_one_only_where_their_law_is_known() -> None:
    for family, together, samples, direction in product(FAMILIES, (1, 2), (1, 2), DIRECTIONS):
        factor = Factor(family, HALF, Fraction(1, 3), together, samples)
        known = (family, samples) in ((GAUSSIAN, 1), (PURE, 1)) or (family, together) == (PURE, 1)
        if known or (family in (LAPLACE, BOUNDED_RANGE) and (together, samples) == (1, 1)):
            delta_of_one([factor], Fraction(1, 10), direction, FINE)
            continue
        with pytest.raises(Refused, match="one release" if together * samples > 1 else "no delta of its own"):
            delta_of_one([factor], Fraction(1, 10), direction, FINE)


def test_pi_lies_between_its_ends_which_are_next_to_it() -> None:
    for precision in (*range(1, 64), 128, 192, 256, 1300):
        with mp.workprec(precision + 64):
            low, high = (end(value) for value in pi(precision))
            assert low < mp.pi < high
            assert high - low <= mpmath.mpf(2) ** (3 - precision)


def test_the_series_of_pi_brackets_it_by_the_product_of_its_factors() -> None:
    apart = Fraction(2)
    with mp.workprec(400):
        for terms in range(300):
            low, high = pi_between(terms)
            assert real(low) < mp.pi < real(high)
            assert high - low == apart <= Fraction(2, 2**terms)
            apart *= Fraction(terms + 1, 2 * terms + 3)


def test_the_normal_distribution_function_within_its_last_bits() -> None:
    flint.ctx.prec = 400
    for precision, k in product((24, 53, 100), range(1, 60)):
        arithmetic = Arithmetic(precision)
        for size, sign in product((Fraction(k, 7), Fraction(k, 1009)), (1, -1)):
            x = arithmetic.rational(sign * size)
            found = normal_cdf(Interval(x.lo, x.lo), arithmetic)
            point, low, high = (arb_of(Fraction(*libmp.to_rational(value))) for value in (x.lo, *found))
            truth = (-point / flint.arb(2).sqrt()).erfc() / 2
            assert low <= truth <= high
            assert high - low <= truth * flint.arb(2) ** (3 - precision)


def test_the_normal_distribution_function_ends_at_0_and_1() -> None:
    for point, value in ((MINUS_INFINITY, ZERO), (INFINITY, ONE), (ZERO, FINE.rational(HALF).lo)):
        assert normal_cdf(Interval(point, point), FINE) == Interval(value, value)
    assert normal_cdf(Interval(MINUS_INFINITY, INFINITY), FINE) == Interval(ZERO, ONE)
