"""Odometers: their readings, and that no adversary's realised loss passes them more often than they say."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from attrs import evolve

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.filters import PureOdometer, RenyiOdometer
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure, Renyi, ZeroConcentrated
from certdp.accounting.provenance import Public
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.units import Delta, Order

WHY = Theorem("test", "a mechanism")
ORDERS = [Order(2), Order(8)]


def guaranteed(bound: Any, *, relation: Any = ADD_REMOVE, unit: Any = RECORD) -> Any:
    return Guarantee(bound=bound, relation=relation, unit=unit, derivation=WHY.conclude())


def pure(epsilon: Any) -> Any:
    return guaranteed(Pure(Enclosure.of(epsilon)))


def renyi(order: Any, tau: Any) -> Any:
    return guaranteed(Renyi(Fraction(order), Enclosure.of(tau)))


def test_pure_losses_add_up_and_never_fail() -> None:
    odometer = PureOdometer(relation=ADD_REMOVE, unit=RECORD)
    assert odometer.reading.loss.upper == 0
    readings = [odometer.charge(pure("1/4")) for _ in range(3)]
    assert [reading.loss.upper for reading in readings] == [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    assert [reading.number for reading in readings] == [1, 2, 3]
    assert readings[-1].delta.upper == 0
    assert str(readings[-1]) == "realised loss ≤ 0.75 after 3 costs, surely"
    assert readings[-1].derivation.premises == (WHY.conclude(),)


def test_only_a_probability_of_0_is_called_sure() -> None:
    reading = PureOdometer(relation=ADD_REMOVE, unit=RECORD).reading
    perhaps = evolve(reading, delta=Enclosure.between(0, "1/8"))
    assert str(perhaps) == "realised loss ≤ 0.0 after 0 costs, but for a probability of 0.125"


def test_a_reading_is_the_least_over_the_orders() -> None:
    odometer = RenyiOdometer(ORDERS, Delta("1e-3"), relation=ADD_REMOVE, unit=RECORD)
    room = math.log(2 / 1e-3)
    assert odometer.reading.loss.contains(odometer.reading.loss.midpoint)
    assert odometer.reading.loss.upper_float == pytest.approx(room / 7)
    reading = odometer.charge(renyi(2, "1/4"), renyi(8, 1))
    assert reading.loss.upper_float == pytest.approx(min(0.25 + room, 1 + room / 7))
    for _ in range(20):
        reading = odometer.charge(renyi(2, "1/4"), renyi(8, 1))
    assert reading.loss.upper_float == pytest.approx(21 * 0.25 + room)
    assert reading.number == 21
    assert "but for a probability of 0.001" in str(reading)
    assert "orders fixed beforehand = 2, 8" in map(str, reading.derivation.assumptions)


def test_a_line_is_charged_at_each_order() -> None:
    lines = RenyiOdometer(ORDERS, Delta("1e-3"), relation=ADD_REMOVE, unit=RECORD)
    points = RenyiOdometer(ORDERS, Delta("1e-3"), relation=ADD_REMOVE, unit=RECORD)
    line = lines.charge_line(guaranteed(ZeroConcentrated(Enclosure.of("1/8"))))
    assert line.loss == points.charge(renyi(2, "1/4"), renyi(8, 1)).loss


@pytest.mark.parametrize(
    ("orders", "delta", "parameter"),
    [([], "1e-3", "orders"), ([Order(2), Order(2)], "1e-3", "orders"), (ORDERS, 0, "delta")],
)
def test_bad_odometers_are_refused(orders: Any, delta: Any, parameter: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        RenyiOdometer(orders, Delta(delta), relation=ADD_REMOVE, unit=RECORD)
    assert refused.value.parameter == parameter


def test_bad_costs_are_refused_and_not_counted() -> None:
    sums = PureOdometer(relation=ADD_REMOVE, unit=RECORD)
    odometer = RenyiOdometer(ORDERS, Delta("1e-3"), relation=ADD_REMOVE, unit=RECORD)
    wrong: Any
    for wrong in (renyi(2, 1), Pure(Enclosure.of(1)), 1.0):
        with pytest.raises(InvalidType):
            sums.charge(wrong)
    for relation, unit in ((REPLACE, RECORD), (ADD_REMOVE, ELEMENT)):
        with pytest.raises(InvalidValue):
            sums.charge(guaranteed(Pure(Enclosure.of(1)), relation=relation, unit=unit))
    over = NormBall(norm=Norm.L2, radius=Public(3)).assumptions
    elsewhere: Any = Guarantee(
        bound=Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, derivation=WHY.conclude(assumptions=over)
    )
    with pytest.raises(InvalidValue, match="no domain"):
        sums.charge(elsewhere)
    inside = PureOdometer(relation=ADD_REMOVE, unit=RECORD, domain=NormBall(norm=Norm.L2, radius=Public(3)))
    assert "radius = 3" in map(str, inside.charge(elsewhere).derivation.assumptions)
    for costs in ((renyi(2, 1),), (renyi(8, 1), renyi(2, 1)), (renyi(2, 1), renyi(9, 1)), ()):
        with pytest.raises(InvalidValue, match="each of the orders 2, 8"):
            odometer.charge(*costs)
    with pytest.raises(InvalidType):
        odometer.charge(pure(1), pure(1))
    with pytest.raises(InvalidType):
        odometer.charge_line(pure(1))
    with pytest.raises(InvalidType):
        RenyiOdometer([Delta(1)], Delta("1e-3"), relation=ADD_REMOVE, unit=RECORD)  # type: ignore[list-item]
    assert (sums.reading.number, odometer.reading.number) == (0, 0)


@pytest.mark.parametrize("delta", ["1/20", "1/4"])
def test_no_adversary_passes_a_reading_more_often_than_stated(delta: str) -> None:
    """Randomised response with one or three units, chosen by the loss so far so as to pass the reading some day."""
    unit, sizes, steps = 0.2, (1, 3), 12
    likely = {size: 1 / (1 + math.exp(-size * unit)) for size in sizes}

    def tau(order: float, size: int) -> float:
        e, p = size * unit, likely[size]
        return math.log(p * math.exp((order - 1) * e) + (1 - p) * math.exp(-(order - 1) * e)) / (order - 1)

    readings = {}
    for ones in range(steps + 1):
        odometer = RenyiOdometer(ORDERS, Delta(delta), relation=ADD_REMOVE, unit=RECORD)
        costs = {size: [renyi(order.value, tau(float(order.value), size)) for order in ORDERS] for size in sizes}
        for _ in range(ones):
            odometer.charge(*costs[1])
        for threes in range(steps + 1 - ones):
            readings[ones, threes] = odometer.reading.loss.upper_float
            odometer.charge(*costs[3])

    @cache
    def passing(loss: int, ones: int, threes: int) -> float:
        if loss * unit > readings[ones, threes]:
            return 1.0
        if ones + threes == steps:
            return 0.0
        options = ((1, (ones + 1, threes)), (3, (ones, threes + 1)))
        return max(
            likely[size] * passing(loss + size, *after) + (1 - likely[size]) * passing(loss - size, *after)
            for size, after in options
        )

    assert 0 < passing(0, 0, 0) <= float(Fraction(delta))
