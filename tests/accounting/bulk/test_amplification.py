"""Amplification in bulk: every bound holds against Arb, and within the stated margins."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, log
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from certdp.accounting.bulk import amplification as amplification
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import GaussianPair, LaplacePair, Pair, RandomisedResponsePair
from certdp.accounting.relations import Direction

Floats = NDArray[np.float64]
U = 2.0**-53
CORNERS = {
    "rate": [0.0, 1.0, 1.0 - U, 1e-300, 5e-324, 0.3],
    "shift": [0.0, 1e-300, 1e-8, 1.0, 40.0, 1e6, 1e150],
    "epsilon": [0.0, 5e-324, 1e-10, 1.0, 50.0, 701.0, 1e10, np.inf],
    "delta": [0.0, 5e-324, 1e-300, 1e-12, 0.2, 1.0],
}


@pytest.fixture(autouse=True)
def bits() -> None:
    flint.ctx.prec = 2500


def gaussian(level: arb, shift: arb) -> arb:
    def cdf(x: arb) -> arb:
        return (-x / arb(2).sqrt()).erfc() / 2

    return cdf(shift / 2 - level / shift) - level.exp() * cdf(-shift / 2 - level / shift)


def laplace(level: arb, shift: arb) -> arb:
    return -((level - shift) / 2).expm1() if level < shift else arb(0)


def response(level: arb, loss: arb) -> arb:
    return (loss.exp() - level.exp()) / (1 + loss.exp()) if level < loss else arb(0)


def row(pair: Callable[[arb, arb], arb], q: float, s: float, epsilon: float, direction: Direction) -> arb:
    """δ of the sampled pair from its definition: the two cases of Balle, Barthe, Gaboardi's Theorem 2."""
    if not q or not s:
        return arb(0)
    rate, shift, e = arb(q), arb(s), arb(epsilon)
    if direction is Direction.REMOVE:
        return rate * pair((1 + e.expm1() / rate).log(), shift)
    y = 1 + (-e).expm1() / rate
    return rate * e.exp() * y * pair(-y.log(), shift) if y > 0 else arb(0)


def cases(stream: int, size: int) -> tuple[Floats, Floats, Floats]:
    """Rates, shifts and levels' places a = L/s − s/2 that matter."""
    rng = np.random.default_rng(stream)
    rate = np.where(rng.random(size) < 0.1, 1.0, 10.0 ** rng.uniform(-12, 0, size))
    return rate, 10.0 ** rng.uniform(-8, 2, size), rng.uniform(-3, 36, size)


@pytest.mark.parametrize("direction", Direction)
def test_gaussian_delta_bounds_and_is_near(direction: Direction, stream: int) -> None:
    rate, shift, place = cases(stream, 400)
    level = np.maximum(shift * (place + shift / 2), 0.0)
    epsilon = np.log1p(rate * np.expm1(np.minimum(level, 600.0)))
    found = amplification.gaussian_delta(rate, shift, epsilon, direction)
    for q, s, e, value in zip(rate.tolist(), shift.tolist(), epsilon.tolist(), found.tolist(), strict=True):
        truth = row(gaussian, q, s, e, direction)
        assert truth <= value <= q
        a = float((1 + arb(e).expm1() / arb(q)).log() / arb(s)) - s / 2
        if direction is Direction.REMOVE and a <= 37.5:
            excess = (800 + 64 * (1 + abs(a)) * (1 + abs(a) + s)) * U
            assert value <= truth * (1 + excess) + arb(2) ** -1068, (q, s, e)


@pytest.mark.parametrize("direction", Direction)
def test_laplace_delta_bounds_and_is_near(direction: Direction, stream: int) -> None:
    rate, shift, _ = cases(stream, 400)
    level = shift * np.random.default_rng(stream).uniform(0, 1.01, 400)
    epsilon = np.log1p(rate * np.expm1(np.minimum(level, 600.0)))
    found = amplification.laplace_delta(rate, shift, epsilon, direction)
    for q, s, e, value in zip(rate.tolist(), shift.tolist(), epsilon.tolist(), found.tolist(), strict=True):
        truth = row(laplace, q, s, e, direction)
        assert truth <= value <= q
        if direction is Direction.REMOVE:
            assert value <= truth * (1 + 2.0**-48) + 2.0**-46 * q * s + arb(2) ** -1068


