"""How far keys are reported as often as they are kept: no further than is proven, step by step."""

from __future__ import annotations

from itertools import pairwise

import pytest

from certdp.accounting.keyed.reporting import DyadicBudget, Inclusion, PoissonPps, Ppswor
from certdp.accounting.units import Delta, Epsilon

SCHEMES: list[Inclusion] = [
    *(PoissonPps(threshold=threshold, power=power) for threshold in ("1/40", "1/300") for power in ("1/2", "1")),
    *(Ppswor(threshold=threshold, power=power) for threshold in ("1/20", "1/300") for power in ("1/2", "1")),
]
BUDGETS = [
    DyadicBudget(epsilon=Epsilon(epsilon), delta=Delta(delta))
    for epsilon in ("1/20", "1/2")
    for delta in ("1/100", "1/1000")
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_every_step_up_to_the_last_one_named_is_ample(scheme: Inclusion) -> None:
    begun = 0
    for budget in BUDGETS:
        units = [scheme.units(frequency, budget.bits) if frequency else 0 for frequency in range(303)]
        ample = [False, *(budget.ample(one, other) for one, other in pairwise(units))]
        for frequency in range(1, 300):
            far = scheme.attached(budget, frequency)
            if not ample[frequency + 1] or units[frequency + 1] == budget.certain:
                assert far == frequency
                begun += ample[frequency + 2] and units[frequency + 1] < budget.certain
                continue
            full = next((i for i, kept in enumerate(units) if kept == budget.certain), len(ample))
            assert all(ample[frequency + 1 : min(full, 300 if far is None else far + 1)])
    assert begun, "no frequency stands right before the first ample one"
