"""Experiments on records: on a file, on synthetic data in the place of the paper's, or on data of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from ..data import read_records, refuse_without_file
from .data_sets import DataSet, Published, preprocess, stand_ins
from .experiment import ExperimentOptions, Prepared
from .findings import Advance, Findings, Plan

Run: TypeAlias = Callable[[Plan, Advance], Findings]

_PRIVATE = (
    "computed from the records, with r, n and x̃ read from them and seeded coins: for the data's owner, not for "
    "publication"
)
_SYNTHETIC = "synthetic data with seeded coins: nobody's records"
_STAND_INS = "synthetic stand-ins with the paper's d, r and x̃ and a tenth of its n, for want of --data"
_OWN_DATA = "drawn by the experiment, as in the paper"


@final
@frozen
class RecordExperiment:
    """An experiment on matrices of records, with coins.

    Attributes:
        shows: what it shows, in words.
        run: computes it.
        repetitions: how often the paper repeats each run, or 1 where it does not.
        published: the data sets of the paper that synthetic ones stand in for where no data are given; none for an
            experiment that draws its own data.
    """

    shows: str
    run: Run
    repetitions: int
    published: tuple[Published, ...]

    @property
    def draws(self) -> bool:
        """Whether it draws coins: it does."""
        return True

    def prepare(self, asked: ExperimentOptions) -> Prepared:
        """The data sets and the coins; errors as for `Experiment.prepare`."""
        asked.refuse("epsilon", because="It has its own")
        plan = Plan(
            name=asked.name,
            data=self._data(asked),
            repetitions=asked.repetitions or self.repetitions,
            seed=asked.seed,
            sizes=asked.sizes,
            split=asked.split,
        )
        return Prepared(
            source=self._source(asked),
            notice=_SYNTHETIC if asked.data is None else _PRIVATE,
            settings={"seed": plan.seed, "repetitions": plan.repetitions},
            compute=lambda advance: self.run(plan, advance),
        )

    def _source(self, asked: ExperimentOptions) -> str:
        if asked.data is not None:
            return "the file given"
        return _STAND_INS if self.published else _OWN_DATA

    def _data(self, asked: ExperimentOptions) -> tuple[DataSet, ...]:
        if asked.data is None:
            refuse_without_file(asked.reading)
            return stand_ins(self.published, asked.seed)
        if not self.published:
            raise InvalidValue("data", str(asked.data), f"nothing, for {asked.name}", "It draws its own data")
        name = asked.data.name.partition(".")[0]
        return (preprocess(read_records(asked.data, asked.reading), name).reveal(),)
