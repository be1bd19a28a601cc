"""What is added up is checked whatever the statistic: no row counts for more than 1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

from certdp.queries.noise import LaplaceNoise
from certdp.queries.parts import Sums
from certdp.queries.row_sums import Averaged, Estimate
from certdp.queries.rows import Rows

ROWS = Rows(length=2, numbers={"age": np.array([1.0, 2.0])}, codes={})


class Wrong:
    """A statistic of which each row adds these entries."""

    width: ClassVar[int] = 2
    finest: ClassVar[Fraction] = Fraction(1, 4)

    def __init__(self, *entries: int) -> None:
        self.row = entries

    def entries(self, numbers: Any, units: int) -> Any:
        return np.tile(np.array(self.row, dtype=np.int64), (len(numbers), 1))

    def estimate(self, sums: Any, noise: Any, confidence: float) -> Estimate:
        raise NotImplementedError


def summed(statistic: Any) -> Any:
    part = Sums(
        name="x",
        groups=((),),
        statistic=statistic,
        noise=LaplaceNoise(Fraction(1), Fraction(1, 4)),
        cells=lambda rows: np.zeros(rows.length, dtype=np.int64),
        numbers=lambda rows: rows.numbers["age"],
    )
    return part.sample(ROWS).weighted_sum().tolist()


def test_rows_of_at_most_one_are_added_up() -> None:
    assert summed(Wrong(-3, 1)) == [-1.5, 0.5]


@pytest.mark.parametrize("entries", [(3, 2), (-3, 2), (5, 0), (-(2**63), 0), (2**62, -(2**62))])
def test_rows_that_add_more_are_refused(entries: tuple[int, int]) -> None:
    with pytest.raises(AssertionError, match="adds more than 1"):
        summed(Wrong(*entries))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bounds_whose_difference_is_nothing_would_be_caught_here() -> None:
    """0/0 became the least integer: a row that counted for 2^61, under noise of scale 1."""
    with pytest.raises(AssertionError, match="adds more than 1"):
        summed(Averaged(1.0, 1.0))
