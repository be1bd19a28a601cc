"""The sanitiser of keys and frequencies, row by row, for any non-decreasing q (PWS Algorithms 4 and 5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, count, islice, pairwise
from threading import Lock
from typing import Generic, NamedTuple, TypeAlias, TypeVar, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...enclosures import Enclosure
from ...enclosures.arguments import whole
from ...errors import CertdpError, OutsideDomain
from ...units import Delta, Epsilon
from .blocks import RowBlock, RowBlocks
from .budget import DyadicBudget
from .inclusion import HIGHEST, EveryKey, Inclusion
from .keys import optima, rates_at
from .reporting import Origin, Reporting
from .rows import (
    Comparison,
    Excess,
    FrequencyRow,
    alike,
    compared,
    excess,
    following,
    moved,
    nothing_reported,
)

T = TypeVar("T")

Rows: TypeAlias = "RowBlock | Sequence[FrequencyRow]"
Watch: TypeAlias = Callable[[Rows], None]
"""Called with all rows that a walk comes to, in order, some at a time."""


class Origins(NamedTuple):
    """For frequencies in order: an `Origin` of each."""

    frequencies: NDArray[np.uint64]
    tokens: NDArray[np.uint64]
    """Modulo 2^64."""


_MOST_STEPS = 1_000_000
_FEW_STEPS = 128  # which take less than loading compiled code
_BLOCK = 1 << 10
_MOST_COMPARED = 1 << 14
_ROW_WEIGHT = 64


@final
@frozen(kw_only=True)
class ProvenRow:
    """A row, what separates it from the one before, and what rounding costs."""

    row: FrequencyRow
    excess: Excess
    """Both at most δ, exactly."""
    loss: Enclosure
    """The exact optimum π_i less the probability with which a key of this frequency is reported."""


@final
@frozen(kw_only=True)
class FrequencyTable(Reporting):
    """The end-to-end probabilities π_ij of a frequency sanitiser, as they are drawn.

    Args:
        epsilon: ε ≥ 0.
        delta: δ > 0.
        inclusion: the sampler's q_i.
        subdivision: r; each frequency brings 2^r tokens. 0 is PWS Algorithm 4, the largest admissible separation with
            i tokens up to frequency i; more is Algorithm 5 with breakpoints at multiples of 2^−r.
        largest: a public largest frequency, see `Reporting`.

    Raises:
        InvalidValue, InvalidType: as `DyadicBudget`, and for another largest frequency.
    """

    epsilon: Epsilon
    delta: Delta
    inclusion: Inclusion = field(factory=EveryKey)
    subdivision: int = field(default=0)
    budget: DyadicBudget = field(init=False)
    _cycle: list[FrequencyRow] = field(init=False, factory=list, eq=False, repr=False)
    """Rows that come again and again, once a walk has found them."""

    def __attrs_post_init__(self) -> None:
        budget = DyadicBudget(epsilon=self.epsilon, delta=self.delta, subdivision=self.subdivision)
        object.__setattr__(self, "budget", budget)
        self._check_largest()

    @property
    def with_frequencies(self) -> bool:
        """Whether frequencies are reported with the keys: they are."""
        return True

    def rows(self) -> Iterator[FrequencyRow]:
        """Rows 1, 2, …, one at a time, without end unless the rates end; only the last one is held."""
        walk = self._walk()
        return map(walk.to, self._frequencies())

    def stored(self, last: int) -> tuple[FrequencyRow, ...]:
        """Rows 1 to `last`, or to where the rates end; each holds the tokens of positive probability alone."""
        return tuple(islice(self.rows(), whole("last", last, 1)))

    def proven_rows(self) -> Iterator[ProvenRow]:
        """The rows with their proofs.

        Guarantees:
            Every row's divergences from the one before are computed from the two rows and at most δ: `excess` knows
            nothing of how they came about.

        Raises:
            CertdpError: where they are not, which would be an error of this library.
        """
        walk = self._walk()
        rates = rates_at(self.inclusion, self.budget, self._frequencies())
        for optimum in optima(self.epsilon, self.delta, rates):
            found = walk.step()
            yield ProvenRow(row=walk.row, excess=found, loss=optimum - walk.row.probability)

    def comparisons(self) -> Iterator[Comparison]:
        """Neighbouring rows, up to the first that repeat and once through their cycle.

        Raises:
            OutsideDomain: where rows do not begin to repeat, or end, within 2^14 frequencies.
        """
        walk, end = self._walk(), self.last
        walk.require_steps(HIGHEST if end is None else end, _MOST_COMPARED)
        while (end is None or walk.frequency < end) and not walk.repeated:
            before = walk.row
            walk.step()
            yield compared(before, walk.row)

    def _frequencies(self) -> Iterable[int]:
        return count(1) if self.last is None else range(1, self.last + 1)

    def _walk(self) -> _RowWalk:
        return _RowWalk(self.budget, self.inclusion, self._cycle)


@final
class RowLaws(Generic[T]):
    """What is made of the rows of a table, each of which is walked through and proven once, whoever asks for it.

    Args:
        table: whose rows.
        read: makes something of some rows that are kept.
        most: of how many runs what was made is kept at most, where each row counts as 64 more; rows further out are
            walked through anew.
    """

    def __init__(self, table: FrequencyTable, read: Callable[[Rows], T], most: int) -> None:
        self._table, self._read, self._most = table, read, most
        self._parts: list[T] = []  # of rows 1, 2, …
        self._ends: list[int] = []  # the last frequency of each part
        self._walk = _RowWalk(table.budget, table.inclusion, [], self._next)  # which finds the cycle by itself
        self._lock = Lock()

    def origins(self, frequencies: NDArray[np.uint64]) -> Origins:
        """Where the rows of these frequencies come from.

        Args:
            frequencies: at least 1, increasing, and at least one.

        Raises:
            OutsideDomain: as `Reporting.at`.
        """
        (last,) = self._table._own([int(frequencies[-1])])
        own = np.minimum(frequencies, np.uint64(last))
        with self._lock:
            return self._walk.origins(own)

    def at(self, frequencies: NDArray[np.uint64]) -> Iterator[tuple[T, NDArray[np.int64]]]:
        """What was made of these rows, and the place of each among those that it was made of, in order.

        Args:
            frequencies: of origins, increasing.

        Raises:
            OutsideDomain: as `Reporting.at`.
        """
        ends = np.array([0, *self._ends], dtype=np.int64)
        asked = frequencies.astype(np.int64)
        cuts = np.searchsorted(asked, ends, side="right").tolist()
        for part, start, (first, last) in zip(self._parts, ends.tolist(), pairwise(cuts), strict=False):
            if first < last:
                yield part, asked[first:last] - (start + 1)
        for row in self._table.at(asked[cuts[-1] :].tolist()):
            yield self._read([row]), np.zeros(1, dtype=np.int64)

    def _next(self, rows: Rows) -> None:
        if rows[0].frequency != (self._ends[-1] if self._ends else 0) + 1:
            return  # one before was left out
        weights = list(accumulate(length + _ROW_WEIGHT for length in _lengths(rows)))
        number = bisect_right(weights, self._most)
        if not number:
            return
        self._most -= weights[number - 1]
        self._parts.append(self._read(rows[:number]))
        self._ends.append((self._ends[-1] if self._ends else 0) + number)


def _lengths(rows: Rows) -> Iterable[int]:
    """How many runs each row has."""
    match rows:
        case RowBlock():
            return rows.lengths
    return [len(row.runs) for row in rows]


class _RowWalk:
    """The way through the rows: one by one, and further out in blocks, until they repeat.

    Where all frequencies that follow are kept with the same units, the next row depends on the row alone, and moves
    with it: in `rows.following` tokens enter by their order and units only, and the new ones lie behind the row's last.
    So once row n + k is row n moved by k frequencies, every later row m + k is row m so moved. Rows are compared as in
    Brent's search for cycles, with one that is replaced at distances that grow by a quarter.
    """

    def __init__(
        self, budget: DyadicBudget, inclusion: Inclusion, known: list[FrequencyRow], watch: Watch | None = None
    ) -> None:
        self._budget, self._inclusion = budget, inclusion
        self._most = inclusion.most(budget.bits)
        self._settled = inclusion.settled(budget.bits)
        self._reference: FrequencyRow | None = None
        self._distance = 1
        self._cycle = known
        self._watch = watch
        self._blocks = RowBlocks(budget) if RowBlocks.fits(budget) else None
        self._row = nothing_reported(budget)
        self._known: Rows = [self._row]
        self._far = self.frequency = 0  # of the last row that is known, and of the one that the walk has come to

    @property
    def row(self) -> FrequencyRow:
        """The row that the walk has come to."""
        if self._row.frequency != self.frequency:
            self._row = self._known[self.frequency - self._far - 1]
        return self._row

    @property
    def repeated(self) -> bool:
        """Whether the rows that come again and again have all come once."""
        return self._repeats(self.frequency)

    def to(self, frequency: int) -> FrequencyRow:
        """Return the row of this frequency."""
        found, tokens = self.origin(frequency)
        return moved(self._cycle[found - self._cycle[0].frequency], frequency) if tokens else self.row

    def origin(self, frequency: int) -> Origin:
        """The row of the cycle that it repeats, or itself."""
        if self.frequency < frequency and not self._repeats(frequency):
            self.require_steps(frequency, _MOST_STEPS)
        while self.frequency < frequency and not self._repeats(frequency):
            self._advance(frequency)
        if not self._repeats(frequency):
            return Origin(frequency, 0)
        turns = (frequency - self._cycle[0].frequency) // len(self._cycle) * len(self._cycle)
        return Origin(frequency - turns, turns << self._budget.subdivision)

    def origins(self, frequencies: NDArray[np.uint64]) -> Origins:
        """`origin` of increasing frequencies, at least one, once the walk has come to the last one."""
        self.origin(int(frequencies[-1]))
        turns = np.zeros_like(frequencies)
        if self._cycle:
            first, length = np.uint64(self._cycle[0].frequency), np.uint64(len(self._cycle))
            far = frequencies >= first + length
            turns[far] = (frequencies[far] - first) // length * length
        return Origins(frequencies - turns, turns * np.uint64(self._budget.tokens % (1 << 64)))

    def require_steps(self, frequency: int, most: int) -> None:
        """Refuse what takes more than so many steps.

        Raises:
            OutsideDomain: where neither `frequency` nor the first row that can repeat comes early enough.
        """
        needed = frequency if self._settled is None else min(frequency, self._settled)
        if needed > most:
            raise OutsideDomain(
                f"rows follow one from the other up to frequency {needed}, and more than {most} are too many here; "
                "state a smaller public largest frequency, or use a larger threshold."
            )

    def step(self) -> Excess:
        """Go on to the next row, and say what separates it from the one before.

        Raises:
            CertdpError: where it does not satisfy (ε, δ)-DP, which would be an error of this library.
        """
        kept = self._inclusion.units(self.frequency + 1, self._budget.bits)
        self._row, found = _proven(self._budget, self.row, kept)
        self._know([self._row], [kept])
        self.frequency = self._far
        return found

    def _advance(self, frequency: int) -> None:
        """Go on towards this row, as far as rows are known; where none is, make some."""
        if self.frequency == self._far:
            rows = min(_BLOCK, max(frequency - self.frequency, self.frequency))
            if self._blocks is None or rows < _FEW_STEPS or self.frequency >= self._blocks.last():
                self.step()
                return
            last = min(self.frequency + rows, self._blocks.last(), self._inclusion.last or HIGHEST)
            kept = [self._inclusion.units(i, self._budget.bits) for i in range(self.frequency + 1, last + 1)]
            block = self._blocks.after(self.row, kept)
            self._know(block, block.kept)
        self.frequency = min(frequency, self._far)

    def _know(self, rows: Rows, kept: Sequence[int]) -> None:
        """Take rows that follow the last known one, up to the first that is seen to repeat."""
        if not self._cycle:
            settled = range(bisect_left(kept, self._most), len(rows))
            end = next((place + 1 for place in settled if self._is_repetition(rows[place])), len(rows))
            rows = rows[:end]
        self._known = rows
        self._far += len(rows)
        if self._watch is not None:
            self._watch(rows)

    def _repeats(self, frequency: int) -> bool:
        """Whether the row of this frequency is known to be one of the cycle, moved.

        Those that came when it was found are not: whether a walk has found it must not change what serves which keys.
        """
        return bool(self._cycle) and frequency >= self._cycle[0].frequency + len(self._cycle)

    def _is_repetition(self, row: FrequencyRow) -> bool:
        """Whether this row is the reference moved: the rows between them come again and again."""
        reference = self._reference
        if reference is not None and alike(reference, row):
            self._cycle.append(reference)
            while self._cycle[-1].frequency + 1 < row.frequency:
                self._cycle.append(following(self._budget, self._cycle[-1], reference.kept))
            return True
        if reference is None or row.frequency - reference.frequency == self._distance:
            self._reference, self._distance = row, self._distance + self._distance // 4 + 1
        return False


def _proven(budget: DyadicBudget, before: FrequencyRow, kept: int) -> tuple[FrequencyRow, Excess]:
    """The next row, and what separates the two."""
    row = following(budget, before, kept)
    found = excess(budget, before, row)
    if max(found) > budget.delta.value or row.unreported + sum(run.mass for run in row.runs) != budget.certain:
        raise CertdpError(f"row {row.frequency} does not satisfy (ε, δ)-DP: {found}")
    return row, found
