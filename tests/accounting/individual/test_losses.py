"""Rényi losses of records over steps fixed beforehand, and ε from them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting.bulk.sampled_gaussian import epsilon_upper, renyi_upper
from certdp.accounting.conversions import renyi_to_approximate
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.individual.losses import IndividualLosses
from certdp.accounting.individual.orders import WHOLE_ORDERS, Orders
from certdp.accounting.notions import Pure, Renyi
from certdp.accounting.pairs.sampled_gaussian_renyi import sampled_gaussian_renyi
from certdp.accounting.provenance import Private, Public, Released
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.units import Delta, Order

GIVEN = Public("batch 64, clipping norm 1")


def drawn(records: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return 10 ** rng.uniform(-4, -0.5, records), 10 ** rng.uniform(-1.3, 0.3, records)


def released() -> Released[int]:
    derivation = Theorem("law", "test").conclude()
    cost = Guarantee(bound=Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, derivation=derivation)
    return Released(3, cost)


def test_losses_add_over_steps() -> None:
    rate, shift = drawn(5)
    losses = IndividualLosses(5)
    losses.step(rate, shift, given=GIVEN)
    losses.step(rate[::-1], 0.6, given=GIVEN, times=10)
    losses.step(0.2, shift, given=GIVEN)
    for order in (Order(2), Order(17)):
        found = losses.renyi(order).reveal()
        for i in range(5):
            parts = [(rate[i], shift[i], 1), (rate[4 - i], 0.6, 10), (0.2, shift[i], 1)]
            total = Enclosure.of(0)
            for q, s, times in parts:
                total = total + sampled_gaussian_renyi(Enclosure.of(q), Enclosure.of(s), order.value) * times
            assert total.upper <= Fraction(float(found[i])) <= total.lower * Fraction("1.001")


def test_a_long_run_of_single_steps_stays_an_upper_bound() -> None:
    losses = IndividualLosses(2, Orders([Order(8)]))
    for _ in range(3000):
        losses.step(0.01, np.array([1.0, 0.25]), given=GIVEN)
    for shift, found in zip((1, 0.25), losses.renyi(Order(8)).reveal(), strict=True):
        true = sampled_gaussian_renyi(Enclosure.of("0.01"), Enclosure.of(shift), Fraction(8)) * 3000
        near = sampled_gaussian_renyi(Enclosure.of(0.01), Enclosure.of(shift), Fraction(8)) * 3000
        assert near.upper <= Fraction(float(found)) <= near.lower * (1 + Fraction(1, 10**10))
        assert abs(true.lower - near.lower) < Fraction(1, 10**10)


def test_epsilon_is_that_of_the_best_order() -> None:
    rate, shift = drawn(20)
    losses = IndividualLosses(20)
    losses.step(rate, shift, given=GIVEN, times=50)
    found = losses.epsilon(Delta("1e-5")).reveal()
    taus = [losses.renyi(order).reveal() for order in WHOLE_ORDERS.given]
    derivation = Theorem("law", "test").conclude()
    for i in range(0, 20, 4):
        proven = []
        for order, tau in zip(WHOLE_ORDERS.given, taus, strict=True):
            bound = Renyi(order.value, Enclosure.of(float(tau[i])))
            guarantee = Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=derivation)
            proven.append(renyi_to_approximate(guarantee, Delta("1e-5")).bound.epsilon.upper_float)
        assert min(proven) * (1 - 1e-9) <= found[i] <= min(proven) * 1.03  # one order alone is improved by tangents


def test_epsilon_is_close_to_what_the_search_over_all_orders_gives() -> None:
    losses = IndividualLosses(3)
    losses.step(0.01, 1.0, given=GIVEN, times=1000)
    best, _ = epsilon_upper(0.01, 1.0, 1000, 1e-5)
    found = losses.epsilon(Delta("1e-5")).reveal()
    assert (best * (1 - 1e-6) <= found).all()
    assert (found <= best * 1.004).all()  # whole orders only: 8 in place of 7.78


def test_corners_of_delta() -> None:
    losses = IndividualLosses(3)
    losses.step(np.array([0.0, 0.5, 0.5]), np.array([1.0, 0.0, 1.0]), given=GIVEN)
    assert losses.epsilon(Delta(0)).reveal().tolist() == [0.0, 0.0, np.inf]
    assert losses.epsilon(Delta(1)).reveal().tolist() == [0.0, 0.0, 0.0]
    none, still, lost = losses.epsilon(Delta("1e-300")).reveal()
    assert none == still == 0.0
    assert 0.0 < lost < np.inf


def test_an_unbounded_record_is_unbounded_alone() -> None:
    losses = IndividualLosses(2)
    losses.step(0.5, np.array([1e200, 0.1]), given=GIVEN)
    wide, narrow = losses.epsilon(Delta("1e-5")).reveal()
    assert wide == np.inf
    assert 0.0 < narrow < 1.0


def test_no_steps_lose_nothing() -> None:
    losses = IndividualLosses(4)
    assert not losses.epsilon(Delta("1e-5")).reveal().any()
    assert not losses.renyi(Order(2)).reveal().any()


def test_no_records_are_fine() -> None:
    losses = IndividualLosses(0)
    losses.step(np.empty(0), np.empty(0), given=GIVEN)
    losses.step(np.empty(0), 1.0, given=GIVEN)
    assert losses.epsilon(Delta("0.1")).reveal().size == 0


@pytest.mark.parametrize("shift", [None, 0.8])
def test_chunks_give_the_same_bits(shift: float | None) -> None:
    rate, own = drawn(301)
    whole = IndividualLosses(301)
    for times in (1, 3):
        whole.step(rate, own if shift is None else shift, given=GIVEN, times=times)
    expected = whole.epsilon(Delta("1e-6")).reveal()
    for size in (1, 64, 300):
        found = []
        for start in range(0, 301, size):
            part = slice(start, start + size)
            chunk = IndividualLosses(len(rate[part]), threads=2)
            for times in (1, 3):
                chunk.step(rate[part], own[part] if shift is None else shift, given=GIVEN, times=times)
            found.append(chunk.epsilon(Delta("1e-6")).reveal())
        assert np.concatenate(found).tobytes() == expected.tobytes()


def test_what_is_read_is_private() -> None:
    losses = IndividualLosses(1)
    losses.step(0.5, 1.0, given=GIVEN)
    assert isinstance(losses.renyi(Order(2)), Private)
    assert isinstance(losses.epsilon(Delta("0.1")), Private)


@pytest.mark.parametrize(
    ("rate", "shift", "name"),
    [
        (1.5, 1.0, "rate"),
        (np.nan, 1.0, "rate"),
        (0.5, -1.0, "shift"),
        (0.5, np.inf, "shift"),
        ([0.1, 0.2], 1.0, "rate"),
        (0.1, [1.0, 1.0], "shift"),
        ([[0.1, 0.2, 0.3]], 1.0, "rate"),
        ("x", 1.0, "rate"),
    ],
)
def test_bad_steps_change_nothing(rate: Any, shift: Any, name: str) -> None:
    losses = IndividualLosses(3)
    losses.step(0.1, 1.0, given=GIVEN)
    before = losses.renyi(Order(2)).reveal()
    with pytest.raises(InvalidValue, match=name):
        losses.step(rate, shift, given=GIVEN)
    assert losses.renyi(Order(2)).reveal().tobytes() == before.tobytes()


def test_released_values_need_a_filter() -> None:
    losses = IndividualLosses(1)
    with pytest.raises(InvalidValue, match="IndividualFilter"):
        losses.step(0.1, 1.0, given=released())  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="given"):
        losses.step(0.1, 1.0, given=Private(3))  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="given"):
        losses.step(0.1, 1.0, given=3)  # type: ignore[arg-type]
    assert not losses.renyi(Order(2)).reveal().any()


@pytest.mark.parametrize("times", [0, -1, 2**53 + 1])
def test_counts_of_steps(times: int) -> None:
    with pytest.raises(InvalidValue, match="times"):
        IndividualLosses(1).step(0.1, 1.0, given=GIVEN, times=times)


def test_totals_agree_with_the_kernel_of_real_orders() -> None:
    rate, shift = drawn(200, 5)
    losses = IndividualLosses(200)
    losses.step(rate, shift, given=GIVEN)
    for order in WHOLE_ORDERS.given:
        expected = renyi_upper(rate, shift, float(order.value))
        np.testing.assert_allclose(losses.renyi(order).reveal(), expected, rtol=1e-9)
