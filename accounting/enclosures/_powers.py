"""Real powers of a number of at least 0, with directed ends."""

from __future__ import annotations

from fractions import Fraction

from . import _ends as ends
from . import _series
from ._ends import DOWN, ONE, UP, ZERO, Raw

_GUARD = 12


def power_ends(base: Raw, exponent: Fraction, precision: int) -> tuple[Raw, Raw]:
    """Ends around base**exponent, for base > 0, or base = 0 and exponent > 0.

    Exact powers (integers, and roots that come out even) are multiplied out; others are exp(exponent·ln
    base).

    Raises:
        OutsideDomain: where exponent·ln base reaches 2**62 and the power is not exact.
    """
    if base == ZERO:
        return ZERO, ZERO
    root = _exact_root(base, exponent.denominator)
    if root is not None:
        return _integer_power(root, exponent.numerator, precision)
    man, binary = ends.integers(base)
    most = (abs(binary + man.bit_length()) + 1) * abs(exponent.numerator) // exponent.denominator + 1
    work = precision + most.bit_length() + _GUARD  # |exponent·ln base| < most, whose bits exp turns into relative error
    low, high, scale = _series.log(man, binary, work)
    if exponent < 0:
        low, high = high, low
    fine = exponent.denominator.bit_length() + _GUARD  # bits that the division would lose
    low = (low * exponent.numerator << fine) // exponent.denominator
    high = -((-high * exponent.numerator << fine) // exponent.denominator)
    below, _, below_scale = _series.exp(low, scale - fine, precision)
    _, above, above_scale = _series.exp(high, scale - fine, precision)
    return ends.scaled(below, below_scale, precision, DOWN), ends.scaled(above, above_scale, precision, UP)


def _integer_power(base: Raw, exponent: int, precision: int) -> tuple[Raw, Raw]:
    """Ends around base**exponent, by binary powering from the top bit; exact results stay exact."""
    count = abs(exponent)
    work = precision + count.bit_length() + _GUARD  # at most 2·count roundings take part
    low = high = base
    for bit in f"{count:b}"[1:]:
        low, high = ends.multiply(low, low, work, DOWN), ends.multiply(high, high, work, UP)
        if bit == "1":
            low, high = ends.multiply(low, base, work, DOWN), ends.multiply(high, base, work, UP)
    if exponent < 0:
        return ends.divide(ONE, high, precision, DOWN), ends.divide(ONE, low, precision, UP)
    return ends.rounded(low, precision, DOWN), ends.rounded(high, precision, UP)


def _exact_root(value: Raw, degree: int) -> Raw | None:
    """The `degree`-th root of `value` > 0 where it is a binary number, else None."""
    if degree == 1:
        return value
    man, exponent = ends.integers(value)  # man is odd, so both parts need a root of their own
    if exponent % degree:
        return None
    root = 1 if man.bit_length() <= degree else _floor_root(man, degree)
    return ends.scaled(root, exponent // degree, 0, DOWN) if root**degree == man else None


def _floor_root(value: int, degree: int) -> int:
    """floor(value**(1/degree)) by Newton's iteration from above, for value ≥ 1."""
    root = 1 << -(-value.bit_length() // degree)
    while (better := ((degree - 1) * root + value // root ** (degree - 1)) // degree) < root:
        root = better
    return root
