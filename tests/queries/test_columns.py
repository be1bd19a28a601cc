"""What is declared of columns, and conditions on rows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from certdp import queries as q
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.queries.rows import Rows

AGE, CITY = q.Column("age", 0, 120), q.Category("city", ["Oslo", "Bergen"])
ROWS = Rows(
    length=4,
    numbers={"age": np.array([17.0, 18.0, np.nan, 90.0])},
    codes={"city": np.array([0, 1, -1, 0])},
)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: q.Column(3), "name"),  # type: ignore[arg-type]
        (lambda: q.Column("age", 0), "bounds"),
        (lambda: q.Column("age", 5, 5), "high"),
        (lambda: q.Column("age", 0, float("inf")), "bound"),
        (lambda: q.Column("age", 0, "1e400"), "bound"),
        (lambda: q.Column("age", -1e308, 1e308), "bound"),
        (lambda: q.Column("age", 1, "1.00000000000000000001"), "high"),
        (lambda: q.Column("age", 0, "1e-400"), "high"),
        (lambda: AGE.at_least("1e400"), "value"),
        (lambda: q.histogram("age", [0, "1e400"]), "bins"),
        (lambda: q.Column("age").bounds, "column"),
        (lambda: q.Category("city", "Oslo"), "values"),
        (lambda: q.Category("city", []), "values"),
        (lambda: q.Category("city", [1, "1"]), "values"),
        (lambda: CITY.is_in("Bodø"), "value"),
        (lambda: bool(AGE.present()), "condition"),
    ],
)
def test_what_is_inadmissible_is_named(wrong: Callable[[], Any], named: str) -> None:
    with pytest.raises((InvalidValue, InvalidType)) as caught:
        wrong()
    assert caught.value.parameter == named


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        (AGE.at_least(18), [False, True, False, True]),
        (AGE.at_most(18), [True, True, False, False]),
        (~AGE.at_most(18), [False, False, True, True]),
        (AGE.present(), [True, True, False, True]),
        (CITY.is_in("Oslo"), [True, False, False, True]),
        (CITY.is_in("Oslo", "Bergen"), [True, True, False, True]),
        (AGE.at_least(18) & CITY.is_in("Oslo"), [False, False, False, True]),
        (AGE.at_least(90) | CITY.is_in("Bergen"), [False, True, False, True]),
    ],
)
def test_a_condition_is_met_row_by_row(condition: q.Condition, wanted: list[bool]) -> None:
    assert condition.holds(ROWS).tolist() == wanted
    for row in range(ROWS.length):
        alone = ROWS.where(np.arange(ROWS.length) == row)
        assert condition.holds(alone).tolist() == [wanted[row]]


def test_a_condition_reads_as_it_was_written() -> None:
    joined = (AGE.at_least(18) & ~CITY.is_in("Oslo")) | AGE.at_most(3)
    assert str(joined) == "((age ≥ 18 and not city is Oslo) or age ≤ 3)"
    assert joined.columns == {"age", "city"}
    assert operator.and_(AGE.present(), CITY.is_in("Oslo")).columns == {"age", "city"}
