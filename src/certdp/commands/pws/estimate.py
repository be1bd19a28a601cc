"""`certdp pws estimate`: sums, keys, ranks and quantiles from a sample, without the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, frozen
from rich.console import Console
from rich.table import Table

from ...accounting.errors import InvalidValue
from ...accounting.exact import exact
from ...accounting.keyed.estimates import Cap, Count, NamedStatistic, Power, Total
from ...durable.files import write_whole
from ...weighted_sampling.estimation import LikelyKey, SampleEstimates, SumEstimate, estimate_unsanitised_sum
from ...weighted_sampling.release import PrivateSample
from ...weighted_sampling.sample_files import read_sample
from ...weighted_sampling.selections import GRAMMAR as GRAMMAR
from ...weighted_sampling.selections import Every, selection
from ...weighted_sampling.threshold_samples import ThresholdSample
from ..output import Output
from ..outputs import check_places
from .scheme import check_new, whole_option

STATISTICS = "sum, count, power=P or cap=M"
_NOTICE = "computed from true frequencies: for the data's owner, not for publication"


@frozen(kw_only=True)
class Request:
    """The command's arguments.

    Attributes:
        sample: a file of `certdp pws release`, `sanitize`, `sample` or `merge`.
        where: predicates on keys, all of which must hold, as `GRAMMAR` says.
        statistic: one of `STATISTICS`.
        population: a public number of keys for which `where` holds.
        top: how many of the most frequent keys are listed.
        quantiles: levels with commas.
        rank: a reported key.
        order: whether to say how well tokens keep the order of frequencies.
        plot: where a picture is written.
        overwrite: whether it may be replaced.
    """

    sample: Path
    where: list[str]
    statistic: str
    population: str | None
    top: str | None
    quantiles: str | None
    rank: str | None
    order: bool
    plot: Path | None
    overwrite: bool


def run(request: Request, output: Output) -> None:
    """Read, estimate and print."""
    check_new("plot", request.plot, request.overwrite)
    check_places(request.sample, {"plot": request.plot})
    statistic, where = _statistic(request.statistic), Every(tuple(map(selection, request.where)))
    asked = {"sample": str(request.sample), "where": request.where}
    _, statement = read_sample(request.sample)
    if statement.mechanism is None:
        _only_sums(request)
        found = estimate_unsanitised_sum(ThresholdSample.read(request.sample), where, statistic).reveal()
        data: dict[str, Any] = {**asked, "is_private": False, "private": {"notice": _NOTICE, **asdict(found)}}
        output.show(data, lambda console: _print_private(console, found))
        return
    sample = PrivateSample.read(request.sample)
    estimates = SampleEstimates.of(sample)
    total = estimates.sum(where, statistic, population=whole_option("population", request.population, 0))
    data = {**asked, "is_private": statement.private, "reported": len(sample), "sum": asdict(total)}
    top = whole_option("top", request.top)
    if top is not None:
        data["top"] = [_shown(key) for key in estimates.top(top, where)]
    if request.quantiles is not None:
        data["quantiles"] = [asdict(one) for one in estimates.quantiles(request.quantiles.split(","), where)]
    if request.rank is not None:
        data["rank"] = asdict(estimates.rank(request.rank))
    if request.order:
        data["kendall"] = estimates.kendall()
    if request.plot is not None:
        from ...weighted_sampling.pictures import plot_estimates

        write_whole(request.plot, plot_estimates(estimates, statistic))
        data["plot"] = str(request.plot)
    output.show(data, lambda console: _print(console, data, sample, total))


def _statistic(text: str) -> NamedStatistic:
    name, sign, value = text.partition("=")
    makers: Mapping[str, Callable[[], NamedStatistic]] = {
        "sum": Total,
        "count": Count,
        "power=": lambda: Power(exact(value, parameter="statistic")),
        "cap=": lambda: Cap(whole_option("statistic", value) or 1),
    }
    if name + sign not in makers or (sign and not value):
        raise InvalidValue("statistic", text, STATISTICS, "Write it like --statistic power=0.5")
    return makers[name + sign]()


def _only_sums(request: Request) -> None:
    asked = {
        "population": request.population,
        "top": request.top,
        "quantiles": request.quantiles,
        "rank": request.rank,
        "order": request.order or None,
        "plot": request.plot,
    }
    for name, value in asked.items():
        if value is not None:
            raise InvalidValue(
                name,
                str(value),
                "nothing, for a sample with true frequencies",
                "Only sums are estimated from it; certdp pws sanitize makes it private",
            )


def _shown(key: LikelyKey) -> dict[str, Any]:
    return {**asdict(key), "key": _text(key.key)}


def _text(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode("utf-8", "backslashreplace")


def _print_private(console: Console, found: SumEstimate) -> None:
    console.print("[bold]for the data's owner only, not for publication[/bold]")
    console.print(str(found), markup=False, soft_wrap=True)


def _print(console: Console, data: Mapping[str, Any], sample: PrivateSample, total: SumEstimate) -> None:
    console.print(str(sample), markup=False, soft_wrap=True)
    console.print(str(total), markup=False, soft_wrap=True)
    if "top" in data:
        table = Table("key", "likeliest", "at least", "at most", box=None)
        for column in table.columns[1:]:
            column.justify = "right"
        for key in data["top"]:
            most = "" if key["most"] is None else f"{key['most']:,}"
            table.add_row(_plain(key["key"]), f"{key['likeliest']:,}", f"{key['least']:,}", most)
        console.print("\nmost frequent keys: the likeliest frequency, and what it is for certain")
        console.print(table)
    if "quantiles" in data:
        console.print("\nfrequencies of keys, without those too infrequent to be in the sample")
        for one in data["quantiles"]:
            console.print(
                f"  {one['level']:g} of them: at most {one['frequency']:,} ({one['low']:,} to {one['high']:,})"
            )
    if "rank" in data:
        rank = data["rank"]
        console.print(
            f"\nrank of {rank['key']}: about {rank['rank']:,.1f} ± {rank['standard_error']:,.1f} among all keys, "
            f"{rank['best']:,} to {rank['worst']:,} among those reported for certain",
            markup=False,
            soft_wrap=True,
        )
    if "kendall" in data:
        console.print(f"\norder of tokens: expected Kendall τ {data['kendall']:.4f} with the order of frequencies")
    if "plot" in data:
        console.print(f"plot: {data['plot']}", markup=False, soft_wrap=True)


def _plain(text: str) -> str:
    """Text that rich prints as it is."""
    from rich.markup import escape

    return escape(text)
