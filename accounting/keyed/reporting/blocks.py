"""Rows of a frequency sanitiser in blocks: the next rows after one, computed and proven by a compiled loop.

They are the rows of `rows.following`, to the unit, wherever units and e^ε are not too long for two words.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import TypeAlias, final, overload

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..._kernels.frequency_rows import MORE_RUNS, following_rows, leading_edges
from ...errors import CertdpError
from .budget import DyadicBudget
from .rows import FrequencyRow, Run

_Places: TypeAlias = NDArray[np.int64]
_Words: TypeAlias = NDArray[np.uint64]

_WORD = 64
_MOST_BITS = 125
_MOST_GROWTH_BITS = 126
_MOST_TOKEN_BITS = 62
_ROOM = 1 << 16  # runs of a block, where its first row does not need more
_ROOM_FOR_ROWS = 8  # as many runs as the first row


@final
@frozen(kw_only=True, eq=False)
class RowBlock(Sequence[FrequencyRow]):
    """Rows of neighbouring frequencies in arrays.

    Attributes:
        frequency: of the first row.
        bits: K.
        subdivision: r.
        kept: units with which the sampler keeps a key, of each row.
        unreported: units not reported in each row, in two words of 64 bits, the lower one first.
        starts: where the runs of each row begin, and those of the last end.
        firsts: the first token of each run.
        widths: how many tokens it has.
        units: of each token, in two words.
    """

    frequency: int
    bits: int
    subdivision: int
    kept: Sequence[int]
    unreported: _Words
    starts: _Places
    firsts: _Places
    widths: _Places
    units: _Words

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.kept)

    @overload
    def __getitem__(self, place: int) -> FrequencyRow: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[FrequencyRow]: ...
    def __getitem__(self, place: int | slice) -> FrequencyRow | Sequence[FrequencyRow]:
        """Return the row at a place, or a block of neighbouring ones."""
        chosen = range(len(self))[place]
        if isinstance(chosen, range):
            return self._part(chosen.start, chosen.stop) if chosen.step == 1 else [self[row] for row in chosen]
        row = chosen
        runs = slice(self.starts[row], self.starts[row + 1])
        firsts, widths = self.firsts[runs].tolist(), self.widths[runs].tolist()
        low, high = self.units[runs].T.tolist()
        return FrequencyRow(
            frequency=self.frequency + row,
            bits=self.bits,
            subdivision=self.subdivision,
            kept=self.kept[row],
            unreported=self.without_report(row),
            runs=tuple(
                Run(first, width, low_word | high_word << _WORD)
                for first, width, low_word, high_word in zip(firsts, widths, low, high, strict=True)
            ),
        )

    def without_report(self, row: int) -> int:
        """The units that are not reported, of the row at a place."""
        low, high = self.unreported[row].tolist()
        return int(low | high << _WORD)

    @property
    def lengths(self) -> _Places:
        """How many runs each row has."""
        return np.diff(self.starts)

    def _part(self, first: int, end: int) -> RowBlock:
        runs = slice(self.starts[first], self.starts[end])
        return RowBlock(
            frequency=self.frequency + first,
            bits=self.bits,
            subdivision=self.subdivision,
            kept=self.kept[first:end],
            unreported=self.unreported[first:end],
            starts=self.starts[first : end + 1] - self.starts[first],
            firsts=self.firsts[runs],
            widths=self.widths[runs],
            units=self.units[runs],
        )

    def leads(self) -> _Words:
        """The 64 leading bits of the sums of each row's first runs, behind each row those of 2^K − 1."""
        found = np.empty(len(self.firsts) + len(self), dtype=np.uint64)
        leading_edges(np.uint64(self.bits), self.starts, self.widths, self.units, found)
        return found


@final
class RowBlocks:
    """Makes rows of one budget in blocks.

    Args:
        budget: ε and δ, as `fits` admits them.
    """

    def __init__(self, budget: DyadicBudget) -> None:
        self._budget = budget
        bits = budget.bits
        numbers = [budget.growth, (1 << 2 * bits) // budget.growth, budget.allowance, budget.certain]
        most = floor(budget.delta.value * (1 << 2 * bits))
        self._constants = _in_words([*numbers, most & (1 << 2 * _WORD) - 1, most >> 2 * _WORD])

    @staticmethod
    def fits(budget: DyadicBudget) -> bool:
        """Whether units have at least one word and are short enough."""
        return _WORD <= budget.bits <= _MOST_BITS and budget.growth.bit_length() <= _MOST_GROWTH_BITS

    def last(self) -> int:
        """The last frequency whose tokens are not too long."""
        return 1 << max(0, _MOST_TOKEN_BITS - self._budget.subdivision)

    def after(self, row: FrequencyRow, kept: Sequence[int]) -> RowBlock:
        """The rows after this one, at least one of them.

        Args:
            row: one that was proven.
            kept: units with which the sampler keeps keys of the frequencies that follow, not falling and at least those
                of `row`; up to the last frequency that fits.

        Guarantees:
            Each row is the one that `rows.following` returns, and its divergences from the one before are computed from
            the two rows and at most δ. There may be fewer than `kept` has.

        Raises:
            CertdpError: where they are not, which would be an error of this library.
        """
        room = max(_ROOM, _ROOM_FOR_ROWS * (len(row.runs) + MORE_RUNS))
        firsts, widths = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        units, unreported = np.empty((room, 2), dtype=np.uint64), np.empty((len(kept) + 1, 2), dtype=np.uint64)
        starts = np.zeros(len(kept) + 2, dtype=np.int64)
        own = starts[1] = len(row.runs)
        if own:
            firsts[:own], widths[:own] = [run.first for run in row.runs], [run.width for run in row.runs]
            units[:own] = _in_words([run.units for run in row.runs])
        unreported[:1] = _in_words([row.unreported])
        budget = self._budget
        rows = following_rows(
            self._constants,
            np.uint64(budget.bits),
            np.uint64(budget.subdivision),
            row.frequency,
            _in_words(kept),
            unreported,
            starts,
            firsts,
            widths,
            units,
        )
        if rows < 0:
            raise CertdpError(f"a row after {row.frequency} does not satisfy (ε, δ)-DP")
        whole = RowBlock(
            frequency=row.frequency,
            bits=budget.bits,
            subdivision=budget.subdivision,
            kept=[row.kept, *kept[: rows - 1]],
            unreported=unreported,
            starts=starts[: rows + 1],
            firsts=firsts,
            widths=widths,
            units=units,
        )
        return whole._part(1, rows)


def _in_words(numbers: Sequence[int]) -> _Words:
    data = b"".join([number.to_bytes(2 * _WORD // 8, "little") for number in numbers])
    return np.frombuffer(data, dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)
