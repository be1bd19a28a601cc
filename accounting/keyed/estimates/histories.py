"""Which of the rows of a table report each token most often, and which is the last to report it.

A token that a row does not report is reported by none after it: no row gives units to a token that has none, but for
those that its frequency brings. So the maximum over all rows is known as soon as one reports none of the tokens that
are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias, final

from attrs import frozen

from ...errors import InvalidValue
from ..reporting import FrequencyRow, Run


@final
@frozen(kw_only=True)
class Histories:
    """What rows 1, 2, … say of the tokens of the first frequencies, in pieces of tokens with one history."""

    bits: int
    subdivision: int
    edges: tuple[int, ...]
    """The first tokens of the pieces, and the token after the last piece."""
    likeliest: tuple[int, ...]
    """The least of the frequencies that report the tokens of a piece most often."""
    last: tuple[int, ...]
    """The largest frequency that reports them."""
    reported: tuple[int, ...]
    """With how many units each of the rows read is reported."""


Further: TypeAlias = Callable[[int, int], int]
"""From the last frequency read and the largest likeliest one: up to which frequency tokens are to be read, too."""


def histories(rows: Iterable[FrequencyRow], highest: int, further: Further | None = None) -> Histories:
    """The tokens of the frequencies up to `highest`.

    Args:
        rows: rows 1, 2, … of one table; an endless iterator, or as many as the public bound on frequencies.
        highest: the largest frequency whose tokens are to be read.
        further: asked once these tokens are known.

    Guarantees:
        Over all frequencies, beyond `highest` too: rows are read until none of these tokens is reported any more, or
        until they end.

    Raises:
        InvalidValue: where some of these tokens is never reported, and where there are fewer rows.
    """
    done: list[_Piece] = []
    active: list[_Piece] = []
    reported: list[int] = []
    asked, settled = highest, further is None
    end = bits = subdivision = 0
    for row in rows:
        reported.append(row.reported)
        bits, subdivision = row.bits, row.subdivision
        end = asked << subdivision
        start = row.runs[0].first if row.runs else end
        retired = next((place for place, piece in enumerate(active) if piece.end > start), len(active))
        done += active[:retired]
        active = list(_merged(active[retired:], row.runs, row.frequency, end if settled else None))
        if row.frequency > asked and start >= end:
            if further is None or settled:
                break
            asked, settled = max(asked, further(row.frequency, _largest(done, end))), True
            if row.frequency > asked and start >= asked << subdivision:
                break
    if len(reported) < max(highest, 1):
        raise InvalidValue("highest", highest, f"at most {len(reported)}, the number of rows")
    if further is not None and not settled:  # the rows have ended
        asked = max(asked, further(len(reported), _largest([*done, *active], end)))
    end = min(asked, len(reported)) << subdivision
    cut = [piece._replace(end=min(piece.end, end)) for piece in [*done, *active] if piece.first < end]
    pieces = list(_joined(cut, end))
    for piece in pieces:
        if not piece.units and piece.first < highest << subdivision:
            raise InvalidValue("highest", highest, f"tokens below {piece.first}", "The others are never reported")
    return Histories(
        bits=bits,
        subdivision=subdivision,
        edges=(*(piece.first for piece in pieces), end),
        likeliest=tuple(piece.likeliest for piece in pieces),
        last=tuple(piece.last for piece in pieces),
        reported=tuple(reported),
    )


class _Piece(NamedTuple):
    """A piece of neighbouring tokens with one history."""

    first: int
    end: int
    units: int
    likeliest: int
    last: int


def _largest(pieces: Sequence[_Piece], end: int) -> int:
    """The largest of the likeliest frequencies of tokens before `end`."""
    return max((piece.likeliest for piece in pieces if piece.first < end), default=0)


def _merged(active: Sequence[_Piece], runs: Sequence[Run], frequency: int, end: int | None) -> Iterator[_Piece]:
    """The pieces after one more row, cut off at `end`; tokens between runs have 0 units."""
    queue = iter(runs)
    run = next(queue, None)
    seen = active[-1].end if active else None
    for piece in active:
        first = piece.first
        while first < piece.end:
            while run is not None and run.end <= first:
                run = next(queue, None)
            if run is None or run.first >= piece.end:
                yield piece._replace(first=first)
                break
            if first < run.first:
                yield piece._replace(first=first, end=run.first)
                first = run.first
            upto = min(piece.end, run.end)
            if run.units > piece.units:
                yield _Piece(first, upto, run.units, frequency, frequency)
            else:
                yield _Piece(first, upto, piece.units, piece.likeliest, frequency)
            first = upto
    while run is not None and (end is None or run.first < end):
        first = run.first if seen is None else max(run.first, seen)
        upto = run.end if end is None else min(run.end, end)
        if seen is not None and seen < first:
            yield _Piece(seen, first, 0, frequency, frequency)
        if first < upto:
            yield _Piece(first, upto, run.units, frequency, frequency)
            seen = upto
        run = next(queue, None)


def _joined(pieces: Iterable[_Piece], end: int) -> Iterator[_Piece]:
    """The pieces from token 0 to `end`, neighbours with the same frequencies as one, and 0 units where none has any."""
    for _, alike in groupby(_filled(pieces, end), key=lambda piece: (piece.units > 0, piece.likeliest, piece.last)):
        first, *others = alike
        yield first._replace(end=others[-1].end if others else first.end)


def _filled(pieces: Iterable[_Piece], end: int) -> Iterator[_Piece]:
    reached = 0
    for piece in pieces:
        if reached < piece.first:
            yield _Piece(reached, piece.first, 0, 0, 0)
        if piece.first < piece.end:
            yield piece
        reached = piece.end
    if reached < end:
        yield _Piece(reached, end, 0, 0, 0)
