"""Orders of norms are read exactly, and what is no norm is refused."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.sampling.every_value import AnyValue, ExPost

ORDERS = st.fractions(1, 100)


@given(ORDERS)
def test_equal_orders_are_one_norm_however_they_are_written(order: Fraction) -> None:
    norm = Norm(order)
    assert norm.order == order
    assert norm.reciprocal * order == 1
    for same in (Norm(norm.value), Norm.of(norm), Norm.of(f"{3 * order.numerator}/{3 * order.denominator}")):
        assert same == norm
        assert hash(same) == hash(norm)
        assert same.value == norm.value == str(norm)
    assert Norm(order + Fraction(1, 10**30)) != norm


@given(st.floats(1, 1e300))
def test_a_float_is_the_number_that_it_is(order: float) -> None:
    assert Norm(order).order == Fraction(order)
    assert Norm(np.float64(order)) == Norm(order)


@pytest.mark.parametrize(
    ("given", "value", "subscript"),
    [
        (1, "1", "₁"),
        ("2.0", "2", "₂"),
        (1.5, "3/2", "_{3/2}"),
        ("1.1", "11/10", "_{11/10}"),
        (1.1, str(Fraction(1.1)), f"_{{{Fraction(1.1)}}}"),
        ("1e2", "100", "₁₀₀"),
        ("inf", "inf", "∞"),
        (float("inf"), "inf", "∞"),
        (np.inf, "inf", "∞"),
    ],
)
def test_texts(given: Any, value: str, subscript: str) -> None:
    assert Norm(given).value == value
    assert Norm(given).subscript == subscript
    assert repr(Norm(given)) == f"Norm('{value}')"


def test_the_common_norms() -> None:
    assert (Norm("1"), Norm(2), Norm("inf")) == (Norm.L1, Norm.L2, Norm.LINF)
    assert [norm.reciprocal for norm in (Norm.L1, Norm.L2, Norm.LINF)] == [1, Fraction(1, 2), 0]
    assert Norm.LINF.order is None
    assert len({Norm.L1, Norm.L2, Norm.LINF, Norm(1), Norm("3/2"), Norm(1.5)}) == 4
    assert pickle.loads(pickle.dumps(Norm("3/2"))) == copy.deepcopy(Norm("3/2")) == Norm(1.5)
    with pytest.raises(AttributeError):
        Norm.L1.order = Fraction(2)  # type: ignore[misc]


@pytest.mark.parametrize("order", [0, -1, "1/2", "0.9999999999999999999999", float("nan"), -np.inf, "-inf", "", "l1"])
def test_what_is_no_order_is_refused(order: Any) -> None:
    with pytest.raises(InvalidValue, match=r"norm: got .*; admissible: a number ≥ 1"):
        Norm(order)


@pytest.mark.parametrize("order", [True, None, 2j, [1]])
def test_what_is_no_number_is_refused(order: Any) -> None:
    with pytest.raises(InvalidType, match="norm: got"):
        Norm.of(order)


def test_orders_too_long_for_a_certificate_are_refused() -> None:
    assert len(Norm(10**599).value) == 600
    for order in ("1e600", "1e3800", Fraction(10**600 + 1, 10**600)):
        with pytest.raises(InvalidValue, match="600 digits"):
            Norm(order)


def test_a_refusal_to_look_at_a_released_order_says_why() -> None:
    with pytest.raises(ExPost, match=r"mechanism\.norm: got a released value"):
        Norm.of(AnyValue("mechanism.norm"))  # type: ignore[arg-type]
