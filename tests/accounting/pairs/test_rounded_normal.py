"""Discrete Gaussian noise compared with rounded normal noise, point by point and as a whole."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.pairs import (
    Composed,
    DiscreteGaussianVectorPair,
    LaplacePair,
)
from certdp.accounting.pairs.rounded_normal import LatticeNoise, compared
from certdp.accounting.relations import Direction
from tests.support.cases import examples

ONE = Enclosure.of(1)


def vectors(dimension: int | None, *, sigma: int = 1000) -> DiscreteGaussianVectorPair:
    """Noise with σ steps about vectors as long."""
    return DiscreteGaussianVectorPair(Fraction(sigma**2), Enclosure.of(sigma), dimension)


@pytest.mark.slow
@given(variance=st.integers(8, 400), distance=st.integers(0, 400))
@examples(60)
def test_the_weights_of_one_coordinate(variance: int, distance: int) -> None:
    """e^{-1/24σ²} ≤ C/D ≤ (1 + ξ)·e^{y²/24σ⁴} at a point, by 60 digits."""
    with mp.workdps(60):
        sigma = mpmath.sqrt(variance)
        total = mpmath.nsum(lambda k: mpmath.exp(-(k**2) / mp.mpf(2 * variance)), [-mp.inf, mp.inf])
        discrete = mpmath.exp(-mp.mpf(distance**2) / (2 * variance)) / total
        ends = [(distance + side) / (sigma * mpmath.sqrt(2)) for side in (mp.mpf(-1) / 2, mp.mpf(1) / 2)]
        rounded = (mpmath.erfc(ends[0]) - mpmath.erfc(ends[1])) / 2
        ratio = mpmath.log(rounded / discrete)
        noise = LatticeNoise(Fraction(variance), 1, Enclosure.of(0))
        spread = Fraction(max(distance**2, variance), variance)
        assert -mpmath.mpf(noise.raised.upper_float) <= ratio <= mpmath.mpf(noise.lowered(spread).upper_float)


@given(coordinates=st.integers(1, 10**6), digits=st.floats(0.1, 400))
@examples(60)
def test_the_tail_of_all_noise(coordinates: int, digits: float) -> None:
    """A spread leaves the probability asked for, and its bound is one of the χ² distribution."""
    noise = LatticeNoise(Fraction(100), coordinates, Enclosure.of(0))
    spread = noise.spread_for(-digits)
    bound = noise.beyond(spread)
    assert spread >= 1
    assert bound.log().upper_float <= -digits * (1 - 1e-9)
    with flint.ctx.workprec(200):
        half = flint.arb(coordinates) / 2
        tail = (half * flint.fmpq(spread.numerator, spread.denominator)).gamma_upper(half, regularized=1)
        assert tail <= flint.arb(flint.fmpq(*bound.upper.as_integer_ratio()))


def test_beside_other_releases() -> None:
    """Noise of one variance is counted together, of several apart; the rest remains what it is."""
    other = vectors(2, sigma=500)
    run = compared(Composed((vectors(2), vectors(2).repeated(3), LaplacePair(ONE), other)))
    assert [(int(noise.variance), noise.coordinates) for noise in run.noises] == [(10**6, 8), (250_000, 2)]
    assert [round(noise.square.upper_float, 12) for noise in run.noises] == [4, 1]
    assert LaplacePair(ONE) in run.pair.factors


@pytest.mark.parametrize(
    ("variance", "length", "dimension", "parameter"),
    [(0, 1, 1, "variance"), (1, -1, 1, "length"), (1, 1, 0, "dimension")],
)
def test_bad_pairs_are_refused(variance: int, length: int, dimension: int, parameter: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{parameter}: got"):
        DiscreteGaussianVectorPair(Fraction(variance), Enclosure.of(length), dimension)


def test_what_discrete_noise_may_be_likelier() -> None:
    assert LatticeNoise(Fraction(400), 4800, Enclosure.of(0)).raised.contains(Fraction(1, 2))


def test_the_quick_estimate_is_the_curve() -> None:
    pair = vectors(3)
    assert pair.renyi_estimate(2.5, Direction.REMOVE) == pytest.approx(1.25)
    assert pair.renyi(Fraction(5, 2), Direction.ADD).upper_float == pytest.approx(1.25)


@pytest.mark.parametrize("variance", [8, 9, 12])
@pytest.mark.parametrize("coordinates", [1, 3, 50])
def test_how_much_likelier_rounded_noise_may_be_is_its_sum(variance: int, coordinates: int) -> None:
    """r²/24σ² + nx with x = 4e^{−19σ²}, which only many digits show."""
    spread, square = Fraction(3, 2), Fraction(5, 7)
    found = LatticeNoise(Fraction(variance), coordinates, Enclosure.of(square, precision=900)).lowered(spread)
    with mp.workdps(260):
        s2, n = mp.mpf(variance), mp.mpf(coordinates)
        reach = mpmath.sqrt(n * 3 / 2) + mpmath.sqrt(n / (4 * s2)) + mpmath.sqrt(mp.mpf(5) / 7)
        truth = reach**2 / (24 * s2) + 4 * n * mpmath.exp(-19 * s2)
        low, high = (mp.mpf(end.numerator) / end.denominator for end in (found.lower, found.upper))
        tiny = mp.mpf(10) ** -255
        assert low - tiny <= truth <= high + tiny
        assert high - low < mp.mpf(10) ** -250
