"""Whether sampling can help: every proven answer against a search over weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.expressions import ONE, W, evaluate, exp, log1p, maximum, minimum, norm, select, sqrt
from certdp.accounting.sampling.gain import Gain, can_sampling_improve
from certdp.accounting.sampling.losses import PureLoss

X = norm(1)
CASES: list[tuple[Any, Callable[[float], float], Gain]] = [
    (W * X, lambda w: w, Gain.NO),
    (W * W * X, lambda w: w * w, Gain.NO),
    (W * X / 160, lambda w: w / 160, Gain.NO),
    (X * (W * W + 2 * W), lambda w: w * w + 2 * w, Gain.NO),
    (X * (exp(W) - 1), lambda w: math.exp(w) - 1, Gain.NO),
    (ONE * 2, lambda w: 2.0, Gain.YES),
    (sqrt(W) * X, lambda w: math.sqrt(w), Gain.YES),
    (sqrt(W) * X * 6 / 5, lambda w: 1.2 * math.sqrt(w), Gain.YES),  # erratum IS-A1-line7: ε'(1) > 0, and it helps
    (log1p(sqrt(W)) * X, lambda w: math.log1p(math.sqrt(w)), Gain.YES),
    (minimum(W, 1) * X, lambda w: 1.0, Gain.YES),
    (maximum(W, 1) * X, lambda w: w, Gain.NO),  # a kink in w = 1: the slope to its left says nothing
    (maximum(2, W) * X, lambda w: max(2.0, w), Gain.YES),
]


def psi(epsilon: float, q: float) -> float:
    return math.log1p(q * math.expm1(epsilon))


@pytest.mark.parametrize(("epsilon", "at_one", "answer"), CASES, ids=[str(case[0]) for case in CASES])
def test_answers_agree_with_a_search(epsilon: Any, at_one: Callable[[float], float], answer: Gain) -> None:
    assert can_sampling_improve(PureLoss(epsilon), {X: Fraction(1)}) is answer
    alone = at_one(1.0)
    near = [1 + 2.0**-k for k in range(3, 20)]
    far = [1 + k / 7 for k in range(1, 30)]
    best = min(psi(at_one(w), 1 / w) for w in near + far)
    assert (best < alone) is (answer is Gain.YES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "epsilon",
    [
        maximum(W - 2, 0) + W * X / 2,
        X * (W + 3 * sqrt(W) / 2),
        maximum(W, 2 * W - 1) * X,
        maximum(2 * W - 1, W) * X,  # a kink in w = 1 itself
        maximum(2 * W - 1, (W + 7) / 8) * X,  # another, with a gentle slope to its left
        log1p(W) * X,  # every weight loses the same
    ],
    ids=str,
)
def test_yes_and_no_are_never_guessed(epsilon: Any) -> None:
    """Profiles at which neither proposition applies may be undecided; an answer must be right."""
    answer = can_sampling_improve(PureLoss(epsilon), {X: Fraction(1)})

    def at(w: float) -> float:
        return float(evaluate(epsilon, {W: w, X: 1.0}))

    best = min(psi(at(1 + k / 50), 1 / (1 + k / 50)) for k in range(1, 500))
    assert answer is not (Gain.NO if best < at(1) - 1e-12 else Gain.YES)


@pytest.mark.parametrize(
    "epsilon",
    [
        select(W, ONE, X / 9, W * X),  # jumps up right after w = 1: flat there, and sampling costs
        select(W, ONE * 4, W * X, W * X / 100),  # jumps down at w = 4: steep before, and sampling helps
    ],
)
def test_jumps_are_not_decided(epsilon: Any) -> None:
    assert can_sampling_improve(PureLoss(epsilon), {X: Fraction(1)}) is Gain.UNKNOWN


def test_a_record_without_loss_gains_nothing() -> None:
    assert can_sampling_improve(PureLoss(W * X), {X: Fraction(0)}) is Gain.NO
