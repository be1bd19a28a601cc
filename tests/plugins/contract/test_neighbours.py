"""Neighbouring data sets: they differ in the record that is said, and in no other."""

from __future__ import annotations

import numpy as np
import pytest

from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract.neighbours import Neighbours

ROWS = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def test_one_record_is_left_out() -> None:
    found = Neighbours.without_last(ROWS)
    assert found.first.tolist() == ROWS
    assert found.second.tolist() == ROWS[:2]
    assert Neighbours.without_last(ROWS[:1]).second.shape == (0, 2)
    with pytest.raises(InvalidValue, match="at least one record"):
        Neighbours.without_last(np.zeros((0, 2)))


def test_one_record_takes_the_place_of_another() -> None:
    found = Neighbours.replacing_last(ROWS)
    assert found.first.tolist() == [ROWS[0], ROWS[1]]
    assert found.second.tolist() == [ROWS[0], ROWS[2]]
    assert Neighbours.replacing_last(ROWS[:2]).second.tolist() == [ROWS[1]]
    with pytest.raises(InvalidValue, match="at least two records"):
        Neighbours.replacing_last(ROWS[:1])


def test_both_have_the_same_columns() -> None:
    with pytest.raises(InvalidValue, match="the same columns"):
        Neighbours(ROWS, [[1.0]], "all")
