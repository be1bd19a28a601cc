"""Bounds of every notion: ranges, laws at their edges, refusals, and how they print."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.guarantees import Guarantee, compose, for_groups
from certdp.accounting.notions import (
    APPROXIMATE,
    GAUSSIAN_DP,
    PURE,
    RENYI,
    ZERO_CONCENTRATED,
    Approximate,
    GaussianDP,
    Pure,
    Renyi,
    ZeroConcentrated,
)
from certdp.accounting.relations import ADD_REMOVE, RECORD

HALF = Fraction(1, 2)
LOSSES = st.fractions(0, 20, max_denominator=1000)
PROBABILITIES = st.fractions(0, 1, max_denominator=1000)
WHY = Theorem("test", "a theorem").conclude()


def of(value: Any) -> Enclosure:
    return Enclosure.of(value)


def approximate(epsilon: Any, delta: Any) -> Approximate:
    return Approximate(of(epsilon), of(delta))


def renyi(order: int, tau: Any) -> Renyi:
    return Renyi(Fraction(order), of(tau))


def guaranteed(bound: Any) -> Any:
    return Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=WHY)


def test_a_notion_composes_by_a_theorem() -> None:
    for notion in (PURE, APPROXIMATE, RENYI, ZERO_CONCENTRATED, GAUSSIAN_DP):
        assert isinstance(notion.composition_theorem, Theorem)
        assert notion.composition_theorem.source
        assert notion.composition_theorem.statement


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda x: Pure(x), "epsilon"),
        (lambda x: Approximate(x, of(0)), "epsilon"),
        (lambda x: Approximate(of(0), x), "delta"),
        (lambda x: Renyi(Fraction(2), x), "tau"),
        (lambda x: ZeroConcentrated(x), "rho"),
        (lambda x: GaussianDP(x), "mu"),
    ],
)
def test_bounds_hold_enclosures_of_numbers_from_0(make: Any, parameter: str) -> None:
    for estimate in (1.0, 1, "1", None):
        with pytest.raises(InvalidType, match="A float is an estimate") as caught:
            make(estimate)
        assert caught.value.parameter == parameter
    with pytest.raises(InvalidValue, match=parameter):
        make(Enclosure.between("-1e-30", HALF))
    assert make(of(0))


def test_delta_is_a_probability() -> None:
    with pytest.raises(InvalidValue, match=r"delta: got .*; admissible: an enclosure of a number from 0 to 1"):
        approximate(1, "1.0001")
    assert approximate(1, 1).delta.contains(1)


@pytest.mark.parametrize(("order", "error"), [(2, InvalidType), (1.5, InvalidType), (Fraction(1), InvalidValue)])
def test_orders_are_fractions_above_1(order: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="order"):
        Renyi(order, of(1))


@pytest.mark.parametrize(
    ("bound", "text", "name"),
    [
        (Pure(of("0.1")), "ε ≤ 0.1", "pure"),
        (approximate("0.1", "1e-5"), "(ε, δ) ≤ (0.1, 1e-05)", "approximate"),
        (Renyi(Fraction(5, 2), of("0.1")), "(α, τ) ≤ (5/2, 0.1)", "Rényi"),
        (ZeroConcentrated(of("0.1")), "ρ ≤ 0.1", "zero-concentrated"),
        (GaussianDP(of("0.1")), "μ ≤ 0.1", "Gaussian"),
    ],
)
def test_bounds_print_their_upper_ends(bound: Any, text: str, name: str) -> None:
    printed = str(bound).replace("0.10000000000000002", "0.1").replace("1.0000000000000001e-05", "1e-05")
    assert printed == text
    assert str(guaranteed(bound)).startswith(f"{bound} ({name} DP, unit: record")


@given(pairs=st.lists(st.tuples(LOSSES, PROBABILITIES), max_size=5))
def test_approximate_bounds_add_until_delta_is_1(pairs: list[tuple[Fraction, Fraction]]) -> None:
    total = APPROXIMATE.compose([approximate(*pair) for pair in pairs])
    assert total.epsilon.contains(sum(epsilon for epsilon, _ in pairs))
    assert total.delta.contains(min(sum(delta for _, delta in pairs), Fraction(1)))


@given(losses=st.lists(LOSSES, max_size=5))
def test_single_losses_add(losses: list[Fraction]) -> None:
    assert ZERO_CONCENTRATED.compose([ZeroConcentrated(of(x)) for x in losses]).rho.contains(sum(losses))
    squares = GAUSSIAN_DP.compose([GaussianDP(of(x)) for x in losses]).mu.square()
    assert squares.contains(sum(x * x for x in losses))
    assert squares.width * 2**85 <= max(sum(x * x for x in losses), Fraction(1))


@given(losses=st.lists(LOSSES.filter(bool), min_size=1, max_size=5), order=st.integers(2, 99))
def test_renyi_losses_add_at_one_order(losses: list[Fraction], order: int) -> None:
    bounds = [renyi(order, x) for x in losses]
    total = compose(*map(guaranteed, bounds)).bound
    assert (total.order, total.tau.contains(sum(losses))) == (order, True)
    with pytest.raises(InvalidValue, match="evaluate every loss at a common order") as caught:
        compose(*map(guaranteed, [*bounds, renyi(order + 1, 1)]))
    assert caught.value.parameter == "order"


def test_no_loss_has_every_order() -> None:
    assert RENYI.compose([]) == RENYI.nothing
    assert RENYI.compose([RENYI.nothing, renyi(7, 1), renyi(3, 0)]) == renyi(7, 1)
    assert RENYI.compose([RENYI.nothing, renyi(7, 0)]) == renyi(7, 0)
    assert RENYI.implies(RENYI.nothing, renyi(1000, 0)) is Truth.TRUE


def test_the_group_law_at_epsilon_0_is_its_limit() -> None:
    exact = APPROXIMATE.group(approximate(0, "1/1024"), 5)
    assert exact == approximate(0, Fraction(5, 1024))
    near = APPROXIMATE.group(approximate(Fraction(1, 2**80), Fraction(1, 1024)), 5)
    assert near.delta.lower > Fraction(5, 1024)
    assert near.delta.upper < Fraction(5, 1024) * (1 + Fraction(1, 2**75))
    across = APPROXIMATE.group(Approximate(Enclosure.between(0, 1), of("0.001")), 2)
    assert across.delta.contains(Fraction(2, 1000))
    assert math.isclose(across.delta.upper_float, 0.001 * (1 + math.e))


@pytest.mark.parametrize("notion", [PURE, APPROXIMATE, RENYI, ZERO_CONCENTRATED, GAUSSIAN_DP])
def test_group_sizes_are_whole_numbers(notion: Any) -> None:
    for size in (-1, 1.0, True, "2"):
        with pytest.raises(InvalidValue, match=r"size: got .*; admissible: a whole number ≥ 0"):
            notion.group(notion.nothing, size)
    assert notion.group(notion.nothing, 3) == notion.nothing


def test_groups_of_the_other_notions() -> None:
    assert APPROXIMATE.group(approximate(2, 0), 3) == approximate(6, 0)
    assert APPROXIMATE.group(approximate(2, HALF), 3) == approximate(6, 1)
    assert APPROXIMATE.group(approximate(2, HALF), 0) == approximate(0, 0)
    assert ZERO_CONCENTRATED.group(ZeroConcentrated(of(2)), 3) == ZeroConcentrated(of(18))
    assert GAUSSIAN_DP.group(GaussianDP(of(2)), 3) == GaussianDP(of(6))


@pytest.mark.parametrize(
    ("order", "size", "expected"),
    [(3, 0, (3, 0)), (3, 1, (3, 1)), (4, 2, (2, 3)), (9, 2, (Fraction(9, 2), 3)), (8, 3, (2, 9)), (8, 4, (2, 9))],
)
def test_renyi_groups_lower_the_order(order: int, size: int, expected: tuple[Fraction, int]) -> None:
    assert for_groups(guaranteed(renyi(order, 1)), size).bound == Renyi(Fraction(expected[0]), of(expected[1]))


@pytest.mark.parametrize(("order", "size", "least"), [(Fraction(399, 100), 2, 4), (Fraction(7), 3, 8)])
def test_renyi_groups_that_the_order_does_not_admit(order: Fraction, size: int, least: int) -> None:
    with pytest.raises(InvalidValue, match=rf"an order ≥ {least} for groups of {size}"):
        RENYI.group(Renyi(order, of(1)), size)


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        ((4, 1), (4, 1), Truth.TRUE),
        ((4, 1), (3, 1), Truth.TRUE),
        ((4, 1), (5, 100), Truth.FALSE),
        ((4, 1), (2, "0.4"), Truth.FALSE),
        ((4, 1), (2, "0.7"), Truth.UNDECIDED),
        ((4, 0), (9, 0), Truth.TRUE),
        ((4, 2), (4, 1), Truth.FALSE),
    ],
)
def test_what_a_renyi_bound_entails(first: tuple[int, Any], second: tuple[int, Any], answer: Truth) -> None:
    assert RENYI.implies(renyi(*first), renyi(*second)) is answer


def test_an_uncertain_loss_leaves_higher_orders_undecided() -> None:
    assert RENYI.implies(Renyi(Fraction(2), Enclosure.between(0, 1)), renyi(3, 1)) is Truth.UNDECIDED


def test_approximate_bounds_trade_epsilon_for_delta() -> None:
    assert APPROXIMATE.implies(approximate(1, 0), approximate(0, "0.47")) is Truth.TRUE  # tanh(1/2) = 0.4621…
    assert APPROXIMATE.implies(approximate(1, 0), approximate(0, "0.46")) is Truth.FALSE
    assert APPROXIMATE.implies(approximate(1, "0.125"), approximate(2, "0.125")) is Truth.TRUE
    assert APPROXIMATE.implies(approximate(10**6, "0.1"), approximate(0, 1)) is Truth.TRUE
    assert APPROXIMATE.implies(approximate(1, "0.1"), approximate(10**6, "0.09")) is Truth.FALSE


def test_a_delta_that_may_be_0_grows_with_the_group() -> None:
    bound = Approximate(Enclosure.of("1/2"), Enclosure.between(0, "1/100"))
    found = APPROXIMATE.group(bound, 3).delta
    assert found.contains(0)
    assert found.upper_float == pytest.approx(sum(math.exp(k / 2) for k in range(3)) / 100, rel=1e-12)


def test_losses_that_may_be_0_are_composed() -> None:
    unsure = Enclosure.between(0, 3)
    assert GAUSSIAN_DP.compose([GaussianDP(unsure), GaussianDP(of(4))]).mu.contains(5)
    assert RENYI.compose([Renyi(Fraction(2), unsure), renyi(2, 4)]).tau.contains(7)


def test_no_delta_is_above_1() -> None:
    assert APPROXIMATE.compose([approximate(1, "3/4"), approximate(2, HALF)]) == approximate(3, 1)


def test_the_least_delta_at_a_smaller_epsilon_is_exact() -> None:
    """At ε = 0 the bound (1, 1/2) leaves δ = 1/2 + 1/2·(e − 1)/(e + 1) = 0.73106."""
    known = approximate(1, HALF)
    assert APPROXIMATE.implies(known, approximate(0, "0.73106")) is Truth.TRUE
    assert APPROXIMATE.implies(known, approximate(0, "0.73105")) is Truth.FALSE
    assert APPROXIMATE.implies(known, Approximate(of(0), Enclosure.between(HALF, 1))) is Truth.UNDECIDED


def test_a_tau_that_may_be_0_grows_with_the_group() -> None:
    assert RENYI.group(Renyi(Fraction(8), Enclosure.between(0, 1)), 2).tau.contains(3)
