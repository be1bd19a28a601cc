"""DPIS Tables 3 to 8: test accuracy by method, ε and the options of DPIS.

The paper trains convolutional and recurrent networks, DPIS on features of a scattering network that only one competitor
shares. Here all methods train the same network with one hidden layer on the features of the file, except that one of
them replaces its activation; and in one table the networks of the paper (`networks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from ..accounting.errors import InvalidValue
from ..accounting.exact import exact
from ..plots.canvas import curve_style
from . import training_runs
from .experiment import ExperimentOptions, Prepared
from .findings import Advance, Findings, Table
from .networks import Networks, SmallNetworks
from .pictures import Picture
from .training_data import TrainingData, read_training_data, stand_in
from .training_runs import METHODS, PAIR, SCATTERED, Adaptation, Ledger, Outcome, Setting, Trainer, interval

REPETITIONS = 5
RUNS = "dpis-runs.csv"
"""Finished runs, which tables of one folder share."""
PAIRED_EPSILONS = ("1", "2", "4")
"""ε of the pairs of runs."""

_SYNTHETIC = "synthetic data; seeded coins: nothing here is private"
_PRIVATE = "trained with seeded coins, accuracies on the records: for the data's owner, not for publication"


@final
@frozen
class Cell:
    """A cell of a table.

    Attributes:
        series: which of the lines it belongs to.
        place: where on the line.
        setting: what is run.
    """

    series: str
    place: float
    setting: Setting


Cells: TypeAlias = Callable[[Sequence[Fraction]], list[Cell]]


def by_method(epsilons: Sequence[Fraction]) -> list[Cell]:
    """Table 3, but for the competitor with a scattering network."""
    return [
        Cell(method.label, float(epsilon), Setting(epsilon=epsilon, method=method))
        for method in METHODS
        for epsilon in epsilons
    ]


def by_method_on_features(epsilons: Sequence[Fraction]) -> list[Cell]:
    """Table 3 for images: DPIS and a competitor on features of a scattering network, and all methods on pixels."""
    return [
        Cell(method.label, float(epsilon), Setting(epsilon=epsilon, method=method))
        for method in (*SCATTERED, *METHODS)
        for epsilon in epsilons
    ]


def by_pair(epsilons: Sequence[Fraction]) -> list[Cell]:
    """DPIS and DP-SGD alone: what many runs with the same coins are made of, to tell the two apart."""
    return [
        Cell(method.label, float(epsilon), Setting(epsilon=epsilon, method=method))
        for epsilon in epsilons
        for method in PAIR
    ]


def by_adaptation(epsilons: Sequence[Fraction]) -> list[Cell]:
    """Return the cells of DPIS Table 4."""
    return [
        Cell(label, float(epsilon), Setting(epsilon=epsilon, adaptation=adaptation))
        for label, adaptation in (("C adapts", Adaptation()), ("C stays", None))
        for epsilon in epsilons
    ]


def _varied(values: Sequence[str], setting: Callable[[Fraction, Fraction], Setting]) -> Cells:
    """A parameter of DPIS varied, at each ε."""

    def cells(epsilons: Sequence[Fraction]) -> list[Cell]:
        return [
            Cell(f"ε = {float(epsilon):g}", float(value), setting(epsilon, Fraction(value)))
            for epsilon in epsilons
            for value in values
        ]

    return cells


by_divider = _varied(("0", "0.6", "0.8", "1"), lambda epsilon, value: Setting(epsilon=epsilon, divider=value))
"""Table 5."""
by_multiplier = _varied(("3", "4", "5", "6"), lambda epsilon, value: Setting(epsilon=epsilon, multiplier=value))
"""Table 6."""
by_external = _varied(
    ("3", "4", "5", "6"), lambda epsilon, value: Setting(epsilon=epsilon, adaptation=Adaptation(external=value))
)
"""Table 7."""
by_quantile = _varied(
    ("0.8", "0.9", "1", "1.1", "1.2"),
    lambda epsilon, value: Setting(epsilon=epsilon, adaptation=Adaptation(quantile=value)),
)
"""Table 8, around λ = 1; which λ is the best is read from the rows."""


@final
@frozen
class TrainingExperiment:
    """A table of test accuracies.

    Attributes:
        shows: what it shows, in words.
        cells: what is run.
        epsilons: the ε of the paper.
        axis: what the lines run along, in words.
        networks: what is trained.
        repetitions: of each run, unless the options say so.
        records: at most so many training records, the first of the file.
    """

    shows: str
    cells: Cells
    epsilons: tuple[str, ...]
    axis: str
    networks: Networks = field(factory=SmallNetworks)
    repetitions: int = REPETITIONS
    records: int | None = None

    @property
    def draws(self) -> bool:
        """Whether it draws coins: it does."""
        return True

    def prepare(self, asked: ExperimentOptions) -> Prepared:
        """The data, and the runs to make; errors as for `Experiment.prepare`."""
        asked.refuse("size", "split", because="It trains networks")
        epsilons = [exact(text, parameter="epsilon") for text in asked.epsilons or self.epsilons]
        if min(epsilons) <= 0:
            raise InvalidValue("epsilon", str(float(min(epsilons))), "a number > 0")
        if asked.data is None:
            data, source, notice = stand_in(asked.reading, asked.seed), "synthetic, in place of data", _SYNTHETIC
        else:
            data = read_training_data(asked.data, asked.reading, in_order=self.networks.in_order)
            source, notice = "the file given", _PRIVATE
        data = data if self.records is None else data.first(self.records)
        self.networks.check(data)
        ledger = Ledger(None if asked.out is None else asked.out / RUNS, secret=asked.data is not None)
        repetitions = asked.repetitions or self.repetitions
        cells = self.cells(epsilons)
        return Prepared(
            source=f"{source}; features: {data.features}",
            notice=notice,
            settings={
                "n": len(data.train),
                "batch": training_runs.batch_for(len(data.train)),
                "epochs": training_runs.EPOCHS,
                "network": self.networks.name,
                "clip": float(training_runs.CLIP),
                "delta": float(training_runs.DELTA),
                "learning_rates": list(self.networks.rates),
                "tuning": "by accuracy on the training records with other coins; not accounted for",
                "seed": asked.seed,
                "repetitions": repetitions,
            },
            compute=lambda advance: self._compute(asked, data, ledger, repetitions, cells, advance),
        )

    def _compute(
        self,
        asked: ExperimentOptions,
        data: TrainingData,
        ledger: Ledger,
        repetitions: int,
        cells: Sequence[Cell],
        advance: Advance,
    ) -> Findings:
        total, done = len(cells) * (repetitions + len(self.networks.rates)), 0

        def finished() -> None:
            nonlocal done
            done += 1
            advance(done / total)

        trainer = Trainer(
            data=data,
            seed=asked.seed,
            repetitions=repetitions,
            ledger=ledger,
            finished=finished,
            networks=self.networks,
        )
        rows = [_row(cell, *trainer.outcomes(cell.setting)) for cell in cells]
        picture = Picture.of(1, 1, width=5.4, height=3.8)
        _draw(picture.axes[0, 0], cells, rows, self.axis)
        table = Table(tuple(rows[0]), [tuple(row.values()) for row in rows])
        title = f"{self.shows}; {data.name}"
        return Findings({"rows": rows}, {asked.name: table}, {asked.name: picture.titled(title)})


def _row(cell: Cell, rate: float, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    mean, half = interval([outcome.private_test_accuracy for outcome in outcomes])
    return {
        **cell.setting.figures,
        "learning_rate": rate,
        "runs": len(outcomes),
        "private_test_accuracy": mean,
        "private_half_interval": half,
        **{
            name: float(np.mean([getattr(outcome, name) for outcome in outcomes]))
            for name in ("epsilon_paid", "first_noise_multiplier", "last_noise_multiplier", "last_share", "last_clip")
        },
    }


def _draw(panel: Any, cells: Sequence[Cell], rows: Sequence[Mapping[str, Any]], axis: str) -> None:
    for number, series in enumerate(dict.fromkeys(cell.series for cell in cells)):
        chosen = [(cell.place, row) for cell, row in zip(cells, rows, strict=True) if cell.series == series]
        panel.errorbar(
            [place for place, _ in chosen],
            [row["private_test_accuracy"] for _, row in chosen],
            [row["private_half_interval"] or 0.0 for _, row in chosen],
            capsize=3,
            label=series,
            **(curve_style(number) | {"markevery": 1}),
        )
    panel.set_xlabel(axis)
    panel.set_ylabel("test accuracy, with 95 % intervals")
    panel.legend(fontsize="x-small")
