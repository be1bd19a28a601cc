"""Aggregated data: keys and how often each occurs, in memory or chunk by chunk from a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

LARGEST_COUNT = 1 << 53


@final
@frozen(eq=False)
class KeyCounts:
    """Distinct keys and the frequency of each.

    Attributes:
        keys: an Arrow array of type large_string or large_binary, without nulls.
        counts: from 1 to 2^53.
    """

    keys: Any
    counts: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def of(cls, data: Any, *, key: str = "key", count: str = "count", aggregate: bool = False) -> KeyCounts:
        """The counts of a mapping, an Arrow table, a data frame or a pair (keys, counts)."""
        raise NotImplementedError


@final
@frozen(eq=False)
class CountStream:
    """Counts in a file: see `open_counts`."""

    def chunks(self) -> Iterator[KeyCounts]:
        """The counts in order, from the start each time; no key is in two chunks once the last one is passed."""
        raise NotImplementedError


@contextmanager
def open_counts(
    path: str | PathLike[str], *, aggregate: bool = False, key: str | None = None, count: str | None = None
) -> Iterator[CountStream]:
    """Counts of a file, to be read in chunks while it is open: TSV, CSV or Parquet, each also .xz."""
    raise NotImplementedError
    yield CountStream()
