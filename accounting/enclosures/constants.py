"""Enclosures of mathematical constants."""

from __future__ import annotations

from functools import lru_cache

from ._ends import DOWN, UP, scaled
from .enclosure import DEFAULT_PRECISION, Enclosure, _make, checked_precision

_STEP = 64
_GUARD = 32


def pi(precision: int = DEFAULT_PRECISION) -> Enclosure:
    """Enclosure of π, one unit of the last place wide.

    Raises:
        InvalidValue: for an inadmissible precision.

    >>> pi()
    Enclosure[3.1415926535897932384626433832, 3.1415926535897932384626433834]
    """
    bits = checked_precision(precision)
    low, high = pi_integers(bits + 8)
    return _make(scaled(low, -bits - 8, bits, DOWN), scaled(high, -bits - 8, bits, UP), bits)


def pi_integers(bits: int) -> tuple[int, int]:
    """Integers around 2**bits·π, at most 2 apart."""
    surplus = -bits % _STEP
    low, high = _pi_at(bits + surplus)
    return (low >> surplus, (high >> surplus) + 1) if surplus else (low, high)


@lru_cache(maxsize=64)
def _pi_at(bits: int) -> tuple[int, int]:
    """Integers around 2**bits·π, from Machin's π = 16·atan(1/5) − 4·atan(1/239)."""
    fifth, fifth_terms = _inverse_tangent(5, bits + _GUARD)
    far, far_terms = _inverse_tangent(239, bits + _GUARD)
    low = 16 * (fifth - 2 * fifth_terms) - 4 * (far + 2 * far_terms)
    high = 16 * (fifth + 2 * fifth_terms) - 4 * (far - 2 * far_terms)
    return low >> _GUARD, (high >> _GUARD) + 1


def _inverse_tangent(cotangent: int, bits: int) -> tuple[int, int]:
    """(sum, count): 2**bits·atan(1/cotangent) is within 2·count of the sum.

    The series is Σ (−1)**j/((2j+1)·cotangent**(2j+1)). A power errs by e_j ≤ e_(j−1)/25 + 1 < 1.1 units, a term
    by less than 2, and the alternating terms left out add up to less than the first of them, below 2.
    """
    power = (1 << bits) // cotangent
    total, odd, sign = power, 1, 1
    while power:
        odd, sign = odd + 2, -sign
        power //= cotangent * cotangent
        total += sign * (power // odd)
    return total, (odd + 3) // 2
