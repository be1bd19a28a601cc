"""The experiments by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from . import figure_1, figure_2, table_1, times, trade_offs
from .data_sets import APPENDIX, MAIN, Published
from .findings import Advance, Findings, Plan

Run: TypeAlias = Callable[[Plan, Advance], Findings]

_SONG = MAIN[2:3]


@final
@frozen
class Experiment:
    """An experiment of a paper.

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


EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "is-fig1": Experiment("IS Figure 1: samples in the plane of two components", figure_1.run, 1, _SONG),
        "is-fig2": Experiment("IS Figure 2: samplers for the Laplace sum", figure_2.run, 1000, ()),
        "is-fig3": Experiment("IS Figure 3: cost against ε", trade_offs.against_epsilon, 50, MAIN),
        "is-fig4": Experiment("IS Figure 4: cost against sample size", trade_offs.against_size, 50, MAIN),
        "is-fig5": Experiment("IS Figure 5: computation times", times.figure, 5, MAIN),
        "is-fig6": Experiment("IS Figure 6: Figure 3, other data", trade_offs.against_epsilon, 50, APPENDIX),
        "is-fig7": Experiment("IS Figure 7: Figure 4, other data", trade_offs.against_size, 50, APPENDIX),
        "is-table1": Experiment("IS Table 1: n, d, r and x̃ of the data", table_1.run, 1, (*MAIN, *APPENDIX)),
        "is-table2": Experiment("IS Table 2: the numbers of Figure 5", times.tables, 5, MAIN),
        "is-table3": Experiment("IS Table 3: Table 2, other data", times.tables, 5, APPENDIX),
    }
)


def experiment_named(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        InvalidValue: for an unknown name.
    """
    if name not in EXPERIMENTS:
        raise InvalidValue("experiment", name, f"one of: {', '.join(EXPERIMENTS)}", "Choose one of these")
    return EXPERIMENTS[name]
