"""The orders p of norms, and the norms of rows for those other than 1, 2 and inf.

With x = |x_j|/2^e in [0, 1), p = n/m and b bits, floor(x^p·2^b) is the whole m-th root of floor(x^n·2^(b·m)):
exact integers, so a sum of powers lies between the sum of these and that plus the number of terms. Where n is
large, powers are enclosed by exp and log instead.
"""

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from .intervals import NOTHING, Arithmetic, Interval

INFINITE: Final = "inf"
_ORDER: Final = re.compile(r"[1-9][0-9]{0,599}(/[1-9][0-9]{0,599})?")
_LARGEST_EXACT: Final = 128
"""The numerator up to which powers are integers; n·53 bits each."""


_BITS: Final = 64
"""Of the largest power; the truth lies within as many units of its last as there are powers."""


def is_order(text: str) -> bool:
    """Whether this is the canonical text of an order: "p" or "p/q" in lowest terms, at least 1, or "inf"."""
    if text == INFINITE:
        return True
    if not _ORDER.fullmatch(text):
        return False
    order = Fraction(text)
    return order >= 1 and str(order) == text


def reciprocal(p: str) -> Fraction:
    """Give 1/p for an order p of a norm."""
    return Fraction(0) if p == INFINITE else 1 / Fraction(p)


def whole_root(value: int, degree: int) -> int:
    """Give the largest integer whose power of this degree is at most value ≥ 0."""
    if not value:
        return 0
    root = 1 << -(-value.bit_length() // degree)  # above the root: from there each step falls, until it is reached
    while (better := ((degree - 1) * root + value // root ** (degree - 1)) // degree) < root:
        root = better
    return root


def norm_of_sizes(sizes: Sequence[float], p: str, arithmetic: Arithmetic) -> Interval:
    """Enclose (Σ size^p)^(1/p) for finite p, from the absolute values of a row."""
    largest = max(sizes)
    if not largest:
        return NOTHING
    order = Fraction(p)
    if order.numerator <= _LARGEST_EXACT:
        total, scale = _sum_of_powers(sizes, order, arithmetic)
    else:
        total, scale = NOTHING, Fraction(largest)  # a power is then at most 1, and that of the largest 1
        for size in filter(None, sizes):
            total = arithmetic.add(total, arithmetic.power(arithmetic.rational(Fraction(size) / scale), order))
    return arithmetic.multiply(arithmetic.power(total, 1 / order), arithmetic.rational(scale))


def _sum_of_powers(sizes: Sequence[float], order: Fraction, arithmetic: Arithmetic) -> tuple[Interval, Fraction]:
    """Enclose Σ (size/scale)^p, and give that scale: a power of two above the sizes."""
    scale = math.frexp(max(sizes))[1]
    n, m = order.numerator, order.denominator
    bits = _BITS + -(-n // m) + len(sizes).bit_length()  # the largest power is at least 2^-p
    total = terms = 0
    for size in filter(None, sizes):
        fraction, exponent = math.frexp(size)
        shift = (exponent - 53 - scale) * n + bits * m
        power = int(fraction * 2**53) ** n
        total += whole_root(power << max(0, shift) >> max(0, -shift), m)
        terms += 1
    low, high = (arithmetic.rational(Fraction(value, 1 << bits)) for value in (total, total + terms))
    return Interval(low.lo, high.hi), Fraction(2) ** scale
