"""Every planted fault is caught within a million runs; right forms raise no more false alarms than stated."""

from __future__ import annotations

import pytest

from certdp.plugins.contract import Coins
from certdp.verification.audit import audit
from certdp.verification.planted import PLANTED, Caught, Fault, catch, table

ENOUGH = {"dropped-direction": 200_000, "once-for-each": 400_000, "off-by-one-pws": 100_000}
"""Runs on both inputs together that catch a fault; of the others 50,000."""

NAMED = {
    "exponential-radius",
    "scale-off-by-1.2",
    "missing-t",
    "unweighted-noise",
    "saturated-dpis",
    "off-by-one-pws",
    "realised-threshold",
}
"""Faults whose right forms are tried with a thousand seeds."""

SEEDS = 1000
ALARM_RUNS = 2_000


def identified(fault: Fault) -> str:
    return fault.id


@pytest.mark.parametrize("fault", PLANTED, ids=identified)
def test_it_is_caught_and_its_right_form_is_not(fault: Fault) -> None:
    runs = ENOUGH.get(fault.id, 50_000)
    wrong, right = (
        audit(*inputs(Coins.seeded(17)), delta=fault.delta, runs=runs // 2) for inputs in (fault.wrong, fault.right)
    )
    assert wrong.refutes(fault.claimed)
    assert not right.refutes(fault.claimed)


def test_the_faults_have_names_of_their_own() -> None:
    assert len({fault.id for fault in PLANTED}) == len(PLANTED) >= 7


def test_the_ladder_stops_at_the_first_number_with_which_every_seed_catches_it() -> None:
    (fault,) = (fault for fault in PLANTED if fault.id == "unweighted-noise")
    assert catch(fault, seeds=(1,), ladder=(40,)) is None  # too few for any outcome
    found = catch(fault, seeds=(1, 2), ladder=(40, 2_000, 10**9))
    assert found is not None
    assert found.runs == 2_000
    assert found.lower > float(fault.claimed.value) >= found.right


def test_the_table() -> None:
    fault = PLANTED[0]
    *_, line = table([Caught(fault=fault, runs=12_000, lower=1.2345, right=0.0)]).splitlines()
    assert line.startswith(f"| `{fault.id}` |")
    assert line.endswith("| 12,000 runs | ≥ 1.23 | ≥ 0 |")


@pytest.mark.soundness
@pytest.mark.parametrize("fault", PLANTED, ids=identified)
def test_it_is_caught_within_a_million_runs_with_every_seed(fault: Fault) -> None:
    assert catch(fault) is not None


@pytest.mark.soundness
@pytest.mark.parametrize("fault", [fault for fault in PLANTED if fault.id in NAMED], ids=identified)
def test_right_forms_raise_few_false_alarms(fault: Fault) -> None:
    """At confidence 99.9 % at most one alarm is to be expected; more than ten of 1,000 would be 1 %."""
    alarms = sum(
        audit(*fault.right(Coins.seeded(seed)), delta=fault.delta, runs=ALARM_RUNS // 2).refutes(fault.claimed)
        for seed in range(SEEDS)
    )
    assert alarms <= SEEDS // 100
