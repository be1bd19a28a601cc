"""Discrete Gaussian noise compared with rounded normal noise, point by point and as a whole."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from certdp.accounting.accountants import BEST, RENYI, ROUNDED_NORMAL, WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.pairs import (
    Composed,
    DiscreteGaussianPair,
    DiscreteGaussianVectorPair,
    GaussianPair,
    LaplacePair,
    Pair,
)
from certdp.accounting.pairs.rounded_normal import LatticeNoise, compared
from tests.support.cases import examples

ONE = Enclosure.of(1)
SMALL = Enclosure.of("1e-6")


def alone(pair: Pair) -> WorstPairs:
    return WorstPairs((pair,), ())


def vectors(dimension: int | None, *, sigma: int = 1000) -> DiscreteGaussianVectorPair:
    """Noise with σ steps about vectors as long."""
    return DiscreteGaussianVectorPair(Fraction(sigma**2), Enclosure.of(sigma), dimension)


@given(variance=st.integers(8, 400), distance=st.integers(0, 400))
@examples(60)
def test_the_weights_of_one_coordinate(variance: int, distance: int) -> None:
    """e^{-1/24σ²} ≤ C/D ≤ (1 + ξ)·e^{y²/24σ⁴} at a point, by 60 digits."""
    with mp.workdps(60):
        sigma = mp.sqrt(variance)
        total = mp.nsum(lambda k: mp.exp(-(k**2) / mp.mpf(2 * variance)), [-mp.inf, mp.inf])
        discrete = mp.exp(-mp.mpf(distance**2) / (2 * variance)) / total
        ends = [(distance + side) / (sigma * mp.sqrt(2)) for side in (mp.mpf(-1) / 2, mp.mpf(1) / 2)]
        rounded = (mp.erfc(ends[0]) - mp.erfc(ends[1])) / 2
        ratio = mp.log(rounded / discrete)
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
    with mp.workdps(40):
        half = mp.mpf(coordinates) / 2
        tail = mp.gammainc(half, half * spread.numerator / spread.denominator, mp.inf, regularized=True)
        assert tail <= mpmath.mpf(bound.upper_float)


@pytest.mark.parametrize("rate", ["0.001", "0.01", "0.1", "1"])
@pytest.mark.parametrize("times", [1, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dimension", [1, 100])
def test_a_fine_lattice_costs_hardly_more_than_normal_noise(rate: str, times: int, dimension: int) -> None:
    normal = GaussianPair(ONE).sampled(Enclosure.of(rate)).repeated(times)
    found = ROUNDED_NORMAL.epsilon(alone(vectors(dimension).sampled(Enclosure.of(rate)).repeated(times)), SMALL)
    known = BEST.epsilon(alone(normal), SMALL)
    assert found is not None
    assert known is not None
    allowed = Fraction(1, 100) if dimension == 1 else Fraction(6, 100)
    assert known.bounds.enclosure.lower <= found.upper <= known.upper * (1 + allowed)


def test_the_same_of_the_pair_of_one_dimension() -> None:
    """Steps that are not whole count with their whole part."""
    for steps in (Enclosure.of(1000), Enclosure.of("1000.9")):
        one = ROUNDED_NORMAL.epsilon(alone(DiscreteGaussianPair(Fraction(10**6), steps)), SMALL)
        assert one == ROUNDED_NORMAL.epsilon(alone(vectors(1)), SMALL)


def test_epsilon_and_delta_agree() -> None:
    run = alone(vectors(2).sampled(Enclosure.of("0.1")).repeated(5))
    epsilon = ROUNDED_NORMAL.epsilon(run, SMALL)
    assert epsilon is not None
    delta = ROUNDED_NORMAL.delta(run, Enclosure.of(epsilon.upper))
    assert delta is not None
    assert 0.99e-6 <= delta.bounds.enclosure.upper_float <= 1.01e-6


def test_beside_other_releases() -> None:
    """Noise of one variance is counted together, of several apart; the rest remains what it is."""
    other = vectors(2, sigma=500)
    run = compared(Composed((vectors(2), vectors(2).repeated(3), LaplacePair(ONE), other)))
    assert [(int(noise.variance), noise.coordinates) for noise in run.noises] == [(10**6, 8), (250_000, 2)]
    assert [round(noise.square.upper_float, 12) for noise in run.noises] == [4, 1]
    assert LaplacePair(ONE) in run.pair.factors


def test_what_is_not_compared() -> None:
    """No dimension, a coarse lattice, no discrete noise, and an ε that the comparison uses up."""
    for pair in (vectors(None), vectors(1, sigma=2), GaussianPair(ONE), LaplacePair(ONE)):
        assert compared(pair).noises == ()
        assert ROUNDED_NORMAL.epsilon(alone(pair), SMALL) is None
        assert ROUNDED_NORMAL.delta(alone(pair), ONE) is None
    assert ROUNDED_NORMAL.delta(alone(vectors(10**9, sigma=1000)), ONE) is None
    assert ROUNDED_NORMAL.epsilon(alone(vectors(1)), Enclosure.of(0)) is None


def test_without_a_dimension_the_renyi_curve_remains() -> None:
    found = BEST.epsilon(alone(vectors(None).sampled(Enclosure.of("0.1"))), SMALL)
    assert found is not None
    assert found.accountant == RENYI


@pytest.mark.parametrize(
    ("variance", "length", "dimension", "parameter"),
    [(0, 1, 1, "variance"), (1, -1, 1, "length"), (1, 1, 0, "dimension")],
)
def test_bad_pairs_are_refused(variance: int, length: int, dimension: int, parameter: str) -> None:
    with pytest.raises(InvalidValue, match=f"^{parameter}: got"):
        DiscreteGaussianVectorPair(Fraction(variance), Enclosure.of(length), dimension)
