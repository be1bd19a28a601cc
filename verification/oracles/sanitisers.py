"""PWS Algorithms 4 and 5 in rational numbers, and the largest that any next row can do by linear programming.

Legend: g stands for e^ε; a row is the probability of "not reported" and a density on (0, i], constant between rational
edges, as PWS Algorithm 5 has it. Algorithm 4 is the same with edges at whole numbers only.

It knows nothing of the tables in `accounting.keyed.reporting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from .linear_programmes import maximum

_ONE = Fraction(1)
_PENALTY = 1000
"""Above all multipliers of the programmes below. A smaller one could refute a true claim, never uphold a wrong one."""


def algorithm_3(growth: Fraction, delta: Fraction, rates: Sequence[Fraction]) -> list[Fraction]:
    """π_1, π_2, … of PWS Algorithm 3 as printed."""
    found, before = [], Fraction(0)
    for rate in rates:
        before = min(rate, growth * before + delta, 1 + (before + delta - 1) / growth)
        found.append(before)
    return found


class Piece(NamedTuple):
    """Tokens between two edges, with constant density."""

    start: Fraction
    end: Fraction
    density: Fraction

    @property
    def mass(self) -> Fraction:
        """The probability of the tokens of the piece."""
        return (self.end - self.start) * self.density


class Row(NamedTuple):
    """The law of what is reported about a key."""

    unreported: Fraction
    pieces: tuple[Piece, ...]

    def above(self, token: Fraction) -> Fraction:
        """The probability of a token beyond `token`."""
        return sum(((p.end - max(p.start, token)) * p.density for p in self.pieces if p.end > token), Fraction(0))


_Cost: TypeAlias = Callable[[Fraction, Fraction, Fraction], Fraction]


def corrected_cost(growth: Fraction, before: Fraction, unreported: Fraction) -> Fraction:
    """D, what "not reported" takes of δ (erratum PWS-A5)."""
    return max(Fraction(0), before - growth * unreported)


def printed_cost(growth: Fraction, before: Fraction, unreported: Fraction) -> Fraction:
    """D as PWS Algorithm 5 prints it."""
    return max(Fraction(0), before / growth - unreported)


def algorithm_5(
    growth: Fraction, delta: Fraction, rates: Sequence[Fraction], cost: _Cost = corrected_cost
) -> list[Row]:
    """Rows 1, 2, … of PWS Algorithm 5, with the density min(π_i, δ) on (i − 1, i]."""
    rows, row = [], Row(_ONE, ())
    for frequency, reported in enumerate(algorithm_3(growth, delta, rates)):
        spare = delta - cost(growth, row.unreported, 1 - reported)
        lower: list[tuple[Piece, Fraction]] = []
        for piece in row.pieces:
            cut = min(piece.end, piece.start + spare / piece.density)
            spare -= (cut - piece.start) * piece.density
            kept = piece.density / growth
            lower += [
                (Piece(piece.start, cut, Fraction(0)), piece.density),
                (Piece(cut, piece.end, kept), piece.density),
            ]
        fresh = min(reported, delta)
        rest = reported - fresh - sum(piece.mass for piece, _ in lower)
        pieces = [Piece(Fraction(frequency), Fraction(frequency + 1), fresh)]
        for piece, density in reversed(lower):
            room = growth * density - piece.density
            turn = max(piece.start, piece.end - rest / room) if room else piece.start
            rest -= (piece.end - turn) * room
            pieces += [
                Piece(turn, piece.end, growth * density),
                Piece(piece.start, turn, piece.density),
            ]
        row = Row(1 - reported, tuple(p for p in reversed(pieces) if p.start < p.end and p.density))
        rows.append(row)
    return rows


def algorithm_4(
    growth: Fraction, delta: Fraction, rates: Sequence[Fraction], *, lower_limits: bool = True
) -> list[list[Fraction]]:
    """Rows (π_i0, …, π_ii) of PWS Algorithm 4, line by line, with π_ij ← [α_ij]₊.

    Args:
        growth: g.
        delta: δ.
        rates: q_1 ≤ q_2 ≤ …
        lower_limits: False reads the garbled line as it stands, [π_ij]₊ of a π_ij that is still 0 (erratum PWS-A4).
    """
    rows, before = [], [_ONE]
    for i, reported in enumerate(algorithm_3(growth, delta, rates), start=1):
        row = [1 - reported, *[Fraction(0)] * i]
        cost = max(Fraction(0), before[0] / growth - row[0])
        for j in range(1, i):
            alpha = (sum(before[1 : j + 1]) - delta) / growth - sum(row[1:j]) + cost
            row[j] = max(alpha, Fraction(0)) if lower_limits else Fraction(0)
        rest = reported - sum(row[1:i])
        for j in range(i, 0, -1):
            most = growth * sum(before[j:i]) + delta - sum(row[j + 1 :])
            added = min(rest, most - row[j])
            row[j] += added
            rest -= added
        rows.append(row)
        before = row
    return rows


def discrete(row: Sequence[Fraction]) -> Row:
    """A row of Algorithm 4 as densities."""
    return Row(row[0], tuple(Piece(Fraction(j - 1), Fraction(j), p) for j, p in enumerate(row) if j and p))


def aligned(one: Row, other: Row, *, parts: int = 1) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """(start, end, mass in the one, mass in the other) of common pieces, each cut into `parts`."""
    edges = sorted({edge for p in (*one.pieces, *other.pieces) for edge in (p.start, p.end)})
    for start, end in pairwise(edges):
        width = (end - start) / parts
        for part in range(parts):
            low = start + part * width
            high = low + width
            yield low, high, one.above(low) - one.above(high), other.above(low) - other.above(high)


def divergence(growth: Fraction, one: Row, other: Row) -> Fraction:
    """The hockey-stick divergence of one row from another."""
    pairs = [(one.unreported, other.unreported), *((a, b) for *_, a, b in aligned(one, other))]
    return sum((max(Fraction(0), a - growth * b) for a, b in pairs), Fraction(0))


def order_probability(lower: Row, higher: Row) -> Fraction:
    """The probability that two keys are concordant, ties counting ½."""
    total = lower.unreported * (higher.above(Fraction(0)) + higher.unreported / 2)
    for start, end, low, high in aligned(lower, higher):
        total += low * (higher.above(end) + high / 2 if start < end else Fraction(0))
    return total


def best_next(
    growth: Fraction, delta: Fraction, row: Row, following: Row, gains: Sequence[Fraction], parts: int
) -> Fraction:
    """The largest Σ gain·mass over all rows that (ε, δ)-DP admits after `row`, reported as often as `following`.

    Variables per piece: its mass a, what of a exceeds g·b (together at most δ), and what of b is covered by g·a
    (together at least 1 − δ, less what "not reported" covers). The last, and that all of π_i is placed, is asked for by
    a penalty: the result is never below the true maximum.
    """
    before = [low for _, _, low, _ in aligned(row, following, parts=parts)]
    count = len(before)
    reported = 1 - following.unreported
    needed = max(Fraction(0), sum(before) - delta + corrected_cost(growth, row.unreported, following.unreported))

    def line(*entries: tuple[int, Fraction]) -> list[Fraction]:
        cells = [Fraction(0)] * (3 * count + 1)
        for index, value in entries:
            cells[index] = value
        return cells

    limits = [
        (line(*((j, _ONE) for j in range(count))), reported),
        (line(*((count + j, _ONE) for j in range(count))), delta),
        (line((3 * count, _ONE), *((2 * count + j, -_ONE) for j in range(count))), Fraction(0)),
        (line((3 * count, _ONE)), needed),
    ]
    for j, mass in enumerate(before):
        limits.append((line((j, _ONE), (count + j, -_ONE)), growth * mass))
        limits.append((line((2 * count + j, _ONE), (j, -growth)), Fraction(0)))
        limits.append((line((2 * count + j, _ONE)), mass))
    objective = line(*((j, _PENALTY + gain) for j, gain in enumerate(gains)), (3 * count, Fraction(_PENALTY)))
    return maximum(objective, limits) - _PENALTY * (reported + needed)
