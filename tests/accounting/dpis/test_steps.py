"""The cost of DPIS steps: known values, how it moves with each parameter, bad input."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from certdp.accounting.dpis.steps import Step, norm_sum_renyi, sampled_sum_renyi
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.relations import Direction
from certdp.accounting.units import Order, Probability
from tests.support.cases import examples


def step(**changes: Any) -> Step:
    settings: dict[str, Any] = {"batch": 50, "clip": "0.1", "noise_multiplier": "1.5", "size": 1000, "norm_sum": 60}
    return Step(**{**settings, **changes})


def close(found: Enclosure, value: float, relative: float) -> bool:
    return max(abs(found.lower_float - value), abs(found.upper_float - value)) <= relative * value


def test_rate_and_shift_are_exact() -> None:
    one = step()
    assert one.rate == Fraction(1, 12)
    assert one.shift == Fraction(60, 150)
    assert one.record_rate("0.05") == Fraction(1, 24)
    assert one.record_rate("7") == one.rate
    assert one.record_rate(0) == 0


def test_the_reference_divergence() -> None:
    """α = 4, rate 0.05, σ = 1.5: 0.00298215, and twice the exponents as the proof prints them give more."""
    uniform = step(norm_sum=100)
    assert uniform.rate == Fraction(1, 20)
    assert uniform.shift == Fraction(2, 3)
    assert close(uniform.renyi(Order(4)), 0.00298215, 1e-6)
    assert close(sampled_sum_renyi(Probability("0.05"), "1.5", Order(4)), 0.00298215, 1e-6)


def integrated(rate: float, shift: float, order: float) -> float:
    """τ by scipy's quadrature of the excess over 1, in binary64."""

    def excess(x: float) -> float:
        z = math.expm1(shift * x - shift**2 / 2)
        density = math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
        return density * (math.expm1(order * math.log1p(rate * z)) - order * rate * z)

    value, _ = quad(excess, -12, 12 + order * shift, limit=400)
    return math.log1p(value) / (order - 1)


@given(
    st.floats(0.01, 1),
    st.floats(0.5, 5),
    st.sampled_from(["1.25", "2", "3.5", "6"]),
    st.floats(0, 1),
)
@examples(12)
def test_against_another_quadrature(share: float, sigma: float, order: str, length: float) -> None:
    least, most = 5, 100
    one = step(noise_multiplier=sigma, norm_sum=least + (most - least) * share)
    found = one.renyi(Order(order))
    expected = integrated(float(one.rate), float(one.shift), float(Fraction(order)))
    assert close(found, expected, 1e-6)
    record = one.record_renyi(length * 0.1, Order(order))
    assert record.greater(found) is not Truth.TRUE


@pytest.mark.parametrize("order", ["1.01", "2", "2.5", "16", "40.5"])
def test_it_grows_with_the_norm_sum(order: str) -> None:
    costs = [step(norm_sum=total).renyi(Order(order)) for total in (5, "5.001", 6, 10, 30, 99, 100)]
    for smaller, larger in pairwise(costs):
        assert smaller.less(larger) is Truth.TRUE


@pytest.mark.parametrize("order", ["1.5", "8"])
def test_a_smaller_gradient_costs_less(order: str) -> None:
    one = step()
    costs = [one.record_renyi(norm, Order(order)) for norm in (0, "1e-9", "0.01", "0.05", "0.0999", "0.1")]
    assert costs[0] == Enclosure.of(0)
    for smaller, larger in pairwise(costs):
        assert smaller.less(larger) is Truth.TRUE
    assert one.record_renyi(5, Order(order)) == one.renyi(Order(order)) == costs[-1]


def test_without_sampling_it_is_the_gaussian_mechanism() -> None:
    assert sampled_sum_renyi(Probability(1), 2, Order("2.5")).contains(Fraction(5, 16))
    assert step(norm_sum=5, size=50).renyi(Order(3)).contains(Fraction(3) / (2 * Fraction("1.5") ** 2))


def test_the_norm_sum() -> None:
    """N = 60,000, b = 512, σ_K = 1,200: the multiplier is 10.24, not 1,200."""
    rate = Probability(Fraction(512, 60000))
    found = norm_sum_renyi(rate, 1200, Order(8))
    assert found == sampled_sum_renyi(rate, "10.24", Order(8))
    assert found.greater(sampled_sum_renyi(rate, 1200, Order(8)).upper * 10000) is Truth.TRUE


def test_the_pair_costs_what_the_step_costs() -> None:
    one = step()
    law = one.pair().renyi
    assert law is not None
    for order in (Fraction(5, 2), Fraction(6)):
        assert law(order, Direction.REMOVE) == one.renyi(Order(order))
        assert law(order, Direction.ADD).less(law(order, Direction.REMOVE)) is Truth.TRUE


def test_precision_is_kept() -> None:
    wide, narrow = (step().renyi(Order(3), precision=bits) for bits in (64, 256))
    assert wide.contains(narrow)
    assert narrow.precision == 256


@pytest.mark.parametrize("name", ["batch", "clip", "noise_multiplier", "size", "norm_sum"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "many", None, True])
def test_bad_parameters(name: str, value: Any) -> None:
    with pytest.raises(InvalidValue):
        step(**{name: value})


def test_a_norm_sum_below_the_largest_batch_is_refused() -> None:
    with pytest.raises(InvalidValue, match="Equation 12"):
        step(norm_sum="4.999")
    assert step(norm_sum=5).rate == 1


@pytest.mark.parametrize(("norm", "error"), [(-1, InvalidValue), (float("nan"), InvalidValue), (None, InvalidType)])
def test_bad_norms(norm: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="norm"):
        step().record_rate(norm)


@pytest.mark.parametrize("multiplier", [0, -2, "x"])
def test_bad_noise_multipliers(multiplier: Any) -> None:
    with pytest.raises(InvalidValue, match="noise_multiplier"):
        sampled_sum_renyi(Probability("0.1"), multiplier, Order(2))
    with pytest.raises(InvalidValue, match="noise_multiplier"):
        norm_sum_renyi(Probability("0.1"), multiplier, Order(2))


def test_a_norm_sum_over_no_records() -> None:
    with pytest.raises(InvalidValue, match="no records"):
        norm_sum_renyi(Probability(0), 1, Order(2))
