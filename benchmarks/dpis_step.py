# pyright: reportMissingImports=false
"""What a training step costs: DP-SGD and DPIS of one engine, Opacus's DP-SGD, no privacy at all.

The small CNN on digits of MNIST, and the recurrent network on reviews of IMDb, from the folder that CERTDP_DATA names;
on random records where it is unset. Milliseconds of CPU time on one thread, means over an epoch after a first step;
those of DPIS include the pass over all norms that an epoch begins with. The contenders take turns, and the least of
their rounds counts. Opacus forms gradients per record or, by fast gradient clipping, only their norms; batches are
drawn at the same rate. It is left out where it is not installed, and for the recurrent network, whose layers it does
not know.
Run, where certdp[torch] is installed: python benchmarks/dpis_step.py [RECORDS [BATCH]]
"""

from __future__ import annotations

import lzma
import os
import sys
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from attrs import frozen
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from certdp import Delta, Epsilon, Order, Public
from certdp.dpis import FixedClip, NormSums, Proposals, PublicSize, RenyiAccounting, Report, RunPlan, dp_sgd, train
from certdp.dpis.torch import ReviewClassifier, TensorRecords, TorchModel, small_cnn
from certdp.runs.calibration import Budget

ROUNDS, WIDEST = 3, 5
WORDS, LENGTH = 20_002, 80
LOSS = nn.CrossEntropyLoss(reduction="none")


FOLDER = os.environ.get("CERTDP_DATA")


@frozen
class Trained:
    """A network, and what it is trained on."""

    name: str
    make: Callable[[], nn.Module]
    data: TensorRecords
    opacus: bool


def digits(records: int) -> TensorRecords:
    if FOLDER is None:
        images, labels = torch.rand(records, 1, 28, 28), torch.randint(0, 10, (records,))
        return TensorRecords(inputs=images, targets=labels)
    with lzma.open(Path(FOLDER, "mnist.npz.xz")) as stream:
        arrays = np.load(stream)
        images, labels = torch.from_numpy(arrays["X_train"][:records]), torch.from_numpy(arrays["y_train"][:records])
    return TensorRecords(inputs=images.reshape(-1, 1, 28, 28), targets=labels.long(), divide_by=255)


def reviews(records: int) -> TensorRecords:
    if FOLDER is None:
        words, labels = torch.randint(0, WORDS, (records, LENGTH)), torch.randint(0, 2, (records,))
        return TensorRecords(inputs=words, targets=labels)
    with lzma.open(Path(FOLDER, "imdb_pad80_top20k.npz.xz")) as stream:
        arrays = np.load(stream)
        words, labels = (torch.from_numpy(arrays[name][:records].astype(np.int64)) for name in ("X", "label"))
    return TensorRecords(inputs=words, targets=labels)


def plan_of(records: int, batch: int) -> RunPlan:
    return RunPlan(
        budget=Budget(epsilon=Epsilon(8), delta=Delta("1e-5")),
        batch=Public(batch),
        epochs=1,
        steps_per_epoch=records // batch,
        size=PublicSize(size=Public(records)),
        clip=FixedClip(bound=Public(1)),
        norm_sums=NormSums(noise_multiplier=Public(Fraction(records, 50))),
        accounting=RenyiAccounting(order=Order(8)),
    )


def engine_step(trained: Trained, plan: RunPlan, multiplier: int) -> float:
    """Seconds per step of our engine; the first step of an epoch waits for its norms."""
    model = trained.make()
    records = TorchModel(model, LOSS, trained.data, torch.optim.SGD(model.parameters(), lr=0.5))
    ends = [time.process_time()]

    def note(_: Report) -> None:
        ends.append(time.process_time())

    start = time.process_time()
    norms = 0.0
    if plan.norm_sums is not None:
        records.evaluate(np.arange(records.size))
        norms = time.process_time() - start
    train(records, plan, proposals=Proposals(multiplier=Fraction(multiplier)), progress=note)
    return float(np.mean(np.diff(ends[1:]))) + norms / plan.steps_per_epoch


