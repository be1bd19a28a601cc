"""The amplification rows: ends, intervals, extremes; their values are checked against exact mixtures by claims."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.amplification import delta_after_sampling, psi, psi_add, renyi_after_sampling
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import GaussianPair, LaplacePair, RenyiCurve, Sampled, SampledGaussian
from certdp.accounting.relations import Direction
from tests.support.cases import examples

SETTINGS = examples(20)
ONE, HALF = Enclosure.of(1), Enclosure.of("0.5")
LAPLACE, GAUSSIAN = LaplacePair(ONE), GaussianPair(ONE)


@pytest.mark.parametrize("law", [psi, psi_add])
def test_psi_refuses_what_is_out_of_range(law: Callable[..., Enclosure]) -> None:
    with pytest.raises(InvalidValue, match="epsilon: got"):
        law(Enclosure.of(-1), HALF)
    for rate in ("-0.1", "1.1"):
        with pytest.raises(InvalidValue, match="probability: got"):
            law(ONE, Enclosure.of(rate))
    with pytest.raises(InvalidType, match="probability: got"):
        law(ONE, 0.5)


@pytest.mark.parametrize("rate", [Enclosure.of(-1), Enclosure.of("1.5"), Enclosure.between(0, 2)])
def test_rows_refuse_rates_out_of_range(rate: Enclosure) -> None:
    with pytest.raises(InvalidValue, match="rate: got"):
        delta_after_sampling(LAPLACE.delta, rate, HALF, Direction.ADD)
    with pytest.raises(InvalidValue, match="rate: got"):
        renyi_after_sampling(LAPLACE.renyi, rate, Fraction(2), Direction.ADD)


def test_rows_refuse_bad_arguments() -> None:
    with pytest.raises(InvalidValue, match="epsilon: got"):
        delta_after_sampling(LAPLACE.delta, HALF, Enclosure.of(-1), Direction.ADD)
    with pytest.raises(InvalidValue, match="order: got"):
        renyi_after_sampling(LAPLACE.renyi, HALF, Fraction(1), Direction.ADD)
    untyped: Any = 2.0
    with pytest.raises(InvalidType, match="order: got"):
        renyi_after_sampling(LAPLACE.renyi, HALF, untyped, Direction.ADD)


@pytest.mark.parametrize("direction", Direction)
def test_the_ends_of_the_rate(direction: Direction) -> None:
    never, always = Enclosure.of(0), Enclosure.of(1)
    assert delta_after_sampling(LAPLACE.delta, never, HALF, direction).upper == 0
    assert delta_after_sampling(LAPLACE.delta, always, HALF, direction).intersection(
        LAPLACE.delta(HALF, direction)
    ).width <= Fraction(1, 2**80)
    for order in (Fraction(2), Fraction(9, 2)):
        assert renyi_after_sampling(LAPLACE.renyi, never, order, direction).upper == 0
        assert renyi_after_sampling(LAPLACE.renyi, always, order, direction) == LAPLACE.renyi(order, direction)


@SETTINGS
@given(
    ends=st.tuples(*[st.fractions(0, 1, max_denominator=32)] * 2),
    levels=st.tuples(*[st.fractions(0, 1, max_denominator=32)] * 2),
    order=st.fractions(Fraction(9, 8), 6, max_denominator=8),
    direction=st.sampled_from(Direction),
)
def test_intervals_are_enclosed(
    ends: tuple[Fraction, Fraction], levels: tuple[Fraction, Fraction], order: Fraction, direction: Direction
) -> None:
    rate, level = Enclosure.between(*sorted(ends)), Enclosure.between(*sorted(levels))
    delta = delta_after_sampling(LAPLACE.delta, rate, level, direction)
    tau = renyi_after_sampling(LAPLACE.renyi, rate, order, direction)
    for q in (*ends, sum(ends) / 2):
        at = Enclosure.of(q, precision=128)
        for e in (*levels, sum(levels) / 2):
            found = delta_after_sampling(LAPLACE.delta, at, Enclosure.of(e), direction)
            assert delta.lower <= found.upper
            assert found.lower <= delta.upper
        found = renyi_after_sampling(LAPLACE.renyi, at, order, direction)
        assert tau.lower <= found.upper
        assert tau.upper >= found.lower


@SETTINGS
@given(
    rate=st.fractions(Fraction(1, 50), 1, max_denominator=50),
    order=st.integers(3, 40) | st.fractions(Fraction(9, 8), 40, max_denominator=8),
)
def test_the_general_row_holds_for_the_gaussian(rate: Fraction, order: Fraction | int) -> None:
    """The sampled Gaussian's own divergences, by other means, lie in what the general theorem gives."""
    q, alpha = Enclosure.of(rate), Fraction(order)
    exact = SampledGaussian(ONE, q)
    for direction in Direction:
        general = renyi_after_sampling(GAUSSIAN.renyi, q, alpha, direction)
        own = exact.renyi(alpha, direction)
        assert general.lower <= own.upper
        assert own.lower <= general.upper
        if direction is Direction.REMOVE and alpha.denominator == 1:
            assert general.width <= Fraction(1, 2**70)


