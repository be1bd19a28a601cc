"""Slopes over cells: both parts enclose the derivative, and their signs are told."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Truth
from certdp.accounting.expressions import Expression, derivative, expm1, log1p, minimum, norm, rounding
from certdp.accounting.expressions.slopes import Reader, slope_of
from tests.support.cases import examples

X, THETA = norm(2), rounding("rate")
SHARES = st.fractions(Fraction(1, 100), 1, max_denominator=100)
SIZES = st.fractions(0, 3, max_denominator=50)


def sampled(base: Fraction, growth: Fraction, constant: Fraction, slope: Fraction, *, capped: bool) -> Expression:
    rate = base + growth * X * X
    q = minimum(1, rate * (1 + THETA / 1000)) if capped else rate * (1 + THETA / 1000) / 40  # x² ≤ 36
    return log1p(q * expm1((constant + slope * X) / q)) + Fraction(1, 3)


@examples(40)
@given(
    base=SHARES,
    growth=SHARES,
    constant=SIZES,
    slope=SIZES,
    low=SIZES,
    width=SIZES,
    at=st.fractions(0, 1, max_denominator=16),
    capped=st.booleans(),
    variable=st.sampled_from([X, THETA]),
)
def test_slopes_enclose_the_derivative(
    base: Fraction,
    growth: Fraction,
    constant: Fraction,
    slope: Fraction,
    low: Fraction,
    width: Fraction,
    at: Fraction,
    capped: bool,
    variable: Any,
    arb: Any,
    ends: Any,
    bits: Any,
) -> None:
    root = sampled(base, growth, constant, slope, capped=capped)
    over = slope_of(root, variable).over(Reader({X: (low, low + width), THETA: (Fraction(-1), Fraction(1))}, 128))
    point = {X: low + at * width, THETA: 2 * at - 1}
    with bits(300):
        true: flint.arb | None = arb(derivative(root, variable), point)
    if true is None:  # exactly at a kink
        return
    lowest, highest = ends(true)
    found = over.numerator / over.denominator
    assert over.denominator.lower > 0
    assert found.lower <= highest
    assert lowest <= found.upper


@examples(20)
@given(base=SHARES, growth=SHARES, constant=SIZES, slope=SIZES, low=SIZES, width=SIZES, at=SHARES)
def test_bends_enclose_the_slope_of_the_numerator(
    base: Fraction, growth: Fraction, constant: Fraction, slope: Fraction, low: Fraction, width: Fraction, at: Fraction
) -> None:
    along = slope_of(sampled(base, growth, constant, slope, capped=False), X)

    def numerator(x: Fraction) -> Any:
        return along.over(Reader({X: (x, x), THETA: (Fraction(0), Fraction(0))}, 400)).numerator

    x, step = low + at * width, Fraction(1, 2**60)
    rise = (numerator(x + step) - numerator(x)) / step
    bend = along.over(Reader({X: (low, low + width + step), THETA: (Fraction(0), Fraction(0))}, 128)).bend
    assert bend.lower <= rise.upper
    assert rise.lower <= bend.upper


def test_a_count_falls_with_the_rate_over_the_whole_domain() -> None:
    root = sampled(Fraction(1, 100), Fraction(1, 10), Fraction(1, 50), Fraction(0), capped=False)
    over = slope_of(root, X).over(Reader({X: (Fraction(0), Fraction(3)), THETA: (Fraction(-1), Fraction(1))}, 128))
    assert over.numerator.less_equal(0) is Truth.TRUE


def test_other_expressions_have_their_derivative() -> None:
    over = slope_of(X * X - X, X).over(Reader({X: (Fraction(2), Fraction(2))}, 128))
    assert (over.numerator / over.denominator).contains(3)
    assert over.bend.contains(2)
