"""Weighted samples that are not private: keys with their true frequencies (PWS Algorithm 1)."""

from __future__ import annotations

from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.frequency_reporting import Inclusion
from ..plugins.contract import KeySampler
from .sample_files import CoinKind, Described


@final
@frozen
class ByThreshold:
    """Each key is kept by itself, with the probabilities of a sampler.

    Attributes:
        sampler: states them.
    """

    sampler: KeySampler

    @property
    def inclusion(self) -> Inclusion:
        """q_i."""
        return self.sampler.inclusion


@final
@frozen
class BottomK:
    """The k keys with the smallest u/f(w).

    Attributes:
        size: k.
        inclusion: of the realised threshold.
        described: its name and parameters.
    """

    size: int
    inclusion: Inclusion
    described: Described


Rule: TypeAlias = ByThreshold | BottomK


@final
@frozen(kw_only=True, eq=False)
class ThresholdSample:
    """A sample of keys with their true frequencies: not private.

    Attributes:
        keys: an Arrow array, large_string or large_binary, sorted by bytes.
        counts: the frequency of each.
        rule: how it was drawn.
        coins: where its randomness comes from.
    """

    keys: Any
    counts: NDArray[np.uint64]
    rule: Rule
    coins: CoinKind

    @property
    def inclusion(self) -> Inclusion:
        """q_i."""
        return self.rule.inclusion

    def require_sanitisable(self) -> None:
        """Refuse a sample that no sanitiser makes private.

        Raises:
            InvalidValue: for one that was drawn by bottom-k, with seeded coins or with coins from a hash of its keys.
        """
        raise NotImplementedError
