"""`certdp pws release`: from a file of keys and counts to a private weighted sample."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import frozen
from rich.progress import SpinnerColumn, TextColumn

from ...accounting.errors import InvalidValue
from ...accounting.exact import exact
from ...accounting.provenance import Declared, Public
from ...durable.files import Rank, published
from ...plugins.contract import Coins
from ...verification.certificates.artefacts import with_digests
from ...weighted_sampling.counts import CountStream, KeyCounts, open_counts
from ...weighted_sampling.drawing import Drawn
from ...weighted_sampling.release import PrivateSample, PrivateWeightedSampling
from ...weighted_sampling.report import BandTally, SampleReport
from ...weighted_sampling.sample_files import put_sample
from ...weighted_sampling.sizes import TotalSize, threshold_of_size
from ..answer import Answer, assumptions_as_json, path_as_json
from ..answering import application
from ..options import AnySeed, Certificate, Epsilon, Output, Overwrite, whole_or_none
from ..output import Terminal
from ..outputs import check_places, checked_certificate
from ..page import Page
from ..paying import LedgerOptions, Payer, among
from ..progress import watched
from .options import (
    Aggregate,
    CountColumn,
    Counts,
    Delta,
    Frequencies,
    KeyColumn,
    MaxFrequency,
    Power,
    Scheme,
    Threshold,
    UserBound,
)
from .scheme import (
    check_new,
    check_sample_place,
    needs_threshold,
    plugin_as_json,
    sample_places,
    sampler_of,
)


@frozen(kw_only=True)
class Released:
    """What may be known of a release.

    Attributes:
        sampling: how it was made.
        sample: what was reported.
        output: where it is.
        certificate: where it is.
    """

    sampling: PrivateWeightedSampling
    sample: PrivateSample
    output: Path
    certificate: Path | None

    def as_json(self) -> dict[str, object]:
        """Return the answer for programs, in JSON's types."""
        sampling, statement, guarantee = self.sampling, self.sample.statement, self.sampling.guarantee
        private = statement.private
        return {
            "mechanism": plugin_as_json(sampling.mechanism),
            "sampler": plugin_as_json(sampling.sampler),
            "is_private": private,
            "coins": statement.coins.value,
            "epsilon": [None, guarantee.bound.epsilon.upper_float] if private else None,
            "delta": [None, guarantee.bound.delta.upper_float] if private else None,
            "unit": guarantee.unit.name,
            "contributions": sampling.contributions,
            "relation": guarantee.relation.name,
            "theorem": str(guarantee.derivation) if private else None,
            "assumptions": assumptions_as_json(guarantee.assumptions) if private else [],
            "with_frequencies": sampling.reporting.with_frequencies,
            "reported": len(self.sample),
            "output": str(self.output),
            "certificate": path_as_json(self.certificate),
        }

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.print(str(self.sample), style="bold")
        page.files({"sample": self.output, "certificate": self.certificate})
        if self.sample.statement.private:
            page.assumptions(self.sampling.guarantee.assumptions)


@frozen(kw_only=True)
class ReleasedAndReported(Answer):
    """A release, and the private report of how it came out.

    Attributes:
        released: what may be known.
        place: where the report was written, or None.
        report: for the data's owner.
    """

    released: Released
    place: Path | None
    report: SampleReport

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        owner_report = path_as_json(self.place)
        return {**self.released.as_json(), "owner_report": owner_report, "private": self.report.as_json()}

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        self.released.show(page)
        page.blank()
        page.copy(str(self.report))
        page.files({"owner report": self.place})


