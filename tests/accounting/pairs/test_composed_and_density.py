"""Releases of different pairs, and pairs that a plugin brings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import (
    Composed,
    DensityPair,
    DiscreteGaussianPair,
    GaussianPair,
    LaplacePair,
    RandomisedResponsePair,
    RenyiCurve,
    Repeated,
    RepeatedResponse,
    Sampled,
    SampledGaussian,
    compose_pairs,
)
from certdp.accounting.pairs.zero_concentrated_curve import ZeroConcentratedCurve
from certdp.accounting.relations import Direction

ONE, TWO, HALF = Enclosure.of(1), Enclosure.of(2), Enclosure.of("0.5")


def test_laws_of_the_parts_add() -> None:
    parts = LaplacePair(ONE), RandomisedResponsePair(HALF), Sampled(LaplacePair(TWO), HALF)
    both = Composed(parts)
    assert both.delta is not None
    assert both.releases == tuple((part, 1) for part in parts)
    assert both.pure is not None
    assert both.renyi is not None
    for direction in Direction:
        pure, tau = Enclosure.of(0), Enclosure.of(0)
        for part in parts:
            assert part.pure is not None
            assert part.renyi is not None
            pure, tau = pure + part.pure(direction), tau + part.renyi(Fraction(5, 2), direction)
        assert both.pure(direction) == pure
        assert both.renyi(Fraction(5, 2), direction) == tau


def test_gaussian_costs_add_in_squares() -> None:
    both = Composed((GaussianPair(Enclosure.of(3)), GaussianPair(Enclosure.of(4))))
    assert both.gaussian == Enclosure.of(5)
    assert both.zero_concentrated == Enclosure.of("12.5")


def test_a_law_that_a_part_lacks_is_absent() -> None:
    curve = RenyiCurve(lambda order: Enclosure.of(order))
    both = Composed((LaplacePair(ONE), curve))
    assert both.renyi is not None
    assert (both.pure, both.zero_concentrated, both.gaussian, both.delta) == (None,) * 4
    lattice = DiscreteGaussianPair(Fraction(2), ONE)
    assert lattice.gaussian is None
    assert Composed((LaplacePair(ONE), lattice)).zero_concentrated is not None
    assert Repeated(curve, 3).pure is None


def test_releases_are_counted_wherever_they_stand() -> None:
    laplace, response = LaplacePair(ONE), RandomisedResponsePair(HALF)
    both = Composed((Repeated(laplace, 3), response, Composed((laplace, RepeatedResponse(HALF, 4)))))
    assert dict(both.releases) == {laplace: 4, response: 5}
    once = Sampled(Repeated(laplace, 3), HALF)
    assert once.releases == ((once, 1),)
    assert once.directions == (Direction.REMOVE,)
    assert Repeated(Sampled(laplace, HALF), 2).directions == tuple(Direction)


@pytest.mark.parametrize("direction", Direction)
def test_the_inverse_of_a_sampled_pair(direction: Direction) -> None:
    """At the ε found, δ(ε) is at most δ; a little below it is not."""
    for pair in (
        Sampled(LaplacePair(TWO), HALF),
        Sampled(Repeated(LaplacePair(ONE), 3), Enclosure.between("0.2", "0.25")),
        Repeated(SampledGaussian(ONE, HALF), 5),
    ):
        level = Enclosure.of("1e-3")
        found = pair.smallest_epsilon(level, direction)
        assert found is not None
        assert pair.delta is not None
        upper, lower = (Enclosure.of(end) for end in (found.upper * (1 + Fraction(1, 10**3)), found.lower))
        assert pair.delta(upper, direction).lower <= level.upper
        assert pair.delta(lower, direction).upper >= level.lower * (1 - Fraction(1, 10**6))


def test_normal_pairs_collapse_and_equal_ones_repeat() -> None:
    assert compose_pairs([GaussianPair(Enclosure.of(3)), GaussianPair(Enclosure.of(4))]) == GaussianPair(
        Enclosure.of(5)
    )
    response = RandomisedResponsePair(HALF)
    mixed = compose_pairs([response, GaussianPair(Enclosure.of(3)), response, GaussianPair(Enclosure.of(4)), response])
    assert mixed.factors == (RepeatedResponse(HALF, 3), GaussianPair(Enclosure.of(5)))
    assert compose_pairs([LaplacePair(ONE)]) == LaplacePair(ONE)
    nested = compose_pairs([mixed, mixed])
    assert nested.factors == (RepeatedResponse(HALF, 6), GaussianPair(Enclosure.of(50).sqrt()))
    assert SampledGaussian(ONE, HALF).normal_shift is None
    assert Composed((response, LaplacePair(ONE))).repeated(2).factors == (
        RepeatedResponse(HALF, 2),
        Repeated(LaplacePair(ONE), 2),
    )


def test_repetitions_multiply() -> None:
    thrice = LaplacePair(ONE).repeated(3)
    assert thrice.repeated(2) == Repeated(LaplacePair(ONE), 6)
    assert RandomisedResponsePair(ONE).repeated(3).repeated(2) == RepeatedResponse(ONE, 6)
    assert RandomisedResponsePair(ONE).repeated(1) == RandomisedResponsePair(ONE)
    assert RepeatedResponse(ONE, 3).repeated(1) == RepeatedResponse(ONE, 3)
    assert GaussianPair(TWO).repeated(4) == GaussianPair(Enclosure.of(4))
    assert GaussianPair(TWO).repeated(1) == GaussianPair(TWO)
    assert Sampled(LaplacePair(ONE), HALF).sampled(HALF) == Sampled(LaplacePair(ONE), Enclosure.of("0.25"))
    assert GaussianPair(ONE).sampled(HALF).sampled(HALF) == SampledGaussian(ONE, Enclosure.of("0.25"))


@pytest.mark.parametrize("wrong", [(), []])
def test_nothing_composes_to_no_pair(wrong: Any) -> None:
    with pytest.raises(InvalidValue, match="parts: got"):
        Composed(wrong)
    with pytest.raises(InvalidValue, match="at least one pair"):
        compose_pairs(wrong)


def test_a_plugin_brings_the_laws_it_can_prove() -> None:
    base = LaplacePair(ONE)
    pair = DensityPair(pure_law=base.pure, delta_law=base.delta)
    assert (pair.renyi, pair.zero_concentrated, pair.gaussian) == (None,) * 3
    assert pair.pure is not None
    assert pair.delta is not None
    assert pair.pure(Direction.ADD) == ONE
    assert pair.delta(HALF, Direction.ADD) == base.delta(HALF, Direction.ADD)
    sampled, known = pair.sampled(HALF), base.sampled(HALF)
    assert sampled.delta is not None
    assert known.delta is not None
    assert sampled.delta(HALF, Direction.ADD) == known.delta(HALF, Direction.ADD)
    assert DensityPair(rho=HALF).zero_concentrated == HALF
    assert DensityPair(mu=HALF).gaussian == HALF
    curve = DensityPair(renyi_law=base.renyi)
    assert curve.renyi is not None
    assert curve.renyi(Fraction(2), Direction.REMOVE) == base.renyi(Fraction(2), Direction.REMOVE)


def test_a_plugin_must_bring_something_that_can_be_called() -> None:
    with pytest.raises(InvalidValue, match="laws: got none"):
        DensityPair()
    for name in ("pure_law", "delta_law", "renyi_law"):
        wrong: dict[str, Any] = {name: 0.5}
        with pytest.raises(InvalidType, match=f"{name}: got 0.5"):
            DensityPair(**wrong)


@pytest.mark.parametrize("wrong", [0.25, None, Enclosure.of(-1), Enclosure.of(2)])
def test_what_a_plugins_laws_return_is_checked(wrong: Any) -> None:
    pair = DensityPair(
        pure_law=lambda direction: wrong,
        delta_law=lambda epsilon, direction: wrong,
        renyi_law=lambda order, direction: wrong,
    )
    assert pair.pure is not None
    assert pair.delta is not None
    assert pair.renyi is not None
    with pytest.raises(InvalidValue, match="delta_law: got"):
        pair.delta(HALF, Direction.ADD)
    if wrong != TWO:
        with pytest.raises(InvalidValue, match="pure_law: got"):
            pair.pure(Direction.ADD)
        with pytest.raises(InvalidValue, match="renyi_law: got"):
            pair.renyi(Fraction(2), Direction.ADD)
    with pytest.raises(InvalidValue, match="epsilon: got"):
        pair.delta(Enclosure.of(-1), Direction.ADD)
    with pytest.raises(InvalidValue, match="order: got"):
        pair.renyi(Fraction(1), Direction.ADD)


def test_an_estimate_that_a_part_lacks_is_its_own_law() -> None:
    laplace, density = LaplacePair(ONE), DensityPair(renyi_law=lambda order, _: Enclosure.of(order / 8))
    assert density.renyi_estimate is None
    estimate, alone = Composed((laplace, density)).renyi_estimate, laplace.renyi_estimate
    assert estimate is not None
    assert alone is not None
    for direction in Direction:
        assert estimate(4.0, direction) == alone(4.0, direction) + 0.5


def test_without_delta_there_is_nothing_to_interpolate() -> None:
    pair = DensityPair(mu=ONE)
    assert pair.loss_cells is None
    with pytest.raises(InvalidType, match="a pair with a δ"):
        pair._cells(Direction.ADD)


def test_a_curve_is_estimated_from_above() -> None:
    curve = ZeroConcentratedCurve(Enclosure.between(1, 2))
    for direction in Direction:
        assert curve.renyi_estimate(3.0, direction) == 6.0
