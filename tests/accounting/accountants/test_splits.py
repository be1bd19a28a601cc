"""Scales of (ε, δ) shared out among releases: the smallest that is proven, or one a nudge above."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.accountants import splits
from certdp.accounting.accountants.splits import Split, smallest_scale, total_delta
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.pairs import GaussianPair, Repeated

DELTA = Enclosure.of("1e-5")


@pytest.mark.parametrize("short", [0, 45, 30, 10])
def test_a_scale_that_is_a_little_too_small_is_nudged_up(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    split = Split.of(Repeated(GaussianPair(Enclosure.of("1/2")), 7))
    assert split is not None
    smallest_scale.cache_clear()
    right = smallest_scale(split, DELTA)
    assert right is not None
    near = right * (1 - Fraction(1, 2**short)) if short else right
    monkeypatch.setattr(splits, "_near_smallest_scale", lambda *_: near)
    smallest_scale.cache_clear()
    found = smallest_scale(split, DELTA)
    assert found is not None
    assert total_delta(split.at(found)).less_equal(DELTA) is Truth.TRUE
    assert near <= found <= right * (1 + Fraction(1, 2**7))
    monkeypatch.setattr(splits, "_near_smallest_scale", lambda *_: right / 2)
    smallest_scale.cache_clear()
    assert smallest_scale(split, DELTA) is None
    smallest_scale.cache_clear()
