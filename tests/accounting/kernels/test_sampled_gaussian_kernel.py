"""Kernels of the sampled Gaussian: never below the truth, close above it; ε and δ against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting.bulk import sampled_gaussian as bulk
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs.sampled_gaussian_renyi import sampled_gaussian_renyi
from tests.support.cases import examples

Floats = NDArray[np.float64]
CASES = [  # rate, shift, order
    (0.01, 1.0, 8.0),
    (0.01, 1.0, 1.0 + 2.0**-30),
    (1e-8, 0.02, 512.0),
    (0.5, 1.0, 20.5),
    (0.999, 2.0, 5.0),
    (0.3, 0.01, 100.25),
    (1e-3, 3.0, 4.0),
    (0.2, 10.0, 1.5),
    (1e-9, 0.1, 4000.0),
    (1e-4, 0.3, 800.3),
    (1e-20, 2.0, 24.0),
    (1.0 - 2.0**-53, 0.7, 3.25),
    (1e-100, 0.5, 3.0),
    (0.9, 1.0, 1000.0),
]
NEAR = 1e-9
"""The relative excess that the kernel is to stay within."""


def bounds(rate: float, shift: float, order: float) -> Enclosure:
    return sampled_gaussian_renyi(Enclosure.of(rate), Enclosure.of(shift), Fraction(order), precision=64)


def assert_just_above(value: float, true: Enclosure, near: float) -> None:
    assert true.upper <= Fraction(value) <= true.lower * (1 + Fraction(near)) + Fraction(1, 10**280)


@pytest.mark.parametrize(("rate", "shift", "order"), CASES)
def test_divergence_is_just_above_the_truth(rate: float, shift: float, order: float) -> None:
    value = float(bulk.renyi_upper(rate, shift, order))
    assert_just_above(value, bounds(rate, shift, order), 3e-11 if order * shift < 100 else NEAR)


@examples(40)
@given(
    rate=st.floats(-30, 0).map(lambda e: min(10.0**e, 1 - 2.0**-53)),
    shift=st.floats(-4, 0.7).map(lambda e: 10.0**e),
    beta=st.floats(-3, 3).map(lambda e: 10.0**e),
)
def test_divergence_at_random(rate: float, shift: float, beta: float) -> None:
    order = 1.0 + beta
    assert_just_above(float(bulk.renyi_upper(rate, shift, order)), bounds(rate, shift, order), NEAR)


@pytest.mark.soundness
@examples(1500)
@given(
    rate=st.floats(-60, 0).map(lambda e: min(10.0**e, 1 - 2.0**-53)),
    shift=st.floats(-6, 1.3).map(lambda e: 10.0**e),
    beta=st.floats(-6, 5).map(lambda e: 10.0**e),
)
def test_divergence_at_many_more(rate: float, shift: float, beta: float) -> None:
    order = 1.0 + beta
    value = float(bulk.renyi_upper(rate, shift, order))
    assert bounds(rate, shift, order).upper <= Fraction(value)


def test_nothing_is_lost_at_the_ends() -> None:
    rng = np.random.default_rng(4)
    size = 3000
    rate = np.concatenate([10 ** rng.uniform(-330, 0, size), [0.0, 5e-324, 1.0, 1.0, 0.5, 0.5, 1.0 - 2.0**-53]])
    shift = np.concatenate([10 ** rng.uniform(-320, 3, size), [1.0, 1.0, 2.0, 1e200, 0.0, 1e300, 1e-160]])
    order = np.concatenate([1 + 10 ** rng.uniform(-15, 15, size), [3.0, 2.0, 3.0, 2.0, 2.0, 5.0, 1e300]])
    value = bulk.renyi_upper(rate, shift, order)
    with np.errstate(over="ignore"):
        gaussian = order * (0.5 * np.maximum(shift, 1e-150) ** 2) * (1 + 2.0**-48)
    assert not np.isnan(value).any()
    assert (value >= 0).all()
    assert (value <= np.maximum(gaussian, 1e-280)).all()
    assert ((value > 0) | (rate == 0) | (shift == 0)).all()
    assert value[size] == 0
    assert 6.0 <= value[size + 2] <= 6.0 * (1 + 2.0**-48)


def quadrature(rate: float, shift: float, order: mpmath.mpf) -> mpmath.mpf:
    """Λ(α) by mpmath's adaptive rule."""
    q, s = mpmath.mpf(rate), mpmath.mpf(shift)
    ends = [-12, -4, 0, 4, order * s - 4, order * s, order * s + 4, order * s + 12]

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.npdf(x) * (1 - q + q * mpmath.exp(s * (x - s / 2))) ** order

    return mpmath.log(mpmath.quad(integrand, sorted(ends)))


