"""What a conversion of a guarantee concludes: the converted numbers, in their places."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.conversions import (
    pure_to_approximate,
    renyi_to_approximate,
    renyi_to_approximate_at,
    renyi_to_approximate_by_lemma_2_5,
    zero_concentrated_to_approximate,
    zero_concentrated_to_approximate_at,
)
from certdp.accounting.derivation import Theorem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.notions import Pure, Renyi, ZeroConcentrated
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.units import Delta, Epsilon

WHY = Theorem("test", "a theorem").conclude()
EPSILON, DELTA = Fraction(7, 10), Fraction(1, 100)


def given(bound: Any) -> Any:
    return Guarantee(bound=bound, relation=ADD_REMOVE, unit=RECORD, derivation=WHY)


def number(value: Enclosure, exact: Fraction) -> bool:
    """Whether it is that number, which no float is."""
    return value.contains(exact) and 0 < value.width < Fraction(1, 2**80)


def test_a_pure_bound_has_no_delta() -> None:
    bound = pure_to_approximate(given(Pure(Enclosure.of(EPSILON)))).bound
    assert number(bound.epsilon, EPSILON)
    assert bound.delta == Enclosure.of(0)


RENYI: Any = given(Renyi(Fraction(9), Enclosure.of("0.1")))
RHO: Any = given(ZeroConcentrated(Enclosure.of("0.1")))


@pytest.mark.parametrize(
    ("convert", "known"),
    [
        (renyi_to_approximate, RENYI),
        (renyi_to_approximate_by_lemma_2_5, RENYI),
        (zero_concentrated_to_approximate, RHO),
    ],
)
def test_the_delta_that_is_asked_for_stays(convert: Any, known: Any) -> None:
    bound = convert(known, Delta(DELTA)).bound
    assert number(bound.delta, DELTA)
    assert Fraction(1, 5) < bound.epsilon.lower < bound.epsilon.upper < 2


@pytest.mark.parametrize(
    ("convert", "known"), [(renyi_to_approximate_at, RENYI), (zero_concentrated_to_approximate_at, RHO)]
)
def test_the_epsilon_that_is_asked_for_stays(convert: Any, known: Any) -> None:
    bound = convert(known, Epsilon(EPSILON)).bound
    assert number(bound.epsilon, EPSILON)
    assert Fraction(1, 10**6) < bound.delta.lower < bound.delta.upper < Fraction(1, 10)
