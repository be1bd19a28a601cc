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
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
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

    def draw(self, counts: NDArray[np.uint64], coins: Coins) -> Drawn:
        """Draw for more keys: arguments, guarantees and errors as for `draw_reports`."""
        return _drawn(self._reporting, self._laws, counts, coins, lambda frequency: None)

    def _read(self, rows: Rows) -> Callable[[int], _RowLaw]:
        match rows:
            case RowBlock():
                return _BlockLaws(rows, self._reporting.row).law
        laws = [_RowLaw.of(row, again=partial(self._reporting.row, row.frequency)) for row in rows]
        return laws.__getitem__


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

    def kept(self, names: Sequence[bytes], counts: Words, coins: NamedCoins) -> NDArray[np.bool_]:
        """Which keys are kept: it follows from their names, their counts and the coins.

        Args:
            names: the keys, each one once.
            counts: as for `draw_reports`, with what that raises.
            coins: of this release, the same wherever keys lie.
        """
        self.require(counts)
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
        self.require(counts)
        distinct, _ = distinct_counts(counts)
        sampled = dict(zip(distinct, self._units(distinct), strict=True)).__getitem__
        if self._reporting.with_frequencies:
            return _by_row(self._reporting, None, counts, coins, sampled)
        kept = _kept(self._reporting, counts, coins, sampled)
        return Drawn(kept, np.zeros(np.count_nonzero(kept), dtype=np.uint64))

    def _units(self, distinct: Sequence[int]) -> list[int]:
        """With how many units of 2^−256 a key of each of these frequencies is kept."""
        if self._laws is None:
            return list(map(_units_kept, self._reporting.at(distinct)))
        origins = [origin.frequency for origin in self._laws.origins(distinct)]
        asked = sorted(set(origins))
        known = dict(zip(asked, self._laws.at(asked), strict=True))
        return [known[frequency] for frequency in origins]


def _units_kept(row: FrequencyRow) -> int:
    """The units of a row, rounded up to units of 2^−256."""
    return -(-(row.reported << DRAWN_BITS) >> row.bits)


def _read_units(rows: Rows) -> Callable[[int], int]:
    """`_units_kept` of the row at a place."""
    return list(map(_units_kept, rows)).__getitem__


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
    return _drawn(reporting, None, counts, coins, reporting.inclusion.drawn)


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


def _drawn(
    reporting: Reporting, laws: RowLaws[_RowLaw] | None, counts: Words, coins: Coins, sampled: _Sampled
) -> Drawn:
    _require_counts(reporting, counts)
    if not reporting.with_frequencies:
        kept = _kept(reporting, counts, coins, sampled)
        return Drawn(kept, np.zeros(np.count_nonzero(kept), dtype=np.uint64))
    match reporting:
        case FrequencyNoise():  # no key is left out by its sampler
            return _delayed(_Delays(reporting), capped(counts, reporting.largest), coins)
    return _by_row(reporting, laws, counts, coins, sampled)


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
class _RowLaw(NamedTuple):
    """A row as it is drawn from, in arrays.

    Attributes:
        edges: what cuts off each run of tokens, and what is not reported.
        firsts: the first token of each run, modulo 2^64.
        spans: how many more tokens each run has.
    """

    edges: _Edges
    firsts: Words
    spans: Words

    @classmethod
    def of(cls, row: FrequencyRow, sampled: int | None = None, again: Callable[[], FrequencyRow] | None = None) -> Self:
        """The law of a row, of keys that were sampled before with so many units; `again` computes the row anew."""
        shift, bound = _chance(row, sampled)

        def edges(from_: FrequencyRow) -> list[int]:
            return [edge << shift for edge in accumulate(run.mass for run in from_.runs)]

        return cls(
            _Edges.of(edges(row), bound, None if again is None else lambda: edges(again())),
            np.array([run.first & _LARGEST_WORD for run in row.runs], dtype=np.uint64),
            np.array([run.width - 1 for run in row.runs], dtype=np.uint64),
        )


@final
class _BlockLaws:
    """The laws of a block of rows, of keys that were not sampled before.

    Args:
        rows: the block.
        again: computes the row of a frequency anew.
    """

    def __init__(self, rows: RowBlock, again: Callable[[int], FrequencyRow]) -> None:
        self._again, self._frequency, self._bound = again, rows.frequency, 1 << rows.bits
        self._starts = rows.starts.tolist()
        self._leads, self._firsts = rows.leads(), rows.firsts.astype(np.uint64)
        self._spans = rows.widths.astype(np.uint64) - np.uint64(1)

    def law(self, row: int) -> _RowLaw:
        """The law of the row at a place."""
        start, end = self._starts[row], self._starts[row + 1]
        leads, again = self._leads[start + row : end + row + 1], partial(self._edges, self._frequency + row)
        return _RowLaw(_Edges(leads, self._bound, again), self._firsts[start:end], self._spans[start:end])

    def _edges(self, frequency: int) -> list[int]:
        return list(accumulate(run.mass for run in self._again(frequency).runs))


