"""Events about batches without replacement, truncated batches and trees, against closed forms and enumeration."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from certdp import Delta, Epsilon, InvalidValue
from certdp.accounting.guarantees import for_groups
from certdp.accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT, Change
from certdp.interoperation import Event, event_from_json, event_to_json, read_event, write_event

from .conftest import stand_in

GAUSSIAN = {"type": "GaussianDpEvent", "noise_multiplier": 2}


def event(name: str, **fields: Any) -> Event:
    return event_from_json(json.dumps({"type": f"{name}DpEvent", **fields}))


def fixed(size: int = 100, batch: int = 10, inner: Any = GAUSSIAN) -> Event:
    return event("SampledWithoutReplacement", source_dataset_size=size, sample_size=batch, event=inner)


def truncated(batch: int, *, rate: object = 0.01, size: int = 1000, noise: float = 1) -> Event:
    return event(
        "TruncatedSubsampledGaussian",
        dataset_size=size,
        sampling_probability=rate,
        truncated_batch_size=batch,
        noise_multiplier=noise,
    )


def tree(steps: object, noise: float = 3) -> Event:
    return event("SingleEpochTreeAggregation", noise_multiplier=noise, step_counts=steps)


def gaussian_delta(shift: float, epsilon: float) -> float:
    below = norm.cdf(-epsilon / shift - shift / 2)
    return float(norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * below)


@given(epsilon=st.floats(0.01, 2), batch=st.integers(1, 100), noise=st.floats(0.5, 4))
def test_one_batch_without_replacement_is_the_amplified_curve_of_two_records(
    epsilon: float, batch: int, noise: float
) -> None:
    """Balle, Barthe, Gaboardi 2018, Theorem 2: δ(ε) = q·δ′(ln(1 + (e^ε − 1)/q)); two records are 2/σ apart."""
    rate = batch / 100
    found = fixed(batch=batch, inner={"type": "GaussianDpEvent", "noise_multiplier": noise}).run(REPLACE)
    delta = found.delta(Epsilon(epsilon)).delta
    exact = rate * gaussian_delta(2 / noise, math.log1p(math.expm1(epsilon) / rate))
    assert delta.lower is not None
    assert delta.lower * (1 - 1e-9) <= exact + 1e-13
    assert exact - 1e-13 <= delta.upper * (1 + 1e-9)


def test_a_record_zeroed_out_costs_no_more_than_one_replaced() -> None:
    zeroed, replaced = (fixed().run(one).epsilon(Delta(1e-5)).epsilon for one in (ZERO_OUT, REPLACE))
    assert zeroed.lower is not None
    assert replaced.lower is not None
    assert 0 < zeroed.lower < replaced.lower <= zeroed.upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("batch", "relation", "published"),
    [
        (30, ADD_REMOVE, 1.8285),
        (20, ADD_REMOVE, 3.834),
        (14, ADD_REMOVE, 6.842),
        (30, REPLACE, 2.8436),
        (20, REPLACE, 4.213),
        (14, REPLACE, 7.159),
        (30, ZERO_OUT, 1.8285),
    ],
)
def test_truncated_batches_cost_at_most_what_dp_accounting_says(batch: int, relation: Change, published: float) -> None:
    """σ = 1, q = 0.01, n = 1,000, 1,000 steps, δ = 1e-5: dp_accounting's values, which are sound."""
    steps = event("SelfComposed", count=1000, event=json.loads(event_to_json(truncated(batch))))
    assert steps.run(relation).epsilon(Delta("1e-5")).epsilon.upper <= published + 5e-5


def sampled_delta(shift: float, rate: float, epsilon: float, *, added: bool) -> float:
    """Of (1 − q)N(0, 1) + qN(s, 1) and N(0, 1), or of both exchanged, from that of N(s, 1)."""
    if not added:
        return rate * gaussian_delta(shift, math.log1p(math.expm1(epsilon) / rate))
    before = -math.log1p(math.expm1(-epsilon) / rate) if -math.expm1(-epsilon) < rate else math.inf
    return 0.0 if before == math.inf else rate * math.exp(epsilon - before) * gaussian_delta(shift, before)


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.5])
def test_a_truncated_batch_is_the_mean_of_both_cases(epsilon: float) -> None:
    """Of less than B others, Poisson's; else the record may take the place of one, and is two records from it."""
    n, most, q = 20, 3, 0.25
    full = 1 - sum(math.comb(n - 1, k) * q**k * (1 - q) ** (n - 1 - k) for k in range(most))
    entering = most / n * (1 - sum(math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(most + 1))) / full
    found = truncated(most, rate=q, size=n, noise=2).run().delta(Epsilon(epsilon)).delta
    exact = max(
        (1 - full) * sampled_delta(0.5, q, epsilon, added=added)
        + full * sampled_delta(1, entering, epsilon, added=added)
        for added in (False, True)
    )
    assert found.upper == pytest.approx(exact, rel=1e-8)
    included = (1 - full) * q + full * entering
    assert found.lower == pytest.approx(
        max(sampled_delta(0.5, included, epsilon, added=added) for added in (False, True)), rel=1e-8
    )


