"""Which frequency reports a token most often: the maximum likelihood of PWS Equation 9, over all frequencies.

Legend: r, tokens, units and runs as in `frequency_reporting.rows`; block m are the 2^r tokens from m·2^r on, which
frequency m + 1 brings; H_t is the least frequency h that maximises π_ht.

q ≡ 1 (`frequency_reporting.noise`). Frequency h reports token t of block m, the c-th from 0, with the units of the
delay h·2^r − 1 − t = (h − m − 1)·2^r + (2^r − 1 − c): the column depends on c alone, and its place k = h − m − 1 takes
every value from 0 on. Rows are cut off below token 0, never at a token, so none of these units is missing. Hence
H_t = m + 1 + k with k the least place of the column's largest units, for every t, large or small; t is reported by
frequencies m + 1 to m + n for a column of n delays; and π_h is the sum of the units of all delays below h·2^r. Before
its largest units a column does not fall, so that a public largest frequency M makes H_t and m + n at most M.

Otherwise rows are read one after the other (`histories`). Where row f + n is row f moved by n frequencies, and so are
all rows after them (`Reporting.origins`), blocks from f on repeat after n, as all frequencies that report their tokens
do: with π_h, H_t and laws those of n frequencies before, moved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import accumulate, count
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidValue, OutsideDomain
from ...exact import Floats
from ..reporting import FrequencyNoise, FrequencyRow, Reporting
from .histories import histories
from .statistics import Frequencies

_WORD = 64


class Reach(NamedTuple):
    """The frequencies that report each of some tokens, for certain."""

    least: Frequencies
    most: Frequencies


class Cells(NamedTuple):
    """The law of a key of one frequency, told apart by the likeliest frequency of its token."""

    probabilities: Floats
    likeliest: Frequencies
    unreported: float


class Likelihood(ABC):
    """The maximum-likelihood estimate of frequencies: for every token the frequency that reports it most often."""

    __slots__ = ()

    @abstractmethod
    def likeliest(self, tokens: NDArray[np.uint64]) -> Frequencies:
        """H_t of each token.

        Raises:
            OutsideDomain: beyond the tokens that were asked for when this was made.
        """

    @abstractmethod
    def reach(self, tokens: NDArray[np.uint64]) -> Reach:
        """The least and the largest frequency that report each token; errors as for `likeliest`."""

    @abstractmethod
    def probability(self, frequency: int) -> Fraction:
        """Return the reporting probability π_h of a frequency, exactly; errors as for `reported`."""

    @abstractmethod
    def reported(self, frequencies: Frequencies) -> Floats:
        """π_h of each frequency, to the nearest float.

        Raises:
            OutsideDomain: beyond the rows read, which hold every H_t.
        """

    @property
    @abstractmethod
    def last_withheld(self) -> int | None:
        """The largest frequency of which a key may be left out; None where it is not known, or there is none."""

    @abstractmethod
    def laws(self, frequencies: Iterable[int]) -> Iterator[Cells]:
        """What keys of these increasing frequencies are reported with; errors as for `likeliest`."""

    @abstractmethod
    def pieces(self, highest: int) -> Iterator[tuple[int, int]]:
        """(first token, H_t) of the pieces of the tokens of frequencies up to `highest`, in order."""


@final
class DelayLikelihood(Likelihood):
    """q ≡ 1: from the delays alone, for every token.

    Args:
        noise: the sanitiser.
    """

    def __init__(self, noise: FrequencyNoise) -> None:
        self._largest = noise.largest
        self._subdivision, self._certain = noise.subdivision, noise.budget.certain
        columns = noise.columns[::-1]  # the lowest token of a block has the longest delay
        self._starts = [0, *accumulate(column.width for column in columns[:-1])]
        peaks = [column.units.index(max(column.units)) for column in columns]
        self._peaks = np.array(peaks, dtype=np.int64)
        self._lengths = np.array([len(column.units) for column in columns], dtype=np.int64)
        masses = {peak: [0] * noise.band for peak in peaks}
        for (width, units), peak in zip(columns, peaks, strict=True):
            for delay, value in enumerate(units):
                masses[peak][delay] += width * value
        self._units = [0, *accumulate(map(sum, zip(*masses.values(), strict=True)))]
        self._masses = {peak: np.array([m / self._certain for m in held]) for peak, held in masses.items()}
        self._reported = np.array([units / self._certain for units in self._units])

    def likeliest(self, tokens: NDArray[np.uint64]) -> Frequencies:
        """Return for each token the frequency H_t that reports it most often."""
        blocks, places = self._placed(tokens)
        return self._capped(blocks + 1 + self._peaks[places])

    def reach(self, tokens: NDArray[np.uint64]) -> Reach:
        """The least and the largest frequency that report each token."""
        blocks, places = self._placed(tokens)
        return Reach(blocks + 1, self._capped(blocks + self._lengths[places]))

    def probability(self, frequency: int) -> Fraction:
        """Return the reporting probability π_h of a frequency, exactly."""
        return Fraction(self._units[min(frequency, len(self._units) - 1)], self._certain)

    def reported(self, frequencies: Frequencies) -> Floats:
        """Return the reporting probability π_h of each frequency, to the nearest float."""
        return self._reported[np.minimum(frequencies, len(self._reported) - 1)]

    @property
    def last_withheld(self) -> int:
        """The largest frequency of which a key may be left out: the one before the last delays."""
        return len(self._units) - 2

    def laws(self, frequencies: Iterable[int]) -> Iterator[Cells]:
        """What keys of these frequencies are reported with."""
        for frequency in frequencies:
            kept = [(peak, masses[:frequency]) for peak, masses in self._masses.items()]
            yield Cells(
                np.concatenate([masses for _, masses in kept]),
                self._capped(np.concatenate([frequency + peak - np.arange(len(masses)) for peak, masses in kept])),
                float(1 - self.probability(frequency)),
            )

    def pieces(self, highest: int) -> Iterator[tuple[int, int]]:
        """(first token, H_t) of the pieces of the tokens of frequencies up to `highest`."""
        inside = list(zip(self._starts, map(int, self._peaks), strict=True))
        for block in range(highest):
            for start, peak in inside:
                likeliest = block + 1 + peak
                capped = likeliest if self._largest is None else min(likeliest, self._largest)
                yield (block << self._subdivision) + start, capped

    def _capped(self, frequencies: Frequencies) -> Frequencies:
        return frequencies if self._largest is None else np.minimum(frequencies, self._largest)

    def _placed(self, tokens: NDArray[np.uint64]) -> tuple[Frequencies, NDArray[np.intp]]:
        """The block of each token, and the place of its column, lowest token first."""
        blocks = _blocks(tokens, self._subdivision)
        offsets = tokens & np.uint64((1 << self._subdivision) - 1)
        return blocks, np.searchsorted(np.array(self._starts, dtype=np.uint64), offsets, side="right") - 1


class _Cycle(NamedTuple):
    """From the first frequency on, rows repeat after some more, moved by as many frequencies."""

    first: int
    length: int


@final
class RowLikelihood(Likelihood):
    """From rows read one after the other, as far as they do not repeat.

    Args:
        reporting: the sanitiser.
        highest: the largest frequency whose tokens are to be read.

    Raises:
        InvalidValue: as `histories`.
    """

    def __init__(self, reporting: Reporting, highest: int) -> None:
        self._reporting = reporting
        self._cycle = cycle = _cycle(reporting, highest)
        rows = reporting.at(count(1) if reporting.last is None else range(1, reporting.last + 1))
        if cycle is None:
            self._read = read = histories(rows, highest, lambda _, likeliest: likeliest)
        else:  # the last cycle read lies so far beyond the first row that all of its tokens do, too
            self._read = read = histories(rows, cycle.first, lambda last, _: last + 2 * cycle.length)
        self._end = read.edges[-1] >> read.subdivision
        # 2^r tokens for each of many frequencies may need more than a word
        self._edges = np.array(read.edges, dtype=object if read.edges[-1] >> _WORD else np.uint64)
        self._likeliest = np.array(read.likeliest, dtype=np.int64)
        self._last = np.array(read.last, dtype=np.int64)
        self._reported = np.array([0.0, *(units / (1 << read.bits) for units in read.reported)])

    @property
    def last_withheld(self) -> int | None:
        """The largest frequency of which a key may be left out is not known here: None."""
        return None

    def likeliest(self, tokens: NDArray[np.uint64]) -> Frequencies:
        """Return for each token the frequency H_t that reports it most often."""
        places, turns = self._places(tokens)
        return self._likeliest[places] + turns

    def reach(self, tokens: NDArray[np.uint64]) -> Reach:
        """The least and the largest frequency that report each token."""
        places, turns = self._places(tokens)
        return Reach(_blocks(tokens, self._read.subdivision) + 1, self._last[places] + turns)

    def probability(self, frequency: int) -> Fraction:
        """Return the reporting probability π_h of a frequency, exactly."""
        (asked,) = self._turned_back(np.array([frequency], dtype=np.int64), len(self._read.reported))
        return Fraction(self._read.reported[asked - 1], 1 << self._read.bits)

    def reported(self, frequencies: Frequencies) -> Floats:
        """Return the reporting probability π_h of each frequency, to the nearest float."""
        return self._reported[self._turned_back(frequencies, len(self._read.reported))]

    def laws(self, frequencies: Iterable[int]) -> Iterator[Cells]:
        """What keys of these frequencies are reported with."""
        asked = np.array(list(frequencies), dtype=np.int64)
        near, far = asked[asked <= self._end], asked[asked > self._end]
        found = self._turned_back(far, self._end)
        laws: dict[int, Cells] = {}
        wanted, again = set(near.tolist()), set(found.tolist())
        for row in self._reporting.at(sorted(wanted | again)):
            law = self._law(row)
            if row.frequency in again:
                laws[row.frequency] = law
            if row.frequency in wanted:
                yield law
        for frequency, of in zip(far.tolist(), found.tolist(), strict=True):
            yield laws[of]._replace(likeliest=laws[of].likeliest + (frequency - of))

    def pieces(self, highest: int) -> Iterator[tuple[int, int]]:
        """(first token, H_t) of the pieces of the tokens of frequencies up to `highest`."""
        self._turned_back(np.array([highest], dtype=np.int64), self._end)
        subdivision = self._read.subdivision
        for first, likeliest in zip(self._read.edges, self._read.likeliest, strict=False):
            if first < highest << subdivision:
                yield first, likeliest
        if self._cycle is None:
            return
        start = self._end - self._cycle.length << subdivision
        again = [(max(first, start), h) for first, end, h in self._spans() if end > start]
        for turns in count(self._cycle.length, self._cycle.length):
            for first, likeliest in again:
                if first + (turns << subdivision) >= highest << subdivision:
                    return
                yield first + (turns << subdivision), likeliest + turns

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        return zip(self._read.edges, self._read.edges[1:], self._read.likeliest, strict=False)

    def _law(self, row: FrequencyRow) -> Cells:
        certain = 1 << row.bits
        if not row.runs:
            return Cells(np.zeros(0), np.zeros(0, dtype=np.int64), row.unreported / certain)
        edges = self._read.edges
        firsts = np.array([run.first for run in row.runs], dtype=self._edges.dtype)
        ends = np.array([run.end for run in row.runs], dtype=self._edges.dtype)
        inside = self._edges[bisect_right(edges, row.runs[0].first) : bisect_right(edges, row.runs[-1].end - 1)]
        points = np.unique(np.concatenate([firsts, ends, inside]))
        starts, widths = points[:-1], np.diff(points).astype(np.float64)
        runs = np.searchsorted(firsts, starts, side="right") - 1
        inside_run = starts < ends[runs]  # and not in a gap between two
        starts, widths, runs = starts[inside_run], widths[inside_run], runs[inside_run]
        each = np.array([run.units / certain for run in row.runs])[runs]
        pieces = np.searchsorted(self._edges, starts, side="right") - 1
        return Cells(widths * each, self._likeliest[pieces], row.unreported / certain)

    def _places(self, tokens: NDArray[np.uint64]) -> tuple[NDArray[np.intp], Frequencies]:
        """The piece of each token, or of one that lies some turns of the cycle below it; and how many frequencies."""
        brought_by = _blocks(tokens, self._read.subdivision) + 1
        turns = brought_by - self._turned_back(brought_by, self._end)
        if turns.any():
            tokens = tokens - (turns.astype(np.uint64) << np.uint64(self._read.subdivision))
        return np.searchsorted(self._edges, tokens, side="right") - 1, turns

    def _turned_back(self, frequencies: Frequencies, end: int) -> Frequencies:
        """Frequencies up to `end` with the same rows.

        Raises:
            OutsideDomain: where there are none.
        """
        beyond = np.maximum(frequencies - end, 0)
        if not beyond.any():
            return frequencies
        if self._cycle is None or end < self._cycle.first + self._cycle.length:
            raise OutsideDomain(f"frequency {frequencies.max()}, beyond {end}, the last that was read; estimate more.")
        turns = -(-beyond // self._cycle.length)
        return np.asarray(frequencies - turns * self._cycle.length, dtype=np.int64)


def _cycle(reporting: Reporting, highest: int) -> _Cycle | None:
    """What the rows up to the `highest` frequency come to repeat."""
    if reporting.last is not None:  # what rows repeat may end before their tokens do
        return None
    first = seen = 0
    for frequency, (origin, _) in zip(count(1), reporting.origins(count(1)), strict=False):
        if origin == first:
            return _Cycle(first, frequency - seen)
        if not first and origin < frequency:
            first, seen = origin, frequency
        if frequency >= highest and not first:
            return None
    return None


def likelihood(reporting: Reporting, highest: int) -> Likelihood:
    """The likelihoods of tokens of a sanitiser.

    Args:
        reporting: what it reports.
        highest: the largest frequency whose tokens are to be read; without sampling every token can be.

    Raises:
        InvalidValue: for keys alone, whose one token tells nothing; and as `RowLikelihood`.
    """
    if not reporting.with_frequencies:
        raise InvalidValue(
            "sample",
            "keys without frequencies",
            "keys that were reported with frequencies",
            "Only the number of keys can be estimated from keys alone",
        )
    match reporting:
        case FrequencyNoise():
            return DelayLikelihood(reporting)
    return RowLikelihood(reporting, highest)


def _blocks(tokens: NDArray[np.uint64], subdivision: int) -> Frequencies:
    """The number of each token's block; NumPy does not shift by a whole word, all of which is block 0."""
    if subdivision >= _WORD:
        return np.zeros(len(tokens), dtype=np.int64)
    return (tokens >> np.uint64(subdivision)).astype(np.int64)
