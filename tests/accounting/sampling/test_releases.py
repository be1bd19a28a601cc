"""Sampling once and resampling for each release are two plans."""

from __future__ import annotations

from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import (
    GaussianPair,
    LaplacePair,
    RandomisedResponsePair,
    Repeated,
    Sampled,
    SampledGaussian,
)
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce

HALF = Enclosure.of("0.5")


@pytest.mark.parametrize("plan", [SampleOnce, ResampleEach])
def test_steps_are_whole_and_at_least_one(plan: Any) -> None:
    for few in (0, -2):
        with pytest.raises(InvalidValue, match=r"steps: got .*≥ 1"):
            plan(few)
    for wrong in (True, 2.0, "3", None):
        with pytest.raises(InvalidType, match="steps: got"):
            plan(wrong)


def test_the_plans_order_sampling_and_repetition() -> None:
    base = LaplacePair(Enclosure.of(1))
    assert SampleOnce(3).pair(base, HALF) == Sampled(Repeated(base, 3), HALF)
    assert ResampleEach(3).pair(base, HALF) == Repeated(Sampled(base, HALF), 3)
    normal = GaussianPair(Enclosure.of(1))
    assert SampleOnce(4).pair(normal, HALF) == SampledGaussian(Enclosure.of(2), HALF)
    assert ResampleEach(4).pair(normal, HALF) == Repeated(SampledGaussian(Enclosure.of(1), HALF), 4)


def test_the_plans_differ_and_one_release_is_the_same_in_both() -> None:
    base = RandomisedResponsePair(Enclosure.of(1))
    for direction in Direction:
        once, each = (plan(2).pair(base, HALF).pure for plan in (SampleOnce, ResampleEach))
        assert once is not None
        assert each is not None
        assert once(direction).lower > each(direction).upper or direction is Direction.ADD
    assert SampleOnce(1).pair(base, HALF) == ResampleEach(1).pair(base, HALF)


def test_with_every_record_drawn_they_agree() -> None:
    base, always = RandomisedResponsePair(Enclosure.of(1)), Enclosure.of(1)
    for direction in Direction:
        once, each = (plan(3).pair(base, always).pure for plan in (SampleOnce, ResampleEach))
        assert once is not None
        assert each is not None
        assert once(direction).intersection(each(direction)).contains(3)


def test_samples_are_drawn_once_or_for_each_release() -> None:
    counter = iter(range(100))
    assert list(SampleOnce(3).samples(lambda: next(counter))) == [0, 0, 0]
    assert list(ResampleEach(3).samples(lambda: next(counter))) == [1, 2, 3]
