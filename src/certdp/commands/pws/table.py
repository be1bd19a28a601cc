"""`certdp pws table`: with what probability keys of each frequency are reported, exactly, without any data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from rich.console import Console

from ...accounting.enclosures import Enclosure
from ...accounting.errors import InvalidValue
from ...accounting.exact import ratio_text
from ...accounting.provenance import Public
from ...durable.files import write_whole
from ...weighted_sampling.release import PrivateWeightedSampling, in_words
from ...weighted_sampling.tables import ReportingTable
from ..output import Output
from ..outputs import check_places
from .scheme import check_new, plugin_as_json, sampler_of, whole_option

_MOST_ROWS = 1_000_000


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    epsilon: str
    delta: str
    max_frequency: str
    scheme: str | None
    threshold: str | None
    power: str | None
    frequencies: bool
    user_bound: str | None
    plot: Path | None
    overwrite: bool


def run(request: Request, output: Output) -> None:
    """Build, prove and print."""
    check_new("plot", request.plot, request.overwrite)
    check_places(None, {"plot": request.plot})
    last = whole_option("max-frequency", request.max_frequency)
    if last is None or last > _MOST_ROWS:
        raise InvalidValue("max-frequency", request.max_frequency, f"at most {_MOST_ROWS:,} rows", "Ask for fewer")
    threshold = None if request.threshold is None else Public(request.threshold)
    sampling = PrivateWeightedSampling.within(
        epsilon=request.epsilon,
        delta=request.delta,
        sampler=sampler_of(request.scheme, threshold, request.power),
        frequencies=request.frequencies,
        contributions=whole_option("user-bound", request.user_bound),
    )
    table = sampling.table(last)
    if request.plot is not None:
        from ...weighted_sampling.table_pictures import plot_table

        write_whole(request.plot, plot_table(table))
    guarantee = sampling.guarantee
    data = {
        "mechanism": plugin_as_json(sampling.mechanism),
        "sampler": plugin_as_json(sampling.sampler),
        "epsilon": [None, guarantee.bound.epsilon.upper_float],
        "delta": [None, guarantee.bound.delta.upper_float],
        "unit": guarantee.unit.name,
        "contributions": sampling.contributions,
        "relation": guarantee.relation.name,
        "bits": sampling.reporting.budget.bits,
        "max_frequency": last,
        "pi": [_outward(Enclosure.of(row.reported)) for row in table.rows],
        "pi_exact": [ratio_text(row.reported) for row in table.rows],
        "q": [_outward(row.rate) for row in table.rows],
        "loss": [_outward(row.loss) for row in table.rows],
        "plot": None if request.plot is None else str(request.plot),
    }
    said = in_words(sampling.stated_guarantee, sampling.contributions)
    output.show(data, lambda console: _print(console, data, said, table))


def _outward(value: Enclosure) -> list[float]:
    """The ends of a number ≥ 0 in binary64."""
    return [max(0.0, value.lower_float), value.upper_float]


def _print(console: Console, data: Mapping[str, Any], said: str, table: ReportingTable) -> None:
    console.print(f"[bold]{data['mechanism']['name']}[/bold] on keys sampled by [bold]{data['sampler']['name']}[/bold]")
    console.print(f"  {said}", markup=False)
    console.print(f"  probabilities are whole units of 2^-{data['bits']}", markup=False)
    console.print(str(table), markup=False, soft_wrap=True)
    if data["plot"] is not None:
        console.print(f"plot: {data['plot']}", markup=False, soft_wrap=True)
