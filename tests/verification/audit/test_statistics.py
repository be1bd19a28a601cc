"""What the proposed statistics see."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from certdp.verification.audit import Releases, audit, statistics_of

Floats = NDArray[np.float64]


def categories(chances: Floats, seed: int) -> Releases:
    generator = np.random.default_rng(seed)
    return lambda count: generator.choice(len(chances), size=count, p=chances).astype(np.float64)


def test_a_likelihood_ratio_finds_scattered_categories() -> None:
    """No threshold of the output separates them: even categories are three times as likely on the first input."""
    even = np.where(np.arange(40) % 2 == 0, 3.0, 1.0) / 80
    found = audit(categories(even, 1), categories(even[::-1], 2), runs=40_000)
    assert found.event.statistic.name == "log-likelihood ratio of the output's entries, read from histograms"
    assert 0.9 < found.lower < np.log(3)


def normal(shift: float, steps: int, seed: int) -> Releases:
    generator = np.random.default_rng(seed)
    return lambda count: generator.standard_normal((count, steps)) + shift


@pytest.mark.slow
def test_many_releases_are_seen_together() -> None:
    """Each entry alone shows little of 25 releases with a shift of 0.2 each, which together are a shift of 1."""
    found = audit(normal(0.2, 25, 1), normal(0.0, 25, 2), runs=100_000)
    alone = audit(normal(0.2, 1, 3), normal(0.0, 1, 4), runs=100_000)
    assert found.lower > 1.5 > 3 * alone.lower


def test_an_entry_that_is_constant_tells_nothing() -> None:
    names = [statistic.name for statistic in statistics_of(np.zeros((100, 2)), np.zeros((100, 2)))]
    assert "projection of the output on the line through the mean outputs" not in names
    found = audit(lambda count: np.zeros((count, 2)), lambda count: np.zeros((count, 2)), runs=1000)
    assert found.lower == 0


@pytest.mark.parametrize("columns", [1, 300])
def test_of_few_and_of_many_entries(columns: int) -> None:
    found = audit(normal(1.0, columns, 1), normal(0.0, columns, 2), runs=2000)
    assert found.lower > 0.3
