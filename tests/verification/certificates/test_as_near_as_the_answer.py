"""Every built-in mechanism's certificate is within a millionth of the answer in every notion."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from certdp import (
    Delta,
    Full,
    Norm,
    NormBall,
    Poisson,
    Public,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
    certificate,
)
from certdp.runs.run import NotionAbsent
from certdp.verification.checker import check
from certdp.verification.mutation.declared import DECLARED

EXAMPLES = {one.example.about.name: one.example for one in DECLARED if hasattr(one.example, "release")}
for granularity in ("1", "3/10", "1/7", "2"):  # a record moves the sum by 1, 3, 7 and no whole steps
    of_steps = evolve(EXAMPLES["discrete-laplace"], granularity=Public(granularity))
    EXAMPLES[f"discrete-laplace in steps of {granularity}"] = of_steps
NAMES = sorted({*EXAMPLES} - {"pws-keys", "pws-frequencies"})  # keyed: certified by a kind of their own
ASKED = {"epsilon": "epsilon", "5/2": "tau", "zero_concentrated": "rho", "gaussian": "mu"}
NEAR = Fraction(1, 10**6)
NONE = {("discrete-gaussian", "gaussian")}
"""What the mechanism itself has no bound in."""


def run_of(name: str, *, sampled: bool) -> SampledRun[Any]:
    norm = Norm.L1 if name.startswith(("laplace-sum", "discrete-laplace", "quantile-choice")) else Norm.L2
    domain = None if name in ("randomised-response", "count") else NormBall(norm=norm, radius=Public(1))
    sampler, steps = (Poisson(rate=Public("1/10")), 10) if sampled else (Full(), 1)
    return SampledRun(mechanism=EXAMPLES[name], sampler=sampler, releases=ResampleEach(steps), domain=domain)


@pytest.mark.parametrize("sampled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_as_near(name: str, sampled: bool) -> None:
    if sampled and EXAMPLES[name].about.relations == RandomisedResponse.about.relations:
        pytest.skip("of replaced records nothing is amplified")
    run, none = run_of(name, sampled=sampled), set()
    for ask, parameter in ASKED.items():
        try:
            answer: Any = run.epsilon(Delta("1e-5")) if ask == "epsilon" else run.renyi(ask) if "/" in ask else None
            answer = getattr(run, ask)() if answer is None else answer
        except NotionAbsent:
            none.add((name, ask))
            continue
        end = Fraction(answer.epsilon.upper) if ask == "epsilon" else getattr(answer.bound, parameter).upper
        found = certificate(run, answer)
        assert check(found.content).accepted
        proven = found.parameters[parameter]
        assert end <= proven <= end * (1 + NEAR), ask
    assert none == {one for one in NONE if one[0] == name}
