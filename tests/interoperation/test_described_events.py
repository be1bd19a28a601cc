"""Events that say what a release keeps: against exact laws, in and out, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.relations import ADD_REMOVE, REPLACE
from certdp.accounting.units import Delta, Epsilon
from certdp.interoperation import (
    Composed,
    DiscreteGaussian,
    EpsilonDelta,
    Event,
    ExponentialMechanism,
    Finding,
    Gaussian,
    MixtureOfGaussians,
    PermuteAndFlip,
    PoissonSampled,
    RepeatAndSelect,
    SelfComposed,
    ZeroConcentrated,
    event_from_json,
    event_to_json,
    judged,
    read_event,
    write_event,
)
from certdp.interoperation.described_events import EVENTS
from certdp.interoperation.dp_events import _NOT_COVERED
from tests.support.cases import examples

from .conftest import FIELDS, stand_in


def deltas(event: Event, epsilon: float, relation: Any = ADD_REMOVE) -> tuple[float, float]:
    found = event.run(relation).delta(Epsilon(epsilon)).delta
    assert found.lower is not None
    return found.lower, found.upper


def hockey_stick(first: list[float], second: list[float], epsilon: float) -> float:
    return sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(first, second, strict=True))


def test_all_21_events_of_the_head_are_read_or_refused_with_what_is_missing() -> None:
    read, refused = {event.name for event in EVENTS}, set(_NOT_COVERED)
    assert read | refused == {*FIELDS, "ZCDpEvent", "DiscreteGaussianDpEvent"}
    assert len(read) + len(refused) == 21
    assert all("missing" in why or "nobody" in why for why in _NOT_COVERED.values())


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-3"), ("0", "0.2"), ("3", "0")])
def test_epsilon_and_delta_are_reached_together(epsilon: str, delta: str) -> None:
    """Of one release δ at its ε; of two, the exact sum over the laws that Kairouz, Oh, Viswanath state."""
    event = EpsilonDelta(epsilon, delta)
    lower, upper = deltas(event, float(epsilon))
    assert lower == pytest.approx(float(delta), abs=1e-12)
    assert upper == pytest.approx(float(delta), abs=1e-12)
    told, growth = float(delta), math.exp(float(epsilon))
    one = [told, (1 - told) * growth / (1 + growth), (1 - told) / (1 + growth), 0.0]
    first = [p * q for p in one for q in one]
    second = [p * q for p in one[::-1] for q in one[::-1]]
    lower, upper = deltas(SelfComposed(event, 2), 1.0)
    assert lower == pytest.approx(hockey_stick(first, second, 1.0), abs=1e-9)
    assert upper == pytest.approx(hockey_stick(first, second, 1.0), abs=1e-9)


@examples(20)
@given(epsilon=st.sampled_from([0.1, 1.0, 4.0]), asked=st.sampled_from([0.0, 0.3, 1.0, 2.0]))
def test_choices_lie_between_two_candidates_and_any_pure_release(epsilon: float, asked: float) -> None:
    """The lower ends against the two mechanisms run on two candidates that change places."""
    softmax = [1 / (1 + math.exp(-epsilon / 2)), 1 / (1 + math.exp(epsilon / 2))]  # of ε·(±1/2)/2
    flipped = [1 - math.exp(-epsilon / 2) / 2, math.exp(-epsilon / 2) / 2]
    for event, chances in ((ExponentialMechanism(epsilon), softmax), (PermuteAndFlip(epsilon), flipped)):
        lower, upper = deltas(event, asked)
        assert lower == pytest.approx(hockey_stick(chances, chances[::-1], asked), abs=1e-12)
        assert upper == pytest.approx(deltas(EpsilonDelta(epsilon, 0), asked)[1])
        assert lower <= upper


def test_discrete_gaussian_noise_in_one_and_in_several_dimensions() -> None:
    """One coordinate against the sums of its law; several against normal noise, which they resemble."""
    weights = {x: math.exp(-x * x / 32) for x in range(-80, 81)}
    total = sum(weights.values())
    law = [weights.get(x, 0.0) / total for x in range(-90, 91)]
    moved = [weights.get(x - 2, 0.0) / total for x in range(-90, 91)]
    lower, upper = deltas(DiscreteGaussian(4, "2.5", 1), 0.5)
    assert lower == pytest.approx(hockey_stick(moved, law, 0.5), rel=1e-9)
    assert upper == pytest.approx(hockey_stick(moved, law, 0.5), rel=1e-9)
    for dimension in (None, 3):
        found = judged(DiscreteGaussian(4, "2.5", dimension).run(), Epsilon(1), Delta("1e-5")).epsilon
        assert found.lower == pytest.approx(DiscreteGaussian(4, 2, 1).run().epsilon(Delta("1e-5")).epsilon.lower)
        assert found.upper > Gaussian(Fraction(8, 5)).run().epsilon(Delta("1e-5")).epsilon.upper * 0.99
    assert DiscreteGaussian(4, "0.9").run().epsilon(Delta("1e-5")).epsilon.upper == 0
    assert deltas(DiscreteGaussian(0), 50) == (1, 1)


def test_a_mixture_of_one_shift_is_a_sampled_gaussian() -> None:
    mixed = MixtureOfGaussians(2.0, [0.0, 1.0], [0.9, 0.1])  # which as binary64 miss 1 by 2^-55
    found, known = deltas(mixed, 0.3), deltas(PoissonSampled("0.1", Gaussian(2)), 0.3)
    assert found == pytest.approx(known, rel=1e-12)
    assert MixtureOfGaussians(2, [1, 1, 5], ["1/2", "1/2", 0]).run().delta(Epsilon(1)).delta == pytest.approx(
        Gaussian(2).run().delta(Epsilon(1)).delta
    )
    with pytest.raises(InvalidValue, match=r"several shifts is missing; it will come"):
        MixtureOfGaussians(1, [1, 2], ["1/2", "1/2"]).run()


def test_what_is_known_of_some_releases_bounds_all_from_below() -> None:
    """A curve tells nothing from below, and takes nothing away from what else is released."""
    responses = SelfComposed(EpsilonDelta("0.1", 0), 50)
    both = Composed([ZeroConcentrated("0.01"), responses]).run()
    found, alone = judged(both, Epsilon(2), Delta("1e-5")), responses.run().epsilon(Delta("1e-5")).epsilon
    assert found.finding is Finding.REFUTED
    assert found.epsilon.lower == alone.lower


@pytest.mark.parametrize("shape", [0.0, 1.0, math.inf])
def test_delta_is_charged_for_each_repetition(shape: float) -> None:
    """Where dp_accounting charges (0.1, 1e-7) once: at ε = 0.3, and for any number of repetitions."""
    for mean in (2, 10, 1000):
        run = RepeatAndSelect(EpsilonDelta("0.1", "1e-7"), mean, shape).run()
        upper = run.delta(Epsilon(30)).delta.upper
        assert upper == pytest.approx(mean * 1e-7, rel=1e-3)
        with pytest.raises(InvalidValue):
            run.epsilon(Delta("1e-7"))


def test_selections_are_composed_and_bounded_from_above_alone() -> None:
    once = RepeatAndSelect(Gaussian(5), 10, 1)
    found = judged(once.run(), Epsilon("1.24"), Delta("1e-6"))
    assert found.finding is Finding.HOLDS
    assert found.epsilon.upper == pytest.approx(1.2301, abs=1e-4)
    assert judged(once.run(), Epsilon("1.2"), Delta("1e-6")).finding is not Finding.REFUTED
    twice = SelfComposed(once, 2).run().epsilon(Delta("1e-6")).epsilon.upper
    assert 1.5 < twice < 2.5
    assert RepeatAndSelect(Gaussian(5), 1, 1).run().epsilon(Delta("1e-6")).epsilon == pytest.approx(
        Gaussian(5).run().epsilon(Delta("1e-6")).epsilon
    )
    with pytest.raises(InvalidValue, match="mean"):
        RepeatAndSelect(Gaussian(5), "0.5", 1)


PROBABILITIES = st.floats(0, 1).map(Fraction)
NUMBERS = st.floats(0, 1e300).map(Fraction)
LEAVES = st.one_of(
    st.builds(EpsilonDelta, NUMBERS, PROBABILITIES),
    st.builds(ExponentialMechanism, NUMBERS),
    st.builds(PermuteAndFlip, NUMBERS),
    st.builds(DiscreteGaussian, NUMBERS, NUMBERS, st.none() | st.integers(1, 10**6)),
    st.builds(MixtureOfGaussians, NUMBERS, st.tuples(NUMBERS, NUMBERS), st.just((Fraction(1, 4), Fraction(3, 4)))),
    st.builds(
        RepeatAndSelect,
        st.builds(Gaussian, NUMBERS),
        st.floats(1, 1e9).map(Fraction),
        st.none() | st.floats(0, 1e6).map(Fraction),
    ),
)


@examples(50)
@given(event=LEAVES)
def test_they_read_as_they_are_written(event: Event) -> None:
    assert event_from_json(event_to_json(event)) == event
    assert read_event(write_event(event, stand_in())) == event


MIXTURE = '{"type": "MixtureOfGaussiansDpEvent", "standard_deviation": 1, "sensitivities": %s'

CLAIMS: list[tuple[Event, str, str, Finding]] = [
    (SelfComposed(ExponentialMechanism(1), 100), "1.0058", "1e-6", Finding.REFUTED),
    (SelfComposed(ExponentialMechanism(1), 100), "100", "0", Finding.HOLDS),
    (ExponentialMechanism(1), "0.7", "0", Finding.UNDECIDED),
    (SelfComposed(EpsilonDelta(0, "1e-5"), 10), "5", "1e-5", Finding.REFUTED),
    (SelfComposed(EpsilonDelta(0, "1e-5"), 10), "0", "1e-4", Finding.HOLDS),
    (PermuteAndFlip(1), "0.83", "0", Finding.REFUTED),
    (SelfComposed(DiscreteGaussian(10, 1, 1), 100), "4.5", "1e-5", Finding.HOLDS),
]


@pytest.mark.parametrize(("event", "epsilon", "delta", "finding"), CLAIMS)
def test_claims(event: Event, epsilon: str, delta: str, finding: Finding) -> None:
    assert judged(event.run(), Epsilon(epsilon), Delta(delta)).finding is finding


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"type": "EpsilonDeltaDpEvent", "epsilon": -1, "delta": 0}', r"event\.epsilon"),
        ('{"type": "EpsilonDeltaDpEvent", "epsilon": 1, "delta": 2}', r"event\.delta"),
        ('{"type": "DiscreteGaussianDpEvent", "sigma": 1, "dimension": 0}', r"event\.dimension"),
        ('{"type": "DiscreteGaussianDpEvent", "sigma": 1, "dimension": 1.5}', r"event\.dimension"),
        (
            MIXTURE % '1, "sampling_probs": [1]}',
            r"event\.sensitivities.*list",
        ),
        (
            MIXTURE % '[1], "sampling_probs": [0.5]}',
            "make up 1",
        ),
        (
            MIXTURE % '[-1], "sampling_probs": [1]}',
            "numbers ≥ 0",
        ),
    ],
)
def test_fields_out_of_range_are_refused_by_name(text: str, expected: str) -> None:
    with pytest.raises(Exception, match=expected) as refused:
        event_from_json(text)
    assert hasattr(refused.value, "parameter")


@pytest.mark.parametrize("event", [DiscreteGaussian(1), MixtureOfGaussians(1, [1], [1])])
def test_what_is_stated_of_presence_is_not_read_as_replacing(event: Event) -> None:
    with pytest.raises(InvalidValue, match="ADD_REMOVE"):
        event.run(REPLACE)
