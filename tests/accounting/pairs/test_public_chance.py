"""Pairs of which public chance decides: every law against the disjoint table, and the compositions of both."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import (
    DensityPair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    PublicChance,
    Sampled,
    SampledGaussian,
    Symmetrised,
)
from certdp.accounting.relations import Direction

REMOVE = Direction.REMOVE
ONE, HALF = Enclosure.of(1), Enclosure.of("0.5")
FIRST = FinitePair((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 2)))
SECOND = FinitePair((Fraction(1, 8), Fraction(7, 8)), (Fraction(1, 5), Fraction(4, 5)))
MIXED = PublicChance(((Enclosure.of("0.25"), FIRST), (Enclosure.of("0.75"), SECOND)))


def table() -> FinitePair:
    """The same on four outputs."""
    weighted = ((Fraction(1, 4), FIRST), (Fraction(3, 4), SECOND))
    present, absent = (
        tuple(weight * p for weight, pair in weighted for p in getattr(pair, name)) for name in ("present", "absent")
    )
    return FinitePair(present, absent)


@pytest.mark.parametrize("direction", Direction)
def test_every_law_is_that_of_the_disjoint_table(direction: Direction) -> None:
    whole = table()
    assert MIXED.delta is not None
    assert MIXED.renyi is not None
    assert whole.renyi is not None
    assert MIXED.pure is not None
    assert whole.pure is not None
    for epsilon in ("0", "0.1", "0.4", "2"):
        assert _meet(MIXED.delta(Enclosure.of(epsilon), direction), whole.delta(Enclosure.of(epsilon), direction))
    for order in (Fraction(3, 2), Fraction(5)):
        assert _meet(MIXED.renyi(order, direction), whole.renyi(order, direction))
    assert _meet(MIXED.pure(direction), whole.pure(direction))


@pytest.mark.parametrize("steps", [1, 3, 12])
@pytest.mark.parametrize("direction", Direction)
def test_composed_it_is_the_table_composed(steps: int, direction: Direction) -> None:
    exact, found = table().repeated(steps).delta, MIXED.repeated(steps).delta
    assert exact is not None
    assert found is not None
    for epsilon in ("0.05", "0.5"):
        truth, bound = exact(Enclosure.of(epsilon), direction), found(Enclosure.of(epsilon), direction)
        assert bound.lower <= truth.upper
        assert truth.lower <= bound.upper <= truth.upper * Fraction(102, 100)


def test_a_sample_of_it_is_the_table_sampled() -> None:
    exact, found = table().sampled(HALF).repeated(5).delta, MIXED.sampled(HALF).repeated(5).delta
    assert exact is not None
    assert found is not None
    truth, bound = exact(HALF, REMOVE), found(HALF, REMOVE)
    assert bound.lower <= truth.upper
    assert truth.lower <= bound.upper <= truth.upper * Fraction(102, 100)


def test_numbers_of_a_normal_pair_are_the_largest() -> None:
    pair = PublicChance(((HALF, GaussianPair(ONE)), (HALF, SampledGaussian(Enclosure.of(2), HALF))))
    assert pair.gaussian == Enclosure.of(2)
    assert pair.zero_concentrated == Enclosure.of(2)
    assert pair.directions == (REMOVE,)
    assert not pair.symmetric
    assert PublicChance(((ONE, GaussianPair(ONE)),)).symmetric


def test_where_a_part_has_no_law_there_is_none() -> None:
    pair = PublicChance(((HALF, GaussianPair(ONE)), (HALF, DensityPair(mu=ONE))))
    assert pair.delta is None
    assert pair.renyi is None
    assert pair.pure is None
    assert pair.loss_cells is None


def test_the_composition_with_a_symmetrised_part_has_no_lower_end() -> None:
    """By cells; a normal part has moments, by which the pair is known from both sides."""
    laplace, normal = Symmetrised(Sampled(LaplacePair(ONE), HALF)), Symmetrised(SampledGaussian(ONE, HALF))
    for part, known in ((laplace, False), (normal, True)):
        found = PublicChance(((HALF, GaussianPair(ONE)), (HALF, part))).repeated(4).smallest_epsilon(HALF, REMOVE)
        assert found is not None
        assert (found.lower > 0) is known


def test_a_law_below_is_known_where_it_is_of_every_part() -> None:
    normal, one_sided = GaussianPair(ONE), Symmetrised(SampledGaussian(ONE, HALF))
    for other, known in ((SampledGaussian(ONE, HALF), True), (one_sided, False)):
        cells = PublicChance(((HALF, normal), (HALF, other))).loss_cells
        assert cells is not None
        assert (cells(REMOVE).below is not None) == known


@pytest.mark.parametrize(
    "parts",
    [
        ((HALF, GaussianPair(ONE)),),
        ((HALF, GaussianPair(ONE)), (Enclosure.of("0.4"), LaplacePair(ONE))),
        ((Enclosure.between("0.4", "0.6"), GaussianPair(ONE)), (HALF, LaplacePair(ONE))),
        ((ONE, GaussianPair(ONE)), (Enclosure.of(0), LaplacePair(ONE))),
    ],
)
def test_what_is_no_distribution_is_refused(parts: tuple[tuple[Enclosure, Pair], ...]) -> None:
    with pytest.raises(InvalidValue, match="parts"):
        PublicChance(parts)


@pytest.mark.parametrize("parts", [(), [(ONE, GaussianPair(ONE))], ((ONE, 3),)])
def test_what_is_no_tuple_of_pairs_is_refused(parts: object) -> None:
    with pytest.raises(InvalidType, match="parts"):
        PublicChance(parts)  # type: ignore[arg-type]


def _meet(one: Enclosure, other: Enclosure) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper
