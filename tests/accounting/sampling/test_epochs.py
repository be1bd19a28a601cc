"""Schemes of epochs: their pairs, and the law of the batches that they draw."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.stats import chi2

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import FinitePair, GaussianPair, LaplacePair, RandomAllocation
from certdp.accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from certdp.accounting.sampling.epochs import Allocation, Epoch, ShuffledBatches
from certdp.plugins.contract import Coins

ONE = Enclosure.of(1)
BASE = GaussianPair(ONE)


def test_an_allocation_is_about_records_that_come_go_or_are_zeroed_out() -> None:
    scheme = Allocation(5)
    assert scheme.relations == (ADD_REMOVE, ZERO_OUT)
    assert scheme.pair(BASE, ADD_REMOVE) == scheme.pair(BASE, ZERO_OUT) == RandomAllocation(BASE, 5)
    assert scheme.pair(BASE, REPLACE) is None
    assert scheme.reached(BASE, ADD_REMOVE) == (RandomAllocation(BASE, 5),)
    assert "5 batches" in scheme.way
    assert not scheme.assumptions
    assert (Allocation(1).batches, Allocation(2**20).batches) == (1, 2**20)


def test_several_batches_of_an_epoch_are_blocks_of_which_one_is_entered() -> None:
    scheme = Allocation(11, 3)
    shorter, longer = RandomAllocation(BASE, 3), RandomAllocation(BASE, 4)
    found = scheme.pair(BASE, ADD_REMOVE)
    assert found is not None
    assert found.releases == ((longer, 2), (shorter, 1))
    assert scheme.pair(BASE, REPLACE) is None
    assert "3 of 11 batches" in scheme.way
    assert (scheme.number_of_batches, scheme.number_of_participations) == (11, 3)
    sums = GaussianPair(Enclosure.of(3) / Enclosure.of(11).sqrt())
    assert scheme.reached(BASE, ADD_REMOVE) == (sums,)
    assert scheme.reached(LaplacePair(ONE), ADD_REMOVE) == ()
    assert Allocation(5, 1) == Allocation(5)
    assert ShuffledBatches(batch_size=1, data_size=3).number_of_participations == 1


@pytest.mark.parametrize("base", [BASE, LaplacePair(ONE)])
def test_all_batches_of_an_epoch_are_as_many_releases(base: GaussianPair | LaplacePair) -> None:
    scheme = Allocation(4, 4)
    assert scheme.pair(base, ADD_REMOVE) == base.repeated(4)
    assert scheme.reached(base, ADD_REMOVE) == (base.repeated(4),)


@pytest.mark.parametrize("participations", [0, 4, -1, 2.5, True])
def test_no_record_enters_a_batch_twice(participations: int) -> None:
    with pytest.raises((InvalidType, InvalidValue)) as refused:
        Allocation(3, participations)
    assert refused.value.parameter == "participations"


def test_shuffled_batches_are_not_amplified_from_above() -> None:
    scheme = ShuffledBatches(batch_size=4, data_size=20)
    assert scheme.number_of_batches == 5
    assert scheme.relations == (ZERO_OUT, REPLACE)
    assert scheme.pair(BASE, ZERO_OUT) == BASE
    assert scheme.pair(BASE, REPLACE) == GaussianPair(ONE * 2)
    assert scheme.pair(LaplacePair(ONE), REPLACE) == LaplacePair(ONE * 2)
    assert scheme.pair(BASE, ADD_REMOVE) is None
    assert "5 batches of 4" in scheme.way
    assert [assumed.value for assumed in scheme.assumptions] == ["20"]


def test_shuffled_batches_are_reached_by_real_data() -> None:
    scheme = ShuffledBatches(batch_size=4, data_size=20)
    assert scheme.reached(BASE, REPLACE) == (RandomAllocation(GaussianPair(ONE * 2), 5),)
    silent, opposite = scheme.reached(BASE, ZERO_OUT)
    assert silent == RandomAllocation(BASE, 5)
    assert isinstance(opposite, FinitePair)
    assert scheme.reached(LaplacePair(ONE), ZERO_OUT) == ()
    whole = ShuffledBatches(batch_size=4, data_size=4)
    assert whole.reached(BASE, ZERO_OUT) == (BASE,)
    assert whole.reached(BASE, ADD_REMOVE) == ()


def test_no_record_is_opposite_to_another_but_in_sums() -> None:
    """A count of shuffled records had a lower end that only opposite ones reach, above its true loss."""
    shuffled, allocated = ShuffledBatches(batch_size=4, data_size=20), Allocation(5)
    assert [shuffled.reached_by_any(relation) for relation in shuffled.relations] == [False, False]
    assert [allocated.reached_by_any(relation) for relation in allocated.relations] == [True, False]


@pytest.mark.parametrize(("batch", "size"), [(3, 10), (11, 10), (0, 10), (1, 2**20 + 1), (1, 0)])
def test_batches_that_do_not_fill_the_data_are_refused(batch: int, size: int) -> None:
    assert ShuffledBatches(batch_size=1, data_size=2**20).number_of_batches == 2**20
    with pytest.raises(InvalidValue):
        ShuffledBatches(batch_size=batch, data_size=size)


@pytest.mark.parametrize("batches", [0, 2**20 + 1])
def test_numbers_of_batches_beyond_the_proof_are_refused(batches: int) -> None:
    assert Allocation(2**20).batches == 2**20
    with pytest.raises(InvalidValue):
        Allocation(batches)


def test_other_numbers_of_records_are_refused() -> None:
    scheme = ShuffledBatches(batch_size=2, data_size=4)
    scheme.require_size(4)
    for size in (3, 5, 6):
        with pytest.raises(InvalidValue, match="data_size"):
            scheme.members(size, Coins.seeded(1))
    Allocation(2).require_size(0)
    with pytest.raises((InvalidType, InvalidValue)):
        Allocation(2).require_size(-1)


@pytest.mark.parametrize(
    ("scheme", "size", "ways"),
    [
        (ShuffledBatches(batch_size=2, data_size=4), 4, [(o[:2], o[2:]) for o in permutations(range(4))]),
        *(
            (
                Allocation(batches, entered),
                2,
                [
                    tuple(tuple(i for i in range(2) if k in w[i]) for k in range(batches))
                    for w in product(combinations(range(batches), entered), repeat=2)
                ],
            )
            for batches, entered in ((2, 2), (4, 2), (4, 3))
        ),
        (
            Allocation(3),
            2,
            [tuple(tuple(i for i in range(2) if w[i] == k) for k in range(3)) for w in product(range(3), repeat=2)],
        ),
    ],
    ids=lambda value: value.way if isinstance(value, Epoch) else "",
)
def test_batches_are_drawn_uniformly(scheme: Epoch, size: int, ways: list[tuple[tuple[int, ...], ...]]) -> None:
    coins, count = Coins.seeded(3), 4000
    drawn = Counter(tuple(tuple(batch.tolist()) for batch in scheme.members(size, coins)) for _ in range(count))
    assert set(drawn) == set(ways)
    expected = count / len(ways)
    assert sum((seen - expected) ** 2 / expected for seen in drawn.values()) <= chi2.ppf(
        1 - 1e-6, max(len(ways) - 1, 1)
    )


def test_records_of_an_allocated_batch_stay_in_order() -> None:
    for entered in (1, 2):
        for batch in Allocation(3, entered).members(50, Coins.seeded(2)):
            assert (np.diff(batch) > 0).all()


def test_many_batches_have_each_record_so_often() -> None:
    batches = Allocation(1000, 300).members(20, Coins.seeded(5))
    assert len(batches) == 1000
    assert Counter(np.concatenate(batches).tolist()) == dict.fromkeys(range(20), 300)
    assert [len(batch) for batch in Allocation(5, 2).members(0, Coins.seeded(5))] == [0] * 5
