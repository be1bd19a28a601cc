"""Masses of combined laws stay what they are when what lies outside a lattice is moved."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.loss_distribution.combined import _folded


@given(before=st.integers(0, 3), count=st.integers(2, 4), after=st.integers(0, 3), seed=st.integers(0, 99))
def test_what_lies_outside_is_counted_once(before: int, count: int, after: int, seed: int) -> None:
    masses = np.random.default_rng(seed).integers(1, 100, (2, before + count + after + 1)).astype(np.float64)
    left, right = masses
    left[0] = right[-1] = 0.0
    kept_left, kept_right, _ = _folded(left, right, np.ones_like(left), before, count, after)
    assert kept_left.size == kept_right.size == count + 1
    assert np.sum(kept_left) + np.sum(kept_right) == np.sum(masses)
