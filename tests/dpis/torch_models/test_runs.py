# pyright: reportMissingImports=false
"""Whole training runs of PyTorch models, by the same engine as the NumPy ones."""

from __future__ import annotations

import lzma
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from certdp import Public
from certdp.accounting.errors import InvalidValue
from certdp.dpis.budget import NormSums, PublicSize
from certdp.dpis.checkpoints import Checkpoints
from certdp.dpis.engine import Progress, Report, resume, train
from certdp.dpis.forecast import dp_sgd
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Sgd
from certdp.dpis.torch import TensorRecords, TorchModel, small_cnn
from certdp.plugins.contract import Coins
from tests.support.training_plans import training_plan

DATA = os.environ.get("CERTDP_DATA")


plan_of = partial(training_plan, records=200)
PLANS = {"dpis": plan_of(), "dp-sgd": dp_sgd(plan_of())}


def table() -> LabelledData:
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 200)
    features = random.standard_normal((200, 4)) + labels[:, np.newaxis]
    features[7, 0] = np.nan
    return LabelledData(features=features, labels=labels)


def logistic(*, microbatch: int = 256, data: LabelledData | None = None) -> TorchModel:
    """What `Logistic` is, in PyTorch; its offsets are the weights of a column of ones."""
    model, data = nn.Linear(5, 2, bias=False), table() if data is None else data
    nn.init.zeros_(model.weight)
    inputs = torch.from_numpy(np.hstack([data.features, np.ones((len(data), 1))]))
    tensors = TensorRecords(inputs=inputs, targets=torch.from_numpy(data.labels))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    return TorchModel(model, nn.CrossEntropyLoss(reduction="none"), tensors, optimiser, microbatch=microbatch)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("microbatch", [7, 256])
def test_a_run_is_that_of_the_same_model_in_numpy(name: str, microbatch: int) -> None:
    """But for what the NumPy model cuts from its factors, 2^-20 of the largest of a row in each step."""
    ours, plan = logistic(microbatch=microbatch), PLANS[name]
    theirs = RecordModel(Logistic(features=4, classes=2), table(), Sgd(rate=0.5, momentum=0.9))
    paid = [train(records, plan, coins=Coins.seeded(3)).epsilon for records in (ours, theirs)]
    assert paid[0] == pytest.approx(paid[1], rel=1e-9)
    found = ours.state()["parameter.weight"]
    np.testing.assert_allclose(found.ravel(), theirs.parameters, rtol=0, atol=2.0**-14)


def stop_after(steps: int) -> Progress:
    """Interrupts a run after its step of this number."""
    seen = []

    def progress(report: Report) -> None:
        seen.append(report)
        if len(seen) == steps:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("name", PLANS)
def test_an_interrupted_run_goes_on_as_if_nothing_had_been(name: str, tmp_path: Path) -> None:
    plan, checkpoints = PLANS[name], Checkpoints(path=tmp_path / "run", every=3)
    whole, first, again = logistic(), logistic(), logistic()
    train(whole, plan, coins=Coins.seeded(4))
    with pytest.raises(KeyboardInterrupt):
        train(first, plan, coins=Coins.seeded(4), checkpoints=checkpoints, progress=stop_after(7))
    resume(again, plan, checkpoints, coins=Coins.seeded(4))
    assert again.state().keys() == whole.state().keys()
    for key, array in whole.state().items():
        np.testing.assert_allclose(again.state()[key], array, rtol=1e-12, atol=1e-15)


def test_a_run_is_recognised_whatever_the_microbatch_is() -> None:
    began = logistic().identity()
    logistic(microbatch=7).identity().require(began)
    other = RecordModel(Logistic(features=4, classes=2), table(), Sgd(rate=0.5, momentum=0.9))
    with pytest.raises(InvalidValue, match="model"):
        other.identity().require(began)
    changed = table()
    changed.features[0, 0] += 1
    with pytest.raises(InvalidValue, match="data"):
        logistic(data=changed).identity().require(began)


@pytest.mark.skipif(DATA is None, reason="CERTDP_DATA names no folder")
@pytest.mark.parametrize("sampling", ["dpis", "dp-sgd"])
def test_digits_are_learned(sampling: str) -> None:
    torch.set_default_dtype(torch.float32)
    with lzma.open(Path(DATA or "", "mnist.npz.xz")) as stream:
        arrays = np.load(stream)
        images, labels = arrays["X_train"][:2000], arrays["y_train"][:2000]
    data = TensorRecords(
        inputs=torch.from_numpy(images).reshape(-1, 1, 28, 28),
        targets=torch.from_numpy(labels.astype(np.int64)),
        divide_by=255,
    )
    model = small_cnn()
    optimiser = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.5)
    records = TorchModel(model, nn.CrossEntropyLoss(reduction="none"), data, optimiser)
    plan = plan_of(
        batch=Public(128),
        epochs=1,
        steps_per_epoch=12,
        size=PublicSize(size=Public(2000)),
        norm_sums=NormSums(noise_multiplier=Public(100)),
    )
    result = train(records, plan if sampling == "dpis" else dp_sgd(plan), coins=Coins.seeded(5))
    assert result.epsilon <= 8
    assert records.accuracy(data) > 0.4  # ten classes
