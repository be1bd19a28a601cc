"""Log-moments at fixed orders: above enclosures of the truth, close to them, and each record's own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.individual.log_moments import SMALLEST_RATE, LogMoments, with_margin
from certdp.accounting.individual.orders import LARGEST_SUMMED, WHOLE_ORDERS, Orders
from certdp.accounting.pairs.sampled_gaussian_renyi import sampled_gaussian_renyi
from certdp.accounting.units import Delta, Order
from tests.support.cases import examples

Floats = NDArray[np.float64]
MIXED = Orders(map(Order, ("1.5", "2", "3", "3.25", "8", "32", "200")))
TIGHT = 1e-10


def truth(rate: float, shift: float, order: Fraction) -> Enclosure:
    return sampled_gaussian_renyi(Enclosure.of(rate), Enclosure.of(shift), order, precision=64) * (order - 1)


def each(orders: Orders, rate: Floats, shift: Floats) -> Floats:
    totals = np.zeros((len(rate), len(orders)))
    LogMoments(orders).add_each(rate, shift, 1, totals)
    return totals * with_margin(1)


def common(orders: Orders, rate: Floats, shift: float) -> Floats:
    totals = np.zeros((len(rate), len(orders)))
    LogMoments(orders).add_common(rate, shift, 1, totals)
    return totals * with_margin(1)


def assert_above(values: Floats, rate: float, shift: float, orders: Orders, near: float) -> None:
    for value, order in zip(values, orders.given, strict=True):
        true = truth(rate, shift, order.value)
        assert true.upper <= Fraction(float(value)) <= true.lower * (1 + Fraction(near)) + Fraction(1, 10**280)


RATES = st.floats(-18, 0).map(lambda e: min(2.0**e, 1.0)) | st.floats(0.5, 1)
SHIFTS = st.floats(-14, 3).map(lambda e: 2.0**e)


@examples(25)
@given(RATES, SHIFTS)
@example(1.0, 1.0)
@example(1.0 - 2.0**-53, 0.5)
@example(2.0**-300, 0.01)
@example(2.0**-1074, 2.0**-1074)
@example(0.01, 2.1005)  # the last order just beyond what the triangle holds
@example(1e-9, 8.0)
def test_whole_orders_are_just_above_the_truth(rate: float, shift: float) -> None:
    values = each(WHOLE_ORDERS, np.array([rate]), np.array([shift]))[0]
    assert_above(values, rate, shift, WHOLE_ORDERS, TIGHT)


@examples(8)
@given(RATES, st.floats(-10, 0).map(lambda e: 2.0**e))
def test_orders_of_all_kinds_keep_their_columns(rate: float, shift: float) -> None:
    assert_above(each(MIXED, np.array([rate]), np.array([shift]))[0], rate, shift, MIXED, 1e-8)


def test_the_largest_summed_order() -> None:
    orders = Orders([Order(LARGEST_SUMMED - 1), Order(LARGEST_SUMMED), Order(LARGEST_SUMMED + 1)])
    assert_above(each(orders, np.array([0.003]), np.array([0.2]))[0], 0.003, 0.2, orders, 1e-9)


@examples(25)
@given(RATES, SHIFTS)
@example(1.0, 1.0)
@example(1.0 - 2.0**-53, 3.0)
@example(0.5, 0.01)
@example(2.0**-60, 20.0)
def test_tables_are_above_the_truth_and_within_a_thousandth(rate: float, shift: float) -> None:
    assert_above(common(WHOLE_ORDERS, np.array([rate]), shift)[0], rate, shift, WHOLE_ORDERS, 1e-3)


def test_tables_serve_real_orders() -> None:
    orders = Orders([Order("1.25"), Order("2.5"), Order(24)])
    for rate in (0.003, 0.7):
        assert_above(common(orders, np.array([rate]), 0.8)[0], rate, 0.8, orders, 1e-3)


def test_rates_below_the_table_count_as_its_first() -> None:
    tiny = common(WHOLE_ORDERS, np.array([2.0**-500, SMALLEST_RATE]), 1.0)
    assert (tiny[0] == tiny[1]).all()
    assert (tiny > 0).all()


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_what_is_never_drawn_or_never_moves_loses_exactly_nothing(shift: float) -> None:
    rate = np.array([0.0, 0.5 if shift == 0.0 else 0.0])
    assert not each(MIXED, rate, np.array([shift, shift])).any()
    assert not common(MIXED, rate, shift).any()


def test_an_infinite_moment_is_infinite_and_no_nan() -> None:
    for values in (
        each(WHOLE_ORDERS, np.array([0.5]), np.array([1e200])),
        common(WHOLE_ORDERS, np.array([0.5, 1.0]), 1e200),
    ):
        assert (values == np.inf).all()


def test_steps_alike_are_repeated_steps() -> None:
    rng = np.random.default_rng(1)
    rate, shift = rng.random(50), rng.random(50)
    moments = LogMoments(WHOLE_ORDERS)
    once, often = np.zeros((50, 16)), np.zeros((50, 16))
    moments.add_each(rate, shift, 7, once)
    moments.add_common(rate, 0.3, 5, once)
    for _ in range(7):
        moments.add_each(rate, shift, 1, often)
    for _ in range(5):
        moments.add_common(rate, 0.3, 1, often)
    np.testing.assert_allclose(once, often, rtol=1e-14)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [1, 7, 33, 10_000])
def test_a_total_depends_on_its_own_record_alone(size: int, threads: int) -> None:
    rng = np.random.default_rng(2)
    rate, shift = 2.0 ** -rng.exponential(6, 10_000), rng.exponential(0.7, 10_000)
    rate[5] = 0.0
    for call in ("each", "common"):
        found = []
        for part in (slice(0, 10_000), slice(17, min(17 + size, 10_000))):
            totals = np.zeros((len(rate[part]), 16))
            moments = LogMoments(WHOLE_ORDERS)
            if call == "each":
                moments.add_each(rate[part], shift[part], 1, totals, threads=threads)
            else:
                moments.add_common(rate[part], 0.9, 1, totals, threads=threads)
            found.append(totals)
        assert found[0][17 : 17 + size].tobytes() == found[1].tobytes()


def test_tables_grow_with_the_rate() -> None:
    rate = np.sort(2.0 ** -np.random.default_rng(3).exponential(5, 20_000))
    values = common(WHOLE_ORDERS, rate, 1.0)
    assert (np.diff(values, axis=0) >= 0).all()


def test_margins() -> None:
    assert Fraction(with_margin(10**6)) == 1 + Fraction(10**6 + 4, 2**52)
    with pytest.raises(InvalidValue, match="steps"):
        with_margin(2**40 + 1)


@pytest.mark.parametrize(
    ("orders", "wrong"),
    [([], "at least one"), ([3, 2], "increase"), ([2, 2], "increase"), (["1.1"], "binary64"), ([2**60], "binary64")],
)
def test_orders_are_refused(orders: list[str | int], wrong: str) -> None:
    with pytest.raises(InvalidValue, match=wrong):
        Orders(map(Order, orders))


def test_orders_are_orders() -> None:
    with pytest.raises(InvalidType, match="orders"):
        Orders([Delta("0.5")])  # type: ignore[list-item]
    with pytest.raises(InvalidType, match="orders"):
        Orders(2)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="fixed before"):
        WHOLE_ORDERS.column(Order(18))
