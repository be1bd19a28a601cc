"""What happened in a run: the releases of each epoch, which are public, and figures for the data's owner."""

from __future__ import annotations

import math
from typing import Any, final

from attrs import asdict, define, evolve, field, fields, frozen

from ..accounting.errors import InvalidValue
from ..accounting.provenance import Private
from .run_account import EpochNoise
from .step_sums import StepFigures


@final
@frozen(kw_only=True)
class EpochFigures:
    """An epoch as anyone may know it: parameters, releases, and what follows from them.

    Attributes:
        epoch: from 0.
        size: Ñ.
        clip: C.
        norm_sum: K̃.
        noise_multiplier: σ_G.
        rate: b·C/K̃.
        steps: how many steps were taken; fewer than the plan's where a run was killed.
        epsilon: an upper bound of the ε at δ₀ of what was paid by now, or by the end of the epoch.
    """

    epoch: int
    size: float
    clip: float
    norm_sum: float
    noise_multiplier: float
    rate: float
    steps: int
    epsilon: float

    @property
    def share(self) -> float:
        """K̃/(Ñ·C), the mean clipped norm over C; 1 in DP-SGD."""
        return self.norm_sum / (self.size * self.clip)


@final
@define
class History:
    """The epochs of a run so far.

    Attributes:
        epochs: public, one row each.
        steps: the figures of every step taken, with the number of its epoch. For the data's owner.
    """

    epochs: list[EpochFigures] = field(factory=list)
    steps: Private[list[tuple[int, StepFigures]]] = field(factory=lambda: Private([]), repr=False)

    def begin(self, noise: EpochNoise) -> None:
        """Go on with an epoch, or begin the next one."""
        if self.epochs and self.epochs[-1].epoch == noise.number:
            return
        self.epochs.append(
            EpochFigures(
                epoch=noise.number,
                size=float(noise.size),
                clip=float(noise.clip),
                norm_sum=float(noise.norm_sum),
                noise_multiplier=float(noise.noise_multiplier),
                rate=float(noise.rate),
                steps=0,
                epsilon=0.0,
            )
        )

    def step(self, figures: StepFigures) -> None:
        """Note one more step of the epoch."""
        last = self.epochs[-1]
        self.epochs[-1] = evolve(last, steps=last.steps + 1)
        self.steps.reveal().append((last.epoch, figures))

    def paid(self, epsilon: float) -> None:
        """The ε of all that was paid by now."""
        self.epochs[-1] = evolve(self.epochs[-1], epsilon=epsilon)

    def columns(self) -> dict[str, list[Any]]:
        """The public table, column by column, as pandas.DataFrame and pyarrow.table take it."""
        names = [attribute.name for attribute in fields(EpochFigures)]
        return {name: [getattr(row, name) for row in self.epochs] for name in names}

    def private_columns(self) -> Private[dict[str, list[Any]]]:
        """The table of steps in the same form, for the data's owner."""
        rows = self.steps.reveal()
        names = [attribute.name for attribute in fields(StepFigures)]
        epochs: dict[str, list[Any]] = {"epoch": [epoch for epoch, _ in rows]}
        return Private(epochs | {name: [getattr(row, name) for _, row in rows] for name in names})

    def table(self) -> Any:
        """The public table as a pyarrow.Table (extra `parquet`).

        Raises:
            InvalidValue: where pyarrow is not installed.
        """
        return _arrow().table(self.columns())

    def private_table(self) -> Private[Any]:
        """The table of steps as a pyarrow.Table, for the data's owner.

        Raises:
            InvalidValue: where pyarrow is not installed.
        """
        return self.private_columns().map(_arrow().table)

    def as_json(self) -> dict[str, Any]:
        """All of it, for a checkpoint, which is the owner's. NaN becomes null."""
        steps = [[epoch, _without_nan(asdict(figures))] for epoch, figures in self.steps.reveal()]
        return {"epochs": [asdict(row) for row in self.epochs], "steps": steps}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> History:
        """Return the history that `as_json` wrote."""
        epochs = [EpochFigures(**row) for row in stored["epochs"]]
        return cls(epochs, Private([(epoch, StepFigures(**_with_nan(row))) for epoch, row in stored["steps"]]))


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {name: None if math.isnan(value) else value for name, value in row.items()}


def _with_nan(row: dict[str, Any]) -> dict[str, Any]:
    return {name: math.nan if value is None else value for name, value in row.items()}


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise InvalidValue(
            "table", "pyarrow is missing", "an installation with it", "pip install 'certdp[parquet]', or take columns()"
        ) from None
    return pyarrow
