"""Trade-off curves: against normal laws, and against the most powerful tests of finite laws."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.accountants.trade_off import TradeOff, trade_off
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.pairs import FinitePair, GaussianPair, Pair
from certdp.accounting.relations import Direction
from tests.support.cases import examples

NORMAL = NormalDist()


def curve_of(pair: Pair, farthest: float, places: int = 48) -> TradeOff:
    law = pair.delta
    assert law is not None
    return trade_off(
        lambda epsilon: law(epsilon, Direction.REMOVE).maximum(law(epsilon, Direction.ADD)), farthest, places=places
    )


@pytest.mark.parametrize("mu", [0.25, 1.0, 3.0])
def test_normal_laws(mu: float) -> None:
    """f(α) = Φ(Φ⁻¹(1 − α) − μ)."""
    curve = curve_of(GaussianPair(Enclosure.of(mu)), mu * mu / 2 + 6 * mu)
    for alpha in (1e-6, 1e-3, 0.05, 0.3, 0.5, 0.8, 0.99):
        truth, found = NORMAL.cdf(NORMAL.inv_cdf(1 - alpha) - mu), curve.at(alpha)
        assert found.lower_float <= truth + 1e-12
        assert found.upper_float >= truth - 1e-12
        assert found.width < 0.02
    assert curve.at(0).contains(1)
    assert curve.at(1).upper == 0


def most_powerful(first: Sequence[Fraction], second: Sequence[Fraction], alpha: Fraction) -> Fraction:
    """The least second error at the first error α (Neyman, Pearson): outputs are rejected by their ratio."""
    left, power = alpha, Fraction(0)
    for p, q in sorted(
        zip(first, second, strict=True), key=lambda masses: (masses[0] > 0, -masses[1] / (masses[0] or 1))
    ):
        share = Fraction(1) if p <= left else left / p
        left, power = left - share * p, power + share * q
    return 1 - power


@st.composite
def symmetric_tables(draw: st.DrawFn) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Laws that mirror each other, so that their trade-off curve is its own inverse."""
    weights = draw(st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(any))
    law = tuple(Fraction(weight, sum(weights)) for weight in weights)
    return law, law[::-1]


@examples(25)
@given(tables=symmetric_tables(), alpha=st.fractions(0, 1, max_denominator=30))
def test_finite_laws(tables: tuple[tuple[Fraction, ...], tuple[Fraction, ...]], alpha: Fraction) -> None:
    """Infinite losses included."""
    found = curve_of(FinitePair(*tables), 3.0, places=40).at(alpha)
    truth = most_powerful(*tables, alpha)
    assert found.lower <= truth <= found.upper
    assert found.width < Fraction(1, 8)


@examples(10)
@given(tables=symmetric_tables())
def test_the_lower_ends_fall_and_are_convex(tables: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]) -> None:
    curve = curve_of(FinitePair(*tables), 2.0, places=9)
    values = [curve.at(Fraction(step, 16)).lower for step in range(17)]
    falls = [a - b for a, b in pairwise(values)]
    assert all(fall >= 0 for fall in falls)
    assert all(b - a <= Fraction(1, 2**80) for a, b in pairwise(falls))


def test_without_a_lower_end_of_delta_the_upper_end_is_that_of_no_loss() -> None:
    law = GaussianPair(Enclosure.of(1)).delta
    curve = trade_off(lambda epsilon: law(epsilon, Direction.REMOVE).hull(0), 6.0)
    assert curve.at("0.25").upper == Fraction(3, 4)


def test_refusals() -> None:
    curve = curve_of(GaussianPair(Enclosure.of(1)), 5.0, places=5)
    for alpha in (-0.1, 1.5, "nan"):
        with pytest.raises(InvalidValue, match=r"alpha|value"):
            curve.at(alpha)
    for farthest in (-1.0, float("inf")):
        with pytest.raises(InvalidValue, match="farthest"):
            curve_of(GaussianPair(Enclosure.of(1)), farthest)
    with pytest.raises(InvalidValue, match="places"):
        curve_of(GaussianPair(Enclosure.of(1)), 1.0, places=1)
