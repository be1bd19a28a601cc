"""ρ and μ of factors, beside the library's pairs, quantiles of SciPy, and divergences at many orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import (
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    bounded_range_pair,
)
from certdp.verification.checker.approximate.factors import EXCHANGED, FAMILIES, MIXTURE, REMOVE, Change, Factor
from certdp.verification.checker.approximate.moments import Moments
from certdp.verification.checker.approximate.notions import (
    _square_of_response,
    concentration,
    gaussian_square,
    price_of_square,
)
from certdp.verification.checker.intervals import Arithmetic, upper_end
from certdp.verification.checker.verdict import Refused

ARITHMETIC = Arithmetic(192)
PAIRS: dict[str, Callable[[Enclosure], Pair]] = {
    "gaussian": GaussianPair,
    "laplace": LaplacePair,
    "pure": RandomisedResponsePair,
    "bounded-range": bounded_range_pair,
}
PARAMETERS = st.fractions(Fraction(1, 1000), 12, max_denominator=1000)
RATES = st.just(Fraction(1)) | st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000)


def factor(family: str, parameter: Fraction, rate: Fraction, together: int = 1, samples: int = 1) -> Factor:
    return Factor(family, parameter, rate, together if rate < 1 else 1, samples)


def pair(family: str, parameter: Fraction, rate: Fraction, samples: int) -> Pair:
    one: Pair = PAIRS[family](Enclosure.of(parameter))
    return (one if rate == 1 else one.sampled(Enclosure.of(rate))).repeated(samples)


@given(st.sampled_from(sorted(PAIRS)), PARAMETERS, RATES, st.integers(1, 50))
def test_both_are_those_of_the_pairs(family: str, parameter: Fraction, rate: Fraction, samples: int) -> None:
    known = pair(family, parameter, rate, samples)
    rho, mu = known.zero_concentrated, known.gaussian
    assert rho is not None
    assert mu is not None
    released = factor(family, parameter, rate, samples=samples)
    found = upper_end(concentration(released, ARITHMETIC))
    assert rho.lower <= found <= rho.upper * (1 + Fraction(1, 10**9))
    square = upper_end(gaussian_square(released, ARITHMETIC))
    assert mu.square().lower <= square <= mu.square().upper * (1 + Fraction(1, 10**9))


@given(PARAMETERS)
def test_mu_of_a_response_is_a_quantile(loss: Fraction) -> None:
    found = math.sqrt(upper_end(gaussian_square(factor("pure", loss, Fraction(1)), ARITHMETIC)))
    assert found == pytest.approx(2 * norm.isf(1 / (1 + math.exp(loss))), rel=1e-8)


@given(
    st.sampled_from(["laplace", "pure", "gaussian", "bounded-range"]),
    PARAMETERS,
    RATES,
    st.integers(1, 4),
    st.fractions(Fraction(21, 20), 30, max_denominator=20),
)
def test_no_divergence_exceeds_rho_times_its_order(
    family: str, parameter: Fraction, rate: Fraction, together: int, order: Fraction
) -> None:
    released = factor(family, parameter, rate, together)
    rho = upper_end(concentration(released, ARITHMETIC))
    limit = Moments(ARITHMETIC).total([released], order, REMOVE)
    if rate == 1:  # else what is known of a divergence may be above rho·order
        assert Fraction(upper_end(limit)) <= rho * order * (order - 1) * (1 + Fraction(1, 2**60))


@given(st.integers(1, 40), st.fractions(Fraction(1, 50), 4, max_denominator=50), st.integers(1, 9))
def test_rho_of_discrete_noise_is_its_divergence_and_exceeds_that_of_every_order(
    steps: int, unit: Fraction, samples: int
) -> None:
    released = Factor("discrete-laplace", steps * unit, Fraction(1), 1, samples, steps=steps)
    rho = upper_end(concentration(released, ARITHMETIC))
    known = DiscreteLaplacePair(Enclosure.of(unit), Enclosure.of(steps)).zero_concentrated * samples
    assert known.lower <= rho <= known.upper * (1 + Fraction(1, 10**9))
    with mpmath.workprec(200):
        u = mpmath.mpf(unit.numerator) / unit.denominator
        share = mpmath.tanh(u / 2)
        reach = math.ceil(80 / float(unit))
        laws = [(abs(y - steps), abs(y)) for y in range(-reach, reach + steps + 1)]
        first = mpmath.fsum(share * mpmath.exp(-u * a) * u * (b - a) for a, b in laws)
        assert abs(samples * first - float(rho)) <= 1e-9 * float(rho)
    for order in (Fraction(9, 8), Fraction(2), Fraction(7), Fraction(60)):
        limit = Moments(ARITHMETIC).total([released], order, REMOVE)
        assert Fraction(upper_end(limit)) <= rho * order * (order - 1) * (1 + Fraction(1, 2**60))


@given(
    st.sampled_from([*sorted(PAIRS), "zero-concentrated"]),
    PARAMETERS,
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_releases_on_one_sample_and_samples_add_up(
    family: str, parameter: Fraction, together: int, samples: int
) -> None:
    one = Factor(family, parameter, Fraction(1), together=1, samples=1)
    for law in (concentration, *([] if family == "zero-concentrated" else [gaussian_square])):
        alone = upper_end(law(one, ARITHMETIC))
        several = upper_end(law(one._replace(together=together, samples=samples), ARITHMETIC))
        assert abs(several - alone * together * samples) <= several / 2**150


@given(PARAMETERS, st.integers(1, 5), st.booleans())
def test_noise_about_several_records_is_that_of_a_sum_as_far_away(
    parameter: Fraction, records: int, replaced: bool
) -> None:
    several = Factor(MIXTURE, parameter, Fraction(1, 2), 1, 1, change=Change(records, replaced))
    known = GaussianPair(Enclosure.of(parameter * records * (2 if replaced else 1)))
    rho, mu = known.zero_concentrated, known.gaussian
    assert rho is not None
    assert mu is not None
    assert math.isclose(upper_end(concentration(several, ARITHMETIC)), rho.upper, rel_tol=1e-12)
    assert math.isclose(upper_end(gaussian_square(several, ARITHMETIC)), mu.square().upper, rel_tol=1e-12)


def test_a_quantile_is_paid_for_where_one_is_found() -> None:
    """More for a larger loss, up to 512 of it; nothing for normal noise."""
    assert price_of_square(factor("gaussian", Fraction(1), Fraction(1))) == 0
    for family in ("laplace", "pure", "bounded-range", EXCHANGED):
        for together in (1, 2):
            prices = [
                price_of_square(Factor(family, Fraction(loss, together), Fraction(1), together, 1))
                for loss in (1, 2, 3, 512, 600)
            ]
            assert prices == [2 * (5_000_000 + 320_000 * loss) for loss in (1, 2, 3, 512, 512)]


def test_what_has_none_is_refused() -> None:
    bare = factor("zero-concentrated", Fraction(1, 2), Fraction(1))
    assert concentration(bare, ARITHMETIC).hi == ARITHMETIC.rational(Fraction(1, 2)).hi
    with pytest.raises(Refused, match="has no mu"):
        gaussian_square(bare, ARITHMETIC)
    for law in (concentration, gaussian_square):
        with pytest.raises(Refused, match="the family other has no"):
            law(factor("other", Fraction(1), Fraction(1)), ARITHMETIC)
    assert "other" not in FAMILIES


@pytest.mark.parametrize("loss", [Fraction(1, 10**10), Fraction(1, 10**7), Fraction(600), Fraction(4000)])
def test_extreme_losses_have_a_bound(loss: Fraction) -> None:
    found = mpmath.sqrt(mpmath.mpf(float(upper_end(gaussian_square(factor("pure", loss, Fraction(1)), ARITHMETIC)))))
    with mpmath.workprec(400):
        rarer = -mpmath.log1p(mpmath.exp(mpmath.mpf(loss.numerator) / loss.denominator))
        exact = 2 * mpmath.findroot(lambda x: mpmath.log(mpmath.ncdf(-x)) - rarer, found / 2)
    assert exact <= found * (1 + 1e-15)
    assert found <= exact * (1 + 1e-6)


def test_a_response_that_is_hardly_ever_false_has_no_mu() -> None:
    """Of 2^34 the quantile, about √(2·2^34), lies beyond all places that are looked at."""
    with pytest.raises(Refused, match="mu of a pure loss could not be bounded"):
        _square_of_response(Arithmetic(192).rational(Fraction(2**34)), Arithmetic(192))
