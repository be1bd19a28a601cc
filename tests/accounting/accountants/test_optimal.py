"""The estimates that lead the search for the best scale; what is proven there is held elsewhere, by the pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from certdp.accounting.accountants.optimal import _more_than
from tests.support.cases import draws


def test_estimates_of_binomial_tails_are_those_of_scipy() -> None:
    generator = np.random.default_rng(1)
    for _ in range(draws(2000)):
        times = int(10 ** generator.uniform(0, 7))
        least = int(generator.integers(times))
        near = (least + 1) / (times + 1) + generator.uniform(-4, 4) / times**0.5
        chance = min(max(near if generator.random() < 0.7 else generator.random(), 1e-9), 1 - 1e-9)
        assert _more_than(least, times, chance) == pytest.approx(
            stats.binom.sf(least, times, chance), rel=1e-6, abs=1e-300
        )


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_what_never_or_always_happens_has_its_probability(chance: float) -> None:
    assert _more_than(0, 1, chance) == _more_than(5, 9, chance) == chance