def release(
    counts: Counts,
    epsilon: Epsilon,
    delta: Delta,
    output: Output,
    terminal: Terminal,
    scheme: Scheme = None,
    power: Power = None,
    threshold: Threshold = None,
    size: Annotated[
        str | None, typer.Option(metavar="K", help="Sample about K keys before they are sanitised: τ = K/S.")
    ] = None,
    total: Annotated[
        str | None, typer.Option(metavar="S", help="Total size of all keys, where it was public before the data.")
    ] = None,
    total_epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Release the total size with noise, which costs this ε more.")
    ] = None,
    frequencies: Frequencies = False,
    max_frequency: MaxFrequency = None,
    user_bound: UserBound = None,
    key: KeyColumn = None,
    count: CountColumn = None,
    aggregate: Aggregate = False,
    overwrite: Overwrite = False,
    certificate: Certificate = None,
    owner_report: Annotated[
        Path | None, typer.Option(metavar="OUT.json", help="Write the private report for the data's owner here.")
    ] = None,
    seed: AnySeed = None,
    *,
    paid_from: LedgerOptions,
) -> Answer:
    """Sample and sanitise keys in one pass over a file.

    The sample is written to --output: .parquet, .csv or .tsv.
    """
    places = {**sample_places(output), "certificate": certificate, "owner-report": owner_report}
    paid_from.refuse(places)
    sizes = _Size(scheme=scheme, power=power, threshold=threshold, size=size, total=total, total_epsilon=total_epsilon)

    def released(payer: Payer) -> ReleasedAndReported:
        overwrites = overwrite or payer.is_done
        for name, path in places.items():
            check_new(name, path, overwrites)
        check_sample_place(output)
        check_places(counts, places)
        coins = _coins(seed, certificate)
        contributions = whole_or_none("user-bound", user_bound)
        largest = whole_or_none("max-frequency", max_frequency)
        if payer.request is not None:
            sizes.require_drawn_once()
        with open_counts(counts, aggregate=aggregate, key=key, count=count) as stream:
            found = sizes.threshold_of(stream, largest, contributions or 1, coins)
            sampling = PrivateWeightedSampling.within(
                epsilon=epsilon,
                delta=delta,
                sampler=sampler_of(scheme, found, power),
                frequencies=frequencies,
                largest=largest,
                contributions=contributions,
            )
            content = None if certificate is None else checked_certificate("certificate", sampling.certificate())
            tally = BandTally(sampling.reporting)
            with watched(terminal, None, SpinnerColumn(), TextColumn("{task.completed:,} keys")) as bar:

                def watch(chunk: KeyCounts, drawn: Drawn) -> None:
                    tally.add(chunk.counts, drawn.kept)
                    if bar is not None:
                        bar.add(len(chunk))

                sample = sampling.release_chunks(stream, coins, watch=watch, ledger=payer.request)
        report = tally.report().reveal()
        with published() as files:  # the sample comes last: where it is, everything is
            if owner_report is not None:
                text = json.dumps(report.as_json(), indent=2, ensure_ascii=False, allow_nan=False)
                files.write(owner_report, text.encode("utf-8"), Rank.RECORD, secret=True)
            put_sample(files, output, sample.to_arrow(), sample.statement, overwrite=overwrites)
            if certificate is not None and content is not None:
                files.write(certificate, with_digests(content, files.digests()), Rank.STATEMENT)
            payer.hand_in(files)
        made = Released(sampling=sampling, sample=sample, output=output, certificate=certificate)
        return ReleasedAndReported(released=made, place=owner_report, report=report)

    return paid_from.released(released, among([*sample_places(output).values(), certificate]))


def _coins(seed: int | None, certificate: Path | None) -> Coins:
    if seed is None:
        return Coins()
    if certificate is not None:
        raise InvalidValue("seed", seed, "nothing beside --certificate", "A seeded run guarantees nothing")
    return Coins.seeded(seed)


@frozen(kw_only=True)
class _Size:
    """What says how large a sample is, as stated; None where it is not."""

    scheme: str | None
    power: str | None
    threshold: str | None
    size: str | None
    total: str | None
    total_epsilon: str | None

    def require_drawn_once(self) -> None:
        """Refuse, for a release that is paid from a ledger, a size that is drawn before what it costs is known."""
        if self.total_epsilon is not None:
            remedy = "State --total S, or release the total by a request of its own, and state --threshold"
            raise InvalidValue("total-epsilon", self.total_epsilon, "nothing beside --ledger", remedy)

    def threshold_of(
        self, stream: CountStream, largest: int | None, contributions: int, coins: Coins
    ) -> Declared[Any] | None:
        """τ, stated or from a size; None where none is asked for.

        Raises:
            InvalidValue: for options that contradict each other or lack another one.
        """
        sizing = {"size": self.size, "total": self.total, "total-epsilon": self.total_epsilon}
        given = [name for name, value in sizing.items() if value is not None]
        if self.size is None:
            if given:
                raise InvalidValue(given[0], str(sizing[given[0]]), "nothing, without --size", "State --size K too")
            return None if self.threshold is None else Public(self.threshold)
        if self.threshold is not None:
            raise InvalidValue("size", self.size, "nothing beside --threshold", "State one of the two")
        if not needs_threshold(self.scheme, self.size):
            raise InvalidValue("size", self.size, "nothing, where every key is kept", "Choose --scheme ppswor or pps")
        if self.total is not None and self.total_epsilon is not None:
            raise InvalidValue("total", self.total, "nothing beside --total-epsilon", "State one of the two")
        if self.total is not None:
            return threshold_of_size(self.size, Public(self.total))
        if self.total_epsilon is None:
            raise InvalidValue(
                "total",
                "nothing",
                "the total size of all keys, where it is public",
                "State --total S if it was known before the data, or let it be released: --total-epsilon E",
            )
        statistic = TotalSize(power=self.power or 1, largest=largest)
        spent = exact(self.total_epsilon, parameter="total-epsilon")
        if spent <= 0:
            raise InvalidValue("total-epsilon", self.total_epsilon, "a number > 0", "A release costs some ε")
        steps = sum(statistic.steps(chunk.counts) for chunk in stream.chunks())
        # pure ε for a user of c elements is c times that for one
        return threshold_of_size(self.size, statistic.released(steps, spent / contributions, coins))


command = application(release, about_data=True)
