"""What a change of the data costs: which one a claim is about, what follows for each family, and cells together."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest

from certdp.verification.checker import Budget
from certdp.verification.checker.approximate.changes import ONE_RECORD, by_changes, change_of, changed, joined
from certdp.verification.checker.approximate.cover import Corner
from certdp.verification.checker.approximate.factors import (
    BOUNDED_RANGE,
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    EXCHANGED,
    GAUSSIAN,
    LAPLACE,
    MIXTURE,
    PURE,
    RESPONSE_OF_MANY,
    SYMMETRISED,
    ZERO_CONCENTRATED,
    Batches,
    Change,
    Factor,
    Lattice,
)
from certdp.verification.checker.approximate.notions import price_of_square
from certdp.verification.checker.verdict import Refused

HALF = Fraction(1, 2)


def claim(relation: str, contributions: int | None = None) -> dict[str, Any]:
    return {"relation": relation} | ({} if contributions is None else {"contributions": contributions})


@pytest.mark.parametrize(
    ("stated", "change"),
    [
        (claim("add-remove"), ONE_RECORD),
        (claim("zero-out"), ONE_RECORD),
        (claim("replace"), Change(1, replaced=True)),
        (claim("add-remove", 1), ONE_RECORD),
        (claim("zero-out", 3), Change(3)),
        (claim("replace", 3), Change(3, replaced=True)),
    ],
)
def test_a_loss_of_one_record_says_what_other_changes_lose(stated: dict[str, Any], change: Change) -> None:
    assert change_of(stated, "add-remove") == change


@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace"])
@pytest.mark.parametrize("contributions", [None, 1, 2])
def test_a_loss_about_replaced_records_says_nothing_else(relation: str, contributions: int | None) -> None:
    stated = claim(relation, contributions)
    if relation == "replace" and contributions in (None, 1):
        assert change_of(stated, "replace") == ONE_RECORD
        return
    with pytest.raises(Refused, match="says nothing about another change"):
        change_of(stated, "replace")


def drawn(most: int | None, *, bounded: bool = False) -> dict[str, Any]:
    return {"most": most, "data_size": 9, "bounded": bounded}


@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace"])
def test_batches_drawn_as_a_whole_are_known_about_one_record(relation: str) -> None:
    kept, replaced = relation != "add-remove", relation == "replace"
    found = change_of(claim(relation), "add-remove", drawn(3))
    assert found == Change(1, replaced, Batches(3, 9, bounded=False, kept=kept))
    if kept:
        fixed = change_of(claim(relation, 1), "add-remove", drawn(None))
        assert fixed == Change(1, replaced, Batches(None, 9, bounded=False, kept=True))
    else:
        with pytest.raises(Refused, match="tell the number of records: nothing is known of removing one"):
            change_of(claim(relation), "add-remove", drawn(None))
    for stated, declared in ((claim(relation, 2), "add-remove"), (claim(relation), "replace")):
        with pytest.raises(Refused, match="batches drawn as a whole are known about one record"):
            change_of(stated, declared, drawn(3))


def epoch(size: int | None, entered: int = 1) -> dict[str, Any]:
    return {"number": 10, "data_size": size, "participations": entered}


@pytest.mark.parametrize("size", [None, 9])
def test_epochs_are_known_about_one_record_by_what_is_lost_where_it_is_removed(size: int | None) -> None:
    kept = size is not None
    other = "replace" if kept else "add-remove"
    for relation in ("zero-out", other):
        found = change_of(claim(relation, 1), "add-remove", epoch(size, 2))
        assert found == Change(1, relation == "replace", Batches(size=size, kept=kept, number=10, participations=2))
    unknown = claim("add-remove" if kept else "replace")
    for stated, declared in (
        (claim("zero-out", 2), "add-remove"),
        (claim("zero-out"), "replace"),
        (unknown, "add-remove"),
    ):
        with pytest.raises(Refused, match="epochs of batches are known about one record"):
            change_of(stated, declared, epoch(size))


def test_groups_may_be_removed_where_the_number_of_records_is_a_bound_or_stays() -> None:
    for kept in (False, True):
        for bounded in (False, True):
            assert Batches(3, 9, bounded, kept).one_step is (not kept and not bounded)


def factor(family: str, parameter: int = 3, rate: Fraction = HALF, together: int = 1) -> Factor:
    lattice = Lattice(Fraction(9), 1, Fraction(2)) if family == DISCRETE_GAUSSIAN else None
    steps, many = (family == DISCRETE_LAPLACE) * 2, (family == RESPONSE_OF_MANY) * 5
    return Factor(family, Fraction(parameter), rate, together, 7, lattice, steps=steps, categories=many)


def test_on_a_batch_discrete_noise_counts_as_the_noise_that_dominates_it() -> None:
    """Two steps of 3/2: the shift 3 + 9/16, twice that between two records; of others the pure loss counts."""
    change = Change(1, True, Batches(None, 20, bounded=False, kept=True))
    noise = changed(factor(DISCRETE_LAPLACE), change, Budget())
    assert (noise.family, noise.base, noise.parameter) == (SYMMETRISED, LAPLACE, 2 * (3 + Fraction(9, 16)))
    for family in (BOUNDED_RANGE, RESPONSE_OF_MANY):
        assert changed(factor(family), change, Budget()) == changed(factor(PURE), change, Budget())


PURE_ALONE = (BOUNDED_RANGE, DISCRETE_LAPLACE, RESPONSE_OF_MANY)
EVERY = (GAUSSIAN, LAPLACE, PURE, *PURE_ALONE, ZERO_CONCENTRATED, DISCRETE_GAUSSIAN)


@pytest.mark.parametrize("family", EVERY)
def test_one_record_costs_what_it_costs(family: str) -> None:
    assert changed(factor(family), ONE_RECORD, Budget()) == factor(family)


@pytest.mark.parametrize("family", EVERY)
@pytest.mark.parametrize("change", [Change(1, replaced=True), Change(5)])
def test_what_is_never_drawn_or_loses_nothing_costs_nothing(family: str, change: Change) -> None:
    for null in (factor(family, parameter=0), factor(family, rate=Fraction(0))):
        assert changed(null, change, Budget()) == null


@pytest.mark.parametrize(
    ("change", "reach"),
    [(Change(1, replaced=True), 2), (Change(4), 4), (Change(4, replaced=True), 8)],
)
def test_normal_noise(change: Change, reach: int) -> None:
    sampled = factor(GAUSSIAN, together=2)
    assert changed(sampled, change, Budget()) == sampled._replace(family=MIXTURE, change=change)
    everywhere = factor(GAUSSIAN, rate=Fraction(1))
    assert changed(everywhere, change, Budget()) == everywhere._replace(parameter=Fraction(3 * reach))


@pytest.mark.parametrize("family", [LAPLACE, PURE, *PURE_ALONE])
def test_pure_losses_of_all_releases_on_a_sample_are_exchanged(family: str) -> None:
    found = changed(factor(family, together=4), Change(1, replaced=True), Budget())
    assert found == factor(EXCHANGED, parameter=12)


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("family", [LAPLACE, PURE, *PURE_ALONE])
def test_pure_losses_of_several_records_go_by_their_mu(family: str, replaced: bool) -> None:
    """Φ(−μ/2) = 1/(1 + e^3) for one release, and twice that μ for four."""
    found = changed(factor(family, together=4), Change(2, replaced), Budget())
    assert (found.family, found.together, found.change) == (MIXTURE, 1, Change(2, replaced))
    mu = -2 * NormalDist().inv_cdf(1 / (1 + math.exp(3)))
    assert 0 < float(found.parameter) - 2 * mu < 1e-8


@pytest.mark.parametrize("family", [ZERO_CONCENTRATED, DISCRETE_GAUSSIAN])
@pytest.mark.parametrize("change", [Change(1, replaced=True), Change(2)])
def test_other_families_say_nothing_of_other_changes(family: str, change: Change) -> None:
    with pytest.raises(Refused, match=f"losses of the family {family} say about this change"):
        changed(factor(family), change, Budget())


@pytest.mark.parametrize("change", [Change(1, replaced=True), Change(2), Change(2, replaced=True)])
def test_records_that_change_at_once_may_lie_in_different_cells(change: Change) -> None:
    """One has the larger parameter, the other the larger rate: neither cell bounds both."""
    cells = [Corner((Fraction(3),), Fraction(1, 5)), Corner((Fraction(1),), Fraction(4, 5))]
    assert joined(cells, change) == [Corner((Fraction(3),), Fraction(4, 5))]
    assert joined(cells, ONE_RECORD) == cells


def test_a_group_s_mu_is_looked_for_at_a_price() -> None:
    price, budget = price_of_square(factor(PURE)), Budget()
    whole = budget.left
    changed(factor(PURE), Change(2), budget)
    assert whole - budget.left == price > 0


USERS, REPLACED, PLACE, EPOCH, BLOCKS = (
    "comonotone density ratios of a user's records",
    "countermonotone density ratios of replaced records",
    "advanced joint convexity of batches drawn as a whole",
    "the mean of the density ratios of an epoch's batches",
    "blocks of batches, one of each of which is entered",
)
FIXED = Change(1, replaced=True, batches=Batches(None, 9, kept=True))
CUT = Change(1, batches=Batches(3, 9))
CUT_REPLACED = Change(1, replaced=True, batches=Batches(3, 9, kept=True))
ALLOCATED = Change(1, batches=Batches(number=10))
TWO_OF_TEN = Change(1, batches=Batches(number=10, participations=2))
SHUFFLED = Change(1, batches=Batches(size=9, kept=True, number=10))
SHUFFLED_REPLACED = SHUFFLED._replace(replaced=True)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (ONE_RECORD, []),
        (Change(2), [USERS]),
        (Change(1, replaced=True), [REPLACED]),
        (Change(2, replaced=True), [USERS, REPLACED]),
        (FIXED, [PLACE]),
        (Change(1, batches=Batches(kept=True)), [PLACE]),
        (CUT, [PLACE]),
        (CUT_REPLACED, [REPLACED, PLACE]),
        (ALLOCATED, [EPOCH]),
        (TWO_OF_TEN, [EPOCH, BLOCKS]),
        (SHUFFLED, []),
        (SHUFFLED_REPLACED, []),
    ],
)
def test_by_what_a_claim_follows_is_told(change: Change, told: list[str]) -> None:
    expected = "".join(f" and {each}" for each in told)
    assert [by_changes([*beside, change]) for beside in ([], [ONE_RECORD])] == [expected] * 2
