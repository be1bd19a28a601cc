"""Estimates of Rényi divergences: near the proven ones wherever a search may look."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import LaplacePair, Pair, RandomisedResponsePair, Repeated, Sampled, SampledGaussian
from certdp.accounting.relations import Direction

ORDERS = [Fraction(9, 8), Fraction(2), Fraction(31, 4), Fraction(64), Fraction(1025, 2), Fraction(5000)]


def of(value: str) -> Enclosure:
    return Enclosure.of(value)


PAIRS: list[Pair] = [
    LaplacePair(of("1")),
    LaplacePair(of("1e-3")),
    RandomisedResponsePair(of("3")),
    Sampled(LaplacePair(of("2")), of("0.1")),
    Sampled(RandomisedResponsePair(of("0.01")), of("0.5")),
    SampledGaussian(of("1"), of("0.01")),
    SampledGaussian(of("0.1"), of("0.3")),
    Repeated(SampledGaussian(of("2"), of("0.001")), 50),
]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("direction", Direction, ids=lambda direction: direction.value)
def test_near_the_proven_divergence(pair: Pair, direction: Direction) -> None:
    estimate, law = pair.renyi_estimate, pair.renyi
    assert estimate is not None
    assert law is not None
    for order in ORDERS if not isinstance(pair, Repeated) else ORDERS[:4]:
        assert estimate(float(order), direction) == pytest.approx(law(order, direction).upper_float, rel=1e-6)


@pytest.mark.parametrize("of_interval", [LaplacePair, RandomisedResponsePair])
def test_of_the_largest_parameter(of_interval: Callable[[Enclosure], Pair]) -> None:
    pair = of_interval(Enclosure.between("0.4", "0.9"))
    estimate, law = pair.renyi_estimate, pair.renyi
    assert estimate is not None
    assert law is not None
    for order in ORDERS:
        assert estimate(float(order), Direction.ADD) == pytest.approx(law(order, Direction.ADD).upper_float, rel=1e-12)


def test_ends() -> None:
    for pair in (SampledGaussian(of("1"), of("0")), Sampled(LaplacePair(of("1")), of("0"))):
        estimate = pair.renyi_estimate
        assert estimate is not None
        assert estimate(2.0, Direction.REMOVE) == 0
    always = Sampled(LaplacePair(of("1")), of("1")).renyi_estimate
    plain = LaplacePair(of("1")).renyi_estimate
    assert always is not None
    assert always(3.5, Direction.ADD) == plain(3.5, Direction.ADD)


@pytest.mark.parametrize("shift", ["1e3", "1e6", "1e150"])
def test_laws_that_hardly_overlap(shift: str) -> None:
    estimate = SampledGaussian(of(shift), of("0.5")).renyi_estimate
    assert estimate(4.0, Direction.REMOVE) == pytest.approx(2 * float(shift) ** 2, rel=1e-3)
    assert estimate(4.0, Direction.ADD) == pytest.approx(0.6931471805599453, rel=1e-6)


def test_the_order_next_to_1() -> None:
    estimate = SampledGaussian(of("1"), of("0.01")).renyi_estimate
    assert estimate(1 + 2.0**-50, Direction.REMOVE) >= 0
