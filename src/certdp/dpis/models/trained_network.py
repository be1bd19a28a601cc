"""A network with its parameters and without any records: what a training run releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from ...accounting.errors import InvalidValue
from ..sampling import FloatArray, IntArray
from .labelled import LabelledData
from .networks import Network

_ENTRIES = 1 << 17
"""Entries of features that are read at a time: 1 MiB of them stays in the second-level cache."""


def blocks(network: Network, rows: int) -> Iterator[slice]:
    """The rows of records of a network, as many at a time as memory is meant to hold."""
    step = max(1, _ENTRIES // network.features)
    return (slice(start, start + step) for start in range(0, rows, step))


@final
@frozen(kw_only=True, eq=False)
class TrainedNetwork:
    """A network with parameters, which classifies records. It holds no data: where it was released it may be published.

    Attributes:
        network: its shape.
        parameters: float64 (dimension,).
    """

    network: Network
    parameters: FloatArray

    def scores(self, features: ArrayLike) -> FloatArray:
        """The score of each class: float64 (n, classes) for records (n, features).

        Raises:
            InvalidValue: for records of another shape.
        """
        given = np.asarray(features, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != self.network.features:
            raise InvalidValue("features", f"shape {given.shape}", f"(n, {self.network.features}), one record a row")
        with np.errstate(all="ignore"):  # NaN and infinities are answers here
            parts = [self.network.logits(self.parameters, given[part]) for part in blocks(self.network, len(given))]
        return np.concatenate([np.empty((0, self.network.classes)), *parts])

    def predict(self, features: ArrayLike) -> IntArray:
        """The class with the largest score of each record; -1 where a score is NaN."""
        scores = self.scores(features)
        return np.where(np.isnan(scores).any(axis=1), -1, np.argmax(scores, axis=1))

    def predict_proba(self, features: ArrayLike) -> FloatArray:
        """The probability of each class that the scores are the logarithms of, up to a constant: (n, classes)."""
        scores = self.scores(features)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def accuracy(self, data: LabelledData) -> float:
        """The share of records whose class is predicted. As private as those records."""
        hits = 0
        for part in blocks(self.network, len(data)):
            features, labels = data.rows(np.arange(len(data))[part])
            hits += int(np.count_nonzero(self.predict(features) == labels))
        return hits / len(data)