def brute_force(rate: float, shift: float, steps: int, delta: float, start: float) -> mpmath.mpf:
    """The least ε over the order and r₁ of the tangent bound, by mpmath; not certified."""
    given: Any = mpmath.mpf(delta)

    def best_tangent(beta: mpmath.mpf) -> mpmath.mpf:
        alpha = 1 + beta
        moment = mpmath.exp(steps * quadrature(rate, shift, alpha))

        def epsilon(u: mpmath.mpf) -> mpmath.mpf:
            low = mpmath.exp(u)
            c = given / (beta * low**alpha - alpha * low**beta + moment)
            high = (low**beta + 1 / (alpha * c)) ** (1 / beta)
            return mpmath.log(c * beta * (high**alpha - low**alpha))

        return min(epsilon(-mpmath.exp(mpmath.mpf(z) / 4) / beta) for z in range(-48, 8))

    return min(best_tangent(mpmath.mpf(start) * mpmath.mpf(f"{1 + k / 50}")) for k in range(-4, 5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "shift", "steps", "delta"), [(0.01, 1.0, 1000, 1e-5), (0.1, 0.05, 1000, 1e-2), (0.3, 0.1, 10, 1e-9)]
)
def test_epsilon_is_the_least_over_orders(rate: float, shift: float, steps: int, delta: float) -> None:
    value, order = (float(x) for x in bulk.epsilon_upper(rate, shift, steps, delta))
    with mpmath.workdps(20):
        least = brute_force(rate, shift, steps, delta, order - 1)
    assert value <= float(least) * (1 + 1e-6)
    assert value >= float(least) * (1 - 1e-4)  # the grid of the brute force is coarse


@pytest.mark.parametrize(
    ("rate", "shift", "steps", "delta"),
    [(0.01, 1.0, 1000, 1e-5), (0.1, 0.05, 1000, 1e-2), (1e-4, 2.0, 10**5, 1e-6), (0.9, 0.01, 50, 1e-9)],
)
def test_epsilon_is_proven_by_its_order(rate: float, shift: float, steps: int, delta: float) -> None:
    """The value is one of the two bounds at the order returned, evaluated here in enclosures."""
    value, order = (float(x) for x in bulk.epsilon_upper(rate, shift, steps, delta))
    alpha = Fraction(order)
    beta = alpha - 1
    given = Enclosure.of(delta, precision=128)
    loss = sampled_gaussian_renyi(Enclosure.of(rate), Enclosure.of(shift), alpha) * beta * steps
    lemma = (loss - given.log() - Enclosure.of(alpha, precision=128).log()) / beta + Enclosure.of(
        beta / alpha, precision=128
    ).log()
    least = lemma.lower
    for k in range(-120, 30):
        u = Enclosure.of(-math.exp(k / 8) / float(beta), precision=128)
        power, next_power = (u * beta).exp(), (u * alpha).exp()
        inverse = (next_power * beta - power * alpha + loss.exp()) / given
        second = (power + inverse / alpha).power(alpha / beta)
        least = min(least, ((second - next_power) * beta / inverse).log().lower)
    assert float(least) * (1 - 1e-4) <= value <= lemma.upper


