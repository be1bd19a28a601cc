"""Units hold exact numbers in their ranges and mix with nothing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.units import Delta, Epsilon, Order, Probability, Quantity, Sensitivity, Weight

UNITS: list[type[Quantity]] = [Epsilon, Delta, Order, Weight, Probability, Sensitivity]
RANGES: dict[type[Quantity], Any] = {
    Epsilon: lambda x: x >= 0,
    Delta: lambda x: 0 <= x <= 1,
    Order: lambda x: x > 1,
    Weight: lambda x: x >= 1,
    Probability: lambda x: 0 <= x <= 1,
    Sensitivity: lambda x: x >= 0,
}


@given(unit=st.sampled_from(UNITS), value=st.fractions(-3, 3, max_denominator=12))
def test_each_unit_admits_its_range_and_nothing_else(unit: type[Quantity], value: Fraction) -> None:
    if RANGES[unit](value):
        assert unit(value).value == value
    else:
        with pytest.raises(InvalidValue) as caught:
            unit(value)
        assert caught.value.parameter == unit.__name__.lower()


@pytest.mark.parametrize("unit", UNITS)
def test_numbers_are_read_exactly(unit: type[Quantity]) -> None:
    assert unit("1.1" if unit in (Order, Weight) else "0.1").value in (Fraction(11, 10), Fraction(1, 10))
    with pytest.raises(InvalidValue):
        unit(float("nan"))
    with pytest.raises(InvalidType):
        unit(True)
    with pytest.raises(InvalidType):
        unit(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [Delta(1), Probability(1), Weight(1), Sensitivity(1), 1, 1.0, Fraction(1)])
def test_units_equal_only_their_like(other: object) -> None:
    assert Epsilon(1) == Epsilon("1")
    assert Epsilon(1) != other


@pytest.mark.parametrize(
    "operation",
    [
        lambda one: one + Epsilon(1),
        lambda one: one + Delta(1),
        lambda one: one + 1.0,
        lambda one: one < Epsilon(2),
        lambda one: one < 2.0,
        lambda one: float(one),
    ],
)
def test_units_do_not_calculate_or_compare(operation: Any) -> None:
    with pytest.raises(TypeError):
        operation(Epsilon(1))


@given(value=st.fractions(0, 1))
def test_weight_and_complement(value: Fraction) -> None:
    probability = Probability(value)
    assert probability.complement().value + value == 1
    if value:
        assert probability.weight().value * value == 1
    else:
        with pytest.raises(InvalidValue, match="A record drawn with probability 0 has no weight"):
            probability.weight()


def test_the_base_is_no_unit() -> None:
    with pytest.raises(InvalidValue):
        Quantity(1)
    assert str(Epsilon("1/4")) == "0.25"


@pytest.mark.parametrize("value", ["3/2", 2, "1000001/1000000"])
def test_a_probability_is_at_most_1(value: Any) -> None:
    with pytest.raises(InvalidValue, match="probability"):
        Probability(value)


@given(value=st.fractions(1, 100))
def test_a_number_becomes_a_quantity_and_a_quantity_stays(value: Fraction) -> None:
    kinds: tuple[Any, ...] = (Epsilon, Weight)
    for unit in kinds:
        made = unit.of(value)
        assert type(made) is unit
        assert made.value == value
        assert unit.of(made) is made
