"""Interrupted and killed runs: what was paid counts, what may have been drawn is not drawn again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from certdp import Public
from certdp.accounting.errors import InvalidValue
from certdp.dpis.budget import NoisySize, RunPlan
from certdp.dpis.checkpoints import Checkpoints, CheckpointState
from certdp.dpis.engine import Proposals, Report, resume, train
from certdp.dpis.forecast import dp_sgd
from certdp.dpis.models import LabelledData, Logistic, Mlp, RecordModel
from certdp.dpis.optimisers import Adam, Sgd
from certdp.dpis.run_account import restored_account
from certdp.plugins.contract import Coins
from tests.support.training_plans import adaptive_clip, training_plan

# the bounds so far off that no release is moved there
ADAPTIVE = adaptive_clip(start=3, external=3, quantile=2, noise_multiplier=20, lowest="0.2", highest=30)
RECORDS = 200


plan_of = partial(training_plan, batch=10, epochs=3, steps_per_epoch=12, records=RECORDS)
PLANS = {
    "dpis": plan_of(),
    "dp-sgd": dp_sgd(plan_of()),
    "everything": plan_of(size=NoisySize(noise=Public(10), guess=Public(RECORDS)), clip=ADAPTIVE),
}


def model() -> RecordModel:
    random = np.random.default_rng(0)
    data = LabelledData(features=random.standard_normal((RECORDS, 3)), labels=random.integers(0, 2, RECORDS))
    return RecordModel(Logistic(features=3, classes=2), data, Adam(rate=0.01))


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    return Checkpoints(path=tmp_path / "run.npz", every=5)


class Interrupted(Exception):
    """Somebody stops the run."""


def stop_after(steps: int) -> Any:
    done = 0

    def progress(report: Report) -> None:
        nonlocal done
        done += 1
        if done == steps:
            raise Interrupted

    return progress


def taken(history: Any) -> int:
    return sum(row.steps for row in history.epochs)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
@pytest.mark.parametrize("steps", [1, 5, 7, 12, 13, 35])
def test_an_interrupted_run_loses_nothing(plan: RunPlan, steps: int, checkpoints: Checkpoints) -> None:
    """It takes all of its steps, and pays what an uninterrupted run pays."""
    first = model()
    with pytest.raises(Interrupted):
        train(first, plan, checkpoints=checkpoints, progress=stop_after(steps))
    standing = checkpoints.read()
    assert np.array_equal(standing.model["parameters"], first.parameters)
    assert taken(standing.history) == steps
    second = model()
    result = resume(second, plan, checkpoints)
    assert taken(result.history) == 36
    assert result.epsilon <= 8
    assert [row.epoch for row in result.history.epochs] == [0, 1, 2]
    if plan is PLANS["dp-sgd"]:
        assert result.epsilon == train(model(), plan).epsilon


def test_a_seeded_run_goes_on_where_it_stopped(checkpoints: Checkpoints) -> None:
    """The coins of another process go on too, twice: the parameters are those of a run that nobody interrupted."""
    plan, straight = PLANS["dpis"], model()
    train(straight, plan, coins=Coins.seeded(6))
    with pytest.raises(Interrupted):
        train(model(), plan, coins=Coins.seeded(6), checkpoints=checkpoints, progress=stop_after(17))
    with pytest.raises(Interrupted):
        resume(model(), plan, checkpoints, coins=Coins.seeded(6), progress=stop_after(2))
    again = model()
    resume(again, plan, checkpoints, coins=Coins.seeded(6))
    assert np.array_equal(again.parameters, straight.parameters)


@pytest.mark.parametrize("parts", [(6, None, None), (None, 6, None)], ids=["the first", "the second"])
def test_one_seeded_part_makes_a_run_one_that_is_not_private(
    parts: tuple[int | None, ...], checkpoints: Checkpoints
) -> None:
    plan = PLANS["dp-sgd"]
    begin: Any = train
    for seed in parts[:-1]:
        coins = Coins() if seed is None else Coins.seeded(seed)
        with pytest.raises(Interrupted):
            begin(model(), plan, coins=coins, checkpoints=checkpoints, progress=stop_after(3))
        begin = resume
    result = resume(model(), plan, checkpoints)
    assert not result.is_private
    assert result.guarantee is None


def records_of(*, seed: int = 0, scale: float = 1) -> LabelledData:
    random = np.random.default_rng(seed)
    features = random.integers(-3, 4, (RECORDS, 3))
    return LabelledData(features=features * scale, labels=random.integers(0, 2, RECORDS), divide_by=2 * scale)


PROPOSALS = Proposals(multiplier=Fraction(4))


@pytest.mark.parametrize(
    ("network", "data", "optimiser", "proposals", "parameter"),
    [
        (Logistic(features=3, classes=2), records_of(seed=1), Adam(rate=0.01), PROPOSALS, "data"),
        (Logistic(features=3, classes=2), records_of(), Adam(rate=0.02), PROPOSALS, "optimiser"),
        (Logistic(features=3, classes=2), records_of(), Sgd(rate=0.01), PROPOSALS, "optimiser"),
        (Logistic(features=3, classes=2), records_of(), Adam(rate=0.01), None, "proposals"),
        (Mlp(features=3, hidden=2, classes=2), records_of(), Adam(rate=0.01), PROPOSALS, "model"),
        (Logistic(features=3, classes=2), records_of(scale=4), Adam(rate=0.01), PROPOSALS, None),
    ],
)
def test_a_run_goes_on_with_what_it_began_with(
    network: Any, data: LabelledData, optimiser: Any, proposals: Any, parameter: str | None, checkpoints: Checkpoints
) -> None:
    """The last are the same records, written otherwise. The digest of the data is the owner's: no error shows it."""
    plan = PLANS["dpis"]
    first = RecordModel(Logistic(features=3, classes=2), records_of(), Adam(rate=0.01))
    with pytest.raises(Interrupted):
        train(first, plan, proposals=PROPOSALS, checkpoints=checkpoints, progress=stop_after(30))
    before = checkpoints.path.read_bytes()
    second = RecordModel(network, data, optimiser)
    if parameter is None:
        assert taken(resume(second, plan, checkpoints, proposals=proposals).history) == 36
        return
    with pytest.raises(InvalidValue) as refused:
        resume(second, plan, checkpoints, proposals=proposals)
    assert refused.value.parameter == parameter
    assert data.digest.reveal()[:8] not in str(refused.value)
    assert checkpoints.path.read_bytes() == before


