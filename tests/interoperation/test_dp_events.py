"""Trees of events in and out: round trips, outward rounding, and what is refused."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from certdp.accounting.units import Delta
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
    SelfComposed,
    ZeroConcentrated,
    event_from_json,
    event_to_json,
    read_event,
    relation_named,
    write_event,
)

FLOATS = st.floats(0, 1e300).map(Fraction)
WITHIN_ONE = st.floats(0, 1).map(Fraction)
NUMBERS = st.one_of(FLOATS, st.fractions(0), st.integers(0).map(Fraction))


def trees(numbers: st.SearchStrategy[Fraction], probabilities: st.SearchStrategy[Fraction]) -> Any:
    counts = st.integers(1, 10**12)
    leaves = st.one_of(
        st.sampled_from([NoOp(), NonPrivate()]),
        st.builds(Gaussian, numbers),
        st.builds(Laplace, numbers),
        st.builds(DiscreteLaplace, numbers, counts),
        st.builds(RandomisedResponse, probabilities, counts),
        st.builds(ZeroConcentrated, numbers, numbers),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(SelfComposed, inner, counts),
            st.builds(Composed, st.lists(inner, max_size=4)),
            st.builds(PoissonSampled, probabilities, inner),
        ),
    )


@given(trees(NUMBERS, st.one_of(WITHIN_ONE, st.fractions(0, 1))))
@example(Gaussian(2**53 + 1))
@example(Gaussian(10**400))
@example(Gaussian(Fraction(1, 10**400)))
def test_json_reads_as_the_same_event(event: Event) -> None:
    text = event_to_json(event)
    assert event_from_json(text) == event
    assert event_from_json(text.encode()) == event


@given(tree=trees(FLOATS, WITHIN_ONE))
def test_objects_read_as_the_same_event(dp_accounting: Any, tree: Event) -> None:
    assert read_event(write_event(tree, dp_accounting)) == tree


@given(number=st.fractions(0, 10**6), chance=st.fractions(0, 1))
def test_numbers_are_rounded_to_a_larger_loss(dp_accounting: Any, number: Fraction, chance: Fraction) -> None:
    def written(event: Event) -> Any:
        return read_event(write_event(event, dp_accounting))

    assert written(Gaussian(number)).noise_multiplier <= number
    assert written(Laplace(number)).noise_multiplier <= number
    assert written(DiscreteLaplace(number, 1)).noise_parameter >= number
    assert written(RandomisedResponse(chance, 2)).noise_parameter <= chance
    assert written(PoissonSampled(chance, NoOp())).sampling_probability >= chance
    curve = written(ZeroConcentrated(number, chance))
    assert curve.rho >= number
    assert curve.xi >= chance
    near = written(Gaussian(number)).noise_multiplier
    assert number - near <= number / 2**52


def test_the_tree_of_a_training_run(dp_accounting: Any) -> None:
    events = dp_accounting.dp_event
    step = events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1.0))
    tree = events.ComposedDpEvent([events.SelfComposedDpEvent(step, 1000), events.NoOpDpEvent()])
    epsilon = read_event(tree).run().epsilon(Delta(1e-5)).epsilon
    assert 1.8282 <= epsilon.upper <= 2.1014  # by the loss distribution, by Rényi divergences
    text = event_to_json(read_event(tree))
    assert json.loads(text)["events"][0]["event"]["sampling_probability"] == 0.01
    assert event_from_json(text) == read_event(tree)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("SampledWithReplacementDpEvent", (100, 10, None)),
        ("UnsupportedDpEvent", ()),
    ],
)
def test_events_that_are_not_covered_say_so(dp_accounting: Any, name: str, arguments: tuple[Any, ...]) -> None:
    event = getattr(dp_accounting.dp_event, name)(*arguments)
    with pytest.raises(
        InvalidValue,
        match=f"{name}.*GaussianDpEvent.*not (covered.*missing; it|described)",
    ):
        read_event(event)


def test_relations(dp_accounting: Any) -> None:
    if not hasattr(dp_accounting, "NeighboringRelation"):
        pytest.fail("dp_accounting has no NeighboringRelation")
    relations = dp_accounting.NeighboringRelation
    assert relation_named(relations.ADD_OR_REMOVE_ONE) is ADD_REMOVE
    assert relation_named(relations.REPLACE_ONE) is REPLACE
    assert relation_named(relations.REPLACE_SPECIAL) is ZERO_OUT
    for other in (3, "REPLACE_TWO"):
        with pytest.raises(InvalidValue, match="ADD_OR_REMOVE_ONE or REPLACE_ONE or REPLACE_SPECIAL"):
            relation_named(other)


GAUSSIAN = '{"type": "GaussianDpEvent", "noise_multiplier": 1}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        (b"\xff{}", "JSON"),
        ("[]", "an object with a type"),
        ("1", "an object with a type"),
        ("{}", r"event\.type"),
        ('{"type": 3}', r"event\.type"),
        ('{"type": ["GaussianDpEvent"]}', r"event\.type"),
        ('{"type": "os.system", "command": "true"}', "os.system"),
        ('{"type": "certdp.interoperation.Gaussian", "noise_multiplier": 1}', "one of NoOpDpEvent"),
        ('{"type": "GaussianDpEvent"}', r"event\.noise_multiplier: got nothing"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": 1, "sensitivity": 2}', r"event\.sensitivity: got 2"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": 1, "noise_multiplier": 9}', "each key once"),
        ('{"type": "GaussianDpEvent", "type": "NoOpDpEvent", "noise_multiplier": 1}', "each key once"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": NaN}', "finite"),
        (f'{{"type": "RepeatAndSelectDpEvent", "event": {GAUSSIAN}, "mean": 3, "shape": 1e400}}', "finite"),
        (f'{{"type": "RepeatAndSelectDpEvent", "event": {GAUSSIAN}, "mean": 3, "shape": null}}', r"event\.shape"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": 1e999}', "finite"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": -1}', r"event\.noise_multiplier: got -1"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": true}', r"event\.noise_multiplier"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": null}', r"event\.noise_multiplier"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": "one"}', r"event\.noise_multiplier"),
        ('{"type": "GaussianDpEvent", "noise_multiplier": [1]}', r"event\.noise_multiplier"),
        (f'{{"type": "GaussianDpEvent", "noise_multiplier": {"9" * 5000}}}', "JSON"),
        (f'{{"type": "SelfComposedDpEvent", "event": {GAUSSIAN}, "count": 1.5}}', r"event\.count: got 1\.5"),
        (f'{{"type": "SelfComposedDpEvent", "event": {GAUSSIAN}, "count": -1}}', r"event\.count: got -1"),
        (f'{{"type": "ComposedDpEvent", "events": {GAUSSIAN}}}', r"event\.events"),
        (f'{{"type": "ComposedDpEvent", "events": [{GAUSSIAN}, {{}}]}}', r"event\.events\[1\]\.type"),
        (f'{{"type": "PoissonSampledDpEvent", "sampling_probability": 2, "event": {GAUSSIAN}}}', r"got 2;"),
        ("[" * 100_000, "nested too deeply|JSON"),
    ],
)
def test_json_that_is_refused(text: str | bytes, expected: str) -> None:
    modules = set(sys.modules)
    with pytest.raises(InvalidValue, match=expected):
        event_from_json(text)
    assert set(sys.modules) == modules


def nested(levels: int) -> str:
    opened = '{"type": "SelfComposedDpEvent", "count": 1, "event": '
    return opened * (levels - 1) + GAUSSIAN + "}" * (levels - 1)


@pytest.mark.slow
def test_depth_and_size_are_limited(dp_accounting: Any) -> None:
    assert event_from_json(nested(64)).releases == 1
    with pytest.raises(InvalidValue, match="64 levels"):
        event_from_json(nested(65))
    with pytest.raises(InvalidValue, match="at most 16777216"):
        event_from_json(" " * (16 * 2**20 + 1))
    events = dp_accounting.dp_event
    flat = events.ComposedDpEvent([events.NoOpDpEvent()] * 100_000)
    with pytest.raises(InvalidValue, match="100000 events"):
        read_event(flat)
    doubled = events.NoOpDpEvent()
    for _ in range(40):  # 2^40 events in forty objects
        doubled = events.ComposedDpEvent([doubled, doubled])
    with pytest.raises(InvalidValue, match="100000 events"):
        read_event(doubled)


def test_other_objects_are_no_events() -> None:
    for alien in (None, 3, "GaussianDpEvent", {"type": "GaussianDpEvent"}, Gaussian, object()):
        with pytest.raises(InvalidType, match="an event of dp_accounting"):
            read_event(alien)


def test_a_version_without_an_event_is_named() -> None:
    with pytest.raises(InvalidValue, match="ZCDpEvent"):
        write_event(ZeroConcentrated(1), object())
