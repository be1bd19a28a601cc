"""The pair of very many different steps: one answer by every way to ask, and its groups where moments do not tell."""

from __future__ import annotations

import numpy as np
import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.profile import ANSWER, KeptContours
from certdp.accounting.pairs import GaussianPair, ManyGaussianSteps, Pair, many_gaussian_steps
from certdp.accounting.relations import Direction

STEPS = 20_000


def grouped(rate: str, shift: str) -> Pair:
    return GaussianPair(Enclosure.of(shift)).sampled(Enclosure.of(rate)).repeated(STEPS)


def steps() -> ManyGaussianSteps:
    rates, shifts = np.linspace(0.001, 0.002, STEPS), np.linspace(0.4, 0.5, STEPS)
    found = ManyGaussianSteps.between(
        rates, shifts, nodes=1024, above=lambda: grouped("0.002", "0.5"), below=lambda: grouped("0.001", "0.4")
    )
    assert found is not None
    return found[0]


def test_a_profile_tells_what_delta_does() -> None:
    pair = steps()
    for direction in Direction:
        law = pair.profile(direction, ANSWER)
        for level in ("0", "1/20", "1/10"):
            by_profile, alone = law(Enclosure.of(level)), pair.delta(Enclosure.of(level), direction)
            for one, other in ((by_profile, alone), (alone, by_profile)):
                assert one.lower <= other.upper
                assert one.width <= one.upper / 100
            epsilon = pair.smallest_epsilon(alone, direction)
            assert epsilon is not None
            assert epsilon.lower <= Enclosure.of(level).upper + Enclosure.of("1e-6").upper


def test_answers_as_near_as_moments_are_settle_which_notion_is_best() -> None:
    assert 2**-11 < steps().settled_within < 1e-3


def test_groups_answer_where_moments_do_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    pair, above = steps(), grouped("0.002", "0.5")
    level, delta = Enclosure.of("1/10"), Enclosure.of("1e-5")
    assert above.delta is not None
    monkeypatch.setattr(many_gaussian_steps, "delta_by_transforms", lambda *_: None)
    monkeypatch.setattr(many_gaussian_steps, "epsilon_by_transforms", lambda *_: None)
    monkeypatch.setattr(KeptContours, "delta", lambda *_: None)
    for direction in Direction:
        theirs = above.delta(level, direction)
        assert pair.delta(level, direction) == theirs == pair.profile(direction, ANSWER)(level)
        assert pair.smallest_epsilon(delta, direction) == above.smallest_epsilon(delta, direction)
