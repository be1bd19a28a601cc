"""The search for the best Rényi order: few evaluations, curves with holes, and orders far away."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.conversions import (
    RenyiOfOrder,
    best_order,
    best_order_at_epsilon,
    delta_of_rho,
    epsilon_at_order,
    epsilon_of_rho,
)
from certdp.accounting.conversions.from_zero_concentrated import order_at_delta, order_at_epsilon
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue, OutsideDomain
from certdp.accounting.pairs import GaussianPair, Sampled
from certdp.accounting.relations import Direction

MOST_EVALUATIONS = 45


def counted(curve: RenyiOfOrder) -> tuple[RenyiOfOrder, list[Fraction]]:
    orders: list[Fraction] = []

    def recording(order: Fraction) -> Enclosure:
        orders.append(order)
        return curve(order)

    return recording, orders


def gaussian(rho: Fraction | str) -> RenyiOfOrder:
    return lambda order: Enclosure.of(rho) * order


@pytest.mark.parametrize("rho", ["1e-9", "1e-3", "0.5", "20", "1e4", "1e9"])
@pytest.mark.parametrize("delta", ["0.3", "1e-5", "1e-30"])
def test_no_order_of_a_fine_grid_is_better(rho: str, delta: str) -> None:
    curve, orders = counted(gaussian(rho))
    level = Enclosure.of(delta)
    found = best_order(curve, level)
    assert len(orders) <= MOST_EVALUATIONS
    centre = math.log(found.order - 1)
    grid = [1 + Fraction(math.exp(centre + step / 8)) for step in range(-16, 17)]
    least = min(epsilon_at_order(order, Enclosure.of(rho) * order, level).upper for order in grid)
    assert found.epsilon.upper <= least * (1 + Fraction(1, 10**9))
    assert found.epsilon == epsilon_at_order(found.order, Enclosure.of(rho) * found.order, level)


@pytest.mark.slow
@given(exponent=st.floats(-25, 20), digits=st.integers(1, 40))
def test_the_classical_bound_is_never_better(exponent: float, digits: int) -> None:
    rho, delta = Enclosure.of(math.exp(exponent)), Enclosure.of(Fraction(1, 10**digits))
    found = epsilon_of_rho(rho, delta)
    classical = rho + (rho * -delta.log()).sqrt() * 2
    assert found.epsilon.upper <= classical.lower
    back = delta_of_rho(rho, found.epsilon)
    assert back.delta.upper <= delta.upper * (1 + Fraction(1, 10**6))


def test_the_search_begins_where_the_classical_bound_is_least() -> None:
    rho = Enclosure.between("0.25", "0.5")
    assert math.isclose(order_at_delta(rho, Enclosure.between("1e-9", "1e-3")) - 1, math.sqrt(math.log(1e9) / 0.5))
    assert math.isclose(order_at_epsilon(rho, Enclosure.between(3, 4)) - 1, (3 - 0.5) / (2 * 0.5))
    large = Enclosure.of(100)
    assert math.isclose(order_at_delta(large, Enclosure.of("0.1")) - 1, math.sqrt(math.log(10) / 100))
    assert math.isclose(order_at_epsilon(large, Enclosure.of(101)) - 1, 0.005)


@pytest.mark.parametrize("delta", [1, 2])
def test_a_delta_of_one_allows_everything(delta: int) -> None:
    assert order_at_delta(Enclosure.of(3), Enclosure.of(delta)) == 2
    assert epsilon_of_rho(Enclosure.of(3), Enclosure.of(delta)).epsilon == Enclosure.of(0)


def test_where_no_binary64_says_where_to_begin() -> None:
    tiny, huge = Enclosure.of(Fraction(1, 2**1074)), Enclosure.of(10**400)
    assert order_at_epsilon(tiny, Enclosure.of(1)) == order_at_epsilon(huge, Enclosure.of(1)) == 2
    assert order_at_delta(huge, Enclosure.of("0.1")) == order_at_delta(Enclosure.of(0), Enclosure.of("0.1")) == 2
    assert delta_of_rho(tiny, Enclosure.of(1)).delta.upper < Fraction(1, 10**30)


def test_delta_at_a_given_epsilon() -> None:
    curve, orders = counted(gaussian("0.5"))
    found = best_order_at_epsilon(curve, Enclosure.of(5))
    assert len(orders) <= MOST_EVALUATIONS
    assert best_order(gaussian("0.5"), found.delta).epsilon.upper <= 5 * (1 + Fraction(1, 10**9))
    assert str(found).startswith("(ε, δ) ≤ (5.0, ")


def test_large_orders_are_not_asked_where_they_cannot_help() -> None:
    pair = Sampled(GaussianPair(Enclosure.of(1)), Enclosure.of("0.01"))

    def steps(order: Fraction) -> Enclosure:
        return pair.renyi(order, Direction.REMOVE) * 100 if pair.renyi else Enclosure.of(0)

    curve, orders = counted(steps)
    found = best_order(curve, Enclosure.of("1e-5"))
    assert max(orders) < 500
    assert found.order.denominator == 1  # between integers the curve is a chord


@pytest.mark.parametrize("usable", [lambda order: order < 3, lambda order: order > 20, lambda order: 3 < order < 60])
def test_orders_where_the_curve_is_unknown_are_left_out(usable: Callable[[Fraction], bool]) -> None:
    def curve(order: Fraction) -> Enclosure:
        if not usable(order):
            raise OutsideDomain("no divergence")
        return Enclosure.of("0.1") * order

    found = best_order(curve, Enclosure.of("1e-5"))
    assert usable(found.order)
    assert found.epsilon.upper <= 8


def test_a_curve_without_a_usable_order() -> None:
    def curve(order: Fraction) -> Enclosure:
        raise OutsideDomain("no divergence")

    def infinite(order: Fraction) -> Enclosure:
        return Enclosure.of(10**18).exp()

    for hopeless in (curve, infinite):
        with pytest.raises(OutsideDomain, match="finite at none of the"):
            best_order(hopeless, Enclosure.of("1e-5"))


def test_delta_0_is_refused() -> None:
    with pytest.raises(InvalidValue, match="no ε follows for δ = 0"):
        best_order(gaussian("0.5"), Enclosure.of(0))
    with pytest.raises(InvalidValue, match="no ε follows for δ = 0"):
        epsilon_of_rho(Enclosure.of(1), Enclosure.of(0))


def test_equal_laws_lose_nothing() -> None:
    assert epsilon_of_rho(Enclosure.of(0), Enclosure.of("1e-5")).epsilon == Enclosure.of(0)
    assert delta_of_rho(Enclosure.of(0), Enclosure.of(0)).delta == Enclosure.of(0)
