"""How well sanitised frequencies keep the order of the true ones: ordinal statistics (PWS Section 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidValue
from ...exact import Floats
from ..reporting import FrequencyNoise, FrequencyRow, Reporting
from .statistics import Frequencies

_CELLS = 1 << 12
_LARGEST = (1 << 64) - 1
_ROWS = 256
_PAIR = 2


def concordance(lower: FrequencyRow, higher: FrequencyRow) -> Fraction:
    """The probability that two keys, drawn from these rows, are ordered as their frequencies are; ties count ½.

    "Not reported" lies below every token. Exact, for rows of one table.

    Raises:
        InvalidValue: where `lower` does not have the lower frequency, and for rows in different units.
    """
    if lower.frequency >= higher.frequency:
        raise InvalidValue("lower", lower.frequency, f"a frequency below {higher.frequency}")
    if (lower.bits, lower.subdivision) != (higher.bits, higher.subdivision):
        raise InvalidValue("higher", f"units of 2^-{higher.bits}", f"units of 2^-{lower.bits}, a row of the same table")
    twice = lower.unreported * (higher.unreported + 2 * higher.reported)
    edges = sorted({e for run in (*lower.runs, *higher.runs) for e in (run.first, run.end)})
    starts = {edge: index for index, edge in enumerate(edges)}
    masses = [[0] * len(edges), [0] * len(edges)]
    for held, row in zip(masses, (lower, higher), strict=True):
        for run in row.runs:
            for index in range(starts[run.first], starts[run.end]):
                held[index] = run.units * (edges[index + 1] - edges[index])
    above = higher.reported
    for low, high in zip(*masses, strict=True):
        above -= high
        twice += low * (high + 2 * above)
    return Fraction(twice, 1 << lower.bits + higher.bits + 1)


def expected_kendall(rows: Sequence[FrequencyRow], counts: Sequence[int]) -> float:
    """The expected Kendall τ between true and sanitised order, over the pairs of keys with different frequencies.

    A pair adds 1 where it is concordant, −1 where it is reversed and 0 where it is tied.

    Args:
        rows: one row per frequency, from the lowest to the highest.
        counts: how many keys have that frequency: the result is as private as they are.

    Raises:
        InvalidValue: for another number of counts, and where no two keys differ in frequency.
    """
    if len(rows) != len(counts):
        raise InvalidValue("counts", len(counts), f"{len(rows)}, one per row")
    pairs, agreed = 0, []
    for (low, few), (high, many) in combinations(zip(rows, counts, strict=True), 2):
        pairs += few * many
        agreed.append(few * many * float(2 * concordance(low, high) - 1))
    if not pairs:
        raise InvalidValue("counts", list(counts), "keys of at least two frequencies")
    return fsum(agreed) / pairs


class _Law(NamedTuple):
    """What a key of one frequency is reported with, as floats, in pieces of tokens in order."""

    firsts: NDArray[np.uint64]
    ends: NDArray[np.uint64]
    each: Floats
    """The probability of each token of a piece."""
    unreported: float

    @property
    def lowest(self) -> int:
        """The first token of the law."""
        return int(self.firsts[0]) if self.firsts.size else _LARGEST

    @property
    def end(self) -> int:
        """The token after the last one of the law."""
        return int(self.ends[-1]) if self.ends.size else 0


def concordances(reporting: Reporting, frequencies: Sequence[int] | Frequencies) -> Floats:
    """`concordance` of every two of many frequencies, in floats.

    Args:
        reporting: what the sanitiser reports.
        frequencies: whole numbers ≥ 1, increasing; their tokens are below 2^64.

    Returns:
        A matrix with the probability that keys of two different frequencies are ordered as these are, ties counting ½,
        in both of their places; ½ on the diagonal. Off by about 2^−52 for each piece of the rows.

    Raises:
        InvalidValue: for no frequencies, or some whose tokens go beyond 64 bits.
    """
    _require_words(reporting, frequencies)
    return _concordances(list(_laws(reporting, frequencies)))


def likely_kendall(reporting: Reporting, frequencies: Sequence[int] | Frequencies, keys: Floats) -> float:
    """`expected_kendall` in floats, for many frequencies and for numbers of keys that are estimates.

    Args:
        reporting: what the sanitiser reports.
        frequencies: whole numbers ≥ 1, increasing; their tokens are below 2^64.
        keys: how many keys have each, > 0.

    Raises:
        InvalidValue: as `concordances`, and where no two keys differ in frequency.
    """
    _require_words(reporting, frequencies)
    if len(frequencies) < _PAIR:
        raise InvalidValue("frequencies", list(frequencies), "keys of at least two frequencies")
    laws, open_, place = _laws(reporting, frequencies), list[_Law](), 0
    agreed, below, below_unreported = (
        0.0,
        0.0,
        0.0,
    )  # keys whose tokens lie below all that is open, less those unreported
    ended = False
    while open_ or not ended:
        end = max((law.end for law in open_[:_ROWS]), default=0)
        while not ended and (len(open_) < _ROWS or open_[-1].lowest < end):
            law = next(laws, None)
            ended = law is None
            if law is not None:
                # concordant with a key far below: reported, or both are not, which counts ½
                gain = (1 - 2 * law.unreported) * below + law.unreported * below_unreported
                agreed += keys[place + len(open_)] * gain
                open_.append(law)
                if len(open_) <= _ROWS:
                    end = max(end, law.end)
        weights = keys[place : place + len(open_)]
        done = min(_ROWS, len(open_))
        signs = 2 * np.triu(_concordances(open_), 1)[:done] - np.triu(np.ones((len(open_), len(open_))), 1)[:done]
        agreed += float(weights[:done] @ signs @ weights)
        below += float(weights[:done].sum())
        below_unreported += float(weights[:done] @ np.array([law.unreported for law in open_[:done]]))
        place += done
        del open_[:done]
    pairs = (float(keys.sum()) ** 2 - float(keys @ keys)) / 2
    return agreed / pairs


def _require_words(reporting: Reporting, frequencies: Sequence[int] | Frequencies) -> None:
    if not len(frequencies) or int(frequencies[-1]) << reporting.budget.subdivision > _LARGEST:
        raise InvalidValue("frequencies", list(frequencies[-1:]), "at least one, and tokens below 2^64")


def _concordances(laws: Sequence[_Law]) -> Floats:
    lowest = np.array([law.lowest for law in laws], dtype=np.uint64)
    ends = np.array([law.end for law in laws], dtype=np.uint64)
    unreported = np.array([law.unreported for law in laws])
    above = 1 - unreported  # the probability of a token above those done
    ordered = np.outer(unreported, above + unreported / 2)
    grid = np.unique(np.concatenate([edges for law in laws for edges in (law.firsts, law.ends)]))
    for start in range(0, len(grid) - 1, _CELLS):
        edges = grid[start : start + _CELLS + 1]
        there = np.flatnonzero((lowest < edges[-1]) & (ends > edges[0]))
        if not there.size:
            continue
        rows = slice(int(there[0]), int(there[-1]) + 1)
        masses = np.stack([_masses(law, edges) for law in laws[rows]])
        beyond = above[rows, None] - np.cumsum(masses, axis=1)
        ordered[rows, rows] += masses @ (beyond + masses / 2).T
        ordered[rows, rows.stop :] += np.outer(masses.sum(axis=1), above[rows.stop :])
        above[rows] -= masses.sum(axis=1)
    upper = np.triu(ordered, 1)
    return upper + upper.T + np.eye(len(laws)) / 2


def _laws(reporting: Reporting, frequencies: Sequence[int] | Frequencies) -> Iterator[_Law]:
    match reporting:
        case FrequencyNoise():
            return _delays(reporting, frequencies)
    return map(_law, reporting.at(map(int, frequencies)))


def _law(row: FrequencyRow) -> _Law:
    certain = 1 << row.bits
    return _Law(
        np.array([run.first for run in row.runs], dtype=np.uint64),
        np.array([run.end for run in row.runs], dtype=np.uint64),
        np.array([run.units / certain for run in row.runs]),
        row.unreported / certain,
    )


def _delays(noise: FrequencyNoise, frequencies: Sequence[int] | Frequencies) -> Iterator[_Law]:
    """The laws without a row for each: all are cut from one."""
    certain, band = noise.budget.certain, noise.band
    columns = noise.columns[::-1]  # the lowest token of a block has the longest delay
    edges = np.array([0, *accumulate(column.width for column in columns)], dtype=np.uint64)
    units = np.array([[*column.units, *[0] * (band - len(column.units))] for column in columns], dtype=object)
    each = np.array(units / certain, dtype=np.float64).T
    masses = [sum(width * held[delay] for width, held in columns if delay < len(held)) for delay in range(band)]
    cut = [(certain - total) / certain for total in accumulate(masses)]
    for frequency in map(int, frequencies):
        delays = np.arange(min(band, frequency))[::-1]
        blocks = (frequency - 1 - delays).astype(np.uint64)[:, None] << np.uint64(noise.subdivision)
        yield _Law(
            (blocks + edges[:-1]).ravel(), (blocks + edges[1:]).ravel(), each[delays].ravel(), cut[len(delays) - 1]
        )


def _masses(law: _Law, edges: NDArray[np.uint64]) -> Floats:
    """The probability of each cell between the edges, which the law's pieces do not cut."""
    if not law.firsts.size:
        return np.zeros(len(edges) - 1)
    starts = edges[:-1]
    places = np.searchsorted(law.firsts, starts, side="right") - 1
    held = (places >= 0) & (starts < law.ends[places])
    return np.where(held, law.each[places] * np.diff(edges).astype(np.float64), 0.0)