def _by_row(
    reporting: Reporting, laws: RowLaws[_RowLaw] | None, counts: Words, coins: Coins, sampled: _Sampled
) -> Drawn:
    """Draw what is reported where frequencies have their own rows, or share one but for how far its tokens lie."""
    distinct, places = distinct_counts(counts)
    origins = list(reporting.origins(distinct)) if laws is None else laws.origins(distinct)
    alike = [(origin.frequency, sampled(frequency)) for origin, frequency in zip(origins, distinct, strict=True)]
    groups = sorted(dict.fromkeys(alike), key=lambda group: group[0])
    number = {group: place for place, group in enumerate(groups)}
    members = np.array([number[group] for group in alike], dtype=np.int64)[places]
    short = members.astype(np.uint16) if len(groups) <= _SHORT else members  # sorted much faster
    order = np.argsort(short, kind="stable")
    ends = np.cumsum(np.bincount(members, minlength=len(groups))).tolist()
    kept = np.zeros(len(counts), dtype=np.bool_)
    tokens = np.array([origin.tokens & _LARGEST_WORD for origin in origins], dtype=np.uint64)[places]
    frequencies = dict.fromkeys(frequency for frequency, _ in groups)
    found = laws.at(frequencies) if laws is not None else _laws_of(reporting, groups)
    few: list[tuple[_RowLaw, Places]] = []
    start = runs = 0

    def report(chosen: Places, firsts: Words, spans: Words) -> None:
        kept[chosen] = True
        tokens[chosen] += firsts + uniform(spans, coins)

    for law, end in zip(found, ends, strict=True):
        chosen = order[start:end]
        start = end
        if not law.firsts.size:
            continue
        if len(chosen) >= _GUIDED:
            sections = law.edges.drawn(len(chosen), coins)
            reported = sections < len(law.firsts)
            report(chosen[reported], law.firsts[sections[reported]], law.spans[sections[reported]])
            continue
        few.append((law, chosen))
        runs += len(law.firsts)
        if runs > _TOGETHER:
            report(*_drawn_together(few, coins))
            few, runs = [], 0
    if few:
        report(*_drawn_together(few, coins))
    return Drawn(kept, tokens[kept])


def _drawn_together(few: Sequence[tuple[_RowLaw, Places]], coins: Coins) -> tuple[Places, Words, Words]:
    """Draw for the keys of several rows at once: which are reported, and the first token and span of the run of each.

    Args:
        few: laws of rows that report something, and the places of their keys.
        coins: the randomness.
    """
    laws = [law for law, _ in few]
    rows = np.repeat(np.arange(len(few)), [len(chosen) for _, chosen in few])
    edges = [law.edges.leads for law in laws]
    lengths = np.array([len(leads) for leads in edges])
    starts = np.append(0, np.cumsum(lengths))
    leads, sections, open_ = np.concatenate(edges), np.empty(len(rows), dtype=np.int64), np.arange(len(rows))
    while open_.size:
        words, found = coins.source.bits(open_.size), np.empty(open_.size, dtype=np.int64)
        sections_of_rows(words, rows[open_], starts, leads, found)
        for tie in np.flatnonzero(found < 0):
            found[tie] = laws[rows[open_[tie]]].edges.section(int(words[tie]), coins)
        sections[open_] = found
        open_ = open_[found == lengths[rows[open_]]]
    reported = np.flatnonzero(sections < lengths[rows] - 1)  # the last section of a row is not reported
    rows = rows[reported]
    runs = starts[rows] - rows + sections[reported]  # each row has one run less than leads
    chosen = np.concatenate([places for _, places in few])[reported]
    return chosen, np.concatenate([law.firsts for law in laws])[runs], np.concatenate([law.spans for law in laws])[runs]


def _laws_of(reporting: Reporting, groups: Sequence[tuple[int, int | None]]) -> Iterator[_RowLaw]:
    """The laws of rows of keys that were sampled with these units, frequencies not falling."""
    rows, row = reporting.at(dict.fromkeys(frequency for frequency, _ in groups)), None
    for frequency, units in groups:
        row = row if row is not None and row.frequency == frequency else next(rows)
        yield _RowLaw.of(row, units)


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
    def of(cls, edges: Sequence[int], bound: int, exactly: Callable[[], Sequence[int]] | None = None) -> Self:
        """These edges, which are held where nothing computes them anew."""
        return cls(np.array(_leads(edges, bound), dtype=np.uint64), bound, exactly or (lambda: edges))

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
