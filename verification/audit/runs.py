"""Runs of a sampled mechanism, many at a time: what an audit draws on one input.

Runs that draw the same records go together, so that a mechanism which makes many releases at once makes those of all
of them at once. Each run is an independent run of the composition, sample included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...accounting.exact import Floats
from ...accounting.sampling.records import Realisation
from ...accounting.sampling.releases import Releases as Plan
from ...plugins.contract import Coins, Mechanism, WeightedSample, many_releases
from .two_inputs import Releases

_BLOCK = 1 << 16

Chosen: TypeAlias = NDArray[np.bool_]


def audited_releases(
    mechanism: Mechanism,
    records: Floats,
    realisation: Realisation,
    plan: Plan,
    coins: Coins,
    *,
    one_by_one: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Releases:
    """Independent runs of a plan on one data set: a row for each run, its releases one beside the other.

    Args:
        mechanism: what is released.
        records: float64 matrix (n, d): the data set.
        realisation: with what probability and weight each record is drawn.
        plan: how many releases there are, on one sample or each on a fresh one.
        coins: the randomness.
        one_by_one: whether every release is the mechanism's own `release`, however slow.
        progress: called with the number of runs done.
    """
    make = _one_by_one if one_by_one else many_releases

    def block(count: int) -> Floats:
        def draw() -> _Drawn:
            return _Drawn(records, realisation.weight, _chosen(realisation, count, coins))

        releases = [drawn.released(mechanism, coins, make) for drawn in plan.samples(draw)]
        if progress is not None:
            progress(count)
        return np.concatenate(releases, axis=1)

    def releases(count: int) -> Floats:
        sizes = [min(_BLOCK, count - start) for start in range(0, count, _BLOCK)]
        return np.concatenate([block(size) for size in sizes])

    return releases


def _chosen(realisation: Realisation, count: int, coins: Coins) -> Chosen:
    """Which records each of so many samples holds, each drawn by itself or all together, as they are realised."""
    size, batches = len(realisation.probability), realisation.batches
    if batches is None:
        return np.asarray(coins.bernoulli(np.broadcast_to(realisation.probability, (count, size))))
    chosen = np.zeros((count, size), dtype=np.bool_)
    for sample in chosen:
        sample[batches.members(size, coins)] = True
    return chosen


class _Drawn:
    """The samples of many runs: which records each holds."""

    def __init__(self, records: Floats, weights: Floats, chosen: Chosen) -> None:
        self._records = records
        self._weights = weights
        kinds, self._kind = np.unique(chosen, axis=0, return_inverse=True)
        self._kinds = kinds if chosen.shape[1] else chosen[:1]  # without records there is one empty sample

    def released(
        self,
        mechanism: Mechanism,
        coins: Coins,
        make: Callable[[Mechanism, WeightedSample, int, Coins], Floats],
    ) -> Floats:
        """Make one release on the sample of each run."""
        kind = self._kind.reshape(-1)
        outputs: Floats | None = None
        for number, chosen in enumerate(self._kinds):
            runs = np.flatnonzero(kind == number)
            made = make(mechanism, WeightedSample(self._records[chosen], self._weights[chosen]), len(runs), coins)
            if outputs is None:
                outputs = np.empty((len(kind), made.shape[1]))
            outputs[runs] = made
        assert outputs is not None
        return outputs


def _one_by_one(mechanism: Mechanism, sample: WeightedSample, count: int, coins: Coins) -> Floats:
    return np.asarray([np.asarray(mechanism.release(sample, coins)).reshape(-1) for _ in range(count)])
