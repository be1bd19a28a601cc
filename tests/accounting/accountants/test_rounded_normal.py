"""Discrete Gaussian noise accounted for as rounded normal noise."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from certdp.accounting.accountants import BEST, RENYI, ROUNDED_NORMAL, WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import (
    DiscreteGaussianPair,
    DiscreteGaussianVectorPair,
    GaussianPair,
    LaplacePair,
    Pair,
)
from certdp.accounting.pairs.rounded_normal import compared

ONE = Enclosure.of(1)
SMALL = Enclosure.of("1e-6")


def alone(pair: Pair) -> WorstPairs:
    return WorstPairs((pair,), ())


def vectors(dimension: int | None, *, sigma: int = 1000) -> DiscreteGaussianVectorPair:
    """Noise with σ steps about vectors as long."""
    return DiscreteGaussianVectorPair(Fraction(sigma**2), Enclosure.of(sigma), dimension)


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
    """On a lattice so coarse that every term of the comparison shows."""
    run = alone(vectors(2, sigma=20).sampled(Enclosure.of("0.1")).repeated(5))
    epsilon = ROUNDED_NORMAL.epsilon(run, SMALL)
    assert epsilon is not None
    delta = ROUNDED_NORMAL.delta(run, Enclosure.of(epsilon.upper))
    assert delta is not None
    assert 0.99e-6 <= delta.bounds.enclosure.upper_float <= 1.01e-6


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


def test_epsilon_is_that_of_normal_noise_and_what_the_comparison_adds() -> None:
    """With 4,000 coordinates of σ = 20 steps each term counts; the tail is left a share of 2^-12 of δ."""
    pair, delta = vectors(4000, sigma=20), Enclosure.of("1e-3")
    found = ROUNDED_NORMAL.epsilon(alone(pair), delta)
    (noise,) = compared(pair).noises
    spread = noise.spread_for(math.log(1e-3) - 12 * math.log(2))
    raised, lowered = 4000 / (24 * 400), noise.lowered(spread).upper_float
    level = (1e-3 - noise.beyond(spread).upper_float * math.exp(raised)) * math.exp(-raised)
    normal = BEST.epsilon(alone(GaussianPair(ONE)), Enclosure.of(level))
    assert found is not None
    assert normal is not None
    assert found.bounds.enclosure.upper_float == pytest.approx(float(normal.upper) + raised + lowered, rel=1e-9)


def test_what_it_rests_on_is_declared() -> None:
    found = ROUNDED_NORMAL.epsilon(alone(vectors(2)), SMALL)
    assert found is not None
    assert found.theorems == ROUNDED_NORMAL.theorems
    assert set(found.theorems) <= set(BEST.theorems)
    assert str(ROUNDED_NORMAL) == ROUNDED_NORMAL.name == "rounded-normal"
