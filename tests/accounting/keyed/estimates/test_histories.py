"""Pieces of neighbouring tokens: they cover all tokens, and say of each what the pieces before them said."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.errors import InvalidValue
from certdp.accounting.keyed.estimates.histories import _joined, _merged, _Piece, histories
from certdp.accounting.keyed.reporting import FrequencyRow, Run

WIDTHS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=8)


@given(WIDTHS, st.integers(0, 3))
@example([(0, 2, 1)], 3)  # nothing is known of the last three
@example([], 2)
def test_every_token_keeps_what_is_known_of_it(widths: list[tuple[int, int, int]], rest: int) -> None:
    pieces, at = [], 0
    for gap, width, likeliest in widths:
        pieces.append(_Piece(at + gap, at + gap + width, likeliest, likeliest, likeliest + (likeliest > 1)))
        at += gap + width
    end = at + rest
    known = [(0, 0)] * end
    for piece in pieces:
        known[piece.first : piece.end] = [(piece.likeliest, piece.last)] * (piece.end - piece.first)
    found = list(_joined(pieces, end))
    assert [(piece.likeliest, piece.last) for piece in found for _ in range(piece.first, piece.end)] == known
    assert all(piece.first < piece.end and bool(piece.units) == bool(piece.likeliest) for piece in found)
    for one, other in pairwise(found):
        assert one.end == other.first
        assert one[2:] != other[2:]
    assert [piece.first for piece in found[:1]] == [0] * bool(end)
    assert [piece.end for piece in found[-1:]] == [end] * bool(end)


def test_tokens_that_a_row_does_not_report_keep_their_history() -> None:
    pieces = [_Piece(0, 5, 2, 1, 1), _Piece(5, 8, 3, 2, 2)]
    assert list(_merged(pieces, [], 3, None)) == pieces
    assert list(_merged(pieces, [Run(0, 5, 2)], 3, None)) == [_Piece(0, 5, 2, 1, 3), pieces[1]]
    assert list(_merged(pieces, [Run(6, 1, 9)], 3, None)) == [
        pieces[0],
        _Piece(5, 6, 3, 2, 2),
        _Piece(6, 7, 9, 3, 3),
        _Piece(7, 8, 3, 2, 2),
    ]


Rows = list[dict[int, int]]
"""Of each frequency from 1 the units of every token that it reports."""


@st.composite
def tables(draw: st.DrawFn) -> tuple[Rows, int]:
    """A token belongs to a frequency, is reported from there on, and once it is not, by no higher one."""
    subdivision, many = draw(st.integers(0, 1)), draw(st.integers(1, 7))
    rows: Rows = [{} for _ in range(many)]
    first = 0
    for place, row in enumerate(rows):
        end = (place + 1) << subdivision
        first = draw(st.integers(first, end))
        row |= {token: draw(st.integers(1, 3)) for token in range(first, end)}
    return rows, subdivision


def read(rows: Rows, subdivision: int, told: list[int]) -> Iterator[FrequencyRow]:
    """The rows one after the other, counted as they are asked for."""
    for place, row in enumerate(rows):
        told.append(place + 1)
        runs = tuple(Run(token, 1, units) for token, units in sorted(row.items()))
        yield FrequencyRow(
            frequency=place + 1,
            bits=10,
            subdivision=subdivision,
            kept=1 << 10,
            unreported=(1 << 10) - sum(row.values()),
            runs=runs,
        )


def rows_needed(rows: Rows, subdivision: int, asked: int) -> int:
    """Up to the first row beyond the frequencies asked for that reports none of their tokens."""
    end = asked << subdivision
    ended = (f for f, row in enumerate(rows, 1) if f > asked and not any(token < end for token in row))
    return next(ended, len(rows))


@given(tables(), st.integers(0, 8), st.one_of(st.none(), st.integers(0, 8)))
def test_histories_are_those_of_every_token_and_no_row_is_read_in_vain(
    table: tuple[Rows, int], highest: int, more: int | None
) -> None:
    rows, subdivision = table
    told: list[int] = []
    calls: list[tuple[int, int]] = []

    def further(last: int, likeliest: int) -> int:
        calls.append((last, likeliest))
        return likeliest if more is None else more

    def known(token: int) -> tuple[int, int]:
        units = {frequency: row[token] for frequency, row in enumerate(rows, 1) if token in row}
        return (max(units, key=lambda f: (units[f], -f)), max(units)) if units else (0, 0)

    asked_of = None if more == 8 else further
    tokens = range(highest << subdivision)
    if max(highest, 1) > len(rows) or not all(any(token in row for row in rows) for token in tokens):
        with pytest.raises(InvalidValue, match="highest"):
            histories(read(rows, subdivision, told), highest, asked_of)
        return
    found = histories(read(rows, subdivision, told), highest, asked_of)
    asked, needed = highest, rows_needed(rows, subdivision, highest)
    if asked_of is not None:
        likeliest = max((known(token)[0] for token in tokens), default=0)
        assert calls == [(needed, likeliest)]
        asked = max(highest, likeliest if more is None else more)
        needed = max(needed, rows_needed(rows, subdivision, asked))
    assert told == list(range(1, needed + 1))
    assert found.reported == tuple(sum(row.values()) for row in rows[:needed])
    assert (found.bits, found.subdivision) == (10, subdivision)
    end = min(asked, needed) << subdivision
    assert found.edges[0] == 0 or not end
    assert found.edges[-1] == end
    pieces = zip(pairwise(found.edges), found.likeliest, found.last, strict=True)
    spread = [(best, last) for (start, stop), best, last in pieces for _ in range(start, stop)]
    assert spread == [known(token) for token in range(end)]
