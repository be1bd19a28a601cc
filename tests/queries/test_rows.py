"""How many rows of a user are kept, and that nobody else's rows matter for it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from certdp.queries.rows import Rows
from tests.support.cases import examples


def rows_of(users: list[int]) -> Rows:
    places = np.arange(len(users), dtype=np.float64)
    return Rows(length=len(users), numbers={"place": places}, codes={}, users=np.array(users, dtype=np.int64))


@examples(100)
@given(users=st.lists(st.integers(0, 5), max_size=30), most=st.integers(1, 4))
def test_the_first_rows_of_each_user_are_kept_in_order(users: list[int], most: int) -> None:
    kept = rows_of(users).bounded(most).numbers["place"].astype(int).tolist()
    assert kept == [place for place, user in enumerate(users) if users[:place].count(user) < most]


@examples(100)
@given(users=st.lists(st.integers(0, 5), min_size=1, max_size=30), most=st.integers(1, 4), gone=st.integers(0, 5))
def test_taking_away_a_user_changes_nothing_for_the_others(users: list[int], most: int, gone: int) -> None:
    rows = rows_of(users)
    assert rows.users is not None
    without = rows.where(rows.users != gone).bounded(most).numbers["place"].tolist()
    kept = rows.bounded(most)
    assert kept.users is not None
    assert without == kept.where(kept.users != gone).numbers["place"].tolist()
    assert (kept.users == gone).sum() <= most


def test_rows_that_are_units_themselves_are_all_kept() -> None:
    rows = Rows(length=3, numbers={"place": np.zeros(3)}, codes={})
    assert rows.bounded(1) is rows
