"""Which keys are reported, and with which token: drawn with exactly the units of a `Reporting`.

Legend: a key's probabilities are whole units out of B, its bound: 2^K where a key is sampled and sanitised in one pass,
and where it was sampled before the units of 2^−256 with which that happened. V is uniform below B; "reported", and each
run of tokens, own whole numbers next to each other, the edges between them whole numbers E.

V is drawn from its 64 leading bits down: they differ from the 64 leading bits of each E and of B but with probability
about 2^−63 for each, and then all of V is drawn. A number that is not below B is drawn anew. Within a run the token is
uniform: a word x of 64 bits, drawn anew where x is not below the largest multiple of the number of tokens, modulo that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..accounting.draws.by_name import NamedCoins
from ..accounting.errors import CertdpError, InvalidType
from ..accounting.keyed.reporting import (
    DRAWN_BITS,
    FrequencyNoise,
    FrequencyRow,
    FrequencyTable,
    Origin,
    Reporting,
    RowBlock,
    RowLaws,
    Rows,
)
from ..accounting.private import InvalidData, Private
from ..plugins.contract import Coins
from ._kernels import sections, sections_of_rows
from .frequencies import LARGEST_COUNT, Words, capped

Places: TypeAlias = NDArray[np.int64]

_WORD = 64
_LARGEST_WORD = (1 << _WORD) - 1
_BLOCK = 1 << 18
_LISTED = 1 << 20  # frequencies up to here are looked up in a table
_SHORT = 1 << 16
_GUIDED_BITS = 12
_GUIDED = 1 << 13  # draws from which a guide is worth making
_TOGETHER = 1 << 20  # runs of rows of few keys, which are drawn from in one go
_MOST_RUNS = 1 << 24  # of rows that are kept, 24 bytes each


@final
class Drawn(NamedTuple):
    """What was drawn for keys.

    Attributes:
        kept: whether each is reported.
        tokens: of those that are, in order; from 0 on.
    """

    kept: NDArray[np.bool_]
    tokens: NDArray[np.uint64]


@final
class ReportDrawer:
    """Draws reports by one sanitiser, the rows of which are computed once for all the keys that are drawn.

    Args:
        reporting: with how many units a key of each frequency is reported with each token.
    """

    def __init__(self, reporting: Reporting) -> None:
        self._reporting = reporting
        self._laws = RowLaws(reporting, self._read, _MOST_RUNS) if isinstance(reporting, FrequencyTable) else None

    def require(self, counts: Words) -> None:
        """Refuse counts that `draw` would refuse; nothing is drawn."""
        _require_counts(self._reporting, counts)
        if self._laws is None:
            _require_rows(self._reporting, counts)
        elif counts.size:
            self._laws.origins(counts.max(keepdims=True))

    def draw(self, counts: NDArray[np.uint64], coins: Coins) -> Drawn:
        """Draw for more keys: arguments, guarantees and errors as for `draw_reports`."""
        if self._laws is None:
            return _drawn(self._reporting, counts, coins, lambda frequency: None)
        _require_counts(self._reporting, counts)
        return _drawn_by_rows(self._laws, counts, coins)

    def _read(self, rows: Rows) -> _RowLaws:
        match rows:
            case RowBlock():
                return _RowLaws.of_block(rows, self._reporting.row)
        return _RowLaws.of([(row, None) for row in rows], self._reporting.row)


@final
class ReportThinner:
    """Reports in two steps: keys are kept by their names, wherever they lie, and those kept are reported in one place.

    Args:
        reporting: with how many units a key of each frequency is reported with each token.

    Guarantees:
        A key of frequency i is kept with the probability of row i, rounded up to units of 2^−256; what is kept and then
        reported has exactly the law of `draw_reports`. So hardly anything is kept that is not reported.
    """

    def __init__(self, reporting: Reporting) -> None:
        self._reporting = reporting
        self._laws = None
        if isinstance(reporting, FrequencyTable):
            self._laws = RowLaws(reporting, _read_units, _MOST_RUNS)

    def require(self, counts: Words) -> None:
        """Refuse counts that cannot be drawn for, as `draw_reports` does."""
        _require_counts(self._reporting, counts)
        self._units([int(counts.max())] if counts.size else [])

    def kept(self, names: Sequence[bytes], counts: Words, coins: NamedCoins) -> NDArray[np.bool_]:
        """Which keys are kept: it follows from their names, their counts and the coins.

        Args:
            names: the keys, each one once.
            counts: as for `draw_reports`, with what that raises.
            coins: of this release, the same wherever keys lie.
        """
        _require_counts(self._reporting, counts)
        distinct, places = distinct_counts(counts)
        units = self._units(distinct)
        certain = np.array([unit >> DRAWN_BITS for unit in units], dtype=np.bool_)[places]
        open_ = np.flatnonzero(~certain & np.array([unit > 0 for unit in units], dtype=np.bool_)[places])
        leads = np.array([min(unit >> DRAWN_BITS - _WORD, _LARGEST_WORD) for unit in units], dtype=np.uint64)
        limits = places[open_]
        drawn = coins.below(
            [names[place] for place in open_.tolist()],
            leads[limits],
            lambda place: Fraction(units[limits[place]], 1 << DRAWN_BITS),
        )
        certain[open_] = drawn
        return certain

    def reported(self, counts: Words, coins: Coins) -> Drawn:
        """Draw what is reported of keys that were kept; arguments and errors as for `draw_reports`."""
        _require_counts(self._reporting, counts)
        distinct, _ = distinct_counts(counts)
        sampled = dict(zip(distinct, self._units(distinct), strict=True)).__getitem__
        if self._reporting.with_frequencies:
            return _by_row(self._reporting, counts, coins, sampled)
        kept = _kept(self._reporting, counts, coins, sampled)
        return Drawn(kept, np.zeros(np.count_nonzero(kept), dtype=np.uint64))

    def _units(self, distinct: Sequence[int]) -> list[int]:
        """With how many units of 2^−256 a key of each of these frequencies is kept."""
        if self._laws is None:
            return list(map(_units_kept, self._reporting.at(distinct)))
        if not distinct:
            return []
        asked, places = np.unique(
            self._laws.origins(np.array(distinct, dtype=np.uint64)).frequencies, return_inverse=True
        )
        known = [units[place] for units, rows in self._laws.at(asked) for place in rows.tolist()]
        return [known[place] for place in places.tolist()]


def _units_kept(row: FrequencyRow) -> int:
    """The units of a row, rounded up to units of 2^−256."""
    return _fine(row.reported, row.bits)


def _fine(units: int, bits: int) -> int:
    return -(-(units << DRAWN_BITS) >> bits)


def _read_units(rows: Rows) -> list[int]:
    match rows:
        case RowBlock():
            certain = 1 << rows.bits
            return [_fine(certain - rows.without_report(row), rows.bits) for row in range(len(rows))]
    return list(map(_units_kept, rows))


def draw_reports(reporting: Reporting, counts: NDArray[np.uint64], coins: Coins) -> Drawn:
    """Sample and sanitise keys of these frequencies, each by itself, in one pass.

    Args:
        reporting: with how many units a key of each frequency is reported with each token.
        counts: frequencies from 1 to 2^53, and below 2^64 where multiplied by the tokens of a frequency; what is above
            `reporting.largest` counts as that.
        coins: the randomness.

    Guarantees:
        A key of frequency i is reported with each token with exactly the units of row i out of 2^bits.

    Raises:
        InvalidType, InvalidValue: for other counts, and beyond the last frequency that has a rate.
    """
    return ReportDrawer(reporting).draw(counts, coins)


def sanitise_reports(reporting: Reporting, counts: NDArray[np.uint64], coins: Coins) -> Drawn:
    """Sanitise keys of these frequencies that a sampler kept; arguments and errors as for `draw_reports`.

    Guarantees:
        Where each key of frequency i was kept with exactly `reporting.inclusion.drawn(i)` units of 2^−256, and by
        itself, it is reported with each token with exactly the units of row i out of 2^bits, end to end.

    Raises:
        InvalidValue: besides, beyond the last frequency that has a rate, whatever `reporting.largest`.
        CertdpError: where a sampler keeps a key less often than it is to be reported.
    """
    _require_rates(reporting.inclusion.last, counts)
    return _drawn(reporting, counts, coins, reporting.inclusion.drawn)


def require_sanitised(reporting: Reporting, counts: Words) -> None:
    """Refuse counts that `sanitise_reports` would refuse; nothing is drawn."""
    _require_rates(reporting.inclusion.last, counts)
    _require_counts(reporting, counts)
    if not isinstance(reporting, FrequencyNoise):
        distinct, _ = distinct_counts(counts)
        for row, sampled in _rows_of(reporting, _groups(_alike(reporting, distinct, reporting.inclusion.drawn)[1])):
            _chance(row, sampled)


def uniform(spans: Words, coins: Coins) -> Words:
    """Draw for each span an independent whole number from 0 to it, exactly uniform."""
    drawn = np.zeros(len(spans), dtype=np.uint64)
    open_ = np.flatnonzero(spans)
    while open_.size:
        words = coins.source.bits(open_.size)
        sizes = spans[open_] + np.uint64(1)  # 2^64 becomes 0: there every word will do
        every = sizes == 0
        sizes[every] = 1
        beyond = (np.uint64(0) - sizes) % sizes  # 2^64 modulo the size
        drawn[open_] = np.where(every, words, words % sizes)
        open_ = open_[words > np.uint64(_LARGEST_WORD) - beyond]
    return drawn


def distinct_counts(counts: Words) -> tuple[list[int], Places]:
    """The distinct counts, increasing, and the place of each key's among them."""
    signed = counts.view(np.int64)
    listed = signed < _LISTED
    low = np.flatnonzero(np.bincount(signed[listed], minlength=1))
    high, above = np.unique(signed[~listed], return_inverse=True)
    table = np.zeros(int(low[-1]) + 1 if low.size else 0, dtype=np.int64)
    table[low] = np.arange(low.size)
    places = np.empty(len(counts), dtype=np.int64)
    places[listed] = table[signed[listed]]
    places[~listed] = above + low.size
    return [*low.tolist(), *high.tolist()], places


