"""δ(ε) by contours: against closed forms, and against the convolution of one or two losses with a known δ law."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtr

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.loss_distribution import inversion
from certdp.accounting.loss_distribution.inversion import Parts, delta_by_transforms, epsilon_by_transforms, is_enough
from certdp.accounting.loss_distribution.transforms import GaussianTransform, Transform, sampled_gaussian_transform
from certdp.accounting.pairs import GaussianPair, SampledGaussian
from certdp.accounting.relations import Direction
from tests.support.cases import examples

Counted = Callable[[Callable[[], Any]], tuple[Any, int]]
FEW_CALLS = 4 * 10**7

REMOVE, ADD = Direction.REMOVE, Direction.ADD


def number(value: float | str) -> Enclosure:
    return Enclosure.of(value)


def sampled(rate: float | str, shift: float | str, direction: Direction) -> Transform:
    return sampled_gaussian_transform(number(rate), number(shift), direction)


def delta(parts: Parts, epsilon: float | str) -> Enclosure:
    found = delta_by_transforms(parts, number(epsilon))
    assert found is not None
    assert 0 <= found.lower <= found.upper <= 1
    return found


def epsilon(parts: Parts, level: float | str) -> Enclosure:
    found = epsilon_by_transforms(parts, number(level))
    assert found is not None
    assert found.lower >= 0
    return found


def relative(found: Enclosure) -> float:
    return float(found.width / found.upper)


# One moment


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(("rate", "shift", "times"), [("0.01", 1, 1000), ("0.3", "0.5", 40), ("0.001", 2, 10_000)])
def test_what_one_moment_proves_is_true_and_near(direction: Direction, rate: str, shift: str, times: int) -> None:
    parts = [(sampled(rate, shift, direction), times)]
    for level in ("1e-3", "1e-9"):
        least = epsilon(parts, level)
        target = number(level).lower
        assert not is_enough(parts, least.lower * Fraction(999, 1000), target)
        assert is_enough(parts, least.upper * 2, target)
    assert not is_enough(parts, Fraction(0), Fraction(1, 2))
    assert not is_enough(parts, Fraction(1, 2), Fraction(0))
    if direction is ADD:
        largest = -times * (1 - Enclosure.of(rate)).log().lower
        assert is_enough(parts, largest * Fraction(1_000_001, 1_000_000), Fraction(0))
        assert not is_enough(parts, largest * Fraction(999_999, 1_000_000), Fraction(0))
    assert is_enough([], Fraction(0), Fraction(0))


# Closed forms


@pytest.mark.parametrize("level", ["0", "0.5", "1", "3", "5", "8", "11.5", "20", "36"])
def test_gaussians_have_the_known_delta(level: str) -> None:
    """μ = 1 in 100,000 steps; δ from 0.38 down to 1e-278."""
    shift = Enclosure.of(1) / Enclosure.of(100_000).sqrt()
    found = delta([(GaussianTransform(shift.square()), 100_000)], level)
    true = GaussianPair(number(1)).delta(number(level), REMOVE)
    assert found.lower <= true.upper
    assert true.lower <= found.upper
    assert relative(found) < 1e-11


@given(st.floats(0.15, 6), st.integers(1, 10**9), st.floats(0, 40), st.sampled_from([0.0, 1e-3, 1.0]))
@examples(40)
def test_any_gaussian(mu: float, steps: int, level: float, first: float) -> None:
    variance = Fraction(mu) ** 2 / steps
    parts = [(GaussianTransform(number(float(variance))), steps), (GaussianTransform(number(first)), 1)]
    found = delta_by_transforms(parts, number(level))
    total = Enclosure.of(Fraction(float(variance)) * steps + Fraction(first), precision=200)
    true = GaussianPair(total.sqrt()).delta(number(level), ADD)
    assert found is not None
    assert found.lower <= true.upper
    assert true.lower <= found.upper


# Two and three sampled releases, by integrating the exact δ law of one


def exact_delta_of_two(rate: float, shift: float, direction: Direction, level: float) -> mpmath.mpf:
    """∫ δ₁(ε − ℓ(x)) dP(x), where δ₁(ε') = P(ℓ > ε') − e^ε'·Q(ℓ > ε') for every real ε'."""
    with mpmath.workdps(20):
        q, s, eps = mpmath.mpf(rate), mpmath.mpf(shift), mpmath.mpf(level)

        def upper(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2

        def ratio(x: mpmath.mpf) -> mpmath.mpf:
            return 1 - q + q * mpmath.exp(s * (x - s / 2))

        def place(odds: mpmath.mpf) -> mpmath.mpf:
            return mpmath.log((odds - (1 - q)) / q) / s + s / 2

        def one(odds: mpmath.mpf) -> mpmath.mpf:
            if direction is REMOVE:
                x = place(odds) if odds > 1 - q else -mpmath.inf
                return (1 - q) * upper(x) + q * upper(x - s) - odds * upper(x)
            if 1 / odds <= 1 - q:
                return mpmath.mpf(0)
            x = place(1 / odds)
            return upper(-x) - odds * ((1 - q) * upper(-x) + q * upper(s - x))

        def density(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x) * (ratio(x) if direction is REMOVE else 1)

        def integrand(x: mpmath.mpf) -> mpmath.mpf:
            step = ratio(x) if direction is REMOVE else 1 / ratio(x)
            return density(x) * one(mpmath.exp(eps) / step)

        edge = mpmath.exp(eps) / (1 - q) if direction is REMOVE else (mpmath.exp(-eps) / (1 - q))
        marks = sorted({mpmath.mpf(-15), mpmath.mpf(15) + s, *(mpmath.mpf(k) for k in range(-12, 13, 3))})
        if edge > 1 - q:
            marks = sorted({*marks, place(edge)})
        return mpmath.mpf(mpmath.quad(integrand, marks))


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(("rate", "shift", "level"), [(0.5, 1.0, 1.0), (0.25, 2.0, 0.3), (0.75, 0.5, 2.5)])
def test_two_sampled_releases(rate: float, shift: float, level: float, direction: Direction) -> None:
    if direction is ADD:
        level = min(level, -0.8 * math.log1p(-rate))
    found = delta([(sampled(rate, shift, direction), 2)], level)
    true = exact_delta_of_two(rate, shift, direction, level)
    assert float(found.lower) * (1 - 1e-15) <= float(true) <= float(found.upper) * (1 + 1e-15)
    assert relative(found) < 1e-3


def exact_delta_of_three(rate: float, shift: float, direction: Direction, level: float) -> float:
    """The same with two integrals, in floats; panels of the inner one shrink towards where δ₁ is not analytic."""
    gauss, gauss_weights = np.polynomial.legendre.leggauss(10)
    grades = np.concatenate([[0.0], np.exp2(np.arange(-16.0, -1.0)), np.arange(1.0, 17.0)])
    marks = np.concatenate([-grades[:0:-1], grades])
    middles, halves = (marks[1:] + marks[:-1]) / 2, (marks[1:] - marks[:-1]) / 2
    offsets = (middles[:, None] + halves[:, None] * gauss).ravel()
    panels = (halves[:, None] * gauss_weights).ravel()

    def loss(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log1p(rate * np.expm1(shift * (x - shift / 2))))

    def place(log_ratio: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where the likelihood ratio has that logarithm; −∞ where it is larger everywhere."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log1p(np.expm1(log_ratio) / rate) / shift + shift / 2
        return np.where(log_ratio > math.log1p(-rate), found, -np.inf)

    def density(x: NDArray[np.float64]) -> NDArray[np.float64]:
        mass = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
        return np.asarray(mass * (1 + rate * np.expm1(shift * (x - shift / 2))) if direction is REMOVE else mass)

    def one(rest: NDArray[np.float64]) -> NDArray[np.float64]:
        odds = np.exp(rest)
        if direction is REMOVE:
            edge = place(rest)
            return np.asarray((1 - rate - odds) * ndtr(-edge) + rate * ndtr(shift - edge))
        edge = place(-rest)
        return np.asarray(ndtr(edge) * (1 - odds * (1 - rate)) - odds * rate * ndtr(edge - shift))

    first = np.linspace(-11.0, 11.0 + shift, 3601)
    sign = 1 if direction is REMOVE else -1
    kink = place(sign * level - loss(first) - math.log1p(-rate))
    second = np.clip(kink, -8.0, 8.0)[:, None] + offsets  # further out it weighs nothing
    rest = level - sign * (loss(first)[:, None] + loss(second))
    inner = (density(second) * one(rest)) @ panels
    return float((density(first) * inner).sum() * (first[1] - first[0]))


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(("rate", "shift", "level"), [(0.5, 1.0, 0.5), (0.3, 1.5, 0.4)])
def test_three_sampled_releases(rate: float, shift: float, level: float, direction: Direction) -> None:
    found = delta([(sampled(rate, shift, direction), 3)], level)
    true = exact_delta_of_three(rate, shift, direction, level)
    assert float(found.lower) - 1e-12 <= true <= float(found.upper) + 1e-12
    assert relative(found) < 1e-6


# Known values


@pytest.mark.parametrize(
    ("steps", "level", "direction", "value"),
    [
        (1000, "1e-5", REMOVE, 1.8282367),
        (10_000, "1e-5", REMOVE, 6.1877124),
    ],
)
def test_reference_values(steps: int, level: str, direction: Direction, value: float) -> None:
    found = epsilon([(sampled("0.01", 1.0, direction), steps)], level)
    assert round(found.upper_float, 7) == value
    assert relative(found) < 1e-10


def test_no_more_than_renyi() -> None:
    """δ ≤ e^((α − 1)(τ − ε))·(1 − 1/α)^α/(α − 1) at every order α: the lower end must lie below."""
    steps, level = 2000, 3
    pair = SampledGaussian(number(1), number("0.01"))
    for direction in Direction:
        found = delta([(pair.loss_transform(direction), steps)], str(level))
        for order in (2, 4, 8):
            tau = pair.renyi(Fraction(order), direction) * steps
            factor = Fraction(order - 1, order) ** order / (order - 1)
            assert found.lower <= (((tau - level) * (order - 1)).exp() * factor).upper


# Laws


@pytest.mark.parametrize("direction", list(Direction))
def test_order_and_splitting_do_not_matter(direction: Direction) -> None:
    one, other = sampled(0.01, 1.0, direction), sampled(0.02, 0.75, direction)
    gaussian = GaussianTransform(number("0.0625"))
    parts: list[tuple[Transform, int]] = [(one, 700), (other, 300), (gaussian, 3)]
    split: list[tuple[Transform, int]] = [(gaussian, 1), (other, 120), (one, 700), (gaussian, 2), (other, 180)]
    found, again = delta(parts, 1.5), delta(split, 1.5)
    assert found.lower <= again.upper
    assert again.lower <= found.upper
    assert relative(found) < 1e-9
    assert relative(again) < 1e-9


@pytest.mark.parametrize("direction", list(Direction))
def test_more_costs_more(direction: Direction) -> None:
    def at(rate: float, shift: float, steps: int, level: float) -> Enclosure:
        return delta([(sampled(rate, shift, direction), steps)], level)

    base = at(0.02, 0.8, 1000, 1.0)
    for worse in (
        at(0.021, 0.8, 1000, 1.0),
        at(0.02, 0.81, 1000, 1.0),
        at(0.02, 0.8, 1001, 1.0),
        at(0.02, 0.8, 1000, 0.99),
    ):
        assert base.upper < worse.lower


@given(
    st.floats(-4, -0.05),
    st.floats(-1, 0.3),
    st.integers(1000, 10**7),
    st.sampled_from(["1e-2", "1e-5", "1e-12", "1e-100"]),
    st.sampled_from(list(Direction)),
)
@examples(20)
def test_epsilon_inverts_delta(log_rate: float, log_shift: float, steps: int, level: str, direction: Direction) -> None:
    parts = [(sampled(10**log_rate, 10**log_shift, direction), steps)]
    found = epsilon_by_transforms(parts, number(level))
    if found is None:
        return
    above = delta_by_transforms(parts, number(found.upper_float))
    assert above is not None
    assert above.lower <= number(level).upper
    if found.lower > 0:
        assert relative(found) < 1e-6
        below = delta_by_transforms(parts, number(found.lower_float))
        assert below is not None
        assert below.upper >= number(level).lower


@pytest.mark.slow
def test_most_compositions_have_an_answer() -> None:
    """What accountants are asked for: the contour answers, narrowly and in both directions."""
    for rate, shift, steps in product((1e-3, 0.01, 0.9), (0.25, 1.0, 2.0), (1000, 10_000, 10**9)):
        for direction in Direction:
            found = epsilon_by_transforms([(sampled(rate, shift, direction), steps)], number("1e-6"))
            if found is None:  # a loss that is rare in so few steps
                assert (rate, steps, direction) == (1e-3, 1000, REMOVE), shift
            else:
                assert relative(found) < 1e-8 or found.upper == 0


@pytest.mark.parametrize(
    ("rate", "steps", "least", "most"),
    [
        (1e-6, 10**7, "0.00153290573", "0.00153290575"),
        (1e-5, 10**6, "0.0137779724", "0.0137779726"),
    ],
)
def test_rare_large_losses_that_do_not_decide_about_epsilon(rate: float, steps: int, least: str, most: str) -> None:
    """The saddle is that of one release in ten million whose loss is large; ε lies among those that hardly lose."""
    found = epsilon_by_transforms([(sampled(rate, 1.0, REMOVE), steps)], number("1e-3"))
    assert found is not None
    assert Fraction(least) <= found.lower <= found.upper <= Fraction(most)
    for level, holds in ((found.upper, "at most"), (found.lower, "at least")):
        value = delta_by_transforms([(sampled(rate, 1.0, REMOVE), steps)], Enclosure.of(level))
        assert value is not None
        assert value.lower <= Fraction(1, 1000) if holds == "at most" else value.upper >= Fraction(1, 1000)


def test_wide_parameters_are_covered() -> None:
    wide = sampled_gaussian_transform(Enclosure.between("0.01", "0.02"), Enclosure.between(1, "1.25"), REMOVE)
    found = delta_by_transforms([(wide, 1000)], Enclosure.between(1, 2))
    assert found is not None
    for rate, shift, level in ((0.01, 1.0, 2.0), (0.02, 1.25, 1.0), (0.015, 1.1, 1.5)):
        inner = delta([(sampled(rate, shift, REMOVE), 1000)], level)
        assert found.lower <= inner.upper
        assert inner.lower <= found.upper
    costs = epsilon_by_transforms([(wide, 1000)], Enclosure.between("1e-6", "1e-5"))
    assert costs is not None
    for rate, shift, limit in ((0.01, 1.0, "1e-5"), (0.02, 1.25, "1e-6")):
        inner = epsilon([(sampled(rate, shift, REMOVE), 1000)], limit)
        assert costs.lower <= inner.upper
        assert inner.lower <= costs.upper
    decimal = epsilon([(sampled("0.01", "10/11", REMOVE), 1000)], "1e-5")
    assert relative(decimal) < 1e-9


# Corners


def test_nothing_is_lost_without_a_loss() -> None:
    for parts in (
        [],
        [(sampled(0.0, 1.0, ADD), 5)],
        [(sampled(0.5, 0.0, REMOVE), 5), (GaussianTransform(number(0)), 1)],
    ):
        assert delta_by_transforms(parts, number(0)) == number(0)
        assert epsilon_by_transforms(parts, number("1e-5")) == number(0)


def test_beyond_the_largest_loss_delta_is_zero() -> None:
    parts = [(sampled(0.01, 1.0, ADD), 100)]  # −100·log 0.99 = 1.00503…
    assert delta_by_transforms(parts, number("1.0051")) == number(0)
    assert delta(parts, 0.9).lower > 0


def test_an_epsilon_of_zero() -> None:
    parts = [(sampled(1e-4, 1e-6, REMOVE), 10**9)]
    assert epsilon_by_transforms(parts, number("1e-5")) == number(0)
    assert epsilon_by_transforms(parts, number(1)) == number(0)
    assert delta(parts, 0).upper_float < 1e-5


@pytest.mark.parametrize("level", ["1e-300", "1e-3000"])
def test_tiny_deltas(level: str) -> None:
    found = epsilon([(sampled(0.5, 0.1, REMOVE), 1000)], level)
    assert relative(found) < 1e-10
    gaussian = epsilon([(GaussianTransform(number(1)), 1)], level)
    above = GaussianPair(number(1)).delta(Enclosure.of(gaussian.upper, precision=3000), ADD)
    assert above.lower <= number(level).upper


def test_delta_zero_has_no_answer() -> None:
    assert epsilon_by_transforms([(GaussianTransform(number(1)), 1)], number(0)) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "shift", "steps"),
    [
        (1e-12, 1.0, 10**9),
        (1e-6, 1.0, 10**6),
        (0.01, 100.0, 1000),
        (0.5, 1e-200, 10**9),
        (1e-300, 1.0, 10**9),
        (0.01, 1.0, 2),
        (0.999999, 30.0, 2),
    ],
)
def test_corners_are_answered_or_refused_with_little_work(
    rate: float, shift: float, steps: int, counted: Counted
) -> None:
    for direction in Direction:
        parts = [(sampled(rate, shift, direction), steps)]
        deltas = [partial(delta_by_transforms, parts, number(level)) for level in ("0", "1e18")]
        epsilons = [partial(epsilon_by_transforms, parts, number(level)) for level in ("1e-5", "1e-300")]
        for question in deltas + epsilons:
            found, calls = counted(question)
            assert calls < FEW_CALLS
            assert found is None or 0 <= found.lower <= found.upper