def test_reference_values() -> None:
    epsilon, order = bulk.epsilon_upper(0.01, 1.0, 1000, 1e-5)
    assert 2.1008 < epsilon < 2.1009  # Lemma 2.5 alone gives 2.1014
    assert 7.5 < order < 8.0
    noise = bulk.epsilon_upper(0.01, [1 / 1.514, 1 / 1.512], 1000, 1e-5)[0]
    assert noise[0] < 1.0 < noise[1] < 1.002


def test_delta_undoes_epsilon() -> None:
    rng = np.random.default_rng(5)
    rate, shift = 10 ** rng.uniform(-4, -0.5, 300), 10 ** rng.uniform(-1.3, 0.3, 300)
    delta = 10 ** rng.uniform(-10, -2, 300)
    epsilon, _ = bulk.epsilon_upper(rate, shift, 1000, delta)
    back, _ = bulk.delta_upper(rate, shift, 1000, epsilon)
    found = epsilon > 0
    assert found.sum() > 200
    assert (back[found] <= delta[found] * 1.02).all()
    assert (back[found] >= delta[found] * 0.9).all()
    assert (back[~found] <= delta[~found]).all()


def test_search_stops_before_the_edge_where_the_loss_shoots_up() -> None:
    """Beyond α ≈ 19510 Λ rises from 1e-10 to 1 within 10 orders; Lemma 2.5 alone has its least value there, 1e-3."""
    assert bulk.epsilon_upper(2.93e-9, 0.0448663, 100, 4.588e-14)[0] < 1e-5


def exact_gaussian_delta(mean: float, epsilon: float) -> mpmath.mpf:
    m, e = mpmath.mpf(mean), mpmath.mpf(epsilon)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize(("shift", "steps"), [(1.0, 1), (0.05, 100), (3.0, 4)])
def test_without_sampling_never_below_the_exact_gaussian(shift: float, steps: int) -> None:
    epsilon = np.array([0.0, 0.1, 1.0, 5.0, 30.0])
    value, _ = bulk.delta_upper(1.0, shift, steps, epsilon)
    for e, bound in zip(epsilon.tolist(), value.tolist(), strict=True):
        assert exact_gaussian_delta(shift * math.sqrt(steps), e) <= bound <= 1
    delta = np.array([1e-12, 1e-5, 0.1])
    found, _ = bulk.epsilon_upper(1.0, shift, steps, delta)
    for d, bound in zip(delta.tolist(), found.tolist(), strict=True):
        assert exact_gaussian_delta(shift * math.sqrt(steps), bound) <= d


def test_grows_with_rate_shift_steps_and_falls_with_delta() -> None:
    rates, shifts, steps = np.geomspace(1e-4, 1, 40), np.geomspace(0.02, 3, 40), np.arange(1, 2000, 50)
    deltas = np.geomspace(1e-12, 0.5, 40)
    slack = 1 + 1e-6  # the orders are searched only so far
    for values in (
        bulk.epsilon_upper(rates, 0.5, 100, 1e-6)[0],
        bulk.epsilon_upper(0.02, shifts, 100, 1e-6)[0],
        bulk.epsilon_upper(0.02, 0.5, steps, 1e-6)[0],
        bulk.epsilon_upper(0.2, 0.5, 100, deltas)[0][::-1],
        bulk.delta_upper(0.02, 0.5, steps, 0.2)[0],
        bulk.renyi_upper(rates, 0.5, 7.5),
        bulk.renyi_upper(0.02, shifts, 7.5),
        bulk.renyi_upper(0.02, 0.5, np.geomspace(1.01, 500, 40)),
    ):
        assert (values[1:] * slack >= values[:-1]).all()
        assert values[-1] > values[0]