class _Chance(NamedTuple):
    """What the units of a row are out of."""

    shift: int
    """Units are multiplied by 2 to this power."""
    bound: int
    """B, at least the units of the row."""


_Sampled: TypeAlias = Callable[[int], "int | None"]
"""The units of 2^−256 with which a key of a frequency was sampled; None where it was not before."""


def _chance(row: FrequencyRow, sampled: int | None) -> _Chance:
    if sampled is None:
        return _Chance(0, 1 << row.bits)
    fine = max(DRAWN_BITS, row.bits)
    chance = _Chance(fine - row.bits, sampled << fine - DRAWN_BITS)
    if row.reported << chance.shift > chance.bound:
        raise CertdpError(f"a key is sampled less often than it is to be reported at frequency {row.frequency}")
    return chance


def _drawn(reporting: Reporting, counts: Words, coins: Coins, sampled: _Sampled) -> Drawn:
    _require_counts(reporting, counts)
    if not reporting.with_frequencies:
        kept = _kept(reporting, counts, coins, sampled)
        return Drawn(kept, np.zeros(np.count_nonzero(kept), dtype=np.uint64))
    match reporting:
        case FrequencyNoise():  # no key is left out by its sampler
            return _delayed(_Delays(reporting), capped(counts, reporting.largest), coins)
    return _by_row(reporting, counts, coins, sampled)


