"""`certdp pws release`: from a file of keys and counts to a private weighted sample."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn

from ...accounting.errors import InvalidValue
from ...accounting.exact import exact
from ...accounting.provenance import Declared, Private, Public
from ...durable.files import Rank, published
from ...plugins.contract import Coins
from ...weighted_sampling.counts import CountStream, KeyCounts, open_counts
from ...weighted_sampling.drawing import Drawn
from ...weighted_sampling.release import PrivateSample, PrivateWeightedSampling
from ...weighted_sampling.report import BandTally, SampleReport
from ...weighted_sampling.sample_files import put_sample
from ...weighted_sampling.sizes import TotalSize, threshold_of_size
from ..output import Output
from ..outputs import check_places, checked_certificate
from .scheme import (
    check_new,
    check_sample_place,
    needs_threshold,
    plugin_as_json,
    sample_places,
    sampler_of,
    whole_option,
)


@frozen(kw_only=True)
class Request:
    """The command's arguments."""

    counts: Path
    key: str | None
    count: str | None
    aggregate: bool
    epsilon: str
    delta: str
    scheme: str | None
    power: str | None
    threshold: str | None
    size: str | None
    total: str | None
    total_epsilon: str | None
    frequencies: bool
    max_frequency: str | None
    user_bound: str | None
    output: Path
    overwrite: bool
    certificate: Path | None
    report: Path | None
    seed: int | None

    @property
    def places(self) -> Mapping[str, Path | None]:
        """Where something is to be written, by option."""
        return {**sample_places(self.output), "certificate": self.certificate, "report": self.report}


def run(request: Request, output: Output) -> None:
    """Prove and certify; then read, draw and write."""
    for name, path in request.places.items():
        check_new(name, path, request.overwrite)
    check_sample_place(request.output)
    check_places(request.counts, request.places)
    coins = _coins(request)
    contributions = whole_option("user-bound", request.user_bound)
    with open_counts(request.counts, aggregate=request.aggregate, key=request.key, count=request.count) as stream:
        threshold = _threshold(request, contributions or 1, stream, coins)
        sampling = PrivateWeightedSampling.within(
            epsilon=request.epsilon,
            delta=request.delta,
            sampler=sampler_of(request.scheme, threshold, request.power),
            frequencies=request.frequencies,
            largest=whole_option("max-frequency", request.max_frequency),
            contributions=contributions,
        )
        certificate = None
        if request.certificate is not None:
            certificate = checked_certificate("certificate", sampling.certificate())
        tally = BandTally(sampling.reporting)
        with _progress(output) as advance:

            def watch(chunk: KeyCounts, drawn: Drawn) -> None:
                tally.add(chunk.counts, drawn.kept)
                advance(len(chunk))

            sample = sampling.release_chunks(stream.chunks(), coins, watch=watch)
    private = tally.report()
    _write(request, sample, certificate, private)
    _show(request, sampling, sample, private, output)


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[int], None]]:
    """How many keys have been read, where someone watches."""
    terminal = Console(stderr=True)
    if output.as_json or not terminal.is_terminal:
        yield lambda keys: None
        return
    parts = (SpinnerColumn(), TextColumn("{task.completed:,} keys"))
    with Progress(*parts, console=terminal, transient=True) as bar:
        task = bar.add_task("keys", total=None)
        yield lambda keys: bar.update(task, advance=keys)


def _coins(request: Request) -> Coins:
    if request.seed is None:
        return Coins()
    if request.certificate is not None:
        raise InvalidValue("seed", request.seed, "nothing beside --certificate", "A seeded run guarantees nothing")
    return Coins.seeded(request.seed)


