"""Clusters of weighted records: the nearest centre of each, and sums per cluster that one record moves by itself alone.

Legend: x is a record of weight w, c a centre, g the spacing of a lattice, a power of two.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._kernels import lloyd
from ..enclosures.arguments import whole
from ..errors import InvalidValue
from ..exact import Floats
from ..norms import Norm
from . import arrays as bulk

Integers: TypeAlias = NDArray[np.int64]
Part = TypeVar("Part")

LARGEST_STEPS = 2.0**50
"""Most multiples of the spacing that one weighted entry may reach."""

_SCALE_BITS = 28  # of the noise's scale, so that a million records lose 2^-8 of it together
_EXTENT_BITS = 38  # of the domain's extent: what the noise does not hide is lost in the last digits of an entry
_EXPONENTS = (-500, 500)
_SHARE = 1 << 16  # entries per thread from which threads are worth their start


def nearest_centres(records: Floats, centres: Floats, *, threads: int = 1) -> Integers:
    """The index of the nearest centre of each record, as binary64 tells it; the first of several.

    Args:
        records: float64 matrix (n, d) of finite numbers.
        centres: float64 matrix (k, d) of finite numbers, k ≥ 1.
        threads: threads that share the rows.

    Guarantees:
        An index depends on that record and the centres alone: not on other records, memory order or threads. Distances
        are compared as ‖c‖²/2 − x·c with d + 1 roundings; where products leave the range of binary64 the index is 0 or
        another valid one.

    Raises:
        InvalidValue, InvalidType: for threads < 1.
    """
    clusters, columns = centres.shape
    negated = np.zeros((_padded(clusters, lloyd.GROUP), _padded(columns, lloyd.GROUP)))
    negated[:clusters, :columns] = -centres
    halves = np.full(len(negated), np.inf)
    halves[:clusters] = squared_distances(centres, np.zeros((1, columns)), np.zeros(clusters, dtype=np.int64)) / 2
    labels = np.empty(len(records), dtype=np.int64)

    def run(start: int, stop: int) -> None:
        lloyd.nearest(records[start:stop], negated, halves, labels[start:stop])

    _shared(run, records.shape, threads)
    return labels


def lattice_spacing(scale: Fraction, extent: Fraction) -> float:
    """The spacing of the lattice for sums that noise of a scale is added to.

    Args:
        scale: scale of the noise, above 0.
        extent: public bound of the entries, in the same unit; above 0.

    Returns:
        The least power of two that is at least scale·2^-28 and extent·2^-38: entries up to 2^22·scale, or 2^12·extent
        if that is more, stay within LARGEST_STEPS.

    Raises:
        InvalidValue: for a spacing outside [2^-500, 2^500].
    """
    wanted = max(scale / 2**_SCALE_BITS, extent / 2**_EXTENT_BITS)
    exponent = wanted.numerator.bit_length() - wanted.denominator.bit_length() - 1
    while Fraction(2) ** exponent < wanted:
        exponent += 1
    if not _EXPONENTS[0] <= exponent <= _EXPONENTS[1]:
        raise InvalidValue(
            "scale", float(scale), "a scale and a radius from 2^-400 to 2^400", "Divide the data by a public bound"
        )
    return float(Fraction(2) ** exponent)


def refuse_beyond_lattice(records: Floats, weights: Floats, spacing: float) -> None:
    """Refuse weighted entries that the lattice does not hold; a message to the data's curator, not an output.

    Raises:
        InvalidValue: where some w·|x| exceeds 2^50·g.
    """
    with np.errstate(over="ignore"):  # an overflow exceeds every bound
        largest = weights * bulk.norms(records, Norm.LINF)
    if np.any(largest > LARGEST_STEPS * spacing):
        raise InvalidValue(
            "records",
            f"a weighted record with an entry beyond {LARGEST_STEPS * spacing:.4g}",
            "weighted entries up to 2^22 scales of the noise, or 2^12 radii",
            "Use a larger scale, smaller weights or a public domain",
        )


def cluster_totals(
    records: Floats,
    weights: Floats,
    labels: Integers,
    clusters: int,
    spacing: float,
    *,
    noise: Integers | None = None,
    threads: int = 1,
) -> Floats:
    """Per cluster Σ g·⌊w·|x|/g⌋ with the signs of x, column by column; and noise where some is given.

    Args:
        records: float64 matrix (n, d); copied unless it is C-contiguous.
        weights: float64 (n,), for which `refuse_beyond_lattice` passes.
        labels: the cluster of each record, in [0, clusters).
        clusters: how many there are.
        spacing: g, from `lattice_spacing`.
        noise: int64 (clusters, d): whole multiples of g that are added to the sums.
        threads: threads that share the rows.

    Returns:
        float64 (clusters, d): a function of the exact sums, or exact noisy sums, rounded once or twice at the very end.

    Guarantees:
        Adding a record changes the exact sums of its own cluster alone, by numbers that are at most w·|x| in magnitude,
        entry by entry: every norm of the change is at most w·‖x‖. The result is the same for any number of threads.
    """
    shape = clusters, records.shape[1]
    rows = np.ascontiguousarray(records)

    def run(start: int, stop: int) -> tuple[Integers, Integers]:
        high, low = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        lloyd.lattice_totals(rows[start:stop], weights[start:stop], labels[start:stop], spacing, high, low)
        return high, low

    high, low = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for part_high, part_low in _shared(run, records.shape, threads):
        high += part_high
        low += part_low
    if noise is not None:
        high += noise >> lloyd.LOW_BITS
        low += noise & ((1 << lloyd.LOW_BITS) - 1)
    high += low >> lloyd.LOW_BITS  # one way to write each sum, however it was shared out
    low &= (1 << lloyd.LOW_BITS) - 1
    return np.asarray((np.ldexp(high.astype(np.float64), lloyd.LOW_BITS) + low) * spacing, dtype=np.float64)


def squared_distances(records: Floats, centres: Floats, labels: Integers, *, threads: int = 1) -> Floats:
    """‖x − c‖² of each record and the centre of its label, in binary64: float64 (n,)."""
    out = np.empty(len(records))
    whole_centres = np.ascontiguousarray(centres)

    def run(start: int, stop: int) -> None:
        lloyd.squared_distances(records[start:stop], whole_centres, labels[start:stop], out[start:stop])

    _shared(run, records.shape, threads)
    return out


def _padded(size: int, group: int) -> int:
    return -(-size // group) * group


def _shared(run: Callable[[int, int], Part], shape: tuple[int, ...], threads: int) -> list[Part]:
    """What `run` gives on consecutive parts of the rows, shared among threads where there are many entries."""
    rows, columns = shape
    parts = max(1, min(whole("threads", threads, 1), rows * columns // _SHARE, rows))
    if parts == 1:
        return [run(0, rows)]
    ends = [rows * k // parts for k in range(parts + 1)]
    with ThreadPoolExecutor(parts) as pool:
        return list(pool.map(run, ends[:-1], ends[1:]))