@pytest.mark.slow
@pytest.mark.parametrize("order", [Fraction(4096), Fraction(4097), Fraction(8193, 2), Fraction(10**6)])
def test_high_orders_are_bounded_from_both_sides(order: Fraction) -> None:
    rate = Enclosure.of("0.01")
    found = renyi_after_sampling(LAPLACE.renyi, rate, order, Direction.REMOVE)
    assert 0 <= found.lower <= found.upper <= LAPLACE.renyi(order, Direction.REMOVE).upper
    infinite = psi(ONE, rate)  # the divergence at order infinity
    assert found.lower <= infinite.upper
    assert (infinite.lower * order - 2) / (order - 1) <= found.upper  # the moment is at least ½e^−1·e^{αψ}


def test_moments_beyond_any_exponent_have_an_answer() -> None:
    huge = GaussianPair(Enclosure.of("1e6"))
    for direction in Direction:
        found = renyi_after_sampling(huge.renyi, Enclosure.of("0.01"), Fraction(10**6), direction)
        assert found.upper <= huge.renyi(Fraction(10**6), direction).upper
    removed = renyi_after_sampling(huge.renyi, Enclosure.of("0.01"), Fraction(3), Direction.REMOVE)
    assert removed.lower > 10**11


def test_a_bound_as_base_stays_a_bound() -> None:
    """A bare curve has the lower end 0, and an upper end that must not be lost on the way."""
    curve = RenyiCurve(lambda order: Enclosure.of(order * 10**6))
    found = renyi_after_sampling(curve.renyi, HALF, Fraction(5000), Direction.ADD)
    assert found.lower == 0
    assert found.upper * (1 + Fraction(1, 2**80)) >= Enclosure.of(2).log().lower  # what a rate of 1/2 allows any pair
    found = renyi_after_sampling(curve.renyi, HALF, Fraction(7), Direction.REMOVE)
    assert found.lower == 0
    assert found.upper > 10**6


@SETTINGS
@given(
    kept=st.fractions(Fraction(1, 64), Fraction(63, 64), max_denominator=64),
    rate=st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
    order=st.fractions(Fraction(9, 8), 30, max_denominator=8),
)
@example(kept=Fraction(1, 2), rate=Fraction(1, 1000), order=Fraction(2))
def test_adding_a_record_costs_as_much_as_two_outcomes_show(kept: Fraction, rate: Fraction, order: Fraction) -> None:
    """P = (1, 0) and Q = (k, 1 - k) reach the bound by the second moment: no smaller one follows from that."""
    tau_2 = -Enclosure.of(kept).log()

    def law(_: Fraction, direction: Direction) -> Enclosure:
        return tau_2 if direction is Direction.REMOVE else Enclosure.of(10**9)  # for Q from P it is infinite

    found = renyi_after_sampling(law, Enclosure.of(rate, precision=192), order, Direction.ADD)
    drawn, absent = 1 - rate + rate / kept, 1 - rate
    powers = [Enclosure.of(value, precision=192).power(1 - order) for value in (drawn, absent)]
    exact = (powers[0] * kept + powers[1] * (1 - kept)).log() / (order - 1)
    assert found.upper >= exact.lower
    assert found.upper <= exact.upper * (1 + Fraction(1, 10**9))


@SETTINGS
@given(rate=st.fractions(0, 1, max_denominator=64), order=st.fractions(Fraction(9, 8), 30, max_denominator=8))
def test_a_pure_loss_bounds_the_sampled_divergences(rate: Fraction, order: Fraction) -> None:
    pair = Sampled(LAPLACE, Enclosure.of(rate))
    assert pair.renyi is not None
    assert pair.pure is not None
    largest = pair.pure(Direction.REMOVE).maximum(pair.pure(Direction.ADD))
    for direction in Direction:
        found = pair.renyi(order, direction)
        assert found.upper <= largest.upper * (1 + Fraction(1, 2**60))
        assert found.upper <= renyi_after_sampling(LAPLACE.renyi, pair.rate, order, direction).upper
    rho = pair.zero_concentrated
    assert rho is not None
    assert rho.upper <= LAPLACE.zero_concentrated.upper


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("rate", ["1e-300", "1e-9", "0.999999999"])
def test_tiny_rates_keep_their_digits(rate: str, direction: Direction) -> None:
    q = Enclosure.of(rate)
    level = Enclosure.of("0.5e-300") if rate == "1e-300" else Enclosure.of("1e-10")
    delta = delta_after_sampling(LAPLACE.delta, q, level, direction)
    tau = renyi_after_sampling(LAPLACE.renyi, q, Fraction(4), Direction.REMOVE)
    for found in (delta, tau):
        assert found.lower > 0
        assert found.width <= found.upper / 2**70
