"""Rows of a frequency sanitiser in whole units: PWS Algorithms 4 and 5 with proven constraints.

Legend: a key of frequency i is reported with a token, or not at all. Tokens are whole numbers t ≥ 0; frequency i brings
the 2^r tokens (i − 1)·2^r ≤ t < i·2^r, and a key of frequency i gets none beyond them. With r = 0 token t is PWS's
j = t + 1 and the rows are Algorithm 4's; with larger r a token is a piece of length 2^−r of Algorithm 5's (0, i], and a
breakpoint is rounded to one, which merges breakpoints that nearly agree. G, Δ and units: see `budget`.

One step. Row i reports R_i units (PWS Algorithm 3, rounded down). Between rows i − 1 and i:

1. "Not reported" does not become likelier, so it costs nothing upward; downward it costs D = [u_{i−1} − G·u_i]₊
   (erratum PWS-A5: D is not [e^−ε·u_{i−1} − u_i]₊). The tokens share Δ − D downward and Δ upward.
2. Downward. Spend Δ − D on the lowest tokens: they drop to 0, one of them partly; every other token keeps at least
   ⌈h/G⌉ of its h units. (Erratum PWS-A4: this is [α_ij]₊.)
3. Upward. A token of h units grows to at most ⌊G·h⌋. The new tokens are 0 in row i − 1: together they take at most Δ.
4. What is left of R_i raises tokens from their lower to their upper limit, the highest token first.

Each of the steps keeps both hockey-stick sums within Δ, in exact arithmetic. Rounding can make the limits of step 3
add up to less than R_i, which then is lowered, and those of step 2 to so much that the new tokens take less than Δ.
As ⌈h/G⌉ ≤ h ≤ ⌊G·h⌋, R_i never falls below R_{i−1}. `excess` computes the sums of two rows apart from this argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias, final

from attrs import evolve, frozen

from .budget import DyadicBudget


class Run(NamedTuple):
    """A run of neighbouring tokens with equal probabilities."""

    first: int
    width: int
    units: int
    """Of each token."""

    @property
    def end(self) -> int:
        """The token after the last one of the run."""
        return self.first + self.width

    @property
    def spread(self) -> tuple[int, int, int]:
        """First token, the token after the last, units."""
        return self.first, self.first + self.width, self.units

    @property
    def mass(self) -> int:
        """The probability of all tokens of the run together, in units."""
        return self.width * self.units


_FAR = 1 << 200
"""No row has a token so high."""
_NONE = Run(_FAR, 1, 0)


@final
@frozen(kw_only=True)
class FrequencyRow:
    """What is reported about a key of one frequency, end to end: units out of 2^bits.

    The sampler keeps the key with `kept` units; a kept key draws a uniform whole number below `kept`, of which each
    token owns its units and "not reported" the rest.
    """

    frequency: int
    bits: int
    subdivision: int
    kept: int
    """q_i, rounded down."""
    unreported: int
    """Not sampled, or sampled and not reported."""
    runs: tuple[Run, ...]
    """The tokens with positive probability, in order."""

    @property
    def reported(self) -> int:
        """Units with which the key is reported."""
        return (1 << self.bits) - self.unreported

    @property
    def probability(self) -> Fraction:
        """The end-to-end probability with which the key is reported."""
        return Fraction(self.reported, 1 << self.bits)

    def units_from(self, token: int) -> int:
        """Units of this token and all higher ones."""
        return sum((run.end - max(run.first, token)) * run.units for run in self.runs if run.end > token)


class Outcome(NamedTuple):
    """A number of outcomes with the same two probabilities."""

    number: int
    before: int
    """Units of each at the lower frequency."""
    after: int
    """Units of each at the higher one."""


Comparison: TypeAlias = Sequence[Outcome]
"""Two laws; both add up to 2^bits."""


class Excess(NamedTuple):
    """Hockey-stick divergences at the growth G ≤ e^ε, exactly: at least those at e^ε."""

    upward: Fraction
    """Of the higher frequency from the lower."""
    downward: Fraction
    """Of the lower frequency from the higher."""


def nothing_reported(budget: DyadicBudget) -> FrequencyRow:
    """Row 0: a key of frequency 0 is neither sampled nor reported."""
    return FrequencyRow(
        frequency=0, bits=budget.bits, subdivision=budget.subdivision, kept=0, unreported=budget.certain, runs=()
    )


def following(budget: DyadicBudget, row: FrequencyRow, kept: int) -> FrequencyRow:
    """The next row, which separates the two as far as (ε, δ)-DP admits, up to rounding.

    Args:
        budget: ε and δ.
        row: the row of frequency i − 1.
        kept: units with which the sampler keeps a key of frequency i; at least those of `row`.

    Guarantees:
        Both sums of `excess` are at most δ; units add up to 2^bits; at most `kept` are reported, and no fewer than in
        `row`.
    """
    growth, bits = budget.growth, budget.bits
    upper = [units * growth >> bits for _, _, units in row.runs]
    most = budget.allowance + sum(run.width * units for run, units in zip(row.runs, upper, strict=True))
    reported = min(budget.reported(row.reported, kept), most)
    unreported = budget.certain - reported
    limits = _limits(budget, row, upper, unreported)
    least = sum([width * low for _, width, low, _ in limits])
    fresh = min(budget.allowance, reported - least)
    raised = _raised(limits, reported - least - fresh)
    return FrequencyRow(
        frequency=row.frequency + 1,
        bits=bits,
        subdivision=budget.subdivision,
        kept=kept,
        unreported=unreported,
        runs=tuple(joined([*raised, *_spread(row.frequency * budget.tokens, budget.tokens, fresh)])),
    )


def excess(budget: DyadicBudget, lower: FrequencyRow, higher: FrequencyRow) -> Excess:
    """Compute both hockey-stick divergences of two rows at G, from the rows alone."""
    return _sticks(lower, higher, budget.growth, budget.certain)


def hockey_sticks(lower: FrequencyRow, higher: FrequencyRow, growth: Fraction) -> Excess:
    """Compute both hockey-stick divergences of two rows of one table at any e^{ε'} ≥ 0, exactly."""
    return _sticks(lower, higher, growth.numerator, growth.denominator)


def compared(lower: FrequencyRow, higher: FrequencyRow) -> Comparison:
    """All outcomes of two rows of one table."""
    return [Outcome(1, lower.unreported, higher.unreported), *_aligned(lower.runs, higher.runs)]


def moved(row: FrequencyRow, frequency: int) -> FrequencyRow:
    """Return the row for another frequency, with every token as far from its last."""
    if frequency == row.frequency:
        return row
    tokens = frequency - row.frequency << row.subdivision
    runs = tuple(Run(first + tokens, width, units) for first, width, units in row.runs)
    return evolve(row, frequency=frequency, runs=runs)


def alike(row: FrequencyRow, other: FrequencyRow) -> bool:
    """Whether one row is the other moved."""
    if (row.kept, row.unreported, len(row.runs)) != (other.kept, other.unreported, len(other.runs)):
        return False
    tokens = other.frequency - row.frequency << row.subdivision
    return all(
        first + tokens == start and width == count and units == number
        for (first, width, units), (start, count, number) in zip(row.runs, other.runs, strict=True)
    )


def _sticks(lower: FrequencyRow, higher: FrequencyRow, growth: int, certain: int) -> Excess:
    """Return the hockey-stick divergences at e^{ε'} = growth/certain, both ways."""
    upward = downward = 0
    for count, below, above in compared(lower, higher):
        gained, lost = above * certain - growth * below, below * certain - growth * above
        if gained > 0:
            upward += count * gained
        if lost > 0:
            downward += count * lost
    unit = certain << lower.bits
    return Excess(Fraction(upward, unit), Fraction(downward, unit))


class _Limits(NamedTuple):
    """What each of neighbouring tokens may have at least and at most in the next row."""

    first: int
    width: int
    least: int
    most: int


def _limits(budget: DyadicBudget, row: FrequencyRow, upper: Sequence[int], unreported: int) -> list[_Limits]:
    """The limits of the tokens of `row`, where the next row leaves `unreported` units; cut where they differ."""
    growth, bits = budget.growth, budget.bits
    spare = (budget.allowance << bits) - budget.beyond(row.unreported, unreported)
    limits: list[_Limits] = []
    cheap = 0
    for (first, count, units), most in zip(row.runs, upper, strict=True):
        cost = units << bits
        if spare < cost * count:
            break
        spare -= cost * count
        cheap += 1
        limits.append(_Limits(first, count, 0, most))
    for (first, count, units), most in zip(row.runs[cheap : cheap + 1], upper[cheap:], strict=False):
        cost = units << bits
        dropped, spare = divmod(spare, cost)
        limits.append(_Limits(first, dropped, 0, most))
        if spare:
            limits.append(_Limits(first + dropped, 1, -((spare - cost) // growth), most))
            dropped += 1
        limits.append(_Limits(first + dropped, count - dropped, -((-cost) // growth), most))
    limits += [
        _Limits(first, count, -((-units << bits) // growth), most)
        for (first, count, units), most in zip(row.runs[cheap + 1 :], upper[cheap + 1 :], strict=True)
    ]
    return limits


def _raised(limits: Sequence[_Limits], rest: int) -> list[Run]:
    """The tokens at their lower limits, with `rest` more units on the highest ones within the upper limits."""
    found: list[Run] = []
    place = len(limits)
    while place:
        first, width, least, most = limits[place - 1]
        if width * (most - least) > rest:
            break
        rest -= width * (most - least)
        found.append(Run(first, width, most))
        place -= 1
    if place:
        first, width, least, most = limits[place - 1]
        full, rest = divmod(rest, most - least)
        left = width - full - 1
        found += [Run(first + left + 1, full, most), Run(first + left, 1, least + rest), Run(first, left, least)]
    found.reverse()
    lower = [Run(first, width, least) for first, width, least, _ in limits[: max(place - 1, 0)]]
    return [run for run in lower + found if run[1] and run[2]]


def _spread(first: int, count: int, units: int) -> list[Run]:
    """`units` over `count` tokens, as evenly as whole numbers admit, the larger ones higher."""
    each, more = divmod(units, count)
    runs = (Run(first, count - more, each), Run(first + count - more, more, each + 1))
    return [run for run in runs if run.width and run.units]


def joined(runs: Iterable[Run]) -> Iterator[Run]:
    """Return the tokens with neighbours of equal probability in one run."""
    start = end = held = 0
    for first, width, units in runs:
        if first == end and units == held:
            end += width
            continue
        if held:
            yield Run(start, end - start, held)
        start, end, held = first, first + width, units
    if held:
        yield Run(start, end - start, held)


def _aligned(one: Sequence[Run], other: Sequence[Run]) -> Iterator[Outcome]:
    """Every token that either holds, neighbours with equal units in both together."""
    first, second = iter(one), iter(other)
    end = 0
    low, low_end, before = next(first, _NONE).spread
    high, high_end, after = next(second, _NONE).spread
    while True:
        start = min(max(low, end), max(high, end))
        if start == _FAR:
            return
        end = min(low_end if low <= start else low, high_end if high <= start else high)
        yield Outcome(end - start, before if low <= start else 0, after if high <= start else 0)
        if low_end == end:
            low, low_end, before = next(first, _NONE).spread
        if high_end == end:
            high, high_end, after = next(second, _NONE).spread
