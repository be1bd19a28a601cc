"""Budgets for users as budgets for elements, against the group law in high precision."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp import Delta, Epsilon, InvalidValue
from certdp.weighted_sampling.user_budgets import element_budget

EPSILONS = st.fractions(0, 20, max_denominator=1000)
DELTAS = st.one_of(st.fractions(0, 1, max_denominator=10**12), st.sampled_from([Fraction(1), Fraction(1, 10**15)]))


@given(EPSILONS, DELTAS, st.integers(1, 200))
@example(Fraction(0), Fraction(1, 10), 3)
@example(Fraction(0), Fraction(0), 3)
@example(Fraction(1, 10**9), Fraction(1, 10), 7)
def test_what_users_get(epsilon: Fraction, delta: Fraction, contributions: int) -> None:
    each, share = element_budget(Epsilon(epsilon), Delta(delta), contributions)
    assert contributions * each.value <= epsilon
    with mpmath.workdps(60):
        e = mpmath.mpf(each.value.numerator) / each.value.denominator
        factor = mpmath.expm1(e * contributions) / mpmath.expm1(e) if e else mpmath.mpf(contributions)
        found = mpmath.mpf(share.value.numerator) / share.value.denominator * factor
        wanted = mpmath.mpf(delta.numerator) / delta.denominator
        assert found <= wanted * (1 + mpmath.mpf(10) ** -50)
        assert found >= wanted * (1 - mpmath.mpf(2) ** -50)  # and nothing is wasted
    assert contributions * each.value >= epsilon * (1 - Fraction(1, 2**60))


def test_one_contribution_changes_nothing() -> None:
    assert element_budget(Epsilon("0.1"), Delta("1e-9"), 1) == (Epsilon("0.1"), Delta("1e-9"))


@pytest.mark.parametrize("contributions", [0, -1])
def test_contributions_that_are_refused(contributions: int) -> None:
    with pytest.raises(InvalidValue, match="contributions"):
        element_budget(Epsilon(1), Delta("1e-9"), contributions)


@given(EPSILONS, st.fractions(0, 2, max_denominator=50), st.integers(2, 50))
def test_what_is_spent_beside_enters_the_law(epsilon: Fraction, spent: Fraction, contributions: int) -> None:
    each, share = element_budget(Epsilon(epsilon), Delta("1e-6"), contributions, spent=spent)
    assert contributions * each.value <= epsilon
    with mpmath.workdps(60):
        e = mpmath.mpf((each.value + spent).numerator) / (each.value + spent).denominator
        factor = mpmath.expm1(e * contributions) / mpmath.expm1(e) if e else mpmath.mpf(contributions)
        found = mpmath.mpf(share.value.numerator) / share.value.denominator * factor
        assert mpmath.mpf("1e-6") * (1 - mpmath.mpf(2) ** -50) <= found <= mpmath.mpf("1e-6")