def test_a_run_that_ended_before_its_first_payment_is_resumed(
    checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has a file to go on from by then, whatever ends it; and to ask for one where there is none leaves nothing."""
    plan, written = PLANS["dpis"], []
    with pytest.raises(InvalidValue, match="a run that has begun"):
        resume(model(), plan, checkpoints)
    assert not list(checkpoints.path.parent.iterdir())

    def killed(*_: object) -> None:
        written.append(checkpoints.path.read_bytes())
        raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr(RecordModel, "evaluate", killed)
        with pytest.raises(Interrupted):
            train(model(), plan, checkpoints=checkpoints)
    checkpoints.path.write_bytes(written[0])
    assert taken(resume(model(), plan, checkpoints).history) == 36


@pytest.mark.parametrize(
    ("found", "damage"),
    [
        ("unused steps", {"unused": -1}),
        ("unused steps", {"unused": 6}),
        ("bounds", {"bounds": np.ones(RECORDS - 1)}),
        ("a bound on a norm", {"bounds": np.full(RECORDS, 1.5)}),
        ("a bound on a norm", {"bounds": np.full(RECORDS, np.nan)}),
    ],
)
def test_a_file_from_which_too_much_would_be_drawn_is_refused(
    found: str, damage: dict[str, Any], checkpoints: Checkpoints
) -> None:
    plan = PLANS["dpis"]
    with pytest.raises(Interrupted):
        train(model(), plan, checkpoints=checkpoints, progress=stop_after(2))
    checkpoints.write(evolve(checkpoints.read(), **damage))
    with pytest.raises(InvalidValue, match=found):
        resume(model(), plan, checkpoints)


def test_a_finished_run_is_not_run_again(checkpoints: Checkpoints) -> None:
    plan, first, second = PLANS["dpis"], model(), model()
    paid = train(first, plan, checkpoints=checkpoints)
    with pytest.raises(InvalidValue, match="Resume"):
        train(model(), plan, checkpoints=checkpoints)
    again = resume(second, plan, checkpoints)
    assert np.array_equal(first.parameters, second.parameters)
    assert again.epsilon == paid.epsilon
    assert again.history.columns() == paid.history.columns()


PROGRAM = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_checkpoints import PLANS, model
import certdp.dpis.engine as engine
from certdp.dpis.checkpoints import Checkpoints
from certdp.plugins.contract import Coins

engine.train(model(), PLANS["everything"])  # compiles what the runs need
cells = Coins.gaussian_cells
for last in map(int, sys.argv[3:]):
    if os.fork():
        print(os.WTERMSIG(os.wait()[1]))
        continue
    draws = 0
    def counted(self, scale, size):
        global draws
        draws += 1
        if draws == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return cells(self, scale, size)
    Coins.gaussian_cells = counted
    path = Path(sys.argv[2]) / f"{last}.npz"
    engine.train(model(), PLANS["everything"], checkpoints=Checkpoints(path=path, every=5))
"""
DRAWS = (1, 2, 6, 15, 16)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what runs left that were killed as they drew noise for the so-manieth time."""
    folder = tmp_path_factory.mktemp("killed")
    run = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(folder), *map(str, DRAWS)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process with threads must not fork
    ended = subprocess.run(run, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    assert ended.stdout.split() == [str(int(signal.SIGKILL))] * len(DRAWS)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWS)
def test_a_killed_run_loses_no_spent_budget(draw: int, killed: Path) -> None:
    """Killed as it draws noise: Ñ, the first K̃, the 4th step, the first K̃*, the second K̃.

    All that was drawn is in the file as paid; what was paid and lost is neither refunded nor drawn a second time.
    """
    plan, checkpoints = PLANS["everything"], Checkpoints(path=killed / f"{draw}.npz", every=5)
    assert checkpoints.path.stat().st_mode & 0o777 == 0o600
    standing = checkpoints.read()
    account = restored_account(plan, standing.account)
    assert account.size_paid
    assert account.norm_sum_paid(0) == (draw >= 2)
    assert account.clip_paid(0) == (draw >= 15)
    assert account.norm_sum_paid(1) == (draw >= 16)
    lost = 5 if draw == 6 else 0
    assert account.steps_paid - taken(standing.history) == lost
    assert standing.unused == 0
    result = resume(model(), plan, checkpoints)
    assert taken(result.history) == 36 - lost
    assert result.epsilon <= 8
    size, first, second = result.history.epochs[0].size, result.history.epochs[0], result.history.epochs[1]
    assert (size == RECORDS) == (draw == 1)  # the public guess stands in for a lost Ñ
    assert (first.share == pytest.approx(1)) == (draw == 2)  # ÑC for a lost K̃
    assert (second.clip == 3) == (draw == 15)  # the C of before for a lost K̃*
    assert (second.share == pytest.approx(1)) == (draw == 16)


def test_checkpoints_of_other_runs_and_damaged_ones_are_refused(checkpoints: Checkpoints) -> None:
    plan = PLANS["dpis"]
    with pytest.raises(Interrupted):
        train(model(), plan, checkpoints=checkpoints, progress=stop_after(2))
    with pytest.raises(InvalidValue, match="another plan"):
        resume(model(), evolve(plan, epochs=4), checkpoints)
    fewer = LabelledData(features=np.zeros((RECORDS - 1, 3)), labels=np.zeros(RECORDS - 1, dtype=int))
    with pytest.raises(InvalidValue, match=f"{RECORDS - 1} records"):
        resume(RecordModel(Logistic(features=3, classes=2), fewer, Adam()), plan, checkpoints)
    whole = checkpoints.path.read_bytes()
    for damaged in (b"", b"nothing of the kind", whole[: len(whole) // 2]):
        checkpoints.path.write_bytes(damaged)
        with pytest.raises(InvalidValue, match="checkpoint"):
            resume(model(), plan, checkpoints)
    with pytest.raises(InvalidValue, match="every"):
        Checkpoints(path=checkpoints.path, every=0)


HOLDER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_checkpoints import PLANS, model
import certdp.dpis.engine as engine
from certdp.dpis.checkpoints import Checkpoints

def stay(report):
    print("stepped", flush=True)
    sys.stdin.read()

begin = getattr(engine, sys.argv[3])
begin(model(), PLANS["dp-sgd"], checkpoints=Checkpoints(path=Path(sys.argv[2]), every=5), progress=stay)
"""


def holder(checkpoints: Checkpoints, begin: str) -> subprocess.Popen[str]:
    """A process that stays within a step of a run."""
    command = [sys.executable, "-c", HOLDER, str(Path(__file__).parent), str(checkpoints.path), begin]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "stepped\n"
    return process


@pytest.mark.slow
def test_one_process_at_a_time_goes_on_from_a_file(checkpoints: Checkpoints) -> None:
    """Others are refused and change nothing, until it is killed; then the run goes on at once."""
    plan = PLANS["dp-sgd"]
    for begin in ("train", "resume"):
        with holder(checkpoints, begin) as process:
            before = checkpoints.path.read_bytes()
            refused = model()
            with pytest.raises(InvalidValue, match="no other run is using"):
                resume(refused, plan, checkpoints)
            with pytest.raises(InvalidValue, match="no other run is using"):
                train(refused, plan, checkpoints=checkpoints)
            assert checkpoints.path.read_bytes() == before
            assert not refused.parameters.any()
            process.kill()
    result = resume(model(), plan, checkpoints)
    assert taken(result.history) < 36  # steps of both killed runs are lost
    assert result.epsilon == train(model(), plan).epsilon


def test_a_run_that_cannot_write_draws_nothing(tmp_path: Path) -> None:
    trained = model()
    before = trained.parameters.copy()
    with pytest.raises(InvalidValue, match="folder"):
        train(trained, PLANS["dpis"], checkpoints=Checkpoints(path=tmp_path / "none" / "run.npz"))
    assert np.array_equal(trained.parameters, before)


@pytest.mark.parametrize("plan", [PLANS["everything"], PLANS["dpis"]], ids=["everything", "dpis"])
def test_no_step_is_unused_where_something_else_was_paid(
    plan: RunPlan, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that a file says is unused is taken without payment."""
    written: list[tuple[int, int]] = []
    write = Checkpoints.write

    def watched(self: Checkpoints, state: CheckpointState) -> None:
        written.append((state.unused, taken(state.history)))
        write(self, state)

    monkeypatch.setattr(Checkpoints, "write", watched)
    train(model(), plan, checkpoints=checkpoints)
    assert {unused for unused, _ in written} == {0}
    assert len(written) > 3
