"""Which records of each user count: at most so many, by that user's records alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import GaussianSum, NormBall, Poisson, Public, SampledRun
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.relations import User
from certdp.plugins.contract import Coins
from certdp.sampling import first_of_each_user

NAMES = st.lists(st.one_of(st.integers(-3, 3), st.sampled_from(["a", "b", "a\0", "", "é"])), max_size=30)


@given(users=NAMES, most=st.integers(1, 4))
def test_the_first_of_each_are_kept(users: list[Any], most: int) -> None:
    seen: Counter[str] = Counter()
    expected = []
    for user in map(str, users):
        seen[user] += 1
        expected.append(seen[user] <= most)
    assert first_of_each_user(users, most).tolist() == expected


@given(users=NAMES, most=st.integers(1, 4), data=st.data())
def test_a_user_moves_nothing_for_others(users: list[Any], most: int, data: st.DataObject) -> None:
    gone = str(data.draw(st.sampled_from(users))) if users else ""
    others = np.array([str(user) != gone for user in users], dtype=bool)
    kept = first_of_each_user(users, most)
    left = first_of_each_user([user for user in users if str(user) != gone], most)
    assert kept[others].tolist() == left.tolist()


def test_arrays_are_taken_as_lists_are() -> None:
    assert first_of_each_user(np.array([7, 8, 7, 7]), 2).tolist() == [True, True, True, False]
    assert first_of_each_user(np.array(["x", "x"], dtype=object), 1).tolist() == [True, False]
    assert first_of_each_user([], 1).size == 0


@pytest.mark.parametrize("users", [[1.0], [float("nan")], [None, "a"], [True], np.array([0.5])])
def test_who_might_be_anybody_is_refused(users: Any) -> None:
    with pytest.raises(InvalidType) as refused:
        first_of_each_user(users, 2)
    assert refused.value.parameter == "users"


def test_nobody_has_less_than_one_record() -> None:
    with pytest.raises(InvalidValue) as refused:
        first_of_each_user(["a"], 0)
    assert refused.value.parameter == "contributions"


def test_a_run_about_users_takes_what_is_kept() -> None:
    users = ["a", "a", "b", "a"]
    run = SampledRun(
        mechanism=GaussianSum(scale=Public(2)),
        sampler=Poisson(rate=Public("0.5")),
        domain=NormBall(norm=Norm.L2, radius=Public(1)),
        unit=User(contributions=2),
    )
    kept = first_of_each_user(users, run.unit.contributions)
    assert np.eye(4)[kept].shape == (3, 4)
    assert len(run.release(np.eye(4)[kept], coins=Coins.seeded(1))) == 1
