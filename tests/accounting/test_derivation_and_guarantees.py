"""Guarantees come from theorems, compose with their like, and refuse the rest at run time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.derivation import (
    ANY_COUNT,
    CHOSEN,
    EX_POST,
    NUMBER_OF_RECORDS,
    Assumption,
    Derivation,
    Theorem,
)
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.guarantees import Guarantee, compose, for_groups
from certdp.accounting.notions import PURE, Notion, Pure
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, AddRemove, Record, User

EPSILONS = st.fractions(0, 100, max_denominator=10**6)
WHY = Theorem("test", "a theorem").conclude(assumptions=[Assumption("radius", "5")])


@frozen
class Other:
    """A bound of a second notion."""

    notion: ClassVar[Notion[Other]]


Other.notion = Notion(
    name="other",
    nothing=Other(),
    compose=lambda bounds: bounds[0],
    group=lambda bound, _: bound,
    implies=lambda first, second: Truth.TRUE,
    composition_theorem=Theorem("test", "other"),
)


def pure(epsilon: Any = 1, **parts: Any) -> Any:
    bound = Pure(Enclosure.of(epsilon))
    return Guarantee(**{"bound": bound, "relation": ADD_REMOVE, "unit": RECORD, "derivation": WHY, **parts})


@given(epsilons=st.lists(EPSILONS, min_size=1, max_size=6))
def test_composition_adds(epsilons: list[Fraction]) -> None:
    total = compose(*map(pure, epsilons))
    assert total.bound.epsilon.contains(sum(epsilons))
    assert total.bound.epsilon.width <= Fraction(sum(epsilons)) / 2**85
    assert (total.relation, total.unit) == (ADD_REMOVE, RECORD)
    assert len(total.derivation.premises) == len(epsilons)
    assert total.assumptions == (Assumption("radius", "5"),)


@given(epsilon=EPSILONS, size=st.integers(0, 50))
def test_groups_multiply_as_composition_does(epsilon: Fraction, size: int) -> None:
    group = for_groups(pure(epsilon), size)
    assert group.bound.epsilon.contains(size * epsilon)
    assert group.assumptions == (Assumption("radius", "5"), Assumption("group size", str(size)))
    if size:
        assert compose(*[pure(epsilon)] * size).bound.epsilon.contains(size * epsilon)


@given(first=EPSILONS, second=EPSILONS)
def test_implication_is_the_order_of_epsilon(first: Fraction, second: Fraction) -> None:
    answer = pure(first).implies(Pure(Enclosure.of(second)))
    assert (
        answer is (Truth.TRUE if first < second else Truth.FALSE)
        or (answer is Truth.UNDECIDED and abs(first - second) * 2**90 <= second)
        or first == second
    )


def test_the_neutral_bound_changes_nothing() -> None:
    bound = Pure(Enclosure.of("0.1"))
    assert PURE.compose([bound, PURE.nothing]) == bound
    assert PURE.compose([]) == PURE.nothing
    assert PURE.implies(PURE.nothing, bound) is Truth.TRUE
    assert PURE.group(bound, 0) == PURE.nothing


@pytest.mark.parametrize(
    ("parts", "parameter", "remedy"),
    [
        ({"derivation": None}, "derivation", "Guarantees come from theorems"),
        ({"derivation": "Theorem 6"}, "derivation", "Guarantees come from theorems"),
        ({"relation": "add-remove"}, "relation", "Use ADD_REMOVE, REPLACE or ZERO_OUT"),
        ({"relation": RECORD}, "relation", "Use ADD_REMOVE, REPLACE or ZERO_OUT"),
        ({"unit": AddRemove()}, "unit", "Use RECORD"),
        ({"bound": 1.0}, "bound", "a bound of some notion"),
        ({"bound": Enclosure.of(1)}, "bound", "a bound of some notion"),
    ],
)
def test_every_part_of_a_guarantee_is_checked(parts: dict[str, Any], parameter: str, remedy: str) -> None:
    with pytest.raises(InvalidType, match=remedy) as caught:
        pure(**parts)
    assert caught.value.parameter == parameter


def test_there_is_no_guarantee_without_a_derivation() -> None:
    with pytest.raises(TypeError, match="derivation"):
        Guarantee(bound=Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="abstract"):
        Derivation()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("second", "parameter", "message"),
    [
        (pure(relation=REPLACE), "guarantees[1].relation", "Convert to a common one first"),
        (pure(unit=ELEMENT), "guarantees[1].unit", "Convert to a common one first"),
        (pure(unit=User(contributions=2)), "guarantees[1].unit", "Convert to a common one first"),
        (pure(bound=Other()), "bound", "Convert one notion into the other first"),
        (Pure(Enclosure.of(1)), "guarantees[1]", "Compose guarantees only"),
        (1.0, "guarantees[1]", "Compose guarantees only"),
    ],
)
def test_only_like_guarantees_compose(second: Any, parameter: str, message: str) -> None:
    with pytest.raises(InvalidValue, match=message) as caught:
        compose(pure(), second)
    assert caught.value.parameter == parameter


def test_users_with_other_contributions_are_other_units() -> None:
    with pytest.raises(InvalidValue, match="unit"):
        compose(pure(unit=User(contributions=2)), pure(unit=User(contributions=3)))
    assert compose(pure(unit=User(contributions=2)), pure(unit=User(contributions=2))).bound.epsilon.contains(2)


def test_bounds_of_another_notion_are_not_implied() -> None:
    with pytest.raises(InvalidType, match="a bound of pure DP"):
        pure().implies(Other())


@pytest.mark.parametrize("epsilon", [1.0, 1, "1", Fraction(1), None, float("nan")])
def test_only_enclosures_enter_a_bound(epsilon: Any) -> None:
    with pytest.raises(InvalidType, match="A float is an estimate"):
        Pure(epsilon)


def test_a_bound_is_not_negative() -> None:
    with pytest.raises(InvalidValue, match="an enclosure of a number ≥ 0"):
        Pure(Enclosure.between(-1, 1))


@pytest.mark.parametrize("size", [-1, 1.0, True, "2"])
def test_group_sizes_are_whole_numbers(size: Any) -> None:
    with pytest.raises(InvalidValue, match=r"size: got .*; admissible: a whole number ≥ 0"):
        for_groups(pure(), size)


@pytest.mark.parametrize("name", [NUMBER_OF_RECORDS, "largest number of records"])
def test_a_number_of_records_that_is_declared_allows_one_to_be_missing(name: str) -> None:
    """What is proven of n records and n - 1 says nothing of n - 1 and n - 2; where n is a bound it does."""
    why = Theorem("test", "batches").conclude(assumptions=[Assumption(name, "20")])
    removed, replaced = pure(derivation=why), pure(derivation=why, relation=REPLACE)
    assert for_groups(replaced, 3).bound.epsilon.contains(3)
    assert for_groups(removed, 1).bound.epsilon.contains(1)
    if name == NUMBER_OF_RECORDS:
        with pytest.raises(InvalidValue, match="records that are added or removed where their number is declared"):
            for_groups(removed, 2)
        with pytest.raises(InvalidValue, match="their number is declared"):
            for_groups(pure(derivation=why.about("part 1")), 2)
    else:
        assert for_groups(removed, 2).bound.epsilon.contains(2)


def test_assumptions_are_collected_once_and_in_order() -> None:
    a, b, c = (Assumption(name) for name in "abc")
    inner = Theorem("t", "1").conclude(assumptions=[b, a])
    outer = Theorem("t", "2").conclude([inner, WHY, inner], [c, a])
    assert outer.assumptions == (b, a, Assumption("radius", "5"), c)
    assert outer.own_assumptions == (c, a)
    assert str(outer) == "t 2 ⇐ t 1 (×2); test a theorem"
    assert outer.premises == (inner, WHY, inner)
    assert str(Assumption("radius", "5")) == "radius = 5"


def test_a_guarantee_says_for_whom_and_against_what() -> None:
    text = str(pure("0.1"))
    for part in ("ε ≤ 0.1", "pure", "record", "add-remove"):
        assert part in text
    assert isinstance(pure().unit, Record)


def test_what_rests_on_values_as_they_came_out_is_told() -> None:
    for mark in (CHOSEN, EX_POST):
        marked = Theorem("test", "another").conclude([WHY, mark.conclude([WHY])])
        assert marked.rests_on(mark)
        assert not WHY.rests_on(mark)


SIZES = ("number of records", "least number of records", "largest number of records", "part 2: number of records")


def sized(name: str, count: int) -> Derivation:
    return Theorem("test", "sized").conclude(assumptions=[Assumption(name, str(count))])


@given(stated=st.lists(st.tuples(st.sampled_from(SIZES), st.integers(0, 6)), max_size=5))
def test_nothing_is_concluded_from_releases_of_which_no_data_set_has_as_many_records(
    stated: list[tuple[str, int]],
) -> None:
    def admits(size: int, name: str, count: int) -> bool:
        return {"least": size >= count, "large": size <= count}.get(name[:5], size == count)

    premises = [sized(*one) for one in stated]
    possible = [size for size in range(8) if all(admits(size, *one) for one in stated)]
    if possible:
        found = Theorem("test", "all").conclude(premises).about("mechanism").records
        assert found.least == possible[0]
        assert found.most == (None if possible[-1] == 7 else possible[-1])
        assert Theorem("test", "all").conclude(assumptions=[one.assumptions[0] for one in premises]).records == found
    else:
        with pytest.raises(InvalidValue, match="one number, of which every release"):
            Theorem("test", "all").conclude(premises)


def test_what_is_no_number_of_records_says_nothing_of_it() -> None:
    for one in (Assumption("number of records", "about a million"), Assumption("number of users", "3")):
        assert Theorem("test", "sized").conclude(assumptions=[one]).records == ANY_COUNT
