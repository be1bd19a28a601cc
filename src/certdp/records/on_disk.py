"""Losses of any number of records in the memory of a chunk: they lie in a temporary file that has no name."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ..accounting.exact import Floats
from ..accounting.provenance import Private
from ..accounting.sampling.clipping import Outside
from ..data import Records
from ..durable.files import writing
from ..runs.sampled import SampledRun
from .chunks import Progress
from .laws import At
from .losses import LEVELS, RecordLosses, record_losses

_Words: TypeAlias = NDArray[np.uint64]

_BLOCK = 1 << 17
_DIGIT = 16
_LARGEST_DIGIT = (1 << _DIGIT) - 1


def record_losses_on_disk(
    run: SampledRun[Any],
    records: Records,
    outside: Outside = Outside.CLIP,
    *,
    at: At = None,
    rows: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Private[RecordLosses]:
    """What `record_losses` gives, quantiles and values included, in the memory of a chunk.

    The values lie in a temporary file of 8 bytes for each record, which goes with them.

    Raises:
        InvalidValue: where that file cannot be written. Otherwise as `record_losses`.
    """
    with tempfile.TemporaryFile() as file:

        def put(losses: Floats) -> None:
            with writing(Path(tempfile.gettempdir())):
                file.write(np.ascontiguousarray(losses).data)

        found = record_losses(run, records, outside, at=at, into=put, rows=rows, threads=threads, progress=progress)
        with writing(Path(tempfile.gettempdir())):
            file.flush()

        def with_values(measured: RecordLosses) -> RecordLosses:
            values = np.memmap(file, dtype=np.float64, mode="r")
            dropped = measured.outside if outside is Outside.DROP else 0
            kept = measured.records - dropped
            # a dropped record loses no more than any other: it comes before all that are kept
            ranks = [dropped + math.ceil(np.float64(level) * (kept - 1)) for level in LEVELS] if kept else []
            quantiles = dict(zip(LEVELS, order_statistics(values, ranks), strict=False))
            return evolve(measured, values=values, quantiles=quantiles)

        return found.map(with_values)


def order_statistics(values: Floats, ranks: Sequence[int]) -> list[float]:
    """The numbers of these ranks among numbers ≥ 0, the smallest of rank 0, in little memory.

    Bits of such numbers are ordered as they are; each of four passes finds 16 of them.
    """
    prefixes, rest = [0] * len(ranks), list(ranks)
    for shift in range(64 - _DIGIT, -1, -_DIGIT):
        counts = {prefix: np.zeros(_LARGEST_DIGIT + 1, dtype=np.int64) for prefix in prefixes}
        for words in _words(values):
            digits = words >> np.uint64(shift)
            for prefix, count in counts.items():
                some = digits[digits >> np.uint64(_DIGIT) == prefix] & np.uint64(_LARGEST_DIGIT)
                count += np.bincount(some.astype(np.int64), minlength=len(count))
        for place, prefix in enumerate(prefixes):
            below = np.cumsum(counts[prefix])
            digit = int(np.searchsorted(below, rest[place], side="right"))
            rest[place] -= int(below[digit - 1]) if digit else 0
            prefixes[place] = prefix << _DIGIT | digit
    return [float(np.uint64(prefix).view(np.float64)) for prefix in prefixes]


def _words(values: Floats) -> Iterator[_Words]:
    for start in range(0, len(values), _BLOCK):
        yield (values[start : start + _BLOCK] + 0.0).view(np.uint64)  # a zero has no sign
