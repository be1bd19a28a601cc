"""Mistakes that a newcomer makes in Python: each error names the parameter, and says what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import certdp
from certdp import Public
from certdp.accounting.errors import InvalidType, InvalidValue

LAPLACE = certdp.LaplaceSum(scale=Public(1))
BALL = certdp.NormBall(norm=certdp.Norm.L1, radius=Public(1))
RUN: Any = certdp.SampledRun(mechanism=LAPLACE, sampler=certdp.Full(), domain=BALL)
run: Any = certdp.SampledRun
laplace: Any = certdp.LaplaceSum

MISTAKES: dict[str, tuple[Callable[[], object], str, str]] = {
    "a bare number": (lambda: laplace(scale=0.1), "scale", "Public(value)"),
    "a mechanism's class": (
        lambda: run(mechanism=laplace, sampler=certdp.Full()),
        *("mechanism", "Build it from its options: LaplaceSum(…)"),
    ),
    "releases by their number": (
        lambda: run(mechanism=LAPLACE, sampler=certdp.Full(), releases=10),
        *("releases", "ResampleEach"),
    ),
    "an accountant by its name": (lambda: RUN.epsilon(0, accountant="renyi"), "accountant", "certdp.accountants"),
    "an accountant by its name, for δ": (lambda: RUN.delta(1, accountant="renyi"), "accountant", "an Accountant"),
    "what to search by a name": (
        lambda: certdp.calibrate(lambda _: RUN, certdp.Budget(epsilon=1, delta=0), "scale"),  # type: ignore[arg-type]
        *("over", "Continuous()"),
    ),
    "what happens outside by a word": (lambda: RUN.release([[1.0]], "clip"), "outside", "Outside.CLIP"),
    "ε for δ": (lambda: RUN.epsilon(certdp.Epsilon(1)), "delta", "no Epsilon"),
    "a mechanism for a run": (lambda: certdp.record_losses(LAPLACE, [[1.0]]), "run", "SampledRun(mechanism="),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_error_says_what_to_write(name: str) -> None:
    call, parameter, words = MISTAKES[name]
    with pytest.raises((InvalidType, InvalidValue)) as caught:
        call()
    assert caught.value.parameter == parameter
    assert words in str(caught.value)
