"""`certdp pws table`: with what probability keys of each frequency are reported, exactly, without any data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.exact import ratio_text
from ...accounting.provenance import Public
from ...durable.files import write_whole
from ...weighted_sampling.release import PrivateWeightedSampling, in_words
from ...weighted_sampling.tables import ReportingTable
from ..answer import Answer, path_as_json
from ..answering import application
from ..options import Epsilon, Overwrite, Plot, whole_or_none
from ..outputs import check_places
from ..page import Page
from .options import Delta, Frequencies, Power, Scheme, Threshold, UserBound
from .scheme import check_new, plugin_as_json, sampler_of

_MOST_ROWS = 1_000_000


@frozen(kw_only=True)
class Probabilities(Answer):
    """How often a key of each frequency is reported.

    Attributes:
        sampling: the sampler and the sanitiser.
        table: a row for each frequency.
        last: the largest frequency listed.
        plot: where it is.
    """

    sampling: PrivateWeightedSampling
    table: ReportingTable
    last: int
    plot: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        sampling, rows, guarantee = self.sampling, self.table.rows, self.sampling.guarantee
        return {
            "mechanism": plugin_as_json(sampling.mechanism),
            "sampler": plugin_as_json(sampling.sampler),
            "epsilon": [None, guarantee.bound.epsilon.upper_float],
            "delta": [None, guarantee.bound.delta.upper_float],
            "unit": guarantee.unit.name,
            "contributions": sampling.contributions,
            "relation": guarantee.relation.name,
            "bits": sampling.reporting.budget.bits,
            "rows": self.last,
            "pi": [_outward(Enclosure.of(row.reported)) for row in rows],
            "pi_exact": [ratio_text(row.reported) for row in rows],
            "q": [_outward(row.rate) for row in rows],
            "loss": [_outward(row.loss) for row in rows],
            "plot": path_as_json(self.plot),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        sampling = self.sampling
        page.keyed_run(sampling.mechanism.about.name, sampling.sampler.about.name)
        page.print(in_words(sampling.stated_guarantee, sampling.contributions), 2)
        page.print(f"probabilities are whole units of 2^-{sampling.reporting.budget.bits}", 2)
        page.copy(str(self.table))
        page.files({"plot": self.plot})


def table(
    epsilon: Epsilon,
    delta: Delta,
    rows: Annotated[int, typer.Option(metavar="M", min=1, help="Print the rows of frequencies 0 to M.")],
    scheme: Scheme = None,
    power: Power = None,
    threshold: Threshold = None,
    frequencies: Frequencies = False,
    user_bound: UserBound = None,
    plot: Plot = None,
    overwrite: Overwrite = False,
) -> Probabilities:
    """How often a key of each frequency is reported, exactly; no data are needed."""
    check_new("plot", plot, overwrite)
    check_places(None, {"plot": plot})
    if rows > _MOST_ROWS:
        raise InvalidValue("rows", rows, f"at most {_MOST_ROWS:,} rows", "Ask for fewer")
    sampling = PrivateWeightedSampling.within(
        epsilon=epsilon,
        delta=delta,
        sampler=sampler_of(scheme, None if threshold is None else Public(threshold), power),
        frequencies=frequencies,
        contributions=whole_or_none("user-bound", user_bound),
    )
    found = sampling.table(rows)
    if plot is not None:
        from ...weighted_sampling.table_pictures import plot_table

        write_whole(plot, plot_table(found))
    return Probabilities(sampling=sampling, table=found, last=rows, plot=plot)


def _outward(value: Enclosure) -> list[float]:
    """The ends of a number ≥ 0 in binary64."""
    return [max(0.0, value.lower_float), value.upper_float]


command = application(table)
