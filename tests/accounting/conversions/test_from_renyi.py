"""One Rényi order to approximate DP: edges, extremes, monotonicity and agreement with the joint range of two events."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar

from certdp.accounting.conversions import delta_at_order, epsilon_at_order, lemma_2_5
from certdp.accounting.conversions.renyi_search import choose_ratio, choose_touching
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


@pytest.fixture
def _digits() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


def ball(number: Fraction | float) -> arb:
    exactly = Fraction(number)
    return arb(exactly.numerator) / exactly.denominator


def is_just(value: Enclosure, exact: arb) -> bool:
    """Whether it encloses that number narrowly, and is no float."""
    return ball(value.lower) < exact < ball(value.upper) and value.width <= value.upper / 2**80


@pytest.mark.usefixtures("_digits")
@pytest.mark.parametrize(
    ("order", "tau", "delta"), [("3/2", "1/4", "1/8"), ("5/2", "1", "1/64"), ("8", "1/2", "1/1024")]
)
def test_epsilon_is_that_of_the_tangent_chosen(order: str, tau: str, delta: str) -> None:
    """γ = c(α − 1)(r₂^α − r₁^α), with r₂^{α−1} = r₁^{α−1} + 1/(αc) and c·B = δ."""
    a, t, d = Fraction(order), Fraction(tau), Fraction(delta)
    down, _ = choose_touching(float(a - 1), float(t), of(d).log().lower_float)
    alpha, first = ball(a), (-ball(down)).exp()
    mass = (ball(t) * (alpha - 1)).exp() + (alpha - 1) * first**alpha - alpha * first ** (alpha - 1)
    c = ball(d) / mass
    second = (first ** (alpha - 1) + 1 / (alpha * c)) ** (1 / (alpha - 1))
    gamma = c * (alpha - 1) * (second**alpha - first**alpha)
    assert is_just(epsilon_at_order(a, of(t), of(d)), gamma.log())


@pytest.mark.usefixtures("_digits")
@pytest.mark.parametrize(("order", "tau", "epsilon"), [("3/2", "1/4", "1/2"), ("5/2", "1", "5/2"), ("8", "1/2", "3/4")])
def test_delta_is_that_of_the_tangent_chosen(order: str, tau: str, epsilon: str) -> None:
    """c·B, where r₁ and c follow from γ and r₂/r₁."""
    a, t, e = Fraction(order), Fraction(tau), Fraction(epsilon)
    apart, _ = choose_ratio(float(a - 1), float(t), float(e))
    alpha, ratio = ball(a), ball(apart).exp()
    first = ball(e).exp() * alpha / (alpha - 1) * (ratio ** (alpha - 1) - 1) / (ratio**alpha - 1)
    c = 1 / (alpha * first ** (alpha - 1) * (ratio ** (alpha - 1) - 1))
    mass = (ball(t) * (alpha - 1)).exp() + (alpha - 1) * first**alpha - alpha * first ** (alpha - 1)
    assert is_just(delta_at_order(a, of(t), of(e)), c * mass)


def test_the_more_precise_argument_decides() -> None:
    fine, coarse = Enclosure.of("0.1", precision=300), Enclosure.of("0.5", precision=64)
    for convert in (lemma_2_5, epsilon_at_order, delta_at_order):
        assert convert(Fraction(3), fine, coarse).width < Fraction(1, 2**250)
    assert lemma_2_5(Fraction(3), coarse, Enclosure.of("0.001", precision=300)).width < Fraction(1, 2**250)


def test_no_loss_is_certain_of_a_delta_of_one() -> None:
    """The lower end at δ = 1 is 0: nobody needs an ε there."""
    for tau in (0, 1, 5):
        assert epsilon_at_order(Fraction(2), of(tau), Enclosure.between("0.5", 1)).lower == 0


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
