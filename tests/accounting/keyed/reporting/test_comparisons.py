"""What neighbouring frequencies are compared by: whole laws, and room for the rounding of rates."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import pytest

from certdp.accounting.keyed.reporting import (
    DyadicBudget,
    EveryKey,
    FrequencyNoise,
    FrequencyTable,
    KeyTable,
    PoissonPps,
    Ppswor,
    Reporting,
)
from certdp.accounting.units import Delta, Epsilon

EPSILON, DELTA = Epsilon("0.6"), Delta("0.01")
TABLES: list[Reporting] = [
    FrequencyNoise(epsilon=EPSILON, delta=DELTA, subdivision=1),
    *(KeyTable(epsilon=EPSILON, delta=DELTA, inclusion=i) for i in (EveryKey(), Ppswor(threshold="0.2"))),
    *(FrequencyTable(epsilon=EPSILON, delta=DELTA, inclusion=i) for i in (EveryKey(), PoissonPps(threshold="0.1"))),
]


@pytest.mark.parametrize("reporting", TABLES, ids=lambda reporting: type(reporting).__name__)
def test_both_laws_of_a_comparison_add_up_to_1(reporting: Reporting) -> None:
    for comparison in islice(reporting.comparisons(), 40):
        assert sum(outcome.number * outcome.before for outcome in comparison) == reporting.budget.certain
        assert sum(outcome.number * outcome.after for outcome in comparison) == reporting.budget.certain


@pytest.mark.parametrize("epsilon", ["0", "1/20", "1/2", "3"])
@pytest.mark.parametrize("delta", ["1/1000", "1/100", "1/2"])
def test_ample_is_exactly_where_any_rates_of_these_units_suffice(epsilon: str, delta: str) -> None:
    """The rates are real numbers of which the units are the floors: the worst are at the ends."""
    budget = DyadicBudget(epsilon=Epsilon(epsilon), delta=Delta(delta))
    growth, certain = Fraction(budget.growth, budget.certain), budget.certain
    for before in (certain * share // 64 for share in range(1, 64)):
        upward = growth * (before - 1) + budget.allowance - 1
        withheld = certain - 1 - (certain - before + 1 - budget.allowance) / growth
        for edge in (upward, withheld):
            for kept in range(int(edge // 1) - 2, int(edge // 1) + 4):
                if before <= kept <= certain - 1:
                    rises = kept + 1 - growth * (before - 1) <= budget.allowance
                    falls = certain - before + 1 - growth * (certain - kept - 1) <= budget.allowance
                    assert budget.ample(before, kept) is (rises and falls)