def loop(data: TensorRecords, batch: int, step: Callable[[Tensor, Tensor], None]) -> float:
    """Seconds per step of something else, on Poisson batches, for an epoch."""
    spent = []
    for _ in range(len(data) // batch + 1):
        chosen = torch.flatten(torch.nonzero(torch.rand(len(data)) < batch / len(data)))
        start = time.process_time()
        step(*data.rows(chosen))
        spent.append(time.process_time() - start)
    return float(np.mean(spent[1:]))


def plain_step(trained: Trained, batch: int) -> float:
    model = trained.make()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)

    def step(inputs: Tensor, targets: Tensor) -> None:
        optimiser.zero_grad()
        LOSS(model(inputs), targets).mean().backward()
        optimiser.step()

    return loop(trained.data, batch, step)


def opacus_step(trained: Trained, batch: int) -> float:
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    model = GradSampleModule(trained.make())
    optimiser = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=0.5), noise_multiplier=1, max_grad_norm=1, expected_batch_size=batch
    )

    def step(inputs: Tensor, targets: Tensor) -> None:
        optimiser.zero_grad()
        LOSS(model(inputs), targets).mean().backward()
        optimiser.step()

    return loop(trained.data, batch, step)


def opacus_fast_step(trained: Trained, batch: int) -> float:
    from opacus.grad_sample.grad_sample_module_fast_gradient_clipping import GradSampleModuleFastGradientClipping
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    model = GradSampleModuleFastGradientClipping(trained.make(), max_grad_norm=1, use_ghost_clipping=True)
    optimiser = DPOptimizerFastGradientClipping(
        torch.optim.SGD(model.parameters(), lr=0.5), noise_multiplier=1, max_grad_norm=1, expected_batch_size=batch
    )
    loss = DPLossFastGradientClipping(model, optimiser, nn.CrossEntropyLoss(), "mean")

    def step(inputs: Tensor, targets: Tensor) -> None:
        optimiser.zero_grad()
        loss(model(inputs), targets).backward()
        optimiser.step()

    return loop(trained.data, batch, step)


def compare(trained: Trained, batch: int) -> None:
    plan = plan_of(len(trained.data), batch)
    contenders: dict[str, Callable[[], float]] = {
        "DP-SGD": partial(engine_step, trained, dp_sgd(plan), WIDEST),
        "DPIS, k = 2": partial(engine_step, trained, plan, 2),
        f"DPIS, k = {WIDEST}": partial(engine_step, trained, plan, WIDEST),
        "no privacy": partial(plain_step, trained, batch),
    }
    if trained.opacus and find_spec("opacus") is not None:
        contenders["Opacus"] = partial(opacus_step, trained, batch)
        contenders["Opacus, fast gradient clipping"] = partial(opacus_fast_step, trained, batch)
    rounds = [{name: contender() for name, contender in contenders.items()} for _ in range(ROUNDS)]
    least = {name: min(found[name] for found in rounds) for name in contenders}
    title = f"One step of the {trained.name}: {len(trained.data)} records, batches of {batch}; ms of CPU, over DP-SGD"
    table = Table(title=title)
    for heading in ("", "ms", "ratio"):
        table.add_column(heading, justify="right")
    for name, seconds in least.items():
        table.add_row(name, f"{seconds * 1e3:.1f}", f"{seconds / least['DP-SGD']:.2f}")
    Console(width=100).print(table)


def main() -> None:
    records, batch = (*map(int, sys.argv[1:]), *(6000, 128)[len(sys.argv) - 1 :])
    torch.set_num_threads(1)
    compare(Trained("small CNN", small_cnn, digits(records), opacus=True), batch)
    compare(Trained("recurrent network", partial(ReviewClassifier, words=WORDS), reviews(records), opacus=False), batch)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Opacus's, about secure coins and hooks
        main()
