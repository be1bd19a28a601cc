"""The library's draw: a Poisson importance sample with exactly the stated probabilities (IS Definition 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...accounting.sampling.records import Features, Indices, Realisation, realise
from .coins import Coins, release_coins
from .mechanism import WeightedSample, as_records
from .sampler import Sampler


def draw_from(features: Features, realisation: Realisation, coins: Coins) -> WeightedSample:
    """Draw each record independently with its realised probability, or all together where they are realised so."""
    chosen = chosen_places(realisation, len(features), coins)
    return WeightedSample(features.records[chosen], realisation.weight[chosen])


def chosen_places(realisation: Realisation, size: int, coins: Coins) -> Indices:
    """The places of those drawn of `size` records."""
    if realisation.batches is None:
        return np.flatnonzero(coins.bernoulli(realisation.probability))
    return realisation.batches.members(size, coins)


def draw(sampler: Sampler, records: ArrayLike, coins: Coins | None = None) -> WeightedSample:
    """A Poisson importance sample of `records`.

    Args:
        sampler: states the probabilities.
        records: matrix (n, d) of finite numbers, one record per row.
        coins: the operating system's unless given.

    Returns:
        The drawn records with their weights, in the order of the data.

    Raises:
        InvalidValue: for NaN, inf or a shape other than a matrix.
    """
    features = Features(as_records(records))
    return draw_from(features, realise(sampler.rate, features), release_coins(coins))


def joined_samples(samples: Sequence[WeightedSample]) -> WeightedSample:
    """One sample of several, at least one, in order."""
    return WeightedSample(
        np.concatenate([sample.records for sample in samples]), np.concatenate([sample.weights for sample in samples])
    )
