"""`certdp pws estimate`: sums, keys, ranks and quantiles from a sample, without the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from attrs import asdict, frozen

from ...accounting.errors import InvalidValue
from ...accounting.exact import exact
from ...accounting.keyed.estimates import Cap, Count, NamedStatistic, Power, Total
from ...durable.files import write_whole
from ...weighted_sampling.estimation import (
    LikelyKey,
    QuantileEstimate,
    RankEstimate,
    SampleEstimates,
    SumEstimate,
    estimate_unsanitised_sum,
)
from ...weighted_sampling.release import PrivateSample
from ...weighted_sampling.sample_files import read_sample
from ...weighted_sampling.selections import Every, selection
from ...weighted_sampling.threshold_samples import ThresholdSample
from ..answer import Answer, path_as_json
from ..answering import application
from ..options import Overwrite, Plot, refuse_unused, whole, whole_or_none
from ..outputs import check_places
from ..page import Page
from .scheme import check_new

STATISTICS = "sum, count, power=P or cap=M"
_NOTICE = "computed from true frequencies: for the data's owner, not for publication"


@frozen(kw_only=True)
class UnsanitisedSum(Answer):
    """A sum over a sample with true frequencies: for the data's owner.

    Attributes:
        sample: its file.
        where: the predicates.
        total: the sum.
    """

    sample: Path
    where: Sequence[str]
    total: SumEstimate

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        private = {"notice": _NOTICE, **asdict(self.total)}
        return {"sample": str(self.sample), "where": list(self.where), "is_private": False, "private": private}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.owners_heading()
        page.copy(str(self.total))


@frozen(kw_only=True)
class Estimates(Answer):
    """What a private sample tells; None where something was not asked.

    Attributes:
        place: the file of the sample.
        where: the predicates.
        sample: the sample.
        total: the sum that was asked for.
        top: the most frequent keys.
        quantiles: of frequencies.
        rank: of a key.
        kendall: how well tokens keep the order of frequencies.
        plot: where it is.
    """

    place: Path
    where: Sequence[str]
    sample: PrivateSample
    total: SumEstimate
    top: Sequence[LikelyKey] | None
    quantiles: Sequence[QuantileEstimate] | None
    rank: RankEstimate | None
    kendall: float | None
    plot: Path | None

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types; a key for what was asked alone."""
        asked: dict[str, object] = {
            "top": None if self.top is None else [{**asdict(key), "key": _text(key.key)} for key in self.top],
            "quantiles": None if self.quantiles is None else [asdict(one) for one in self.quantiles],
            "rank": None if self.rank is None else asdict(self.rank),
            "kendall": self.kendall,
            "plot": path_as_json(self.plot),
        }
        return {
            "sample": str(self.place),
            "where": list(self.where),
            "is_private": self.sample.statement.private,
            "reported": len(self.sample),
            "sum": asdict(self.total),
            **{name: value for name, value in asked.items() if value is not None},
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.copy(str(self.sample))
        page.copy(str(self.total))
        if self.top is not None:
            page.print("\nmost frequent keys: the likeliest frequency, and what it is for certain")
            page.table(("key", "likeliest", "at least", "at most"), map(_row, self.top), figures=True)
        if self.quantiles is not None:
            page.print("\nfrequencies of keys, without those too infrequent to be in the sample")
            for one in self.quantiles:
                page.print(f"{one.level:g} of them: at most {one.frequency:,} ({one.low:,} to {one.high:,})", 2)
        if self.rank is not None:
            rank = self.rank
            page.print(
                f"\nrank of {_text(rank.key)}: about {rank.rank:,.1f} ± {rank.standard_error:,.1f} among all keys, "
                f"{rank.best:,} to {rank.worst:,} among those reported for certain"
            )
        if self.kendall is not None:
            page.print(f"\norder of tokens: expected Kendall τ {self.kendall:.4f} with the order of frequencies")
        page.files({"plot": self.plot})


def _row(key: LikelyKey) -> tuple[str, str, str, str]:
    most = "" if key.most is None else f"{key.most:,}"
    return _text(key.key), f"{key.likeliest:,}", f"{key.least:,}", most


def estimate(
    sample: Annotated[
        Path,
        typer.Argument(metavar="SAMPLE", help="A sample of `certdp pws release`, `sanitise`, `sample` or `merge`."),
    ],
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREDICATE",
            help="Which keys: 'key = TEXT', 'key ~ REGEX', 'key in FILE', or starts, ends or contains in place of =; "
            "'key not …' negates. Repeatable: all must hold.",
        ),
    ] = None,
    statistic: Annotated[
        str, typer.Option(metavar="G", help="What is summed over keys: sum, count, power=P or cap=M of frequencies.")
    ] = "sum",
    population: Annotated[
        str | None, typer.Option(metavar="N", help="Public number of keys of the data that the predicates select.")
    ] = None,
    top: Annotated[str | None, typer.Option(metavar="K", help="List the K most frequent keys.")] = None,
    quantiles: Annotated[
        str | None, typer.Option(metavar="Q,…", help="Quantiles of the frequencies of keys, such as 0.5,0.9.")
    ] = None,
    rank: Annotated[str | None, typer.Option(metavar="KEY", help="Rank of a reported key.")] = None,
    kendall: Annotated[
        bool, typer.Option("--kendall", help="How well tokens keep the order of frequencies: expected Kendall τ.")
    ] = False,
    plot: Plot = None,
    overwrite: Overwrite = False,
) -> Answer:
    """Sums, keys, ranks and quantiles from a sample alone: estimates, which cost nothing more."""
    check_new("plot", plot, overwrite)
    check_places(sample, {"plot": plot})
    predicates = where or []
    summed, selected = _statistic(statistic), Every(tuple(map(selection, predicates)))
    _, statement = read_sample(sample)
    if statement.mechanism is None:
        beside = {"population": population, "top": top, "quantiles": quantiles, "rank": rank}
        refuse_unused(
            {**beside, "kendall": kendall or None, "plot": plot},
            "for a sample with true frequencies",
            "Only sums are estimated from it; certdp pws sanitise makes it private",
        )
        found = estimate_unsanitised_sum(ThresholdSample.read(sample), selected, summed).reveal()
        return UnsanitisedSum(sample=sample, where=predicates, total=found)
    private = PrivateSample.read(sample)
    estimates = SampleEstimates.of(private)
    listed = whole_or_none("top", top)
    answer = Estimates(
        place=sample,
        where=predicates,
        sample=private,
        total=estimates.sum(selected, summed, population=whole_or_none("population", population, 0)),
        top=None if listed is None else estimates.top(listed, selected),
        quantiles=None if quantiles is None else estimates.quantiles(quantiles.split(","), selected),
        rank=None if rank is None else estimates.rank(rank),
        kendall=estimates.kendall() if kendall else None,
        plot=plot,
    )
    if plot is not None:
        from ...weighted_sampling.pictures import plot_estimates

        write_whole(plot, plot_estimates(estimates, summed))
    return answer


def _statistic(text: str) -> NamedStatistic:
    name, sign, value = text.partition("=")
    makers: Mapping[str, Callable[[], NamedStatistic]] = {
        "sum": Total,
        "count": Count,
        "power=": lambda: Power(exact(value, parameter="statistic")),
        "cap=": lambda: Cap(whole("statistic", value)),
    }
    if name + sign not in makers or (sign and not value):
        raise InvalidValue("statistic", text, STATISTICS, "Write it like --statistic power=0.5")
    return makers[name + sign]()


def _text(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode("utf-8", "backslashreplace")


command = application(estimate, about_data=True)
