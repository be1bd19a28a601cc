"""A pair that is said to dominate another has no smaller divergence."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.pairs import (
    DiscreteGaussianPair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
)
from certdp.accounting.pairs.domination import dominates
from certdp.accounting.relations import Direction

NUMBERS = st.fractions(Fraction(1, 10), 4, max_denominator=20)


def pairs() -> st.SearchStrategy[Pair]:
    def finite(rows: tuple[tuple[int, ...], tuple[int, ...]]) -> Pair:
        first, second = (tuple(Fraction(n, sum(row)) for n in row) for row in rows)
        return FinitePair(first, second)

    row = st.tuples(*[st.integers(1, 6)] * 3)
    return st.one_of(
        NUMBERS.map(lambda x: GaussianPair(Enclosure.of(x))),
        NUMBERS.map(lambda x: LaplacePair(Enclosure.of(x))),
        NUMBERS.map(lambda x: RandomisedResponsePair(Enclosure.of(x))),
        st.tuples(row, row).map(finite),
    )


@given(pairs(), pairs(), st.fractions(0, 5, max_denominator=8))
def test_no_divergence_of_a_dominated_pair_is_larger(declared: Pair, other: Pair, epsilon: Fraction) -> None:
    if dominates(declared, other) is not Truth.TRUE:
        return
    assert declared.delta is not None
    assert other.delta is not None
    for direction in Direction:
        mine, theirs = (law(Enclosure.of(epsilon), direction) for law in (declared.delta, other.delta))
        assert theirs.lower <= mine.upper


@pytest.mark.parametrize("family", [GaussianPair, LaplacePair, RandomisedResponsePair])
def test_within_a_family_the_smaller_parameter_is_dominated(family: type[Pair]) -> None:
    small, large = (family(Enclosure.of(x)) for x in (1, 2))  # type: ignore[call-arg]
    assert dominates(large, small) is Truth.TRUE
    assert dominates(small, small) is Truth.TRUE
    assert dominates(small, large) is Truth.FALSE


def test_what_is_known_across_families() -> None:
    response, laplace = RandomisedResponsePair(Enclosure.of(1)), LaplacePair(Enclosure.of(1))
    assert dominates(response, laplace) is Truth.TRUE
    assert dominates(laplace, response) is Truth.UNDECIDED
    assert dominates(response, GaussianPair(Enclosure.of("1e-9"))) is Truth.UNDECIDED
    assert dominates(GaussianPair(Enclosure.of("1.3")), response) is Truth.TRUE
    lattice = DiscreteGaussianPair(Fraction(4), Enclosure.of(1))
    assert dominates(lattice, lattice) is Truth.TRUE
    assert dominates(lattice, laplace) is Truth.UNDECIDED


def test_a_response_covers_the_larger_loss_of_both_directions() -> None:
    half, quarter = (Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 4), Fraction(3, 4))
    for other in (FinitePair(half, quarter), FinitePair(quarter, half)):  # log 2 = 0.69… in one, log 3/2 in the other
        assert dominates(RandomisedResponsePair(Enclosure.of("0.5")), other) is Truth.FALSE
        assert dominates(RandomisedResponsePair(Enclosure.of("0.7")), other) is Truth.TRUE


def test_rounding_leaves_it_undecided() -> None:
    third = LaplacePair(Enclosure.of("1/3", precision=64))
    assert dominates(LaplacePair(Enclosure.of("1/3", precision=64)), third) is Truth.TRUE
    assert dominates(LaplacePair(Enclosure.of(third.shift.lower)), third) is Truth.UNDECIDED
