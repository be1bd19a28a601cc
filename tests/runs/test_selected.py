"""The best of several runs: what is released, from which law, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp import (
    ADD_REMOVE,
    REPLACE,
    AllocatedRun,
    Coins,
    Full,
    GaussianSum,
    LaplaceSum,
    Norm,
    NormBall,
    Plan,
    Poisson,
    Public,
    RandomAllocation,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.runs.certificates import certificate
from certdp.selection import FixedRepetitions, NegativeBinomialRepetitions, PoissonRepetitions, SelectedRun
from certdp.verification.oracles.repetitions import negative_binomial, poisson, selected
from tests.support.cases import draws

ONE = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(5)), sampler=Full())
TEN = NegativeBinomialRepetitions(mean=Public(10))
ANSWER = SampledRun(mechanism=RandomisedResponse(epsilon=Public(1), categories=Public(3)), sampler=Full())
RECORD = np.array([[0.0]])


def answers(run: SelectedRun[Any], count: int, seed: int, score: Any) -> Counter[Any]:
    coins = Coins.seeded(seed)
    told = (run.release(RECORD, score, coins=coins) for _ in range(count))
    return Counter(None if one is None else int(np.ravel(one[0])[0]) for one in told)


@pytest.mark.parametrize(
    ("repetitions", "chances"),
    [
        (NegativeBinomialRepetitions(mean=Public(3)), negative_binomial(Fraction(3), Fraction(1))),
        (PoissonRepetitions(mean=Public(1)), poisson(Fraction(1))),
        (FixedRepetitions(times=Public(2)), [Fraction(0), Fraction(0), Fraction(1)]),
    ],
    ids=["geometric", "poisson", "fixed"],
)
def test_the_best_answer_has_its_law(repetitions: Any, chances: list[Fraction]) -> None:
    """Of randomised response with one preferred answer and two that are alike, against the enumerated law."""
    run, count = SelectedRun(base=ANSWER, repetitions=repetitions), draws(2400)
    seen = answers(run, count, 3, lambda output: float(np.ravel(output[0])[0] == 2))
    growth = math.e
    one = [Fraction(growth / (growth + 2)), Fraction(1 / (growth + 2)), Fraction(1 / (growth + 2))]
    wanted = selected([p / sum(one) for p in one], (0, 0, 1), chances)
    for answer, p in zip((0, 1, 2, None), map(float, wanted), strict=True):
        assert abs(seen[answer] / count - p) <= 5 * math.sqrt(p * (1 - p) / count) + 1e-9


def test_no_score_is_worse_than_no_number() -> None:
    run = SelectedRun(base=ANSWER, repetitions=FixedRepetitions(times=Public(60)))
    seen = answers(run, 20, 4, lambda output: math.nan if np.ravel(output[0])[0] != 1 else -math.inf)
    assert seen == Counter({1: 20})


def test_outputs_without_a_score_are_told_where_there_are_no_others() -> None:
    run = SelectedRun(base=ANSWER, repetitions=FixedRepetitions(times=Public(3)))
    assert sum(answers(run, 10, 4, lambda output: math.nan)[one] for one in (0, 1, 2)) == 10


def test_of_equal_scores_the_first_is_told() -> None:
    run = SelectedRun(base=ANSWER, repetitions=FixedRepetitions(times=Public(30)))
    one, coins = Coins.seeded(5), Coins.seeded(5)
    first = ANSWER.release(RECORD, coins=one)
    assert np.array_equal(run.release(RECORD, lambda output: 0.0, coins=coins)[0], first[0])


def test_what_is_refused_is_refused_before_a_number_is_drawn() -> None:
    run = SelectedRun(base=ANSWER, repetitions=PoissonRepetitions(mean=Public("1e-9")))
    with pytest.raises(InvalidValue):
        run.release(np.array([[math.nan]]), lambda output: 0.0)
    assert run.release(RECORD, lambda output: 0.0) is None


@pytest.mark.slow
def test_epochs_of_batches_compete() -> None:
    ball = NormBall(norm=Norm.L1, radius=Public(1))
    epochs = AllocatedRun(
        mechanism=LaplaceSum(scale=Public(2)), sampler=RandomAllocation(batches=Public(3)), epochs=2, domain=ball
    )
    run = SelectedRun(base=epochs, repetitions=TEN)
    told = run.release(np.zeros((4, 2)), lambda output: output[0][0][0], coins=Coins.seeded(6))
    assert [len(epoch) for epoch in told] == [3, 3]
    assert epochs.epsilon("1e-5").epsilon.upper < run.epsilon("1e-5").epsilon.upper
    assert run.steps == 6
    assert not run.on_one_sample


def test_the_cost_is_an_upper_bound_with_what_it_rests_on() -> None:
    run = SelectedRun(base=ONE, repetitions=TEN)
    answer = run.epsilon("1e-6")
    assert answer.epsilon.lower is None
    assert ONE.epsilon("1e-6").epsilon.upper < answer.epsilon.upper < 1.2302
    told = {one.name: one.value for one in answer.guarantee.assumptions}
    assert told["how often the run is repeated is drawn apart from everything, and not told"] == str(TEN)
    assert "the best of negative binomial repetitions of mean 10, shape 1" in str(run)
    assert (run.relation, run.unit) == (ONE.relation, ONE.unit)


def test_a_selection_is_one_part_of_a_plan() -> None:
    """It is composed through Rényi curves, at no more than the costs of both together."""
    best = SelectedRun(base=ONE, repetitions=TEN)
    both = Plan([best, ONE]).epsilon("1e-6").epsilon.upper
    assert best.epsilon("1e-6").epsilon.upper < both
    assert both < best.epsilon("5e-7").epsilon.upper + ONE.epsilon("5e-7").epsilon.upper
    with pytest.raises(InvalidValue, match=r"parts\[0\]"):
        Plan([best, ONE]).release(np.zeros((1, 1)))


@pytest.mark.slow
def test_training_and_other_relations_are_selected_among() -> None:
    steps = SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(1)),
        sampler=Poisson(rate=Public("0.01")),
        releases=ResampleEach(100),
    )
    best = SelectedRun(base=steps, repetitions=TEN)
    assert (
        steps.epsilon("1e-5").epsilon.upper
        < best.epsilon("1e-5").epsilon.upper
        < 3 * steps.epsilon("1e-5").epsilon.upper
    )
    assert ONE.relation == ADD_REMOVE
    assert SelectedRun(base=ANSWER, repetitions=TEN).relation == REPLACE
    pure = SelectedRun(base=ANSWER, repetitions=TEN).pure().bound.epsilon.upper_float
    assert 2 < pure < 3


def test_a_certificate_states_it_and_nothing_else_is_a_base() -> None:
    run = SelectedRun(base=ONE, repetitions=TEN)
    answer = run.epsilon("1e-6")
    assert answer.epsilon.upper <= certificate(run, answer).epsilon <= answer.epsilon.upper * (1 + 1e-6)
    with pytest.raises(InvalidValue, match=r"parts\[0\]: got the best of negative binomial repetitions of mean 10"):
        certificate(Plan([run, ONE]), Plan([run, ONE]).epsilon("1e-6"))
    with pytest.raises(InvalidType, match="base"):
        SelectedRun(base=run, repetitions=TEN)  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="repetitions"):
        SelectedRun(base=ONE, repetitions=10)  # type: ignore[arg-type]
