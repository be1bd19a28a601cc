"""DPIS Figure 1: noise multipliers of DPIS, of DP-SGD and of DP-SGD with decaying noise, epoch by epoch.

For N = 60,000 and δ = 1e-5. The paper prints neither b nor E nor the norm sums: taken here are b = 512 and E = 17, with
which DP-SGD has the printed multiplier 0.81 at ε = 4, and norm sums that fall from Ñ·C to 0.45·Ñ·C along a line unless
a file names K̃/C for each epoch, which then says how many epochs there are. σ_N = σ_K = 0.02·N (Table 2), a_E = 0.8. The
releases of Ñ and K̃ count (erratum DPIS-Eq19), and the order of each account is fixed before its run (DPIS-adaptive).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from attrs import evolve, frozen

from ..accounting.provenance import Public
from ..accounting.units import Delta, Epsilon
from ..dpis.budget import ExponentialDecay, FixedClip, NoisySize, NormSums, RunPlan
from ..dpis.forecast import dominated_dp_sgd, dp_sgd, forecast
from ..dpis.pictures import NOISE_CURVES, draw_noise
from ..dpis.trajectories import read_trajectory
from ..runs.calibration import Budget
from .experiment import WITHOUT_COINS, ExperimentOptions, Prepared
from .findings import Advance, Findings, Table
from .pictures import Picture

EPSILONS = ("0.5", "1", "4")
RECORDS, BATCH, EPOCHS = 60_000, 512, 17
LEAST_SHARE = Fraction(9, 20)
DECAY = Fraction(99, 100)
"""Of σ_G from one epoch to the next: a decay rate of 0.01, the largest that the paper tried."""


_FORESEEN = "foreseen: no data and no coins"
_OF_FILE = "computed from the norm sums of the file: for its owner, not for publication, unless they were released"


@final
@frozen
class NoiseExperiment:
    """The experiment: it draws nothing and reads no data but a file of norm sums foreseen.

    Attributes:
        shows: what it shows, in words.
    """

    shows: str

    @property
    def draws(self) -> bool:
        """Whether it draws coins: it does not."""
        return False

    def prepare(self, asked: ExperimentOptions) -> Prepared:
        """The norm sums; errors as for `Experiment.prepare`."""
        asked.refuse(*WITHOUT_COINS, because="It computes noise multipliers")
        shares = falling(EPOCHS) if asked.data is None else _read(asked.data)
        return Prepared(
            source="norm sums that fall along a line" if asked.data is None else "norm sums from the file given",
            notice=_FORESEEN if asked.data is None else _OF_FILE,
            settings={"records": RECORDS, "batch": BATCH, "epochs": len(shares), "delta": 1e-5},
            compute=lambda advance: _compute(asked.name, shares, advance),
        )


def falling(epochs: int) -> list[Fraction]:
    """K̃/(Ñ·C) from 1 to `LEAST_SHARE` along a line."""
    return [1 - (1 - LEAST_SHARE) * Fraction(epoch, max(1, epochs - 1)) for epoch in range(epochs)]


def run_plan(epsilon: str, epochs: int) -> RunPlan:
    """The run of DPIS at one ε."""
    noise = Public(Fraction(RECORDS, 50))
    return RunPlan(
        budget=Budget(epsilon=Epsilon(epsilon), delta=Delta("1e-5")),
        batch=Public(BATCH),
        epochs=epochs,
        steps_per_epoch=round(RECORDS / BATCH),
        size=NoisySize(noise=noise, guess=Public(RECORDS)),
        clip=FixedClip(bound=Public(1)),
        norm_sums=NormSums(noise_multiplier=noise),
    )


def multipliers(epsilon: str, shares: Sequence[Fraction]) -> dict[str, tuple[float, ...]]:
    """σ_G by epoch of each method at one ε."""
    plan = run_plan(epsilon, len(shares))
    uniform = dp_sgd(plan)
    decaying = evolve(uniform, schedule=ExponentialDecay(base=Public(DECAY)))
    return {
        "dpis": forecast(plan, shares).noise_multipliers,
        "dp_sgd": forecast(uniform).noise_multipliers,
        "dp_sgd_decay": forecast(decaying).noise_multipliers,
        "dp_sgd_loss_distribution": forecast(dominated_dp_sgd(plan)).noise_multipliers,
    }


def _read(path: Path) -> list[Fraction]:
    return read_trajectory(path, None, Fraction(RECORDS), parameter="data")


def _compute(name: str, shares: Sequence[Fraction], advance: Advance) -> Findings:
    picture = Picture.of(1, len(EPSILONS), width=4.2, height=3.4)
    rows: list[tuple[Any, ...]] = []
    summary = []
    for number, epsilon in enumerate(EPSILONS):
        found = multipliers(epsilon, shares)
        rows += [
            (float(epsilon), epoch, float(share), *values)
            for epoch, (share, *values) in enumerate(zip(shares, *found.values(), strict=True), 1)
        ]
        summary.append(
            {"epsilon": float(epsilon), **{method: [values[0], values[-1]] for method, values in found.items()}}
        )
        _draw(picture.axes[0, number], epsilon, found)
        advance((number + 1) / len(EPSILONS))
    table = Table(("epsilon", "epoch", "norm_sum_over_size_and_clip", *NOISE_CURVES), rows)
    title = f"Noise multipliers, N = {RECORDS:,}, b = {BATCH}, δ = 1e-5"
    return Findings({"first_and_last_noise_multiplier": summary}, {name: table}, {name: picture.titled(title)})


def _draw(panel: Any, epsilon: str, found: Mapping[str, Sequence[float]]) -> None:
    draw_noise(panel, found)
    panel.set_title(f"ε = {epsilon}", fontsize="small")
