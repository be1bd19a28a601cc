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
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar, final

from attrs import frozen

from ..arguments import whole
from ..errors import InvalidValue, OutsideDomain
from .budget import DyadicBudget


class Run(NamedTuple):
    """Neighbouring tokens with equal probabilities."""

    first: int
    width: int
    units: int
    """Of each token."""

    @property
    def end(self) -> int:
        """The token after the last."""
        return self.first + self.width

    @property
    def mass(self) -> int:
        """Units of all its tokens together."""
        return self.width * self.units


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
    upper = [Run(run.first, run.width, budget.grown(run.units)) for run in row.runs]
    most = budget.allowance + sum(run.mass for run in upper)
    reported = min(budget.reported(row.reported, kept), most)
    unreported = budget.certain - reported
    lower = _lowered(budget, row, unreported)
    least = sum(run.mass for run in lower)
    fresh = min(budget.allowance, reported - least)
    raised = _raised(lower, upper, reported - least - fresh)
    return FrequencyRow(
        frequency=row.frequency + 1,
        bits=budget.bits,
        subdivision=budget.subdivision,
        kept=kept,
        unreported=unreported,
        runs=tuple(joined([*raised, *_spread(row.frequency * budget.tokens, budget.tokens, fresh)])),
    )


def excess(budget: DyadicBudget, lower: FrequencyRow, higher: FrequencyRow) -> Excess:
    """Both hockey-stick divergences of two rows at G, computed from the rows alone."""
    upward = budget.beyond(higher.unreported, lower.unreported)
    downward = budget.beyond(lower.unreported, higher.unreported)
    for count, below, above in _aligned(lower.runs, higher.runs):
        upward += count * budget.beyond(above, below)
        downward += count * budget.beyond(below, above)
    unit = 1 << 2 * budget.bits
    return Excess(Fraction(upward, unit), Fraction(downward, unit))


class _Numbered(Protocol):
    @property
    def frequency(self) -> int: ...


_N = TypeVar("_N", bound=_Numbered)


def picked(rows: Iterable[_N], frequencies: Iterable[int]) -> Iterator[_N]:
    """The rows of these increasing frequencies, out of rows 1, 2, …

    Raises:
        OutsideDomain: beyond the last row.
        InvalidValue, InvalidType: for frequencies that are no whole numbers ≥ 1, or do not increase.
    """
    following, last = iter(rows), 0
    for frequency in frequencies:
        if whole("frequencies", frequency, 1) <= last:
            raise InvalidValue("frequencies", frequency, f"more than {last}, the one before")
        row = next((row for row in following if row.frequency == frequency), None)
        if row is None:
            raise OutsideDomain(f"frequency {frequency}, beyond the last that has a rate.")
        last = frequency
        yield row


def _lowered(budget: DyadicBudget, row: FrequencyRow, unreported: int) -> list[Run]:
    """The lower limits of the tokens of `row`, where the next row leaves `unreported` units; cut where they differ."""
    spare = (budget.allowance << budget.bits) - budget.beyond(row.unreported, unreported)
    limits: list[Run] = []
    for first, count, units in row.runs:
        cost = units << budget.bits
        dropped = min(count, spare // cost)
        spare -= dropped * cost
        limits.append(Run(first, dropped, 0))
        if dropped < count and spare:
            limits.append(Run(first + dropped, 1, -((spare - cost) // budget.growth)))
            dropped, spare = dropped + 1, 0
        limits.append(Run(first + dropped, count - dropped, budget.shrunk(units)))
    return [run for run in limits if run.width]


def _raised(lower: Sequence[Run], upper: Sequence[Run], rest: int) -> list[Run]:
    """The tokens at their lower limits, with `rest` more units on the highest ones within the upper limits."""
    found: list[Run] = []
    for count, least, most, first in _aligned_from_above(lower, upper):
        room = most - least
        full = min(count, rest // room) if room else count
        rest -= full * room
        found.append(Run(first + count - full, full, most))
        left = count - full
        if left:
            found.append(Run(first + left - 1, 1, least + rest))  # less than `room` is left
            found.append(Run(first, left - 1, least))
            rest = 0
    return [run for run in reversed(found) if run.width and run.units]


def _aligned_from_above(lower: Sequence[Run], upper: Sequence[Run]) -> Iterator[tuple[int, int, int, int]]:
    """(count, lower limit, upper limit, first token), highest tokens first; `lower` refines `upper`."""
    limits = list(upper)
    for run in reversed(lower):
        while limits[-1].first > run.first:
            limits.pop()
        yield run.width, run.units, limits[-1].units, run.first


def _spread(first: int, count: int, units: int) -> list[Run]:
    """`units` over `count` tokens, as evenly as whole numbers admit, the larger ones higher."""
    each, more = divmod(units, count)
    runs = (Run(first, count - more, each), Run(first + count - more, more, each + 1))
    return [run for run in runs if run.width and run.units]


def joined(runs: Iterable[Run]) -> Iterator[Run]:
    """The same tokens with neighbours of equal probability in one run."""
    current: Run | None = None
    for run in runs:
        if current is not None and current.end == run.first and current.units == run.units:
            current = Run(current.first, current.width + run.width, run.units)
            continue
        if current is not None:
            yield current
        current = run
    if current is not None:
        yield current


def _aligned(one: Sequence[Run], other: Sequence[Run]) -> Iterator[tuple[int, int, int]]:
    """(count, units in the one, units in the other) over every token that either holds."""
    edges = sorted({edge for run in (*one, *other) for edge in (run.first, run.end)})
    first, second = iter(one), iter(other)
    a, b = next(first, None), next(second, None)
    for start, end in pairwise(edges):
        while a is not None and a.end <= start:
            a = next(first, None)
        while b is not None and b.end <= start:
            b = next(second, None)
        held = [run.units if run is not None and run.first <= start else 0 for run in (a, b)]
        yield end - start, held[0], held[1]
