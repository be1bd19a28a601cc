"""What the account of a training run costs beside its steps: noise of an epoch, payment of a step, ε so far.

The account of a run is played by itself: milliseconds of CPU time on one thread, by a Rényi filter and by a declared
pair. Beside them a step of a network with one hidden layer, 784 inputs and 32 units in NumPy, on random records, as the
engine takes it with that account: DPIS with the pass over all norms, DP-SGD without.
Run: python benchmarks/dpis_accounting.py [RECORDS [BATCH [EPOCHS]]]
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from fractions import Fraction

import numpy as np
from attrs import evolve, frozen
from rich.console import Console
from rich.table import Table

from certdp import Delta, Epsilon, Public
from certdp.dpis import (
    DominatedAccounting,
    FixedClip,
    NoisySize,
    NormSums,
    RunPlan,
    Sgd,
    dominated_dp_sgd,
    dp_sgd,
    train,
)
from certdp.dpis.models import LabelledData, Mlp, RecordModel, Relu
from certdp.dpis.run_account import open_account
from certdp.runs.calibration import Budget

FEATURES, HIDDEN, CLASSES = 784, 32, 10
SHOWN_EVERY = 100  # steps, as where checkpoints are written


@frozen
class Costs:
    """Seconds of one run's account."""

    opened: float
    noise: float
    step: float
    spent: float
    steps: int
    epochs: int

    @property
    def whole(self) -> float:
        """All of it, ε so far stated once an epoch and every SHOWN_EVERY steps."""
        stated = self.epochs + self.steps // SHOWN_EVERY
        return self.opened + self.epochs * self.noise + self.steps * self.step + stated * self.spent


def account_costs(plan: RunPlan) -> Costs:
    """The account of a run whose K̃ falls to 0.4·ÑC."""
    clock = time.process_time
    start = clock()
    account = open_account(plan)
    if isinstance(plan.size, NoisySize):
        account.pay_size()
        account.size_released(plan.size.guess.value)
    opened, noise, steps, spent = clock() - start, 0.0, 0.0, 0.0
    for epoch in range(plan.epochs):
        share = 1 - Fraction(3 * epoch, 5 * plan.epochs)
        start = clock()
        norm_sum = account.size
        if plan.norm_sums is not None:
            norm_sum = account.pay_norm_sum(epoch, 1).bounded(share * account.size)
        account.begin_epoch(norm_sum, 1)
        noise += clock() - start
        start = clock()
        account.pay_steps(plan.steps_per_epoch)
        steps += clock() - start
        start = clock()
        account.spent()
        spent += clock() - start
    taken = plan.epochs * plan.steps_per_epoch
    return Costs(opened, noise / plan.epochs, steps / taken, spent / plan.epochs, taken, plan.epochs)


def training_seconds(plan: RunPlan, data: LabelledData) -> float:
    network = Mlp(features=FEATURES, hidden=HIDDEN, classes=CLASSES, activation=Relu())
    start = time.process_time()
    train(RecordModel(network, data, Sgd(rate=0.2, momentum=0.9)), plan)
    return time.process_time() - start


def main() -> None:
    records, batch, epochs = (*map(int, sys.argv[1:]), *(60_000, 512, 10)[len(sys.argv) - 1 :])
    noise = Public(Fraction(records, 50))
    dpis = RunPlan(
        budget=Budget(epsilon=Epsilon(2), delta=Delta("1e-5")),
        batch=Public(batch),
        epochs=epochs,
        steps_per_epoch=round(records / batch),
        size=NoisySize(noise=noise, guess=Public(records)),
        clip=FixedClip(bound=Public(1)),
        norm_sums=NormSums(noise_multiplier=noise),
    )
    declared = DominatedAccounting(rate=Public(Fraction(5 * batch, 2 * records)))
    plans = {
        "DPIS, Rényi filter": dpis,
        "DPIS, declared pair": evolve(dpis, accounting=declared),
        "DP-SGD, Rényi filter": dp_sgd(dpis),
        "DP-SGD, declared pair": dominated_dp_sgd(dpis),
    }
    rng = np.random.default_rng(0)
    data = LabelledData(features=rng.random((records, FEATURES)), labels=rng.integers(0, CLASSES, records))
    # loads what they share, for another budget: what is found for a plan is kept
    account_costs(evolve(dp_sgd(dpis), budget=Budget(epsilon=Epsilon(3), delta=Delta("1e-5"))))
    table = Table(title=f"{records} records, batches of {batch}, {epochs} epochs; ms of CPU")
    for heading in ("", "opening", "σ_G of an epoch", "a step paid", "ε so far", "a step taken", "share of accounting"):
        table.add_column(heading, justify="right")
    for name, plan in plans.items():
        costs, whole = account_costs(plan), training_seconds(plan, data)
        columns = (costs.opened, costs.noise, costs.step, costs.spent, whole / costs.steps)
        table.add_row(name, *(f"{1e3 * seconds:.3g}" for seconds in columns), f"{costs.whole / whole:.2%}")
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
