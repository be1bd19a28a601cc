"""Training that is paid from a ledger: once for the whole run, in however many parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp import ADD_REMOVE, RECORD, BudgetExceeded, Ledger
from certdp.accounting.errors import InvalidValue
from certdp.accounting.filters import ApproximateFilter
from certdp.accounting.notions import Approximate
from certdp.dpis.checkpoints import Checkpoints
from certdp.dpis.engine import Report, resume, train
from certdp.dpis.forecast import dp_sgd
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Adam
from certdp.ledger import LedgerRequest, OutputLost, ReleasedBefore
from certdp.plugins.contract import Coins
from tests.support.ledgers import number
from tests.support.training_plans import training_plan

PLANS = {"dpis": training_plan(records=100), "dp-sgd": dp_sgd(training_plan(records=100))}


def model() -> RecordModel:
    random = np.random.default_rng(0)
    data = LabelledData(features=random.standard_normal((100, 3)), labels=random.integers(0, 2, 100))
    return RecordModel(Logistic(features=3, classes=2), data, Adam(rate=0.01))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    rule = ApproximateFilter(Approximate(number(16), number("1e-4")), relation=ADD_REMOVE, unit=RECORD)
    return Ledger.create(tmp_path / "a.ledger", rule, data="records")


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(path=tmp_path / "run.npz", every=3)


class Interrupted(Exception):
    """Somebody stops the run."""


def stop(report: Report) -> None:
    raise Interrupted


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_run_is_paid_once_in_however_many_parts(plan: Any, ledger: Ledger, checkpoints: Checkpoints) -> None:
    request = LedgerRequest(ledger, "model")
    with pytest.raises(Interrupted):
        train(model(), plan, checkpoints=checkpoints, progress=stop, ledger=request)
    for _ in range(2):
        with pytest.raises(Interrupted):
            resume(model(), plan, checkpoints, progress=stop, ledger=LedgerRequest(ledger, "model"))
    last = LedgerRequest(Ledger(ledger.place), "model")
    result = resume(model(), plan, checkpoints, ledger=last)
    last.hand_in(result.content)
    assert ledger.number == 1
    assert ledger.spent.epsilon.upper <= 8  # type: ignore[attr-defined]
    assert ledger.output("model").content == result.content
    with pytest.raises(ReleasedBefore):
        resume(model(), plan, checkpoints, ledger=LedgerRequest(ledger, "model"))
    with pytest.raises(ReleasedBefore):
        train(model(), plan, ledger=LedgerRequest(ledger, "model"))


def test_a_run_goes_on_with_the_request_that_paid_it_alone(ledger: Ledger, checkpoints: Checkpoints) -> None:
    plan = PLANS["dpis"]
    with pytest.raises(Interrupted):
        train(model(), plan, checkpoints=checkpoints, progress=stop, ledger=LedgerRequest(ledger, "model"))
    with pytest.raises(InvalidValue, match="State the ledger"):
        resume(model(), plan, checkpoints)
    with pytest.raises(InvalidValue, match="private run"):
        resume(model(), plan, checkpoints, coins=Coins.seeded(1), ledger=LedgerRequest(ledger, "model"))
    with pytest.raises(OutputLost):
        train(model(), plan, ledger=LedgerRequest(ledger, "model"))
    checkpoints.path.unlink()
    with pytest.raises(Interrupted):
        train(model(), plan, checkpoints=checkpoints, progress=stop, ledger=LedgerRequest(ledger, "other"))
    with pytest.raises(OutputLost):
        resume(model(), plan, checkpoints, ledger=LedgerRequest(ledger, "model"))
    assert ledger.number == 2


def test_a_run_without_a_ledger_goes_on_without_one(ledger: Ledger, checkpoints: Checkpoints) -> None:
    with pytest.raises(Interrupted):
        train(model(), PLANS["dpis"], checkpoints=checkpoints, progress=stop)
    with pytest.raises(InvalidValue, match="Resume it as it began"):
        resume(model(), PLANS["dpis"], checkpoints, ledger=LedgerRequest(ledger, "model"))
    assert ledger.number == 0


def test_what_the_ledger_does_not_cover_is_not_begun(ledger: Ledger, checkpoints: Checkpoints) -> None:
    for _ in range(2):
        train(model(), PLANS["dpis"], ledger=ledger)
    with pytest.raises(BudgetExceeded):
        train(model(), PLANS["dpis"], checkpoints=checkpoints, ledger=ledger)
    assert not checkpoints.begun
    assert ledger.number == 2
