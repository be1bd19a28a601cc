"""One Rényi order to approximate DP: edges, extremes, monotonicity and agreement with the joint range of two events."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from certdp.accounting.conversions import delta_at_order, epsilon_at_order, lemma_2_5
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue

ORDERS = st.fractions(Fraction(101, 100), 300, max_denominator=100) | st.integers(2, 64).map(Fraction)
TAUS = st.fractions(0, 20, max_denominator=1000) | st.integers(5, 60).map(lambda bits: Fraction(1, 2**bits))
DELTAS = st.fractions(Fraction(1, 1000), 1, max_denominator=1000) | st.integers(3, 80).map(
    lambda bits: Fraction(1, 2**bits)
)


def of(value: Any) -> Enclosure:
    return Enclosure.of(value)


def joint_range(order: float, tau: float, factor: float) -> float:
    """The largest p − γq with p^α·q^{1−α} + (1 − p)^α·(1 − q)^{1−α} ≤ e^{(α−1)τ}, in floats."""
    most = (order - 1) * tau

    def excess(log_p: float, log_rest: float, log_q: float) -> float:
        first = order * log_p + (1 - order) * log_q
        second = order * log_rest + (1 - order) * math.log1p(-math.exp(log_q))
        top = max(first, second)
        return top + math.log(math.exp(first - top) + math.exp(second - top)) - most

    def missed(odds: float) -> float:
        log_p, log_rest = -math.log1p(math.exp(-odds)), -math.log1p(math.exp(odds))
        least = log_p * order / (order - 1) - tau - 1  # where the first term alone is too much
        log_q: Any = brentq(lambda at: excess(log_p, log_rest, at), least, log_p, xtol=1e-14)
        return float(factor * math.exp(log_q) - math.exp(log_p))

    start = min((-30 + 0.05 * step for step in range(1200)), key=missed)
    bounds = (start - 0.1, start + 0.1)
    found: Any = minimize_scalar(missed, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return -float(found.fun)


@pytest.mark.parametrize(
    ("order", "tau", "epsilon"), [(2, 0.1, 0.5), (8, 1.0, 1.5), (3, 0.01, 0.0), (1.5, 2.0, 3.0), (20, 0.5, 0.2)]
)
def test_delta_is_the_joint_range_of_two_events(order: float, tau: float, epsilon: float) -> None:
    exactly = delta_at_order(Fraction(order), of(tau), of(epsilon)).upper_float
    assert math.isclose(exactly, joint_range(order, tau, math.exp(epsilon)), rel_tol=1e-7)


@given(order=ORDERS, tau=TAUS, delta=DELTAS)
def test_the_best_bound_is_never_above_the_lemma(order: Fraction, tau: Fraction, delta: Fraction) -> None:
    best, lemma = epsilon_at_order(order, of(tau), of(delta)), lemma_2_5(order, of(tau), of(delta))
    assert 0 <= best.lower <= best.upper <= lemma.upper
    assert best.width <= best.upper / 2**80


@given(order=ORDERS, tau=TAUS.filter(bool), delta=DELTAS)
def test_epsilon_and_delta_are_inverse(order: Fraction, tau: Fraction, delta: Fraction) -> None:
    epsilon = epsilon_at_order(order, of(tau), of(delta))
    back = delta_at_order(order, of(tau), epsilon)
    assert back.upper <= delta * (1 + Fraction(1, 10**6))
    if epsilon.lower > 0:
        assert back.upper >= delta * (1 - Fraction(1, 10**6))


@given(order=ORDERS, low=TAUS, high=TAUS, delta=DELTAS, other=DELTAS)
def test_every_number_inside_is_covered(
    order: Fraction, low: Fraction, high: Fraction, delta: Fraction, other: Fraction
) -> None:
    taus = Enclosure.between(min(low, high), max(low, high))
    deltas = Enclosure.between(min(delta, other), max(delta, other))
    whole = epsilon_at_order(order, taus, deltas)
    assert whole.upper >= epsilon_at_order(order, of(taus.lower), of(deltas.upper)).lower
    room = 1 + Fraction(1, 10**9)
    assert epsilon_at_order(order, of(high), of(delta)).upper <= whole.upper * room


@pytest.mark.parametrize(
    ("order", "tau", "exponent"),
    [(2, 10**6, -(10**6)), (1 + Fraction(1, 10**6), 10**6, -(10**6)), (10**6, 10**6, -(10**6)), (10**6, 1, -1)],
)
def test_extreme_arguments(order: Any, tau: Any, exponent: int) -> None:
    delta = of(exponent).exp()
    best, lemma = epsilon_at_order(Fraction(order), of(tau), delta), lemma_2_5(Fraction(order), of(tau), delta)
    assert 0 <= best.lower <= best.upper <= lemma.upper
    assert best.width <= best.upper / 2**60


def test_edges() -> None:
    two = Fraction(2)
    assert epsilon_at_order(two, of(0), of(0)) == of(0)
    assert epsilon_at_order(two, of(5), of(1)) == of(0)
    assert delta_at_order(two, of(0), of(0)) == of(0)
    assert delta_at_order(two, of(100), of(0)).upper <= 1
    assert lemma_2_5(two, of(0), of("0.5")) == of(0)
    for convert in (lemma_2_5, epsilon_at_order):
        with pytest.raises(InvalidValue, match="no ε follows for δ = 0"):
            convert(two, of(1), of(0))
        with pytest.raises(InvalidValue, match="no ε follows for δ = 0"):
            convert(two, of(1), Enclosure.between(0, "0.1"))


@pytest.mark.parametrize("convert", [lemma_2_5, epsilon_at_order, delta_at_order])
def test_arguments_are_checked(convert: Any) -> None:
    with pytest.raises(InvalidValue, match="order"):
        convert(Fraction(1), of(1), of("0.1"))
    with pytest.raises(InvalidType, match="order"):
        convert(2.5, of(1), of("0.1"))
    with pytest.raises(InvalidValue, match="tau"):
        convert(Fraction(2), of(-1), of("0.1"))
    with pytest.raises(InvalidValue, match=r"delta|epsilon"):
        convert(Fraction(2), of(1), of("-0.1"))
