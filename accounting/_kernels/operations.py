"""The operations of kernels that Python does not spell, exactly as IEEE 754 and two's complement define them.

Here they run as plain Python; `machine` gives each the one instruction that does it.
"""

from __future__ import annotations

import math
import struct

import numpy as np

BLOCKS: set[object] = set()
"""The building blocks that kernels are made of, too: functions, as `compile` declares them."""
_WORD = 1 << 64


def fma(x: float, y: float, z: float) -> float:
    """x·y + z with one rounding, as IEEE 754 defines it."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        return z  # whatever the product is, it is finite before it is rounded
    (a, b), (c, d), (e, f) = x.as_integer_ratio(), y.as_integer_ratio(), z.as_integer_ratio()
    numerator, denominator = a * c * f + e * b * d, b * d * f
    if numerator == 0:
        return x * y + z  # the sign of a zero; a product that underflows to one is none here
    try:
        return numerator / denominator  # a quotient of integers is correctly rounded
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def bits(value: float) -> int:
    """The 64 bits of a binary64 as a signed integer."""
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def from_bits(pattern: int) -> float:
    """The binary64 with the given 64 bits."""
    return float(struct.unpack("<d", struct.pack("<Q", int(pattern) % _WORD))[0])


def leading_zeros(number: int) -> int:
    """How many of the 64 bits of an integer are 0 before its first 1; 64 for 0."""
    return 64 - (int(number) % _WORD).bit_length()


def high_product(x: int, y: int) -> int:
    """⌊x·y/2^63⌋ of two signed 64-bit integers, not both −2^63."""
    return int(x) * int(y) >> 63


def high_word(x: np.uint64, y: np.uint64) -> np.uint64:
    """⌊x·y/2^64⌋ of two unsigned 64-bit integers."""
    return np.uint64(int(x) * int(y) >> 64)