def test_the_terms_left_out_are_at_stake(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a period that is far too short the sum exceeds δ by its copies; the lower end must still hold."""
    monkeypatch.setattr(inversion, "_NATS", 0.2)
    monkeypatch.setattr(inversion, "USEFUL", Fraction(1))
    found = delta_by_transforms([(GaussianTransform(number("0.25")), 4)], number(1))
    true = GaussianPair(number(1)).delta(number(1), REMOVE)
    assert found is not None
    assert found.lower <= true.lower
    assert true.upper <= found.upper
    assert relative(found) > 1e-3


def test_a_line_too_short_for_its_tail_is_known_before_its_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    def terms(_: inversion.Contour) -> Any:
        pytest.fail("the terms were computed")

    monkeypatch.setattr(inversion.Contour, "logarithms", property(terms))
    assert epsilon_by_transforms([(sampled("0.01", 2, REMOVE), 1)], Enclosure.of("1e-5")) is None


def test_refusals() -> None:
    parts = [(GaussianTransform(number(1)), 1)]
    with pytest.raises(InvalidValue, match="epsilon"):
        delta_by_transforms(parts, number(-1))
    with pytest.raises(InvalidValue, match="delta"):
        epsilon_by_transforms(parts, number(2))
    with pytest.raises(InvalidValue, match="count"):
        delta_by_transforms([(GaussianTransform(number(1)), 0)], number(1))
    with pytest.raises(InvalidType, match="epsilon"):
        delta_by_transforms(parts, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rate", "contours"),
    [(0.25, 1), ("0.01", 2)],  # a rate between two numbers of binary64 takes one contour for each
)
def test_a_level_between_two_numbers_and_a_pair_known_anew_take_no_further_contour(
    rate: float | str, contours: int
) -> None:
    inversion._contour.cache_clear()
    for precision in (96, 128):
        q, s = Enclosure.of(rate, precision=precision), Enclosure.of(0.75, precision=precision)
        parts = [(sampled_gaussian_transform(q, s, REMOVE), 500)]
        found = epsilon_by_transforms(parts, number("1e-5"))
        assert found is not None
        assert relative(found) < 1e-9
    assert inversion._contour.cache_info().misses == contours


def test_one_contour_for_both_ends_of_a_level_proves_both() -> None:
    parts = [(sampled(0.25, 0.75, REMOVE), 500)]
    level = Enclosure.between("1e-5", Fraction(1, 10**5) * (1 + Fraction(1, 2**66)))
    found, low, high = (
        epsilon_by_transforms(parts, at) for at in (level, *map(Enclosure.of, (level.lower, level.upper)))
    )
    assert found is not None
    assert low is not None
    assert high is not None
    assert found.lower <= high.upper
    assert found.upper >= low.lower
    law = [delta_by_transforms(parts, Enclosure.of(end)) for end in (found.lower, found.upper)]
    assert law[0] is not None
    assert law[1] is not None
    assert law[0].upper >= level.upper
    assert law[1].lower <= level.lower
