"""Guesses of crossings: near the truth at every magnitude, though nothing rests on them but time."""

from __future__ import annotations

import sys
from typing import Any

import mpmath
import numpy as np

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import W, norm, sqrt
from certdp.accounting.feasible_weights.guesses import _Allowed, crossings

WEIGHTS = np.array([1.0, 1.5, 64.0, 2.0**29, 2.0**31, 2.0**600, 2.0**1000])


def test_what_is_allowed_is_computed_beyond_the_range_of_floats() -> None:
    many: list[Any] = [*map(mpmath.mpf, (1e-12, 0.03, 0.5, 7.0, 2.0**40, 1e300)), mpmath.exp(1000)]
    for odds in many:
        allowed = _Allowed(min(float(odds), sys.float_info.max), float(mpmath.log(odds)))
        for weight, found in zip(WEIGHTS, allowed(WEIGHTS), strict=True):
            truth = mpmath.log1p(mpmath.mpf(float(weight)) * odds)
            assert abs(found - truth) <= 1e-13 * max(1, truth), (weight, odds)


def test_a_crossing_is_where_the_loss_meets_what_is_allowed() -> None:
    sizes = np.array([0.5, 0.1, 1e-3])
    for odds in (1.0, 20.0):
        for loss, power in ((W * norm(1), 1.0), (sqrt(W) * norm(1), 0.5)):
            found = crossings(loss, {norm(1): sizes}, Enclosure.of(odds), 2.0**200, len(sizes))
            for weight, size in zip(found, sizes, strict=True):
                for share, below in ((1 - 1e-9, True), (1 + 1e-9, False)):
                    at = weight * share
                    assert (at <= 1) or bool(at**power * size <= np.log1p(odds * at)) is below