def _threshold(request: Request, contributions: int, stream: CountStream, coins: Coins) -> Declared[Any] | None:
    """τ, stated or from a size; None where none is asked for.

    Raises:
        InvalidValue: for options that contradict each other or lack another one.
    """
    sizing = {"size": request.size, "total": request.total, "total-epsilon": request.total_epsilon}
    given = [name for name, value in sizing.items() if value is not None]
    if request.size is None:
        if given:
            raise InvalidValue(given[0], str(sizing[given[0]]), "nothing, without --size", "State --size K too")
        return None if request.threshold is None else Public(request.threshold)
    if request.threshold is not None:
        raise InvalidValue("size", request.size, "nothing beside --threshold", "State one of the two")
    if not needs_threshold(request.scheme, request.size):
        raise InvalidValue("size", request.size, "nothing, where every key is kept", "Choose --scheme ppswor or pps")
    if request.total is not None and request.total_epsilon is not None:
        raise InvalidValue("total", request.total, "nothing beside --total-epsilon", "State one of the two")
    if request.total is not None:
        return threshold_of_size(request.size, Public(request.total))
    if request.total_epsilon is None:
        raise InvalidValue(
            "total",
            "nothing",
            "the total size of all keys, where it is public",
            "State --total S if it was known before the data, or let it be released: --total-epsilon E1",
        )
    statistic = TotalSize(power=request.power or 1, largest=whole_option("max-frequency", request.max_frequency))
    spent = exact(request.total_epsilon, parameter="total-epsilon")
    if spent <= 0:
        raise InvalidValue("total-epsilon", request.total_epsilon, "a number > 0", "A release costs some ε")
    steps = sum(statistic.steps(chunk.counts) for chunk in stream.chunks())
    # pure ε for a user of c elements is c times that for one
    return threshold_of_size(request.size, statistic.released(steps, spent / contributions, coins))


def _write(request: Request, sample: PrivateSample, certificate: bytes | None, private: Private[SampleReport]) -> None:
    """The sample comes last: where it is, everything is."""
    with published() as files:
        if request.certificate is not None and certificate is not None:
            files.write(request.certificate, certificate, Rank.STATEMENT)
        if request.report is not None:
            text = json.dumps(private.reveal().as_json(), indent=2, ensure_ascii=False, allow_nan=False)
            files.write(request.report, text.encode("utf-8"), Rank.RECORD, secret=True)
        put_sample(files, request.output, sample.to_arrow(), sample.statement, overwrite=request.overwrite)


def shown_release(
    sampling: PrivateWeightedSampling, sample: PrivateSample, output: Path, certificate: Path | None
) -> dict[str, Any]:
    """What may be known of a release, as JSON."""
    guarantee = sampling.guarantee
    private = sample.statement.private
    return {
        "mechanism": plugin_as_json(sampling.mechanism),
        "sampler": plugin_as_json(sampling.sampler),
        "is_private": private,
        "coins": sample.statement.coins.value,
        "epsilon": [None, guarantee.bound.epsilon.upper_float] if private else None,
        "delta": [None, guarantee.bound.delta.upper_float] if private else None,
        "unit": guarantee.unit.name,
        "contributions": sampling.contributions,
        "relation": guarantee.relation.name,
        "theorem": str(guarantee.derivation) if private else None,
        "assumptions": [{"name": a.name, "value": a.value} for a in guarantee.assumptions] if private else [],
        "with_frequencies": sampling.reporting.with_frequencies,
        "reported": len(sample),
        "output": str(output),
        "certificate": None if certificate is None else str(certificate),
    }


def print_release(console: Console, data: Mapping[str, Any], sample: PrivateSample) -> None:
    """The same for people."""
    console.print(str(sample), style="bold", markup=False, soft_wrap=True)
    if data["is_private"]:
        console.print("  assumptions")
    for item in data["assumptions"]:
        console.print(f"    {item['name']}" + (f" = {item['value']}" if item["value"] else ""), markup=False)
    console.print(f"sample: {data['output']}", markup=False, soft_wrap=True)
    if data["certificate"] is not None:
        console.print(f"certificate: {data['certificate']}", markup=False, soft_wrap=True)


def _show(
    request: Request,
    sampling: PrivateWeightedSampling,
    sample: PrivateSample,
    private: Private[SampleReport],
    output: Output,
) -> None:
    report = private.reveal()
    data = {
        **shown_release(sampling, sample, request.output, request.certificate),
        "report": None if request.report is None else str(request.report),
        "private": report.as_json(),
    }

    def for_people(console: Console) -> None:
        print_release(console, data, sample)
        console.print()
        console.print(str(report), markup=False, soft_wrap=True)

    output.show(data, for_people)