def test_groups_of_records_removed_from_a_number_that_is_declared_are_refused() -> None:
    for run in (
        truncated(5).run(),
        event("SelfComposed", count=2, event=json.loads(event_to_json(truncated(5)))).run(),
    ):
        with pytest.raises(InvalidValue, match="their number is declared"):
            for_groups(run.epsilon(Delta("1e-5")).guarantee, 2)
    assert for_groups(truncated(5).run(REPLACE).epsilon(Delta("1e-5")).guarantee, 2).bound


@pytest.mark.parametrize(
    "around",
    [
        lambda one: one,
        lambda one: {"type": "SelfComposedDpEvent", "event": one, "count": 3},
        lambda one: {"type": "ComposedDpEvent", "events": [GAUSSIAN, one]},
        lambda one: {"type": "RepeatAndSelectDpEvent", "event": one, "mean": 2, "shape": 1},
        lambda one: {"type": "PoissonSampledDpEvent", "sampling_probability": 1, "event": one},
    ],
)
@pytest.mark.parametrize("inner", [truncated(5), fixed()])
def test_of_a_poisson_sample_the_number_of_records_is_not_known(around: Any, inner: Event) -> None:
    """What is proven of that number says nothing of such a sample."""
    told = around(json.loads(event_to_json(inner)))
    with pytest.raises(InvalidValue, match="for a Poisson sample: what it costs hangs on their number"):
        event("PoissonSampled", sampling_probability=0.5, event=told)


def stretches_that_hold_a_step(steps: int) -> int:
    """By enumeration: a stretch is released where it is whole, of 2^j steps that begin at a multiple of 2^j."""
    counts = [0] * steps
    for level in range(steps.bit_length()):
        for start in range(0, steps - 2**level + 1, 2**level):
            for step in range(start, start + 2**level):
                counts[step] += 1
    return max(counts)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 7, 8, 100, [3, 1, 6], [0, 2]])
def test_a_tree_costs_the_stretches_that_hold_one_step(steps: Any) -> None:
    each = steps if isinstance(steps, list) else [steps]
    depth = max(stretches_that_hold_a_step(one) for one in each if one)
    delta = tree(steps).run(ZERO_OUT).delta(Epsilon(0.5)).delta
    assert delta.upper == pytest.approx(gaussian_delta(math.sqrt(depth) / 3, 0.5), rel=1e-9)


def test_ends_of_the_ranges() -> None:
    assert fixed(batch=0).run(REPLACE).delta(Epsilon(0)).delta.upper == 0
    assert truncated(5, rate=0).run().delta(Epsilon(0)).delta.upper == 0
    assert tree(0).run(ZERO_OUT).delta(Epsilon(0)).delta.upper == 0
    assert tree(4, noise=0).run(ZERO_OUT).delta(Epsilon(9)).delta.upper == 1
    assert truncated(5, noise=0).run().delta(Epsilon(9)).delta.upper == 1
    assert fixed(batch=100).run(REPLACE).delta(Epsilon(1)).delta.upper == pytest.approx(gaussian_delta(1, 1), rel=1e-6)
    assert [one.releases for one in (fixed(), truncated(5), tree([3, 4]))] == [1, 1, 7]


@pytest.mark.parametrize("made", [fixed(), truncated(5), tree(8), tree([8, 3])])
def test_they_are_written_as_they_are_read(made: Event) -> None:
    assert event_from_json(event_to_json(made)) == made
    assert read_event(write_event(made, stand_in())) == made
    assert made.assumptions


RESPONSE = {"type": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 2}


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: fixed(batch=101), "sample_size"),
        (lambda: fixed(batch=-1), "sample_size"),
        (lambda: fixed(size=0, batch=0), "source_dataset_size"),
        (lambda: fixed(inner=RESPONSE), "event"),
        (lambda: fixed().run(ADD_REMOVE), "relation"),
        (lambda: truncated(1001), "truncated_batch_size"),
        (lambda: truncated(0), "truncated_batch_size"),
        (lambda: truncated(5, rate="1/3"), "sampling_probability"),
        (lambda: truncated(5, rate=1.5), "sampling_probability"),
        (lambda: tree([]), "step_counts"),
        (lambda: tree([2, -1]), "step_counts"),
        (lambda: tree(4).run(ADD_REMOVE), "relation"),
        (lambda: tree(4).run(REPLACE), "relation"),
        (lambda: event("PoissonSampled", sampling_probability=0.5, event=RESPONSE).run(ZERO_OUT), "relation"),
        (
            lambda: event("PoissonSampled", sampling_probability=0.5, event={"type": "ZCDpEvent", "rho": 1}).run(
                ZERO_OUT
            ),
            "relation",
        ),
    ],
)
def test_what_is_not_covered_is_refused(make: Any, parameter: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        make()
    assert caught.value.parameter.rpartition(".")[2] == parameter


def test_zeroing_out_a_record_of_a_poisson_sample_costs_what_adding_one_does() -> None:
    step = event(
        "SelfComposed",
        count=100,
        event={"type": "PoissonSampledDpEvent", "sampling_probability": 0.05, "event": GAUSSIAN},
    )
    zeroed, added = (step.run(one).epsilon(Delta(1e-5)).epsilon for one in (ZERO_OUT, ADD_REMOVE))
    assert zeroed.lower is not None
    assert zeroed.lower <= added.upper
    assert added.upper <= zeroed.upper * (1 + 1e-6)
