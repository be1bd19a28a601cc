"""A budget of work ends where it is spent, and never grows."""

from __future__ import annotations

import pytest

from certdp.verification.checker import LARGEST_FILE, check
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


@pytest.mark.parametrize(
    ("size", "read"), [(0, 0), (7, 7), (LARGEST_FILE, LARGEST_FILE), (LARGEST_FILE + 5, LARGEST_FILE)]
)
def test_a_file_that_is_no_certificate_costs_its_reading(size: int, read: int) -> None:
    """A hundred units for each byte, and none for those beyond the largest file, which are not read."""
    budget = Budget(10**12)
    assert not check(b"x" * size, budget=budget).accepted
    assert budget.left == 10**12 - 100 * read


@pytest.mark.parametrize(("precision", "each"), [(1, 512), (64, 512), (80, 512), (81, 513), (128, 516), (1024, 2560)])
def test_operations_cost_their_weight_and_the_cube_of_a_high_precision(precision: int, each: int) -> None:
    budget = Budget(10**6)
    budget.operations(3, precision)
    assert budget.left == 10**6 - 3 * each