@pytest.mark.parametrize(
    ("kernel", "pair"), [(amplification.gaussian_delta, gaussian), (amplification.laplace_delta, laplace)]
)
@pytest.mark.parametrize("direction", Direction)
def test_delta_at_the_corners(
    kernel: Callable[..., Floats], pair: Callable[[arb, arb], arb], direction: Direction
) -> None:
    for q in CORNERS["rate"]:
        for s in CORNERS["shift"][:-1]:
            for e in CORNERS["epsilon"]:
                value = float(kernel(q, s, e, direction))
                assert 0.0 <= value <= q
                if e == np.inf or not q or not s:
                    assert value == 0.0
                elif e < 1e9 and s < 1e6:
                    # a ball that holds nothing but 0 and less is no lower bound
                    truth = row(pair, q, s, e, direction)
                    assert truth.mid() <= arb(value) + abs(truth).rad() * 2, (q, s, e)
    assert float(kernel(0.5, 1e6, 1.0)) == 0.5
    assert kernel(0.3, 1e-300, 0.0) <= 0.3 * 0.5e-300 * (1 + 1e-12)
    assert kernel(0.3, 1e150, 5.0) == 0.3


@pytest.mark.parametrize("kernel", [amplification.gaussian_delta, amplification.laplace_delta])
def test_remove_bounds_add(kernel: Callable[..., Floats], stream: int) -> None:
    rate, shift, place = cases(stream, 2000)
    epsilon = np.abs(place) / 10
    assert np.all(kernel(rate, shift, epsilon, Direction.ADD) <= kernel(rate, shift, epsilon) * (1 + 1e-10) + 1e-300)


INVERSES: list[tuple[Callable[..., Floats], Callable[[arb, arb], arb]]] = [
    (amplification.gaussian_epsilon, gaussian),
    (amplification.laplace_epsilon, laplace),
    (amplification.response_epsilon, response),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "pair"), INVERSES)
def test_epsilon_bounds_and_is_near(
    kernel: Callable[..., Floats], pair: Callable[[arb, arb], arb], stream: int
) -> None:
    rate, shift, _ = cases(stream, 300)
    shift = np.maximum(shift, 1e-5)
    delta = rate * 10.0 ** np.random.default_rng(stream).uniform(-200, 0, 300)
    found = kernel(rate, shift, delta)
    for q, s, d, value in zip(rate.tolist(), shift.tolist(), delta.tolist(), found.tolist(), strict=True):
        assert value >= 0.0
        if d < q:
            assert row(pair, q, s, value, Direction.REMOVE) <= d
            if value > 0.0:
                less = value * (1 - 1e-12 * (1 + s)) - 1e-11 * q * s
                assert less <= 0.0 or row(pair, q, s, less, Direction.REMOVE) >= d, (q, s, d)


@pytest.mark.parametrize(("kernel", "pair"), INVERSES)
def test_epsilon_at_the_corners(kernel: Callable[..., Floats], pair: Callable[[arb, arb], arb]) -> None:
    for q in CORNERS["rate"]:
        for s in CORNERS["shift"]:
            for d in CORNERS["delta"]:
                value = float(kernel(q, s, d))
                assert value >= 0.0
                if d >= q:
                    assert value == 0.0
                elif not s:
                    assert value == 0.0 or d == 0.0
                elif s < 1e3 and value < 1e3:
                    truth = row(pair, q, s, value, Direction.REMOVE)
                    assert truth.mid() <= arb(d) + abs(truth).rad() * 2, (q, s, d)
    assert amplification.gaussian_epsilon(0.5, 1.0, 0.0) == np.inf
    assert amplification.laplace_epsilon(1.0, 0.75, 0.0) == 0.75
    assert amplification.response_epsilon(0.5, np.inf, 1e-6) == np.inf


