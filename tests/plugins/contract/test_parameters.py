"""Converters of plugin parameters: exact, declared, refused with what is admissible."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.provenance import Private, PrivateValue, Public, Released
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.plugins.contract import flag, non_negative, norm_order, positive, probability

COST = Guarantee(
    bound=Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, derivation=Theorem("test", "a release").conclude()
)


@pytest.mark.parametrize(
    ("read", "given", "value"),
    [
        (positive, "0.1", Fraction(1, 10)),
        (positive, 0.1, Fraction(0.1)),
        (positive, 3, Fraction(3)),
        (non_negative, 0, Fraction(0)),
        (non_negative, "2/3", Fraction(2, 3)),
        (probability, 0, Fraction(0)),
        (probability, 1.0, Fraction(1)),
        (norm_order, 1, Norm.L1),
        (norm_order, "2", Norm.L2),
        (norm_order, "1.5", Norm("3/2")),
        (norm_order, "inf", Norm.LINF),
        (norm_order, Norm.L2, Norm.L2),
        (flag, True, True),
        (flag, "false", False),
        (flag, "TRUE", True),
    ],
)
def test_declared_values_are_read_exactly(read: Callable[[Any], Any], given: Any, value: object) -> None:
    assert read(Public(given)) == Public(value)
    released = read(Released(given, COST))
    assert released.value == value
    assert released.cost is COST


@pytest.mark.parametrize(
    ("read", "given", "message"),
    [
        (positive, 0, "a number > 0"),
        (positive, "-1e-300", "a number > 0"),
        (positive, float("nan"), "a finite number"),
        (positive, float("inf"), "a finite number"),
        (positive, "ten", 'a number such as "0.1"'),
        (positive, True, "an int, float, Fraction, Decimal or text"),
        (non_negative, -1, "a number ≥ 0"),
        (probability, "1.0000001", "a probability: 0 ≤ q ≤ 1"),
        (probability, -0.1, "a probability: 0 ≤ q ≤ 1"),
        (norm_order, "1/2", "a number ≥ 1"),
        (norm_order, "l1", "a number ≥ 1"),
        (flag, 1, "true or false"),
        (flag, "yes", "true or false"),
    ],
)
def test_inadmissible_values_are_refused(read: Callable[[Any], Any], given: Any, message: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        read(Public(given))
    assert message in caught.value.admissible


@pytest.mark.parametrize("read", [positive, non_negative, probability, norm_order, flag])
def test_values_computed_from_the_records_are_refused(read: Callable[[Any], Any]) -> None:
    with pytest.raises(PrivateValue, match="got a Private value; admissible: Public or Released"):
        read(Private(1))
    with pytest.raises(InvalidType, match="Say where it comes from"):
        read(1)
