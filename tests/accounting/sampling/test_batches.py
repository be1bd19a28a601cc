"""Schemes of batches: what two records have, which numbers of records are refused, and when nothing is chosen."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp import Coins, Enclosure, InvalidType, InvalidValue
from certdp.accounting.pairs import (
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    GaussianPair,
    LaplacePair,
    Pair,
    ZeroConcentratedCurve,
    compose_pairs,
)
from certdp.accounting.pairs.public_chance import PublicChance
from certdp.accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Relation
from certdp.accounting.sampling.batches import BatchRate, ShuffledAnswers, TruncatedPoisson, in_any_order, two_records

ONE, TWO, HALF = (Enclosure.of(number) for number in (1, 2, Fraction(1, 2)))


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        (GaussianPair(ONE), GaussianPair(TWO)),
        (LaplacePair(ONE), LaplacePair(TWO)),
        (DiscreteLaplacePair(HALF, ONE), DiscreteLaplacePair(HALF, TWO)),
        (DiscreteGaussianPair(Fraction(2), ONE, precision=64), DiscreteGaussianPair(Fraction(2), TWO, precision=64)),
        (LaplacePair(ONE).repeated(3), LaplacePair(TWO).repeated(3)),
        (
            compose_pairs([LaplacePair(ONE), DiscreteLaplacePair(HALF, ONE)]),
            compose_pairs([LaplacePair(TWO), DiscreteLaplacePair(HALF, TWO)]),
        ),
        (ZeroConcentratedCurve(ONE), None),
        (compose_pairs([LaplacePair(ONE), ZeroConcentratedCurve(ONE)]), None),
    ],
)
def test_two_records_are_twice_as_far_apart(base: Pair, expected: Pair | None) -> None:
    assert two_records(base) == expected


def test_public_chance_is_shared_out_whole_where_a_batch_is_nearly_always_full() -> None:
    batches = TruncatedPoisson(rate=Fraction(1, 2), batch_size=1, data_size=10_000)
    for relation in (ADD_REMOVE, ZERO_OUT, REPLACE):
        found = batches.pair(GaussianPair(ONE), relation)
        assert isinstance(found, PublicChance)
        never, rest = (chance for chance, _ in found.parts)
        assert 0 < never.upper < 2**-100
        assert 1 - Fraction(1, 2**90) < rest.lower < rest.upper <= 1


def test_another_relation_has_no_pair() -> None:
    assert TruncatedPoisson(rate=Fraction(1, 2), batch_size=1, data_size=4).pair(GaussianPair(ONE), Relation()) is None


def test_numbers_of_records_that_are_not_declared_are_refused() -> None:
    cut = TruncatedPoisson(rate=Fraction(1, 2), batch_size=1, data_size=4)
    cut.require_size_for(ADD_REMOVE, 3)
    for relation, size in ((ADD_REMOVE, 5), (REPLACE, 5), (REPLACE, 3), (ADD_REMOVE, 2)):
        with pytest.raises(InvalidValue, match="data_size = 4"):
            cut.require_size_for(relation, size)
    answers = ShuffledAnswers(users=4, local=ONE, clones=HALF)
    answers.require_size(4)
    with pytest.raises(InvalidValue, match="users = 4"):
        answers.require_size(3)


def test_nothing_is_chosen_of_what_fits() -> None:
    """The coins go on where Poisson sampling left them."""
    whole = TruncatedPoisson(rate=Fraction(1), batch_size=3, data_size=3)
    coins, twin = Coins.seeded(5), Coins.seeded(5)
    assert whole.members(3, coins).tolist() == [0, 1, 2]
    twin.bernoulli(np.ones(3))
    assert coins.integers(1 << 60, 4) == twin.integers(1 << 60, 4)


@pytest.mark.parametrize("size", [0, 1, 5])
def test_an_order_holds_each_place_once(size: int) -> None:
    seen: set[tuple[int, ...]] = set()
    for seed in range(40):
        order = in_any_order(size, Coins.seeded(seed)).tolist()
        assert sorted(order) == list(range(size))
        seen.add(tuple(order))
    assert len(seen) > 20 or size < 2


def test_no_coins_are_drawn_for_the_last_place_left() -> None:
    coins, twin = Coins.seeded(7), Coins.seeded(7)
    in_any_order(2, coins)
    twin.integers(2, 1)
    assert coins.integers(1 << 60, 2) == twin.integers(1 << 60, 2)


@pytest.mark.parametrize("other", [3, None, "fixed"])
def test_a_rate_is_of_a_scheme(other: Any) -> None:
    with pytest.raises(InvalidType, match="batches"):
        BatchRate(other)
