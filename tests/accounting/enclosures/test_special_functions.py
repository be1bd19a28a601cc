"""Special functions of enclosures: intervals, exact values, identities and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import (
    Enclosure,
    Truth,
    binomial_interval,
    binomial_lower_bound,
    binomial_tail,
    binomial_upper_bound,
    constants,
    erf,
    erfc,
    gamma_function,
    generalised_binomial,
    lambert_w0,
    lambert_wm1,
    log_erfc,
    log_gamma,
    log_normal_cdf,
    log_normal_survival,
    normal_cdf,
    normal_quantile,
    normal_survival,
    normal_upper_quantile,
    pi,
    two_sided_normal_tail,
)
from certdp.accounting.errors import InvalidType, InvalidValue, OutsideDomain
from tests.support.cases import examples


def assert_same(one: Enclosure, other: Enclosure) -> None:
    """Two enclosures of one number meet."""
    assert one.less(other) is not Truth.TRUE
    assert one.greater(other) is not Truth.TRUE


FUNCTIONS: dict[str, tuple[Callable[[Enclosure], Enclosure], Fraction, Fraction]] = {
    "erf": (erf, Fraction(-20), Fraction(20)),
    "erfc": (erfc, Fraction(-20), Fraction(20)),
    "log_erfc": (log_erfc, Fraction(-20), Fraction(20)),
    "normal_cdf": (normal_cdf, Fraction(-20), Fraction(20)),
    "normal_survival": (normal_survival, Fraction(-20), Fraction(20)),
    "two_sided_normal_tail": (two_sided_normal_tail, Fraction(0), Fraction(20)),
    "log_normal_cdf": (log_normal_cdf, Fraction(-20), Fraction(20)),
    "log_normal_survival": (log_normal_survival, Fraction(-20), Fraction(20)),
    "normal_quantile": (normal_quantile, Fraction(1, 10**6), 1 - Fraction(1, 10**6)),
    "normal_upper_quantile": (normal_upper_quantile, Fraction(1, 10**6), 1 - Fraction(1, 10**6)),
    "log_gamma": (log_gamma, Fraction(1, 10**6), Fraction(50)),
    "gamma_function": (gamma_function, Fraction(1, 10**6), Fraction(50)),
    "lambert_w0": (lambert_w0, Fraction(-36787, 10**5), Fraction(50)),
    "lambert_wm1": (lambert_wm1, Fraction(-36787, 10**5), Fraction(-1, 10**6)),
    "binomial_tail": (lambda x: binomial_tail(30, 11, x), Fraction(0), Fraction(1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data())
@examples(30)
def test_the_image_of_an_interval_holds_the_images_of_its_points(name: str, data: st.DataObject) -> None:
    function, least, most = FUNCTIONS[name]
    numbers = st.fractions(least, most, max_denominator=10**6)
    low, inside, high = sorted(data.draw(st.tuples(numbers, numbers, numbers)))
    precision = data.draw(st.sampled_from([24, 96]))
    image = function(Enclosure.between(low, high, precision=precision))
    fine = function(Enclosure.of(inside, precision=200))
    assert image.contains(fine)
    assert image.precision == precision
    hull = function(Enclosure.of(low, precision=200)).hull(function(Enclosure.of(high, precision=200)))
    if not name.startswith(("log_gamma", "gamma")):  # monotone: the image is no wider than the values at the ends
        slack = Fraction(1, 2 ** (precision - 10)) * max(abs(hull.lower), abs(hull.upper), Fraction(1))
        # an end that is rounded to the precision may move the value by its slope
        assert image.width <= hull.width * (1 + Fraction(1, 1000)) + slack * 10**4


def test_values_that_are_known_exactly_are_points() -> None:
    zero, one, half = Enclosure.of(0), Enclosure.of(1), Enclosure.of("0.5")
    assert erf(zero) == zero
    assert erfc(zero) == one
    assert log_erfc(zero) == zero
    assert normal_cdf(zero) == half
    assert normal_survival(zero) == half
    assert normal_quantile(half) == zero
    assert lambert_w0(zero) == zero
    assert log_gamma(one) == zero
    assert log_gamma(Enclosure.of(2)) == zero
    assert binomial_tail(5, 0, half) == one
    assert binomial_tail(5, 6, half) == zero
    assert binomial_tail(5, 1, zero) == zero
    assert binomial_tail(5, 5, one) == one
    assert binomial_tail(0, 1, one) == zero


@given(st.fractions(-12, 12, max_denominator=1000))
def test_error_function_and_normal_distribution_complete_each_other(value: Fraction) -> None:
    x = Enclosure.of(value, precision=150)
    assert (erf(x) + erfc(x)).contains(1)
    assert (normal_cdf(x) + normal_survival(x)).contains(1)
    rescaled = erfc(x / Enclosure.of(2, precision=150).sqrt()) / 2
    assert_same(rescaled, normal_survival(x))
    assert_same(two_sided_normal_tail(abs(x)), 2 * normal_survival(abs(x)))
    for logarithm, function in ((log_normal_cdf, normal_cdf), (log_normal_survival, normal_survival), (log_erfc, erfc)):
        assert_same(logarithm(x), function(x).log())


def test_far_tails_keep_their_accuracy() -> None:
    for size in (10**8, 10**30):
        x = Enclosure.of(size)
        # ln erfc(x) is −x² − ln(x·√π) less at most 1/(2x²)
        assert_same(log_erfc(x), -x.square() - (x * pi().sqrt()).log())
        width = log_erfc(x).relative_width
        assert width is not None
        assert width < Fraction(1, 2**92)
    assert erfc(Enclosure.of(2**40)).lower == 0
    assert erfc(Enclosure.of(2**40)).upper_float == math.ulp(0.0)
    assert normal_cdf(Enclosure.of(-(2**40))).upper_float == math.ulp(0.0)


@given(st.integers(1, 60))
def test_gamma_meets_factorials_and_half_integers(n: int) -> None:
    assert gamma_function(Enclosure.of(n)).contains(math.factorial(n - 1))
    assert_same(log_gamma(Enclosure.of(n)), Enclosure.of(math.factorial(n - 1)).log())
    odd = math.prod(range(1, 2 * n, 2))
    assert_same(gamma_function(Enclosure.of(Fraction(2 * n + 1, 2))), pi().sqrt() * Fraction(odd, 2**n))


@pytest.mark.parametrize("side", [-1, 1])
def test_the_ends_of_pi_hold_whatever_the_bounds_of_its_terms_allow(monkeypatch: pytest.MonkeyPatch, side: int) -> None:
    """Guard bits would hide a bound that is left out, and true sums lie well within theirs."""

    def furthest(cotangent: int, bits: int) -> tuple[int, int]:
        total, count = inverse_tangent(cotangent, bits)
        with mpmath.workprec(2 * bits + 40):
            scaled = mpmath.ldexp(mpmath.atan(mpmath.mpf(1) / cotangent), bits)
            true = int(mpmath.floor(scaled).real)
        assert abs(total - true) <= 2 * count
        upward = (side == 1) == (cotangent == 5)
        return (true + 2 * count if upward else true + 1 - 2 * count), count

    inverse_tangent = constants._inverse_tangent
    monkeypatch.setattr(constants, "_GUARD", 0)
    monkeypatch.setattr(constants, "_inverse_tangent", furthest)
    for bits in range(8, 400):
        low, high = constants._pi_at.__wrapped__(bits)
        with mpmath.workprec(bits + 40):
            assert low <= mpmath.ldexp(mpmath.pi, bits) <= high


@given(st.fractions(-50, 50, max_denominator=30), st.integers(-2, 40))
def test_generalised_binomials_satisfy_pascals_rule(alpha: Fraction, k: int) -> None:
    assert generalised_binomial(alpha + 1, k) == generalised_binomial(alpha, k) + generalised_binomial(alpha, k - 1)
    assert generalised_binomial(Fraction(40), k) == (math.comb(40, k) if k >= 0 else 0)


@examples(40)
@given(st.integers(1, 60), st.data(), st.sampled_from([Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)]))
def test_confidence_bounds_are_where_the_exact_tail_says(trials: int, data: st.DataObject, error: Fraction) -> None:
    successes = data.draw(st.integers(0, trials))

    def tail(rate: Fraction, least: int) -> Fraction:
        return sum(
            (math.comb(trials, j) * rate**j * (1 - rate) ** (trials - j) for j in range(least, trials + 1)), Fraction(0)
        )

    lower = binomial_lower_bound(successes, trials, error, precision=50)
    upper = binomial_upper_bound(successes, trials, error, precision=50)
    if successes:
        assert tail(lower.lower, successes) <= error <= tail(lower.upper, successes)
    if successes < trials:
        assert 1 - tail(upper.upper, successes + 1) <= error <= 1 - tail(upper.lower, successes + 1)
    interval = binomial_interval(successes, trials, 1 - 2 * min(error, 1 - error, Fraction(1, 4)), precision=50)
    assert interval.contains(Fraction(successes, trials))


def test_confidence_bounds_at_the_ends_of_the_range() -> None:
    assert binomial_lower_bound(0, 10, Fraction(1, 20)) == Enclosure.of(0)
    assert binomial_upper_bound(10, 10, Fraction(1, 20)) == Enclosure.of(1)
    million = binomial_interval(0, 10**6, Fraction(95, 100))
    assert million.lower == 0
    closed = 1 - Enclosure.of(Fraction(25, 1000)).power(Fraction(1, 10**6))
    assert closed.less_equal(million.upper) is not Truth.FALSE
    assert million.upper - closed.lower < Fraction(1, 2**90)


REFUSALS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "quantile of 0": (lambda: normal_quantile(Enclosure.of(0)), OutsideDomain, "between 0 and 1"),
    "quantile of 1": (lambda: normal_quantile(Enclosure.of(1)), OutsideDomain, "between 0 and 1"),
    "upper quantile": (lambda: normal_upper_quantile(Enclosure.between(-1, "0.5")), OutsideDomain, "between 0 and 1"),
    "gamma of 0": (lambda: log_gamma(Enclosure.of(0)), OutsideDomain, "above 0"),
    "gamma below 0": (lambda: gamma_function(Enclosure.between(-1, 1)), OutsideDomain, "above 0"),
    "huge gamma": (lambda: gamma_function(Enclosure.of(2).power(10**9)), OutsideDomain, "2\\*\\*62"),
    "W0 below": (lambda: lambert_w0(Enclosure.of(-1)), OutsideDomain, "above −1/e"),
    "W0 at the branch point": (lambda: lambert_w0(-Enclosure.of(-1).exp()), OutsideDomain, "above −1/e"),
    "W-1 below": (lambda: lambert_wm1(Enclosure.of("-0.37")), OutsideDomain, "above −1/e"),
    "W-1 at 0": (lambda: lambert_wm1(Enclosure.of(0)), OutsideDomain, "below 0"),
    "tail beyond 1": (lambda: binomial_tail(3, 1, Enclosure.between("0.5", 2)), OutsideDomain, r"\[0, 1\]"),
    "tail below 0": (lambda: binomial_tail(3, 1, Enclosure.between(-1, "0.5")), OutsideDomain, r"\[0, 1\]"),
    "tail of no count": (lambda: binomial_tail(-1, 1, Enclosure.of(1)), InvalidValue, "trials"),
    "tail of a float": (lambda: binomial_tail(1.0, 1, Enclosure.of(1)), InvalidType, "trials"),  # type: ignore[arg-type]
    "more successes": (lambda: binomial_lower_bound(3, 2, Fraction(1, 2)), InvalidValue, "successes"),
    "no trials": (lambda: binomial_upper_bound(0, 0, Fraction(1, 2)), InvalidValue, "trials"),
    "error 0": (lambda: binomial_lower_bound(1, 2, Fraction(0)), InvalidValue, "error"),
    "confidence 1": (lambda: binomial_interval(1, 2, Fraction(1)), InvalidValue, "error"),
    "precision": (lambda: pi(3), InvalidValue, "precision"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_outside_the_domain_is_refused(name: str) -> None:
    call, kind, message = REFUSALS[name]
    with pytest.raises(kind, match=message):
        call()
