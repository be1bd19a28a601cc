"""The public domain of a run, as options and plan files state it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..accounting.errors import InvalidValue
from ..accounting.norms import Norm
from ..accounting.provenance import Public
from ..accounting.sampling.domains import NormBall
from ..plugins.contract import AllocatingSampler, StratifyingSampler, stated
from ..runs.sampled import SampledRun
from ..samplers.full import Full
from .composition import Composition
from .options import whole_or_none


def stated_domain(constants: Mapping[str, str], norm: Callable[[], Norm]) -> NormBall | None:
    """The ball of these constants: radius, dimension and norm, which another supplies where it is not stated.

    Returns:
        None where nothing is stated.

    Raises:
        InvalidValue: for what says nothing without a radius, and inadmissible values.
    """
    if "radius" not in constants:
        for name, value in constants.items():
            raise InvalidValue(name, value, "nothing, without a radius", "Declare a radius too, or leave it out")
        return None
    return NormBall(
        norm=Norm.of(constants["norm"]) if "norm" in constants else norm(),
        radius=Public(constants["radius"]),
        dimension=whole_or_none("dimension", constants.get("dimension")),
    )


def dimension_of(given: Composition) -> int | None:
    """The number of columns of the data that the options state, for the run or for its mechanism alone."""
    return whole_or_none("dimension", given.run.get("dimension", stated(given.mechanism).get("dimension")))


def norms_of(given: Composition) -> SampledRun[Any]:
    """A run in which the same norms matter."""
    others = isinstance(given.sampler, AllocatingSampler | StratifyingSampler)
    sampler = Full() if others else given.sampler
    return SampledRun(mechanism=given.mechanism, sampler=sampler)


def domain_of(given: Composition, columns: int | None = None) -> NormBall | None:
    """The public domain that the options of a run state, in the norm of its mechanism; None where they state none.

    Args:
        given: the run. A dimension without a radius may be its mechanism's own.
        columns: of the data, if any; counted where a norm beside the domain's matters.

    Raises:
        InvalidValue: for a dimension that is not that of the data, or for nothing. Otherwise as `stated_domain`.
    """
    constants, run = dict(given.run), norms_of(given)
    dimension = dimension_of(given)
    if columns is not None and dimension not in (None, columns):
        raise InvalidValue("dimension", dimension, f"{columns}, the number of columns of the data")
    if "radius" not in constants and "dimension" in stated(given.mechanism):
        constants.pop("dimension", None)
    if "radius" in constants and columns is not None and set(run.norms) - {run.norm}:
        constants["dimension"] = str(columns)
    return stated_domain(constants, lambda: run.norm)
