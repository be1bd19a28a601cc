"""`certdp pws sample`, `merge` and `sanitize`: samples with true frequencies, and what is made of them.

Whatever happens to the data between sampling and sanitising, only what `sanitize` writes is private.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen
from rich.console import Console

from ...accounting.errors import InvalidValue
from ...accounting.provenance import Public
from ...durable.files import Rank, published
from ...plugins.contract import Coins, KeySampler
from ...weighted_sampling.counts import open_counts
from ...weighted_sampling.release import PrivateWeightedSampling
from ...weighted_sampling.sample_files import put_sample
from ...weighted_sampling.threshold_samples import (
    ByThreshold,
    CoinSource,
    KeyHash,
    SeedOrder,
    ThresholdSample,
    bottom_k_sample,
    merge,
    threshold_sample,
)
from ..output import Output
from ..outputs import check_places, checked_certificate
from .release import print_release, shown_release
from .scheme import check_new, check_sample_place, sample_places, sampler_of, whole_option

_NOTICE = "computed from the data, with true frequencies: for the data's owner only, not for publication"
_ORDERS: Mapping[str | None, SeedOrder] = {
    None: SeedOrder.PPSWOR,
    "ppswor": SeedOrder.PPSWOR,
    "pps": SeedOrder.PRIORITY,
}


@frozen(kw_only=True)
class SampleRequest:
    """The arguments of `certdp pws sample`."""

    counts: Path
    key: str | None
    count: str | None
    aggregate: bool
    scheme: str | None
    power: str | None
    threshold: str | None
    bottom: str | None
    coordinated: str | None
    seed: int | None
    output: Path
    overwrite: bool


@frozen(kw_only=True)
class MergeRequest:
    """The arguments of `certdp pws merge`."""

    first: Path
    second: Path
    output: Path
    overwrite: bool


@frozen(kw_only=True)
class SanitizeRequest:
    """The arguments of `certdp pws sanitize`."""

    sample: Path
    epsilon: str
    delta: str
    frequencies: bool
    max_frequency: str | None
    user_bound: str | None
    output: Path
    overwrite: bool
    certificate: Path | None


def run_sample(request: SampleRequest, output: Output) -> None:
    """Draw a sample with true frequencies."""
    _check_output(request.counts, request.output, request.overwrite)
    coins = _coins(request)
    bottom = whole_option("bottom", request.bottom)
    sampler = _sampler(request) if bottom is None else None
    with open_counts(request.counts, aggregate=request.aggregate, key=request.key, count=request.count) as stream:
        if sampler is not None:
            sample = threshold_sample(stream.chunks(), sampler, coins)
        else:
            assert bottom is not None
            sample = bottom_k_sample(
                stream.chunks(), bottom, order=_order(request), power=request.power or 1, coins=coins
            )
    _written(sample, request.output, request.overwrite, output)


def run_merge(request: MergeRequest, output: Output) -> None:
    """Merge samples of data without a common key."""
    _check_output(request.first, request.output, request.overwrite)
    _check_output(request.second, request.output, request.overwrite)
    merged = merge(ThresholdSample.read(request.first), ThresholdSample.read(request.second))
    _written(merged, request.output, request.overwrite, output)


def run_sanitize(request: SanitizeRequest, output: Output) -> None:
    """Make a sample private."""
    places = {**sample_places(request.output), "certificate": request.certificate}
    for name, path in places.items():
        check_new(name, path, request.overwrite)
    check_sample_place(request.output)
    check_places(request.sample, places)
    sample = ThresholdSample.read(request.sample)
    sample.require_sanitisable()
    sampling = PrivateWeightedSampling.within(
        epsilon=request.epsilon,
        delta=request.delta,
        sampler=_sampler_of(sample),
        frequencies=request.frequencies,
        largest=whole_option("max-frequency", request.max_frequency),
        contributions=whole_option("user-bound", request.user_bound),
    )
    certificate = None
    if request.certificate is not None:
        certificate = checked_certificate("certificate", sampling.certificate())
    released = sampling.sanitise(sample)
    with published() as files:
        if request.certificate is not None and certificate is not None:
            files.write(request.certificate, certificate, Rank.STATEMENT)
        put_sample(files, request.output, released.to_arrow(), released.statement, overwrite=request.overwrite)
    data = {
        **shown_release(sampling, released, request.output, request.certificate),
        "private": {"notice": _NOTICE, "sampled": len(sample)},
    }

    def for_people(console: Console) -> None:
        print_release(console, data, released)
        console.print("\n[bold]for the data's owner only, not for publication[/bold]")
        console.print(f"  {len(sample):,} keys had been sampled", highlight=False)

    output.show(data, for_people)


def _check_output(source: Path, place: Path, overwrite: bool) -> None:
    for name, path in sample_places(place).items():
        check_new(name, path, overwrite)
    check_sample_place(place)
    check_places(source, sample_places(place))


def _coins(request: SampleRequest) -> CoinSource:
    if request.coordinated is not None:
        if request.seed is not None:
            raise InvalidValue("seed", request.seed, "nothing beside --coordinated", "State one of the two")
        return KeyHash(request.coordinated.encode())
    return Coins() if request.seed is None else Coins.seeded(request.seed)


def _sampler(request: SampleRequest) -> KeySampler:
    threshold = None if request.threshold is None else Public(request.threshold)
    return sampler_of(request.scheme, threshold, request.power)


def _order(request: SampleRequest) -> SeedOrder:
    if request.threshold is not None:
        raise InvalidValue("threshold", request.threshold, "nothing beside --bottom", "State one of the two")
    if request.scheme not in _ORDERS:
        raise InvalidValue("scheme", request.scheme, "ppswor or pps, with --bottom", "Choose one of them")
    return _ORDERS[request.scheme]


def _sampler_of(sample: ThresholdSample) -> KeySampler:
    match sample.rule:
        case ByThreshold(sampler=sampler):
            return sampler
    raise InvalidValue("sample", sample.rule, "a sample that was drawn by threshold", "Draw one by threshold")


def _written(sample: ThresholdSample, place: Path, overwrite: bool, output: Output) -> None:
    sample.write(place, overwrite=overwrite)
    statement = sample.statement.to_json()
    refusal, rule, coins = _refusal(sample), statement["rule"]["name"], statement["coins"]
    data = {
        "is_private": False,
        "sampler": statement["sampler"],
        "rule": statement["rule"],
        "coins": coins,
        "sanitisable": refusal is None,
        "output": str(place),
        "private": {"notice": _NOTICE, "sampled": len(sample)},
    }

    def for_people(console: Console) -> None:
        console.print(f"[bold]not private[/bold]: {len(sample):,} keys by {rule}, {coins} coins", highlight=False)
        console.print(f"  {_NOTICE}", markup=False, soft_wrap=True)
        way = "certdp pws sanitize makes it private" if refusal is None else f"It cannot be made private: {refusal}"
        console.print(f"  {way}", markup=False, soft_wrap=True)
        console.print(f"sample: {place}", markup=False, soft_wrap=True)

    output.show(data, for_people)


def _refusal(sample: ThresholdSample) -> str | None:
    """Why no sanitiser makes the sample private; None where one does."""
    try:
        sample.require_sanitisable()
    except InvalidValue as refused:
        return refused.remedy
    return None
