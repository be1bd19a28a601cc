"""Runs with correlated noise: what they cost, and the steps that they draw."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import erf, exp, sqrt
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from certdp import (
    ADD_REMOVE,
    REPLACE,
    Budget,
    Coins,
    Continuous,
    Full,
    GaussianSum,
    LaplaceSum,
    Norm,
    NormBall,
    Plan,
    Poisson,
    Public,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
    calibrate,
    certificate,
    check,
    risk,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import GaussianPair
from certdp.accounting.provenance import Payment
from certdp.correlated_noise import (
    CorrelatedRun,
    CyclicPoisson,
    MatrixStrategy,
    Participation,
    Strategy,
    ToeplitzStrategy,
    TreeStrategy,
)
from certdp.guarantees import ZERO_OUT

ONES = NormBall(norm=Norm.L1, radius=Public(1))
BALL = NormBall(norm=Norm.L2, radius=Public(1))
BANDED = ToeplitzStrategy([1, 0.5, 0.375], 12)
OFTEN = Participation(times=3, apart=4)


def run_of(
    strategy: Strategy = BANDED, participation: Any = OFTEN, noise: Any = 2, domain: NormBall | None = BALL
) -> CorrelatedRun:
    mechanism = GaussianSum(noise_multiplier=Public(noise))
    return CorrelatedRun(mechanism=mechanism, strategy=strategy, participation=participation, domain=domain)


def test_it_costs_what_one_sum_costs_with_noise_over_the_sensitivity() -> None:
    strategy = ToeplitzStrategy([0.75, 0.5], 4)  # a record in steps 0 and 2 moves four rows
    run = run_of(strategy, Participation(times=2, apart=2))
    moved = Fraction(3, 4) ** 2 * 2 + Fraction(1, 2) ** 2 * 2
    assert run.sensitivity.square().contains(moved)
    other = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(2 / sqrt(moved))), sampler=Full())
    mine, theirs = run.epsilon("1e-6").epsilon, other.epsilon("1e-6").epsilon
    assert mine.lower is not None
    assert abs(mine.upper - theirs.upper) < 1e-12
    assert mine.upper - mine.lower < 1e-12


def test_the_identity_is_as_many_releases_of_their_own() -> None:
    run = run_of(ToeplitzStrategy([1], 12))
    other = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(2)), sampler=Full(), releases=ResampleEach(3))
    assert run.epsilon("1e-6").epsilon == other.epsilon("1e-6").epsilon
    turns = run_of(ToeplitzStrategy([1], 12), CyclicPoisson(groups=4, rate=0.25))
    sampled = SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(2)), sampler=Poisson(rate=Public(0.25)), releases=ResampleEach(3)
    )
    assert turns.epsilon("1e-6").epsilon == sampled.epsilon("1e-6").epsilon


def test_one_participation_quoted_for_several_lies_below_the_truth() -> None:
    once, often = run_of(participation=Participation(times=1)), run_of()
    assert often.epsilon("1e-6").epsilon.lower > once.epsilon("1e-6").epsilon.upper  # type: ignore[operator]


def test_turns_at_rate_one_are_all_steps_of_a_group() -> None:
    strategy = ToeplitzStrategy([0.75, 0.5], 6)
    drawn = run_of(strategy, CyclicPoisson(groups=2, rate=1)).epsilon("1e-6").epsilon
    told = run_of(strategy, Participation(times=3, apart=2)).epsilon("1e-6").epsilon
    assert abs(drawn.upper - told.upper) < 1e-9


def delta_of_two_turns(norm: float, rate: float, epsilon: float) -> float:
    """δ where a record is added or removed that has two turns, by a midpoint sum over the two log-likelihood ratios."""
    places = np.linspace(-12, 12, 3001)
    masses = np.diff([0.5 * (1 + erf(place / sqrt(2))) for place in places])
    middle = (places[1:] + places[:-1]) / 2
    ratio = 1 - rate + rate * np.exp(norm * middle - norm * norm / 2)
    both, mass = np.outer(ratio, ratio), np.outer(masses, masses)
    remove, add = np.maximum(both - exp(epsilon), 0), np.maximum(1 - exp(epsilon) * both, 0)
    return float(max((mass * remove).sum(), (mass * add).sum()))


@pytest.mark.parametrize(("rate", "epsilon"), [(0.5, 0.5), (0.1, 0.25), (0.9, 1.0)])
def test_turns_of_a_banded_strategy_against_a_sum_over_outputs(rate: float, epsilon: float) -> None:
    strategy = ToeplitzStrategy([1, 0.75], 4)
    run = run_of(strategy, CyclicPoisson(groups=2, rate=rate), 1)
    found = run.delta(epsilon).delta
    truth = delta_of_two_turns(1.25, rate, epsilon)
    assert found.lower is not None
    assert abs(found.upper - truth) < 2e-5
    assert abs(found.lower - truth) < 2e-5


def test_turns_that_meet_in_a_row_are_refused() -> None:
    with pytest.raises(InvalidValue, match="bands") as refused:
        run_of(BANDED, CyclicPoisson(groups=2, rate="0.1"))
    assert refused.value.parameter == "groups"
    with pytest.raises(InvalidValue):
        run_of(MatrixStrategy(np.tril(np.ones((6, 6)))), CyclicPoisson(groups=5, rate="0.1"))
    with pytest.raises(InvalidValue):
        _ = run_of(BANDED, CyclicPoisson(groups=3, rate="0.1")).sensitivity


@pytest.mark.parametrize(
    ("changed", "parameter"),
    [
        ({"mechanism": LaplaceSum(scale=Public(1))}, "mechanism"),
        ({"strategy": np.eye(3)}, "strategy"),
        ({"participation": 3}, "participation"),
        ({"domain": 3}, "domain"),
        ({"participation": Participation(times=13)}, "times"),
    ],
)
def test_what_is_none_of_these_is_refused(changed: dict[str, Any], parameter: str) -> None:
    given = {"mechanism": GaussianSum(scale=Public(1)), "strategy": BANDED, "participation": OFTEN, "domain": BALL}
    with pytest.raises(InvalidValue) as refused:
        CorrelatedRun(**{**given, **changed})
    assert refused.value.parameter == parameter


def test_released_parameters_are_refused_by_name() -> None:
    payment = Payment(SampledRun(mechanism=LaplaceSum(scale=Public(1)), sampler=Full(), domain=ONES).pure())
    mechanism = GaussianSum(scale=Released(2, payment, within=(1, 4)))
    ball = NormBall(norm=Norm.L2, radius=Released(1, payment, within=(1, 2)))
    for given in ({"mechanism": mechanism}, {"domain": ball}):
        usual = {"mechanism": GaussianSum(scale=Public(1)), "strategy": BANDED, "participation": OFTEN, "domain": BALL}
        with pytest.raises(InvalidValue, match="public parameters"):
            CorrelatedRun(**{**usual, **given})  # type: ignore[arg-type]


def test_the_lower_end_is_that_of_the_shortest_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    norms = [Enclosure.between(1, 3), Enclosure.of(9), Enclosure.between(2, "2.5"), Enclosure.of(9)]
    monkeypatch.setattr(ToeplitzStrategy, "column_norms", lambda _: norms)
    run = run_of(ToeplitzStrategy([1], 4), CyclicPoisson(groups=2, rate=1), 1)
    ((reached,), (bounding,)) = run.pairs.reached, run.pairs.bounding
    for pair, norm in ((reached, Enclosure.between(1, 3)), (bounding, Enclosure.of(9))):
        expected, found = GaussianPair(norm).repeated(2).normal_shift, pair.normal_shift
        assert expected is not None
        assert found is not None
        assert abs(found.lower - expected.lower) < Fraction(1, 2**60)
        assert abs(found.upper - expected.upper) < Fraction(1, 2**60)


def test_a_release_has_a_row_for_each_step() -> None:
    found = run_of(noise=Fraction(1, 10**7)).release(np.full((3, 2), 0.25), coins=Coins.seeded(1))
    assert found.shape == (12, 2)
    assert np.allclose(found.sum(axis=0), 3 * 3 / 4, atol=1e-4)


def test_it_is_a_part_of_a_plan_and_is_calibrated() -> None:
    run = run_of()
    beside = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(4)), sampler=Full(), releases=SampleOnce(1))
    plan = Plan([run, beside])
    answer = plan.epsilon("1e-6")
    assert answer.epsilon.lower is not None
    assert answer.epsilon.lower > run.epsilon("1e-6").epsilon.upper
    found = calibrate(lambda noise: run_of(noise=noise), Budget(epsilon=1, delta="1e-6"), Continuous())
    assert found.answer.epsilon.upper <= 1
    assert found.refuted
    certified = certificate(plan, answer)
    assert check(certified.content).accepted
    assert answer.epsilon.upper <= certified.epsilon < answer.epsilon.upper * (1 + 1e-6)


STRATEGIES: list[tuple[Strategy, Any]] = [
    (BANDED, OFTEN),
    (BANDED, CyclicPoisson(groups=4, rate="0.25")),
    (ToeplitzStrategy([1, -0.5, 0.25, 0.75], 9), Participation(times=3, apart=2)),
    (MatrixStrategy(np.tril(np.full((6, 6), 0.3)) + np.eye(6)), Participation(times=2)),
    (MatrixStrategy(np.eye(7) - np.diag(np.linspace(0.1, 0.9, 6), -1)), CyclicPoisson(groups=2, rate="1/3")),
    (TreeStrategy(11), Participation(times=3, apart=2)),
]
QUESTIONS: list[Callable[[CorrelatedRun], Any]] = [
    lambda run: run.epsilon("1e-6"),
    lambda run: run.delta("1/2"),
    lambda run: run.renyi(4),
    lambda run: run.zero_concentrated(),
    lambda run: run.gaussian(),
    risk,
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_zeroed_out_records_cost_what_removed_ones_do_and_replaced_ones_more(strategy: tuple[Strategy, Any]) -> None:
    run = run_of(*strategy, noise=9)
    removed, zeroed, replaced = (
        evolve(run, relation=relation).epsilon("1e-6").epsilon for relation in (ADD_REMOVE, ZERO_OUT, REPLACE)
    )
    assert zeroed == removed
    assert replaced.lower is not None
    assert replaced.lower > removed.upper
    if isinstance(run.participation, Participation):
        doubled = run_of(*strategy, noise=Fraction(9, 2)).epsilon("1e-6").epsilon
        assert replaced.upper == pytest.approx(doubled.upper, rel=1e-9)
    else:
        turn = SampledRun(
            mechanism=GaussianSum(noise_multiplier=Public(9 / run._longest.midpoint)),
            sampler=Poisson(rate=Public(run.participation.rate)),
            releases=ResampleEach(-(-run.steps // run.participation.groups)),
            relation=REPLACE,
        )
        assert replaced.upper == pytest.approx(turn.epsilon("1e-6").epsilon.upper, rel=1e-6)


@pytest.mark.parametrize("strategy", STRATEGIES[:2], ids=str)
@pytest.mark.parametrize("relation", [ZERO_OUT, REPLACE])
def test_each_change_of_the_data_has_certificates(strategy: tuple[Strategy, Any], relation: Any) -> None:
    run = evolve(run_of(*strategy, noise=9), relation=relation)
    answer = run.epsilon("1e-6")
    found = certificate(run, answer)
    claim = check(found.content).claim
    assert claim is not None
    assert claim.relation == relation.name
    assert answer.epsilon.lower is not None
    assert answer.epsilon.lower <= found.epsilon <= answer.epsilon.upper * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_what_it_costs_has_a_certificate(strategy: tuple[Strategy, Any]) -> None:
    run = run_of(*strategy, noise=9)
    for question in QUESTIONS:
        assert check(certificate(run, question(run)).content).accepted
    answer = run.epsilon("1e-6").epsilon
    found = certificate(run, run.epsilon("1e-6")).epsilon
    assert answer.lower is not None
    assert answer.lower <= found <= answer.upper * (1 + 1e-6)


def test_it_says_what_it_is() -> None:
    text = str(run_of())
    assert "Toeplitz, 3 of 12 diagonals" in text
    assert "at most 3 of them, at least 4 apart" in text
    assert "groups" in str(run_of(participation=CyclicPoisson(groups=3, rate="0.1")))
    assert run_of().relation.name == "add-remove"
    with pytest.raises(InvalidType):
        CorrelatedRun(mechanism=1, strategy=BANDED, participation=OFTEN)  # type: ignore[arg-type]
