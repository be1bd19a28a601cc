"""Releases of which neither moments nor cells answer: what follows from each alone, around the exact law of all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.pairs import FinitePair, GaussianPair, LaplacePair, Pair
from certdp.accounting.pairs.laws import DeltaLaw, LossCells, LossTransform, PureLaw
from certdp.accounting.pairs.loss_distribution import composed_delta, composed_epsilon, composed_masses, follows
from certdp.accounting.relations import Direction
from tests.support.arb_numbers import arb_of

DIRECTIONS = st.sampled_from(Direction)
CLOSE = Fraction(1, 2**60)


@frozen
class Silent(Pair):
    """A pair on finitely many outputs that keeps the distribution of its loss to itself."""

    table: FinitePair
    knows_pure: bool = True
    knows_delta: bool = True

    @property
    def pure(self) -> PureLaw | None:
        return self.table.pure if self.knows_pure else None

    @property
    def delta(self) -> DeltaLaw | None:
        return self.table.delta if self.knows_delta else None


@st.composite
def tables(draw: st.DrawFn) -> FinitePair:
    count = draw(st.integers(2, 3))
    weights = st.lists(st.integers(1, 9), min_size=count, max_size=count)
    present, absent = draw(weights), draw(weights)
    return FinitePair(*(tuple(Fraction(n, sum(law)) for n in law) for law in (present, absent)))


def lossy(table: FinitePair) -> bool:
    return table.present != table.absent


RELEASES = st.lists(st.tuples(tables().filter(lossy), st.integers(1, 2)), min_size=1, max_size=3)


def all_at_once(releases: Sequence[tuple[FinitePair, int]]) -> FinitePair:
    """The pair of all outcomes of all releases, each with its probabilities."""
    present: tuple[Fraction, ...] = (Fraction(1),)
    absent: tuple[Fraction, ...] = (Fraction(1),)
    for table, times in releases:
        for _ in range(times):
            present = tuple(a * b for a in present for b in table.present)
            absent = tuple(a * b for a in absent for b in table.absent)
    return FinitePair(present, absent)


def near(number: Fraction, other: Fraction) -> bool:
    return abs(number - other) <= CLOSE * (abs(other) + 1)


@given(RELEASES, st.integers(0, 96), DIRECTIONS)
def test_delta_of_all_is_between_the_largest_of_one_and_1(
    releases: list[tuple[FinitePair, int]], level: int, direction: Direction
) -> None:
    silent = [(Silent(table), times) for table, times in releases]
    epsilon = Enclosure.of(Fraction(level, 16))
    found = composed_delta(silent, epsilon, direction)
    exact = all_at_once(releases)._delta(epsilon, direction)
    most = sum((table._pure(direction) * times for table, times in releases), Enclosure.of(0))
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    if most.upper <= epsilon.lower:
        assert found.upper == 0
    else:
        assert near(found.lower, max(table._delta(epsilon, direction).lower for table, _ in releases))
        assert found.upper == 1


@given(RELEASES, st.integers(1, 63), DIRECTIONS)
def test_epsilon_of_all_is_between_the_largest_of_one_and_the_sum_of_all(
    releases: list[tuple[FinitePair, int]], part: int, direction: Direction
) -> None:
    silent = [(Silent(table), times) for table, times in releases]
    delta = Fraction(part, 64)
    found = composed_epsilon(silent, Enclosure.of(delta), direction)
    together = all_at_once(releases)
    assert together._delta(Enclosure.of(found.upper), direction).lower <= delta
    if found.lower > 0:
        assert together._delta(Enclosure.of(found.lower), direction).upper >= delta
    alone = [table.smallest_epsilon(Enclosure.of(delta), direction) for table, _ in releases]
    most = prod((table.greatest_ratio(direction) or Fraction(0)) ** times for table, times in releases)
    assert found.lower == max(one.lower for one in alone if one is not None)
    assert arb_of(found.upper).overlaps(arb_of(most).log()) or near(found.upper, Enclosure.of(most).log().upper)


@pytest.mark.parametrize("direction", Direction)
def test_a_release_of_which_less_is_known(direction: Direction) -> None:
    third = FinitePair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    fifth = FinitePair((Fraction(4, 5), Fraction(1, 5)), (Fraction(1, 5), Fraction(4, 5)))
    level = Enclosure.of(Fraction(1, 4))
    unbounded = [(Silent(third), 1), (Silent(fifth, knows_pure=False), 1)]
    with pytest.raises(InvalidValue, match="ε is proven"):
        composed_epsilon(unbounded, level, direction)
    assert composed_delta(unbounded, level, direction).lower == fifth._delta(level, direction).lower
    assert composed_delta(unbounded, Enclosure.of(9), direction).upper == 1
    unknown = [(Silent(third), 1), (Silent(fifth, knows_delta=False), 1)]
    assert composed_delta(unknown, level, direction).lower == third._delta(level, direction).lower
    alone = third.smallest_epsilon(level, direction)
    assert alone is not None
    assert composed_epsilon(unknown, level, direction).lower == alone.lower
    blind = [(Silent(third, knows_delta=False), 1)]
    assert (found := composed_delta(blind, level, direction)).lower == 0
    assert found.upper == 1


def test_what_loses_nothing_is_left_out() -> None:
    """One direction alone that loses is enough to keep a release."""

    class OneSided(Silent):
        @property
        def pure(self) -> PureLaw | None:
            return lambda direction: Enclosure.of(int(direction is Direction.REMOVE))

    third = FinitePair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    nothing = FinitePair((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 2), Fraction(1, 2)))
    level = Enclosure.of(Fraction(1, 4))
    for direction in Direction:
        assert composed_epsilon([(Silent(nothing), 5)], level, direction) == Enclosure.of(0)
        assert composed_delta([(Silent(nothing), 5)], Enclosure.of(0), direction) == Enclosure.of(0)
        kept = composed_delta([(OneSided(third), 1)], Enclosure.of(0), direction)
        assert kept.upper == (direction is Direction.REMOVE)
        assert composed_masses([(nothing, 3)], direction) is None
    assert composed_epsilon([(OneSided(third), 1)], level, Direction.REMOVE).upper == 1


@frozen
class Tables(Silent):
    """Also says how its loss is distributed."""

    @property
    def loss_cells(self) -> LossCells | None:
        return self.table.loss_cells


def test_the_distribution_follows_where_all_releases_say_the_same_of_theirs() -> None:
    third = FinitePair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    laplace, finite, silent = (LaplacePair(Enclosure.of(1)), 2), (Tables(third), 1), (Silent(third), 1)
    sets: list[tuple[list[Any], bool]] = [([laplace], True), ([finite], True), ([silent], False)]
    sets += [([finite, silent], False), ([laplace, silent], False), ([finite, finite], True)]
    for releases, expected in sets:
        assert follows(releases) is expected
    masses = composed_masses([finite, (Tables(third), 2)], Direction.REMOVE)
    assert masses is not None
    losses, chances = masses
    assert float(chances.sum()) == pytest.approx(1)
    assert float(losses @ chances) == pytest.approx(float(3 * (Fraction(1, 3))) * 0.6931471805599453, rel=1e-3)
    assert composed_masses([finite, silent], Direction.REMOVE) is None


class MomentsAlone(Silent):
    """Also knows the moments of its loss, whatever they are."""

    @property
    def loss_transform(self) -> LossTransform | None:
        return GaussianPair(Enclosure.of(1)).loss_transform


def test_moments_alone_are_enough_where_all_releases_know_them() -> None:
    third = FinitePair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    moments, silent = (MomentsAlone(third), 1), (Silent(third), 1)
    assert follows([moments, moments])
    assert not follows([moments, silent])
    assert not follows([moments, (Tables(third), 1)])


def test_an_epsilon_below_0_is_refused() -> None:
    third = FinitePair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    with pytest.raises(InvalidValue, match="epsilon"):
        composed_delta([(Silent(third, knows_delta=False), 1)], Enclosure.between(-1, 2), Direction.REMOVE)


def test_more_releases_than_a_lattice_holds_are_bounded_by_one_and_by_all() -> None:
    third = FinitePair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    many = [(Tables(third), 2**70)]
    level = Enclosure.of(Fraction(1, 4))
    found = composed_delta(many, level, Direction.REMOVE)
    assert found.lower == third._delta(level, Direction.REMOVE).lower
    assert found.upper == 1
    assert composed_epsilon(many, level, Direction.REMOVE).upper >= 2**69
    with pytest.raises(InvalidValue, match="delta"):
        composed_epsilon([(Tables(third, knows_delta=False), 2)], Enclosure.of(2), Direction.REMOVE)


def test_what_may_lose_nothing_is_kept() -> None:
    """A pure loss that is known to lie within an interval only bounds by its upper end."""

    class Uncertain(Silent):
        @property
        def pure(self) -> PureLaw | None:
            return lambda _: Enclosure.between(0, 1)

    third = FinitePair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    assert composed_epsilon([(Uncertain(third), 3)], Enclosure.of("0.1"), Direction.ADD).upper == 3
    assert composed_delta([(Uncertain(third), 3)], Enclosure.of(2), Direction.ADD).upper == 1
