"""Symmetric pairs: which are, and what sampling them gains in the ADD direction."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.pairs import (
    Composed,
    DensityPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    RenyiCurve,
    Repeated,
    Sampled,
    SampledGaussian,
    ZeroConcentratedCurve,
)
from certdp.accounting.pairs.pair import always
from certdp.accounting.relations import Direction

ONE = Enclosure.of(1)
RATE = Enclosure.of("0.1")


def finite(present: str, absent: str) -> FinitePair:
    return FinitePair(tuple(map(Fraction, present.split())), tuple(map(Fraction, absent.split())))


SYMMETRIC: list[Pair] = [
    LaplacePair(ONE),
    GaussianPair(ONE),
    RandomisedResponsePair(ONE),
    RandomisedResponsePair(ONE).repeated(3),
    DiscreteLaplacePair(ONE, Enclosure.of(2)),
    DiscreteGaussianPair(Fraction(2), Enclosure.of(1)),
    finite("3/4 1/8 1/8", "1/8 3/4 1/8"),
    Repeated(LaplacePair(ONE), 4),
    Composed((LaplacePair(ONE), GaussianPair(ONE))),
    ZeroConcentratedCurve(ONE, symmetric=True),
    RenyiCurve(lambda order: ONE * order, symmetric=True),
]
OTHERS: list[Pair] = [
    finite("3/4 1/4", "1/8 7/8"),
    Sampled(LaplacePair(ONE), RATE),
    SampledGaussian(ONE, RATE),
    Composed((LaplacePair(ONE), SampledGaussian(ONE, RATE))),
    Repeated(SampledGaussian(ONE, RATE), 2),
    ZeroConcentratedCurve(ONE),
    RenyiCurve(lambda order: ONE * order),
    DensityPair(mu=ONE),
]


@pytest.mark.parametrize("pair", SYMMETRIC, ids=lambda pair: type(pair).__name__)
def test_add_is_at_most_remove_after_sampling(pair: Pair) -> None:
    assert pair.symmetric
    law = Sampled(pair, RATE).renyi
    assert law is not None
    for order in (Fraction(3, 2), Fraction(4), Fraction(33, 2)):
        assert law(order, Direction.ADD).upper <= law(order, Direction.REMOVE).upper


@pytest.mark.parametrize("pair", OTHERS, ids=lambda pair: type(pair).__name__)
def test_what_is_not_known_to_be_symmetric(pair: Pair) -> None:
    assert not pair.symmetric


def test_finite_pairs_are_directly_compared() -> None:
    """The exact divergences of a symmetric and of another pair, sampled: only for the first does REMOVE bound ADD."""

    def divergence(pair: FinitePair, direction: Direction) -> float:
        rate, order = Fraction(1, 10), 3
        mixed = [(1 - rate) * q + rate * p for p, q in zip(pair.present, pair.absent, strict=True)]
        first, second = (mixed, pair.absent) if direction is Direction.REMOVE else (pair.absent, mixed)
        return float(sum(Fraction(a) ** order / Fraction(b) ** (order - 1) for a, b in zip(first, second, strict=True)))

    symmetric, skewed = finite("3/4 1/8 1/8", "1/8 3/4 1/8"), finite("1/100 99/100", "1/2 1/2")
    assert divergence(symmetric, Direction.ADD) <= divergence(symmetric, Direction.REMOVE)
    assert divergence(skewed, Direction.ADD) > divergence(skewed, Direction.REMOVE)


def test_a_curve_that_is_known_to_be_symmetric_gains() -> None:
    """At order 8 both directions cost the same; without symmetry its second moment bounds ADD, which costs more."""
    known, unknown = (Sampled(ZeroConcentratedCurve(Enclosure.of("0.02"), flag), RATE) for flag in (True, False))
    mine, theirs = known.renyi, unknown.renyi
    assert mine is not None
    assert theirs is not None
    order = Fraction(8)
    assert mine(order, Direction.ADD).upper == mine(order, Direction.REMOVE).upper
    assert mine(order, Direction.ADD).upper * Fraction(101, 100) < theirs(order, Direction.ADD).upper


def test_a_rate_that_is_not_known_sharply_gives_an_epsilon_for_each_end() -> None:
    """The larger rate with the smaller δ above, the smaller rate with the larger δ below."""
    rates, deltas = (Fraction(1, 10), Fraction(1, 4)), (Fraction(1, 100), Fraction(1, 50))
    unsure = Sampled(GaussianPair(ONE), Enclosure.between(*rates))
    found = unsure.smallest_epsilon(Enclosure.between(*deltas), Direction.REMOVE)
    each = [
        Sampled(GaussianPair(ONE), Enclosure.of(rate)).smallest_epsilon(Enclosure.of(delta), Direction.REMOVE)
        for rate in rates
        for delta in deltas
    ]
    assert found is not None
    known = [epsilon for epsilon in each if epsilon is not None]
    assert len(known) == 4
    assert found.upper >= max(epsilon.lower for epsilon in known)
    assert found.lower <= min(epsilon.upper for epsilon in known)
    assert found.width < 1.001 * float(max(e.upper for e in known) - min(e.lower for e in known))


def test_a_record_is_always_drawn_where_its_rate_is_known_to_be_1() -> None:
    assert always(Enclosure.of(1))
    assert not always(Enclosure.between(Fraction(1, 2), 1))
    assert not always(Enclosure.of(Fraction(1, 2)))


@pytest.mark.parametrize("order", ["3/2", "2", "40"])
@pytest.mark.parametrize("rho", ["0", "1/3", "5"])
def test_a_curve_is_at_most_the_order_times_rho(rho: str, order: str) -> None:
    """From above alone: nothing is known from below."""
    curve = ZeroConcentratedCurve(Enclosure.of(rho))
    for direction in Direction:
        found = curve.renyi(Fraction(order), direction)
        assert found.lower == 0
        most = Fraction(rho) * Fraction(order)
        assert most <= found.upper <= most * (1 + Fraction(1, 2**90))
    with pytest.raises(InvalidValue, match="rho"):
        ZeroConcentratedCurve(Enclosure.between(Fraction(-1, 2), Fraction(1, 2)))
