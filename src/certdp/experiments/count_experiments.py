"""Experiments on the frequencies of keys: exact expressions, without coins, on a file of counts or without data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from .experiment import WITHOUT_COINS, ExperimentOptions, Prepared
from .findings import Advance, Findings
from .key_frequencies import KeyFrequencies, read_frequencies

_PRIVATE = "computed from the counts: for the data's owner, not for publication"
_PUBLIC = "exact expressions: no data and no coins"
_NO_DATA = "frequencies and laws of frequencies that the experiment names"


@final
@frozen
class CountPlan:
    """What an experiment is asked.

    Attributes:
        name: under which its files are written.
        keys: how many keys there are of each frequency in a file; None for the experiment's own.
    """

    name: str
    keys: KeyFrequencies | None


Run: TypeAlias = Callable[[CountPlan, Advance], Findings]


@final
@frozen
class CountExperiment:
    """An experiment on frequencies.

    Attributes:
        shows: what it shows, in words.
        run: computes it.
        reads_counts: whether it can be run on a file of counts.
    """

    shows: str
    run: Run
    reads_counts: bool

    @property
    def draws(self) -> bool:
        """Whether it draws coins: it does not."""
        return False

    def prepare(self, asked: ExperimentOptions) -> Prepared:
        """Prepare the frequencies; errors as for `Experiment.prepare`."""
        asked.refuse(*WITHOUT_COINS, because="It computes exact expressions")
        plan = CountPlan(asked.name, self._keys(asked))
        return Prepared(
            source=_NO_DATA if plan.keys is None else "the file given",
            notice=_PUBLIC if plan.keys is None else _PRIVATE,
            settings={},
            compute=lambda advance: self.run(plan, advance),
        )

    def _keys(self, asked: ExperimentOptions) -> KeyFrequencies | None:
        if asked.data is None:
            return None
        if not self.reads_counts:
            raise InvalidValue("data", str(asked.data), f"nothing, for {asked.name}", "It shows single frequencies")
        return read_frequencies(asked.data)
