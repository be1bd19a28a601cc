"""q ≡ 1 in closed form: the sanitised frequency of a key is its frequency less a random delay (PWS Lemma 5.2, every L).

Legend: tokens, 2^r to a frequency, units, G and Δ as in `rows` and `budget`; w_t the units of a delay of t tokens. A
key of frequency i is reported with token i·2^r − 1 − t, if that is at least 0.

Where q ≡ 1, PWS's rows depend on i − j alone, which its Lemma 5.2 shows for integral L. The same holds for every L:

1. w_t = δ·e^{ε⌊t⌋} up to a turning point c, w_t = e^{−ε}·w_{t−1} from there to an end b, 0 beyond (t real, w a
   density). c and b follow from ∫w = 1 and from ∫ over (b − 1, b) of w = δ.
2. Row i is the law of i − t cut off at 0, what is cut off being "not reported". Rows i − 1 and i are cut from two
   copies of w, one moved by 1: cutting off is post-processing, so one comparison proves every frequency at once.
   Upward only the delays below 1 cost anything, δ in all; downward only the last ones, δ in all.
3. Reporting is optimal. For i ≤ c it grows by Algorithm 3's first step. From there Σ of what is cut off at i + 1 is
   e^{−ε}(Σ at i − δ), its second, until less than δ is left and then nothing.

In units the delays form 2^r columns t ≡ s. In each, w grows by ⌊G·w⌋ from Δ/2^r and falls by the same numbers
backwards, then by ⌈w/G⌉; the columns s < φ turn one step later, and those of s < σ end one later. Both are rounded so
that the sum is at most 2^K and the last delays at most Δ. What is missing to 2^K becomes further delays of a few
columns: v where the column falls from above v to below (neighbours h ≥ v ≥ h' have h ≤ G·h', so h ≤ G·v and v ≤ G·h'),
and where that is too little the peak a second time, with up to ⌊G·peak⌋ between the two. No column then ends with more
than before. `proven_excess` checks the result from the columns alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, final

from attrs import field, frozen

from ...enclosures import Enclosure
from ...errors import CertdpError
from ...units import Delta, Epsilon
from ..key_sanitiser import KeyReporting
from .budget import DyadicBudget
from .inclusion import EveryKey, Inclusion
from .reporting import Origin, Reporting, Walk
from .rows import (
    Comparison,
    Excess,
    FrequencyRow,
    Outcome,
    Run,
    compared,
    joined,
    moved,
    nothing_reported,
)

_SUBDIVISION = 32


class Column(NamedTuple):
    """Neighbouring columns of delays with equal probabilities."""

    width: int
    units: tuple[int, ...]
    """Of the delays s, s + 2^r, s + 2·2^r, …"""


@final
@frozen(kw_only=True)
class FrequencyNoise(Reporting):
    """The sanitiser of keys and frequencies without sampling, q ≡ 1, for every frequency at once.

    Args:
        epsilon: ε ≥ 0.
        delta: δ > 0.
        subdivision: r ≥ 0; each frequency brings 2^r tokens. Fewer lose up to 2^−r of a token's separation.
        largest: a public largest frequency, see `Reporting`.

    Raises:
        InvalidValue, InvalidType: as `DyadicBudget`, and for another largest frequency.
        CertdpError: where the table does not satisfy (ε, δ)-DP, which would be an error of this library.
    """

    epsilon: Epsilon
    delta: Delta
    subdivision: int = field(default=_SUBDIVISION)
    inclusion: Inclusion = field(factory=EveryKey, init=False)
    budget: DyadicBudget = field(init=False)
    columns: tuple[Column, ...] = field(init=False)
    """From the shortest delays to the longest; 2^r columns in all."""

    def __attrs_post_init__(self) -> None:
        budget = DyadicBudget(epsilon=self.epsilon, delta=self.delta, subdivision=self.subdivision)
        object.__setattr__(self, "budget", budget)
        self._check_largest()
        object.__setattr__(self, "columns", _Shape(budget).columns())
        if max(self.proven_excess()) > self.delta.value or self._total != budget.certain:
            raise CertdpError(f"the delays do not satisfy (ε, δ)-DP: {self.proven_excess()}")

    @property
    def with_frequencies(self) -> bool:
        """Whether frequencies are reported with the keys: they are."""
        return True

    def comparisons(self) -> Iterator[Comparison]:
        """The last two rows, of which lower ones are cut off; without an end, the delays and the same moved by 1."""
        if self.largest is not None and self.largest <= self.band:
            lower = self._row(self.largest - 1) if self.largest > 1 else nothing_reported(self.budget)
            yield compared(lower, self._row(self.largest))
            return
        yield [
            Outcome(count, before, after) for count, units in self.columns for before, after in pairwise((0, *units, 0))
        ]

    def to(self, frequency: int) -> FrequencyRow:
        """Return the row of this frequency, as `Walk.to` does."""
        found, _ = self.origin(frequency)
        return moved(self._row(found), frequency)

    def origin(self, frequency: int) -> Origin:
        """Return where the row comes from: from frequency `band` on, all rows are alike."""
        found = min(frequency, self.band)
        return Origin(found, frequency - found << self.subdivision)

    def _walk(self) -> Walk:
        return self

    @property
    def band(self) -> int:
        """Frequencies that a delay may span: from it on every key is reported."""
        return max(len(column.units) for column in self.columns)

    def proven_excess(self) -> Excess:
        """Bound both divergences of neighbouring frequencies at G, from the columns alone; it holds for every two."""
        upward = downward = 0
        for count, units in self.columns:
            upward += count * sum(self.budget.beyond(new, old) for old, new in pairwise((0, *units, 0)))
            downward += count * sum(self.budget.beyond(old, new) for old, new in pairwise((0, *units, 0)))
        unit = 1 << 2 * self.budget.bits
        return Excess(Fraction(upward, unit), Fraction(downward, unit))

    def _row(self, frequency: int) -> FrequencyRow:
        """The row of a frequency, of at most about 5 · `band` runs."""
        runs = tuple(joined(self._runs(frequency)))
        return FrequencyRow(
            frequency=frequency,
            bits=self.budget.bits,
            subdivision=self.subdivision,
            kept=self.budget.certain,
            unreported=self.budget.certain - sum(run.mass for run in runs),
            runs=runs,
        )

    def rows(self) -> Iterator[FrequencyRow]:
        """Iterate over the rows of the frequencies 1, 2, …, without end."""
        frequency = 0
        while True:
            frequency += 1
            yield self.row(frequency)

    def loss(self, frequency: int) -> Enclosure:
        """The exact optimum π_i of PWS Algorithm 3 less the probability with which row i is reported."""
        optimum = KeyReporting(epsilon=self.epsilon, delta=self.delta)
        return optimum.probability(frequency, precision=self.budget.bits) - self.row(frequency).probability

    @property
    def _total(self) -> int:
        return sum(column.width * sum(column.units) for column in self.columns)

    def _runs(self, frequency: int) -> Iterator[Run]:
        """The runs of a row, lowest token first."""
        for delay in reversed(range(min(self.band, frequency))):
            token = (frequency - 1 - delay) * self.budget.tokens
            for count, units in reversed(self.columns):
                if delay < len(units) and units[delay]:
                    yield Run(token, count, units[delay])
                token += count


class _Shape:
    """The delays by their turning point c and end b, both in tokens."""

    def __init__(self, budget: DyadicBudget) -> None:
        self._budget = budget
        self._rising = [budget.allowance // budget.tokens]
        self._falling: list[int] = []

    def columns(self) -> tuple[Column, ...]:
        """The largest shape whose sum is at most 1, with what is missing as further delays."""
        low = self._budget.tokens  # Δ units in all
        high = 2 * low
        while self._fits(high):
            low, high = high, 2 * high
        columns = self._shape(_last(low, high, self._fits))
        # the longest delays come last: there a further one does not lengthen the band
        return tuple(reversed([*self._completed(reversed(columns), self._missing(columns))]))

    def _fits(self, turn: int) -> bool:
        return self._missing(self._shape(turn)) >= 0

    def _missing(self, columns: Iterable[Column]) -> int:
        return self._budget.certain - sum(count * sum(units) for count, units in columns)

    def _shape(self, turn: int) -> list[Column]:
        """The columns for c = `turn`, with the least b ≥ c at which the last delays together are at most Δ."""
        tokens, high = self._budget.tokens, 2 * turn
        while not self._ends(turn, high):
            high *= 2
        end = turn if self._ends(turn, turn) else _last(turn, high, lambda b: not self._ends(turn, b)) + 1
        edges = sorted({0, turn % tokens, end % tokens, tokens})
        delays = ((below, above, -(-(end - below) // tokens)) for below, above in pairwise(edges))
        return [
            Column(above - below, tuple(self._units(turn, below, delay) for delay in range(number)))
            for below, above, number in delays
        ]

    def _ends(self, turn: int, end: int) -> bool:
        """Whether the last delays of all columns are at most Δ together."""
        tokens = self._budget.tokens
        edges = sorted({0, turn % tokens, end % tokens, tokens})
        last = sum(
            (above - below) * self._units(turn, below, -(-(end - below) // tokens) - 1)
            for below, above in pairwise(edges)
        )
        return last <= self._budget.allowance

    def _units(self, turn: int, column: int, delay: int) -> int:
        """Units of the delay `delay`·2^r + `column`: rising up to the turning point, then backwards."""
        peak = -(-(turn - column) // self._budget.tokens) - 1
        steps = min(delay, 2 * peak - delay)
        while len(self._rising) <= steps:
            self._rising.append(self._budget.grown(self._rising[-1]))
        while len(self._falling) < -steps:
            self._falling.append(self._budget.shrunk((self._rising[:1] + self._falling)[-1]))
        return self._rising[steps] if steps >= 0 else self._falling[-steps - 1]

    def _completed(self, columns: Iterable[Column], rest: int) -> Iterator[Column]:
        """The columns, with `rest` as further delays in as few columns as can hold it."""
        for count, units in columns:
            left = count
            while left and rest:
                longer = self._extended(units, rest)
                rest -= sum(longer) - sum(units)
                left -= 1
                yield Column(1, longer)
            if left:
                yield Column(left, units)

    def _extended(self, units: tuple[int, ...], rest: int) -> tuple[int, ...]:
        """The delays of one column with one or two more, of at most `rest` units together."""
        most = max(units)
        peak = units.index(most)
        if rest <= most:
            place = peak + sum(value >= rest for value in units[peak:])
            return (*units[:place], rest, *units[place:])
        more = min(rest - most, self._budget.grown(most))
        if more <= most:
            place = peak + sum(value >= more for value in units[peak:])
            return (*units[:peak], most, *units[peak:place], more, *units[place:])
        return (*units[: peak + 1], more, *units[peak:])


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The last whole number at which `holds`, which does at `low` and not at `high`, by bisection."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
