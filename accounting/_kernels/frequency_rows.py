"""Rows of a frequency sanitiser, many at a time, in whole numbers of two and of four words.

Legend as in `keyed.reporting.rows`: N = G·2^K, and I = ⌊2^2K/N⌋. Words of a number follow each other from the lowest.
For K ≤ 125 and N < 2^126, units and their sums, ⌊G·h⌋ too, have two words, and products of two of them four.

⌈y/N⌉ for y ≤ 2^2K. With y = y₁·2^K + y₀, a = ⌊y₁·I/2^K⌋ is at most y/N and less than 3 below it: y₀/N < 1 and
y₁·(2^2K/N − I)/2^K < 1 are left out, and the last rounding. y − a·N < 3N then fits in two words, and says how
much is to be added.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import types
from .compile import high_word, inlined, kernel

Pair = tuple[np.uint64, np.uint64]
Quad = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

_WORDS = types.array(types.uint64, 2, "C", readonly=True)
_WORDS_OUT = types.array(types.uint64, 2, "C")
_PLACES = types.array(types.int64, 1, "C", readonly=True)
_PLACES_OUT = types.array(types.int64, 1, "C")
_LEADS_OUT = types.array(types.uint64, 1, "C")

_NONE, _ONE = np.uint64(0), np.uint64(1)
_WORD = np.uint64(64)
_FAR = 1 << 62
MORE_RUNS = 6
"""A row has at most so many runs more than the one before."""


@inlined
def _plus(x: Pair, y: Pair) -> Pair:
    low = x[0] + y[0]
    return low, x[1] + y[1] + np.uint64(low < x[0])


@inlined
def _minus(x: Pair, y: Pair) -> Pair:
    return x[0] - y[0], x[1] - y[1] - np.uint64(x[0] < y[0])


@inlined
def _less(x: Pair, y: Pair) -> bool:
    return bool((x[1] < y[1]) | ((x[1] == y[1]) & (x[0] < y[0])))


@inlined
def _times(x: Pair, count: np.uint64) -> Pair:
    return x[0] * count, high_word(x[0], count) + x[1] * count


@inlined
def _product(x: Pair, y: Pair) -> Quad:
    a, b = x[0] * y[1], x[1] * y[0]
    second = high_word(x[0], y[0]) + a
    carry = np.uint64(second < a)
    second += b
    carry += np.uint64(second < b)
    c = high_word(x[0], y[1])
    third = c + high_word(x[1], y[0])
    fourth = high_word(x[1], y[1]) + np.uint64(third < c)
    third += carry
    fourth += np.uint64(third < carry)
    d = x[1] * y[1]
    third += d
    return x[0] * y[0], second, third, fourth + np.uint64(third < d)


@inlined
def _plus_wide(x: Quad, y: Quad) -> Quad:
    first, second, third = x[0] + y[0], x[1] + y[1], x[2] + y[2]
    fourth = x[3] + y[3] + np.uint64(third < x[2])
    carry = np.uint64(second < x[1])
    third += carry
    fourth += np.uint64(third < carry)
    carry = np.uint64(first < x[0])
    second += carry
    carry = np.uint64(second < carry)
    third += carry
    return first, second, third, fourth + np.uint64(third < carry)


@inlined
def _less_wide(x: Quad, y: Quad) -> bool:
    if x[3] != y[3]:
        return bool(x[3] < y[3])
    if x[2] != y[2]:
        return bool(x[2] < y[2])
    return _less((x[0], x[1]), (y[0], y[1]))


@inlined
def _minus_wide(x: Quad, y: Quad) -> Quad:
    first, second, third = x[0] - y[0], x[1] - y[1], x[2] - y[2]
    fourth = x[3] - y[3] - np.uint64(x[2] < y[2])
    borrow = np.uint64(x[1] < y[1])
    fourth -= np.uint64(third < borrow)
    third -= borrow
    borrow = np.uint64(x[0] < y[0])
    borrowed = np.uint64(second < borrow)
    second -= borrow
    fourth -= np.uint64(third < borrowed)
    return first, second, third - borrowed, fourth


@inlined
def _times_wide(x: Quad, count: np.uint64) -> Quad:
    low, high = _product((x[0], x[1]), (count, _NONE)), _times((x[2], x[3]), count)
    upper = _plus((low[2], low[3]), high)
    return low[0], low[1], upper[0], upper[1]


@inlined
def _up(x: Pair, bits: np.uint64) -> Quad:
    """Compute x·2^bits."""
    shift = bits & np.uint64(63)
    low, middle, high = x[0] << shift, x[1] << shift, _NONE
    if shift:
        middle |= x[0] >> (_WORD - shift)
        high = x[1] >> (_WORD - shift)
    return (_NONE, low, middle, high) if bits >= _WORD else (low, middle, high, _NONE)


@inlined
def _down(x: Quad, bits: np.uint64) -> Pair:
    """Compute ⌊x/2^bits⌋, which has two words."""
    shift = bits & np.uint64(63)
    low, middle, high = (x[1], x[2], x[3]) if bits >= _WORD else (x[0], x[1], x[2])
    if not shift:
        return low, middle
    return (low >> shift) | (middle << (_WORD - shift)), (middle >> shift) | (high << (_WORD - shift))


@inlined
def _shrunk(y: Quad, growth: Pair, inverse: Pair, bits: np.uint64) -> Pair:
    """⌈y/N⌉; what is left of y after each multiple of N is known from its two lowest words."""
    found = _down(_product(_down(y, bits), inverse), bits)
    taken = _product(found, growth)
    left = _minus((y[0], y[1]), (taken[0], taken[1]))
    while left[0] | left[1]:
        found = _plus(found, (_ONE, _NONE))
        if not _less(growth, left):
            break
        left = _minus(left, growth)
    return found


@inlined
def _quotient(x: Pair, y: Pair) -> np.uint64:
    """⌊x/y⌋, which is below 2^63; y is positive and at most 2^126."""
    steps = 0
    while not _less(x, y) and steps < 64:
        y = _plus(y, y)
        steps += 1
    found = _NONE
    for _ in range(steps):
        y = (y[0] >> _ONE) | (y[1] << np.uint64(63)), y[1] >> _ONE
        found += found
        if not _less(x, y):
            x = _minus(x, y)
            found += _ONE
    return found


@inlined
def _at(numbers: NDArray[np.uint64], place: int) -> Pair:
    return numbers[place, 0], numbers[place, 1]


@inlined
def _put(numbers: NDArray[np.uint64], place: int, value: Pair) -> None:
    numbers[place, 0], numbers[place, 1] = value


@inlined
def _reported(budget: NDArray[np.uint64], bits: np.uint64, before: Pair, kept: Pair) -> Pair:
    """`DyadicBudget.reported`."""
    growth, inverse, allowance, certain = _at(budget, 0), _at(budget, 1), _at(budget, 2), _at(budget, 3)
    found = _plus(_down(_product(before, growth), bits), allowance)
    if _less(kept, found):
        found = kept
    withheld = _minus(certain, before)
    if _less(allowance, withheld):
        most = _minus(certain, _shrunk(_up(_minus(withheld, allowance), bits), growth, inverse, bits))
        if _less(most, found):
            found = most
    return found


@inlined
def _with_run(
    firsts: NDArray[np.int64],
    widths: NDArray[np.int64],
    units: NDArray[np.uint64],
    start: int,
    end: int,
    run: tuple[int, int],
    each: Pair,
) -> int:
    """Write a run behind those from `start` to `end`, joined to a last one that is alike; the new end."""
    first, width = run
    if width == 0 or (each[0] | each[1]) == _NONE:
        return end
    last = end - 1
    if end > start and firsts[last] + widths[last] == first and units[last, 0] == each[0] and units[last, 1] == each[1]:
        widths[last] += width
        return end
    firsts[end], widths[end] = first, width
    _put(units, end, each)
    return end + 1


@inlined
def _following(
    budget: NDArray[np.uint64],
    bits: np.uint64,
    subdivision: np.uint64,
    fresh_token: int,
    place: tuple[int, int],
    unreported: tuple[Pair, Pair],
    sums: NDArray[np.uint64],
    firsts: NDArray[np.int64],
    widths: NDArray[np.int64],
    units: NDArray[np.uint64],
    cuts: NDArray[np.int64],
    limits: NDArray[np.uint64],
) -> int:
    """Write the runs of the row after the one at `place`, as `rows.following` has them; where they end, or −1."""
    start, end = place
    growth, inverse, allowance, certain = _at(budget, 0), _at(budget, 1), _at(budget, 2), _at(budget, 3)
    before, after = unreported
    spare, lost, kept = _up(allowance, bits), _up(before, bits), _product(growth, after)
    if _less_wide(kept, lost):
        lost = _minus_wide(lost, kept)
        if _less_wide(spare, lost):
            return -1
        spare = _minus_wide(spare, lost)
    # limits of tokens: cuts has first and width, limits least and most
    count, least, cheap = 0, (_NONE, _NONE), True
    for run in range(start, end):
        first, width = int(firsts[run]), int(widths[run])
        each, most = _at(units, run), _at(sums, run - start)
        if cheap:
            cost = _up(_times(each, np.uint64(width)), bits)
            if not _less_wide(spare, cost):
                spare = _minus_wide(spare, cost)
                low = (_NONE, _NONE)
            else:
                cheap = False
                dropped = _quotient(_down(spare, bits), each)
                spare = _minus_wide(spare, _up(_times(each, dropped), bits))
                cuts[count, 0], cuts[count, 1] = first, dropped
                _put(limits, 2 * count, (_NONE, _NONE))
                _put(limits, 2 * count + 1, most)
                count += 1
                first += int(np.int64(dropped))
                width -= int(np.int64(dropped))
                if spare[0] | spare[1] | spare[2] | spare[3]:
                    low = _shrunk(_minus_wide(_up(each, bits), spare), growth, inverse, bits)
                    cuts[count, 0], cuts[count, 1] = first, 1
                    _put(limits, 2 * count, low)
                    _put(limits, 2 * count + 1, most)
                    least = _plus(least, low)
                    count += 1
                    first += 1
                    width -= 1
                low = _shrunk(_up(each, bits), growth, inverse, bits)
        else:
            low = _shrunk(_up(each, bits), growth, inverse, bits)
        cuts[count, 0], cuts[count, 1] = first, width
        _put(limits, 2 * count, low)
        _put(limits, 2 * count + 1, most)
        least = _plus(least, _times(low, np.uint64(width)))
        count += 1
    rest = _minus(certain, after)
    if _less(rest, least):
        return -1
    rest = _minus(rest, least)
    fresh = rest if _less(rest, allowance) else allowance
    rest = _minus(rest, fresh)
    # the highest tokens are raised to their upper limits
    raised = count
    while raised:
        low, most = _at(limits, 2 * raised - 2), _at(limits, 2 * raised - 1)
        all_of_it = _times(_minus(most, low), np.uint64(cuts[raised - 1, 1]))
        if _less(rest, all_of_it):
            break
        rest = _minus(rest, all_of_it)
        raised -= 1
    new = end
    for cut in range(raised - 1):
        new = _with_run(firsts, widths, units, end, new, (int(cuts[cut, 0]), int(cuts[cut, 1])), _at(limits, 2 * cut))
    if raised:
        first, width = int(cuts[raised - 1, 0]), int(cuts[raised - 1, 1])
        low, most = _at(limits, 2 * raised - 2), _at(limits, 2 * raised - 1)
        step = _minus(most, low)
        full = _quotient(rest, step)
        rest = _minus(rest, _times(step, full))
        left = width - int(np.int64(full)) - 1
        new = _with_run(firsts, widths, units, end, new, (first, left), low)
        new = _with_run(firsts, widths, units, end, new, (first + left, 1), _plus(low, rest))
        new = _with_run(firsts, widths, units, end, new, (first + left + 1, int(np.int64(full))), most)
    for cut in range(raised, count):
        new = _with_run(
            firsts, widths, units, end, new, (int(cuts[cut, 0]), int(cuts[cut, 1])), _at(limits, 2 * cut + 1)
        )
    tokens = _ONE << subdivision
    more = int(np.int64(fresh[0] & (tokens - _ONE)))
    each = _down((fresh[0], fresh[1], _NONE, _NONE), subdivision)
    few = int(np.int64(tokens)) - more
    new = _with_run(firsts, widths, units, end, new, (fresh_token, few), each)
    return _with_run(firsts, widths, units, end, new, (fresh_token + few, more), _plus(each, (_ONE, _NONE)))


@inlined
def _gains(one: Pair, other: Pair, growth: Pair, bits: np.uint64) -> Quad:
    """Compute [one − G·other]₊ in units of 2^−2K."""
    had, covered = _up(one, bits), _product(growth, other)
    return _minus_wide(had, covered) if _less_wide(covered, had) else (_NONE, _NONE, _NONE, _NONE)


@inlined
def _whole(
    certain: Pair, unreported: Pair, start: int, end: int, widths: NDArray[np.int64], units: NDArray[np.uint64]
) -> bool:
    """Whether the probabilities of a row add up to 1."""
    total = (unreported[0], unreported[1], _NONE, _NONE)
    for run in range(start, end):
        total = _plus_wide(total, _product(_at(units, run), (np.uint64(widths[run]), _NONE)))
    return bool((total[0] == certain[0]) & (total[1] == certain[1]) & ((total[2] | total[3]) == _NONE))


@inlined
def _private(
    budget: NDArray[np.uint64],
    bits: np.uint64,
    place: tuple[int, int, int],
    unreported: tuple[Pair, Pair],
    firsts: NDArray[np.int64],
    widths: NDArray[np.int64],
    units: NDArray[np.uint64],
) -> bool:
    """Whether two rows, each of which adds up to 1, satisfy (ε, δ): `rows.excess`, which knows nothing of their making.

    Their runs lie at place[0] to place[1], and to place[2].
    """
    growth, most = _at(budget, 0), (budget[4, 0], budget[4, 1], budget[5, 0], budget[5, 1])
    before, after = unreported
    upward, downward = _gains(after, before, growth, bits), _gains(before, after, growth, bits)
    run, other, token = place[0], place[1], -1
    while run < place[1] or other < place[2]:
        first, end = (int(firsts[run]), int(firsts[run] + widths[run])) if run < place[1] else (_FAR, _FAR)
        second, last = (int(firsts[other]), int(firsts[other] + widths[other])) if other < place[2] else (_FAR, _FAR)
        token = max(token, min(first, second))
        below = _at(units, run) if first <= token else (_NONE, _NONE)
        above = _at(units, other) if second <= token else (_NONE, _NONE)
        stop = min(end if first <= token else first, last if second <= token else second)
        count = np.uint64(stop - token)
        upward = _plus_wide(upward, _times_wide(_gains(above, below, growth, bits), count))
        downward = _plus_wide(downward, _times_wide(_gains(below, above, growth, bits), count))
        token = stop
        run += end == stop
        other += last == stop
    return not (_less_wide(most, upward) | _less_wide(most, downward))


@kernel(
    types.int64,
    _WORDS,
    types.uint64,
    types.uint64,
    types.int64,
    _WORDS,
    _WORDS_OUT,
    _PLACES_OUT,
    _PLACES_OUT,
    _PLACES_OUT,
    _WORDS_OUT,
)
def following_rows(
    budget: NDArray[np.uint64],
    bits: np.uint64,
    subdivision: np.uint64,
    frequency: int,
    kept: NDArray[np.uint64],
    unreported: NDArray[np.uint64],
    starts: NDArray[np.int64],
    firsts: NDArray[np.int64],
    widths: NDArray[np.int64],
    units: NDArray[np.uint64],
) -> int:
    """Write rows, each of which follows from the one before and is proven to be separated from it by at most δ.

    Args:
        budget: N, I, Δ, 2^K, and in two more lines ⌊δ·2^2K⌋.
        bits: K.
        subdivision: r.
        frequency: i, of the first row, which is given.
        kept: units with which keys of the frequencies i + 1, … are kept, not falling.
        unreported: units not reported in each row, that of the first one given.
        starts: where the runs of each row begin and those of the last end; the first two are given.
        firsts, widths, units: of runs; those of the first row are given.

    Returns:
        How many rows there are, up to one more than `kept` has and as far as the runs find room; less than 0 where a
        row is not proven.
    """
    most = firsts.size
    sums = np.empty((most, 2), dtype=np.uint64)
    cuts = np.empty((most + MORE_RUNS, 2), dtype=np.int64)
    limits = np.empty((2 * (most + MORE_RUNS), 2), dtype=np.uint64)
    growth, allowance, certain = _at(budget, 0), _at(budget, 2), _at(budget, 3)
    for row in range(kept.shape[0]):
        start, end = int(starts[row]), int(starts[row + 1])
        if 2 * end - start + MORE_RUNS > most:
            return row + 1
        before = _at(unreported, row)
        limit = allowance
        for run in range(start, end):
            grown = _down(_product(_at(units, run), growth), bits)
            _put(sums, run - start, grown)
            limit = _plus(limit, _times(grown, np.uint64(widths[run])))
        reported = _reported(budget, bits, _minus(certain, before), _at(kept, row))
        after = _minus(certain, limit if _less(limit, reported) else reported)
        _put(unreported, row + 1, after)
        fresh_token = (frequency + row) << int(np.int64(subdivision))
        new = _following(
            budget,
            bits,
            subdivision,
            fresh_token,
            (start, end),
            (before, after),
            sums,
            firsts,
            widths,
            units,
            cuts,
            limits,
        )
        if new < 0 or not _whole(certain, after, end, new, widths, units):
            return -1
        if not _private(budget, bits, (start, end, new), (before, after), firsts, widths, units):
            return -1
        starts[row + 2] = new
    return int(kept.shape[0] + 1)


@kernel(types.void, types.uint64, _PLACES, _PLACES, _WORDS, _LEADS_OUT)
def leading_edges(
    bits: np.uint64,
    starts: NDArray[np.int64],
    widths: NDArray[np.int64],
    units: NDArray[np.uint64],
    out: NDArray[np.uint64],
) -> None:
    """Write the 64 leading bits, out of K, of the sums of each row's first runs, and behind each row those of 2^K − 1.

    Args:
        bits: K ≥ 64.
        starts: where the runs of each row begin, and those of the last end.
        widths, units: of runs.
        out: one more for each row.
    """
    place = 0
    for row in range(starts.size - 1):
        total = (_NONE, _NONE)
        for run in range(starts[row], starts[row + 1]):
            total = _plus(total, _times(_at(units, run), np.uint64(widths[run])))
            lead = _down((total[0], total[1], _NONE, _NONE), bits - _WORD)
            out[place] = ~_NONE if lead[1] else lead[0]
            place += 1
        out[place] = ~_NONE
        place += 1
