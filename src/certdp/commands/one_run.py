"""The run of one mechanism with one sampler, as options or a part of a plan's file state it."""

from __future__ import annotations

from typing import Any, TypeAlias

from attrs import evolve

from ..accounting.errors import InvalidValue
from ..accounting.relations import RECORD, RELATIONS, Element, Record, User
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.releases import Releases, SampleOnce
from ..plugins.contract import AllocatingSampler, StratifyingSampler
from ..runs.allocated import AllocatedRun
from ..runs.correlated import CorrelatedRun
from ..runs.keyed import KeyedRun
from ..runs.sampled import SampledRun
from ..runs.selected import SelectedRun
from ..runs.stratified import StratifiedRun
from .composition import AnyComposition, Composition, KeyedComposition
from .domain import domain_of

OneRun: TypeAlias = SampledRun[Any] | AllocatedRun | SelectedRun[Any] | StratifiedRun | KeyedRun
"""A run of one mechanism with one sampler."""


def run_of(given: AnyComposition, releases: Releases) -> OneRun:
    """The run of a mechanism and a sampler; of records, on the public domain that its options state."""
    match given:
        case KeyedComposition():
            return given.run(releases)
    return run_within(given, releases, domain_of(given))


def run_within(
    given: Composition, releases: Releases, domain: NormBall | None, unit: Record | Element = RECORD
) -> SampledRun[Any] | AllocatedRun | SelectedRun[Any] | StratifiedRun:
    """The run of a mechanism and a sampler of records.

    Args:
        given: both, and how often the run is repeated.
        releases: how many, and on which samples; or how many epochs.
        domain: the public domain of the records, if one is stated.
        unit: whom it protects.

    Raises:
        InvalidValue: for epochs on one sample, repeated strata, elements in either, and as the run.
    """
    once = _run_once(given, releases, domain, unit)
    if given.repetitions is None:
        return once
    if isinstance(once, StratifiedRun):
        remedy = "Repeat a run that draws without strata"
        raise InvalidValue("repetitions", str(given.repetitions), "nothing, for runs with strata", remedy)
    return SelectedRun(base=once, repetitions=given.repetitions)


def _run_once(
    given: Composition, releases: Releases, domain: NormBall | None, unit: Record | Element
) -> SampledRun[Any] | AllocatedRun | StratifiedRun:
    sampler = given.sampler
    if isinstance(sampler, AllocatingSampler | StratifyingSampler) and unit != RECORD:
        remedy = "Epochs and strata are about records: state what is released of elements with another sampler"
        raise InvalidValue("unit", unit.name, f"{RECORD.name}, with sampler {sampler.about.name}", remedy)
    match sampler:
        case AllocatingSampler():
            if isinstance(releases, SampleOnce) and releases.steps > 1:
                remedy = "Each epoch draws its batches afresh; the steps are epochs"
                raise InvalidValue("resample", "once", "each", remedy)
            return AllocatedRun(mechanism=given.mechanism, sampler=sampler, epochs=releases.steps, domain=domain)
        case StratifyingSampler():
            return StratifiedRun(mechanism=given.mechanism, sampler=sampler, releases=releases, domain=domain)
    return SampledRun(mechanism=given.mechanism, sampler=sampler, releases=releases, domain=domain, unit=unit)


def require_relation(name: str | None) -> None:
    """Refuse an unknown change of the data.

    Raises:
        InvalidValue: naming the known ones.
    """
    if name is not None and name not in RELATIONS:
        raise InvalidValue("relation", name, " or ".join(RELATIONS), "Choose one of them")


def protecting(run: OneRun | CorrelatedRun, relation: str | None, contributions: int | None) -> Any:
    """The run, of the same kind, about this change of the data and about users with so many records, where stated.

    Raises:
        InvalidValue: for an unknown relation, and where no theorem covers the change.
    """
    require_relation(relation)
    if relation is None and contributions is None:
        return run
    match run:
        case StratifiedRun() | AllocatedRun() | CorrelatedRun() if contributions is None:
            return evolve(run, relation=RELATIONS[str(relation)])
        case SampledRun():
            stated: dict[str, Any] = {} if relation is None else {"relation": RELATIONS[relation]}
            if contributions is not None:
                stated["unit"] = User(contributions=contributions)
            return evolve(run, **stated)
        case SelectedRun():
            return evolve(run, base=protecting(run.base, relation, contributions))
    if relation not in (None, run.relation.name) or contributions is not None:
        parameter, value = ("relation", relation) if contributions is None else ("contributions", contributions)
        what = "one element" if isinstance(run, KeyedRun) else "one record"
        admissible = f"nothing, for guarantees on samples by {run.sampler.about.name} are about {what}"
        raise InvalidValue(parameter, value, admissible)
    return run
