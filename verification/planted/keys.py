"""Faults of private weighted sampling.

Legend: π_i is the probability with which a key of frequency i is reported, end to end; q_i that with which it is
sampled; τ a threshold.
"""

from __future__ import annotations

import math

import numpy as np

from ...accounting.exact import Floats
from ...accounting.keyed.reporting import EveryKey, KeyTable, Ppswor
from ...accounting.units import Delta, Epsilon
from ...plugins.contract import Coins
from ..audit import Releases
from .fault import Fault, Inputs

_EPSILON, _DELTA = Epsilon("0.5"), Delta("0.01")
_FREQUENT = 20
_THRESHOLD = "0.1"


def _one_key(first: float, second: float) -> Inputs:
    """Whether a key is reported, with these probabilities under the two inputs."""

    def inputs(coins: Coins) -> tuple[Releases, Releases]:
        def releases(chance: float) -> Releases:
            return lambda count: coins.bernoulli(np.full(count, chance)).astype(np.float64)

        return releases(first), releases(second)

    return inputs


def _row(frequency: int) -> float:
    """Return π_i of the sanitiser without sampling."""
    if not frequency:
        return 0.0
    return float(KeyTable(epsilon=_EPSILON, delta=_DELTA, inclusion=EveryKey()).row(frequency).probability)


def _bottom_one() -> Inputs:
    """Keys of frequencies 20 and 1, or the first alone; the one of the smaller rank is kept, and sanitised for a sample
    by threshold, as if the other one's rank had been a threshold fixed beforehand."""

    def inputs(coins: Coins) -> tuple[Releases, Releases]:
        def both(count: int) -> Floats:
            ranks = np.stack([-np.log(coins.uniform(count)) / size for size in (_FREQUENT, 1)], axis=1)
            threshold = ranks.max(axis=1)
            kept = np.eye(2)[ranks.argmin(axis=1)].astype(np.bool_)
            chances = np.stack([_given_sampled(size, threshold) for size in (_FREQUENT, 1)], axis=1)
            return np.asarray(kept & coins.bernoulli(chances), dtype=np.float64)

        def alone(count: int) -> Floats:
            chances = _given_sampled(_FREQUENT, np.full(count, np.inf))
            return np.stack([coins.bernoulli(chances), np.zeros(count)], axis=1).astype(np.float64)

        return both, alone

    return inputs


def _by_threshold() -> Inputs:
    """The same keys by a threshold that was fixed beforehand."""
    table = KeyTable(epsilon=_EPSILON, delta=_DELTA, inclusion=Ppswor(threshold=_THRESHOLD))
    chances = np.array([float(table.row(size).probability) for size in (_FREQUENT, 1)])

    def inputs(coins: Coins) -> tuple[Releases, Releases]:
        def releases(present: list[int]) -> Releases:
            return lambda count: coins.bernoulli(np.tile(chances * present, (count, 1))).astype(np.float64)

        return releases([1, 1]), releases([1, 0])

    return inputs


def _given_sampled(frequency: int, thresholds: Floats) -> Floats:
    """π_i/q_i for ppswor at each of these thresholds (PWS Algorithm 3), in floats."""
    growth, delta = math.exp(float(_EPSILON.value)), float(_DELTA.value)
    reported = np.zeros(len(thresholds))
    kept = np.ones(len(thresholds))
    for size in range(1, frequency + 1):
        kept = -np.expm1(-thresholds * size)
        reported = np.minimum(kept, np.minimum(growth * reported + delta, 1 + (reported + delta - 1) / growth))
    return np.asarray(np.minimum(1.0, reported / kept))


KEY_FAULTS = (
    Fault(
        id="off-by-one-pws",
        says="a table of keys read at frequency i + 1 in the place of i",
        claimed=_EPSILON,
        delta=_DELTA,
        wrong=_one_key(_row(2), _row(0)),
        right=_one_key(_row(1), _row(0)),
    ),
    Fault(
        id="realised-threshold",
        says="a bottom-k sample, sanitised as if its realised threshold had been fixed beforehand",
        claimed=_EPSILON,
        delta=_DELTA,
        wrong=_bottom_one(),
        right=_by_threshold(),
    ),
)