def _require_counts(reporting: Reporting, counts: Words) -> None:
    if counts.dtype != np.uint64 or counts.ndim != 1:
        raise InvalidType("counts", f"an array of {counts.dtype}, {counts.shape}", "a vector of uint64")
    if not counts.size:
        return
    if not counts.min():
        raise InvalidData("counts", "0", "counts from 1 to 2^53", "A key that does not occur is left out")
    largest = int(counts.max())
    if largest > LARGEST_COUNT:
        raise InvalidData("counts", "one beyond 2^53", "counts from 1 to 2^53", found=Private(largest))
    if reporting.largest is None:
        _require_rates(reporting.inclusion.last, counts)
    own = largest if reporting.largest is None else min(largest, reporting.largest)
    if reporting.with_frequencies and own * reporting.budget.tokens > 1 << _WORD:
        raise InvalidData(
            "counts",
            "a larger one",
            f"at most 2^64/2^r with r = {reporting.budget.subdivision}: tokens are whole numbers below 2^64",
            "Choose a smaller subdivision, or state a public largest frequency",
            found=Private(largest),
        )


def _require_rows(reporting: Reporting, counts: Words) -> None:
    """Refuse counts whose rows are too far out: the largest, as rows follow one from the other."""
    if counts.size and not isinstance(reporting, FrequencyNoise):  # whose law serves all frequencies
        for _ in reporting.at([int(counts.max())]):
            pass


