"""Parts know their run by all that is declared of it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from certdp import (
    GaussianSum,
    NormBall,
    Poisson,
    Public,
    ResampleEach,
    SampledRun,
    SampleOnce,
    User,
)
from certdp.accounting.norms import Norm
from certdp.accounting.relations import ELEMENT, REPLACE, ZERO_OUT
from certdp.runs.partial import run_digest

RUN: SampledRun[Any] = SampledRun(
    mechanism=GaussianSum(scale=Public(2)),
    sampler=Poisson(rate=Public("0.1")),
    domain=NormBall(norm=Norm.L2, radius=Public(1)),
)
OTHERS: dict[str, tuple[Any, ...]] = {
    "mechanism": (GaussianSum(scale=Public(3)),),
    "sampler": (Poisson(rate=Public("0.2")),),
    "releases": (ResampleEach(2), SampleOnce(2)),
    "domain": (None, NormBall(norm=Norm.L2, radius=Public(2))),
    "unit": (ELEMENT, User(contributions=2), User(contributions=3)),
    "relation": (REPLACE, ZERO_OUT),
    "precision": (256,),
}


def test_every_field_of_a_run_is_in_its_digest() -> None:
    assert OTHERS.keys() == attrs.fields_dict(SampledRun).keys()
    runs = [RUN, *(attrs.evolve(RUN, **{name: other}) for name, others in OTHERS.items() for other in others)]
    assert len({run_digest(run) for run in runs}) == len(runs)


@pytest.mark.parametrize("contributions", [1, 64])
def test_a_digest_is_of_what_is_declared_alone(contributions: int) -> None:
    one, again = (attrs.evolve(RUN, unit=User(contributions=contributions)) for _ in range(2))
    assert run_digest(one) == run_digest(again)
