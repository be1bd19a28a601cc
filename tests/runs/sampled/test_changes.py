"""Runs about replaced and zeroed records and about users: what they cost, how they compose, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from certdp import (
    ADD_REMOVE,
    REPLACE,
    Count,
    Delta,
    DominatedRun,
    Full,
    GaussianSum,
    Importance,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Plan,
    Poisson,
    PrivacyConstrained,
    Public,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
    SampleOnce,
    User,
    certificate,
    profile_certificate,
    record_losses,
)
from certdp.accounting.relations import Relation
from certdp.guarantees import ZERO_OUT
from certdp.verification.checker import check

GAUSSIAN, LAPLACE = GaussianSum(noise_multiplier=Public(2)), LaplaceSum(scale=Public(2))
BALL = NormBall(norm=Norm.L1, radius=Public(1))
RARE = Poisson(rate=Public("0.125"))


def run_of(mechanism: Any = GAUSSIAN, sampler: Any = RARE, **stated: Any) -> SampledRun[Any]:
    return SampledRun(mechanism=mechanism, sampler=sampler, **stated)


def test_unless_stated_the_relation_is_that_of_the_mechanism() -> None:
    assert run_of().relation == run_of(relation=ADD_REMOVE).relation == ADD_REMOVE
    assert run_of() == run_of(relation=ADD_REMOVE)
    answers = RandomisedResponse(categories=Public(2), epsilon=Public(1))
    assert run_of(answers, Full()).relation == REPLACE
    assert not run_of(answers, Full(), relation=REPLACE).derived
    assert run_of(relation=REPLACE).derived


@pytest.mark.parametrize("releases", [ResampleEach(1), ResampleEach(30), SampleOnce(30)])
def test_replace_costs_more_than_add_remove_and_less_than_both_after_each_other(releases: Any) -> None:
    one, other = (run_of(releases=releases, relation=change).epsilon("1e-5") for change in (ADD_REMOVE, REPLACE))
    both = Plan([run_of(releases=releases)] * 2).epsilon("1e-5")
    assert one.epsilon.lower is not None
    assert other.epsilon.lower is not None
    assert one.epsilon.upper < other.epsilon.lower <= other.epsilon.upper
    assert other.epsilon.lower < 2 * both.epsilon.upper
    assert other.guarantee.relation == REPLACE


def test_zero_out_costs_what_add_remove_does() -> None:
    for releases in (ResampleEach(20), SampleOnce(3)):
        here, there = (run_of(releases=releases, relation=change).epsilon("1e-5") for change in (ADD_REMOVE, ZERO_OUT))
        assert here.epsilon == there.epsilon
        assert there.guarantee.relation == ZERO_OUT


def test_every_record_drawn_is_twice_the_shift() -> None:
    replaced = run_of(sampler=Full(), relation=REPLACE).epsilon("1e-5").epsilon
    assert replaced == run_of(GaussianSum(noise_multiplier=Public(1)), Full()).epsilon("1e-5").epsilon
    pure = run_of(LAPLACE, Full(), domain=BALL, relation=REPLACE).pure().bound.epsilon
    assert pure.upper_float == pytest.approx(1)
    assert run_of(LAPLACE, Full(), domain=BALL).pure().bound.epsilon.upper_float == 0.5


@pytest.mark.slow
def test_users_with_more_records_lose_more() -> None:
    costs = [run_of(unit=User(contributions=k), releases=ResampleEach(10)).epsilon("1e-5") for k in (1, 2, 5)]
    assert costs[0].epsilon == run_of(releases=ResampleEach(10)).epsilon("1e-5").epsilon
    assert costs[0].epsilon.upper < costs[1].epsilon.upper < costs[2].epsilon.upper
    assert costs[2].guarantee.unit == User(contributions=5)
    assert any(one.name == "most records of one user" for one in costs[2].guarantee.assumptions)


def test_no_lower_end_where_opposite_records_are_not_known_to_be_opposite() -> None:
    """A count moves by one for each record: replacing one moves nothing."""
    assert run_of(Count(scale=Public(2)), relation=REPLACE).epsilon("1e-5").epsilon.lower is None
    plan = Plan([run_of(relation=REPLACE), run_of(Count(scale=Public(2)), relation=REPLACE)])
    assert plan.epsilon("1e-5").epsilon.lower is None


def test_records_of_different_rates_are_bounded_by_one_case() -> None:
    mechanism = GaussianSum(scale=Public(2))
    run = run_of(mechanism, Importance(rate=Public("0.25"), norm=Public(Norm.L2)), domain=BALL, relation=REPLACE)
    assert len(run.worst_cases.bounding) == 1
    assert (
        run.epsilon("1e-5").epsilon.upper
        > run_of(run.mechanism, run.sampler, domain=BALL).epsilon("1e-5").epsilon.upper
    )


def test_plans_are_about_one_change() -> None:
    with pytest.raises(InvalidValue, match=r"parts\[1\].relation"):
        Plan([run_of(), run_of(relation=REPLACE)])
    plan = Plan([run_of(relation=REPLACE), run_of(sampler=Poisson(rate=Public("0.25")), relation=REPLACE)])
    answer = plan.epsilon("1e-5")
    assert answer.epsilon.lower is not None
    assert answer.epsilon.upper - answer.epsilon.lower < 1e-3


def test_an_adaptive_run_takes_steps_of_the_same_kind_alone() -> None:
    declared = DominatedRun(Plan([run_of(LAPLACE, Full(), domain=BALL, relation=REPLACE)]))
    answers = RandomisedResponse(categories=Public(2), epsilon=Public("0.1"))
    with pytest.raises(InvalidValue, match=r"step.mechanism"):
        declared.use(run_of(answers, Full()))
    declared.use(run_of(LAPLACE, Full(), domain=BALL, relation=REPLACE))


@pytest.mark.parametrize("relation", [REPLACE, ZERO_OUT])
def test_the_cost_is_certified(relation: Relation) -> None:
    run = run_of(relation=relation)
    claim = check(certificate(run, run.epsilon("1e-5")).content).claim
    assert claim is not None
    assert claim.relation == relation.name


@pytest.mark.parametrize("steps", [1, 20])
def test_laplace_noise_about_replaced_records_is_certified_near_the_answer(steps: int) -> None:
    run = run_of(LAPLACE, domain=BALL, releases=ResampleEach(steps), relation=REPLACE)
    answer = run.epsilon("1e-5")
    claim = check(certificate(run, answer).content).claim
    assert claim is not None
    assert claim.bound is not None
    assert float(claim.bound[0]) <= answer.epsilon.upper * (1 + 1e-5)


@pytest.mark.parametrize("relation", [REPLACE, ZERO_OUT])
def test_what_is_not_there_is_refused_by_name(relation: Relation) -> None:
    with pytest.raises(InvalidValue):
        profile_certificate(run_of(LAPLACE, domain=BALL, relation=relation))
    with pytest.raises(InvalidValue, match="relation"):
        run_of(LAPLACE, PrivacyConstrained(target=Public(1)), domain=BALL, relation=relation)
    with pytest.raises(InvalidValue, match="unit"):
        run_of(RandomisedResponse(categories=Public(2), epsilon=Public(1)), Full(), unit=User(contributions=2))


def test_losses_per_record_are_about_one_that_is_added_or_removed() -> None:
    for asked in (None, Delta("1e-5")):
        with pytest.raises(InvalidValue, match="added or removed"):
            record_losses(run_of(LAPLACE, domain=BALL, relation=REPLACE), [[0.5]], at=asked)