def test_limits() -> None:
    zeros: list[tuple[float, float, int]] = [(0.0, 1.0, 10), (0.5, 0.0, 10), (0.5, 1.0, 0)]
    for rate, shift, steps in zeros:
        assert [float(x) for x in bulk.epsilon_upper(rate, shift, steps, 0.0)] == [0.0, math.inf]
        assert [float(x) for x in bulk.delta_upper(rate, shift, steps, 0.0)] == [0.0, math.inf]
    assert bulk.epsilon_upper(0.5, 1.0, 10, 1.0)[0] == 0
    assert bulk.epsilon_upper(0.5, 1.0, 10, 0.0)[0] == math.inf
    assert bulk.delta_upper(0.5, 1.0, 10, math.inf)[0] == 0
    assert 0 < bulk.delta_upper(0.1, 0.05, 10, 50.0)[0] < 1e-300  # too small for binary64, and not 0
    assert bulk.delta_upper(1.0, 30.0, 1000, 0.0)[0] == 1


@pytest.mark.slow
def test_extreme_input_is_answered() -> None:
    rng = np.random.default_rng(6)
    size = 400
    rate, shift = 10 ** rng.uniform(-320, 0, size), 10 ** rng.uniform(-320, 3, size)
    steps, delta = np.floor(10 ** rng.uniform(0, 15, size)), 10 ** rng.uniform(-320, 0, size)
    for values in bulk.epsilon_upper(rate, shift, steps, delta):
        assert not np.isnan(values).any()
        assert (values >= 0).all()
    values, _ = bulk.delta_upper(rate, shift, steps, 10 ** rng.uniform(-320, 300, size))
    assert ((values > 0) & (values <= 1)).all()


def test_threads_and_shapes_change_nothing() -> None:
    rng = np.random.default_rng(7)
    rate, shift = rng.uniform(0.001, 0.1, (20, 13)), rng.uniform(0.1, 2.0, (20, 13))
    epsilon, order = bulk.epsilon_upper(rate, shift, 100, 1e-6)
    again, again_order = bulk.epsilon_upper(np.asfortranarray(rate), shift, 100, 1e-6, threads=3)
    assert epsilon.shape == (20, 13)
    assert np.array_equal(epsilon, again)
    assert np.array_equal(order, again_order)
    assert epsilon[3, 4] == bulk.epsilon_upper(rate[3, 4], shift[3, 4], 100, 1e-6)[0]
    assert bulk.renyi_upper([], 1.0, 2.0).shape == (0,)
    assert bulk.renyi_upper(np.ones((2, 1)) / 2, [1.0, 2.0, 3.0], 2.0).shape == (2, 3)


@pytest.mark.parametrize(
    ("parameter", "arguments"),
    [
        ("rate", (1.5, 1.0, 10, 1e-5)),
        ("rate", (math.nan, 1.0, 10, 1e-5)),
        ("shift", (0.5, -1.0, 10, 1e-5)),
        ("shift", (0.5, math.inf, 10, 1e-5)),
        ("steps", (0.5, 1.0, 1.5, 1e-5)),
        ("steps", (0.5, 1.0, -1, 1e-5)),
        ("delta", (0.5, 1.0, 10, 1.5)),
        ("delta", (0.5, 1.0, 10, math.nan)),
        ("rate", ([0.5, 0.5], [1.0, 1.0, 1.0], 10, 1e-5)),
    ],
)
def test_bad_input_is_refused(parameter: str, arguments: tuple[Any, Any, Any, Any]) -> None:
    with pytest.raises(InvalidValue, match=parameter):
        bulk.epsilon_upper(*arguments)


def test_more_bad_input_is_refused() -> None:
    with pytest.raises(InvalidValue, match="order"):
        bulk.renyi_upper(0.5, 1.0, 1.0)
    with pytest.raises(InvalidValue, match="order"):
        bulk.renyi_upper(0.5, 1.0, math.inf)
    with pytest.raises(InvalidValue, match="epsilon"):
        bulk.delta_upper(0.5, 1.0, 10, -0.1)
    with pytest.raises(InvalidType, match="rate"):
        bulk.renyi_upper("0.5", 1.0, 2.0)
    with pytest.raises(InvalidValue, match="threads"):
        bulk.renyi_upper(0.5, 1.0, 2.0, threads=0)
