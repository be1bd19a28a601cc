"""Pieces of neighbouring tokens: they cover all tokens, and say of each what the pieces before them said."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from certdp.accounting.keyed.estimates.histories import _joined, _merged, _Piece
from certdp.accounting.keyed.reporting import Run

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
