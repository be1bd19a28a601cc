"""The individual Rényi filter: budgets that no record exceeds, recomputed from scratch and on finite examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.bulk.sampled_gaussian import renyi_upper
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.individual.filter import IndividualFilter
from certdp.accounting.pairs.sampled_gaussian_renyi import sampled_gaussian_renyi
from certdp.accounting.provenance import Private
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.units import Delta, Order
from tests.support.cases import examples

Path = tuple[int, ...]
Shares = Callable[[Path], Fraction]
"""With the record, given earlier outputs: the probability of output 1 of a step; ½ without it."""

HALF = Fraction(1, 2)


def tau(share: Fraction, order: int) -> Enclosure:
    """The larger of the two Rényi divergences of (share, 1 − share) and (½, ½)."""
    moments = [
        sum(a**order / b ** (order - 1) for a, b in pairs)
        for pairs in (((share, HALF), (1 - share, HALF)), ((HALF, share), (HALF, 1 - share)))
    ]
    return Enclosure.of(Fraction(max(moments))).log() / (order - 1)


def run_of(shares: Shares, order: int, budget: Fraction, steps: int) -> Iterator[tuple[Path, Fraction, Fraction]]:
    """Each path with its probabilities, with the record and without it; a filter decides where it takes part."""
    for path in product((0, 1), repeat=steps):
        account = IndividualFilter(Order(order), budget, 1)
        with_it = without = Fraction(1)
        for t, output in enumerate(path):
            share = shares(path[:t])
            (takes_part,) = account.admit(tau(share, order).upper_float).reveal()
            used = share if takes_part else HALF
            with_it *= used if output else 1 - used
            without *= HALF
        yield path, with_it, without


def divergence_moments(laws: Sequence[tuple[Fraction, Fraction]], order: int) -> Fraction:
    """E[(P/Q)^α] in the worse direction, exactly."""
    forward = sum(p**order / q ** (order - 1) for p, q in laws)
    backward = sum(q**order / p ** (order - 1) for p, q in laws)
    return Fraction(max(forward, backward))


SHARE = st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20)


@pytest.mark.slow
@examples(30)
@given(st.lists(SHARE, min_size=31, max_size=31), st.integers(2, 5), st.fractions(0, 2, max_denominator=16))
def test_adaptive_trajectories_never_exceed_the_budget(shares: list[Fraction], order: int, budget: Fraction) -> None:
    """Every output chooses the next step; the divergence of all five outputs is exact."""

    def chosen(path: Path) -> Fraction:
        return shares[int("1" + "".join(map(str, path)), 2) - 1]

    laws = [(p, q) for _, p, q in run_of(chosen, order, budget, 5)]
    assert sum(p for p, _ in laws) == sum(q for _, q in laws) == 1
    moment = Enclosure.of(divergence_moments(laws, order))
    assert moment.lower <= (Enclosure.of(budget) * (order - 1)).exp().upper


def test_a_greedy_adversary_comes_close_to_the_budget_and_stays_within() -> None:
    """Steps that the likely outputs make larger use the budget up on every path."""

    def chosen(path: Path) -> Fraction:
        return Fraction(3, 5) if sum(path) * 2 > len(path) else Fraction(11, 20)

    order, budget = 3, Fraction("0.1")
    laws = [(p, q) for _, p, q in run_of(chosen, order, budget, 7)]
    found = Enclosure.of(divergence_moments(laws, order)).log() / (order - 1)
    assert Fraction("0.06") < found.lower
    assert found.upper <= budget


def drop_rule(losses: Any, budget: float) -> Any:
    """From scratch: a record is in while the sum of all its losses so far is within the budget."""
    return np.cumsum(losses, axis=0) <= budget


def test_masks_are_those_of_recomputation_from_scratch() -> None:
    rng = np.random.default_rng(6)
    rate, shift = 10 ** rng.uniform(-3, 0, (30, 400)), rng.exponential(0.3, (30, 400))
    account = IndividualFilter(Order(6), "0.3", 400)
    found = np.array([account.step(q, s).reveal() for q, s in zip(rate, shift, strict=True)])
    losses = renyi_upper(rate, shift, 6.0)
    sums = np.cumsum(losses, axis=0)
    assert np.abs(sums / 0.3 - 1).min() > 1e-6  # none is undecided by rounding
    assert (found == drop_rule(losses, 0.3)).all()
    assert 0 < found[-1].sum() < 400
    spent = account.spent.reveal()
    np.testing.assert_allclose(spent, (losses * found).sum(axis=0), rtol=1e-9)
    assert (spent <= 0.3).all()
    assert (account.active.reveal() == found[-1]).all()


def test_the_sum_of_a_record_is_proven_to_be_within_the_budget() -> None:
    rate, shift = [0.3, 0.05, 0.3, 0.9, 0.3], [0.5, 1.0, 0.5, 0.1, 0.5]
    account = IndividualFilter(Order(4), "0.08", 1)
    total = Enclosure.of(0)
    taken = []
    for q, s in zip(rate, shift, strict=True):
        (takes_part,) = account.step([q], [s]).reveal()
        taken.append(bool(takes_part))
        if takes_part:
            total = total + sampled_gaussian_renyi(Enclosure.of(q), Enclosure.of(s), Fraction(4))
    assert total.upper <= Fraction("0.08")
    assert taken == sorted(taken, reverse=True)
    assert 0 < sum(taken) < 5


def test_a_dropped_record_stays_out_of_cheaper_steps_and_others_stay_in() -> None:
    account = IndividualFilter(Order(2), 1, 3)
    assert account.admit([0.5, 0.5, 0.0]).reveal().tolist() == [True, True, True]
    assert account.admit([0.6, 0.4, 0.0]).reveal().tolist() == [False, True, True]
    assert account.admit([0.0, 0.0, 0.0]).reveal().tolist() == [False, True, True]
    np.testing.assert_allclose(account.spent.reveal(), [0.5, 0.9, 0.0], rtol=1e-12)


def test_a_loss_equal_to_the_budget_but_for_rounding_is_not_admitted() -> None:
    account = IndividualFilter(Order(2), 1, 2)
    assert account.admit([1.0, 1.0 - 1e-12]).reveal().tolist() == [False, True]


def test_no_budget_admits_what_loses_nothing() -> None:
    account = IndividualFilter(Order("1.5"), 0, 4)
    mask = account.step([0.0, 0.5, 0.5, 1.0], [1.0, 0.0, 1e-300, 1.0]).reveal()
    assert mask.tolist() == [True, True, False, False]
    assert account.admit([0.0, 5e-324, 0.0, 0.0]).reveal().tolist() == [True, False, False, False]


def test_an_infinite_loss_is_refused_to_its_record_alone() -> None:
    account = IndividualFilter(Order(3), 1, 2)
    assert account.admit([np.inf, 0.1]).reveal().tolist() == [False, True]
    assert account.step(0.5, [0.1, 1e200]).reveal().tolist() == [False, False]
    assert np.isfinite(account.spent.reveal()).all()


def test_filters_of_parts_are_the_filter_of_the_whole() -> None:
    rng = np.random.default_rng(8)
    rate, shift = rng.random((12, 101)), rng.exponential(0.4, (12, 101))
    whole = IndividualFilter(Order(5), "0.5", 101, threads=2)
    parts = [IndividualFilter(Order(5), "0.5", size) for size in (1, 64, 36)]
    for q, s in zip(rate, shift, strict=True):
        expected = whole.step(q, s).reveal()
        ends = np.cumsum([0, 1, 64, 36])
        found = [a.step(q[i:j], s[i:j]).reveal() for a, i, j in zip(parts, ends, ends[1:], strict=False)]
        assert (np.concatenate(found) == expected).all()


@pytest.mark.parametrize(
    ("rate", "shift", "name"),
    [([0.1, 2.0], 1.0, "rate"), ([0.1, 0.1], np.nan, "shift"), ([0.1], 1.0, "rate"), (0.1, "one", "shift")],
)
def test_refused_steps_charge_nothing(rate: Any, shift: Any, name: str) -> None:
    account = IndividualFilter(Order(4), 1, 2)
    account.step(0.1, 1.0)
    spent = account.spent.reveal()
    with pytest.raises(InvalidValue, match=name):
        account.step(rate, shift)
    with pytest.raises(InvalidValue, match="losses"):
        account.admit([0.1, -0.1])
    with pytest.raises(InvalidValue, match="losses"):
        account.admit([0.1])
    with pytest.raises(InvalidValue, match="losses"):
        account.admit([0.1, np.nan])
    assert account.spent.reveal().tobytes() == spent.tobytes()
    assert account.active.reveal().all()


def test_what_a_filter_is_made_of() -> None:
    with pytest.raises(InvalidType, match="order"):
        IndividualFilter(Delta(1), 1, 2)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="order"):
        IndividualFilter(Order("1.1"), 1, 2)
    with pytest.raises(InvalidValue, match="budget"):
        IndividualFilter(Order(4), -1, 2)
    with pytest.raises(InvalidValue, match="records"):
        IndividualFilter(Order(4), 1, -2)


def test_the_guarantee_is_the_budget_and_says_what_it_rests_on() -> None:
    account = IndividualFilter(Order(8), "0.5", 10)
    guarantee = account.guarantee
    assert guarantee.bound == account.bound
    assert guarantee.bound.order == 8
    assert guarantee.bound.tau.upper_float == 0.5
    assert (guarantee.relation, guarantee.unit) == (ADD_REMOVE, RECORD)
    assert {a.name for a in guarantee.assumptions} >= {"a record's rate and shift", "records that take part"}
    account.step(1.0, 5.0)
    assert account.guarantee == guarantee


def test_masks_and_accounts_are_private() -> None:
    account = IndividualFilter(Order(8), "0.5", 3)
    assert isinstance(account.step(0.1, 0.1), Private)
    assert isinstance(account.active, Private)
    assert isinstance(account.spent, Private)
    account.active.reveal()[:] = False  # a copy
    assert account.active.reveal().all()


@pytest.mark.parametrize("order", ["2", "1.25", "7", "2.75"])
def test_no_rounding_lets_losses_exceed_the_budget(order: str) -> None:
    """Budgets a hair below the exact sum of all losses, which sums of floats often meet: the last is not admitted."""
    rng = np.random.default_rng(3)
    for steps in (1, 2, 3, 10):
        for losses in rng.uniform(0.01, 1, (12, steps)):
            exact = sum(map(Fraction, losses.tolist()), Fraction(0))
            short, enough = (exact * (1 + sign * Fraction(1, 2**49) * (steps + 8)) for sign in (0, 1))
            for budget, fits in ((short - Fraction(1, 2**200), False), (enough, True)):
                account = IndividualFilter(Order(order), budget, 1)
                admitted = [bool(account.admit([loss]).reveal()[0]) for loss in losses]
                assert admitted == [True] * (steps - 1) + [fits]
                spent = sum((Fraction(loss) for loss, mask in zip(losses.tolist(), admitted, strict=True) if mask))
                assert spent <= Fraction(float(account.spent.reveal()[0])) <= budget * (1 + Fraction(1, 2**46))


def test_a_step_is_charged_no_less_than_it_loses() -> None:
    """For budgets around the divergence itself, rounded both ways, whatever the order."""
    for order in ("2", "3", "5.5"):
        true = sampled_gaussian_renyi(Enclosure.of("0.3"), Enclosure.of("0.7"), Fraction(order), precision=200)
        below = IndividualFilter(Order(order), true.lower, 1)
        assert not below.step([0.3], [0.7000000000000001]).reveal()[0]
        above = IndividualFilter(Order(order), true.upper * (1 + Fraction(1, 10**9)), 1)
        assert above.step([0.3], [0.7]).reveal()[0]


def test_every_step_counts_towards_the_margin_and_refused_losses_do_not_count() -> None:
    account = IndividualFilter(Order(2), 1, 1)
    for _ in range(3):
        account.admit([0.25])
    assert account.spent.reveal()[0] == pytest.approx(0.75)
    assert not account.admit([0.5]).reveal()[0]
    assert account.spent.reveal()[0] == pytest.approx(0.75)
    assert not account.admit([0.125]).reveal()[0]
    steps = account._steps
    with pytest.raises(InvalidValue, match="losses"):
        account.admit([-1.0])
    assert account._steps == steps == 5


@pytest.mark.parametrize("order", ["2", "1.25", "7", "2.75"])
def test_what_is_charged_is_no_less_and_the_limit_no_more(order: str) -> None:
    """Of the log-moments that are added up: (α − 1)·τ, rounded up, and (α − 1)·B, rounded down."""
    excess = Order(order).value - 1
    for loss in np.random.default_rng(4).uniform(0.01, 1, 100):
        account = IndividualFilter(Order(order), Fraction(float(loss)) + Fraction(1, 3), 1)
        account.admit([loss])
        least = Fraction(float(loss)) * excess
        assert least < Fraction(float(account._spent[0, 0])) <= least * (1 + Fraction(1, 2**50))
        most = (Fraction(float(loss)) + Fraction(1, 3)) * excess
        assert most * (1 - Fraction(1, 2**52)) <= Fraction(account._limit) <= most


def test_a_filter_of_no_records_admits_none() -> None:
    mask = IndividualFilter(Order(2), 1, 0).admit(np.zeros(0)).reveal()
    assert mask.shape == (0,)
    for records in (-1, 2.5, True):
        with pytest.raises((InvalidValue, InvalidType), match="records"):
            IndividualFilter(Order(2), 1, records)  # type: ignore[arg-type]


@examples(30)
@given(st.lists(st.lists(st.floats(0, 0.4), min_size=3, max_size=3), max_size=6), st.integers(0, 6))
def test_a_filter_that_is_resumed_goes_on_as_it_would_have(losses: list[list[float]], stop: int) -> None:
    whole = IndividualFilter(Order(3), 1, 3)
    cut = IndividualFilter(Order(3), 1, 3)
    for step, loss in enumerate(losses):
        if step == stop:
            cut = IndividualFilter.resumed(Order(3), 1, cut.totals.reveal())
        assert np.array_equal(whole.admit(loss).reveal(), cut.admit(loss).reveal())
    assert np.array_equal(whole.spent.reveal(), cut.spent.reveal())
    assert np.array_equal(whole.active.reveal(), cut.active.reveal())


def test_totals_that_no_filter_has_are_refused() -> None:
    account = IndividualFilter(Order(3), 1, 2)
    account.admit([0.5, 2.0])
    known = account.totals.reveal()
    IndividualFilter.resumed(Order(3), 1, known)
    for change in (
        {"moments": known.moments + 5},
        {"moments": -known.moments},
        {"moments": known.moments * np.nan},
        {"moments": known.moments.astype(np.float32)},
        {"moments": known.moments[:1]},
        {"active": known.active[:1]},
        {"active": known.active.astype(np.uint8)},
        {"steps": 0},
        {"steps": -1},
        {"moments": np.array([2.0, 0.0]), "steps": 2**30},
    ):
        with pytest.raises((InvalidType, InvalidValue)):
            IndividualFilter.resumed(Order(3), 1, evolve(known, **change))
