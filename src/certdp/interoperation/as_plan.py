"""An event as a plan of the library's own mechanisms and samplers, which certificates state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from attrs import evolve, frozen

from ..accounting.errors import InvalidValue
from ..accounting.norms import Norm
from ..accounting.provenance import Public
from ..accounting.relations import ADD_REMOVE, Change, Record
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import ResampleEach, SampleOnce
from ..mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplaceSum
from ..mechanisms.gaussian_sum import GaussianSum
from ..mechanisms.laplace_sum import LaplaceSum
from ..mechanisms.randomised_response import RandomisedResponse as Responses
from ..plugins.contract import Mechanism, Sampler
from ..runs.plan import Plan
from ..runs.sampled import SampledRun
from ..samplers.fixed_batches import FixedBatches
from ..samplers.full import Full
from ..samplers.poisson import Poisson
from ..samplers.truncated_poisson import TruncatedPoisson
from .batch_events import SampledWithoutReplacement, SingleEpochTreeAggregation, TruncatedSubsampledGaussian
from .events import (
    Composed,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    NoOp,
    PoissonSampled,
    RandomisedResponse,
    SelfComposed,
)

MOST_PARTS = 10_000
"""Parts of a plan that an event is written as."""

_BALL = NormBall(norm=Norm.L1, radius=Public(1))


@frozen
class _Releases:
    """Equal releases: so many on one sample, and so many such samples.

    Attributes:
        mechanism: of each release.
        domain: where its noise is stated over one.
        rate: with which probability a record enters a sample, independently.
        batches: how samples at that rate are drawn as a whole, where they are.
        together: releases on one sample.
        samples: how many samples.
    """

    mechanism: Mechanism
    domain: NormBall | None
    rate: Fraction = Fraction(1)
    together: int = 1
    samples: int = 1
    batches: TruncatedPoisson | FixedBatches | None = None

    @property
    def sampler(self) -> Sampler | TruncatedPoisson | FixedBatches:
        """Who draws."""
        if self.batches is not None:
            return self.batches
        return Full() if self.rate == 1 else Poisson(rate=Public(self.rate))


def plan_of(event: Event, relation: Change = ADD_REMOVE) -> Plan[Record]:
    """The releases of an event, as a plan; equal ones are put together.

    A record contributes a vector of ℓ1 norm at most 1 where noise is Laplace or discrete Laplace. A tree is as many
    releases on everything as one record is in sums of it.

    Args:
        event: what another tool described.
        relation: the change of the data that the plan protects against.

    Raises:
        InvalidValue: for what is no noise of a built-in mechanism, releases of several kinds on one sample, samples of
            one sample, an event that releases nothing, more than 10,000 parts, and a relation under which a mechanism
            or a sampler is not known, such as add/remove for randomised response.
    """
    found: Counter[_Releases] = Counter()
    for releases in _releases(event, relation):
        found[evolve(releases, samples=1)] += releases.samples
    parts = [
        part
        for releases, samples in found.items()
        for part in _parts(evolve(releases, samples=samples), len(found), relation)
    ]
    if not parts:
        raise InvalidValue("event", event.name, "an event that releases something")
    return Plan(parts)


def _releases(event: Event, relation: Change) -> Iterator[_Releases]:
    match event:
        case NoOp():
            return
        case Composed(events=events):
            for one in events:
                yield from _releases(one, relation)
        case SelfComposed(event=inner, count=count):
            if count:
                for once in _releases(inner, relation):
                    yield evolve(once, samples=once.samples * count)
        case PoissonSampled(sampling_probability=rate, event=inner):
            if rate == 1:
                yield from _releases(inner, relation)
            elif rate:
                yield from _on_a_sample(rate, list(_releases(inner, relation)))
        case TruncatedSubsampledGaussian(sampling_probability=rate, noise_multiplier=noise):
            if rate:
                cut = TruncatedPoisson(
                    rate=Public(rate),
                    batch_size=Public(event.truncated_batch_size),
                    data_size=Public(event.dataset_size),
                )
                yield _Releases(*_mechanism(Gaussian(noise)), rate=rate, batches=cut)
        case SampledWithoutReplacement(source_dataset_size=size, sample_size=batch, event=inner):
            if batch:
                drawn = FixedBatches(batch_size=Public(batch), data_size=Public(size))
                yield from _on_a_batch(drawn, Fraction(batch, size), list(_releases(inner, relation)))
        case SingleEpochTreeAggregation(noise_multiplier=noise):
            event.pair(relation)  # refuses what trees say nothing about
            if event.depth:
                yield _Releases(*_mechanism(Gaussian(noise)), samples=event.depth)
        case _:
            yield _Releases(*_mechanism(event))


def _on_a_sample(rate: Fraction, inner: list[_Releases]) -> Iterator[_Releases]:
    match inner:
        case []:
            return
        case [_Releases(rate=within, together=1, samples=1, batches=None) as one] if within < 1:
            yield evolve(one, rate=rate * within)
        case [_Releases(rate=within, batches=None) as one] if within == 1:
            yield evolve(one, rate=rate, together=one.samples, samples=1)
        case _:
            raise _of_several_kinds()


def _on_a_batch(batches: FixedBatches, share: Fraction, inner: list[_Releases]) -> Iterator[_Releases]:
    match inner:
        case []:
            return
        case [_Releases(rate=within, batches=None) as one] if within == 1:
            yield evolve(one, rate=share, together=one.samples, samples=1, batches=batches)
        case _:
            raise _of_several_kinds()


def _of_several_kinds() -> InvalidValue:
    return InvalidValue(
        "event",
        "releases of several kinds, or on samples, of one sample",
        "releases of one kind on each sample",
        "There is no plan of such releases yet: ask the event's own run, event.run()",
    )


def _mechanism(event: Event) -> tuple[Mechanism, NormBall | None]:
    """The built-in mechanism with the noise of an event, and its domain."""
    match event:
        case Gaussian(noise_multiplier=noise) if noise:
            return GaussianSum(noise_multiplier=Public(noise)), None
        case Laplace(noise_multiplier=noise) if noise:
            return LaplaceSum(scale=Public(noise)), _BALL
        case DiscreteLaplace(noise_parameter=parameter, sensitivity=moved) if parameter and moved:
            # in units of the sensitivity, so that every part has the same domain
            scale, granularity = Public(1 / (parameter * moved)), Public(Fraction(1, moved))
            return DiscreteLaplaceSum(scale=scale, granularity=granularity), _BALL
        case RandomisedResponse(noise_parameter=noise, num_buckets=many) if noise and many > 1:
            return Responses(noise=Public(noise), categories=Public(many)), None
    raise InvalidValue(
        "event",
        str(event),
        "Gaussian, Laplace or discrete Laplace noise, or randomised response, sampled and composed",
        "There is no plan of such releases: ask the event's own run, event.run()",
    )


def _parts(releases: _Releases, others: int, relation: Change) -> Iterator[SampledRun[Any]]:
    once = releases.together == 1 or releases.rate == 1
    several = 1 if once else releases.samples
    if several + others > MOST_PARTS:
        raise InvalidValue("event", f"{several} samples with several releases each", f"at most {MOST_PARTS} parts")
    steps = ResampleEach(releases.together * releases.samples) if once else SampleOnce(releases.together)
    for _ in range(several):
        yield SampledRun(
            mechanism=releases.mechanism,
            sampler=releases.sampler,
            releases=steps,
            domain=releases.domain,
            relation=relation,
        )
