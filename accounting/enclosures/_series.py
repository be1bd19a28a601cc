"""exp, expm1, log and log1p of an exact dyadic number, from integer series with a proven remainder.

Every function takes x = man·2**exponent (any integers) and a precision, and returns integers (lower, upper,
e) with

    lower·2**e ≤ f(x) ≤ upper·2**e    and    upper − lower ≤ 2**-(precision + 8)·|f(x)|·2**-e

(the exponential of x ≤ −2**62 is the one exception to the second half). Only integer additions,
multiplications, shifts and floor divisions are used, so each rounding errs downwards by less than one unit.
"Unit" below means 2**-work, the last place of the fixed-point numbers. The proofs stand beside the steps that
they justify.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

from ..errors import OutsideDomain

Bracket: TypeAlias = tuple[int, int, int]
"""(lower, upper, e): the value lies in [lower·2**e, upper·2**e]."""

LARGEST_EXPONENT_BITS = 62
"""exp is evaluated for |x| < 2**62; beyond, its binary exponent would no longer fit a machine word."""

_LN2_STEP = 64
_LN2_GUARD = 32


def exp(man: int, exponent: int, precision: int) -> Bracket:
    """Bracket of e**x; (0, 1, −2**62) for x ≤ −2**62.

    Write x = n·ln 2 + r with r in [0, ln 2], y = r/2**h. The Taylor sum of e**y, squared h times, is e**r.

    Raises:
        OutsideDomain: for x ≥ 2**62.
    """
    if not man:
        return 1, 1, 0
    size = max(man.bit_length() + exponent, 0)  # |x| < 2**size
    if size > LARGEST_EXPONENT_BITS:
        if man < 0:
            return 0, 1, -(1 << LARGEST_EXPONENT_BITS)  # e**x < 2**x
        raise OutsideDomain(
            f"exp of a number of at least 2**{size - 1}: the result has no representable exponent. "
            f"Keep arguments below 2**{LARGEST_EXPONENT_BITS}, or work with the logarithm."
        )
    halvings = 3 + math.isqrt(precision) // 2
    work = precision + halvings + precision.bit_length() + 12
    low, high = _ln2(work + size)
    # With the end of ln 2 that makes n·ln 2 largest, rest ≤ 2**(work+size)·r; x and n·ln 2 are short of the
    # truth by at most 1 and |n|·(high − low).
    turns, rest = divmod(_floor_shift(man, exponent + work + size), high if man > 0 else low)
    shift = size + halvings
    y = rest >> shift
    spread = ((rest + 1 + abs(turns) * (high - low)) >> shift) + 1 - y  # true y in [y, y + spread] units
    total = term = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * y >> work) // count
        total += term
    # y ≤ 1/2, so a term errs by e_j ≤ e_(j−1)·y/j + 1 ≤ 2 units; the first term left out is at most 2 and
    # those behind it at least halve: 2·count + 4 in all. And e**(y+d) ≤ e**y·(1 + 2d) ≤ e**y + 4d for d ≤ 1.
    lower, upper = total, total + 2 * count + 4 + 4 * spread
    for _ in range(halvings):
        lower = lower * lower >> work
        upper = (upper * upper >> work) + 1
    return lower, upper, turns - work


def expm1(man: int, exponent: int, precision: int) -> Bracket:
    """Bracket of e**x − 1, relatively accurate at 0.

    Raises:
        OutsideDomain: for x ≥ 2**62.
    """
    if not man:
        return 0, 0, 0
    size = man.bit_length() + exponent
    if size <= -2:
        return _expm1_small(man, exponent, precision)
    bits = precision + 12
    if man < 0 and size > bits.bit_length():
        return -1 << bits, (-1 << bits) + 1, -bits  # x ≤ −2**(size−1) ≤ −bits, so e**x < 2**-bits
    lower, upper, e = exp(man, exponent, precision + 4)  # |x| ≥ 1/4: subtracting 1 loses at most 3 bits
    if e > 0:
        return lower - 1, upper, e  # 1 is less than a unit of the last place
    one = 1 << -e
    return lower - one, upper - one, e


def log(man: int, exponent: int, precision: int) -> Bracket:
    """Bracket of ln x for x > 0, relatively accurate at 1.

    x = 2**n·(1 + t) with t in [−1/4, 1/2): where n ≠ 0, |n·ln 2| ≥ 0.69 and |ln(1+t)| ≤ 0.41, so the sum
    loses at most 2 bits.

    Raises:
        OutsideDomain: for x ≤ 0.
    """
    if man <= 0:
        raise OutsideDomain(f"log of a number that is {'negative' if man else 'zero'}; keep arguments above 0.")
    bits = man.bit_length()
    down = bits if man >> max(bits - 2, 0) == 3 else bits - 1
    turns = exponent + down
    lower, upper, e = _log1p_small(man - (1 << down), -down, precision + 4)
    if not turns:
        return lower, upper, e
    work = precision + 16
    low, high = _ln2(work)
    if turns < 0:
        low, high = high, low
    return turns * low + _floor_shift(lower, e + work), turns * high - _floor_shift(-upper, e + work), -work


def log1p(man: int, exponent: int, precision: int) -> Bracket:
    """Bracket of ln(1 + x) for x > −1, relatively accurate at 0.

    Raises:
        OutsideDomain: for x ≤ −1.
    """
    size = man.bit_length() + exponent
    if size <= -2:
        return _log1p_small(man, exponent, precision)
    if man < 0 and size >= 1:
        raise OutsideDomain("log1p of a number of at most -1; keep arguments above -1.")
    if exponent > precision + 16:
        lower, upper, e = log(man, exponent, precision)  # ln x ≤ ln(1+x) ≤ ln x + 1/x, and 1/x < 2**e
        return lower, upper + 1, e
    if exponent >= 0:
        return log((man << exponent) + 1, 0, precision)
    return log(man + (1 << -exponent), exponent, precision)


def _expm1_small(man: int, exponent: int, precision: int) -> Bracket:
    """Bracket of e**x − 1 = x·S(x), S(x) = Σ x**j/(j+1)!, for |x| ≤ 1/4."""
    work = precision + precision.bit_length() + 12
    x = _floor_shift(man, exponent + work)
    total = term = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * x >> work) // (count + 1)
        total += term
    # |S'| < 1: the rounded argument costs 1 unit. A term errs by e_j ≤ e_(j−1)/8 + 1 < 2 units; the terms
    # left out sum to less than 2.
    slack = 2 * count + 3
    if man > 0:
        return man * (total - slack), man * (total + slack), exponent - work
    return man * (total + slack), man * (total - slack), exponent - work


def _log1p_small(man: int, exponent: int, precision: int) -> Bracket:
    """Bracket of ln(1+x) for x in [−1/4, 1/2].

    It is 2·atanh(z) = 2·z·S(z²) with z = x/(2+x) and S(u) = Σ u**j/(2j+1).
    """
    if not man:
        return 0, 0, 0
    work = precision + precision.bit_length() + 12
    x = _floor_shift(man, exponent + work)
    divisor = (2 << work) + x  # true 2 + x in [divisor, divisor + 1] units
    # dz/dx = 2/(2+x)² < 1, so the true z is within [z, z + 2] units; |z| ≤ 1/5, so z² is within 2 units.
    z = (x << work) // divisor
    square = z * z >> work
    total = power = 1 << work
    odd = 1
    while power:
        odd += 2
        power = power * square >> work
        total += power // odd
    # S' < 0.6: the error of z² costs 2 units either way. A power errs by e_j ≤ e_(j−1)/25 + 1 < 1.1 units, a
    # term by less than 2, and the terms left out sum to less than 1; these all make the sum too small.
    slack_low, slack_high = 2, odd + 3
    low, high = (total - slack_low) << (work + 1), (total + slack_high) << (work + 1)
    if man > 0:
        return man * low // (divisor + 1), -(-man * high // divisor), exponent - work
    return man * high // divisor, -(-man * low // (divisor + 1)), exponent - work


def _ln2(bits: int) -> tuple[int, int]:
    """Integers around 2**bits·ln 2, at most 2 apart."""
    surplus = -bits % _LN2_STEP
    low, high = _ln2_at(bits + surplus)
    return (low >> surplus, (high >> surplus) + 1) if surplus else (low, high)


@lru_cache(maxsize=64)
def _ln2_at(bits: int) -> tuple[int, int]:
    """Integers around 2**bits·ln 2, from ln 2 = 2·atanh(1/3) = Σ 2/((2j+1)·3**(2j+1))."""
    power = (2 << (bits + _LN2_GUARD)) // 3
    total = power
    odd = 1
    while power:
        odd += 2
        power //= 9
        total += power // odd
    # A power errs by e_j ≤ e_(j−1)/9 + 1 < 1.2, a term by less than 2, the terms left out sum to less than 1.
    return total >> _LN2_GUARD, ((total + odd + 3) >> _LN2_GUARD) + 1


def _floor_shift(value: int, places: int) -> int:
    """Compute floor(value·2**places) exactly."""
    if places >= 0:
        return value << places
    return value >> min(-places, value.bit_length() + 1)
