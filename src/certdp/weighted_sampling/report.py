"""What the data's owner may know about a release: keys reported by frequency, beside what was to be expected.

The baseline is the stability-based histogram (PWS Algorithm 6), its result sampled by the same scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any, TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..accounting.keyed.reporting import EveryKey, Inclusion, KeyTable, PoissonPps, Ppswor, Reporting
from ..accounting.keyed.stability_histograms import (
    NoSampling,
    PpsOfReleased,
    PpsworOfReleased,
    RealSampling,
    StabilityHistogram,
)
from ..accounting.provenance import Private
from .frequencies import capped

_Counts: TypeAlias = NDArray[np.uint64]
_Numbers: TypeAlias = NDArray[np.int64]

_NODES = 64
_NOTICE = "for the data's owner only, not for publication"


@final
@frozen(kw_only=True)
class Band:
    """The report about a band of neighbouring frequencies.

    Attributes:
        first: the lowest frequency, a power of two.
        last: the highest, one below the next power of two.
        keys: how many keys of the data have such a frequency.
        reported: how many of them were reported.
        expected: the expectation of that, an estimate in binary64.
        baseline: how many the stability-based histogram reports in expectation; None where it is not defined.
    """

    first: int
    last: int
    keys: int
    reported: int
    expected: float
    baseline: float | None

    def as_json(self) -> dict[str, Any]:
        """Return the band as a plain dictionary for JSON."""
        return {
            "frequencies": [self.first, self.last],
            "keys": self.keys,
            "reported": self.reported,
            "expected": self.expected,
            "baseline": self.baseline,
        }


@final
@frozen(kw_only=True)
class SampleReport:
    """Keys reported by frequency; it prints as a table. Computed from the data: for their owner, not for publication.

    Attributes:
        bands: from the lowest frequencies to the highest; those without keys are left out.
    """

    bands: tuple[Band, ...]

    @property
    def keys(self) -> int:
        """How many keys the data have."""
        return sum(band.keys for band in self.bands)

    @property
    def reported(self) -> int:
        """How many keys were reported."""
        return sum(band.reported for band in self.bands)

    @property
    def expected(self) -> float:
        """How many keys are reported in expectation."""
        return fsum(band.expected for band in self.bands)

    @property
    def baseline(self) -> float | None:
        """How many the stability-based histogram reports in expectation."""
        return _total([band.baseline for band in self.bands])

    def as_json(self) -> dict[str, Any]:
        """Return the report as a plain dictionary for JSON, with the notice that it is private."""
        return {
            "notice": f"computed from the data: {_NOTICE}",
            "keys": self.keys,
            "reported": self.reported,
            "expected": self.expected,
            "baseline": self.baseline,
            "bands": [band.as_json() for band in self.bands],
        }

    def __str__(self) -> str:
        rows = [("frequency", "keys", "reported", "expected", "baseline"), *map(_cells, self.bands)]
        rows.append(("all", f"{self.keys:,}", f"{self.reported:,}", f"{self.expected:,.1f}", _decimal(self.baseline)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([_NOTICE, *lines, "baseline: stability-based histogram, expected number of keys"])


@final
class BandTally:
    """Counts keys and reports by frequency, chunk by chunk."""

    def __init__(self, reporting: Reporting) -> None:
        self._reporting = reporting
        self._frequencies: _Counts = np.empty(0, dtype=np.uint64)
        self._keys: _Numbers = np.empty(0, dtype=np.int64)
        self._reported: _Numbers = np.empty(0, dtype=np.int64)

    def add(self, counts: _Counts, kept: NDArray[np.bool_]) -> None:
        """Add the keys of a chunk.

        Args:
            counts: the frequency of each.
            kept: whether each was reported.
        """
        values, places = np.unique(np.concatenate([self._frequencies, counts]), return_inverse=True)
        self._keys = _summed(places, np.concatenate([self._keys, np.ones(len(counts), np.int64)]), len(values))
        self._reported = _summed(places, np.concatenate([self._reported, kept.astype(np.int64)]), len(values))
        self._frequencies = values

    def report(self) -> Private[SampleReport]:
        """Return the report of the keys added so far, by band."""
        expected = _probabilities(self._reporting, self._frequencies)
        baseline = baseline_of(self._reporting)
        exponents = np.array([int(value).bit_length() - 1 for value in self._frequencies.tolist()], dtype=np.int64)
        bands = []
        for exponent in np.unique(exponents).tolist():
            here = exponents == exponent
            keys, used = self._keys[here], capped(self._frequencies[here], self._reporting.largest)
            bands.append(
                Band(
                    first=1 << exponent,
                    last=(2 << exponent) - 1,
                    keys=int(keys.sum()),
                    reported=int(self._reported[here].sum()),
                    expected=fsum(keys * expected[here]),
                    baseline=None if baseline is None else fsum(keys * _interpolated(baseline, used)),
                )
            )
        return Private(SampleReport(bands=tuple(bands)))


def _summed(places: NDArray[np.intp], numbers: _Numbers, length: int) -> _Numbers:
    total = np.zeros(length, dtype=np.int64)
    np.add.at(total, places.reshape(-1), numbers)
    return total


def _probabilities(reporting: Reporting, frequencies: _Counts) -> NDArray[np.float64]:
    """π of increasing frequencies, by the table of keys: tokens do not change how often a key is reported."""
    table = KeyTable(
        epsilon=reporting.epsilon, delta=reporting.delta, inclusion=reporting.inclusion, largest=reporting.largest
    )
    return np.array([float(row.probability) for row in table.at(frequencies.tolist())])


def baseline_of(reporting: Reporting) -> StabilityHistogram | None:
    """The histogram with the same ε and δ, sampled by the same scheme; None where it is not defined."""
    sampling = _sampling_of(reporting.inclusion)
    if sampling is None or not reporting.epsilon.value or reporting.delta.value == 1:
        return None
    return StabilityHistogram(epsilon=reporting.epsilon, delta=reporting.delta, sampling=sampling)


def _sampling_of(inclusion: Inclusion) -> RealSampling | None:
    match inclusion:
        case EveryKey():
            return NoSampling()
        case Ppswor(threshold=threshold, power=power) if power == 1:
            return PpsworOfReleased(threshold=threshold)
        case PoissonPps(threshold=threshold, power=power) if power == 1:
            return PpsOfReleased(threshold=threshold)
    return None


def _interpolated(histogram: StabilityHistogram, frequencies: _Counts) -> NDArray[np.float64]:
    """φ at increasing frequencies of one band: computed at a few of them, and linear between those."""
    places = np.unique(np.linspace(0, len(frequencies) - 1, min(_NODES, len(frequencies))).round().astype(np.intp))
    nodes = frequencies[places].tolist()
    known = [float(histogram.probability(int(node), precision=53).midpoint) for node in nodes]
    return np.asarray(np.interp(frequencies.astype(np.float64), nodes, known))


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) if len(known) == len(values) else None


def _cells(band: Band) -> tuple[str, str, str, str, str]:
    span = f"{band.first:,}" if band.first == band.last else f"{band.first:,}–{band.last:,}"
    return span, f"{band.keys:,}", f"{band.reported:,}", f"{band.expected:,.1f}", _decimal(band.baseline)


def _decimal(value: float | None) -> str:
    return "none" if value is None else f"{value:,.1f}"