def _require_rates(last: int | None, counts: Words) -> None:
    if last is not None and counts.size and counts.max() > last:
        admissible, found = f"at most {last}, the last that has a rate", Private(int(counts.max()))
        raise InvalidData("counts", "a larger one", admissible, "List more rates", found=found)


def _kept(reporting: Reporting, counts: Words, coins: Coins, sampled: _Sampled) -> NDArray[np.bool_]:
    """Draw which keys are reported, where that is all."""
    distinct, places = distinct_counts(counts)
    limits: list[tuple[int, int]] = []
    for row, frequency in zip(reporting.at(distinct), distinct, strict=True):
        shift, bound = _chance(row, sampled(frequency))
        limits.append((row.reported << shift, bound))
    reported, bounds = np.array([_leads([limit], bound) for limit, bound in limits], dtype=np.uint64).reshape(-1, 2).T
    kept = np.zeros(len(counts), dtype=np.bool_)
    for start in range(0, len(counts), _BLOCK):
        block = places[start : start + _BLOCK]
        open_ = np.arange(start, start + len(block))
        while open_.size:
            words = coins.source.bits(block.size)
            edge, end = reported[block], bounds[block]
            kept[open_] = words < edge
            again = words > end
            for tie in np.flatnonzero((words == edge) | (words == end)):
                limit, bound = limits[block[tie]]
                section = _Edges.of([limit], bound).section(int(words[tie]), coins)
                kept[open_[tie]] = section == 0
                again[tie] = section > 1
            open_, block = open_[again], block[again]
    return kept


