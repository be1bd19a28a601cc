"""What an experiment is: asked with the options of a run, it says what it computes from, and computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from ..data import Reading
from ..mechanisms.lloyd import Split
from .findings import Advance, Findings

Compute: TypeAlias = Callable[[Advance], Findings]


WITHOUT_COINS = ("repetitions", "size", "epsilon", "split", "seed", "array", "transpose", "divide-by")
"""Options without a use where nothing is drawn and no records are read."""


@final
@frozen(kw_only=True)
class ExperimentOptions:
    """The options of a run.

    Attributes:
        name: of the experiment; its files are named so.
        data: a file to run on, or none.
        reading: how the file becomes a matrix.
        repetitions: of each run, or none for as many as in the paper.
        sizes: expected sample sizes, or none for the experiment's own.
        epsilons: ε₀ of training runs, or none for those of the paper.
        split: rule for the noise of counts beside that of sums.
        seed: of all coins.
        out: the folder that is written to, or none.
    """

    name: str
    data: Path | None
    reading: Reading
    repetitions: int | None
    sizes: tuple[int, ...]
    epsilons: tuple[str, ...]
    split: Split
    seed: int
    out: Path | None

    def refuse(self, *options: str, because: str) -> None:
        """Refuse options that the experiment has no use for.

        Args:
            options: their names, as on the command line.
            because: what it does instead, in words.

        Raises:
            InvalidValue: for the first of them that was given.
        """
        given = {
            "repetitions": (self.repetitions, None),
            "size": (self.sizes, ()),
            "epsilon": (self.epsilons, ()),
            "split": (self.split, Split.PUBLISHED),
            "seed": (self.seed, 0),
            "array": (self.reading.array, None),
            "transpose": (self.reading.transpose, False),
            "divide-by": (str(self.reading.divide_by), "1"),
        }
        for option in options:
            value, unused = given[option]
            if value != unused:
                raise InvalidValue(option, str(value), f"nothing, for {self.name}", because)


@final
@frozen(kw_only=True)
class Prepared:
    """An experiment with its inputs.

    Attributes:
        source: where they come from, in words.
        notice: whom the results concern, in words.
        settings: what else the results follow from, ready for JSON.
        compute: computes them.
    """

    source: str
    notice: str
    settings: Mapping[str, Any]
    compute: Compute


class Experiment(Protocol):
    """An experiment of a paper."""

    @property
    def shows(self) -> str:
        """What the experiment shows, in words."""
        ...

    @property
    def draws(self) -> bool:
        """Whether it draws coins, and so takes a seed and repetitions."""
        ...

    def prepare(self, asked: ExperimentOptions) -> Prepared:
        """Prepare the inputs, before anything is computed or written.

        Raises:
            InvalidValue: for an option it has no use for, and for a file that it cannot read.
        """
        ...
