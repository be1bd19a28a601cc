"""e^{−s} in fixed point for a million s, by tables: the rates of ppswor without replacement.

Units are 2^−w. s = j_0 + j_1·2^−10 + j_2·2^−20 + j_3·2^−30 + r with r < 2^−30, and e^{−s} is the product of an entry of
each table and of e^{−r}. Every rounding is down.

1. An entry of a table is a power of its base, by one multiplication each. With the base short by at most 2 units, an
   entry is short by at most 3 more than the one before: less than 3·2^10, or 3·w for whole s.
2. The Taylor sum of e^{−r} alternates. A term is off by at most 2 units (r/k < 1/2), what is left out by less than 1:
   with n terms the sum is within 2n + 1 units, and 2n + 1 units less is short by at most 4n + 2.
3. The product of numbers ≤ 1 that are short by a and b units is short by at most a + b + 1 once rounded down.

Together at most 9·2^10 + 3w + 4n + 6 units, as n ≤ w/30 + 2: below 2^14 for w up to 2,000. Where s ≥ w, e^{−s} is below
one unit.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import floor

from ...enclosures import Enclosure

SHORT = 1 << 14
"""A result is short of the truth by less than so many units."""

WIDEST = 2000
"""The most bits w."""

_STEP = 10
_LEVELS = 3
_GUARD = 32


def decayed(size: int, bits: int) -> int:
    """e^{−s}, from below by less than `SHORT` units.

    Args:
        size: s in units, at least 0.
        bits: w, from 64 to `WIDEST`.
    """
    whole = size >> bits
    if whole >= bits:
        return 0
    tables = _tables(bits)
    found = tables[0][whole]
    place = bits
    for table in tables[1:]:
        place -= _STEP
        found = found * table[size >> place & (1 << _STEP) - 1] >> bits
    rest = size & (1 << place) - 1
    total = term = 1 << bits
    count = 0
    while term:
        count += 1
        term = (term * rest >> bits) // count
        total += term if count % 2 == 0 else -term
    return found * (total - 2 * count - 1) >> bits


@lru_cache(maxsize=8)
def _tables(bits: int) -> tuple[tuple[int, ...], ...]:
    """e^{−j} for j < w, then e^{−j·2^−10}, e^{−j·2^−20}, e^{−j·2^−30} for j < 2^10."""
    steps = [Fraction(1, 1 << _STEP * level) for level in range(_LEVELS + 1)]
    counts = [bits, *[1 << _STEP] * _LEVELS]
    return tuple(_powers(step, count, bits) for step, count in zip(steps, counts, strict=True))


def _powers(step: Fraction, count: int, bits: int) -> tuple[int, ...]:
    base = floor(Enclosure.of(-step, precision=bits + _GUARD).exp().lower * (1 << bits))
    found = [1 << bits]
    for _ in range(count - 1):
        found.append(found[-1] * base >> bits)
    return tuple(found)