@final
class _RowLaws:
    """Rows as they are drawn from, in arrays.

    Args:
        bounds: what the units of each row are out of.
        leads: what cuts off each run of tokens and what is not reported, by its leading bits, row after row.
        starts: where those of each row begin, and those of the last end.
        firsts: the first token of each run, modulo 2^64.
        spans: how many more tokens each run has.
        exactly: computes what cuts off the runs of the row at a place.
    """

    def __init__(
        self,
        bounds: Sequence[int],
        leads: Words,
        starts: Places,
        firsts: Words,
        spans: Words,
        exactly: Callable[[int], Sequence[int]],
    ) -> None:
        self._bounds, self._leads, self._starts, self._exactly = bounds, leads, starts, exactly
        self._firsts, self._spans = firsts, spans

    @classmethod
    def of(
        cls, rows: Sequence[tuple[FrequencyRow, int | None]], again: Callable[[int], FrequencyRow] | None = None
    ) -> Self:
        """The laws of rows, of keys that were sampled before with so many units.

        Args:
            rows: with these units, None where keys were not sampled before.
            again: computes the row of a frequency anew; where given, rows are not held.
        """
        chances = [_chance(row, sampled) for row, sampled in rows]
        edges = [_edges(row, chance.shift) for (row, _), chance in zip(rows, chances, strict=True)]
        leads = [_leads(of_row, chance.bound) for of_row, chance in zip(edges, chances, strict=True)]
        runs = [run for row, _ in rows for run in row.runs]
        frequencies = [row.frequency for row, _ in rows]
        return cls(
            [chance.bound for chance in chances],
            np.array([lead for of_row in leads for lead in of_row], dtype=np.uint64),
            np.cumsum([0, *map(len, leads)]),
            np.array([run.first & _LARGEST_WORD for run in runs], dtype=np.uint64),
            np.array([run.width - 1 for run in runs], dtype=np.uint64),
            edges.__getitem__
            if again is None
            else lambda place: _edges(again(frequencies[place]), chances[place].shift),
        )

    @classmethod
    def of_block(cls, rows: RowBlock, again: Callable[[int], FrequencyRow]) -> Self:
        """The laws of a block of rows, of keys that were not sampled before; arguments as for `of`."""
        first = rows.frequency
        return cls(
            [1 << rows.bits] * len(rows),
            rows.leads(),
            rows.starts + np.arange(len(rows.starts)),
            rows.firsts.astype(np.uint64),
            rows.widths.astype(np.uint64) - np.uint64(1),
            lambda place: _edges(again(first + place), 0),
        )

    def drawn(self, rows: Places, coins: Coins) -> tuple[Places, Words, Words]:
        """Draw for keys of these rows: which are reported, and the first token and the span of the run of each.

        Args:
            rows: of each key, not falling.
            coins: the randomness.
        """
        starts, lengths = self._starts, np.diff(self._starts)
        sections = np.zeros(len(rows), dtype=np.int64)  # of a row that reports nothing
        many = np.flatnonzero(np.bincount(rows) >= _GUIDED)
        open_ = np.flatnonzero((lengths[rows] > 1) & ~np.isin(rows, many))
        for row in many[lengths[many] > 1].tolist():
            first, end = np.searchsorted(rows, [row, row + 1])
            sections[first:end] = self._cut(row).drawn(end - first, coins)
        while open_.size:
            words, found = coins.source.bits(open_.size), np.empty(open_.size, dtype=np.int64)
            sections_of_rows(words, rows[open_], starts, self._leads, found)
            for tie in np.flatnonzero(found < 0):
                found[tie] = self._cut(int(rows[open_[tie]])).section(int(words[tie]), coins)
            sections[open_] = found
            open_ = open_[found == lengths[rows[open_]]]
        reported = np.flatnonzero(sections < lengths[rows] - 1)  # the last section of a row is not reported
        rows = rows[reported]
        runs = starts[rows] - rows + sections[reported]  # each row has one run less than leads
        return reported, self._firsts[runs], self._spans[runs]

    def _cut(self, row: int) -> _Edges:
        leads = self._leads[self._starts[row] : self._starts[row + 1]]
        return _Edges(leads, self._bounds[row], lambda: self._exactly(row))


def _edges(row: FrequencyRow, shift: int) -> list[int]:
    """What cuts off each run of tokens of a row."""
    return [edge << shift for edge in accumulate(run.mass for run in row.runs)]


def _drawn_by_rows(laws: RowLaws[_RowLaws], counts: Words, coins: Coins) -> Drawn:
    """Draw what is reported of keys that were not sampled before, by rows that are kept for more of them."""
    if not counts.size:
        return Drawn(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.uint64))
    distinct, places = distinct_counts(counts)
    origins = laws.origins(np.array(distinct, dtype=np.uint64))
    frequencies, members = np.unique(origins.frequencies, return_inverse=True)
    return _reported(laws.at(frequencies), members[places], origins.tokens[places], coins)


