"""Events as plans: what is asked of either has one answer, and what no plan has is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import certificate, check
from certdp.accounting.errors import InvalidValue
from certdp.accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Change
from certdp.accounting.units import Delta, Epsilon
from certdp.interoperation import (
    Composed,
    DiscreteLaplace,
    Event,
    Gaussian,
    Laplace,
    NonPrivate,
    NoOp,
    PoissonSampled,
    RandomisedResponse,
    SampledWithoutReplacement,
    SelfComposed,
    SingleEpochTreeAggregation,
    TruncatedSubsampledGaussian,
    ZeroConcentrated,
    plan_of,
)
from certdp.interoperation.proven_claims import certified_event, proven
from certdp.runs.calibration import Budget
from certdp.runs.run import Interval
from tests.support.cases import examples

HALF = Fraction(1, 2)
NOISE = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(20)])
RATES = st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 3), Fraction(1)])
LEAVES = st.one_of(
    st.builds(Gaussian, NOISE),
    st.builds(Laplace, NOISE),
    st.builds(DiscreteLaplace, NOISE, st.integers(1, 3)),
)
ONE_KIND = st.one_of(LEAVES, st.builds(SelfComposed, LEAVES, st.integers(1, 3)))
SAMPLED = st.one_of(
    st.builds(PoissonSampled, RATES, ONE_KIND),
    st.builds(PoissonSampled, RATES, st.builds(PoissonSampled, RATES, LEAVES)),
)
TREES: Any = st.lists(
    st.one_of(ONE_KIND, SAMPLED, st.builds(SelfComposed, SAMPLED, st.integers(0, 3)), st.just(NoOp())), max_size=3
).map(Composed)


@examples(60)
@given(TREES)
def test_a_plan_costs_what_its_event_costs(event: Composed) -> None:
    described = event.run().epsilon(Delta("1e-5")).epsilon
    if described == Interval(0.0, 0.0) and event.run().delta(Epsilon("0")).delta.upper == 0:
        with pytest.raises(InvalidValue, match="releases something"):
            plan_of(event)
        return
    stated = plan_of(event).epsilon(Delta("1e-5")).epsilon
    assert described.upper == pytest.approx(stated.upper, rel=1e-6)
    assert (described.lower or 0.0) <= stated.upper
    assert (stated.lower or 0.0) <= described.upper


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (Gaussian(2), REPLACE),
        (SelfComposed(PoissonSampled(Fraction(1, 10), Gaussian(2)), 5), REPLACE),
        (SelfComposed(PoissonSampled(Fraction(1, 10), Gaussian(2)), 5), ZERO_OUT),
        (PoissonSampled(Fraction(1, 10), Laplace(1)), ZERO_OUT),
        (SelfComposed(RandomisedResponse("0.5", 3), 10), REPLACE),
    ],
    ids=str,
)
def test_a_plan_about_another_change_costs_what_its_event_costs(event: Event, relation: Change) -> None:
    described = event.run(relation).epsilon(Delta("1e-5")).epsilon
    plan = plan_of(event, relation)
    stated = plan.epsilon(Delta("1e-5"))
    assert plan.relation == relation
    assert described.upper == pytest.approx(stated.epsilon.upper, rel=1e-9)
    found = certificate(plan, stated)
    assert found.epsilon == pytest.approx(described.upper, rel=1e-6)
    assert relation.name in str(check(found.content))


def test_equal_releases_are_put_together() -> None:
    step = PoissonSampled(HALF, Gaussian(2))
    plan = plan_of(Composed([step, Laplace(1), SelfComposed(step, 5), SelfComposed(Laplace(1), 2)]))
    assert [part.steps for part in plan.parts] == [6, 3]


def test_releases_on_one_sample_stay_there() -> None:
    (part,) = plan_of(PoissonSampled(HALF, SelfComposed(Gaussian(2), 3))).parts
    assert (part.steps, part.on_one_sample) == (3, True)


REFUSED: dict[str, tuple[Event, str]] = {
    "no noise": (Gaussian(0), "Gaussian, Laplace or discrete Laplace noise"),
    "nothing private": (NonPrivate(), "Gaussian, Laplace or discrete Laplace noise"),
    "a curve": (ZeroConcentrated(1), "Gaussian, Laplace or discrete Laplace noise"),
    "answers of the absent": (RandomisedResponse("0.5", 2), "which randomised-response covers"),
    "honest answers": (RandomisedResponse(0, 2), "or randomised response"),
    "two kinds on one sample": (PoissonSampled(HALF, Composed([Gaussian(1), Laplace(1)])), "of one kind"),
    "samples of one sample": (PoissonSampled(HALF, SelfComposed(PoissonSampled(HALF, Gaussian(1)), 2)), "of one kind"),
    "nothing": (Composed([NoOp(), PoissonSampled(0, Laplace(1))]), "releases something"),
    "too many": (SelfComposed(PoissonSampled(HALF, SelfComposed(Gaussian(9), 2)), 10**6), "at most 10000 parts"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_plan_has_is_refused(name: str) -> None:
    event, reason = REFUSED[name]
    with pytest.raises(InvalidValue, match=reason):
        plan_of(event)


@pytest.mark.parametrize("batch", [2, 20, 40])
def test_batches_that_are_cut_down_have_a_plan(batch: int) -> None:
    """Which costs what the event costs, and is certified within a millionth of that."""
    one = TruncatedSubsampledGaussian(
        dataset_size=40, sampling_probability="0.125", truncated_batch_size=batch, noise_multiplier=2
    )
    event = Composed([SelfComposed(one, 3), Gaussian(4)])
    described, plan = event.run().epsilon(Delta("1e-5")), plan_of(event)
    answer = plan.epsilon(Delta("1e-5"))
    assert described.epsilon.upper == pytest.approx(answer.epsilon.upper, rel=1e-6)
    assert "number of records" in {assumed.name.rpartition(": ")[2] for assumed in answer.guarantee.assumptions}
    found = proven(event, Epsilon(described.epsilon.upper * (1 + 1e-5)), Delta("1e-5"))
    assert found.certificate is not None
    assert check(found.certificate).accepted
    assert found.reason is None


def test_batches_that_hold_nobody_release_nothing() -> None:
    never = TruncatedSubsampledGaussian(
        dataset_size=40, sampling_probability=0, truncated_batch_size=3, noise_multiplier=2
    )
    with pytest.raises(InvalidValue, match="releases something"):
        plan_of(never)


BATCH = SampledWithoutReplacement(40, 5, SelfComposed(Gaussian(2), 2))
LAPLACE_BATCH = SampledWithoutReplacement(40, 5, Laplace(3))
TREE = SingleEpochTreeAggregation(noise_multiplier=3, step_counts=[5, 9])
OF_CHANGES: dict[str, tuple[Event, Change]] = {
    "a batch, replaced": (SelfComposed(BATCH, 2), REPLACE),
    "a batch, zeroed": (Composed([BATCH, Gaussian(9)]), ZERO_OUT),
    "a batch with Laplace noise": (SelfComposed(LAPLACE_BATCH, 2), REPLACE),
    "a batch of everything": (SampledWithoutReplacement(40, 40, Gaussian(2)), REPLACE),
    "no batch": (Composed([SampledWithoutReplacement(40, 0, Gaussian(2)), Gaussian(5)]), ZERO_OUT),
    "trees": (TREE, ZERO_OUT),
    "trees, and more": (Composed([SelfComposed(TREE, 2), PoissonSampled(HALF, Gaussian(4))]), ZERO_OUT),
    "samples, replaced": (SelfComposed(PoissonSampled(HALF, Gaussian(4)), 3), REPLACE),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_CHANGES)
def test_under_other_changes_a_plan_costs_what_its_event_costs_and_is_certified(name: str) -> None:
    event, relation = OF_CHANGES[name]
    described, plan = event.run(relation).epsilon(Delta("1e-5")).epsilon, plan_of(event, relation)
    answer = plan.epsilon(Delta("1e-5"))
    assert plan.relation == relation
    assert described.upper == pytest.approx(answer.epsilon.upper, rel=1e-6)
    claimed = Budget(epsilon=Epsilon(described.upper * (1 + 1e-3)), delta=Delta("1e-5"))
    found = certified_event(event, claimed, described.upper, (), relation)
    assert check(found.content).accepted
    assert described.upper * (1 - 1e-9) <= found.epsilon <= described.upper * (1 + 1e-2)


def test_what_changes_a_part_is_not_understood_under_is_refused() -> None:
    for event, relation in ((BATCH, ADD_REMOVE), (TREE, ADD_REMOVE), (TREE, REPLACE)):
        with pytest.raises(InvalidValue) as refused:
            plan_of(event, relation)
        assert refused.value.parameter == "relation"
    for inner in (Composed([Gaussian(1), Laplace(1)]), PoissonSampled(HALF, Gaussian(1))):
        with pytest.raises(InvalidValue):
            plan_of(SampledWithoutReplacement(40, 5, inner), REPLACE)
