"""Units of privacy and neighbouring relations are values that compare by meaning."""

from __future__ import annotations

from typing import Any

import pytest

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.relations import (
    ADD_REMOVE,
    ELEMENT,
    RECORD,
    REPLACE,
    AddRemove,
    Direction,
    Element,
    Record,
    Replace,
    User,
)


def test_equal_by_meaning() -> None:
    assert AddRemove() == ADD_REMOVE
    assert Replace() == REPLACE
    assert Record() == RECORD
    assert Element() == ELEMENT
    assert User(contributions=2) == User(contributions=2)
    different: list[Any] = [ADD_REMOVE, REPLACE, RECORD, ELEMENT, User(contributions=1), User(contributions=2)]
    assert len(set(different)) == len(different)
    assert len({value.name for value in different}) == 5


@pytest.mark.parametrize(
    ("contributions", "error"),
    [(0, InvalidValue), (-1, InvalidValue), (1.0, InvalidType), (True, InvalidType), ("1", InvalidType)],
)
def test_a_user_contributes_a_whole_number(contributions: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="contributions: got"):
        User(contributions=contributions)


def test_directions_are_each_other() -> None:
    assert {way: way.other for way in Direction} == {Direction.REMOVE: Direction.ADD, Direction.ADD: Direction.REMOVE}