def wide(stream: int, size: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Rates, shifts, ε and δ down to the subnormal numbers."""
    rng = np.random.default_rng(stream)

    def powers(low: float, high: float) -> Floats:
        return 10.0 ** rng.uniform(low, high, size)

    few = rng.choice([1.0, 1 - U, 0.5, 5e-324, 2.0**-960], size)
    rate = np.where(rng.random(size) < 0.2, few, powers(-320, 0))
    shift = np.where(rng.random(size) < 0.5, powers(-320, 5), powers(-3, 1.5))
    epsilon = np.where(rng.random(size) < 0.5, powers(-320, 2.8), np.minimum(shift * rng.random(size), 690.0))
    return rate, shift, epsilon, np.where(rng.random(size) < 0.5, powers(-322, 0), rate * powers(-30, 0))


def decidedly_above(truth: arb, bound: float) -> bool:
    """Whether Arb proves that the bound is none; at these sizes cancellation leaves a few cases open."""
    return bool(truth > bound)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "pair"), [(amplification.gaussian_delta, gaussian), (amplification.laplace_delta, laplace)]
)
@pytest.mark.parametrize("direction", Direction)
def test_delta_over_the_whole_range(
    kernel: Callable[..., Floats], pair: Callable[[arb, arb], arb], direction: Direction, stream: int
) -> None:
    rate, shift, epsilon, _ = wide(stream, 1500)
    found = kernel(rate, shift, epsilon, direction)
    undecided = 0
    for q, s, e, value in zip(rate.tolist(), shift.tolist(), epsilon.tolist(), found.tolist(), strict=True):
        truth = row(pair, q, s, e, direction)
        assert not decidedly_above(truth, value), (q, s, e)
        undecided += not truth <= value
    assert undecided < 50


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "pair"), INVERSES)
def test_epsilon_over_the_whole_range(
    kernel: Callable[..., Floats], pair: Callable[[arb, arb], arb], stream: int
) -> None:
    rate, shift, _, delta = wide(stream, 1500)
    found = kernel(rate, shift, delta)
    assert np.all(found >= 0.0)
    undecided = 0
    for q, s, d, value in zip(rate.tolist(), shift.tolist(), delta.tolist(), found.tolist(), strict=True):
        if value < 5000.0:
            truth = row(pair, q, s, value, Direction.REMOVE)
            assert not decidedly_above(truth, d), (q, s, d)
            undecided += not truth <= d  # as where δ is the rate itself, both the least number above 0
    assert undecided < 5


def laplace_moment(s: arb, order: int) -> arb:
    above = ((order - 1) * s).exp() * order + (-order * s).exp() * (order - 1)
    return (above / (2 * order - 1)).log()


def response_moment(e: arb, order: int) -> arb:
    p = 1 / (1 + (-e).exp())
    return (p * ((order - 1) * e).exp() + (1 - p) * (-(order - 1) * e).exp()).log()


@pytest.mark.parametrize(
    ("kernel", "truth"),
    [(amplification.laplace_moments, laplace_moment), (amplification.response_moments, response_moment)],
)
def test_moments_of_pairs(kernel: Callable[..., Floats], truth: Callable[[arb, int], arb], stream: int) -> None:
    values = 10.0 ** np.random.default_rng(stream).uniform(-30, 3, 60)
    for order in (2, 3, 7, 50, 1000):
        for s, found in zip(values.tolist(), kernel(values, order).tolist(), strict=True):
            exact = truth(arb(s), order)
            assert exact <= found
            assert found <= exact * (1 + 2.0**-46 * (1 + order * s)) + arb(2) ** -1060
    assert kernel([0.0, 1e-200], 2).tolist() == [0.0, pytest.approx(0.0, abs=1e-300)]
    assert np.all(kernel([1e305], 10**6) == np.inf)


def test_sampled_moments_bound_and_are_near(stream: int) -> None:
    rng = np.random.default_rng(stream)
    for order in (2, 3, 16, 64):
        size = 60
        rate = 10.0 ** rng.uniform(-12, 0, size)
        moments = np.sort(10.0 ** rng.uniform(-30, 2.7, (size, 1)) * rng.uniform(0.1, 1, (size, order - 1)), axis=1)
        found = amplification.sampled_moments(moments, rate)
        for q, us, value in zip(rate.tolist(), moments.tolist(), found.tolist(), strict=True):
            p = arb(q)
            terms = (comb(order, k) * (1 - p) ** (order - k) * p**k * arb(u).expm1() for k, u in enumerate(us, start=2))
            truth = sum(terms, arb(0)).log1p()
            assert truth <= value
            factor = 64 * (1 + order * (1 - log(q) - float(np.log1p(-q))) + us[-1]) * U
            assert value <= truth * (1 + factor) + arb(2) ** -960


def test_sampled_moments_at_the_corners() -> None:
    moments = np.array([[0.0, 0.0], [1e-300, 2e-300], [1.0, 800.0], [1e300, np.inf]])
    assert amplification.sampled_moments(moments, 0.0).tolist() == [0.0] * 4
    assert amplification.sampled_moments(moments, 1.0).tolist() == moments[:, 1].tolist()
    tiny = amplification.sampled_moments(moments, 1e-300)
    assert tiny[0] == 0.0
    assert 0.0 < tiny[1] < 1e-289
    assert tiny[2] >= float((arb(1e-300) ** 3 * arb(800).expm1()).log1p())
    assert tiny[3] == np.inf


@pytest.mark.parametrize("order", ["1.01", "1.5", "2", "17", "500.5"])
def test_added_moments_bound_two_outcomes_and_are_near(order: str) -> None:
    """Against enclosures of 400 bits, where nothing cancels that matters."""
    alpha = Fraction(order)
    generator = np.random.default_rng(5)
    spreads = np.append(10 ** generator.uniform(-12, 3, 200), [0.0, 1e-30, 800.0, np.inf])
    rates = np.append(10 ** generator.uniform(-15, 0, 200) * (1 - 1e-9), [0.5, 1e-3, 0.1, 0.2])
    for value, spread, rate in zip(
        amplification.added_moments(spreads, rates, alpha).tolist(), spreads.tolist(), rates.tolist(), strict=True
    ):
        q = Enclosure.of(rate, precision=400)
        absent = (-q).log1p() * (1 - alpha)
        if spread == np.inf:
            assert Fraction(value) >= absent.lower
            continue
        kept = (-Enclosure.of(spread, precision=400)).exp()
        present = (q * (1 / kept - 1)).log1p() * (1 - alpha)
        apart = (1 - kept) * absent.expm1()
        truth = (apart + kept * present.expm1()).log1p()
        assert value == 0.0 if spread == 0.0 else Fraction(value) >= truth.upper
        slack = apart.upper / 2**42
        assert Fraction(value) <= (truth.upper + slack) * (1 + Fraction(1, 10**9)) + Fraction(1, 2**900)


@pytest.mark.parametrize("order", ["1.5", "2", "2.75", "8", "17.1"])
def test_between_integers_bounds_the_enclosures(order: str) -> None:
    """Against the REMOVE row of enclosures; chords exceed nothing but themselves."""
    alpha = Fraction(order)
    below, above = int(alpha), int(alpha) + 1
    rate, shift = np.array([0.01, 0.3, 0.9]), np.array([2.0, 0.1, 1.0])
    base = np.stack([amplification.laplace_moments(shift, k) for k in range(2, above + 1)], axis=1)
    low = amplification.sampled_moments(base[:, : below - 1], rate) if below > 1 else np.zeros(3)
    found = amplification.between_integers(low, amplification.sampled_moments(base, rate), alpha)
    for q, s, value in zip(rate.tolist(), shift.tolist(), found.tolist(), strict=True):
        law = LaplacePair(Enclosure.of(s)).sampled(Enclosure.of(q)).renyi
        assert law is not None
        known = law(alpha, Direction.REMOVE)
        assert known.lower <= Fraction(value)
        if alpha.denominator == 1:
            assert Fraction(value) <= known.upper * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("make", [LaplacePair, RandomisedResponsePair, GaussianPair])
def test_remove_dominates_add_in_every_order(make: Callable[[Enclosure], Pair]) -> None:
    """The theorem on symmetric pairs, against moments on a fine grid of outputs (sums of non-negative terms)."""
    x = np.linspace(-12.0, 14.0, 26001)
    densities: dict[Any, Any] = {
        LaplacePair: lambda s: (np.exp(-np.abs(x - s)), np.exp(-np.abs(x))),
        GaussianPair: lambda s: (np.exp(-((x - s) ** 2) / 2), np.exp(-(x**2) / 2)),
        RandomisedResponsePair: lambda s: (np.array([np.exp(s), 1.0]), np.array([1.0, np.exp(s)])),
    }
    for s in (0.05, 0.5, 2.0):
        p, q = (density / density.sum() for density in densities[make](s))
        for rate in (0.01, 0.2, 0.7):
            mixed = (1 - rate) * q + rate * p
            for alpha in (1.01, 1.5, 2.0, 3.5, 20.0):
                remove = np.log(np.sum(q * (mixed / q) ** alpha))
                add = np.log(np.sum(q * (q / mixed) ** (alpha - 1)))
                assert add <= remove + 1e-9 * (s == 0.05) + 1e-6 * remove


def test_results_depend_on_the_inputs_alone() -> None:
    rate, shift, place = cases(5, 5000)
    for kernel in (amplification.gaussian_delta, amplification.laplace_delta, amplification.gaussian_epsilon):
        third = np.abs(place) / 40
        whole = kernel(rate, shift, third)
        assert np.array_equal(whole, kernel(rate, shift, third, threads=3))
        assert np.array_equal(whole[7:9], kernel(rate[7:9], shift[7:9], third[7:9]))
    moments = np.sort(np.random.default_rng(1).uniform(0, 3, (3000, 9)), axis=1)
    whole = amplification.sampled_moments(moments, 0.1)
    assert np.array_equal(whole, amplification.sampled_moments(np.asfortranarray(moments), 0.1, threads=2))


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: amplification.gaussian_delta(1.1, 1.0, 1.0), "rate"),
        (lambda: amplification.gaussian_delta(np.nan, 1.0, 1.0), "rate"),
        (lambda: amplification.gaussian_delta(0.1, np.inf, 1.0), "shift"),
        (lambda: amplification.gaussian_delta(0.1, -1.0, 1.0), "shift"),
        (lambda: amplification.laplace_delta(0.1, 1.0, -1.0), "epsilon"),
        (lambda: amplification.gaussian_epsilon(0.1, 1.0, 1.5), "delta"),
        (lambda: amplification.response_epsilon(0.1, np.nan, 0.5), "loss"),
        (lambda: amplification.laplace_moments([1.0], 1), "order"),
        (lambda: amplification.sampled_moments([[-1.0]], 0.1), "moments"),
        (lambda: amplification.sampled_moments([1.0], 0.1), "moments"),
        (lambda: amplification.sampled_moments([[1.0]], [0.1, 0.2]), "rate"),
        (lambda: amplification.gaussian_delta([0.1, 0.2], [1.0, 1.0, 1.0], 1.0), "rate"),
    ],
)
def test_refusals(call: Callable[[], object], parameter: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        call()
    assert caught.value.parameter == parameter


def test_types_are_refused() -> None:
    wrong: Any = "remove"
    with pytest.raises(InvalidType, match="direction"):
        amplification.gaussian_delta(0.1, 1.0, 1.0, wrong)
    half: Any = 2.5
    with pytest.raises(InvalidType, match="order"):
        amplification.laplace_moments([1.0], half)
