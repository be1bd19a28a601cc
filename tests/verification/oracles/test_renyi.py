"""The integrals of densities where the divergence is known."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.verification.oracles.renyi import AGREEMENT, NOISE, binomial_sum, mixture_divergence
from tests.support.cases import examples

_DISTANCES = st.fractions(0, 6, max_denominator=10)
_DEVIATIONS = st.fractions(1, 4, max_denominator=10)
_ORDERS = st.fractions(Fraction(17, 16), 8, max_denominator=16)


@given(_DISTANCES, _DEVIATIONS, _ORDERS, st.booleans())
@examples(20)
def test_two_normal_distributions(distance: Fraction, deviation: Fraction, order: Fraction, adding: bool) -> None:
    """Without sampling the divergence is α·c²/(2σ²) in both directions."""
    found = mixture_divergence(Fraction(1), distance, deviation, order, reversed_=adding)
    exact = order * (distance / deviation) ** 2 / 2
    assert abs(found - exact) <= AGREEMENT * exact + NOISE


@given(st.fractions(0, 1, max_denominator=1000), _DISTANCES, _DEVIATIONS, st.integers(2, 8))
@examples(20)
def test_integer_orders(rate: Fraction, distance: Fraction, deviation: Fraction, order: int) -> None:
    found = mixture_divergence(rate, distance, deviation, Fraction(order))
    series = binomial_sum(rate, (distance / deviation) ** 2 / 2, order)
    assert abs(found - series) <= AGREEMENT * series + NOISE


@pytest.mark.parametrize("adding", [False, True])
def test_equal_laws(adding: bool) -> None:
    assert abs(mixture_divergence(Fraction(0), Fraction(3), Fraction(1), Fraction(3, 2), reversed_=adding)) < NOISE
    assert abs(mixture_divergence(Fraction(1, 2), Fraction(0), Fraction(1), Fraction(3), reversed_=adding)) < NOISE


def test_a_chi_square_divergence() -> None:
    """At α = 2 the divergence of the mixture is log(1 + r²(e^{s²} − 1))."""
    assert float(mixture_divergence(Fraction(1, 2), Fraction(2), Fraction(2), Fraction(2))) == pytest.approx(
        0.35737401950878844, rel=1e-15
    )
