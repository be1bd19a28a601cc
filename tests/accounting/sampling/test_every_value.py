"""Stand-ins for released values: nothing may look at one, and ranges become places."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.expressions import Symbol, W, evaluate, norm, range_of, variables
from certdp.accounting.guarantees import Guarantee, compose
from certdp.accounting.notions import Pure
from certdp.accounting.provenance import Public, Released, as_it_came_out, declared_number
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.sampling.every_value import AnyValue, ExPost, Substituted, for_every_value, is_open, moves

COST: Any = Guarantee(
    bound=Pure(Enclosure.of("0.1")),
    relation=ADD_REMOVE,
    unit=RECORD,
    derivation=Theorem("a test", "a release").conclude(),
)
ANY = AnyValue("mechanism.scale")

LOOKS: list[Callable[[Any], object]] = [
    bool,
    int,
    float,
    str,
    hash,
    len,
    iter,
    round,
    abs,
    operator.neg,
    operator.index,
    math.floor,
    math.ceil,
    math.trunc,
    lambda v: v == 1,
    lambda v: v != 1,
    lambda v: v < 1,
    lambda v: v > 1,
    lambda v: v >= 1,
    lambda v: v + 1,
    lambda v: 1 + v,
    lambda v: v - 1,
    lambda v: 1 - v,
    lambda v: v * 2,
    lambda v: Fraction(2) * v,
    lambda v: v / 2,
    lambda v: 1 / v,
    lambda v: v // 2,
    lambda v: v % 2,
    lambda v: v**2,
    lambda v: 2**v,
    lambda v: f"{v}",
    lambda v: v.numerator,
    lambda v: v[0],
    lambda v: v(),
    lambda v: 1 in v,
    lambda v: {v: 1},
    lambda v: min(v, 1),
    lambda v: divmod(v, 2),
    complex,
    bytes,
    reversed,
    dir,
    sys.getsizeof,
    copy.copy,
    copy.deepcopy,
    lambda v: copy.deepcopy([v]),
    *(lambda v, protocol=protocol: pickle.dumps(v, protocol) for protocol in range(6)),
    lambda v: setattr(v, "seen", True),
    lambda v: delattr(v, "used"),
]


@pytest.mark.parametrize("look", LOOKS)
def test_no_bound_looks_at_any_value(look: Callable[[Any], object]) -> None:
    stands = AnyValue("mechanism.scale")
    with pytest.raises(ExPost, match=r"mechanism\.scale: got a released value.*within=\(low, high\).*AdaptiveRun"):
        look(stands)
    assert stands.used


KINDS = (int, float, complex, str, bytes, list, tuple, dict, set, Fraction, Decimal, np.float64, np.ndarray)
OF_CLASSES = {"__class_getitem__", "__getformat__", "__abstractmethods__", "__slots__", "__new__", "__init_subclass__"}
OF_INSTANCES = re.compile(r"__(array|dlpack)\w*__")
"""What NumPy looks up as an attribute, by `__getattr__`."""


def test_it_refuses_whatever_a_value_can_be_asked() -> None:
    asked = {name for kind in KINDS for name in dir(kind) if re.fullmatch("__.*__", name)} - OF_CLASSES
    refused = {*vars(AnyValue), *(name.replace("__", "__i", 1) for name in vars(AnyValue))}  # a += 1 asks for a + 1
    left = {name for name in asked - refused if not OF_INSTANCES.fullmatch(name)}
    assert left == {"__getattribute__", "__subclasshook__"}


def test_one_that_nothing_initialised_refuses_too() -> None:
    with pytest.raises(ExPost):
        AnyValue.__new__(AnyValue).anything  # noqa: B018


@pytest.mark.parametrize("use", [lambda v: W / v, lambda v: v * W, lambda v: norm(v), lambda v: W + v, lambda v: W**v])
def test_no_expression_takes_it_in(use: Callable[[Any], object]) -> None:
    with pytest.raises(ExPost):
        Substituted({"mechanism.scale": Released(1, COST)})(lambda: use(ANY))


def test_without_released_parameters_errors_stay_what_they_are() -> None:
    with pytest.raises(ZeroDivisionError):
        Substituted({})(lambda: 1 // 0)


def test_its_repr_says_whose_it_is() -> None:
    assert repr(ANY) == "AnyValue('mechanism.scale')"


@given(st.fractions(-9, 9), st.fractions(0, 9), st.fractions(0, 1))
def test_a_range_becomes_a_place_between_its_ends(low: Fraction, width: Fraction, at: Fraction) -> None:
    value = Released(low, COST, within=(low, low + width))
    stands: Any = for_every_value(value, "mechanism.scale").value
    if not width:
        assert stands == low
        return
    (place,) = variables(stands)
    assert (place.symbol, place.index) == (Symbol.PLACE, "mechanism.scale")
    bounds = range_of(stands)
    assert (bounds.lower, bounds.upper) == (low, low + width)
    assert float(evaluate(stands, {place: float(at)})) == pytest.approx(float(low + width * at), abs=1e-12)


def test_public_values_and_those_that_came_out_stand_for_themselves() -> None:
    public, came = Public(3), as_it_came_out(Released(3, COST))
    assert for_every_value(public, "x") is public
    assert for_every_value(came, "x") is came
    assert [is_open(value) for value in (public, came, Released(3, COST))] == [False, False, True]
    assert [moves(Released(3, COST, within=w)) for w in (None, (3, 3), (3, 4))] == [True, False, True]


class TestRanges:
    @pytest.mark.parametrize(("given_", "kept"), [(0, 1), (1, 1), ("2.5", "2.5"), (4, 4), (7, 4), (-1e300, 1)])
    def test_values_outside_are_clamped(self, given_: Any, kept: Any) -> None:
        assert Released(given_, COST, within=(1, 4)).value == kept

    @pytest.mark.parametrize("within", [(2, 1), ("x", 1), (float("nan"), 1)])
    def test_what_is_no_range_is_refused(self, within: Any) -> None:
        with pytest.raises(InvalidValue, match="within"):
            Released(1, COST, within=within)

    @pytest.mark.parametrize("within", [3, "12", (1, 2, 3)])
    def test_other_types_are_refused(self, within: Any) -> None:
        with pytest.raises((InvalidType, InvalidValue)):
            Released(1, COST, within=within)

    def test_only_numbers_have_one(self) -> None:
        with pytest.raises(InvalidType):
            Released((1, 2), COST, within=(0, 1))

    def test_it_is_kept_as_the_value_is_read_and_lost_under_a_function(self) -> None:
        value = Released("0.5", COST, within=("0.25", 1))
        read = declared_number(value, lambda number: number > 0, "above 0", parameter="scale")
        assert isinstance(read, Released)
        assert (read.value, read.within) == (Fraction(1, 2), value.within)
        assert value.map(float).within is None
        assert value.map(float, within=(0, 2)).within is not None

    def test_its_ends_are_admissible_too(self) -> None:
        with pytest.raises(InvalidValue, match="scale: got 0"):
            declared_number(
                Released(1, COST, within=(0, 2)), lambda number: number > 0, "a number > 0", parameter="scale"
            )


class TestCostsAtReleasedValues:
    def test_they_compose_with_nothing_and_pay_for_nothing(self) -> None:
        from certdp.accounting.derivation import EX_POST

        reading = Guarantee(
            bound=COST.bound, relation=ADD_REMOVE, unit=RECORD, derivation=EX_POST.conclude([COST.derivation])
        )
        for use in (lambda: compose(COST, reading), lambda: compose(reading), lambda: Released(1, reading)):
            with pytest.raises(InvalidValue, match="what a run cost at released values"):
                use()