def _by_row(reporting: Reporting, counts: Words, coins: Coins, sampled: _Sampled) -> Drawn:
    """Draw what is reported of keys that were sampled before, where frequencies have their own rows, or share one."""
    distinct, places = distinct_counts(counts)
    origins, alike = _alike(reporting, distinct, sampled)
    groups = _groups(alike)
    number = {group: place for place, group in enumerate(groups)}
    members = np.array([number[group] for group in alike], dtype=np.int64)[places]
    tokens = np.array([origin.tokens & _LARGEST_WORD for origin in origins], dtype=np.uint64)[places]
    return _reported(_laws_of(reporting, groups), members, tokens, coins)


def _alike(
    reporting: Reporting, distinct: Sequence[int], sampled: _Sampled
) -> tuple[list[Origin], list[tuple[int, int | None]]]:
    """Where the row of each frequency comes from, and which are drawn for alike: of one row, with one chance before."""
    origins = list(reporting.origins(distinct))
    return origins, [(origin.frequency, sampled(one)) for origin, one in zip(origins, distinct, strict=True)]


def _groups(alike: Iterable[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    return sorted(dict.fromkeys(alike), key=lambda group: group[0])


def _rows_of(
    reporting: Reporting, groups: Sequence[tuple[int, int | None]]
) -> Iterator[tuple[FrequencyRow, int | None]]:
    """The row of each of these frequencies, which do not fall, with the units that it was sampled with."""
    rows, row = reporting.at(dict.fromkeys(frequency for frequency, _ in groups)), None
    for frequency, units in groups:
        row = row if row is not None and row.frequency == frequency else next(rows)
        yield row, units


def _reported(parts: Iterable[tuple[_RowLaws, Places]], members: Places, tokens: Words, coins: Coins) -> Drawn:
    """Draw what is reported of keys.

    Args:
        parts: laws of rows, and the places of those that are drawn from.
        members: for each key, which of all these it is drawn from.
        tokens: for each key, how much higher its tokens are.
        coins: the randomness.
    """
    numbers = np.bincount(members)
    short = members.astype(np.uint16) if len(numbers) <= _SHORT else members  # sorted much faster
    order, ends = np.argsort(short, kind="stable"), np.append(0, np.cumsum(numbers))
    kept = np.zeros(len(members), dtype=np.bool_)
    start = 0
    for laws, rows in parts:
        end = start + len(rows)
        keys = order[ends[start] : ends[end]]
        reported, firsts, spans = laws.drawn(np.repeat(rows, numbers[start:end]), coins)
        chosen = keys[reported]
        kept[chosen] = True
        tokens[chosen] += firsts + uniform(spans, coins)
        start = end
    return Drawn(kept, tokens[kept])


def _laws_of(reporting: Reporting, groups: Sequence[tuple[int, int | None]]) -> Iterator[tuple[_RowLaws, Places]]:
    """The laws of rows of keys that were sampled with these units, frequencies not falling; many in one go."""
    some: list[tuple[FrequencyRow, int | None]] = []
    runs = 0
    for row, units in _rows_of(reporting, groups):
        some.append((row, units))
        runs += len(row.runs)
        if runs > _TOGETHER:
            yield _RowLaws.of(some), np.arange(len(some))
            some, runs = [], 0
    if some:
        yield _RowLaws.of(some), np.arange(len(some))


class _Delays:
    """The law of delays that serves every frequency, from the shortest to the longest, in runs of equal units."""

    def __init__(self, noise: FrequencyNoise) -> None:
        tokens = noise.budget.tokens
        steps: list[int] = []
        firsts: list[int] = []
        spans: list[int] = []
        masses: list[int] = []
        for step in range(noise.band):
            first = step * tokens
            for width, units in noise.columns:
                if step < len(units) and units[step]:
                    steps.append(step)
                    firsts.append(first & _LARGEST_WORD)  # beyond 2^64 no frequency has so many tokens
                    spans.append(width - 1)
                    masses.append(width * units[step])
                first += width
        self.tokens = np.uint64(tokens & _LARGEST_WORD)
        self.steps = np.array(steps, dtype=np.uint64)
        self.firsts = np.array(firsts, dtype=np.uint64)
        self.spans = np.array(spans, dtype=np.uint64)
        self.edges = _Edges.of(list(accumulate(masses)), noise.budget.certain)


def _delayed(delays: _Delays, counts: Words, coins: Coins) -> Drawn:
    """Tokens less delays; a key whose delay reaches below token 0 is not reported."""
    kept = np.zeros(len(counts), dtype=np.bool_)
    tokens: list[Words] = []
    for start in range(0, len(counts), _BLOCK):
        block = counts[start : start + _BLOCK]
        sections = delays.edges.drawn(len(block), coins)
        reported = delays.steps[sections] < block
        kept[start : start + _BLOCK] = reported
        sections = sections[reported]
        delay = delays.firsts[sections] + uniform(delays.spans[sections], coins)
        tokens.append(block[reported] * delays.tokens - np.uint64(1) - delay)  # modulo 2^64, as 2^64 tokens may be
    return Drawn(kept, np.concatenate(tokens) if tokens else np.zeros(0, dtype=np.uint64))


class _Edges:
    """Edges that cut the whole numbers below a bound into sections.

    Args:
        leads: as `_leads` has them, which decide all but one in about 2^60 draws.
        bound: B ≥ 1.
        exactly: returns the edges E, not decreasing, at most B.
    """

    def __init__(self, leads: Words, bound: int, exactly: Callable[[], Sequence[int]]) -> None:
        length = (bound - 1).bit_length()
        self._short, self._rest, self._bound = max(0, _WORD - length), max(0, length - _WORD), bound
        self.leads, self._exactly = leads, exactly

    @classmethod
    def of(cls, edges: Sequence[int], bound: int) -> Self:
        """These edges."""
        return cls(np.array(_leads(edges, bound), dtype=np.uint64), bound, lambda: edges)

    def section(self, word: int, coins: Coins) -> int:
        """The section of V with these leading bits: how many of E and B it reaches."""
        rest = coins.integers(1 << self._rest, 1)[0] if self._rest else 0
        edges = [edge << self._short for edge in (*self._exactly(), self._bound)]
        return bisect_right(edges, (word << self._rest) + rest)

    def drawn(self, size: int, coins: Coins) -> Places:
        """The sections of `size` independent numbers below the bound."""
        leads, drawn, open_ = self.leads, np.empty(size, dtype=np.int64), np.arange(size)
        guide = _guide(leads) if size >= _GUIDED else None
        while open_.size:
            words = coins.source.bits(open_.size)
            if guide is None:
                found = np.searchsorted(leads, words)
                found[leads[np.minimum(found, len(leads) - 1)] == words] = -1
            else:
                found = np.empty(open_.size, dtype=np.int64)
                sections(words, leads, guide, found)
            for tie in np.flatnonzero(found < 0):
                found[tie] = self.section(int(words[tie]), coins)
            drawn[open_] = found
            open_ = open_[found == len(leads)]
        return drawn


def _leads(edges: Sequence[int], bound: int) -> list[int]:
    """The leading 64 bits of E and B; 2^64 counts as one less, which makes a tie of what lies beside it."""
    length = (bound - 1).bit_length()
    short, rest = max(0, _WORD - length), max(0, length - _WORD)
    return [min((edge << short) >> rest, _LARGEST_WORD) for edge in (*edges, bound)]


def _guide(leads: Words) -> Places:
    """How many leads are below all words with each value of the leading bits, and at the end how many there are."""
    starts = np.arange(1 << _GUIDED_BITS, dtype=np.uint64) << np.uint64(_WORD - _GUIDED_BITS)
    return np.append(np.searchsorted(leads, starts), len(leads)).astype(np.int64)
