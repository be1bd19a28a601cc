"""Training that is paid from a ledger: once for the whole run, which is never resumed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certdp import ADD_REMOVE, RECORD, BudgetExceeded, Ledger
from certdp.accounting.errors import InvalidValue
from certdp.accounting.filters import ApproximateFilter
from certdp.accounting.notions import Approximate
from certdp.dpis.checkpoints import Checkpoints
from certdp.dpis.engine import Proposals, Report, resume, train
from certdp.dpis.forecast import dp_sgd
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Adam
from certdp.ledger import LedgerRequest, OutputLost, ReleasedBefore, SameRequest
from certdp.plugins.contract import Coins
from tests.support.ledgers import number
from tests.support.training_plans import training_plan

PLANS = {"dpis": training_plan(records=100), "dp-sgd": dp_sgd(training_plan(records=100))}


def model(rate: float = 0.01) -> RecordModel:
    random = np.random.default_rng(0)
    data = LabelledData(features=random.standard_normal((100, 3)), labels=random.integers(0, 2, 100))
    return RecordModel(Logistic(features=3, classes=2), data, Adam(rate=rate))


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
def test_a_run_is_paid_once_and_drawn_once(plan: Any, ledger: Ledger) -> None:
    request = LedgerRequest(ledger, "model")
    result = train(model(), plan, ledger=request)
    request.hand_in(result.content)
    assert ledger.number == 1
    assert ledger.spent.epsilon.upper <= 8  # type: ignore[attr-defined]
    assert ledger.output("model").content == result.content
    with pytest.raises(ReleasedBefore):
        train(model(), plan, ledger=LedgerRequest(Ledger(ledger.place), "model"))


def test_a_paid_run_leaves_nothing_that_a_second_output_could_come_from(
    ledger: Ledger, checkpoints: Checkpoints
) -> None:
    """Copies of a checkpoint would each end in a model of their own, under one payment."""
    plan = PLANS["dpis"]
    with pytest.raises(InvalidValue, match="stays paid and is lost"):
        train(model(), plan, checkpoints=checkpoints, ledger=LedgerRequest(ledger, "model"))
    assert ledger.number == 0
    before = {path.name for path in checkpoints.path.parent.iterdir()}
    with pytest.raises(Interrupted):
        train(model(), plan, progress=stop, ledger=LedgerRequest(ledger, "model"))
    assert {path.name for path in checkpoints.path.parent.iterdir()} == before
    with pytest.raises(OutputLost):
        train(model(), plan, ledger=LedgerRequest(ledger, "model"))
    with pytest.raises(InvalidValue, match="private run"):
        train(model(), plan, coins=Coins.seeded(1), ledger=LedgerRequest(ledger, "seeded"))
    assert ledger.number == 1


def test_a_run_is_resumed_with_no_ledger(ledger: Ledger, checkpoints: Checkpoints) -> None:
    with pytest.raises(Interrupted):
        train(model(), PLANS["dpis"], checkpoints=checkpoints, progress=stop)
    again: Any = resume
    for paid_from in (ledger, LedgerRequest(ledger, "model")):
        with pytest.raises(TypeError, match="ledger"):
            again(model(), PLANS["dpis"], checkpoints, ledger=paid_from)
    assert ledger.number == 0


def test_a_checkpoint_of_a_paid_run_is_refused(checkpoints: Checkpoints) -> None:
    """Such files were written once, with the word of who had paid."""
    with pytest.raises(Interrupted):
        train(model(), PLANS["dpis"], checkpoints=checkpoints, progress=stop)
    with np.load(checkpoints.path) as archive:
        arrays = dict(archive)
    text = {**json.loads(arrays["run"].tobytes()), "word": "0" * 32}
    arrays["run"] = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
    np.savez(checkpoints.path, **arrays)
    with pytest.raises(InvalidValue, match="not resumed"):
        resume(model(), PLANS["dpis"], checkpoints)


def test_what_the_ledger_does_not_cover_is_not_begun(ledger: Ledger) -> None:
    for _ in range(2):
        train(model(), PLANS["dpis"], ledger=ledger)
    told = list[Report]()
    with pytest.raises(BudgetExceeded):
        train(model(), PLANS["dpis"], progress=told.append, ledger=ledger)
    assert not told
    assert ledger.number == 2


def test_another_optimiser_or_proposal_is_another_request(ledger: Ledger) -> None:
    plan = PLANS["dpis"]
    train(model(), plan, ledger=LedgerRequest(ledger, "model"))
    with pytest.raises(SameRequest):
        train(model(rate=0.02), plan, ledger=LedgerRequest(ledger, "model"))
    with pytest.raises(SameRequest):
        train(model(), plan, proposals=Proposals(multiplier=Fraction(6)), ledger=LedgerRequest(ledger, "model"))
    with pytest.raises(OutputLost):
        train(model(), plan, ledger=LedgerRequest(ledger, "model"))
    assert ledger.number == 1
