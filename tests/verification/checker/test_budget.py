"""A budget of work ends where it is spent, and never grows."""

from __future__ import annotations

import pytest

from certdp.verification.checker.budget import Budget
from certdp.verification.checker.verdict import Refused


def test_work_is_taken_until_none_is_left() -> None:
    budget = Budget(5)
    for work in (2, 0, 3):
        budget.spend(work)
    assert budget.left == 0
    with pytest.raises(Refused, match="work budget"):
        budget.spend(1)


def test_no_work_is_given_back() -> None:
    budget = Budget(5)
    with pytest.raises(ValueError, match="at least 0"):
        budget.spend(-1)
    assert budget.left == 5
