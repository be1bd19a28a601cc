"""A number may be stated in any form whose meaning is certain; another unit is refused by name, with what to write."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import (
    ADD_REMOVE,
    RECORD,
    Budget,
    Delta,
    DPKMeans,
    Epsilon,
    Full,
    GaussianSum,
    LaplaceSum,
    Norm,
    NormBall,
    Order,
    Ppswor,
    Private,
    PrivateWeightedSampling,
    Public,
    PwsKeys,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
    User,
)
from certdp.accounting.errors import InvalidType
from certdp.accounting.exact import exact
from certdp.accounting.filters import RenyiOdometer
from certdp.accounting.units import Probability, Quantity, Sensitivity, Weight
from certdp.audits import audit_one_run
from certdp.individual import IndividualFilter, Orders, release_count

RUN = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(2)), sampler=Full(), releases=ResampleEach(steps=3))
ACTIVE = Private(np.ones(3, dtype=np.bool_))

DOORS: dict[str, tuple[type[Quantity], Callable[[Any], object]]] = {
    "ε at δ": (Delta, lambda value: RUN.epsilon(value).epsilon),
    "ε at δ by name": (Delta, lambda value: RUN.epsilon(delta=value).epsilon),
    "δ at ε": (Epsilon, lambda value: RUN.delta(value).delta),
    "τ at an order": (Order, lambda value: RUN.renyi(value).bound.tau.upper),
    "budget": (Epsilon, lambda value: Budget(epsilon=value, delta=0)),
    "budget's δ": (Delta, lambda value: Budget(epsilon=1, delta=value)),
    "clustering": (Epsilon, lambda value: exact(DPKMeans(epsilon=value).epsilon, parameter="epsilon")),
    "keys": (
        Epsilon,
        lambda value: (
            PrivateWeightedSampling.within(
                epsilon=value, delta="1e-6", sampler=Ppswor(threshold=Public("0.01"))
            ).mechanism
        ),
    ),
    "a plugin's ε": (Epsilon, lambda value: PwsKeys(epsilon=Public(value), delta=Public("1e-6"))),
    "an individual filter": (Order, lambda value: IndividualFilter(value, 1, 2).bound.order),
    "orders": (Order, lambda value: Orders([value])),
    "an odometer": (Order, lambda value: RenyiOdometer([value], "1e-3", relation=ADD_REMOVE, unit=RECORD).orders),
    "an odometer's δ": (Delta, lambda value: RenyiOdometer([2], value, relation=ADD_REMOVE, unit=RECORD).delta),
    "an audit": (Delta, lambda value: audit_one_run(9, 10, delta=value).delta),
    "a private count": (Epsilon, lambda value: release_count(ACTIVE, value).cost.bound.epsilon.upper),
}
VALUES: dict[type[Quantity], Fraction] = {Epsilon: Fraction(1, 2), Delta: Fraction(1, 2), Order: Fraction(4)}
UNITS: list[Quantity] = [
    Epsilon("0.5"), Delta("0.5"), Order(4), Probability("0.5"), Weight(4), Sensitivity("0.5"),
]  # fmt: skip


def forms(unit: type[Quantity], value: Fraction) -> list[Any]:
    """Every form in which people state a number that binary64 holds."""
    decimal = Decimal(value.numerator) / Decimal(value.denominator)
    plain = [unit(value), value, float(value), np.float64(value), np.float32(value), str(value), str(decimal), decimal]
    whole = [int(value), np.int64(value), np.uint8(value)] if value.denominator == 1 else []
    return [*plain, *whole, *(Public(form) for form in (*plain, *whole))]


@pytest.mark.parametrize("door", DOORS)
def test_every_form_gives_the_same(door: str) -> None:
    unit, ask = DOORS[door]
    stated = forms(unit, VALUES[unit])
    if door == "a plugin's ε":
        stated = [form for form in stated if not isinstance(form, Public)]
    first = ask(stated[0])
    for form in stated[1:]:
        assert ask(form) == first, form


@pytest.mark.parametrize("door", DOORS)
def test_another_unit_is_refused_with_what_to_write(door: str) -> None:
    unit, ask = DOORS[door]
    for other in UNITS:
        if not isinstance(other, unit):
            for form in (other, Public(other)):
                with pytest.raises(InvalidType, match=f"is no {type(other).__name__}: if meant, write '"):
                    ask(form)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "value", [Private(0.5), True, None, [0.5], b"1", Released(0.5, RUN.epsilon(Delta(0.5)).guarantee)]
)
def test_what_states_no_public_number_is_refused(door: str, value: object) -> None:
    if value is None and door in ("an audit",):
        pytest.skip("None leaves δ out")
    if isinstance(value, Private | Released) and door == "a plugin's ε":
        pytest.skip("a declaration holds no other")
    with pytest.raises(InvalidType):
        DOORS[door][1](value)


def test_where_it_comes_from_is_asked_of_parameters_of_mechanisms() -> None:
    for value in (1, "0.1", Decimal(1), Epsilon(1)):
        with pytest.raises(InvalidType, match=r"Say where it comes from: Public\(value\)"):
            LaplaceSum(scale=value)  # type: ignore[arg-type]
    for number in (1, "0.1", Decimal(1), np.int32(1)):
        assert LaplaceSum(scale=Public(number)).scale.value == exact(number)  # type: ignore[arg-type]


COUNTS: dict[str, Callable[[Any], tuple[object, object]]] = {
    "resampled": lambda value: (ResampleEach(value), ResampleEach(value).steps),
    "on one sample": lambda value: (SampleOnce(value), SampleOnce(value).steps),
    "coordinates": lambda value: (ball := NormBall(norm=Norm.L1, radius=Public(1), dimension=value), ball.dimension),
    "contributions": lambda value: (User(value), User(value).contributions),
}


@pytest.mark.parametrize("door", COUNTS)
@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_a_count_of_numpy_is_the_whole_number_it_is(door: str, kind: Any) -> None:
    made, held = COUNTS[door](kind(100))
    assert made == COUNTS[door](100)[0]
    assert type(held) is int  # where NumPy's would overflow
    for other in (np.bool_(True), np.float64(3), "3", 2.0):
        with pytest.raises(InvalidType):
            COUNTS[door](other)


@given(value=st.decimals(allow_nan=False, allow_infinity=False, min_value="-1e300", max_value="1e300"))
def test_a_decimal_is_read_exactly(value: Decimal) -> None:
    assert exact(value) == Fraction(value)
